//! Draws the heap at its peak: the line of the header, and the table.

use super::asked::Asked;
use super::header;
use super::leaks::{self, Subject};
use super::number::{Shown, counted};
use super::options::Options;
use super::time::seconds;
use super::view::View;
use crate::analysis::leaks::Leaks;
use crate::analysis::number::{Change, Number};
use crate::analysis::part::Part;
use mprof_format::model::{Peak, PeakTotals};
use std::borrow::Cow;
use std::io::{self, Write};

fn peaks<'p>(parts: &[Part<'p>]) -> Vec<&'p Peak> {
    parts.iter().filter_map(|part| part.profile.history.peak.as_ref()).collect()
}

/// The sum of the peaks' bytes and objects.
fn sum(peaks: &[&Peak]) -> (u64, u64) {
    peaks.iter().fold((0, 0), |(mut bytes, mut objects): (u64, u64), peak| {
        bytes.add(peak.totals.bytes);
        objects.add(peak.totals.objects);
        (bytes, objects)
    })
}

/// Writes how much was alive at the peak, and when it was; nothing where it was not recorded.
pub(super) fn write_line(parts: &[Part<'_>], out: &mut impl Write) -> io::Result<()> {
    let peaks = peaks(parts);
    match peaks[..] {
        [] => Ok(()),
        [peak] => header::line(out, "Peak", &describe(&peak.totals)),
        _ => {
            let (bytes, objects) = sum(&peaks);
            let sum = format!("{}, {}", counted(objects, "object"), counted(bytes, "byte"));
            let count = counted(peaks.len() as u64, "process").replace("processs", "processes");
            header::line(out, "Peak", &format!("{sum} in {count}, each at its own"))
        }
    }
}

/// The peak in a line.
pub(crate) fn describe(peak: &PeakTotals) -> String {
    let PeakTotals { bytes, objects, number, ns, uncertainty, incomplete } = *peak;
    let mut text = format!("{}, {}", counted(objects, "object"), counted(bytes, "byte"));
    if uncertainty > 0 {
        text += &format!(" (± {uncertainty})");
    }
    text += &format!(", after {} and {}", seconds(ns), counted(number, "allocation"));
    if incomplete {
        text += "; what it was made of is not known in full, memory was short";
    }
    text
}

/// Writes by how much the peaks of two states differ, where both are recorded.
pub(super) fn write_change(before: &[Part<'_>], after: &[Part<'_>], out: &mut impl Write) -> io::Result<()> {
    let (before, after) = (peaks(before), peaks(after));
    if before.is_empty() || after.is_empty() {
        return Ok(());
    }
    let ((bytes, objects), (now_bytes, now_objects)) = (sum(&before), sum(&after));
    let objects = Change { before: objects, after: now_objects };
    let bytes = Change { before: bytes, after: now_bytes };
    header::line(out, "Peak", &format!("{}, {}", counted(objects, "object"), counted(bytes, "byte")))
}

/// Writes the table of what was alive.
pub(super) fn write<N: Shown>(
    view: &View<N>,
    asked: &Asked,
    options: &Options,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut tree = Cow::Borrowed(&view.tree);
    if !options.at_peak {
        tree.to_mut().retain_peak();
    }
    leaks::write(Subject::Peak, &Leaks::new(&tree, options.paths), asked, options, out)
}
