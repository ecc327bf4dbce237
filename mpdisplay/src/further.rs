//! Reports of further halves of the same profiles, after that of the first.

use crate::analysis::half::Half;
use crate::analysis::part::Part;
use crate::error::Error;
use crate::report;
use crate::report::options::Options;
use crate::select;
use mprof_format::model::Profile;
use std::io::{self, Write};

/// A half of the profiles that is shown after another.
pub(crate) struct Further {
    half: Half,
    profiles: Vec<Profile>,
    /// What they are compared with.
    before: Option<Vec<Profile>>,
}

/// A report of a further half.
pub(crate) struct FurtherReport<'f> {
    parts: Vec<Part<'f>>,
    before: Option<Vec<Part<'f>>>,
    options: Options,
}

impl Further {
    /// These halves of the profiles, and of those that they are compared with.
    pub(crate) fn of(halves: &[Half], profiles: &[Profile], before: Option<&[Profile]>) -> Vec<Further> {
        let further = |&half: &Half| Further {
            half,
            profiles: half.take_all(profiles),
            before: before.map(|before| half.take_all(before)),
        };
        halves.iter().map(further).collect()
    }

    /// The report of it, of the processes and threads asked for.
    ///
    /// # Errors
    /// When one of these is not there.
    pub(crate) fn report(
        &self,
        pids: &[u32],
        tids: &[u32],
        options: &Options,
    ) -> Result<FurtherReport<'_>, Error> {
        Ok(FurtherReport {
            parts: select::parts(&self.profiles, pids, tids)?,
            before: self.before.as_ref().map(|before| before.iter().map(Part::whole).collect()),
            options: Options { half: self.half, ..options.clone() },
        })
    }
}

impl FurtherReport<'_> {
    /// Writes it, under the half's name.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { parts, before, options } = self;
        write!(out, "\n\n")?;
        report::write_half(options, out)?;
        match before {
            Some(before) => report::write_comparison(before, parts, options, out),
            None => report::write_parts(parts, options, out),
        }
    }
}
