//! From a profile's frames to functions and call sites.

use super::code::CodeTable;
use super::functions::{ANONYMOUS, Function, FunctionKind, Functions};
use super::start::Role;
use super::text::{base_name, printable};
use super::tree::Site;
use mprof_format::model::{self, Frame, Profile, SourceFrame};
use std::collections::HashMap;
use std::ops::Range;

/// Functions that inlining may add to the chains of one profile, for each of its contexts on average. A file
/// can claim any number for one address and refer to that address from each context; this keeps the tree's size
/// within a fixed multiple of the file's. Beyond it only the functions that own the machine code are shown.
const INLINED_PER_CONTEXT: usize = 32;
/// The same for a whole profile, so that node ids stay far from the end of their numbers.
const INLINED_PER_PROFILE: usize = 1 << 28;

/// One function of a chain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) function: u32,
    pub(super) site: Site,
    pub(super) module: Option<u32>,
    pub(super) role: Role,
    /// Where its machine code is, by id.
    pub(super) code: Option<u32>,
    /// It is inlined into the function before it.
    pub(super) inlined: bool,
}

impl Step {
    /// A function whose place in machine code is not known.
    pub(super) fn to(function: u32, site: Site, role: Role) -> Step {
        Step { function, site, module: None, role, code: None, inlined: false }
    }
}

/// Strings by id, each once.
#[derive(Debug, Clone, Default)]
pub(super) struct Strings {
    list: Vec<String>,
    ids: HashMap<String, u32>,
}

impl Strings {
    fn intern(&mut self, text: String) -> u32 {
        let next = self.list.len() as u32;
        let id = *self.ids.entry(text.clone()).or_insert(next);
        if id == next {
            self.list.push(text);
        }
        id
    }

    pub(super) fn into_list(self) -> Vec<String> {
        self.list
    }
}

/// The functions and files of all profiles, and how the current profile's ids map to them.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) functions: Functions,
    pub(super) files: Strings,
    pub(super) code: CodeTable,
    /// The current profile's modules by whole path.
    module_paths: Vec<String>,
    /// The current profile's functions, as far as met: our id and role.
    known_functions: Vec<Option<(u32, Role)>>,
    /// The current profile's files, as far as met.
    known_files: Vec<Option<u32>>,
    /// The current profile's frames, as far as met: their part of `cached`.
    known_frames: HashMap<Frame, Range<usize>>,
    cached: Vec<Step>,
    /// Functions that inlining may still add.
    inlined_left: usize,
}

impl Names {
    /// Turns to a profile.
    pub(super) fn begin(&mut self, profile: &Profile) {
        let names = profile.names.as_ref();
        self.code.begin(profile);
        self.module_paths = profile.modules.iter().map(|module| printable(&module.path)).collect();
        self.known_functions = vec![None; names.map_or(0, |names| names.functions.len())];
        self.known_files = vec![None; names.map_or(0, |names| names.files.len())];
        self.known_frames.clear();
        self.cached.clear();
        self.inlined_left =
            profile.contexts.len().saturating_mul(INLINED_PER_CONTEXT).min(INLINED_PER_PROFILE);
    }

    /// Appends the functions of one code frame to `steps`, outermost first.
    pub(super) fn steps(&mut self, profile: &Profile, frame: Frame, steps: &mut Vec<Step>) {
        let range = match self.known_frames.get(&frame) {
            Some(range) => range.clone(),
            None => {
                let begin = self.cached.len();
                self.resolve(profile, frame);
                let range = begin..self.cached.len();
                self.known_frames.insert(frame, range.clone());
                range
            }
        };
        let inlined = range.len() - 1;
        if inlined > self.inlined_left {
            steps.push(self.cached[range.start]);
        } else {
            self.inlined_left -= inlined;
            steps.extend_from_slice(&self.cached[range]);
        }
    }

    /// Puts the functions of a frame that was not met before into `cached`: at least one.
    fn resolve(&mut self, profile: &Profile, frame: Frame) {
        let begin = self.cached.len();
        if let Some(names) = &profile.names
            && let Some(site) = names.sites.get(&frame)
        {
            for source in site.frames.iter().rev() {
                if let Some(step) = self.named(names, source) {
                    self.cached.push(step);
                }
            }
        }
        if self.cached.len() == begin {
            let step = self.unnamed(frame);
            self.cached.push(step);
        }
        let code = self.code.place(frame);
        let module = code.and_then(|code| self.code.places[code as usize].module);
        for (index, step) in self.cached[begin..].iter_mut().enumerate() {
            (step.module, step.code, step.inlined) = (module, code, index > 0);
        }
    }

    /// A function that has a name.
    fn named(&mut self, names: &model::Names, source: &SourceFrame) -> Option<Step> {
        let (function, role) = self.function(names, source.function)?;
        let file = source.file.map(|file| self.file(names, file));
        let site = Site { offset: Some(source.offset), file, line: source.line };
        Some(Step::to(function, site, role))
    }

    fn function(&mut self, names: &model::Names, id: u32) -> Option<(u32, Role)> {
        let known = self.known_functions.get(id as usize)?;
        if known.is_some() {
            return *known;
        }
        let function = &names.functions[id as usize];
        if function.name.is_empty() {
            return None;
        }
        let name = close_together(printable(&function.name));
        let path = function.module.and_then(|module| self.module_paths.get(module as usize)).cloned();
        let module = path.as_deref().map(|path| base_name(path).to_owned());
        let role = Role::of(Some(&name), module.as_deref().unwrap_or_default());
        let file = function.file.and_then(|file| names.files.get(file as usize));
        let file = file.filter(|path| !path.is_empty()).map(|path| printable(path));
        let (line, linkage_name) = (function.line, printable(&function.linkage_name));
        let module_path = path.unwrap_or_default();
        let function = Function::new(FunctionKind::Named, name, file, module);
        let ours = self.functions.intern(Function { line, module_path, linkage_name, ..function });
        self.known_functions[id as usize] = Some((ours, role));
        Some((ours, role))
    }

    fn file(&mut self, names: &model::Names, id: u32) -> u32 {
        if let Some(Some(known)) = self.known_files.get(id as usize) {
            return *known;
        }
        let path = names.files.get(id as usize).map(|path| printable(path)).unwrap_or_default();
        let ours = self.files.intern(path);
        if let Some(known) = self.known_files.get_mut(id as usize) {
            *known = Some(ours);
        }
        ours
    }

    /// A frame without a name.
    fn unnamed(&mut self, frame: Frame) -> Step {
        let (function, role) = match frame {
            Frame::Code { module, address, .. } => {
                let module_path = self.module_paths.get(module as usize).cloned().unwrap_or_default();
                let module = base_name(&module_path).to_owned();
                let role = Role::of(None, &module);
                let name = format!("{module}+{address:#x}");
                let function = Function::new(FunctionKind::Unnamed, name, None, Some(module));
                (Function { module_path, ..function }, role)
            }
            _ => (Function::new(FunctionKind::Anonymous, ANONYMOUS.into(), None, None), Role::Other),
        };
        Step::to(self.functions.intern(function), Site::default(), role)
    }
}

/// The name with `> >` written as `>>`: in a path ` > ` stands between callers.
pub(super) fn close_together(name: String) -> String {
    if !name.contains("> >") {
        return name;
    }
    let mut closed = String::with_capacity(name.len());
    let mut rest = name.chars().peekable();
    while let Some(character) = rest.next() {
        if character != ' ' || !closed.ends_with('>') || rest.peek() != Some(&'>') {
            closed.push(character);
        }
    }
    closed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_closed_together() {
        let closed = |name: &str| close_together(name.to_owned());
        assert_eq!(closed("map<int, vector<pair<int, int> > >::at"), "map<int, vector<pair<int, int>>>::at");
        assert_eq!(closed("operator> <int>"), "operator> <int>");
        assert_eq!(closed("plain"), "plain");
    }
}
