//! Leaks as a JUnit test report, the format that CI systems read: each leak is a test that failed.

use super::location::{Call, calls};
use super::time::{date_time, seconds};
use crate::analysis::kinds;
use crate::analysis::leaks::{LeakRow, Leaks, Path, Since, SuppressedLeaks};
use crate::analysis::text::{base_name, printable};
use crate::report::number::counted;
use mprof_format::model::{Class, Profile};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Writes the report: a test for each path that kept something, a skipped one for each suppression that was used,
/// and a passed one where nothing leaked. With `failing` false leaks pass and are only told of.
///
/// # Errors
/// Those of `out`.
pub fn write(profiles: &[Profile], leaks: &Leaks<'_>, failing: bool, out: &mut impl Write) -> io::Result<()> {
    let suite = suite_name(profiles);
    let rows = leaks.sorted();
    let tests = rows.len().max(1) + leaks.suppressed.len();
    let failures = if failing { rows.len() } else { 0 };
    let started = profiles.iter().map(|profile| profile.process.start_unix_ns).min().unwrap_or(0);
    let elapsed = profiles.iter().fold(0u64, |sum, profile| sum.saturating_add(profile.process.elapsed_ns));
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites>")?;
    writeln!(
        out,
        "  <testsuite name=\"mprof: {}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{}\" \
         timestamp=\"{}\" time=\"{}\">",
        escaped(&suite),
        leaks.suppressed.len(),
        date_time(started),
        seconds(elapsed),
    )?;
    if rows.is_empty() {
        writeln!(out, "    <testcase classname=\"{}\" name=\"no leaks\" time=\"0\"/>", escaped(&suite))?;
    }
    for (row, path) in &rows {
        leak(&suite, leaks, row, path, failing, out)?;
    }
    for hidden in &leaks.suppressed {
        suppressed(&suite, hidden, out)?;
    }
    writeln!(out, "  </testsuite>\n</testsuites>")
}

/// The programs' names.
fn suite_name(profiles: &[Profile]) -> String {
    let programs: BTreeSet<String> = profiles
        .iter()
        .map(|profile| base_name(&printable(&profile.process.program)).to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    match programs.len() {
        0 => "unknown program".into(),
        1..=3 => programs.into_iter().collect::<Vec<_>>().join(", "),
        count => format!("{count} programs"),
    }
}

fn leak(
    suite: &str,
    leaks: &Leaks<'_>,
    row: &LeakRow,
    path: &Path,
    failing: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let calls = calls(leaks, row);
    write!(
        out,
        "    <testcase classname=\"{}\" name=\"{}\" time=\"0\">",
        escaped(suite),
        escaped(&name(row, path))
    )?;
    let (element, attributes) = if failing {
        ("failure", format!(" message=\"{}\" type=\"leak\"", escaped(&message(row))))
    } else {
        ("system-out", String::new())
    };
    writeln!(out, "\n      <{element}{attributes}>{}</{element}>", escaped(&body(row, &calls)))?;
    writeln!(out, "    </testcase>")
}

/// What the leak is called: by its path, and its kind where that is not the usual one.
pub(super) fn name(row: &LeakRow, path: &Path) -> String {
    match row.kind {
        None | Some(Class::Lost) => path.to_string(),
        Some(kind) => format!("{path} ({})", kinds::name(kind)),
    }
}

/// `2 objects, 96 bytes kept`, and how that compares with the baseline.
pub(super) fn message(row: &LeakRow) -> String {
    let fate = row.kind.map_or("kept", kinds::name);
    let kept = format!(
        "{}, {} {fate}",
        counted(row.usage.kept(), "object"),
        counted(row.usage.kept_bytes(), "byte")
    );
    match row.since {
        Since::Unknown => kept,
        Since::New => format!("{kept}; not in the baseline"),
        Since::Grown { objects, bytes } => {
            format!(
                "{kept}; {}, {} more than in the baseline",
                counted(objects, "object"),
                counted(bytes, "byte")
            )
        }
    }
}

/// The message and the call chain, innermost first, a call a line.
fn body(row: &LeakRow, calls: &[Call<'_>]) -> String {
    let mut text = format!("{}, allocated by\n", message(row));
    for call in calls {
        let place = match call.place {
            Some(place) => format!(" ({}:{})", place.file, place.line),
            None => call.function.module.as_deref().map(|module| format!(" ({module})")).unwrap_or_default(),
        };
        text += &format!("    {}{place}\n", call.function.name);
    }
    text
}

fn suppressed(suite: &str, hidden: &SuppressedLeaks, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "    <testcase classname=\"{}\" name=\"suppressed: {}\" time=\"0\">\n      <skipped message=\"{}\"/>\n    \
         </testcase>",
        escaped(suite),
        escaped(&hidden.label.name),
        escaped(&format!(
            "{}, {} kept; {}",
            counted(hidden.usage.kept(), "object"),
            counted(hidden.usage.kept_bytes(), "byte"),
            hidden.label.origin
        )),
    )
}

/// Text for an XML attribute or element. Names and paths hold no control characters any more; of the characters
/// left, XML 1.0 (section 2.2) forbids two.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            _ => safe.push(character),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        assert_eq!(escaped("a<b> & \"c\"\u{ffff}"), "a&lt;b&gt; &amp; &quot;c&quot;\u{fffd}");
    }
}
