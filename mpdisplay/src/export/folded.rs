//! Folded stacks: `main;make_red_widget;make_widget 1023876`, a line each call chain. Flame graph tools read them
//! (flamegraph.pl, inferno, speedscope).

use super::stacks::{Stack, Stacks};
use super::{Measure, Source, chains};
use crate::analysis::functions::TRUNCATED;
use std::io::{self, Write};

/// Functions that all lines together may have.
const FUNCTIONS: u64 = 1 << 25;

pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let stacks = Stacks::new(source.tree(), source.options.paths);
    let shown = |stack: &&Stack| source.measure.of(&stack.own) > 0;
    let lengths = stacks.list.iter().filter(shown).map(|stack| stack.depth + 1);
    let longest = chains::longest(lengths, FUNCTIONS);
    let names: Vec<String> = stacks.labels.iter().map(|label| frame(&label.text)).collect();
    lines(&stacks.list, &names, source.measure, longest.unwrap_or(u32::MAX), out)?;
    Ok(chains::note(longest))
}

/// Writes a line for each stack that allocated itself, with its last `longest` functions.
fn lines(
    stacks: &[Stack],
    names: &[String],
    measure: Measure,
    longest: u32,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut line = String::new();
    // Where the name of each function of the current stack begins in the line.
    let mut starts: Vec<usize> = Vec::new();
    for stack in stacks {
        let depth = stack.depth as usize;
        if let Some(&start) = starts.get(depth) {
            line.truncate(start.saturating_sub(1));
            starts.truncate(depth);
        }
        if !line.is_empty() {
            line.push(';');
        }
        starts.push(line.len());
        line.push_str(&names[stack.label as usize]);
        let value = measure.of(&stack.own);
        if value == 0 {
            continue;
        }
        match starts.len().checked_sub(longest as usize) {
            None | Some(0) => writeln!(out, "{line} {value}")?,
            Some(first) => writeln!(out, "{TRUNCATED};{} {value}", &line[starts[first]..])?,
        }
    }
    Ok(())
}

/// A name as a frame: `;` stands between frames, and a number behind the last space is read as a value.
pub(super) fn frame(name: &str) -> String {
    let mut frame = name.replace(';', ":");
    if let Some((_, last)) = frame.rsplit_once(' ')
        && !last.is_empty()
        && last.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        let space = frame.len() - last.len() - 1;
        frame.replace_range(space..=space, "_");
    }
    if frame.is_empty() { "?".into() } else { frame }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tally::Usage;

    fn stack(depth: u32, label: u32, bytes: u64) -> Stack {
        let own = Usage::new(1, bytes, 0, 0);
        Stack { depth, label, own, total: own }
    }

    fn drawn(longest: u32) -> String {
        let stacks =
            [stack(0, 0, 0), stack(1, 1, 5), stack(2, 0, 7), stack(1, 2, 0), stack(2, 2, 3), stack(0, 1, 2)];
        let names = ["main", "f", "g"].map(String::from);
        let mut out = Vec::new();
        lines(&stacks, &names, Measure::Bytes, longest, &mut out).expect("a vector takes everything");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_line_for_each_stack_that_allocates() {
        assert_eq!(drawn(u32::MAX), "main;f 5\nmain;f;main 7\nmain;g;g 3\nf 2\n");
    }

    #[test]
    fn long_stacks_keep_their_end() {
        assert_eq!(drawn(2), "main;f 5\n...;f;main 7\n...;g;g 3\nf 2\n");
    }

    #[test]
    fn names_keep_clear_of_the_format() {
        assert_eq!(frame("operator new(unsigned long)"), "operator new(unsigned long)");
        assert_eq!(frame("a;b"), "a:b");
        assert_eq!(frame("lambda 12"), "lambda_12");
        assert_eq!(frame("lambda 1 2"), "lambda 1_2");
        assert_eq!(frame("12"), "12");
    }
}
