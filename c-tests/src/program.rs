//! One test program as a story: how it is built, what it is given, how it must end, and that the profiler changes
//! none of it.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::compile::{Step, compile};
use crate::outcome::{Outcome, entries};
use crate::process::{Output, Status, run};
use crate::tools::{Tools, bare_only};

/// Flags of every C and C++ program: calls of `malloc` and `free` are to stay calls, and the last call of a function
/// is not to replace it on the stack.
const ALWAYS: [&str; 4] = ["-g", "-fno-builtin", "-fno-optimize-sibling-calls", "-Wall"];

/// A program, how it is run, and what is expected of it.
#[derive(Debug, Clone)]
pub struct Program {
    /// Compiled before the program, in order.
    companions: Vec<Step>,
    origin: Origin,
    /// The optimisation flags that it is built with, one build each.
    builds: Vec<String>,
    /// Words after the source on the compiler's command line.
    libraries: Vec<String>,
    args: Vec<String>,
    env: Vec<(String, String)>,
    stdin: Option<String>,
    /// Files in the folder that the program starts in.
    files: Vec<(String, String)>,
    time_limit: Duration,
    status: Status,
    prints: Option<String>,
    /// What the profiler's lines on stderr must contain, one a line.
    says: Vec<String>,
    data: DataFile,
    reference: Reference,
    repeatable: bool,
    behind: Vec<PathBuf>,
}

#[derive(Debug, Clone)]
enum Origin {
    /// File name in the programs folder.
    Source(String),
    /// A program of this machine.
    Installed(PathBuf),
}

/// Whether the first process's data file is to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DataFile {
    Written,
    Absent,
    /// Not looked at.
    Either,
}

/// What the run with `MPROF_VERIFY=1` must say on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reference {
    /// At least one line, and no difference in any.
    Agrees,
    /// No line can be expected; where there is one, no difference in it.
    MayBeSilent,
}

impl Program {
    /// A C program: `programs/NAME.c`, built with `-O0` and with `-O2`.
    pub fn c(name: &str) -> Program {
        Program::new(Origin::Source(format!("{name}.c")), &["-O0", "-O2"])
    }

    /// A C++ program: `programs/NAME.cpp`, built with `-O0` and with `-O2`.
    pub fn cpp(name: &str) -> Program {
        Program::new(Origin::Source(format!("{name}.cpp")), &["-O0", "-O2"])
    }

    /// A Rust program: `programs/NAME.rs`, built without and with optimisation.
    pub fn rust(name: &str) -> Program {
        Program::new(Origin::Source(format!("{name}.rs")), &["-Copt-level=0", "-Copt-level=2"])
    }

    /// A program of this machine, or `None`, and a line on stderr, where it is not installed.
    pub fn installed(path: &str) -> Option<Program> {
        if Path::new(path).is_file() {
            return Some(Program::new(Origin::Installed(path.into()), &[""]));
        }
        eprintln!("SKIPPED: {path} is not installed");
        None
    }

    fn new(origin: Origin, builds: &[&str]) -> Program {
        Program {
            companions: Vec::new(),
            origin,
            builds: builds.iter().map(|flags| (*flags).to_owned()).collect(),
            libraries: Vec::new(),
            args: Vec::new(),
            env: Vec::new(),
            stdin: None,
            files: Vec::new(),
            time_limit: Duration::from_secs(60),
            status: Status::Exited(0),
            prints: None,
            says: Vec::new(),
            data: DataFile::Written,
            reference: Reference::Agrees,
            repeatable: true,
            behind: Vec::new(),
        }
    }

    /// Builds it only once, with these flags instead of the usual two sets.
    pub fn flags(mut self, flags: &str) -> Self {
        self.builds = vec![flags.to_owned()];
        self
    }

    /// Adds flags to every build.
    pub fn also(mut self, flags: &str) -> Self {
        self.builds.iter_mut().for_each(|build| *build = format!("{build} {flags}"));
        self
    }

    /// Words after the source when it is linked: libraries, and companions' object files.
    pub fn link(mut self, words: &str) -> Self {
        self.libraries.extend(words.split_whitespace().map(str::to_owned));
        self
    }

    /// Another source that is compiled first, to `output` beside the program, with exactly these flags.
    pub fn companion(mut self, source: &str, output: &str, flags: &str) -> Self {
        let flags = flags.split_whitespace().map(str::to_owned).collect();
        let (source, output) = (source.to_owned(), output.to_owned());
        self.companions.push(Step { source, output, flags, inputs: Vec::new() });
        self
    }

    /// Its arguments.
    pub fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        self
    }

    /// A variable of its environment, in all runs.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Its standard input; `/dev/null` else.
    pub fn stdin(mut self, text: &str) -> Self {
        self.stdin = Some(text.to_owned());
        self
    }

    /// A file in the folder that it starts in.
    pub fn file(mut self, name: &str, text: &str) -> Self {
        self.files.push((name.to_owned(), text.to_owned()));
        self
    }

    /// How long each run may take; one minute else.
    pub fn time_limit(mut self, seconds: u64) -> Self {
        self.time_limit = Duration::from_secs(seconds);
        self
    }

    /// What it prints.
    pub fn prints(mut self, text: &str) -> Self {
        self.prints = Some(text.to_owned());
        self
    }

    /// How it ends; with exit status 0 else.
    pub fn ends(mut self, status: Status) -> Self {
        self.status = status;
        self
    }

    /// The profiler says a line on stderr with this in it. It says nothing else.
    pub fn says(mut self, text: &str) -> Self {
        self.says.push(text.to_owned());
        self
    }

    /// No data file may be there after it.
    pub fn no_data(mut self) -> Self {
        self.data = DataFile::Absent;
        self.reference = Reference::MayBeSilent;
        self
    }

    /// The data file may be there or not.
    pub fn any_data(mut self) -> Self {
        self.data = DataFile::Either;
        self.reference = Reference::MayBeSilent;
        self
    }

    /// The line about the reference unwinder cannot be seen, because the program closes its stderr.
    pub fn unseen_reference(mut self) -> Self {
        self.reference = Reference::MayBeSilent;
        self
    }

    /// Two runs may allocate differently, by time or by chance: their reports are not compared.
    pub fn varies(mut self) -> Self {
        self.repeatable = false;
        self
    }

    /// Preloads another library behind the profiler.
    pub fn behind(mut self, library: PathBuf) -> Self {
        self.behind.push(library);
        self
    }

    /// Runs every build bare, under the profiler, and under it with the reference unwinder, and holds the runs
    /// against each other; then the test's own facts are checked on the second.
    ///
    /// # Panics
    /// When anything differs from what is expected.
    pub fn check(self, facts: impl Fn(&Outcome)) {
        for build in &self.builds {
            let trial = Trial::new(&self, build);
            let bare = trial.bare();
            if bare_only() {
                eprintln!("SKIPPED: the runs under the profiler, as C_TESTS_BARE asks");
                continue;
            }
            let profiled = trial.profiled(&bare);
            let verified = trial.verified(&bare);
            if self.data == DataFile::Written {
                trial.assert_reports_agree(&profiled, &verified);
            }
            facts(&profiled);
        }
    }

    /// The compiled program, or the installed one.
    fn executable(&self, build: &str) -> PathBuf {
        let source = match &self.origin {
            Origin::Source(source) => source.clone(),
            Origin::Installed(path) => return path.clone(),
        };
        let output = source.split('.').next().expect("a name before the extension").to_owned();
        let always: &[&str] = if source.ends_with(".rs") { &["-g"] } else { &ALWAYS };
        let flags = always.iter().copied().chain(build.split_whitespace()).map(str::to_owned).collect();
        let mut steps = self.companions.clone();
        steps.push(Step { source, output: output.clone(), flags, inputs: self.libraries.clone() });
        compile(&steps).join(output)
    }
}

/// The runs of one build of a program.
struct Trial<'a> {
    program: &'a Program,
    executable: PathBuf,
    build: &'a str,
    scratch: tempfile::TempDir,
}

impl<'a> Trial<'a> {
    fn new(program: &'a Program, build: &'a str) -> Trial<'a> {
        let executable = program.executable(build);
        let mut scratch = tempfile::Builder::new();
        let keep = env::var_os("C_TESTS_KEEP").is_some();
        let scratch = scratch.prefix("c-tests-").disable_cleanup(keep).tempdir().expect("a temporary folder");
        if keep {
            eprintln!("KEPT: {} {build}: {}", executable.display(), scratch.path().display());
        }
        Trial { program, executable, build, scratch }
    }

    fn bare(&self) -> Output {
        let output = self.run("bare", &[]);
        assert_eq!(output.status, self.program.status, "{} bare: {output:?}", self.name());
        if let Some(prints) = &self.program.prints {
            assert_eq!(&output.stdout, prints, "{} bare: standard output", self.name());
        }
        output
    }

    fn profiled(&self, bare: &Output) -> Outcome {
        let output = self.run("profiled", &[self.preload()]);
        let (own, program) = split_stderr(&output.stderr);
        self.assert_same("profiled", bare, &output, &program);
        assert_eq!(own.len(), self.program.says.len(), "{}: the profiler said {own:#?}", self.name());
        for (line, wanted) in own.iter().zip(&self.program.says) {
            assert!(line.contains(wanted), "{}: the profiler said {line:?}, not {wanted:?}", self.name());
        }
        self.assert_files("profiled");
        Outcome::new(output, self.folder("profiled"))
    }

    fn verified(&self, bare: &Output) -> Outcome {
        let output = self.run("verified", &[self.preload(), ("MPROF_VERIFY".into(), "1".into())]);
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
        Outcome::new(output, self.folder("verified"))
    }

    fn assert_same(&self, label: &str, bare: &Output, output: &Output, stderr: &str) {
        let name = self.name();
        assert_eq!(output.status, bare.status, "{name} {label}: {output:?}");
        assert_eq!(output.stdout, bare.stdout, "{name} {label}: standard output");
        assert_eq!(stderr, bare.stderr, "{name} {label}: standard error");
    }

    /// The folder holds what the bare run left, and data files where they are due.
    fn assert_files(&self, label: &str) {
        let bare = entries(&self.folder("bare"));
        let is_data = |name: &str| {
            name == "mprof.data"
                || name.strip_prefix("mprof.data.").is_some_and(|pid| pid.bytes().all(|b| b.is_ascii_digit()))
        };
        let folder = self.folder(label);
        // A program may have removed its own folder.
        let names = if folder.is_dir() { entries(&folder) } else { Vec::new() };
        let (data, others): (Vec<String>, Vec<String>) = names.into_iter().partition(|name| is_data(name));
        assert_eq!(others, bare, "{} {label}: files in its folder", self.name());
        let there = data.iter().any(|name| name == "mprof.data");
        match self.program.data {
            DataFile::Written => assert!(there, "{} {label}: no mprof.data, only {data:?}", self.name()),
            DataFile::Absent => assert!(data.is_empty(), "{} {label}: {data:?}", self.name()),
            DataFile::Either => {}
        }
    }

    /// The tables of one report agree, and both runs give the same.
    fn assert_reports_agree(&self, profiled: &Outcome, verified: &Outcome) {
        let report = profiled.report(&["--verbose"]);
        report.assert_agree(&profiled.report(&["--verbose", "--exact"]));
        if self.program.repeatable {
            let again = verified.report(&["--verbose"]);
            assert_eq!(report.text(), again.text(), "{}: reports of two runs", self.name());
        }
    }

    fn run(&self, label: &str, env: &[(OsString, OsString)]) -> Output {
        let folder = self.folder(label);
        fs::create_dir(&folder).expect("the temporary folder can be written");
        for (name, text) in &self.program.files {
            fs::write(folder.join(name), text).expect("the temporary folder can be written");
        }
        let mut command = Command::new(&self.executable);
        command.current_dir(&folder).args(&self.program.args).stdin(self.stdin()).env_clear().env("LC_ALL", "C");
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

    fn preload(&self) -> (OsString, OsString) {
        let mut list = OsString::from(&Tools::get().library);
        for library in &self.program.behind {
            list.push(":");
            list.push(library);
        }
        ("LD_PRELOAD".into(), list)
    }

    fn folder(&self, label: &str) -> PathBuf {
        self.scratch.path().join(label)
    }

    fn name(&self) -> String {
        let file = self.executable.file_name().unwrap_or_default().to_string_lossy();
        format!("{file} {} ({})", self.program.args.join(" "), self.build)
    }
}

/// The profiler's own lines of a stderr text, and the rest of it.
fn split_stderr(text: &str) -> (Vec<String>, String) {
    let (own, rest): (Vec<&str>, Vec<&str>) =
        text.split_inclusive('\n').partition(|line| line.starts_with("mprof:"));
    (own.into_iter().map(|line| line.trim_end().to_owned()).collect(), rest.concat())
}

/// The second number of `mprof: verify: 12 chains compared, 0 differ`.
fn differences(line: &str) -> Option<u64> {
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
