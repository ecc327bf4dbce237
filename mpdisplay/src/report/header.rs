//! Draws what the tables are about: program, arguments, process, totals.

use crate::analysis::tally::Usage;
use crate::analysis::text::printable;
use mprof_format::model::{Process, Profile, Reason};
use std::io::{self, Write};

/// Writes the header of the profiles, of which altogether `total` was allocated.
pub(super) fn write(profiles: &[Profile], total: &Usage, out: &mut impl Write) -> io::Result<()> {
    if profiles.len() > 1 {
        writeln!(out, "Sum of {} profiles", profiles.len())?;
    }
    for profile in profiles {
        process(profile, out)?;
    }
    writeln!(
        out,
        "Allocated: {} objects, {} bytes; kept: {} objects, {} bytes",
        total.allocs,
        total.bytes,
        total.kept(),
        total.kept_bytes()
    )
}

fn process(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let process = &profile.process;
    let program = printable(&process.program);
    let program = if program.is_empty() { "unknown" } else { &program };
    writeln!(out, "Program:   {program}, process {}", process.pid)?;
    if !process.arguments.is_empty() {
        let arguments: Vec<String> = process.arguments.iter().map(|argument| quoted(argument)).collect();
        writeln!(out, "Arguments: {}", arguments.join(" "))?;
    }
    for note in notes(process) {
        writeln!(out, "Note:      {note}")?;
    }
    if profile.incomplete {
        writeln!(out, "Note:      part of the file was lost; the numbers are too small")?;
    }
    Ok(())
}

/// What one must know to read the numbers right.
pub(crate) fn notes(process: &Process) -> Vec<String> {
    let mut notes = Vec::new();
    match process.reason {
        Reason::Exec => notes.push("written before the process ran another program".into()),
        Reason::Abort => notes.push("written when the program aborted".into()),
        Reason::Signal => notes.push(format!("written when signal {} ended the program", process.signal)),
        Reason::Snapshot | Reason::Autosave => {
            notes.push("written while the program was running; what it still used counts as kept".into());
        }
        Reason::Stop => notes.push("written when the program stopped the recording".into()),
        _ => {}
    }
    if process.depth_limit > 0 {
        notes.push(format!("only the last {} callers of each chain were recorded", process.depth_limit));
    }
    if process.reentrant_events > 0 {
        let events = process.reentrant_events;
        notes.push(format!(
            "{events} calls came while another was being recorded; their callers are [unknown]"
        ));
    }
    if process.unrecorded > 0 {
        notes.push(format!("{} allocations could not be recorded", process.unrecorded));
    }
    notes
}

/// An argument as one would type it.
pub(crate) fn quoted(argument: &[u8]) -> String {
    let text = printable(argument);
    let plain = |character: char| character.is_alphanumeric() || "-_./=,:+@%^".contains(character);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_can_be_typed_again() {
        assert_eq!(quoted(b"--size=5"), "--size=5");
        assert_eq!(quoted(b"two words"), "'two words'");
        assert_eq!(quoted(b"it's"), r"'it'\''s'");
        assert_eq!(quoted(b""), "''");
    }

    #[test]
    fn notes_say_what_the_numbers_lack() {
        let process = Process {
            reason: Reason::Signal,
            signal: 11,
            depth_limit: 5,
            reentrant_events: 2,
            unrecorded: 3,
            ..Process::default()
        };
        assert_eq!(
            notes(&process),
            [
                "written when signal 11 ended the program",
                "only the last 5 callers of each chain were recorded",
                "2 calls came while another was being recorded; their callers are [unknown]",
                "3 allocations could not be recorded",
            ]
        );
        assert_eq!(notes(&Process { reason: Reason::Exit, ..Process::default() }), Vec::<String>::new());
    }
}
