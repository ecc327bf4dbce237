//! `mprof`: runs a program under the library, ends as it ends, and says what it kept.

mod child;
mod error;
mod files;
mod library;
mod program;
mod summary;

use error::{Error, shown};

use crate::cli::{Arguments, WrapperArguments};
use crate::input::{self, Inputs};
use crate::leak_check::Settings;
use crate::suppress::Suppressions;
use child::End;
use clap::Parser;
use files::Left;
use mprof_format::model::Profile;
use program::Program;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::SystemTime;

/// The file that programs write unless they are told another.
const DEFAULT_DATA: &str = "mprof.data";

/// Does what the command line asks for; its first word is our own name.
pub fn main(words: Vec<OsString>) -> ExitCode {
    if words.get(1).is_some_and(|word| word == "show") {
        let rest = words.into_iter().skip(2);
        return crate::command::run(&Arguments::parse_from(std::iter::once("mprof show".into()).chain(rest)));
    }
    let arguments = WrapperArguments::parse_from(words);
    match Plan::new(&arguments) {
        Ok(plan) => plan.run(),
        Err(error) => {
            say(&error);
            ExitCode::from(2)
        }
    }
}

/// Says it on standard error, if that can be written to.
fn say(what: &impl Display) {
    let _ = writeln!(io::stderr(), "mprof: {what}");
}

/// All that must be there before the program runs: it may run for hours, and what is wrong with the rest should be
/// known before that.
struct Plan<'a> {
    arguments: &'a WrapperArguments,
    library: PathBuf,
    /// The name of the data file as `MPROF_DATA` has it.
    data: PathBuf,
    settings: Settings,
    suppressions: Suppressions,
    baseline: Option<Vec<Profile>>,
}

impl<'a> Plan<'a> {
    fn new(arguments: &'a WrapperArguments) -> Result<Self, Error> {
        let settings = arguments.leaks.settings();
        let suppressions = settings.read_suppressions()?;
        let baseline = read_baseline(arguments)?;
        let from_environment = env::var_os("MPROF_DATA").filter(|name| !name.is_empty()).map(PathBuf::from);
        let data = arguments.output.clone().or(from_environment).unwrap_or_else(|| DEFAULT_DATA.into());
        check_folder(&data)?;
        let library = library::find()?;
        Ok(Plan { arguments, library, data, settings, suppressions, baseline })
    }

    fn run(&self) -> ExitCode {
        let [name, rest @ ..] = self.arguments.command.as_slice() else { return ExitCode::from(2) };
        let program = match program::find(name) {
            Ok(program) => program,
            Err(unrunnable) => {
                say(&format_args!("{}: {}", shown(Path::new(name)), unrunnable.reason));
                return ExitCode::from(unrunnable.status);
            }
        };
        if let Some(obstacle) = program.obstacle.as_ref().filter(|obstacle| obstacle.is_fatal()) {
            say(&format_args!("{}: there will be no profile: {obstacle}", shown(Path::new(name))));
        }
        let preload = match library::preload(&self.library, env::var_os("LD_PRELOAD").as_deref()) {
            Ok(preload) => preload,
            Err(error) => {
                say(&error);
                return ExitCode::from(2);
            }
        };
        let mut command = self.command(&program, name, rest, &preload.value);
        let start = SystemTime::now();
        let ended = match child::run(&mut command) {
            Ok(ended) => ended,
            Err(error) => {
                say(&format_args!("{}: {}", shown(Path::new(name)), program::text(&error)));
                let missing = error.kind() == io::ErrorKind::NotFound;
                return ExitCode::from(if missing { 127 } else { 126 });
            }
        };
        let left = files::find(&self.data, ended.pid, start);
        let checked = self.conclude(&program, ended.end, left);
        match (ended.end, checked) {
            (End::Status(0), Some(status)) => ExitCode::from(status),
            (end, _) => child::end_alike(end),
        }
    }

    /// The program with its environment. Its name stays as it was given: programs look at it.
    fn command(&self, program: &Program, name: &OsStr, rest: &[OsString], preload: &OsStr) -> Command {
        use std::os::unix::process::CommandExt;
        let mut command = if program.for_shell {
            let mut command = Command::new("/bin/sh");
            command.arg(&program.path);
            command
        } else {
            let mut command = Command::new(&program.path);
            command.arg0(name);
            command
        };
        command.args(rest).env("LD_PRELOAD", preload).env("MPROF_DATA", &self.data);
        if self.arguments.leak_check || self.arguments.leaks.kinds().is_some() {
            command.env("MPROF_LEAK_CHECK", "1");
        }
        // Where we are profiled ourselves, the program is another's child but the first of this run.
        command.env_remove("MPROF_ROOT");
        command
    }

    /// Says what the run left. Gives the exit status that a program that ended with 0 gets instead.
    fn conclude(&self, program: &Program, end: End, mut left: Left) -> Option<u8> {
        if left.all().next().is_none() {
            self.excuse(program, end);
            return self.settings.limit.map(|_| 2);
        }
        self.name(&mut left);
        let findings = summary::Findings::new(self, &left);
        let mut status = None;
        if let Err(error) = self.settings.write_results(&findings.profiles, &findings.leaks()) {
            say(&error);
            status = Some(2);
        }
        for file in left.all() {
            if let Some(trouble) = &file.trouble {
                say(trouble);
                status = Some(2);
            }
        }
        let failed = findings.fails();
        let mut text = Vec::new();
        let written = findings.write(&mut text, failed, self.arguments.quiet);
        if written.is_ok() {
            let _ = io::stderr().write_all(&text);
        }
        status.or(failed.then_some(1))
    }

    /// Why there is no profile.
    fn excuse(&self, program: &Program, end: End) {
        let reason = match (&program.obstacle, end) {
            (Some(obstacle), _) if obstacle.is_fatal() => "the reason is told above".to_owned(),
            (Some(obstacle), _) => obstacle.to_string(),
            (None, End::Signal(signal)) => {
                format!("signal {signal} ended the program before it could write one")
            }
            (None, End::Status(_)) => format!(
                "the program ended without passing its exit handlers, or could not write {}",
                shown(&self.data)
            ),
        };
        say(&format_args!("no profile was written: {reason}"));
    }

    /// Gives the profiles their names, in memory and, so that they can still be read when the program has been built
    /// anew, in their files.
    fn name(&self, left: &mut Left) {
        if self.arguments.raw && self.arguments.quiet && !self.settings.wants_leaks() {
            return;
        }
        let naming = self.arguments.naming.options();
        let mut warnings = Vec::new();
        for file in left.own.iter_mut().chain(&mut left.children) {
            if file.profile.names.is_some() {
                continue;
            }
            for warning in mpfilt::add_names(&mut file.profile, &naming) {
                let warning = warning.to_string();
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
            if !self.arguments.raw
                && file.trouble.is_none()
                && let Err(reason) = crate::whole_file::write(&file.path, |out| {
                    mprof_format::write_profile(&file.profile, out)
                })
            {
                say(&format_args!("{}: names cannot be written: {reason}", shown(&file.path)));
            }
        }
        if !self.arguments.quiet {
            warnings.iter().for_each(say);
        }
    }
}

/// The profiles of the earlier run, if there is one to compare with, with names. They must be whole.
fn read_baseline(arguments: &WrapperArguments) -> Result<Option<Vec<Profile>>, Error> {
    let files = &arguments.leaks.baseline;
    if files.is_empty() {
        return Ok(None);
    }
    let Inputs { mut profiles, troubles } = input::read_all(files, &|error| say(error))?;
    if let Some(trouble) = troubles.into_iter().next() {
        return Err(trouble.into());
    }
    let naming = arguments.naming.options();
    for profile in profiles.iter_mut().filter(|profile| profile.names.is_none()) {
        mpfilt::add_names(profile, &naming).iter().for_each(say);
    }
    Ok(Some(profiles))
}

/// Whether the folder of the data file is there: the program would find out only at its end.
fn check_folder(data: &Path) -> Result<(), Error> {
    let folder = data.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let problem = if !folder.is_dir() {
        "there is no such folder for the profile"
    } else if rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_err() {
        "the profile cannot be written into this folder (-o names another file)"
    } else if data.is_dir() {
        return Err(Error::Output {
            path: data.to_path_buf(),
            reason: "is a folder, not a file for the profile".into(),
        });
    } else {
        return Ok(());
    };
    Err(Error::Output { path: folder.to_path_buf(), reason: problem.into() })
}
