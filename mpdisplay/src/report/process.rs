//! Processes for people: program, command line, and what one must know to read their numbers right.

use super::number::counted;
use crate::analysis::text::printable;
use mprof_format::model::{Process, Profile, Reason};

/// The program's path.
pub(super) fn program(process: &Process) -> String {
    match printable(&process.program) {
        path if path.is_empty() => "unknown".into(),
        path => path,
    }
}

/// The command line as one would type it; the program's path where it is not known.
pub(crate) fn command_line(process: &Process) -> String {
    match arguments(process) {
        text if text.is_empty() => program(process),
        text => text,
    }
}

/// The arguments as one would type them.
pub(super) fn arguments(process: &Process) -> String {
    let arguments: Vec<String> = process.arguments.iter().map(|argument| quoted(argument)).collect();
    arguments.join(" ")
}

/// What one must know to read the numbers right.
pub(crate) fn notes(profile: &Profile) -> Vec<String> {
    let process = &profile.process;
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
        let events = counted(process.reentrant_events, "call");
        notes.push(format!("{events} came while another was being recorded; the callers are [unknown]"));
    }
    if process.unrecorded > 0 {
        notes.push(format!("{} could not be recorded", counted(process.unrecorded, "allocation")));
    }
    if profile.incomplete {
        notes.push("part of the file was lost; the numbers are too small".into());
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
            unrecorded: 1,
            ..Process::default()
        };
        assert_eq!(
            notes(&Profile { process, incomplete: true, ..Profile::default() }),
            [
                "written when signal 11 ended the program",
                "only the last 5 callers of each chain were recorded",
                "2 calls came while another was being recorded; the callers are [unknown]",
                "1 allocation could not be recorded",
                "part of the file was lost; the numbers are too small",
            ]
        );
        let process = Process { reason: Reason::Exit, ..Process::default() };
        assert_eq!(notes(&Profile { process, ..Profile::default() }), Vec::<String>::new());
    }
}
