//! One random program: made, compiled, run.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::chance::Chance;
use super::compare::Comparison;
use super::source::{Source, Unit, generate, write_table};
use super::truth::Truth;
use crate::compile::{compiler, missing_compiler, programs_folder};
use crate::outcome::Outcome;
use crate::process::{Output, Status, run, succeed};
use crate::tools::{Tools, skipped};
use crate::trial::{differences, split_stderr};

/// Much longer than the longest of them takes on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// Flags of all units: calls of `malloc` and `free` are to stay calls, and the last call of a function is not to
/// replace it on the stack.
const ALWAYS: [&str; 5] = ["-g", "-fno-builtin", "-fno-optimize-sibling-calls", "-fexceptions", "-pthread"];

/// A compiled random program.
#[derive(Debug)]
pub struct RandomProgram {
    seed: u64,
    folder: tempfile::TempDir,
    functions: Vec<String>,
}

/// What one run of it had.
#[derive(Debug, Clone, Copy, Default)]
pub struct Run {
    /// Chains at whose ends something was allocated.
    pub chains: usize,
    /// Allocations.
    pub allocs: u64,
}

impl RandomProgram {
    /// Makes and compiles the program with this seed; `None`, and a line on standard error, where the machine has no
    /// compilers.
    ///
    /// # Panics
    /// When it cannot be compiled.
    pub fn new(seed: u64) -> Option<RandomProgram> {
        if let Some(missing) = ["a.c", "a.cpp"].into_iter().find_map(missing_compiler) {
            skipped(&format!("random programs: there is no {missing}"));
            return None;
        }
        let source = generate(seed);
        let keep = env::var_os("C_TESTS_KEEP").is_some();
        let mut folder = tempfile::Builder::new();
        let folder =
            folder.prefix("c-tests-random-").disable_cleanup(keep).tempdir().expect("a temporary folder");
        if keep {
            eprintln!("KEPT: random program {seed}: {}", folder.path().display());
        }
        build(&source, folder.path());
        Some(RandomProgram { seed, folder, functions: source.functions })
    }

    /// Runs it with the random numbers that follow from `seed`, under the profiler and, in another run, with
    /// `MPROF_VERIFY=1` besides; holds each profile against what the run itself said. `tables` asks to look at
    /// mpdisplay's tables too.
    ///
    /// # Panics
    /// When anything differs.
    pub fn check(&self, seed: u64, tables: bool) -> Run {
        let who = format!("random program {}, run {seed}", self.seed);
        let arguments = arguments(seed);
        let plain = self.run(&format!("plain-{seed}"), &arguments, &[]);
        assert_eq!(plain.output.stderr, "", "{who}: {arguments:?}");
        let truth = Truth::read(&plain.folder.join("truth"), &self.functions);
        let comparison = Comparison { who: &who, truth: &truth, outcome: &plain };
        comparison.assert_same();
        if tables {
            comparison.assert_tables();
        }
        let verified = self.run(&format!("verified-{seed}"), &arguments, &[("MPROF_VERIFY", "1")]);
        let (own, other) = split_stderr(&verified.output.stderr);
        assert_eq!(other, "", "{who}, verified");
        assert_eq!(own.iter().map(|line| differences(line)).collect::<Vec<_>>(), [Some(0)], "{who}: {own:?}");
        let truth_verified = Truth::read(&verified.folder.join("truth"), &self.functions);
        Comparison { who: &who, truth: &truth_verified, outcome: &verified }.assert_same();
        for run in [&plain, &verified] {
            fs::remove_dir_all(&run.folder).expect("our own folder");
        }
        Run { chains: truth.chains.len(), allocs: plain.facts().total().allocs }
    }

    fn run(&self, label: &str, arguments: &[String], env: &[(&str, &str)]) -> Outcome {
        let folder = self.folder.path().join(label);
        fs::create_dir(&folder).expect("the temporary folder can be written");
        let mut command = Command::new(self.folder.path().join("program"));
        command.current_dir(&folder).args(arguments).stdin(Stdio::null()).env_clear();
        command.env("LC_ALL", "C").env("LD_PRELOAD", &Tools::get().library).envs(env.iter().copied());
        let output: Output = run(&mut command, self.folder.path(), label, TIME_LIMIT)
            .unwrap_or_else(|error| panic!("random program {}: {error}", self.seed));
        assert_eq!(
            output.status,
            Status::Exited(0),
            "random program {} {arguments:?}: {output:?}",
            self.seed
        );
        Outcome::new(output, folder, "mprof.data")
    }
}

/// `SEED THREADS ROUNDS CALLS DEPTH`: few rounds of many calls, or many of few; flat or deep; one thread or several.
fn arguments(seed: u64) -> [String; 5] {
    let mut chance = Chance::new(seed);
    let threads = *chance.one_of(&[0, 0, 1, 3]);
    let (rounds, calls) = *chance.one_of(&[(3, 2000), (20, 300), (200, 30)]);
    let depth = *chance.one_of(&[4, 10, 30, 100, 500]);
    [seed, threads, rounds, calls / (threads + 1), depth].map(|number| number.to_string())
}

fn build(source: &Source, folder: &Path) {
    let runtime = programs_folder().join("random");
    let compile = |text: &Path, flags: &str| {
        let mut command = Command::new(compiler(&text.to_string_lossy()));
        command.current_dir(folder).args(ALWAYS).args(flags.split(' ')).arg("-I").arg(&runtime).arg(text);
        succeed(&mut command);
    };
    let written = |name: &str, text: &str| -> PathBuf {
        fs::write(folder.join(name), text).expect("the temporary folder can be written");
        PathBuf::from(name)
    };
    let mut link = vec!["runtime.o".to_owned(), "table.o".to_owned()];
    for unit in &source.units {
        let Unit { name, text, flags, shared } = unit;
        let stem = name.split('.').next().expect("a name before the extension");
        let output = if *shared { format!("lib{stem}.so") } else { format!("{stem}.o") };
        let kind = if *shared { "-shared -fPIC" } else { "-c" };
        compile(&written(name, text), &format!("{flags} {kind} -o {output}"));
        link.push(if *shared { format!("-l:{output}") } else { output });
    }
    compile(&runtime.join("runtime.c"), "-O2 -Wall -Wextra -c -o runtime.o");
    compile(&written("table.cpp", &write_table(source)), "-O2 -Wall -c -o table.o");
    let mut command = Command::new(compiler("a.cpp"));
    command
        .current_dir(folder)
        .args(["-rdynamic", "-pthread", "-L.", "-Wl,-rpath,$ORIGIN", "-o", "program"])
        .args(link);
    succeed(&mut command);
}
