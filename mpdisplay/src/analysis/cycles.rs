//! Functions that call each other in a cycle: the strongly connected components of the call graph.
//!
//! Tarjan's algorithm (SIAM Journal on Computing 1, 1972), with its own stack instead of recursion: chains of
//! calls may be hundreds of thousands of functions long.

/// The component of each of `count` vertices, where `edges` are (from, to). Components are numbered from 0 in
/// the order of their smallest vertex, so that the numbering does not depend on the order of the edges.
pub fn components(count: usize, edges: &[(u32, u32)]) -> Vec<u32> {
    let successors = Successors::new(count, edges);
    let mut search = Search::new(count);
    for vertex in 0..count as u32 {
        if search.order[vertex as usize] == UNSEEN {
            search.from(vertex, &successors);
        }
    }
    renumber(search.component)
}

const UNSEEN: u32 = u32::MAX;

/// The targets of each vertex's edges, side by side.
struct Successors {
    starts: Vec<usize>,
    targets: Vec<u32>,
}

impl Successors {
    fn new(count: usize, edges: &[(u32, u32)]) -> Self {
        let mut starts = vec![0; count + 1];
        for &(from, _) in edges {
            starts[from as usize + 1] += 1;
        }
        for vertex in 0..count {
            starts[vertex + 1] += starts[vertex];
        }
        let mut targets = vec![0; edges.len()];
        let mut next = starts.clone();
        for &(from, to) in edges {
            targets[next[from as usize]] = to;
            next[from as usize] += 1;
        }
        Successors { starts, targets }
    }

    /// The target of a vertex's edge number `edge`, if it has so many.
    fn get(&self, vertex: u32, edge: usize) -> Option<u32> {
        let vertex = vertex as usize;
        self.targets[self.starts[vertex]..self.starts[vertex + 1]].get(edge).copied()
    }
}

struct Search {
    /// When a vertex was first seen.
    order: Vec<u32>,
    /// The earliest vertex on `open` that is known to be reachable from a vertex.
    lowest: Vec<u32>,
    /// The finished component of a vertex, or `UNSEEN`.
    component: Vec<u32>,
    /// Vertices seen whose component is not finished.
    open: Vec<u32>,
    seen: u32,
    finished: u32,
}

impl Search {
    fn new(count: usize) -> Self {
        let unseen = || vec![UNSEEN; count];
        let (order, lowest, component) = (unseen(), unseen(), unseen());
        Search { order, lowest, component, open: Vec::new(), seen: 0, finished: 0 }
    }

    fn enter(&mut self, vertex: u32) {
        self.order[vertex as usize] = self.seen;
        self.lowest[vertex as usize] = self.seen;
        self.seen += 1;
        self.open.push(vertex);
    }

    fn from(&mut self, root: u32, successors: &Successors) {
        self.enter(root);
        // Vertices on the way from the root, each with the number of its edges that were followed.
        let mut way = vec![(root, 0)];
        while let Some((vertex, edge)) = way.last_mut() {
            let vertex = *vertex;
            match successors.get(vertex, *edge) {
                Some(target) => {
                    *edge += 1;
                    if self.order[target as usize] == UNSEEN {
                        self.enter(target);
                        way.push((target, 0));
                    } else if self.component[target as usize] == UNSEEN {
                        self.lower(vertex, self.order[target as usize]);
                    }
                }
                None => {
                    way.pop();
                    if let Some(&(caller, _)) = way.last() {
                        self.lower(caller, self.lowest[vertex as usize]);
                    }
                    if self.lowest[vertex as usize] == self.order[vertex as usize] {
                        self.finish(vertex);
                    }
                }
            }
        }
    }

    fn lower(&mut self, vertex: u32, order: u32) {
        let lowest = &mut self.lowest[vertex as usize];
        *lowest = (*lowest).min(order);
    }

    /// Everything opened since `vertex` is one component with it.
    fn finish(&mut self, vertex: u32) {
        while let Some(member) = self.open.pop() {
            self.component[member as usize] = self.finished;
            if member == vertex {
                break;
            }
        }
        self.finished += 1;
    }
}

/// Numbers components by their smallest vertex.
fn renumber(components: Vec<u32>) -> Vec<u32> {
    let mut number_of = vec![UNSEEN; components.len()];
    let mut next = 0;
    components
        .into_iter()
        .map(|component| {
            let number = &mut number_of[component as usize];
            if *number == UNSEEN {
                *number = next;
                next += 1;
            }
            *number
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_cycles_each_vertex_is_alone() {
        assert_eq!(components(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]), [0, 1, 2, 3]);
        assert!(components(0, &[]).is_empty());
    }

    #[test]
    fn two_cycles_and_what_lies_between() {
        let edges = [(0, 1), (1, 2), (2, 1), (2, 3), (3, 4), (4, 5), (5, 3)];
        assert_eq!(components(6, &edges), [0, 1, 1, 2, 2, 2]);
    }

    #[test]
    fn the_order_of_edges_does_not_matter() {
        let mut edges = vec![(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3)];
        let forward = components(5, &edges);
        edges.reverse();
        assert_eq!(components(5, &edges), forward);
    }

    #[test]
    fn a_vertex_that_calls_itself_is_alone() {
        assert_eq!(components(2, &[(0, 0), (0, 1)]), [0, 1]);
    }

    #[test]
    fn long_chains_and_long_cycles_need_no_stack() {
        let count = 200_000;
        let mut edges: Vec<(u32, u32)> = (1..count).map(|vertex| (vertex - 1, vertex)).collect();
        assert_eq!(components(count as usize, &edges), (0..count).collect::<Vec<_>>());
        edges.push((count - 1, 0));
        assert_eq!(components(count as usize, &edges), vec![0; count as usize]);
    }
}
