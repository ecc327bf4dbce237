//! Reads suppression files.

use super::pattern::{Matcher, Step};
use super::{Origin, Rule};
use crate::analysis::kinds::Kinds;
use crate::analysis::text::printable;
use thiserror::Error;

/// Frames that a rule may name, wildcards included; Valgrind itself keeps at most 24.
pub(super) const MAX_STEPS: usize = 63;

/// A line that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{origin}: {reason}")]
pub struct ReadError {
    /// Where.
    pub origin: Origin,
    /// What is wrong, and what to do.
    pub reason: String,
}

/// The lines of a file that say something, with their numbers.
struct Lines<'a> {
    rest: &'a [u8],
    /// Of the line that was read last.
    number: usize,
}

impl Iterator for Lines<'_> {
    type Item = (usize, String);

    fn next(&mut self) -> Option<(usize, String)> {
        while !self.rest.is_empty() {
            let end = self.rest.iter().position(|&byte| byte == b'\n');
            let (line, rest) = self.rest.split_at(end.map_or(self.rest.len(), |end| end + 1));
            self.rest = rest;
            self.number += 1;
            let line = printable(line.trim_ascii());
            if !line.is_empty() && !line.starts_with('#') {
                return Some((self.number, line));
            }
        }
        None
    }
}

/// Reads the rules of a file. `origin` makes a place of a line number.
pub(super) fn rules(bytes: &[u8], origin: &dyn Fn(usize) -> Origin) -> Result<Vec<Rule>, ReadError> {
    let mut lines = Lines { rest: bytes, number: 0 };
    let mut rules = Vec::new();
    while let Some((number, line)) = lines.next() {
        let rule =
            if line == "{" { record(&mut lines, number, origin)? } else { pattern(&line, origin(number))? };
        rules.extend(rule);
    }
    Ok(rules)
}

fn error<T>(origin: Origin, reason: impl Into<String>) -> Result<T, ReadError> {
    Err(ReadError { origin, reason: reason.into() })
}

/// Kinds of suppressions that the sanitizers' files have beside `leak`.
const OTHER_SANITIZERS: [&str; 24] = [
    "race",
    "race_top",
    "thread",
    "mutex",
    "signal",
    "deadlock",
    "called_from_lib",
    "interceptor_name",
    "interceptor_via_fun",
    "interceptor_via_lib",
    "alloc_dealloc_mismatch",
    "odr_violation",
    "undefined",
    "alignment",
    "bounds",
    "enum",
    "float-divide-by-zero",
    "function",
    "integer",
    "null",
    "shift",
    "signed-integer-overflow",
    "unsigned-integer-overflow",
    "vptr",
];

/// A line of a sanitizer's file; `None` where it is for another sanitizer.
fn pattern(line: &str, origin: Origin) -> Result<Option<Rule>, ReadError> {
    match line.split_once(':') {
        Some(("leak", "")) => {
            error(origin, "`leak:` without a pattern would hide every leak; write `leak:*` for that")
        }
        Some(("leak", pattern)) => Ok(Some(Rule {
            name: line.to_owned(),
            origin,
            kinds: Kinds::ALL,
            steps: vec![Step::Any, Step::Frame(Matcher::Anything(pattern.to_owned()))],
        })),
        Some((other, _)) if OTHER_SANITIZERS.contains(&other) => Ok(None),
        _ => error(origin, format!("`{line}` is neither `leak:PATTERN` nor the `{{` of a Valgrind record")),
    }
}

/// The record that begins at a line; `None` where it is not about leaks.
fn record(
    lines: &mut Lines<'_>,
    begin: usize,
    origin: &dyn Fn(usize) -> Origin,
) -> Result<Option<Rule>, ReadError> {
    let mut next = |wanted: &str| match lines.next() {
        Some((number, line)) if line == "}" => {
            error(origin(number), format!("the record ends before {wanted}"))
        }
        Some(line) => Ok(line),
        None => error(origin(begin), format!("the file ends before {wanted} of this record")),
    };
    let (_, name) = next("its name")?;
    let (_, tools) = next("its kind, as `Memcheck:Leak`")?;
    let about_leaks = is_about_leaks(&tools);
    let mut rule = Rule { name, origin: origin(begin), kinds: Kinds::ALL, steps: Vec::new() };
    loop {
        let Some((number, line)) = lines.next() else {
            return error(origin(begin), "the file ends before the `}` of this record");
        };
        if line == "}" {
            break;
        }
        if about_leaks {
            frame(&line, origin(number), &mut rule)?;
        }
    }
    if !about_leaks {
        return Ok(None);
    }
    if !rule.steps.iter().any(|step| matches!(step, Step::Frame(_))) {
        return error(rule.origin, "the record names no frame and would hide every leak");
    }
    Ok(Some(rule))
}

/// Whether a record's second line (`Memcheck,Addrcheck:Leak`) is about leaks.
fn is_about_leaks(line: &str) -> bool {
    line.split_once(':').is_some_and(|(tools, kind)| {
        kind.trim() == "Leak" && tools.split(',').any(|tool| ["Memcheck", "Addrcheck"].contains(&tool.trim()))
    })
}

/// Adds a record's line to its rule.
fn frame(line: &str, origin: Origin, rule: &mut Rule) -> Result<(), ReadError> {
    if let Some(kinds) = line.strip_prefix("match-leak-kinds:") {
        match Kinds::read(kinds) {
            Some(kinds) => rule.kinds = kinds,
            None => {
                return error(
                    origin,
                    format!("`{line}`: kinds are definite, indirect, possible, reachable, all, none"),
                );
            }
        }
        return Ok(());
    }
    let step = match line.split_once(':') {
        _ if line == "..." => Step::Any,
        Some(("fun", pattern)) => Step::Frame(Matcher::Function(pattern.to_owned())),
        Some(("obj", pattern)) => Step::Frame(Matcher::Object(pattern.to_owned())),
        Some(("src", place)) => Step::Frame(source(place)),
        _ => return error(origin, format!("`{line}` is no frame: `fun:`, `obj:`, `src:` or `...`")),
    };
    // Several wildcards in a row say no more than one.
    if !(step == Step::Any && rule.steps.last() == Some(&Step::Any)) {
        rule.steps.push(step);
    }
    if rule.steps.len() > MAX_STEPS {
        return error(origin, format!("more than {MAX_STEPS} frames; leave the outer ones out"));
    }
    Ok(())
}

fn source(place: &str) -> Matcher {
    match place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) {
        Some((file, line)) => Matcher::Source { file: file.to_owned(), line: Some(line) },
        None => Matcher::Source { file: place.to_owned(), line: None },
    }
}

#[cfg(test)]
mod tests {
    use mprof_format::model::Class;

    use super::*;

    fn read(text: &str) -> Result<Vec<Rule>, String> {
        rules(text.as_bytes(), &|line| Origin::File { name: "s.supp".into(), line })
            .map_err(|error| error.to_string())
    }

    #[test]
    fn both_formats_are_read_from_one_file() {
        let text = "# known\nleak:libold.so\n\nrace:counter\n{\n   cache\n   Memcheck:Leak\n   \
                    match-leak-kinds: reachable,possible\n   fun:malloc\n   ...\n   ...\n   obj:*/libold.so*\n   \
                    src:main.c:12\n   src:util.c\n}\n{\nother\nMemcheck:Cond\nfun:strlen\n}\r\n";
        let rules = read(text).expect("sound");
        assert_eq!(rules.len(), 2);
        assert_eq!(rules[0].name, "leak:libold.so");
        assert_eq!(rules[0].origin.to_string(), "s.supp:2");
        assert_eq!(rules[0].steps, [Step::Any, Step::Frame(Matcher::Anything("libold.so".into()))]);
        assert_eq!(rules[1].name, "cache");
        assert_eq!(rules[1].origin.to_string(), "s.supp:5");
        assert_eq!(rules[1].kinds, Kinds::NONE.with(Class::Reachable).with(Class::Possible));
        let source = |file: &str, line| Step::Frame(Matcher::Source { file: file.into(), line });
        assert_eq!(
            rules[1].steps,
            [
                Step::Frame(Matcher::Function("malloc".into())),
                Step::Any,
                Step::Frame(Matcher::Object("*/libold.so*".into())),
                source("main.c", Some(12)),
                source("util.c", None),
            ]
        );
    }

    #[test]
    fn errors_name_the_line() {
        let reason = |text: &str| read(text).expect_err("not sound");
        assert_eq!(
            reason("leak:a\nmalloc"),
            "s.supp:2: `malloc` is neither `leak:PATTERN` nor the `{` of a Valgrind record"
        );
        assert_eq!(
            reason("leak:"),
            "s.supp:1: `leak:` without a pattern would hide every leak; write `leak:*` for that"
        );
        assert_eq!(reason("{\n a\n}"), "s.supp:3: the record ends before its kind, as `Memcheck:Leak`");
        assert_eq!(reason("\n{\n"), "s.supp:2: the file ends before its name of this record");
        assert_eq!(
            reason("{\na\nMemcheck:Leak\nfun:f"),
            "s.supp:1: the file ends before the `}` of this record"
        );
        assert_eq!(
            reason("{\na\nMemcheck:Leak\n...\n}"),
            "s.supp:1: the record names no frame and would hide every leak"
        );
        assert_eq!(
            reason("{\na\nMemcheck:Leak\ncaller:f\n}"),
            "s.supp:4: `caller:f` is no frame: `fun:`, `obj:`, `src:` or `...`"
        );
        assert!(reason("{\na\nMemcheck:Leak\nmatch-leak-kinds: gone\n}").starts_with("s.supp:4: "));
        let long = format!("{{\na\nMemcheck:Leak\n{}}}", "fun:f\n".repeat(64));
        assert_eq!(reason(&long), "s.supp:67: more than 63 frames; leave the outer ones out");
    }

    #[test]
    fn bytes_that_are_no_text_are_no_rules() {
        let error =
            rules(&[0xff, 0, b'\n'], &|line| Origin::File { name: "s".into(), line }).expect_err("no text");
        assert_eq!(
            error.to_string(),
            "s:1: `\u{fffd}\\u{0}` is neither `leak:PATTERN` nor the `{` of a Valgrind record"
        );
    }
}
