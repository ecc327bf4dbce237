//! The data of the flame graphs, as JSON that the page's script reads: functions in preorder, column by column.

use super::Page;
use super::escape::json;
use crate::analysis::tally::Usage;
use crate::export::Measure;
use crate::export::stacks::{Stack, Stacks};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// Functions of all stacks together.
const FUNCTIONS: usize = 20_000;
/// Functions of one stack.
const LEVELS: u32 = 500;
/// Modules that have a colour of their own; others share one.
const COLOURS: usize = 8;

pub(super) fn write(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let stacks = Stacks::new(page.source.tree(), page.source.options.paths);
    let measures = measures(page);
    let drawn = widest(&stacks, measures, &page.total);
    let modules = modules(page);
    writeln!(out, "{{\"measure\":{},\"measures\":[", page.source.measure.index())?;
    for (place, measure) in measures.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        writeln!(out, "{comma}{{\"title\":{},\"unit\":{}}}", json(measure.title()), json(measure.unit()))?;
    }
    write!(out, "],\n\"modules\":[")?;
    list(modules.iter().take(COLOURS).map(|name| json(name)), out)?;
    write!(out, "],\n\"all\":[")?;
    list(measures.iter().map(|measure| measure.of(&page.total)), out)?;
    write!(out, "],\n\"labels\":[")?;
    let (numbers, labels) = labels(page, &stacks, &drawn, &modules);
    list(labels, out)?;
    write!(out, "],\n\"depth\":[")?;
    list(drawn.iter().map(|stack| stack.depth), out)?;
    write!(out, "],\n\"label\":[")?;
    list(drawn.iter().map(|stack| numbers[&stack.label]), out)?;
    write!(out, "],\n\"total\":")?;
    columns(&drawn, measures, |stack| &stack.total, out)?;
    write!(out, ",\n\"own\":")?;
    columns(&drawn, measures, |stack| &stack.own, out)?;
    writeln!(out, "}}")
}

fn list<T: std::fmt::Display>(items: impl IntoIterator<Item = T>, out: &mut dyn Write) -> io::Result<()> {
    for (place, item) in items.into_iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        write!(out, "{comma}{item}")?;
    }
    Ok(())
}

/// The measures that there is something of to see: those of the peak only where it was recorded, and of what was kept
/// only where that means something.
fn measures(page: &Page<'_>) -> &'static [Measure] {
    if !page.is_freed() {
        return &Measure::ALL[..Measure::WITHOUT_KEPT];
    }
    let peak = page.total.peak > 0;
    if peak { &Measure::ALL } else { &Measure::ALL[..Measure::WITHOUT_PEAK] }
}

/// A list of numbers for each measure.
fn columns(
    drawn: &[Stack],
    measures: &[Measure],
    usage: impl Fn(&Stack) -> &Usage,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (place, measure) in measures.iter().enumerate() {
        write!(out, "{}[", if place > 0 { ",\n" } else { "[" })?;
        list(drawn.iter().map(|stack| measure.of(usage(stack))), out)?;
        write!(out, "]")?;
    }
    write!(out, "]")
}

/// The functions that are widest in one of the measures, as many as there is room for.
fn widest(stacks: &Stacks, measures: &[Measure], total: &Usage) -> Vec<Stack> {
    let share = |usage: &Usage| {
        // In parts of 2^32 of the whole, so that measures can be compared.
        let parts = measures.iter().map(|measure| (measure.of(usage), measure.of(total)));
        let part =
            |(part, whole): (u64, u64)| (u128::from(part) << 32).checked_div(whole.into()).unwrap_or(0);
        parts.map(part).max().unwrap_or(0)
    };
    let mut shares: Vec<u128> =
        stacks.list.iter().filter(|stack| stack.depth < LEVELS).map(|stack| share(&stack.total)).collect();
    if shares.len() <= FUNCTIONS {
        return stacks.thin(LEVELS - 1, |_| true);
    }
    shares.sort_unstable_by_key(|&share| Reverse(share));
    let least = shares[FUNCTIONS];
    stacks.thin(LEVELS - 1, |usage| share(usage) > least)
}

/// Module names, those with most bytes allocated first.
fn modules(page: &Page<'_>) -> Vec<String> {
    let tree = page.source.tree();
    let mut bytes: BTreeMap<&str, u64> = BTreeMap::new();
    for count in &tree.counts {
        let function = &tree.functions[tree.nodes[count.node as usize].function];
        if let Some(module) = &function.module {
            let sum = bytes.entry(module).or_default();
            *sum = sum.saturating_add(count.usage.bytes);
        }
    }
    // Modules that only call come last.
    for function in tree.functions.iter() {
        if let Some(module) = &function.module {
            bytes.entry(module).or_default();
        }
    }
    let mut modules: Vec<(&str, u64)> = bytes.into_iter().collect();
    modules.sort_by_key(|&(name, bytes)| (Reverse(bytes), name));
    modules.into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// The labels in use, each with the index of its function's entry (-1 for none) and its colour; and their numbers.
fn labels(
    page: &Page<'_>,
    stacks: &Stacks,
    drawn: &[Stack],
    modules: &[String],
) -> (HashMap<u32, usize>, Vec<String>) {
    let colours: HashMap<&str, usize> = modules.iter().map(String::as_str).zip(0..COLOURS).collect();
    let mut numbers = HashMap::new();
    let mut labels = Vec::new();
    for stack in drawn {
        numbers.entry(stack.label).or_insert_with(|| {
            let label = &stacks.labels[stack.label as usize];
            let entry = page.entry_of(label.function).map_or(-1, i64::from);
            let module = page.source.tree().functions[label.function].module.as_deref();
            let colour = module.and_then(|module| colours.get(module)).copied().unwrap_or(COLOURS);
            labels.push(format!("[{},{entry},{colour}]", json(&label.text)));
            labels.len() - 1
        });
    }
    (numbers, labels)
}
