//! How many objects and bytes there are of each size, and how much of them was kept.

use super::{Page, percent};
use crate::analysis::bins::Bins;
use crate::analysis::tally::Usage;
use crate::export::number::{bytes, grouped};
use crate::export::rows;
use mprof_format::model::LAST_BIN;
use std::io::{self, Write};

/// Sizes that share a bar.
const STEP: u64 = 16;
const BARS: usize = (LAST_BIN / STEP) as usize;

/// Bars of sizes 0 to 16, 17 to 32 and so on, and of all larger ones.
fn bars(bins: &Bins) -> Vec<Usage> {
    let mut bars = vec![Usage::default(); BARS + 1];
    for row in &bins.rows {
        let bar = row.size.map_or(BARS as u64, |size| size.saturating_sub(1) / STEP);
        bars[(bar as usize).min(BARS)] += row.usage;
    }
    bars[BARS] += bins.larger.usage;
    bars
}

pub(super) fn write(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(bins) = rows::sizes(page.source) else { return Ok(()) };
    let (bars, is_freed) = (bars(&bins), page.is_freed());
    writeln!(out, "<div class=\"plots\">")?;
    plot("Objects by size", &bars, |usage| (usage.frees, usage.kept()), grouped, is_freed, out)?;
    let parts = |usage: &Usage| (usage.freed_bytes, usage.kept_bytes());
    plot("Bytes by size of their objects", &bars, parts, bytes, is_freed, out)?;
    writeln!(out, "</div>")
}

fn plot(
    title: &str,
    bars: &[Usage],
    parts: impl Fn(&Usage) -> (u64, u64),
    number: impl Fn(u64) -> String,
    is_freed: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let sum = |(freed, kept): (u64, u64)| freed.saturating_add(kept);
    let most = bars.iter().map(|bar| sum(parts(bar))).max().unwrap_or(0);
    let key = "<span class=\"key\"><span style=\"--k:var(--made)\">freed</span>\
               <span style=\"--k:var(--kept)\">kept</span></span>";
    let key = if is_freed { key } else { "" };
    writeln!(out, "<div class=\"plot\"><h3>{title}{key}</h3><div class=\"bars\">")?;
    for (place, bar) in bars.iter().enumerate() {
        let (freed, kept) = parts(bar);
        let class = if place == BARS { " class=\"more\"" } else { "" };
        let of_these = if is_freed { format!(", {} of these kept", number(kept)) } else { String::new() };
        let label = format!("{}: {}{of_these}", sizes(place), number(sum((freed, kept))));
        let height = |value| percent(value, most);
        write!(out, "<div{class} title=\"{label}\">")?;
        if kept > 0 {
            write!(out, "<i class=\"kept\" style=\"height:{}%\"></i>", height(kept))?;
        }
        if freed > 0 {
            write!(out, "<i style=\"height:{}%\"></i>", height(freed))?;
        }
        writeln!(out, "</div>")?;
    }
    axis(out)
}

/// The sizes of a bar.
fn sizes(place: usize) -> String {
    let place = place as u64;
    match place {
        0 => format!("0 to {STEP} bytes"),
        _ if place == BARS as u64 => format!("over {} bytes", grouped(LAST_BIN)),
        _ => format!("{} to {} bytes", grouped(place * STEP + 1), grouped((place + 1) * STEP)),
    }
}

/// The bars share the width with the last one, which is 2.5 of them wide.
fn axis(out: &mut dyn Write) -> io::Result<()> {
    write!(out, "</div><div class=\"axis\">")?;
    let width = BARS as f64 + 2.5;
    for size in [32, 256, 512, 768] {
        let place = 100.0 * (size / STEP) as f64 / width;
        write!(out, "<span style=\"left:{place:.1}%\">{size}</span>")?;
    }
    let last = 100.0 * (BARS as f64 + 0.5) / width;
    writeln!(out, "<span style=\"left:{last:.1}%\">&gt; 1,024</span></div></div>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::bins::BinRow;

    #[test]
    fn sizes_share_bars() {
        let row = |size, allocs| BinRow { size, usage: Usage::new(allocs, 0, 0, 0), ..BinRow::default() };
        let rows = [(0, 1), (16, 2), (17, 4), (32, 8), (1009, 16), (1024, 32)];
        let rows = rows.into_iter().map(|(size, allocs)| row(Some(size), allocs)).collect();
        let bins = Bins { rows, larger: row(None, 64), ..Bins::default() };
        let bars: Vec<u64> = bars(&bins).iter().map(|bar| bar.allocs).collect();
        assert_eq!((bars.len(), bars[0], bars[1], bars[63], bars[64]), (65, 3, 12, 48, 64));
        assert_eq!([sizes(0), sizes(1)], ["0 to 16 bytes", "17 to 32 bytes"]);
        assert_eq!([sizes(63), sizes(64)], ["1,009 to 1,024 bytes", "over 1,024 bytes"]);
    }
}
