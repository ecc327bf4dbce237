//! Lisp call chains: machine code gets the names of the Lisp functions that it was compiled from, what lies between Lisp
//! functions is left out, and what the Lisp system does before it comes to the program is one function, `toplevel`.
//!
//! All of this changes the profile, so that whatever is made of profiles can be made of those of Lisp programs.

use super::text::{base_name, printable};
use mprof_format::merge_counters;
use mprof_format::model::{
    Context, Frame, Function, LispFunction, Names, Profile, Site, SourceFrame, Special,
};
use std::collections::HashMap;

/// Functions of the Lisp system that lead to the program: they count as `toplevel` where nothing but them is further out.
/// Names are those of ECL.
const START: [&str; 14] = [
    "apply-from-stack-frame",
    "apply",
    "bytecodes",
    "eval",
    "eval-with-env",
    "funcall",
    "load",
    "load-binary",
    "load-source",
    "process-command-args",
    "rep",
    "safe-eval",
    "top-level",
    "tpl",
];

/// Functions of the Lisp system that only pass calls on, and are left out everywhere.
const GLUE: [&str; 4] = ["apply-from-stack-frame", "apply", "eval-with-env", "funcall"];

/// Packages of the Lisp system.
const SYSTEM: [&[u8]; 4] = [b"COMMON-LISP", b"EXT", b"SI", b"SYSTEM"];

/// File name of its library, without version.
const LIBRARY: &str = "libecl.so";

/// How functions without a name are shown.
const LAMBDA: &str = "(lambda)";
/// What ECL calls a form that was compiled to be evaluated once.
const EVALUATED: &[u8] = b"BYTECODES";
/// What stands for all that the Lisp system does before it comes to the program.
const TOPLEVEL: &[u8] = b"TOPLEVEL";

/// A function's name as the tables show it: Lisp's symbols are upper case, and are read as lower case.
fn shown(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    match text.chars().any(char::is_lowercase) {
        true if text.starts_with('(') => text.into_owned(),
        true => format!("|{text}|"),
        false => text.to_lowercase(),
    }
}

/// The name that ECL's compiler made a C function's name of, as far as it can be told: `LC9inner_list` was `inner-list`,
/// `LC7__lambda15` had none, and is told from others by its number.
fn of_c_name(name: &str) -> Option<String> {
    let rest = name.strip_prefix('L')?;
    let rest = rest.strip_prefix('C').unwrap_or(rest);
    let plain = rest.trim_start_matches(|character: char| character.is_ascii_digit());
    if plain.is_empty() || plain.len() == rest.len() {
        return None;
    }
    if let Some(number) = plain.strip_prefix("__lambda") {
        return Some(format!("(lambda {number})"));
    }
    let spelled = |name: &str| name.replace('_', "-");
    match plain.strip_prefix("_setf_").and_then(|rest| rest.strip_suffix('_')) {
        Some(of) => Some(format!("(setf {})", spelled(of))),
        None => Some(spelled(plain)),
    }
}

/// Where the compiled functions lie: those of each module by address.
struct Code {
    /// (module, first address, first address after, Lisp function id), rising.
    ranges: Vec<(u32, u64, u64, u32)>,
}

impl Code {
    fn new(functions: &[LispFunction]) -> Code {
        let range = |(id, function): (u32, &LispFunction)| match function.code {
            Some((Frame::Code { module, address, .. }, length)) => {
                Some((module, address, address.saturating_add(length), id))
            }
            _ => None,
        };
        let mut ranges: Vec<_> = (0..).zip(functions).filter_map(range).collect();
        ranges.sort_unstable();
        Code { ranges }
    }

    /// The function that a frame's code belongs to, and the frame's distance from its first instruction.
    fn find(&self, frame: Frame) -> Option<(u32, u64)> {
        let Frame::Code { module, address, .. } = frame else { return None };
        let lookup = frame.lookup_address()?;
        let after = self.ranges.partition_point(|&(of, start, ..)| (of, start) <= (module, lookup));
        let &(of, start, end, id) = self.ranges.get(after.checked_sub(1)?)?;
        (of == module && lookup < end).then(|| (id, address.wrapping_sub(start)))
    }

    /// Whether a module has Lisp functions.
    fn has(&self, module: u32) -> bool {
        let at = self.ranges.partition_point(|&(of, ..)| of < module);
        self.ranges.get(at).is_some_and(|&(of, ..)| of == module)
    }
}

/// What is to be done with a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It leads to the program.
    Start,
    /// It only passes calls on.
    Glue,
    /// It is shown.
    Shown,
}

impl Role {
    fn of(function: &LispFunction, profile: &Profile) -> Role {
        let name = shown(&function.name);
        if function.name.is_empty() && is_of_system(function, profile) {
            // All of these would be one function, which calls everything and is called by everything.
            Role::Glue
        } else if !SYSTEM.contains(&function.package.as_slice()) {
            Role::Shown
        } else if GLUE.contains(&name.as_str()) {
            Role::Glue
        } else if START.contains(&name.as_str()) {
            Role::Start
        } else {
            Role::Shown
        }
    }
}

/// Whether a function's machine code is in the Lisp system's own library.
fn is_of_system(function: &LispFunction, profile: &Profile) -> bool {
    let Some((Frame::Code { module, .. }, _)) = function.code else { return false };
    let path = profile.modules.get(module as usize).map(|module| printable(&module.path));
    path.is_some_and(|path| base_name(&path).starts_with(LIBRARY))
}

/// The frames that are Lisp functions'.
pub(super) type Roles = HashMap<Frame, Role>;

/// Gives interpreted functions and the machine code of compiled ones their Lisp names, in `names.sites`. Returns which
/// frames these are.
pub(super) fn name_functions(profile: &mut Profile) -> Roles {
    let mut names = profile.names.take().unwrap_or_default();
    let code = Code::new(&profile.collected.functions);
    let mut naming = Naming::new(profile, &mut names);
    let mut roles = Roles::new();
    let mut sites = Vec::new();
    for context in &profile.contexts {
        let frame = context.frame;
        if roles.contains_key(&frame) {
            continue;
        }
        let id = match frame {
            Frame::Lisp(id) => Some(id),
            _ => code.find(frame).map(|(id, _)| id),
        };
        let site = match frame {
            Frame::Lisp(id) => Some(naming.interpreted(id)),
            _ => naming.compiled(frame, &code),
        };
        if let Some(site) = site {
            // A local function has no entry of its own.
            let role = id.map(|id| Role::of(&profile.collected.functions[id as usize], profile));
            roles.insert(frame, role.unwrap_or(Role::Shown));
            sites.push((frame, site));
        }
    }
    names.sites.extend(sites);
    profile.names = Some(names);
    roles
}

/// What names are given from.
struct Naming<'n> {
    names: &'n mut Names,
    /// By Lisp function: its function id, once it has one.
    functions: Vec<Option<u32>>,
    /// By Lisp function: what the linker calls it, where it is compiled and that is known.
    linkage_names: Vec<Option<String>>,
    lisp: Vec<LispFunction>,
    /// Lisp functions by module and what the linker calls them.
    by_linkage: HashMap<(u32, String), u32>,
    /// Functions that only the linker has a name of: by module and that name.
    others: HashMap<(u32, String), u32>,
    /// File ids that stand for packages.
    packages: HashMap<Vec<u8>, u32>,
}

impl<'n> Naming<'n> {
    fn new(profile: &Profile, names: &'n mut Names) -> Naming<'n> {
        let lisp = profile.collected.functions.clone();
        let mut by_linkage = HashMap::new();
        let linkage_name = |function: &LispFunction| {
            let machine = names.sites.get(&function.code?.0)?.frames.last()?.function;
            let function = names.functions.get(machine as usize)?;
            let name = if function.linkage_name.is_empty() { &function.name } else { &function.linkage_name };
            Some(String::from_utf8_lossy(name).into_owned())
        };
        let linkage_names: Vec<_> = lisp.iter().map(linkage_name).collect();
        for (id, (function, name)) in (0u32..).zip(lisp.iter().zip(&linkage_names)) {
            if let (Some((Frame::Code { module, .. }, _)), Some(name)) = (function.code, name) {
                by_linkage.insert((module, name.clone()), id);
            }
        }
        let functions = vec![None; lisp.len()];
        let (others, packages) = (HashMap::new(), HashMap::new());
        Naming { names, functions, linkage_names, lisp, by_linkage, others, packages }
    }

    /// The function id of a Lisp function.
    fn function(&mut self, id: u32) -> u32 {
        if let Some(known) = self.functions[id as usize] {
            return known;
        }
        let LispFunction { name, package, code } = &self.lisp[id as usize];
        let linkage_name = self.linkage_names[id as usize].clone();
        let shown = match name.as_slice() {
            b"" => linkage_name.as_deref().and_then(of_c_name).unwrap_or_else(|| LAMBDA.to_owned()),
            EVALUATED if SYSTEM.contains(&package.as_slice()) => "eval".to_owned(),
            name => shown(name),
        };
        let module = match code {
            Some((Frame::Code { module, .. }, _)) => Some(*module),
            _ => None,
        };
        let package = package.clone();
        let function = Function {
            name: shown.into_bytes(),
            linkage_name: linkage_name.unwrap_or_default().into_bytes(),
            module,
            file: (!package.is_empty()).then(|| self.package(package)),
            line: 0,
        };
        let function = self.add(function);
        self.functions[id as usize] = Some(function);
        function
    }

    fn add(&mut self, function: Function) -> u32 {
        self.names.functions.push(function);
        self.names.functions.len() as u32 - 1
    }

    /// A package is where a Lisp function is defined, and tells equal names apart as a file does.
    fn package(&mut self, package: Vec<u8>) -> u32 {
        let files = &mut self.names.files;
        *self.packages.entry(package).or_insert_with_key(|package| {
            files.push(package.clone());
            files.len() as u32 - 1
        })
    }

    fn interpreted(&mut self, id: u32) -> Site {
        Site { frames: vec![self.source(id, 0)] }
    }

    fn source(&mut self, id: u32, offset: u64) -> SourceFrame {
        SourceFrame { function: self.function(id), file: None, line: 0, offset }
    }

    /// The Lisp functions of a frame of machine code, the inlined ones too; `None` where it is none of Lisp's.
    fn compiled(&mut self, frame: Frame, code: &Code) -> Option<Site> {
        let Frame::Code { module, .. } = frame else { return None };
        let inlined = self.names.sites.get(&frame).map(|site| site.frames.clone()).unwrap_or_default();
        let (id, offset) = match code.find(frame) {
            Some(found) => found,
            None if code.has(module) => return self.local(module, &inlined),
            None => return None,
        };
        let mut frames = Vec::new();
        for inner in inlined.iter().take(inlined.len().saturating_sub(1)) {
            let function = self.by_c_name(module, inner.function);
            frames.extend(function.map(|function| SourceFrame { function, file: None, line: 0, offset }));
        }
        frames.push(self.source(id, offset));
        Some(Site { frames })
    }

    /// A frame of machine code that ECL's compiler made for a local function, of which Lisp has no name.
    fn local(&mut self, module: u32, frames: &[SourceFrame]) -> Option<Site> {
        let frames: Vec<SourceFrame> = frames
            .iter()
            .filter_map(|frame| {
                let function = self.by_c_name(module, frame.function)?;
                Some(SourceFrame { function, file: None, line: 0, offset: frame.offset })
            })
            .collect();
        (!frames.is_empty()).then_some(Site { frames })
    }

    /// The function that ECL's compiler made this C function for.
    fn by_c_name(&mut self, module: u32, function: u32) -> Option<u32> {
        let function = self.names.functions.get(function as usize)?;
        let name = if function.linkage_name.is_empty() { &function.name } else { &function.linkage_name };
        let key = (module, String::from_utf8_lossy(name).into_owned());
        if let Some(&id) = self.by_linkage.get(&key) {
            return Some(self.function(id));
        }
        if let Some(&known) = self.others.get(&key) {
            return Some(known);
        }
        let name = of_c_name(&key.1)?.into_bytes();
        let linkage_name = key.1.clone().into_bytes();
        let function = Function { name, linkage_name, module: Some(module), file: None, line: 0 };
        let id = self.add(function);
        self.others.insert(key, id);
        Some(id)
    }
}

/// Where a context's chain has come to.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// At the top of a tree, whose context this is (`None`: it has none), or in what leads to the program there.
    Start(Option<u32>),
    /// At a context.
    At(u32),
}

/// Leaves out of all chains what is no Lisp function, and folds what the Lisp system does before it comes to the program
/// into `toplevel`. The functions have their names, and their frames these roles.
pub(super) fn fold(profile: &mut Profile, roles: &Roles) {
    let toplevel = profile.collected.functions.len() as u32;
    let function = LispFunction { name: TOPLEVEL.to_vec(), ..LispFunction::default() };
    profile.collected.functions.push(function);
    let old = std::mem::take(&mut profile.contexts);
    let mut folding = Folding { contexts: Vec::new(), toplevels: HashMap::new(), toplevel, roles };
    let mut places: Vec<Place> = Vec::with_capacity(old.len());
    for context in &old {
        let outer = context.parent.map_or(Place::Start(None), |parent| places[parent as usize]);
        places.push(folding.place(outer, context.frame));
    }
    for counter in &mut profile.counters {
        counter.context = folding.end(places[counter.context as usize]);
    }
    profile.contexts = folding.contexts;
    merge_counters(&mut profile.counters);
    let mut names = profile.names.take().unwrap_or_default();
    let mut naming = Naming::new(profile, &mut names);
    let site = naming.interpreted(toplevel);
    names.sites.insert(Frame::Lisp(toplevel), site);
    profile.names = Some(names);
}

/// The chains while they are folded.
struct Folding<'r> {
    contexts: Vec<Context>,
    /// By the context of a tree's top: that of `toplevel` below it.
    toplevels: HashMap<Option<u32>, u32>,
    toplevel: u32,
    roles: &'r Roles,
}

/// The thread that the program began with: it goes through the Lisp system's start.
const FIRST_THREAD: Frame = Frame::Thread(0);

impl Folding<'_> {
    /// The place of a context: the frame it adds to its parent's chain, which has come to `outer`.
    fn place(&mut self, outer: Place, frame: Frame) -> Place {
        if let Frame::Thread(_) = frame {
            return Place::Start(Some(self.add(None, frame)));
        }
        if let Frame::Special(_) = frame {
            let parent = match outer {
                Place::At(context) => Some(context),
                Place::Start(top) => top,
            };
            return Place::At(self.add(parent, frame));
        }
        match (self.roles.get(&frame), outer) {
            (None | Some(Role::Glue), place) | (Some(Role::Start), place @ Place::Start(_)) => place,
            (Some(Role::Start | Role::Shown), Place::At(context)) => {
                Place::At(self.add(Some(context), frame))
            }
            (Some(Role::Shown), Place::Start(top)) => {
                let is_first = top.is_some_and(|top| self.contexts[top as usize].frame == FIRST_THREAD);
                let parent = match top {
                    Some(top) if !is_first => top,
                    _ => self.end(outer),
                };
                Place::At(self.add(Some(parent), frame))
            }
        }
    }

    /// The context of a chain that ends at a place: `toplevel` where it has not come to the program.
    fn end(&mut self, place: Place) -> u32 {
        let top = match place {
            Place::At(context) => return context,
            Place::Start(top) => top,
        };
        if let Some(&known) = self.toplevels.get(&top) {
            return known;
        }
        let parent = top.unwrap_or_else(|| self.add(None, Frame::Special(Special::Unknown)));
        let context = self.add(Some(parent), Frame::Lisp(self.toplevel));
        self.toplevels.insert(top, context);
        context
    }

    fn add(&mut self, parent: Option<u32>, frame: Frame) -> u32 {
        self.contexts.push(Context { parent, frame });
        self.contexts.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mprof_format::model::Category;
    use mprof_format::model::Counter;

    #[test]
    fn symbols_are_shown_as_they_are_read() {
        assert_eq!(shown(b"MAPCAR"), "mapcar");
        assert_eq!(shown(b"(SETF AGE)"), "(setf age)");
        assert_eq!(shown(b"MixedCase"), "|MixedCase|");
        assert_eq!(shown("ÄNDERN".as_bytes()), "ändern");
    }

    #[test]
    fn where_chains_become_one_nothing_is_kept_either() {
        let counter = |context| Counter {
            context,
            category: Category::Cons,
            allocs: 2,
            bytes: 32,
            frees: 2,
            freed_bytes: 32,
        };
        let mut counters = vec![counter(1), counter(0), counter(1)];
        merge_counters(&mut counters);
        let sum = Counter { allocs: 4, bytes: 64, frees: 4, freed_bytes: 64, ..counter(1) };
        assert_eq!(counters, [counter(0), sum]);
    }

    #[test]
    fn names_of_local_functions_are_read_from_the_compilers() {
        let name = |c_name| of_c_name(c_name);
        assert_eq!(name("LC9inner_list").as_deref(), Some("inner-list"));
        assert_eq!(name("L5leaf").as_deref(), Some("leaf"));
        assert_eq!(name("LC7__lambda15").as_deref(), Some("(lambda 15)"));
        assert_eq!(name("LC3_setf_foo_").as_deref(), Some("(setf foo)"));
        assert_eq!(name("Lisp"), None);
        assert_eq!(name("L12"), None);
        assert_eq!(name("main"), None);
    }
}
