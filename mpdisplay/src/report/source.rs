//! Draws source files with what their lines allocated at the left.

use super::layout::{column, digits, line};
use super::number::{Shown, counted};
use super::options::Options;
use super::style::Style;
use crate::analysis::annotation::{Annotation, File, LineUsage};
use crate::analysis::share::Detail;
use crate::analysis::tally::Usage;
use crate::analysis::text::printable;
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// Which files are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sources {
    /// Whole files by their names: paths, ends of paths or globs of them.
    Named(Vec<String>),
    /// Of the files that allocate most themselves, the lines around those that allocate.
    Largest,
}

/// Files that are drawn where none is named.
const FILES: usize = 5;
/// Lines before and after one that allocates, where files are not drawn whole.
const AROUND: u32 = 2;
/// Columns of a tabulator.
const TAB: usize = 8;

/// Writes the files of an annotation, of which altogether `total` was allocated. Sources that were changed after
/// `recorded` are said to be so.
///
/// # Errors
/// Those of `out`.
pub(super) fn write<N: Shown>(
    annotation: &Annotation<N>,
    sources: &Sources,
    total: &Usage<N>,
    recorded: Option<SystemTime>,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    let (files, whole): (Vec<&File<N>>, bool) = match sources {
        Sources::Named(names) => {
            let named = |file: &&File<N>| {
                names.iter().any(|name| annotation.named(name).any(|found| found.path == file.path))
            };
            (annotation.files.iter().filter(named).collect(), true)
        }
        Sources::Largest => {
            let large =
                |file: &&File<N>| file.weight.allocs.is_some() && options.detail.shows(&file.weight, total);
            let missing = |file: &&File<N>| {
                options.detail.shows(&file.own, total)
                    && !find(Path::new(&file.path), &options.source_directories).is_file()
            };
            (annotation.files.iter().filter(|file| large(file) || missing(file)).collect(), false)
        }
    };
    let limit = options.limit.unwrap_or(if whole { usize::MAX } else { FILES });
    let mut drawn = 0;
    let mut over = 0;
    let mut missing = Vec::new();
    for file in files {
        if drawn == limit {
            over += 1;
            continue;
        }
        match read(file, recorded, options) {
            Ok(source) => {
                draw(file, &source, whole, options, out)?;
                drawn += 1;
            }
            Err(reason) => missing.push((file, reason)),
        }
    }
    notes(drawn, over, &missing, options, out)
}

/// A source file's lines.
struct Source {
    lines: Vec<String>,
    /// It was changed since.
    changed: bool,
}

fn read<N>(file: &File<N>, recorded: Option<SystemTime>, options: &Options) -> io::Result<Source> {
    let path = find(Path::new(&file.path), &options.source_directories);
    let bytes = fs::read(&path)?;
    let modified = fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
    let changed = modified.zip(recorded).is_some_and(|(modified, recorded)| modified > recorded);
    let lines = bytes.split(|&byte| byte == b'\n').map(|text| printable(&expand(text)));
    let mut lines: Vec<String> = lines.collect();
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    Ok(Source { lines, changed })
}

/// Whether people want to see a source file: it is there, and no header of the system's.
pub fn is_preferred(path: &str, folders: &[PathBuf]) -> bool {
    const SYSTEM: [&str; 3] = ["/usr/include/", "/usr/lib/", "/rustc/"];
    !SYSTEM.iter().any(|folder| path.starts_with(folder)) && find(Path::new(path), folders).is_file()
}

/// Where a source file is: where the debug information says, or in one of the folders by as much of the end of its
/// path as is there.
fn find(path: &Path, folders: &[PathBuf]) -> PathBuf {
    if path.exists() {
        return path.to_owned();
    }
    let components: Vec<_> = path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    let ends = (0..components.len()).map(|begin| components[begin..].iter().collect::<PathBuf>());
    let places = ends.flat_map(|end| folders.iter().map(move |folder| folder.join(&end)));
    places.into_iter().find(|place| place.is_file()).unwrap_or_else(|| path.to_owned())
}

/// A line with blanks for tabulators, without the other system's line end.
fn expand(text: &[u8]) -> Vec<u8> {
    let mut expanded = Vec::with_capacity(text.len());
    for &byte in text.strip_suffix(b"\r").unwrap_or(text) {
        if byte == b'\t' {
            let columns = String::from_utf8_lossy(&expanded).chars().count();
            expanded.resize(expanded.len() + TAB - columns % TAB, b' ');
        } else {
            expanded.push(byte);
        }
    }
    expanded
}

fn draw<N: Shown>(
    file: &File<N>,
    source: &Source,
    whole: bool,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    write!(out, "\n{}\n\n", options.styles.paint(Style::Heading, &file.path))?;
    if source.changed {
        writeln!(out, "  changed after the recording: numbers may stand at wrong lines\n")?;
    }
    let table = Table::new(file, source);
    line(out, &table.titles())?;
    line(out, "")?;
    let mut last = 0;
    for number in table.numbers(whole) {
        if !whole && number > last + 1 {
            line(out, &options.styles.paint(Style::Faint, &format!("{:1$}...", "", table.margin() + 2)))?;
        }
        last = number;
        line(out, &table.line(number))?;
    }
    Ok(())
}

/// Widths of a file's columns.
struct Table<'f, N> {
    file: &'f File<N>,
    source: &'f Source,
    allocs: usize,
    bytes: usize,
    kept: usize,
    number: usize,
}

impl<'f, N: Shown> Table<'f, N> {
    fn new(file: &'f File<N>, source: &'f Source) -> Self {
        let width = |usual, number: fn(&Usage<N>) -> N| {
            column(usual, file.lines.values().map(|usage| number(&usage.through)))
        };
        let last = file.lines.last_key_value().map_or(0, |(&last, _)| last);
        Table {
            file,
            source,
            allocs: width(8, |usage| usage.allocs),
            bytes: width(10, |usage| usage.bytes),
            kept: width(10, Usage::kept_bytes),
            number: digits((source.lines.len() as u64).max(last.into())).max(4),
        }
    }

    /// Columns before the source.
    fn margin(&self) -> usize {
        self.allocs + self.bytes + self.kept + 4
    }

    fn titles(&self) -> String {
        let Table { allocs, bytes, kept, number, .. } = *self;
        format!("{:>allocs$}{:>bytes$}{:>kept$}   | {:>number$}", "allocs", "bytes", "kept", "line")
    }

    /// The lines that are drawn: all, or those that allocate and some around.
    fn numbers(&self, whole: bool) -> Vec<u32> {
        let last = u32::try_from(self.source.lines.len()).unwrap_or(u32::MAX);
        let beyond = self.file.lines.keys().copied().filter(|&line| line > last);
        if whole {
            return (1..=last).chain(beyond).collect();
        }
        let mut numbers: Vec<u32> = Vec::new();
        for &line in self.file.lines.keys().filter(|&&line| line <= last) {
            let begin = line.saturating_sub(AROUND).max(numbers.last().map_or(1, |last| last + 1));
            numbers.extend(begin..=line.saturating_add(AROUND).min(last));
        }
        numbers.extend(beyond);
        numbers
    }

    /// A line of the source with its numbers. A star says that it calls an allocation function itself.
    fn line(&self, number: u32) -> String {
        let Table { allocs, bytes, kept, number: width, .. } = *self;
        let text = self.source.lines.get(number as usize - 1).map_or("(not in the file)", String::as_str);
        let numbers = match self.file.lines.get(&number) {
            Some(LineUsage { through, own }) => format!(
                "{:>allocs$}{:>bytes$}{:>kept$} {} ",
                through.allocs.text(),
                through.bytes.text(),
                through.kept_bytes().text(),
                if own.allocs.is_some() { '*' } else { ' ' }
            ),
            None => format!("{:1$}", "", self.margin() - 1),
        };
        format!("{numbers}| {number:>width$}  {text}")
    }
}

/// Says what was left out, and what the stars mean.
fn notes<N: Shown>(
    drawn: usize,
    over: u64,
    missing: &[(&File<N>, io::Error)],
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    if drawn > 0 {
        let legend = "  * by itself, or by functions whose lines are not known; without: by what it calls";
        writeln!(out, "\n{}", options.styles.paint(Style::Faint, legend))?;
    }
    if !missing.is_empty() {
        writeln!(out, "\n  sources that are missing (--source-dir says where to look):\n")?;
        let shown = if options.detail == Detail::Verbose { usize::MAX } else { 10 };
        for (file, reason) in missing.iter().take(shown) {
            let own = format!(
                "{}, {} of its own",
                counted(file.own.allocs, "object"),
                counted(file.own.bytes, "byte")
            );
            let reason = match reason.kind() {
                io::ErrorKind::NotFound => String::new(),
                _ => format!(": {reason}"),
            };
            line(out, &format!("  {}{reason} ({own})", file.path))?;
        }
        if missing.len() > shown {
            line(out, &format!("  and {} more (all with --verbose)", missing.len() - shown))?;
        }
    }
    if over > 0 {
        let more = format!("  left out, over the limit: {}", counted(over, "file"));
        writeln!(out, "\n{}", options.styles.paint(Style::Faint, &more))?;
    }
    if drawn == 0 && missing.is_empty() && over == 0 {
        writeln!(out, "\n  no lines of sources are known that allocate enough; compile with -g")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabulators_end_at_every_eighth_column() {
        assert_eq!(expand(b"\tx"), b"        x");
        assert_eq!(expand(b"abc\tx\ty\r"), b"abc     x       y");
        assert_eq!(expand("ää\tx".as_bytes()), "ää      x".as_bytes());
    }

    #[test]
    fn sources_are_found_by_the_end_of_their_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("src/lib/a.c");
        fs::create_dir_all(place.parent().expect("a parent")).expect("folders");
        fs::write(&place, "").expect("a file");
        let folders = [PathBuf::from("/nonexistent"), folder.path().to_owned(), folder.path().join("src")];
        let found = |path: &str| find(Path::new(path), &folders);
        assert_eq!(found("/build/src/lib/a.c"), place);
        assert_eq!(found("../lib/a.c"), place);
        assert_eq!(found("/build/b.c"), Path::new("/build/b.c"));
        let there = place.to_str().expect("text");
        assert_eq!(found(there), place);
    }
}
