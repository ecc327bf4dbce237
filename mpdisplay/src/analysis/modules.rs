//! Modules in place of functions: who calls whom among the program and its libraries.

use super::code::Module;
use super::functions::{ANONYMOUS, Function, FunctionKind, Functions};
use super::number::Number;
use super::text::base_name;
use super::tree::{Node, Site, Tree};

/// The tree with each module as one function; a chain's functions that follow each other in one module are one.
/// Callers that are not known stay, and so does code outside all modules.
pub fn by_module<N: Number>(tree: Tree<N>) -> Tree<N> {
    let mut functions = Functions::default();
    let modules: Vec<u32> = tree
        .modules
        .iter()
        .map(|Module { path, .. }| {
            let name = base_name(path).to_owned();
            let module = Function::new(FunctionKind::Module, name.clone(), Some(path.clone()), Some(name));
            functions.intern(module)
        })
        .collect();
    let mut nodes: Vec<Node> = Vec::new();
    let mut ids: Vec<u32> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let parent = node.parent.map(|parent| ids[parent as usize]);
        let function = match node.module {
            Some(module) => modules[module as usize],
            None => functions.intern(outside(&tree.functions[node.function])),
        };
        match parent {
            Some(parent) if nodes[parent as usize].function == function => ids.push(parent),
            _ => {
                ids.push(nodes.len() as u32);
                nodes.push(Node {
                    parent,
                    function,
                    site: Site::default(),
                    code: None,
                    inlined: false,
                    ..*node
                });
            }
        }
    }
    let mut used = vec![false; functions.len()];
    nodes.iter().for_each(|node| used[node.function as usize] = true);
    functions.tell_apart(&used);
    let mut counts = tree.counts;
    counts.iter_mut().for_each(|count| count.node = ids[count.node as usize]);
    Tree { functions, nodes, counts, ..tree }
}

/// What stands for a function outside all modules.
fn outside(function: &Function) -> Function {
    match function.kind {
        FunctionKind::Unknown | FunctionKind::Truncated | FunctionKind::Hidden => function.clone(),
        _ => Function::new(FunctionKind::Anonymous, ANONYMOUS.into(), None, None),
    }
}
