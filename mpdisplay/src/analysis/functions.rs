//! Functions as the tables know them: one for each (name, where it is defined), over all profiles of a report.

use super::text::base_name;
use std::collections::HashMap;

/// What a function stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// A function with a name.
    Named,
    /// An address in a module that no name is known for.
    Unnamed,
    /// Code outside all modules (generated at run time) without a name: all of it is one function.
    Anonymous,
    /// Callers that could not be found out: `[unknown]`.
    Unknown,
    /// Callers that were left out at recording: `...`.
    Truncated,
    /// A module, where those stand for their functions.
    Module,
    /// What is left of chains whose functions are all hidden.
    Hidden,
}

/// How a path shows callers that could not be found out.
pub const UNKNOWN: &str = "[unknown]";
/// How a path shows callers that were left out.
pub const TRUNCATED: &str = "...";
/// The name of all code outside modules that has no name of its own.
pub const ANONYMOUS: &str = "[anonymous]";

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// What it stands for.
    pub kind: FunctionKind,
    /// Its name, printable.
    pub name: String,
    /// Its name in the tables: as `name`, with `apart` behind it where there is one.
    pub shown: String,
    /// The file or module that tells it from another function of the report that has the same name.
    pub apart: Option<String>,
    /// Path of the file where it is defined, if known.
    pub file: Option<String>,
    /// Base name of the module that it was first seen in; `None` for code outside all modules.
    pub module: Option<String>,
    /// Line in `file` where it is defined; 0 where unknown.
    pub line: u32,
    /// Whole path of that module; empty for code outside all modules.
    pub module_path: String,
    /// Its name as the linker knows it; empty where that is unknown or no other.
    pub linkage_name: String,
}

impl Function {
    /// A function that is yet shown by its name alone.
    pub fn new(kind: FunctionKind, name: String, file: Option<String>, module: Option<String>) -> Self {
        let (shown, module_path, linkage_name) = (name.clone(), String::new(), String::new());
        Function { kind, name, shown, apart: None, file, module, line: 0, module_path, linkage_name }
    }

    /// Where it belongs: equal names in different places are different functions.
    fn place(&self) -> &str {
        self.file.as_deref().or(self.module.as_deref()).unwrap_or_default()
    }
}

/// All functions of a report. Index = function id.
#[derive(Debug, Clone, Default)]
pub struct Functions {
    list: Vec<Function>,
    by_identity: HashMap<(String, String), u32>,
}

impl Functions {
    /// The id of a function, new or known.
    pub(super) fn intern(&mut self, function: Function) -> u32 {
        let identity = (function.name.clone(), function.place().to_owned());
        let next = self.list.len() as u32;
        let id = *self.by_identity.entry(identity).or_insert(next);
        if id == next {
            self.list.push(function);
        }
        id
    }

    /// Tells functions of the same name apart in `shown`; only `used` ones count.
    pub(super) fn tell_apart(&mut self, used: &[bool]) {
        let mut by_name: HashMap<&str, Vec<u32>> = HashMap::new();
        for (id, function) in self.list.iter().enumerate().filter(|(id, _)| used[*id]) {
            by_name.entry(&function.name).or_default().push(id as u32);
        }
        let alike: Vec<Vec<u32>> = by_name.into_values().filter(|ids| ids.len() > 1).collect();
        for ids in alike {
            let mut short: Vec<&str> =
                ids.iter().map(|&id| base_name(self.list[id as usize].place())).collect();
            short.sort_unstable();
            short.dedup();
            let base_is_enough = short.len() == ids.len();
            for id in ids {
                let function = &mut self.list[id as usize];
                let place = function.place();
                let place = if base_is_enough { base_name(place) } else { place };
                if !place.is_empty() {
                    let (shown, apart) = (format!("{} ({place})", function.name), place.to_owned());
                    (function.shown, function.apart) = (shown, Some(apart));
                }
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// By id, rising.
    pub fn iter(&self) -> impl Iterator<Item = &Function> {
        self.list.iter()
    }
}

impl std::ops::Index<u32> for Functions {
    type Output = Function;

    fn index(&self, id: u32) -> &Function {
        &self.list[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, file: Option<&str>, module: &str) -> Function {
        let (file, module) = (file.map(str::to_owned), Some(module.to_owned()));
        Function::new(FunctionKind::Named, name.into(), file, module)
    }

    #[test]
    fn equal_names_in_one_file_are_one_function_in_two_files_two() {
        let mut functions = Functions::default();
        let first = functions.intern(named("helper", Some("/src/a.c"), "prog"));
        assert_eq!(functions.intern(named("helper", Some("/src/a.c"), "libother.so")), first);
        let second = functions.intern(named("helper", Some("/src/b.c"), "prog"));
        assert_ne!(first, second);
        functions.tell_apart(&[true, true]);
        assert_eq!(functions[first].shown, "helper (a.c)");
        assert_eq!(functions[second].shown, "helper (b.c)");
    }

    #[test]
    fn whole_paths_tell_apart_where_base_names_do_not() {
        let mut functions = Functions::default();
        let first = functions.intern(named("init", Some("/x/a.c"), "prog"));
        let second = functions.intern(named("init", Some("/y/a.c"), "prog"));
        let third = functions.intern(named("init", None, "libz.so"));
        functions.tell_apart(&[true; 3]);
        assert_eq!(functions[first].shown, "init (/x/a.c)");
        assert_eq!(functions[second].shown, "init (/y/a.c)");
        assert_eq!(functions[third].shown, "init (libz.so)");
    }

    #[test]
    fn functions_that_are_on_no_chain_make_no_name_ambiguous() {
        let mut functions = Functions::default();
        let first = functions.intern(named("main", Some("/x/a.c"), "prog"));
        functions.intern(named("main", Some("/y/b.c"), "prog"));
        functions.tell_apart(&[true, false]);
        assert_eq!(functions[first].shown, "main");
    }
}
