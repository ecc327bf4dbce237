//! Draws how long objects lived: their ages, and what died young by path.

use super::fold::{INDENT, fold_path};
use super::layout::{column, heading, line};
use super::number::{bracket, counted, one_decimal};
use super::options::{Options, Order};
use super::style::Style;
use super::time::bytes;
use super::view::View;
use crate::analysis::part::Part;
use crate::analysis::past::{Lifetimes, PathRow, by_path, pasts};
use crate::analysis::share::Detail;
use crate::analysis::tally::Usage;
use std::cmp::Reverse;
use std::io::{self, Write};

/// Ages in KiB are kept modulo 2²⁴, unless ages in allocations are recorded too.
const WRAP_KIB: u64 = 1 << 24;
/// Columns of a bar.
const BAR: u64 = 32;

/// Writes the ages of all freed objects, and the paths over which young ones were allocated.
pub(super) fn write(
    parts: &[Part<'_>],
    view: &View,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    heading(out, options.styles, "Lifetimes")?;
    let mut all = Lifetimes::default();
    pasts(&view.tree).filter_map(|(_, past)| past.lifetimes.as_deref()).for_each(|more| all += more);
    if all.objects() == 0 {
        return line(out, "  no objects were freed whose ages are recorded");
    }
    savings(&all, &view.total, out)?;
    ages("age, allocated meanwhile", &all.classes, lower_bytes, options, out)?;
    if all.counted_in_allocations() > 0 {
        ages("age, allocations meanwhile", &all.by_allocations, lower, options, out)?;
    }
    let mut rows = by_path(&view.tree, options.paths, |past| past.lifetimes.as_deref());
    rows.retain(|row| row.sum.young() > 0);
    table(rows, &view.total, options, out)?;
    notes(parts, &all, &view.total, options, out)
}

/// What would be saved if no young object were allocated.
fn savings(all: &Lifetimes, total: &Usage, out: &mut impl Write) -> io::Result<()> {
    let Usage { allocs, bytes, .. } = *total;
    line(
        out,
        &format!(
            "  {} died young, within 1 KiB of further allocation.\n  \
             Without them {} % of all allocations and {} % of all bytes would be saved.\n  \
             {} of them were temporary: freed before the thread's next allocation.",
            counted(all.young(), "object"),
            one_decimal(all.young(), allocs),
            one_decimal(all.young_bytes, bytes),
            all.temporary.min(all.young())
        ),
    )
}

/// The least age of a class.
fn lower(class: usize) -> String {
    match class {
        0 => "0".into(),
        class => super::time::amount(1 << (class - 1)),
    }
}

/// The least age of a class of KiB.
pub(crate) fn lower_bytes(class: usize) -> String {
    match class {
        0 => "under 1 KiB".into(),
        class => format!("from {}", bytes(1024 << (class - 1))),
    }
}

/// A histogram of ages, from the first class to the last that is not empty.
fn ages(
    title: &str,
    classes: &[u64],
    name: impl Fn(usize) -> String,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    let last = classes.iter().rposition(|count| *count > 0).unwrap_or(0);
    let most = classes.iter().copied().max().unwrap_or(0).max(1);
    let sum = classes.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
    let width = column(11, classes.iter().copied());
    line(out, "")?;
    line(out, &format!("  {title:<26}{:>width$} (%)", "objects"))?;
    line(out, "")?;
    for (class, &count) in classes.iter().enumerate().take(last + 1) {
        let length = (u128::from(count) * u128::from(BAR)).div_ceil(most.into()) as usize;
        let share = bracket(count, sum, options.marks);
        line(out, &format!("  {:<26}{count:>width$} {share:<4}  {}", name(class), "▇".repeat(length)))?;
    }
    Ok(())
}

pub(crate) fn mean_kib(lifetimes: &Lifetimes) -> String {
    // Ages are cut to KiB: on average half of one is missing, but a mean of less than one says only that.
    match lifetimes.kib.checked_div(lifetimes.objects()) {
        None => "-".into(),
        Some(0) => "< 1 KiB".into(),
        Some(kib) => bytes(kib.saturating_mul(1024)),
    }
}

fn table(
    mut rows: Vec<PathRow<Lifetimes>>,
    total: &Usage,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    let count = rows.len();
    let shows = |row: &PathRow<Lifetimes>| {
        let sum = &row.sum;
        options.detail.shows(&Usage::new(sum.young(), sum.young_bytes, 0, 0), total)
    };
    rows.retain(shows);
    rows.sort_by_cached_key(|row| {
        let weight = match options.order {
            Some(Order::Name) => 0,
            Some(Order::Allocs) => row.sum.young(),
            _ => row.sum.young_bytes,
        };
        (Reverse(weight), row.path.to_string())
    });
    rows.truncate(options.limit.unwrap_or(usize::MAX));
    let width = |usual, number: fn(&Lifetimes) -> u64| column(usual, rows.iter().map(|row| number(&row.sum)));
    let young = width(9, Lifetimes::young);
    let size = width(11, |sum| sum.young_bytes);
    let temporary = width(11, |sum| sum.temporary);
    let freed = width(10, Lifetimes::objects);
    line(out, "")?;
    line(
        out,
        &format!(
            "{:>young$}{:>size$} (%) {:>temporary$}{:>freed$}{:>10}    path",
            "young", "bytes", "temporary", "all freed", "mean age"
        ),
    )?;
    line(out, "")?;
    for row in &rows {
        let sum = &row.sum;
        let share = bracket(sum.young_bytes, total.bytes, options.marks);
        let numbers = format!(
            "{:>young$}{:>size$} {share:<4}{:>temporary$}{:>freed$}{:>10}    ",
            sum.young(),
            sum.young_bytes,
            sum.temporary,
            sum.objects(),
            mean_kib(sum)
        );
        path_behind(&numbers, row, options, out)?;
        if options.detail == Detail::Verbose {
            line(out, &options.styles.paint(Style::Faint, &format!("    {}", histogram(sum))))?;
        }
    }
    match count - rows.len() {
        0 => Ok(()),
        hidden => {
            let note = format!("  left out: {}", counted(hidden as u64, "path"));
            writeln!(out, "\n{}", options.styles.paint(Style::Faint, &note))
        }
    }
}

/// The ages of a path's objects, in a line.
fn histogram(sum: &Lifetimes) -> String {
    let classes = sum.classes.iter().enumerate().filter(|(_, count)| **count > 0);
    let ages: Vec<String> =
        classes.map(|(class, count)| format!("{}: {count}", lower_bytes(class))).collect();
    format!("ages {}", ages.join(", "))
}

/// A path behind numbers.
pub(super) fn path_behind<T>(
    numbers: &str,
    row: &PathRow<T>,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    if !options.page.fold {
        return line(out, &format!("{numbers}{}", row.path));
    }
    let room = options.page.room(numbers.len());
    for (index, part) in fold_path(&row.path, room, &options.page).iter().enumerate() {
        match index {
            0 => line(out, &format!("{numbers}{part}"))?,
            _ => line(out, &format!("{:1$}{part}", "", numbers.len() + INDENT))?,
        }
    }
    Ok(())
}

/// What one must know of the numbers.
fn notes(
    parts: &[Part<'_>],
    all: &Lifetimes,
    total: &Usage,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut note = |text: &str| writeln!(out, "\n{}", options.styles.paint(Style::Faint, text));
    if total.kept() > 0 {
        note(&format!("  never freed, and so without age: {}", counted(total.kept(), "object")))?;
    }
    let unknown = total.frees.saturating_sub(all.objects());
    if unknown > 0 {
        note(&format!("  freed, but of unknown age: {}", counted(unknown, "object")))?;
    }
    let histories = || parts.iter().map(|part| (&part.profile.history, part.profile));
    let wraps = histories().any(|(history, profile)| {
        let bytes = profile.counters.iter().fold(0u64, |sum, counter| sum.saturating_add(counter.bytes));
        history.ages.is_empty() && bytes >> 10 >= WRAP_KIB
    });
    if wraps {
        note(
            "  over 16 GiB were allocated: ages are modulo 16 GiB, some objects may be older than they seem\n  \
             (MPROF_LIFETIMES=1 tells them apart)",
        )?;
    }
    let apart =
        histories().filter_map(|(history, _)| history.peak.as_ref()).map(|peak| peak.totals.uncertainty);
    match apart.max().unwrap_or(0).div_ceil(2) {
        0 => Ok(()),
        apart => note(&format!("  several threads allocated: ages are within {}", bytes(apart))),
    }
}
