//! What a person should know about names that could not be found, one line each.

use std::fmt;

/// Something that kept names from being found, and what to do about it. Its text is one line without a
/// line end; bytes of paths that a terminal would act on are escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What the warning is about: a module's file name, or `generated code`.
    subject: String,
    problem: Problem,
}

/// Kinds of trouble.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The module's file is not there any more.
    FileGone {
        /// Where it was.
        path: String,
    },
    /// The module's file is another one than the one that ran.
    FileChanged {
        /// Build-id of the module in memory, hexadecimal.
        recorded: String,
        /// Build-id of the file now, hexadecimal; empty where it has none.
        found: String,
    },
    /// The module's file could not be read.
    Unreadable {
        /// Why not.
        reason: String,
    },
    /// The kernel that runs now is not the one that the program ran on, so its vdso has other addresses.
    OtherKernel,
    /// The program has no debug information: no lines, inlined functions and types.
    NoDebugInformation,
    /// Frames of this module lie in no symbol.
    NoSymbols {
        /// Frames without a name.
        unnamed: usize,
        /// Frames of the module.
        frames: usize,
    },
    /// Debug information that cannot be trusted; it was not used.
    Damaged {
        /// What is wrong.
        reason: String,
    },
    /// A separate debug file was there but does not belong to the module.
    StaleDebugFile {
        /// Which.
        path: String,
    },
    /// The debug information refers to a second file, which is not there.
    NoSupplementaryFile {
        /// Which.
        path: String,
    },
    /// Parts of the debug information were left in files that are not there.
    NoSplitFiles {
        /// How many.
        missing: usize,
        /// Where the first would be.
        path: String,
    },
    /// Code generated at run time has no map file.
    NoPerfMap {
        /// Where it would be.
        path: String,
        /// Frames without a name.
        frames: usize,
    },
}

impl Warning {
    pub(crate) fn new(subject: impl Into<String>, problem: Problem) -> Self {
        Warning { subject: subject.into(), problem }
    }

    /// What kept names from being found.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = &self.subject;
        write!(f, "{subject}: ")?;
        match &self.problem {
            Problem::FileGone { path } => write!(
                f,
                "{path} is gone; its frames are shown as {subject}+0xOFFSET (run mpfilt while the file is still there)"
            ),
            Problem::FileChanged { recorded, found } => {
                let found = if found.is_empty() { "none" } else { found.as_str() };
                write!(
                    f,
                    "the file was changed after the recording (build-id then {recorded}, now {found}); its frames are \
                     shown as {subject}+0xOFFSET (record again, or run mpfilt before rebuilding)"
                )
            }
            Problem::Unreadable { reason } => {
                write!(f, "cannot be read: {reason}; its frames are shown as {subject}+0xOFFSET")
            }
            Problem::OtherKernel => {
                write!(f, "recorded under another kernel; its frames are shown as {subject}+0xOFFSET")
            }
            Problem::NoDebugInformation => {
                write!(f, "has no debug information: no lines, inlined functions and types (compile with -g)")
            }
            Problem::NoSymbols { unnamed, frames } => write!(
                f,
                "{unnamed} of {frames} addresses have no name and are shown as {subject}+0xOFFSET (do not strip it, or \
                 install its debug symbols)"
            ),
            Problem::Damaged { reason } => {
                write!(f, "its debug information is damaged and was not used: {reason}")
            }
            Problem::StaleDebugFile { path } => {
                write!(f, "the debug file {path} belongs to another build and was not used")
            }
            Problem::NoSupplementaryFile { path } => write!(
                f,
                "the supplementary debug file {path} is missing, so some names are (install the debug package whole)"
            ),
            Problem::NoSplitFiles { missing, path } => write!(
                f,
                "{missing} split debug files are missing, the first {path}, so some lines, inlined functions and types \
                 are (keep .dwo files until mpfilt has run, or pack them with dwp)"
            ),
            Problem::NoPerfMap { path, frames } => write!(
                f,
                "{frames} addresses have no name; let the program write {path} (node --perf-basic-prof, \
                 java -XX:+DumpPerfMapAtExit, PYTHONPERFSUPPORT=1)"
            ),
        }
    }
}

/// Raw bytes for a message: as text, with what a terminal would act on escaped.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

/// The last component of a path, for messages; the whole where there is none.
pub(crate) fn file_name(path: &[u8]) -> String {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    printable(if name.is_empty() { path } else { name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_one_line_and_say_what_to_do() {
        let changed =
            Warning::new("shop", Problem::FileChanged { recorded: "0a0b".into(), found: String::new() });
        assert_eq!(
            changed.to_string(),
            "shop: the file was changed after the recording (build-id then 0a0b, now none); its frames are shown as \
             shop+0xOFFSET (record again, or run mpfilt before rebuilding)"
        );
    }

    #[test]
    fn control_characters_in_paths_are_escaped() {
        assert_eq!(printable(b"/tmp/a\x1b[31m\nb"), "/tmp/a\\u{1b}[31m\\nb");
        assert_eq!(file_name(b"/usr/lib/lib\tx.so"), "lib\\tx.so");
        assert_eq!(file_name(b"shop"), "shop");
    }
}
