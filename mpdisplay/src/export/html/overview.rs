//! What the page is about: the programs, and the sums.

use super::{Page, percent, text};
use crate::analysis::part::{Part, Threads};
use crate::analysis::threads;
use crate::export::number;
use crate::report::process::{command_line, notes};
use std::io::{self, Write};

/// Processes that are told of one by one.
const PROCESSES: usize = 12;

pub(super) fn write(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let parts = page.source.parts;
    writeln!(out, "<h1>{}</h1>", text(&page.source.programs()))?;
    if parts.len() > 1 {
        writeln!(out, "<p class=\"about\">Sum of {} profiles</p>", parts.len())?;
    }
    parts.iter().take(PROCESSES).try_for_each(|part| process(part, out))?;
    if parts.len() > PROCESSES {
        writeln!(out, "<p class=\"note\">and {} more</p>", parts.len() - PROCESSES)?;
    }
    tiles(page, out)
}

fn process(part: &Part<'_>, out: &mut dyn Write) -> io::Result<()> {
    let process = &part.profile.process;
    let command = command_line(process);
    writeln!(out, "<p class=\"command\" title=\"process {}\">{}</p>", process.pid, text(&command))?;
    if let Threads::Only(chosen) = &part.threads {
        for &id in chosen {
            writeln!(out, "<p class=\"note\">Thread: {}</p>", text(&threads::describe(part.profile, id)))?;
        }
    }
    let notes = notes(part.profile);
    notes.iter().try_for_each(|note| writeln!(out, "<p class=\"note warn\">{}</p>", text(note)))
}

fn tiles(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let total = &page.total;
    let (kept, bytes) = (total.kept_bytes(), total.bytes);
    let processes = || page.source.profiles().map(|profile| &profile.process);
    writeln!(out, "<div class=\"tiles\">")?;
    let objects = |count| format!("{} objects", number::grouped(count));
    tile("Allocated", &number::bytes(bytes), &objects(total.allocs), bytes, "", out)?;
    if page.is_freed() {
        let share = format!("{}, {} % of all bytes", objects(total.kept()), percent(kept, bytes));
        tile("Kept to the end", &number::bytes(kept), &share, kept, " kept", out)?;
    }
    let mean = bytes.checked_div(total.allocs).unwrap_or(0);
    tile("Mean object", &number::bytes(mean), "as the program asked for it", mean, "", out)?;
    let functions = format!("through {} functions", number::grouped(page.graph.entries.len() as u64));
    let chains = page.source.tree().counts.len() as u64;
    tile("Call chains that allocate", &number::grouped(chains), &functions, chains, "", out)?;
    let elapsed: u64 = processes().map(|process| process.elapsed_ns).max().unwrap_or(0);
    let ended = match page.source.parts {
        [part] => format!("process {}", part.profile.process.pid),
        parts => format!("the longest of {} processes", parts.len()),
    };
    tile("Recorded for", &duration(elapsed), &ended, elapsed / 1000, "", out)?;
    writeln!(out, "</div>")
}

fn tile(
    title: &str,
    value: &str,
    below: &str,
    exact: u64,
    class: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"tile{class}\"><span>{title}</span><b title=\"{}\">{value}</b><span>{below}</span></div>",
        number::grouped(exact)
    )
}

/// Nanoseconds, three digits or so.
fn duration(nanoseconds: u64) -> String {
    let seconds = nanoseconds / 1_000_000_000;
    match nanoseconds {
        0..1_000_000 => format!("{} µs", nanoseconds / 1000),
        1_000_000..1_000_000_000 => format!("{} ms", nanoseconds / 1_000_000),
        1_000_000_000..60_000_000_000 => format!("{seconds}.{} s", nanoseconds / 100_000_000 % 10),
        _ if seconds < 3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration(2_202_000), "2 ms");
        assert_eq!(duration(12_345_000_000), "12.3 s");
        assert_eq!(duration(3_723_000_000_000), "1 h 2 min");
    }
}
