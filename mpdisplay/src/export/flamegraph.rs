//! A flame graph, SVG, drawn by inferno: outermost functions at the bottom, as wide as what was allocated under them.

use super::folded::frame;
use super::stacks::{Label, Stack, Stacks};
use super::{Measure, Source};
use inferno::flamegraph::color::BasicPalette;
use inferno::flamegraph::{self, Options, Palette};
use std::io::{self, Write};

/// Functions narrower than the picture divided by this are not drawn: they were a tenth of a pixel.
const WIDTH: u64 = 12_000;
/// Levels of the picture. What is deeper is drawn as allocated by the function of the last level.
const LEVELS: u32 = 1000;
/// What stands for outermost functions that are too narrow.
const NARROW: &str = "[narrow]";

pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let measure = source.measure;
    let stacks = Stacks::new(source.tree(), source.options.paths);
    let whole: u128 = roots(&stacks.list).map(|root| u128::from(measure.of(&root.total))).sum();
    if whole == 0 {
        return nothing(source, out).map(|()| Vec::new());
    }
    let narrow = u64::try_from(whole / u128::from(WIDTH)).unwrap_or(u64::MAX);
    let drawn = stacks.thin(LEVELS - 1, |total| measure.of(total) > narrow);
    // The library's sums are of 64 bits, and one more is used for signs.
    let shift = (u128::BITS - whole.leading_zeros()).saturating_sub(u64::BITS - 2);
    let values = own_widths(&drawn, measure);
    let mut lines = lines(&drawn, &values, &stacks.labels, shift);
    let rest = whole - roots(&drawn).map(|root| u128::from(measure.of(&root.total))).sum::<u128>();
    if rest >> shift > 0 {
        lines.push(format!("{NARROW} {}", rest >> shift));
    }
    // As a chart of events in time, latest first, the order of the lines stays: by their text, `f` and `f g` would
    // be mixed up, and `f` drawn twice.
    lines.reverse();
    let mut options = Options::default();
    options.flame_chart = true;
    options.title = format!("{}: {}", source.programs(), measure.title().to_lowercase());
    options.subtitle = source.parts.len().gt(&1).then(|| format!("Sum of {} profiles", source.parts.len()));
    options.count_name = measure.unit().into();
    options.colors = Palette::Basic(if measure.is_kept() { BasicPalette::Hot } else { BasicPalette::Mem });
    options.deterministic = true;
    options.factor = 2f64.powi(shift.cast_signed());
    let deep = stacks.list.iter().any(|stack| stack.depth >= LEVELS);
    options.notes =
        if deep { format!("Functions above level {LEVELS} are not drawn") } else { String::new() };
    let note = options.notes.clone();
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), out)?;
    Ok(if deep { vec![note] } else { Vec::new() })
}

fn roots(stacks: &[Stack]) -> impl Iterator<Item = &Stack> {
    stacks.iter().filter(|stack| stack.depth == 0)
}

/// What of each function's width is not its callees' that are drawn.
fn own_widths(drawn: &[Stack], measure: Measure) -> Vec<u64> {
    let mut widths: Vec<u64> = drawn.iter().map(|stack| measure.of(&stack.total)).collect();
    let mut chain: Vec<usize> = Vec::new();
    for (index, stack) in drawn.iter().enumerate() {
        chain.truncate(stack.depth as usize);
        if let Some(&caller) = chain.last() {
            widths[caller] = widths[caller].saturating_sub(measure.of(&stack.total));
        }
        chain.push(index);
    }
    widths
}

fn lines(drawn: &[Stack], values: &[u64], labels: &[Label], shift: u32) -> Vec<String> {
    let mut lines = Vec::new();
    let mut chain: Vec<String> = Vec::new();
    for (stack, value) in drawn.iter().zip(values) {
        chain.truncate(stack.depth as usize);
        chain.push(xml(&frame(&labels[stack.label as usize].text)));
        if value >> shift > 0 {
            lines.push(format!("{} {}", chain.join(";"), value >> shift));
        }
    }
    lines
}

/// A name without what XML cannot hold; control characters are not in it any more. A line that began with `# ` were a
/// comment.
fn xml(name: &str) -> String {
    name.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}").replacen("# ", "#_", 1)
}

/// The picture where there is nothing to draw.
fn nothing(source: &Source<'_>, out: &mut dyn Write) -> io::Result<()> {
    let title = source.measure.title().to_lowercase();
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"600\" height=\"80\" viewBox=\"0 0 600 80\">\n\
         <rect width=\"600\" height=\"80\" fill=\"#eee\"/>\n\
         <text x=\"300\" y=\"45\" text-anchor=\"middle\" font-family=\"monospace\" font-size=\"16\">No {title}</text>\n\
         </svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tally::Usage;

    #[test]
    fn what_is_not_drawn_belongs_to_the_caller() {
        let stack = |depth, bytes| {
            let usage = Usage::new(1, bytes, 0, 0);
            Stack { depth, label: 0, own: Usage::default(), total: usage }
        };
        let drawn = [stack(0, 100), stack(1, 60), stack(2, 10), stack(1, 30), stack(0, 5)];
        assert_eq!(own_widths(&drawn, Measure::Bytes), [10, 50, 10, 30, 5]);
    }
}
