//! Patterns that mean nothing that is there, with the names that come nearest: mostly they are misspelt.

use super::chains::{Chains, WRAPPERS};
use super::pattern::{Pattern, Patterns};
use super::text::base_name;
use super::tree::Tree;
use std::collections::BTreeSet;
use std::fmt;

/// A pattern that means nothing that is on a call chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmatched {
    /// The option that it was given to.
    option: &'static str,
    /// The pattern.
    pattern: String,
    /// What comes nearest, as it may be given instead; the nearest first.
    near: Vec<String>,
}

/// Names that are told.
const NEAR: usize = 3;
/// How alike they must be, from 0 to 1 (Jaro and Winkler's measure).
const ALIKE: f64 = 0.75;
/// Names that are compared; a large program has hundreds of thousands.
const COMPARED: usize = 200_000;

impl Unmatched {
    /// The patterns of the options that mean nothing on the chains of `tree`, to which nothing was done yet.
    pub fn of<N>(tree: &Tree<N>, chains: &Chains, show: &Patterns) -> Vec<Unmatched> {
        let options = [
            ("--focus", &chains.focus),
            ("--ignore", &chains.ignore),
            ("--hide", &chains.hide),
            ("--show", show),
            ("--wrapper", &chains.wrappers),
        ];
        let all = options.into_iter().flat_map(|(option, patterns)| {
            patterns.0.iter().map(move |pattern| (option, pattern, pattern.to_string()))
        });
        let own = all.filter(|(.., text)| !WRAPPERS.contains(&text.as_str()));
        let unmatched =
            own.filter(|(_, pattern, _)| !Patterns(vec![(*pattern).clone()]).nodes(tree).contains(&true));
        unmatched
            .map(|(option, pattern, text)| Unmatched { option, near: near(tree, pattern), pattern: text })
            .collect()
    }

    /// Whether this is of the same pattern of the same option.
    pub fn is_of_same(&self, other: &Unmatched) -> bool {
        (self.option, &self.pattern) == (other.option, &other.pattern)
    }
}

impl fmt::Display for Unmatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unmatched { option, pattern, near } = self;
        write!(f, "{option} {pattern}: nothing like that is on a call chain; ")?;
        match near.as_slice() {
            [] => f.write_str("try a part of the name between stars, '*NAME*'"),
            [one] => write!(f, "there is {one}"),
            near => write!(f, "there are {}", near.join(", ")),
        }
    }
}

/// What is there that comes nearest to a pattern.
fn near<N>(tree: &Tree<N>, pattern: &Pattern) -> Vec<String> {
    let text = pattern.to_string();
    // A file or a module that was given as if it were a function.
    let instead = [format!("{text}:*"), format!("module:{text}")];
    let means_something = |text: &&String| {
        let Ok(pattern) = text.parse();
        Patterns(vec![pattern]).nodes(tree).contains(&true)
    };
    if let Some(instead) = instead.iter().find(means_something) {
        return vec![instead.clone()];
    }
    if let Some(module) = text.strip_prefix("module:") {
        let modules = tree.modules.iter().map(|module| base_name(&module.path));
        return nearest(module, modules).into_iter().map(|name| format!("module:{name}")).collect();
    }
    if let Some((file, line)) = pattern.file_and_line() {
        let in_file = lines(tree, file);
        return match line.filter(|_| !in_file.is_empty()) {
            Some(line) => nearest_lines(file, line, &in_file),
            None => {
                let files = tree.files.iter().map(|path| base_name(path));
                nearest(file, files).into_iter().map(|name| format!("{name}:*")).collect()
            }
        };
    }
    let mut on_chain = vec![false; tree.functions.len()];
    for node in &tree.nodes {
        on_chain[node.function as usize] = true;
    }
    let functions = tree.functions.iter().zip(on_chain).filter(|(_, on_chain)| *on_chain);
    nearest(&text, functions.map(|(function, _)| function.name.as_str()))
}

/// The names most like a text, letter case and stars aside: first those that it is a part of.
fn nearest<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let text = text.replace(['*', '?', '…'], "").to_lowercase();
    let names: BTreeSet<&str> = names.take(COMPARED).filter(|name| !name.is_empty()).collect();
    let mut likeness: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| {
            let lower = name.to_lowercase();
            let is_part = !text.is_empty() && lower.contains(&text);
            (f64::from(u8::from(is_part)) + strsim::jaro_winkler(&text, &lower), name)
        })
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    likeness.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    likeness.into_iter().take(NEAR).map(|(_, name)| name.to_owned()).collect()
}

/// The lines of a file that are on call chains.
fn lines<N>(tree: &Tree<N>, file: &str) -> BTreeSet<u32> {
    let Ok(pattern) = format!("{file}:*").parse();
    let nodes = Patterns(vec![pattern]).nodes(tree);
    let lines = tree.nodes.iter().zip(nodes).filter(|(_, is_in)| *is_in).map(|(node, _)| node.site.line);
    lines.filter(|&line| line > 0).collect()
}

/// The lines nearest to one, rising.
fn nearest_lines(file: &str, line: u32, lines: &BTreeSet<u32>) -> Vec<String> {
    let mut lines: Vec<u32> = lines.iter().copied().collect();
    lines.sort_by_key(|other| other.abs_diff(line));
    lines.truncate(NEAR);
    lines.sort_unstable();
    lines.into_iter().map(|line| format!("{file}:{line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_hold_the_text_come_first() {
        let names = ["make_widget", "make_red_widget", "main", "WIDGETS", "free_all", ""];
        assert_eq!(nearest("*widget*", names.into_iter()), ["WIDGETS", "make_widget", "make_red_widget"]);
        assert_eq!(nearest("make_wigdet", names.into_iter()), ["make_widget", "make_red_widget"]);
        assert!(nearest("zzz", names.into_iter()).is_empty());
    }

    #[test]
    fn lines_are_told_by_distance() {
        let lines = BTreeSet::from([1, 14, 17, 21, 300]);
        assert_eq!(nearest_lines("a.c", 16, &lines), ["a.c:14", "a.c:17", "a.c:21"]);
    }

    #[test]
    fn messages() {
        let say = |near: &[&str]| {
            let near = near.iter().map(|&name| name.to_owned()).collect();
            Unmatched { option: "--focus", pattern: "f".into(), near }.to_string()
        };
        assert_eq!(say(&["g"]), "--focus f: nothing like that is on a call chain; there is g");
        assert_eq!(say(&["g", "h"]), "--focus f: nothing like that is on a call chain; there are g, h");
        assert!(say(&[]).ends_with("; try a part of the name between stars, '*NAME*'"));
    }
}
