//! The profiles that are shown, and those that they are compared with.

use crate::analysis::half::Half;
use crate::cli::Arguments;
use crate::error::Error;
use crate::input::{self, Inputs};
use crate::select;
use mprof_format::model::Profile;
use std::fmt::Display;
use std::path::PathBuf;

/// Profiles with names.
pub(crate) struct States {
    pub(crate) profiles: Vec<Profile>,
    /// To compare leaks with.
    pub(crate) baseline: Option<Vec<Profile>>,
    /// To compare everything with.
    pub(crate) before: Option<Vec<Profile>>,
}

impl States {
    /// All profiles that the arguments name, and what is missing from them; what else is amiss goes to `complain`.
    ///
    /// # Errors
    /// When one cannot be read at all.
    pub(crate) fn read(
        arguments: &Arguments,
        complain: impl Fn(&dyn Display),
    ) -> Result<(Self, Vec<Error>), Error> {
        let complain_of = |error: &Error| complain(error);
        let Inputs { profiles, mut troubles } = input::read_all(&arguments.files, &complain_of)?;
        let mut earlier = |files: &[PathBuf]| -> Result<Option<Vec<Profile>>, Error> {
            if files.is_empty() {
                return Ok(None);
            }
            let Inputs { profiles, troubles: more } = input::read_all(files, &complain_of)?;
            troubles.extend(more);
            Ok(Some(profiles))
        };
        let baseline = earlier(&arguments.leaks.baseline)?;
        let before = earlier(&arguments.several.diff)?;
        let mut states = States { profiles, baseline, before };
        states.name(&arguments.naming.options(), complain);
        Ok((states, troubles))
    }

    /// Gives names to the profiles that have none.
    fn name(&mut self, options: &mpfilt::Options, complain: impl Fn(&dyn Display)) {
        let earlier = self.baseline.iter_mut().chain(&mut self.before).flatten();
        let mut unnamed: Vec<&mut Profile> =
            self.profiles.iter_mut().chain(earlier).filter(|profile| profile.names.is_none()).collect();
        for warning in mpfilt::add_names_to_all(&mut unnamed, options) {
            complain(&warning);
        }
    }

    /// The halves to be shown: those that were asked for, or all that there are. At least one.
    ///
    /// # Errors
    /// When one that was asked for is not there.
    pub(crate) fn halves(&self, asked: &[Half]) -> Result<Vec<Half>, Error> {
        select::halves(self.profiles.iter().chain(self.before.iter().flatten()), asked)
    }

    /// One half of them.
    pub(crate) fn take(&self, half: Half) -> States {
        let take = |profiles: &Vec<Profile>| half.take_all(profiles);
        States {
            profiles: take(&self.profiles),
            baseline: self.baseline.as_ref().map(take),
            before: self.before.as_ref().map(take),
        }
    }

    /// The same, when nothing else of them is needed any more.
    pub(crate) fn leave(self, half: Half) -> States {
        States {
            profiles: half.leave_all(self.profiles),
            baseline: self.baseline.map(|baseline| half.leave_all(baseline)),
            before: self.before.map(|before| half.leave_all(before)),
        }
    }
}
