//! Draws the leak table (paper, figure 2).

use super::asked::Asked;
use super::fold::{INDENT, fold_path};
use super::layout::{column, heading, line};
use super::number::{Fate, Shown, bracket, counted};
use super::options::Options;
use super::rows::{Rows, rank};
use super::style::Style;
use super::view::View;
use crate::analysis::kinds::{self, Kinds};
use crate::analysis::leaks::{LeakRow, Leaks, Path, Since};
use crate::analysis::share::Detail;
use crate::analysis::tally::Usage;
use crate::suppress::Label;
use mprof_format::model::Class;
use std::io::{self, Write};

/// A row and its path.
struct Row<N> {
    leak: LeakRow<N>,
    path: Path,
    text: String,
}

/// What the rows are: both kinds of tables look the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// What was never freed.
    Leaks,
    /// What was alive at the peak.
    Peak,
}

impl Subject {
    fn heading(self) -> &'static str {
        match self {
            Subject::Leaks => "Memory leaks",
            Subject::Peak => "Heap at its peak",
        }
    }

    fn sum<N: Shown>(self, usage: &Usage<N>) -> String {
        let numbers = format!("{}, {}", counted(usage.kept(), "object"), counted(usage.kept_bytes(), "byte"));
        match self {
            Subject::Leaks => numbers + " kept",
            Subject::Peak => numbers,
        }
    }
}

/// Writes the table of what was kept or, in leaks of a tree that holds only that, alive at the peak.
pub(super) fn write<N: Shown>(
    subject: Subject,
    leaks: &Leaks<'_, N>,
    asked: &Asked,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    heading(out, options.styles, subject.heading())?;
    let rows = select(leaks, asked, options);
    let with_frees = options.detail == Detail::Verbose && subject == Subject::Leaks;
    let columns = if with_frees { with_all_figures() } else { kept_figures() };
    let layout = Layout::new(leaks, &rows.shown, columns);
    if leaks.rows.is_empty() {
        line(out, if subject == Subject::Leaks { nothing(leaks) } else { "  not recorded" })?;
    } else if rows.shown.is_empty() {
        line(out, "  no rows to show")?;
    } else {
        layout.draw(&rows.shown, options, out)?;
    }
    rows.note(out, options, "path", |usage| subject.sum(usage))?;
    if let Some(known) = leaks.known.filter(|known| known.paths > 0) {
        writeln!(
            out,
            "\n  known from the baseline: {}, {}",
            counted(known.paths, "path"),
            Subject::Leaks.sum(&known.usage)
        )?;
    }
    layout.suppressed(options, out)
}

/// The rows that are shown, in order.
fn select<N: Shown>(leaks: &Leaks<'_, N>, asked: &Asked, options: &Options) -> Rows<Row<N>, N> {
    let mut selected =
        Rows::select(leaks.rows.iter().copied(), options, &leaks.total, |row| row.usage, |row| row.usage);
    selected.keep(|row| asked.path(leaks, row), |row| row.usage);
    if let Some(kinds) = options.kinds {
        selected.keep(|row| kinds.has(row.kind), |row| row.usage);
    }
    let mut rows = selected.map(|row| {
        let path = leaks.path(&row);
        Row { leak: row, text: path.to_string(), path }
    });
    rows.shown.sort_by(|a, b| {
        let rank = |row: &Row<N>| rank(options.order, &row.leak.usage, row.leak.usage.kept_bytes());
        rank(a).cmp(&rank(b)).then_with(|| a.text.cmp(&b.text)).then_with(|| a.leak.kind.cmp(&b.leak.kind))
    });
    rows.limit(options, |row| row.leak.usage);
    rows
}

/// The rows of a view's leak table that are shown, in order.
pub fn shown(view: &View, leaks: &Leaks<'_>, options: &Options) -> Vec<LeakRow> {
    let asked = Asked::new(&view.tree, &options.show, options.paths.lines);
    select(leaks, &asked, options).shown.into_iter().map(|row| row.leak).collect()
}

/// Why there are no rows.
fn nothing<N>(leaks: &Leaks<'_, N>) -> &'static str {
    match (leaks.known, leaks.suppressed.is_empty()) {
        (Some(_), _) => "  no more objects were kept than in the baseline",
        (None, false) => "  no objects were kept but those that are suppressed",
        (None, true) => "  no objects were kept",
    }
}

/// Title of the comparison with a baseline: bytes kept more.
const GROWN: &str = "grown";
/// Title of the comparison of two states.
const CHANGE: &str = "change";

/// A column of numbers.
struct Column<N> {
    title: &'static str,
    /// Width, if the numbers fit.
    usual: usize,
    number: fn(&Usage<N>) -> N,
}

/// Objects and bytes kept.
fn kept_figures<N: Shown>() -> Vec<Column<N>> {
    vec![
        Column { title: "allocs", usual: 8, number: Usage::kept },
        Column { title: "bytes", usual: 10, number: Usage::kept_bytes },
    ]
}

/// All that was allocated over the paths, what of it was freed and what kept.
fn with_all_figures<N: Shown>() -> Vec<Column<N>> {
    vec![
        Column { title: "allocs", usual: 8, number: |usage| usage.allocs },
        Column { title: "bytes", usual: 10, number: |usage| usage.bytes },
        Column { title: "frees", usual: 10, number: |usage| usage.frees },
        Column { title: "freed", usual: 10, number: |usage| usage.freed_bytes },
        Column { title: "kept", usual: 10, number: Usage::kept_bytes },
    ]
}

/// What became of a row's kept objects, where two states are compared.
fn fate<N: Shown>(row: &LeakRow<N>) -> Option<Fate> {
    N::fate(row.usage.kept(), row.usage.kept_bytes())
}

/// How a row compares with the baseline or the earlier state.
fn since<N: Shown>(row: &LeakRow<N>) -> String {
    match (fate(row), row.since) {
        (Some(fate), _) => fate.word().into(),
        (None, Since::Unknown) => String::new(),
        (None, Since::New) => "new".into(),
        (None, Since::Grown { bytes, .. }) => format!("+{bytes}"),
    }
}

/// The same in its column and style.
fn painted_since<N: Shown>(row: &LeakRow<N>, width: usize, options: &Options) -> String {
    let text = format!("{:>width$}", since(row));
    match fate(row) {
        Some(Fate::New | Fate::Grown) => options.styles.paint(Style::Worse, &text),
        Some(Fate::Gone | Fate::Shrunk) => options.styles.paint(Style::Better, &text),
        _ => text,
    }
}

/// Columns of a kind, with two before it.
const KIND: usize = "  reachable".len();

/// Columns of a share in brackets, without sign.
const SHARE: usize = 4;

/// Columns and their widths.
struct Layout<'l, N> {
    leaks: &'l Leaks<'l, N>,
    columns: Vec<Column<N>>,
    widths: Vec<usize>,
    /// Title and width of the comparison with a baseline or an earlier state; no columns without one.
    since: (&'static str, usize),
    /// Width of the kinds; no columns where objects were not classified.
    kinds: usize,
}

impl<'l, N: Shown> Layout<'l, N> {
    fn new(leaks: &'l Leaks<'l, N>, rows: &[Row<N>], columns: Vec<Column<N>>) -> Self {
        let usages = || {
            rows.iter().map(|row| row.leak.usage).chain(leaks.suppressed.iter().map(|hidden| hidden.usage))
        };
        let width = |of: &Column<N>| column(of.usual, usages().map(|usage| (of.number)(&usage)));
        let title = match N::fate(N::default(), N::default()) {
            Some(_) => CHANGE,
            None if leaks.known.is_some() => GROWN,
            None => "",
        };
        let since = rows.iter().map(|row| since(&row.leak).len()).max().unwrap_or(0);
        let since = if title.is_empty() { 0 } else { since.max(title.len()) + 2 };
        let kinds = if leaks.classified { KIND } else { 0 };
        Layout { leaks, widths: columns.iter().map(width).collect(), columns, since: (title, since), kinds }
    }

    fn draw(&self, rows: &[Row<N>], options: &Options, out: &mut impl Write) -> io::Result<()> {
        let columns = self.columns.iter().zip(&self.widths);
        let titles: String = columns.map(|(column, &width)| format!("{:>width$}", column.title)).collect();
        let (title, width) = self.since;
        let (kind, kinds) = (if self.kinds > 0 { "  kind" } else { "" }, self.kinds);
        let share = SHARE + N::SIGN;
        line(out, &format!("{titles} {:<share$}{title:>width$}{kind:<kinds$}    path", "(%)"))?;
        line(out, "")?;
        for row in rows {
            let numbers = self.numbers(&row.leak.usage, options);
            let indent = numbers.len() + width + kinds + 4;
            let since = painted_since(&row.leak, width, options);
            let begin = format!("{numbers}{since}{}    ", self.kind(row.leak.kind, options));
            draw_path(&begin, indent, row, options, out)?;
        }
        Ok(())
    }

    /// A kind in its column and style.
    fn kind(&self, kind: Option<Class>, options: &Options) -> String {
        if self.kinds == 0 {
            return String::new();
        }
        let text = format!("  {:<width$}", kind.map_or("", kinds::name), width = self.kinds - 2);
        if Kinds::LOST.has(kind) && kind.is_some() { options.styles.paint(Style::Worse, &text) } else { text }
    }

    /// The columns of one line.
    fn numbers(&self, usage: &Usage<N>, options: &Options) -> String {
        let columns = self.columns.iter().zip(&self.widths);
        let numbers: String =
            columns.map(|(column, &width)| format!("{:>width$}", (column.number)(usage).text())).collect();
        let share = bracket(usage.kept_bytes(), self.leaks.total.kept_bytes(), options.marks);
        format!("{numbers} {share:<width$}", width = SHARE + N::SIGN)
    }

    /// Says what is suppressed, and by what.
    fn suppressed(&self, options: &Options, out: &mut impl Write) -> io::Result<()> {
        if self.leaks.suppressed.is_empty() {
            return Ok(());
        }
        let mut sum = Usage::default();
        self.leaks.suppressed.iter().for_each(|hidden| sum += hidden.usage);
        writeln!(out, "\n  suppressed: {}\n", Subject::Leaks.sum(&sum))?;
        for hidden in &self.leaks.suppressed {
            let Label { name, origin } = &hidden.label;
            let numbers = self.numbers(&hidden.usage, options);
            line(out, &format!("{numbers}{:1$}    {name} ({origin})", "", self.since.1 + self.kinds))?;
        }
        Ok(())
    }
}

/// A row's path behind its numbers, which are `indent` columns.
fn draw_path<N>(
    numbers: &str,
    indent: usize,
    row: &Row<N>,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    if !options.page.fold {
        return line(out, &format!("{numbers}{}", row.text));
    }
    for (index, part) in fold_path(&row.path, options.page.room(indent), &options.page).iter().enumerate() {
        if index == 0 {
            line(out, &format!("{numbers}{part}"))?;
        } else {
            line(out, &format!("{:1$}{part}", "", indent + INDENT))?;
        }
    }
    Ok(())
}
