//! The runs of one build of a program, and how they are held against each other.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mprof_format::model::Profile;

use crate::count::{Counts, libcount};
use crate::outcome::{Outcome, entries};
use crate::process::{Output, run};
use crate::program::{Counted, DataFile, Program, Reference};
use crate::tools::Tools;

/// The runs of one build of a program.
pub(crate) struct Trial<'a> {
    program: &'a Program,
    executable: PathBuf,
    build: &'a str,
    scratch: tempfile::TempDir,
}

impl<'a> Trial<'a> {
    pub(crate) fn new(program: &'a Program, build: &'a str) -> Trial<'a> {
        let executable = program.executable(build);
        let mut scratch = tempfile::Builder::new();
        let keep = env::var_os("C_TESTS_KEEP").is_some();
        let scratch = scratch.prefix("c-tests-").disable_cleanup(keep).tempdir().expect("a temporary folder");
        if keep {
            eprintln!("KEPT: {} {build}: {}", executable.display(), scratch.path().display());
        }
        Trial { program, executable, build, scratch }
    }

    pub(crate) fn bare(&self) -> Output {
        let none = self.program.preloaded.concat().is_empty();
        let others = if none { Vec::new() } else { self.preload(&[], false) };
        let output = self.run("bare", &others);
        assert_eq!(output.status, self.program.status, "{} bare: {output:?}", self.name());
        if let Some(prints) = &self.program.prints {
            assert_eq!(&output.stdout, prints, "{} bare: standard output", self.name());
        }
        output
    }

    pub(crate) fn profiled(&self, bare: &Output) -> Outcome {
        let output = self.run("profiled", &self.preload(&[&Tools::get().library], false));
        let (own, program) = split_stderr(&output.stderr);
        self.assert_same("profiled", bare, &output, &program);
        if let Some(says) = &self.program.says {
            assert_eq!(own.len(), says.len(), "{}: the profiler said {own:#?}", self.name());
            for (line, wanted) in own.iter().zip(says) {
                assert!(line.contains(wanted), "{}: the profiler said {line:?}, not {wanted:?}", self.name());
            }
        }
        self.assert_files("profiled");
        Outcome::new(output, self.folder("profiled"), &self.program.data_name)
    }

    pub(crate) fn verified(&self, bare: &Output) -> Outcome {
        let mut env = self.preload(&[&Tools::get().library], false);
        env.push(("MPROF_VERIFY".into(), "1".into()));
        let output = self.run("verified", &env);
        let (own, program) = split_stderr(&output.stderr);
        self.assert_same("verified", bare, &output, &program);
        let reports: Vec<&String> = own.iter().filter(|line| line.contains("mprof: verify: ")).collect();
        for line in &reports {
            assert_eq!(differences(line), Some(0), "{} against the reference: {own:#?}", self.name());
        }
        if self.program.reference == Reference::Agrees {
            assert!(!reports.is_empty(), "{}: no line about the reference in {own:#?}", self.name());
        }
        self.assert_files("verified");
        Outcome::new(output, self.folder("verified"), &self.program.data_name)
    }

    fn assert_same(&self, label: &str, bare: &Output, output: &Output, stderr: &str) {
        let name = self.name();
        assert_eq!(output.status, bare.status, "{name} {label}: {output:?}");
        assert_eq!(output.stdout, bare.stdout, "{name} {label}: standard output");
        assert_eq!(stderr, bare.stderr, "{name} {label}: standard error");
    }

    /// The folder holds what the bare run left, and data files where they are due.
    fn assert_files(&self, label: &str) {
        let wanted = &self.program.data_name;
        let is_data = |name: &String| {
            let rest = name.strip_prefix(wanted.as_str());
            rest.is_some_and(|rest| rest.is_empty() || is_process_suffix(rest))
        };
        let names = entries(&self.folder(label));
        let (data, others): (Vec<String>, Vec<String>) = names.into_iter().partition(is_data);
        assert_eq!(others, entries(&self.folder("bare")), "{} {label}: files in its folder", self.name());
        match self.program.data {
            DataFile::Written => assert!(data.contains(wanted), "{} {label}: only {data:?}", self.name()),
            DataFile::Absent => assert!(data.is_empty(), "{} {label}: {data:?}", self.name()),
            DataFile::Either => {}
        }
    }

    /// The tables of one report agree, and both runs give the same.
    pub(crate) fn assert_reports_agree(&self, profiled: &Outcome, verified: &Outcome) {
        // Without this option the report of a Lisp program has tables of both.
        let c = if self.program.lisp { vec!["--verbose", "--c"] } else { vec!["--verbose"] };
        let report = profiled.report(&c);
        if self.program.whole {
            profiled.facts().assert_consistent();
            report.assert_agree(&profiled.report(&[c.as_slice(), &["--exact"]].concat()));
        }
        if self.program.repeatable {
            let again = verified.report(&c);
            assert_eq!(report.tables(), again.tables(), "{}: reports of two runs", self.name());
        }
        if self.program.lisp_repeatable {
            let [one, two] =
                [profiled, verified].map(|run| run.report(&["--verbose", "--lisp", "--full-names"]));
            assert_eq!(one.tables(), two.tables(), "{}: Lisp's tables of two runs", self.name());
        }
    }

    /// Runs it under the counting library alone.
    pub(crate) fn counts_alone(&self) -> Vec<Counts> {
        let output = self.run("counted", &self.preload(&[&libcount()], true));
        assert_eq!(output.status, self.program.status, "{} counted: {output:?}", self.name());
        Counts::read_all(self.scratch.path())
    }

    /// In one run, each process's profile has the totals of what the C library was asked for.
    pub(crate) fn assert_counts_agree(&self, bare: &Output) {
        let env = self.preload(&[&Tools::get().library, &libcount()], true);
        let output = self.run("counted", &env);
        let (_, program) = split_stderr(&output.stderr);
        self.assert_same("counted", bare, &output, &program);
        let outcome = Outcome::new(output, self.folder("counted"), &self.program.data_name);
        let profiles: Vec<Profile> = outcome.data_files().iter().map(|name| outcome.raw(name)).collect();
        let counts = Counts::read_all(self.scratch.path());
        // A process that never allocated has a profile, and no counts.
        let with_events = profiles.iter().filter(|profile| !profile.counters.is_empty());
        let profiled: BTreeSet<u32> = with_events.map(|profile| profile.process.pid).collect();
        let allocated = counts.iter().filter(|counts| counts.allocs > 0);
        let counted: BTreeSet<u32> = allocated.clone().map(|counts| counts.pid).collect();
        assert_eq!(profiled, counted, "{}: processes with a profile, and with counts", self.name());
        for counts in allocated {
            let profile = profiles.iter().find(|profile| profile.process.pid == counts.pid);
            counts.assert_agrees(
                profile.expect("the ids are the same"),
                self.program.counted == Counted::Bytes,
            );
        }
    }

    fn run(&self, label: &str, env: &[(OsString, OsString)]) -> Output {
        let folder = self.folder(label);
        fs::create_dir(&folder).expect("the temporary folder can be written");
        for (name, text) in &self.program.files {
            fs::write(folder.join(name), text).expect("the temporary folder can be written");
        }
        self.program.prepare.iter().for_each(|prepare| prepare(&folder));
        let mut command = Command::new(&self.executable);
        command
            .current_dir(&folder)
            .args(&self.program.args)
            .stdin(self.stdin())
            .env_clear()
            .env("LC_ALL", "C");
        for name in ["PATH", "HOME"] {
            command.envs(env::var_os(name).map(|value| (name, value)));
        }
        command.envs(self.program.env.iter().map(|(name, value)| (name, value)));
        command.envs(env.iter().map(|(name, value)| (name, value)));
        run(&mut command, self.scratch.path(), label, self.program.time_limit)
            .unwrap_or_else(|error| panic!("{} {label}: {error}", self.name()))
    }

    fn stdin(&self) -> Stdio {
        let Some(text) = &self.program.stdin else { return Stdio::null() };
        let path = self.scratch.path().join("stdin");
        fs::write(&path, text).expect("the temporary folder can be written");
        File::open(&path).expect("just written").into()
    }

    /// The variables that preload these libraries, the last of which may be the one that counts, among those of the
    /// program's test.
    fn preload(&self, libraries: &[&Path], counts: bool) -> Vec<(OsString, OsString)> {
        let beside = self.executable.parent().expect("it is in a folder");
        let [before, behind] =
            self.program.preloaded.each_ref().map(|names| names.iter().map(|name| beside.join(name)));
        let all = before.chain(libraries.iter().map(|path| path.to_path_buf())).chain(behind);
        let list = all.map(PathBuf::into_os_string).collect::<Vec<_>>().join(OsStr::new(":"));
        let mut env = vec![("LD_PRELOAD".into(), list)];
        if counts {
            env.push(("LIBCOUNT_FILE".into(), self.scratch.path().join("count").into()));
        }
        env
    }

    fn folder(&self, label: &str) -> PathBuf {
        self.scratch.path().join(label)
    }

    fn name(&self) -> String {
        let file = self.executable.file_name().unwrap_or_default().to_string_lossy();
        format!("{file} {} ({})", self.program.args.join(" "), self.build)
    }
}

/// `.` and a process id.
fn is_process_suffix(text: &str) -> bool {
    text.strip_prefix('.').is_some_and(|pid| !pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit()))
}

/// The profiler's own lines of a stderr text, and the rest of it.
pub(crate) fn split_stderr(text: &str) -> (Vec<String>, String) {
    let (own, rest): (Vec<&str>, Vec<&str>) =
        text.split_inclusive('\n').partition(|line| line.starts_with("mprof:"));
    (own.into_iter().map(|line| line.trim_end().to_owned()).collect(), rest.concat())
}

/// The second number of `mprof: verify: 12 chains compared, 0 differ`.
pub(crate) fn differences(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("mprof: verify: ")?;
    let (chains, rest) = rest.split_once(" chains compared, ")?;
    chains.parse::<u64>().ok()?;
    rest.strip_suffix(" differ")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profilers_lines_are_told_from_the_programs() {
        let (own, rest) = split_stderr("one\nmprof: cannot write\ntwo");
        assert_eq!(own, ["mprof: cannot write"]);
        assert_eq!(rest, "one\ntwo");
    }

    #[test]
    fn the_verify_line_is_read_strictly() {
        assert_eq!(differences("mprof: verify: 12 chains compared, 3 differ"), Some(3));
        assert_eq!(differences("mprof: verify: 12 chains compared, 3 differ here"), None);
        assert_eq!(differences("mprof: verify: many chains compared, 0 differ"), None);
    }
}
