//! One test program as a story: how it is built, what it is given, how it must end, and that the profiler changes
//! none of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::compile::{Step, compile, missing_compiler};
use crate::count::Counts;
use crate::outcome::Outcome;
use crate::process::Status;
use crate::tools::{bare_only, skipped};
use crate::trial::Trial;

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
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) stdin: Option<String>,
    /// Files in the folder that it starts in.
    pub(crate) files: Vec<(String, String)>,
    /// Make what else is to be in that folder.
    pub(crate) prepare: Vec<fn(&Path)>,
    /// Other libraries that are preloaded in all runs, before the profiler and behind it: paths, or names of
    /// companions.
    pub(crate) preloaded: [Vec<String>; 2],
    pub(crate) time_limit: Duration,
    pub(crate) status: Status,
    pub(crate) prints: Option<String>,
    /// What the profiler's lines on stderr must contain, one a line; `None` where they are not looked at.
    pub(crate) says: Option<Vec<String>>,
    pub(crate) data: DataFile,
    /// Name of the first process's data file.
    pub(crate) data_name: String,
    pub(crate) reference: Reference,
    pub(crate) repeatable: bool,
    /// Each event is recorded in all tables.
    pub(crate) whole: bool,
    /// Whether it is run with the reference unwinder, too.
    verified: bool,
    /// There are Lisp objects in the profile.
    pub(crate) lisp: bool,
    /// Two runs allocate the same of them.
    pub(crate) lisp_repeatable: bool,
    pub(crate) counted: Counted,
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
pub(crate) enum DataFile {
    Written,
    Absent,
    /// Not looked at.
    Either,
}

/// How the profile is held against what the C library was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Numbers of allocations and frees, and bytes.
    Bytes,
    /// Numbers only.
    Numbers,
    /// Not at all.
    No,
}

/// What the run with `MPROF_VERIFY=1` must say on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reference {
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

    /// A program of this machine, or `None`, and a line on standard error, where it is not installed.
    pub fn installed(path: &str) -> Option<Program> {
        if Path::new(path).is_file() {
            return Some(Program::new(Origin::Installed(path.into()), &[""]));
        }
        skipped(&format!("{path} is not installed"));
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
            prepare: Vec::new(),
            preloaded: Default::default(),
            files: Vec::new(),
            time_limit: Duration::from_secs(60),
            status: Status::Exited(0),
            prints: None,
            says: Some(Vec::new()),
            data: DataFile::Written,
            data_name: "mprof.data".to_owned(),
            reference: Reference::Agrees,
            repeatable: true,
            whole: true,
            verified: true,
            lisp: false,
            lisp_repeatable: false,
            counted: Counted::Bytes,
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

    /// A library that is preloaded before the profiler's: the path of an installed one, or a companion's output.
    pub fn preload_before(mut self, library: &str) -> Self {
        self.preloaded[0].push(library.to_owned());
        self
    }

    /// A library that is preloaded behind the profiler's.
    pub fn preload_behind(mut self, library: &str) -> Self {
        self.preloaded[1].push(library.to_owned());
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

    /// Makes more of the folder that it starts in, before each run.
    pub fn prepare(mut self, prepare: fn(&Path)) -> Self {
        self.prepare.push(prepare);
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
        self.says.get_or_insert_default().push(text.to_owned());
        self
    }

    /// The profiler may say on stderr what it likes.
    pub fn may_complain(mut self) -> Self {
        self.says = None;
        self
    }

    /// `MPROF_DATA`, and the name of the file that this makes in the folder.
    pub fn data_named(mut self, pattern: &str, name: &str) -> Self {
        self.data_name = name.to_owned();
        self.env("MPROF_DATA", pattern)
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

    /// There need be no line about the reference unwinder: no chain is compared, or the program closes its stderr.
    pub fn no_reference(mut self) -> Self {
        self.reference = Reference::MayBeSilent;
        self
    }

    /// Two runs may allocate differently, by time or by chance: their reports are not compared.
    pub fn varies(mut self) -> Self {
        self.repeatable = false;
        self
    }

    /// What the C library is asked for cannot be what the profile says: the program goes behind the profiler's back.
    pub fn uncounted(mut self) -> Self {
        self.counted = Counted::No;
        self
    }

    /// The bytes that the C library is asked for do not tell the program's: it reallocates objects of alignments over
    /// 16 bytes, whose padding goes with them.
    pub fn numbers_counted(mut self) -> Self {
        self.counted = Counted::Numbers;
        self
    }

    /// The program leaves the monitor in the middle of an event, of which a part may be recorded: the tables need not
    /// agree.
    pub fn half_recorded(mut self) -> Self {
        self.whole = false;
        self
    }

    /// It is not run with the reference unwinder, which is so slow that the program would not get on: another test has
    /// its chains compared.
    pub fn unverified(mut self) -> Self {
        self.verified = false;
        self
    }

    /// Its profile has Lisp objects besides, of which two runs allocate the same.
    pub fn lisp(mut self) -> Self {
        (self.lisp, self.lisp_repeatable) = (true, true);
        self
    }

    /// Two runs may allocate different Lisp objects: the Lisp system's own caches go by addresses.
    pub fn lisp_varies(mut self) -> Self {
        self.lisp_repeatable = false;
        self
    }

    /// Runs the first build under `libcount.so` alone: what it asks of the C library, a process each, by process id.
    ///
    /// # Panics
    /// When it does not end as expected.
    pub fn count_bare(self) -> Vec<Counts> {
        Trial::new(&self, &self.builds[0]).counts_alone()
    }

    /// Runs every build bare, under the profiler, under it with the reference unwinder, and under it with a library
    /// behind it that counts, and holds the runs against each other; then the test's own facts are checked on the
    /// second.
    ///
    /// # Panics
    /// When anything differs from what is expected.
    pub fn check(self, facts: impl Fn(&Outcome)) {
        if let Origin::Source(source) = &self.origin
            && let Some(compiler) = missing_compiler(source)
        {
            return skipped(&format!("{source}: there is no {compiler}"));
        }
        for build in &self.builds {
            let trial = Trial::new(&self, build);
            let bare = trial.bare();
            if bare_only() {
                skipped("the runs under the profiler, as C_TESTS_BARE asks");
                continue;
            }
            let profiled = trial.profiled(&bare);
            let verified = self.verified.then(|| trial.verified(&bare));
            if self.data == DataFile::Written {
                if let Some(verified) = &verified {
                    trial.assert_reports_agree(&profiled, verified);
                }
                if self.counted != Counted::No {
                    trial.assert_counts_agree(&bare);
                }
            }
            facts(&profiled);
        }
    }

    /// Compiles the first build and gives its path, for tests that run it their own way.
    pub fn build(&self) -> PathBuf {
        self.executable(&self.builds[0])
    }

    /// The compiled program, or the installed one.
    pub(crate) fn executable(&self, build: &str) -> PathBuf {
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
