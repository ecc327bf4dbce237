//! What the filters choose functions and calls by, in the manner of gprof's symspecs: `NAME`, `FILE:LINE`,
//! `module:NAME`, each with shell globs.

use super::glob::Glob;
use super::text::base_name;
use super::tree::{Node, Tree};
use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// A choice of functions or calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// Functions of a name.
    Name(Glob),
    /// Calls in a line of a file, or in any line of it.
    Line(Glob, Option<u32>),
    /// Code in a module.
    Module(Glob),
}

impl FromStr for Pattern {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Pattern { text: text.to_owned(), kind: kind(text) })
    }
}

fn kind(text: &str) -> Kind {
    if let Some(module) = text.strip_prefix("module:") {
        return Kind::Module(Glob::new(module));
    }
    // `std::*` and `std::1` are names.
    if let Some((file, line)) =
        text.rsplit_once(':').filter(|(file, _)| !file.ends_with(':') && !file.is_empty())
    {
        match line.parse() {
            Ok(line) => return Kind::Line(Glob::new(file), Some(line)),
            Err(_) if line == "*" => return Kind::Line(Glob::new(file), None),
            Err(_) => {}
        }
    }
    Kind::Name(Glob::new(text))
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether a glob means this path: the whole of it, or its last components.
pub(super) fn means_path(glob: &Glob, path: &str) -> bool {
    glob.matches(path) || path.match_indices('/').any(|(at, _)| glob.matches(&path[at + 1..]))
}

impl Pattern {
    /// The file and the line of a pattern that chooses by these.
    pub(super) fn file_and_line(&self) -> Option<(&str, Option<u32>)> {
        match &self.kind {
            Kind::Line(file, line) => Some((file.text(), *line)),
            Kind::Name(_) | Kind::Module(_) => None,
        }
    }

    fn matches_function(&self, name: &str, shown: &str) -> bool {
        matches!(&self.kind, Kind::Name(glob) if glob.matches(name) || (shown != name && glob.matches(shown)))
    }

    fn matches_module(&self, path: &str) -> bool {
        matches!(&self.kind, Kind::Module(glob) if glob.matches(path) || glob.matches(base_name(path)))
    }

    fn matches_line(&self, file: &str, line: u32) -> bool {
        match &self.kind {
            Kind::Line(glob, wanted) => wanted.is_none_or(|wanted| wanted == line) && means_path(glob, file),
            _ => false,
        }
    }
}

/// Patterns of which one is enough.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patterns(pub Vec<Pattern>);

impl Patterns {
    /// Whether there are none, which match nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// For each node of the tree whether its function, module or call matches.
    pub fn nodes<N>(&self, tree: &Tree<N>) -> Vec<bool> {
        if self.is_empty() {
            return vec![false; tree.nodes.len()];
        }
        let any = |matches: &dyn Fn(&Pattern) -> bool| self.0.iter().any(matches);
        let functions: Vec<bool> = tree
            .functions
            .iter()
            .map(|function| any(&|pattern| pattern.matches_function(&function.name, &function.shown)))
            .collect();
        let modules: Vec<bool> =
            tree.modules.iter().map(|module| any(&|pattern| pattern.matches_module(&module.path))).collect();
        let mut lines: HashMap<(u32, u32), bool> = HashMap::new();
        let mut in_line = |node: &Node| {
            let Some(file) = node.site.file else { return false };
            let line = node.site.line;
            *lines
                .entry((file, line))
                .or_insert_with(|| any(&|pattern| pattern.matches_line(&tree.files[file as usize], line)))
        };
        let nodes = tree.nodes.iter();
        nodes
            .map(|node| {
                functions[node.function as usize]
                    || node.module.is_some_and(|module| modules[module as usize])
                    || in_line(node)
            })
            .collect()
    }
}

impl fmt::Display for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, pattern) in self.0.iter().enumerate() {
            write!(f, "{}{pattern}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        let Ok(pattern) = text.parse();
        pattern
    }

    #[test]
    fn names_lines_and_modules_are_told_apart() {
        assert!(matches!(kind("make_widget"), Kind::Name(_)));
        assert!(matches!(kind("std::vector<int>::*"), Kind::Name(_)));
        assert!(matches!(kind("ns::f1::2"), Kind::Name(_)));
        assert!(matches!(kind("widgets.c:17"), Kind::Line(_, Some(17))));
        assert!(matches!(kind("src/*.c:*"), Kind::Line(_, None)));
        assert!(matches!(kind(":17"), Kind::Name(_)));
        assert!(matches!(kind("module:libc.so*"), Kind::Module(_)));
    }

    #[test]
    fn files_are_meant_by_their_last_components() {
        let line = pattern("src/a.c:7");
        assert!(line.matches_line("/home/me/src/a.c", 7) && !line.matches_line("/home/me/src/a.c", 8));
        assert!(!line.matches_line("/home/me/other_src/a.c", 7), "whole components");
        assert!(pattern("a.c:*").matches_line("/home/me/src/a.c", 1));
        assert!(pattern("*/src/*:*").matches_line("/home/me/src/a.c", 1));
        assert!(pattern("/home/me/src/a.c:1").matches_line("/home/me/src/a.c", 1));
    }

    #[test]
    fn modules_are_meant_by_path_or_name() {
        assert!(pattern("module:libc.so.?").matches_module("/usr/lib/libc.so.6"));
        assert!(pattern("module:/usr/lib/*").matches_module("/usr/lib/libc.so.6"));
        assert!(!pattern("module:libc").matches_module("/usr/lib/libc.so.6"));
    }

    #[test]
    fn functions_are_meant_by_name_or_as_they_are_shown() {
        assert!(pattern("helper").matches_function("helper", "helper (a.c)"));
        assert!(pattern("helper (a.c)").matches_function("helper", "helper (a.c)"));
        assert!(!pattern("helper (b.c)").matches_function("helper", "helper (a.c)"));
        assert!(!pattern("help").matches_function("helper", "helper"));
    }
}
