//! The calling-context tree in terms of functions: what all tables are computed from.
//!
//! Built from one profile or several: frames become functions (inlined ones too), the frames of the runtime's
//! start (see `start.rs`) and the monitor's own are left out, counters move to the nodes that remain. The trees of
//! several profiles, and of their threads, stand side by side; it is the functions that join them.

use super::code::{Code, Module};
use super::functions::{Function, FunctionKind, Functions, TRUNCATED, UNKNOWN};
use super::kinds::Classified;
use super::names::{Names, Step};
use super::number::{Change, Number};
use super::part::Part;
use super::past::{Past, Pasts};
use super::start::{self, Phase, Role, Verdict};
use super::tally::{State, Tally, Usage};
use super::text::base_name;
use mprof_format::model::{Category, Class, Frame, ModuleKind, Profile, Special};

/// Where in a function a call was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Site {
    /// Offset of the return address from the start of the machine function, bytes; `None` where the function is
    /// unknown.
    pub offset: Option<u64>,
    /// Id of the source file in [`Tree::files`].
    pub file: Option<u32>,
    /// Source line; 0 where unknown.
    pub line: u32,
}

impl Site {
    /// File id and line, where both are known.
    pub fn known_line(&self) -> Option<(u32, u32)> {
        self.file.filter(|_| self.line > 0).map(|file| (file, self.line))
    }
}

/// A function called by its parent's function at its parent's site.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Node {
    /// The caller; `None` for the outermost function of a chain. Always a smaller id than this node's.
    pub parent: Option<u32>,
    /// Function id.
    pub function: u32,
    /// Where this function made the call to the next one, or the allocation.
    pub site: Site,
    /// Id of the module that the code is in, in [`Tree::modules`]; `None` for code outside all modules and for
    /// callers that are not known.
    pub module: Option<u32>,
    /// The site in machine code, by its id in [`Tree::places`]; `None` where the function stands for others.
    pub code: Option<u32>,
    /// The function is inlined into its caller, whose `code` is the same.
    pub inlined: bool,
    /// The loader called it (a constructor of a library), and its own frames are left out. Only outermost ones.
    pub called_by_loader: bool,
}

/// What a function allocated itself, in one category, on one chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count<N = u64> {
    /// Node id: the innermost function of the chain.
    pub node: u32,
    /// Category of the objects.
    pub category: Category,
    /// How much.
    pub usage: Usage<N>,
    /// What the program could still do with these objects, if they were kept and classified.
    pub kind: Option<Class>,
    /// Index in [`Tree::pasts`], if more is known of these objects.
    pub past: Option<u32>,
}

/// Functions, chains and what was allocated at their ends.
#[derive(Debug, Clone, Default)]
pub struct Tree<N = u64> {
    /// Functions; some may be on no chain.
    pub functions: Functions,
    /// Paths of source files, printable. Index = file id.
    pub files: Vec<String>,
    /// Loaded objects. Index = module id.
    pub modules: Vec<Module>,
    /// Places in machine code. Index = place id.
    pub places: Vec<Code>,
    /// Chains. A parent's id is smaller than its children's.
    pub nodes: Vec<Node>,
    /// Allocations.
    pub counts: Vec<Count<N>>,
    /// How long objects lived, and how they grew.
    pub pasts: Vec<Past>,
    /// Whether kept objects were classified, at least in one of the profiles.
    pub classified: bool,
}

impl Tree {
    /// Joins the profiles.
    pub fn new<'p>(profiles: impl IntoIterator<Item = &'p Profile>) -> Self {
        Tree::of(profiles.into_iter().map(Part::whole))
    }

    /// Joins the parts of profiles.
    pub fn of<'p>(parts: impl IntoIterator<Item = Part<'p>>) -> Self {
        Tree::seen(parts.into_iter().map(|part| (part, |usage| usage)))
    }
}

impl Tree<Change> {
    /// Joins the parts of profiles of two states, to be compared.
    pub fn comparing(before: &[Part<'_>], after: &[Part<'_>]) -> Self {
        let states = [(State::Before, before), (State::After, after)];
        let mut tree = Tree::seen(states.into_iter().flat_map(|(state, parts)| {
            parts.iter().map(move |part| (part.clone(), move |usage| Usage::of(state, usage)))
        }));
        // Objects that were classified in one state only would seem to have come or gone.
        if !before.iter().chain(after).all(|part| part.profile.reachability.is_some()) {
            tree.classified = false;
            tree.counts.iter_mut().for_each(|count| count.kind = None);
        }
        tree
    }
}

impl<N: Number> Tree<N> {
    /// Joins the parts of profiles, each as the function beside it sees what was allocated.
    fn seen<'p>(parts: impl IntoIterator<Item = (Part<'p>, impl Fn(Usage) -> Usage<N>)>) -> Self {
        let mut names = Names::default();
        let mut tree = Tree::default();
        for (part, seen) in parts {
            names.begin(part.profile);
            let mut builder =
                Builder { tree: &mut tree, names: &mut names, pending: Vec::new(), unknown: None };
            builder.add(part, seen);
        }
        let mut used = vec![false; names.functions.len()];
        for node in &tree.nodes {
            used[node.function as usize] = true;
        }
        names.functions.tell_apart(&used);
        tree.functions = names.functions;
        tree.files = names.files.into_list();
        (tree.modules, tree.places) = (names.code.modules, names.code.places);
        tree
    }

    /// The name of a function with the place of a call in it: `make_widget (widgets.c:17)`; as it is shown where the
    /// place is not known.
    pub fn name_in_line(&self, function: u32, line: Option<(u32, u32)>) -> String {
        let function = &self.functions[function];
        match line {
            Some((file, line)) => {
                format!("{} ({}:{line})", function.name, base_name(&self.files[file as usize]))
            }
            None => function.shown.clone(),
        }
    }

    /// Leaves what was alive at the peak, as if that were all that was ever allocated.
    pub fn retain_peak(&mut self) {
        self.counts.iter_mut().for_each(|count| count.usage = count.usage.at_peak());
        self.counts.retain(|count| count.usage.allocs.is_some());
    }

    /// For each node what was allocated there and below.
    pub fn subtree_tallies(&self) -> Vec<Tally<N>> {
        let mut tallies = vec![Tally::default(); self.nodes.len()];
        for count in &self.counts {
            tallies[count.node as usize] += Tally::of(count.category, count.usage);
        }
        for id in (0..self.nodes.len()).rev() {
            if let Some(parent) = self.nodes[id].parent {
                let tally = tallies[id];
                tallies[parent as usize] += tally;
            }
        }
        tallies
    }
}

/// Whether a frame is the monitor's, which passed on a call of the program and did something after it.
fn is_monitors(profile: &Profile, frame: Frame) -> bool {
    let Frame::Code { module, .. } = frame else { return false };
    profile.modules.get(module as usize).is_some_and(|module| module.kind == ModuleKind::Monitor)
}

/// Where a context's chain has come to.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Still in the runtime's start: the innermost pending frame, or `None` at the thread's top.
    Start(Option<u32>),
    /// At the place where the chain could not be followed further out.
    Unknown,
    /// At a node.
    Node(u32),
    /// In a thread that is not asked for.
    Elsewhere,
}

/// A frame of the runtime's start, which becomes a node only if a chain ends among such frames.
struct Pending {
    step: Step,
    phase: Phase,
    /// The next frame outwards that is shown when this one is.
    outer: Option<u32>,
    /// Its node, once it has one.
    node: Option<u32>,
}

struct Builder<'a, N> {
    tree: &'a mut Tree<N>,
    names: &'a mut Names,
    pending: Vec<Pending>,
    /// The outermost node of all chains whose beginning is unknown.
    unknown: Option<u32>,
}

impl<N: Number> Builder<'_, N> {
    fn add(&mut self, part: Part<'_>, seen: impl Fn(Usage) -> Usage<N>) {
        let profile = part.profile;
        let mut places: Vec<Place> = Vec::with_capacity(profile.contexts.len());
        let mut steps = Vec::new();
        for context in &profile.contexts {
            let mut place = match context.parent {
                Some(parent) => places[parent as usize],
                None if part.has_top(context.frame) => Place::Start(None),
                None => Place::Elsewhere,
            };
            match context.frame {
                _ if matches!(place, Place::Elsewhere) => {}
                Frame::Thread(_) => {}
                frame if is_monitors(profile, frame) => {}
                Frame::Special(Special::Unknown) if matches!(place, Place::Start(None)) => {
                    place = Place::Unknown;
                }
                Frame::Special(special) => place = Place::Node(self.special(place, special)),
                frame => {
                    steps.clear();
                    self.names.steps(profile, frame, &mut steps);
                    for &step in &steps {
                        place = self.descend(place, step);
                    }
                }
            }
            places.push(place);
        }
        let mut pasts = Pasts::new(&profile.history);
        let classified = Classified::new(profile);
        self.tree.classified |= profile.reachability.is_some();
        for counter in &profile.counters {
            let node = match places[counter.context as usize] {
                Place::Node(node) => node,
                Place::Start(Some(pending)) => self.reveal(pending),
                Place::Start(None) | Place::Unknown => self.unknown(),
                Place::Elsewhere => continue,
            };
            let (live, past) = pasts.of(counter.context, counter.category);
            let usage = Usage::from(counter);
            let usage = live.map_or(usage, |live| usage.with_peak(live));
            let past = past.map(|past| {
                self.tree.pasts.push(past);
                self.tree.pasts.len() as u32 - 1
            });
            let category = counter.category;
            let mut past = past; // of all kinds together
            for (kind, usage) in classified.split(counter.context, category, usage) {
                let (usage, past) = (seen(usage), past.take());
                self.tree.counts.push(Count { node, category, usage, kind, past });
            }
        }
    }

    /// Adds one function to a chain.
    fn descend(&mut self, place: Place, step: Step) -> Place {
        let last = match place {
            Place::Node(node) => return Place::Node(self.node(Some(node), step)),
            Place::Unknown if !step.role.is_outermost() => {
                let unknown = self.unknown();
                return Place::Node(self.node(Some(unknown), step));
            }
            Place::Unknown | Place::Elsewhere => None,
            Place::Start(last) => last,
        };
        let phase = last.map_or(Phase::Top, |last| self.pending[last as usize].phase);
        match start::step(phase, step.role) {
            Verdict::Start(phase) => {
                let outer = last.and_then(|last| self.shown_with(last, phase));
                self.pending.push(Pending { step, phase, outer, node: None });
                Place::Start(Some(self.pending.len() as u32 - 1))
            }
            Verdict::Begin => {
                let node = self.node(None, step);
                let by_loader = last.is_some_and(|last| self.is_loader(last));
                self.tree.nodes[node as usize].called_by_loader = by_loader;
                Place::Node(node)
            }
            Verdict::Follow => {
                let parent = last.map(|last| self.reveal(last));
                Place::Node(self.node(parent, step))
            }
        }
    }

    /// Whether a pending frame is the loader's.
    fn is_loader(&self, pending: u32) -> bool {
        let function = self.pending[pending as usize].step.function;
        self.names.functions[function].module.as_deref().is_some_and(start::is_loader)
    }

    /// The innermost frame from `last` outwards that is shown together with a pending frame of `phase`.
    fn shown_with(&self, last: u32, phase: Phase) -> Option<u32> {
        let pending = &self.pending[last as usize];
        if !pending.phase.same_group(phase) {
            return None;
        }
        // `_start` of a stripped program is as little worth showing as one with its name.
        let hidden = pending.step.role.is_start_only() || pending.phase == Phase::First;
        if hidden { pending.outer } else { Some(last) }
    }

    /// The node of a pending frame, made with those of its outer frames where they are not yet there.
    fn reveal(&mut self, pending: u32) -> u32 {
        let mut missing = Vec::new();
        let mut parent = None;
        let mut next = Some(pending);
        while let Some(id) = next {
            let frame = &self.pending[id as usize];
            parent = frame.node;
            if parent.is_some() {
                break;
            }
            missing.push(id);
            next = frame.outer;
        }
        for id in missing.into_iter().rev() {
            let node = self.node(parent, self.pending[id as usize].step);
            self.pending[id as usize].node = Some(node);
            parent = Some(node);
        }
        parent.expect("the frame asked for has a node now")
    }

    fn unknown(&mut self) -> u32 {
        if let Some(unknown) = self.unknown {
            return unknown;
        }
        let unknown = self.special(Place::Unknown, Special::Unknown);
        self.unknown = Some(unknown);
        unknown
    }

    /// A node for callers that are not known; at a thread's top it begins the chain.
    fn special(&mut self, place: Place, special: Special) -> u32 {
        let (kind, name) = match special {
            Special::Truncated => (FunctionKind::Truncated, TRUNCATED),
            _ => (FunctionKind::Unknown, UNKNOWN),
        };
        let function = self.names.functions.intern(Function::new(kind, name.into(), None, None));
        let parent = match place {
            Place::Node(node) => Some(node),
            Place::Start(_) | Place::Unknown | Place::Elsewhere => None,
        };
        self.node(parent, Step::to(function, Site::default(), Role::Other))
    }

    fn node(&mut self, parent: Option<u32>, step: Step) -> u32 {
        let Step { function, site, module, code, inlined, .. } = step;
        let called_by_loader = false;
        self.tree.nodes.push(Node { parent, function, site, module, code, inlined, called_by_loader });
        self.tree.nodes.len() as u32 - 1
    }
}
