//! What is done to call chains before the tables are made of them: chains chosen, frames taken out of them, wrappers
//! of the allocation functions passed over.

use super::functions::{Function, FunctionKind};
use super::number::Number;
use super::pattern::Patterns;
use super::tree::{Count, Node, Tree};

/// What is done to the chains. By default nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chains {
    /// Only chains count that have one of these; all, where there are none.
    pub focus: Patterns,
    /// Chains do not count that have one of these.
    pub ignore: Patterns,
    /// These are taken out of the chains: what they allocate, their callers do.
    pub hide: Patterns,
    /// Wrappers of the allocation functions: what they allocate at the end of a chain, their callers do.
    pub wrappers: Patterns,
}

/// Functions that others call in place of the allocation functions, for `--skip-wrappers`.
pub const WRAPPERS: &[&str] = &[
    // C++
    "operator new*",
    "std::allocator*",
    "std::__allocator*",
    "std::__new_allocator*",
    "std::__allocate*",
    "std::_Vector_base*",
    "std::pmr::*::do_allocate",
    "__gnu_cxx*",
    // C, also as the loader and the C library define them for themselves
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "strdup",
    "__strdup",
    "strndup",
    "__strndup",
    "xmalloc*",
    "xcalloc*",
    "xrealloc*",
    "xstrdup*",
    "xstrndup*",
    // GLib
    "g_malloc*",
    "g_try_malloc*",
    "g_realloc*",
    "g_try_realloc*",
    "g_slice_alloc*",
    "g_strdup*",
    // CPython
    "PyMem_*",
    "_PyMem_*",
    "PyObject_Malloc",
    "PyObject_Calloc",
    "PyObject_Realloc",
    "_PyObject_Malloc",
    "_PyObject_Calloc",
    "_PyObject_Realloc",
    // Rust
    "alloc::*",
    "<alloc::*",
    "std::alloc::*",
    "<std::alloc::*",
    "__rust_alloc*",
    "__rust_realloc",
    "__rustc::__r*",
    "__rdl_alloc*",
    "__rdl_realloc",
];

/// The name of what is left of a chain whose frames are all taken out.
pub const HIDDEN: &str = "[hidden]";

impl Chains {
    /// Whether there is anything to do.
    pub fn is_nothing(&self) -> bool {
        *self == Chains::default()
    }

    /// Whether chains are chosen, so that the sums are those of a part.
    pub fn chooses(&self) -> bool {
        !self.focus.is_empty() || !self.ignore.is_empty()
    }

    /// Does it.
    pub fn apply<N: Number>(&self, tree: &mut Tree<N>) {
        if self.chooses() {
            self.choose(tree);
        }
        if !self.hide.is_empty() {
            hide(tree, &self.hide.nodes(tree));
        }
        if !self.wrappers.is_empty() {
            let wrappers = self.wrappers.nodes(tree);
            for count in &mut tree.counts {
                count.node = caller_of(&tree.nodes, &wrappers, count.node);
            }
        }
    }

    /// Leaves the counts of chains that are looked at.
    fn choose<N: Number>(&self, tree: &mut Tree<N>) {
        let mut focused = self.focus.nodes(tree);
        let mut ignored = self.ignore.nodes(tree);
        if self.focus.is_empty() {
            focused.fill(true);
        }
        for (id, node) in tree.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                focused[id] |= focused[parent as usize];
                ignored[id] |= ignored[parent as usize];
            }
        }
        tree.counts.retain(|&Count { node, .. }| focused[node as usize] && !ignored[node as usize]);
    }
}

/// The first function outwards from `node` that is no wrapper, or the outermost function.
fn caller_of(nodes: &[Node], wrappers: &[bool], mut node: u32) -> u32 {
    while wrappers[node as usize] {
        match nodes[node as usize].parent {
            Some(parent) => node = parent,
            None => break,
        }
    }
    node
}

/// Takes nodes out of their chains.
fn hide<N: Number>(tree: &mut Tree<N>, hidden: &[bool]) {
    let mut nodes: Vec<Node> = Vec::with_capacity(tree.nodes.len());
    // By old id: the new id of the node or of the next one outwards that is left.
    let mut ids: Vec<Option<u32>> = Vec::with_capacity(tree.nodes.len());
    for (node, &hidden) in tree.nodes.iter().zip(hidden) {
        let parent = node.parent.and_then(|parent| ids[parent as usize]);
        if hidden {
            ids.push(parent);
        } else {
            ids.push(Some(nodes.len() as u32));
            nodes.push(Node { parent, ..*node });
        }
    }
    let mut nothing_left = None;
    for count in &mut tree.counts {
        count.node = ids[count.node as usize].unwrap_or_else(|| {
            *nothing_left.get_or_insert_with(|| {
                let function = Function::new(FunctionKind::Hidden, HIDDEN.into(), None, None);
                let function = tree.functions.intern(function);
                nodes.push(Node { function, ..Node::default() });
                nodes.len() as u32 - 1
            })
        });
    }
    tree.nodes = nodes;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::functions::Functions;
    use crate::analysis::tally::Usage;
    use mprof_format::model::Category;

    /// A tree of chains as the leak table writes them, without their beginnings; each allocates one byte.
    fn tree(chains: &[&str]) -> Tree {
        let mut tree = Tree { functions: Functions::default(), ..Tree::default() };
        for chain in chains {
            let mut parent = None;
            for name in chain.split(" > ") {
                let function = Function::new(FunctionKind::Named, name.into(), None, None);
                let function = tree.functions.intern(function);
                tree.nodes.push(Node { parent, function, ..Node::default() });
                parent = Some(tree.nodes.len() as u32 - 1);
            }
            let node = parent.expect("a chain has a function");
            tree.counts.push(Count {
                node,
                category: Category::Small,
                usage: Usage::new(1, 1, 0, 0),
                kind: None,
                past: None,
            });
        }
        tree
    }

    fn chains(tree: &Tree) -> Vec<String> {
        let chain = |count: &Count| {
            let mut names = Vec::new();
            let mut next = Some(count.node);
            while let Some(node) = next {
                let node = &tree.nodes[node as usize];
                names.push(tree.functions[node.function].name.clone());
                next = node.parent;
            }
            names.reverse();
            names.join(" > ")
        };
        tree.counts.iter().map(chain).collect()
    }

    fn patterns(texts: &[&str]) -> Patterns {
        let parse = |text: &&str| {
            let Ok(pattern) = text.parse();
            pattern
        };
        Patterns(texts.iter().map(parse).collect())
    }

    const CHAINS: [&str; 4] =
        ["main > a > operator new", "main > b > a", "main > b > xmalloc > operator new", "operator new"];

    fn applied(what: &Chains) -> Vec<String> {
        let mut tree = tree(&CHAINS);
        what.apply(&mut tree);
        chains(&tree)
    }

    #[test]
    fn focus_takes_the_chains_that_have_one() {
        let focus = Chains { focus: patterns(&["a"]), ..Chains::default() };
        assert_eq!(applied(&focus), CHAINS[..2]);
        let either = Chains { focus: patterns(&["a", "x*"]), ..Chains::default() };
        assert_eq!(applied(&either), CHAINS[..3]);
    }

    #[test]
    fn ignore_leaves_out_the_chains_that_have_one() {
        let ignore = Chains { ignore: patterns(&["b"]), ..Chains::default() };
        assert_eq!(applied(&ignore), [CHAINS[0], CHAINS[3]]);
        let both = Chains { focus: patterns(&["a"]), ignore: patterns(&["b"]), ..Chains::default() };
        assert_eq!(applied(&both), CHAINS[..1]);
    }

    #[test]
    fn hidden_functions_leave_their_bytes_to_their_callers() {
        let hide = Chains { hide: patterns(&["b", "operator new"]), ..Chains::default() };
        assert_eq!(applied(&hide), ["main > a", "main > a", "main > xmalloc", "[hidden]"]);
    }

    #[test]
    fn wrappers_are_passed_over_at_the_ends_of_chains_only() {
        let skip = Chains { wrappers: patterns(WRAPPERS), ..Chains::default() };
        assert_eq!(applied(&skip), ["main > a", "main > b > a", "main > b", "operator new"]);
        let mut callback = tree(&["main > alloc::vec::Vec<T>::retain > closure > malloc"]);
        skip.apply(&mut callback);
        assert_eq!(chains(&callback), ["main > alloc::vec::Vec<T>::retain > closure"]);
    }
}
