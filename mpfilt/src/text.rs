//! Caller/callee relations for people: what the original `mpfilt` handed on (paper, sections 3.2 and 3.3).

use std::collections::HashMap;
use std::io::{self, Write};

use mprof_format::model::{Frame, Profile, Special};

use crate::warning::{file_name, printable};

/// Writes how many bytes and allocations went over each call from one function to another, and which functions
/// allocated themselves. A call counts an allocation once, however often it is on the chain. What the runtime does
/// before `main` and before a thread's first function is left out.
///
/// # Errors
/// Those of `out`.
pub fn write_relations(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let relations = Relations::of(profile);
    writeln!(out, "Caller -> callee\n")?;
    write_lines(relations.lines_of_calls(), out)?;
    writeln!(out, "\nDirect allocation\n")?;
    write_lines(relations.lines_of_direct(), out)
}

/// Functions that run before a program's own: they call `main` and threads' first functions (glibc, musl).
const START: [&str; 10] = [
    "_start",
    "_start_c",
    "__libc_start_main",
    "__libc_start_main_impl",
    "__libc_start_call_main",
    "libc_start_main_stage2",
    "start_thread",
    "clone",
    "clone3",
    "__clone3",
];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Amount {
    bytes: u64,
    allocs: u64,
}

impl Amount {
    fn add(&mut self, other: Amount) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.allocs = self.allocs.saturating_add(other.allocs);
    }
}

/// A function as far as this table is concerned; the index of its label.
type Node = usize;

struct Relations {
    labels: Vec<String>,
    calls: HashMap<(Node, Node), Amount>,
    direct: HashMap<Node, Amount>,
}

impl Relations {
    fn of(profile: &Profile) -> Self {
        let mut labels = Labels::default();
        let nodes: Vec<Vec<Node>> =
            profile.contexts.iter().map(|context| labels.nodes(profile, context.frame)).collect();
        let start = start_contexts(profile, &nodes, &labels.labels);
        let (own, below) = amounts(profile);
        let mut relations =
            Relations { labels: labels.labels, calls: HashMap::new(), direct: HashMap::new() };
        let mut walk = Walk { on_chain: HashMap::new(), relations: &mut relations };
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); profile.contexts.len()];
        let mut open = Vec::new();
        for (id, context) in profile.contexts.iter().enumerate().rev() {
            match context.parent {
                Some(parent) => children[parent as usize].push(id),
                None => open.push((id, None)),
            }
        }
        let mut chain: Vec<Visit> = Vec::new();
        while let Some((id, parent)) = open.pop() {
            while chain.last().is_some_and(|visit| Some(visit.context) != parent) {
                chain.pop().into_iter().for_each(|visit| walk.leave(visit));
            }
            let caller = chain.last().and_then(|visit| visit.innermost);
            let added: &[Node] = if start[id] { &[] } else { &nodes[id] };
            chain.push(walk.enter(id, caller, added, own[id], below[id]));
            open.extend(children[id].iter().map(|&child| (child, Some(id))));
        }
        relations
    }

    fn lines_of_calls(&self) -> Vec<(Amount, String)> {
        let name = |node: Node| &self.labels[node];
        let line = |(&(caller, callee), &amount)| (amount, format!("{} -> {}", name(caller), name(callee)));
        self.calls.iter().map(line).collect()
    }

    fn lines_of_direct(&self) -> Vec<(Amount, String)> {
        self.direct.iter().map(|(&node, &amount)| (amount, self.labels[node].clone())).collect()
    }
}

/// Goes along the chains from the outermost function inwards.
struct Walk<'r> {
    /// How often each call is on the current chain.
    on_chain: HashMap<(Node, Node), usize>,
    relations: &'r mut Relations,
}

/// A context on the current chain.
struct Visit {
    context: usize,
    innermost: Option<Node>,
    calls: Vec<(Node, Node)>,
}

impl Walk<'_> {
    fn enter(
        &mut self,
        context: usize,
        caller: Option<Node>,
        added: &[Node],
        own: Amount,
        below: Amount,
    ) -> Visit {
        let mut calls = Vec::new();
        let mut innermost = caller;
        for &callee in added {
            if let Some(caller) = innermost {
                let count = self.on_chain.entry((caller, callee)).or_default();
                if *count == 0 && below != Amount::default() {
                    self.relations.calls.entry((caller, callee)).or_default().add(below);
                }
                *count += 1;
                calls.push((caller, callee));
            }
            innermost = Some(callee);
        }
        if let Some(node) = innermost.filter(|_| own != Amount::default()) {
            self.relations.direct.entry(node).or_default().add(own);
        }
        Visit { context, innermost, calls }
    }

    fn leave(&mut self, visit: Visit) {
        for call in visit.calls {
            if let Some(count) = self.on_chain.get_mut(&call) {
                *count -= 1;
            }
        }
    }
}

/// What was allocated at the end of each chain, and there and at the end of all longer ones.
fn amounts(profile: &Profile) -> (Vec<Amount>, Vec<Amount>) {
    let mut own = vec![Amount::default(); profile.contexts.len()];
    for counter in &profile.counters {
        let amount = Amount { bytes: counter.bytes, allocs: counter.allocs };
        own[counter.context as usize].add(amount);
    }
    let mut below = own.clone();
    for (id, context) in profile.contexts.iter().enumerate().rev() {
        if let Some(parent) = context.parent {
            let amount = below[id];
            below[parent as usize].add(amount);
        }
    }
    (own, below)
}

/// Which contexts belong to the runtime's start: those with its names, and those without a name (a stripped C
/// library) that lead to `main`.
fn start_contexts(profile: &Profile, nodes: &[Vec<Node>], labels: &[String]) -> Vec<bool> {
    let is = |id: usize, name: &dyn Fn(&str) -> bool| nodes[id].iter().all(|&node| name(&labels[node]));
    let has_name = |id: usize| {
        profile.names.as_ref().is_some_and(|names| names.sites.contains_key(&profile.contexts[id].frame))
    };
    let is_start = |id: usize| has_name(id) && is(id, &|name| START.contains(&name));
    let mut leads_to_main = vec![false; nodes.len()];
    for id in (0..nodes.len()).rev() {
        let is_main = nodes[id].last().is_some_and(|&node| labels[node] == "main");
        if let Some(parent) = profile.contexts[id].parent {
            let through = is_main || (leads_to_main[id] && (!has_name(id) || is_start(id)));
            leads_to_main[parent as usize] |= through;
        }
    }
    let mut start = vec![false; nodes.len()];
    for id in 0..nodes.len() {
        let code = !matches!(profile.contexts[id].frame, Frame::Thread(_) | Frame::Special(_));
        let outer = profile.contexts[id].parent.is_none_or(|parent| start[parent as usize]);
        start[id] = outer && (!code || is_start(id) || (!has_name(id) && leads_to_main[id]));
    }
    // The top of the tree is no function, but where a chain could not be followed that is worth a line.
    for (id, context) in profile.contexts.iter().enumerate() {
        start[id] &= !matches!(context.frame, Frame::Special(_));
    }
    start
}

/// Functions and nameless frames by label; functions with the same name are different ones.
#[derive(Default)]
struct Labels {
    labels: Vec<String>,
    functions: HashMap<u32, Node>,
    frames: HashMap<Frame, Node>,
}

impl Labels {
    /// The functions of a frame, outermost first.
    fn nodes(&mut self, profile: &Profile, frame: Frame) -> Vec<Node> {
        if matches!(frame, Frame::Thread(_)) {
            return Vec::new();
        }
        let names = profile.names.as_ref();
        if let Some((names, site)) = names.and_then(|names| Some((names, names.sites.get(&frame)?))) {
            let function = |id: u32| {
                *self.functions.entry(id).or_insert_with(|| {
                    self.labels.push(printable(&names.functions[id as usize].name));
                    self.labels.len() - 1
                })
            };
            return site.frames.iter().rev().map(|of| of.function).map(function).collect();
        }
        let node = *self.frames.entry(frame).or_insert_with(|| {
            self.labels.push(label(profile, frame));
            self.labels.len() - 1
        });
        vec![node]
    }
}

/// How a frame without a name is shown.
fn label(profile: &Profile, frame: Frame) -> String {
    match frame {
        Frame::Code { module, address, .. } => {
            let module = profile.modules.get(module as usize).map_or(&b"?"[..], |module| &module.path);
            format!("{}+{address:#x}", file_name(module))
        }
        Frame::Anonymous { address, .. } => format!("[generated]+{address:#x}"),
        Frame::Lisp(function) => {
            let function = profile.collected.functions.get(function as usize);
            match function.map(|function| function.name.as_slice()) {
                None | Some(b"") => "(lambda)".into(),
                Some(name) => printable(name),
            }
        }
        Frame::Special(Special::Truncated) => "...".into(),
        _ => "[unknown]".into(),
    }
}

fn write_lines(mut lines: Vec<(Amount, String)>, out: &mut impl Write) -> io::Result<()> {
    lines.sort_by(|(a, a_name), (b, b_name)| (b.bytes, a_name, b.allocs).cmp(&(a.bytes, b_name, a.allocs)));
    let width = |number: fn(&Amount) -> u64| {
        lines.iter().map(|(amount, _)| number(amount).to_string().len()).max().unwrap_or(0)
    };
    let (bytes, allocs) = (width(|of| of.bytes), width(|of| of.allocs));
    for (amount, name) in &lines {
        writeln!(out, "{:>bytes$} bytes  {:>allocs$} allocs  {name}", amount.bytes, amount.allocs)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mprof_format::model::{Category, Context, Counter, Function, Names, Site, SourceFrame, Thread};

    /// A profile of chains like `main foo bar`, outermost first, each with bytes and allocations at its end.
    fn profile(chains: &[(&str, u64, u64)]) -> Profile {
        let mut profile = Profile { threads: vec![Thread::default()], ..Profile::default() };
        let mut names = Names::default();
        profile.contexts.push(Context { parent: None, frame: Frame::Thread(0) });
        for &(chain, bytes, allocs) in chains {
            let mut parent = 0;
            for name in chain.split(' ') {
                let function = names.functions.iter().position(|of| of.name == name.as_bytes());
                let function = function.unwrap_or_else(|| {
                    names.functions.push(Function { name: name.into(), ..Function::default() });
                    names.functions.len() - 1
                }) as u32;
                let frame = Frame::Code { module: 0, address: function.into(), interrupted: false };
                if !name.starts_with('?') {
                    let frames = vec![SourceFrame { function, ..SourceFrame::default() }];
                    names.sites.insert(frame, Site { frames });
                }
                let context = Context { parent: Some(parent), frame };
                let known = profile.contexts.iter().position(|of| *of == context);
                parent = known.unwrap_or_else(|| {
                    profile.contexts.push(context);
                    profile.contexts.len() - 1
                }) as u32;
            }
            let (category, frees, freed_bytes) = (Category::of_size(bytes), 0, 0);
            profile.counters.push(Counter { context: parent, category, allocs, bytes, frees, freed_bytes });
        }
        profile.names = Some(names);
        profile
    }

    fn text(profile: &Profile) -> String {
        let mut out = Vec::new();
        write_relations(profile, &mut out).expect("memory");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn each_call_has_what_was_allocated_over_it() {
        let profile = profile(&[("main foo", 24, 1), ("main foo bar", 10, 1), ("main otherbar", 7, 1)]);
        assert_eq!(
            text(&profile),
            "Caller -> callee\n\n\
             34 bytes  2 allocs  main -> foo\n\
             10 bytes  1 allocs  foo -> bar\n \
              7 bytes  1 allocs  main -> otherbar\n\n\
             Direct allocation\n\n\
             24 bytes  1 allocs  foo\n\
             10 bytes  1 allocs  bar\n \
              7 bytes  1 allocs  otherbar\n"
        );
    }

    #[test]
    fn a_call_counts_an_allocation_once() {
        // The paper's figure 7.
        let profile = profile(&[("main F G F G", 10, 1)]);
        assert_eq!(
            text(&profile),
            "Caller -> callee\n\n\
             10 bytes  1 allocs  F -> G\n\
             10 bytes  1 allocs  G -> F\n\
             10 bytes  1 allocs  main -> F\n\n\
             Direct allocation\n\n\
             10 bytes  1 allocs  G\n"
        );
    }

    #[test]
    fn the_runtime_start_is_left_out() {
        let profile =
            profile(&[("?1 __libc_start_main ?3 main foo", 5, 1), ("clone3 start_thread work", 6, 1)]);
        assert_eq!(
            text(&profile),
            "Caller -> callee\n\n\
             5 bytes  1 allocs  main -> foo\n\n\
             Direct allocation\n\n\
             6 bytes  1 allocs  work\n\
             5 bytes  1 allocs  foo\n"
        );
    }

    #[test]
    fn names_cannot_act_on_the_terminal() {
        let profile = profile(&[("main f\x1b[2J", 5, 1)]);
        assert!(text(&profile).contains("main -> f\\u{1b}[2J\n"));
    }
}
