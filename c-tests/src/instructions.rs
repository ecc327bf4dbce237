//! Instructions that the library executes for a workload, counted by callgrind.
//!
//! A machine's clock is noisy, its instructions are not. Each workload runs twice, with different amounts of work; the
//! difference has no start in it, and the end, which writes the more the more there was, is not counted. Only
//! instructions inside `libmprof.so` count: those of the C library and of the workload depend on the machine.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::compile::{Step, compile, missing_compiler};
use crate::process::{Output, Status, run};
use crate::tools::Tools;

/// Much longer than the longest takes on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// The library's function that writes the profile: callgrind does not collect while it runs.
const WRITING: &str = "mprof::profile::write_alone";

/// A program of `bench/workloads/` and two amounts of work.
#[derive(Debug, Clone, Copy)]
pub struct Workload {
    /// Name, and file name without extension.
    pub name: &'static str,
    extension: &'static str,
    /// Arguments before the amount.
    before: &'static [&'static str],
    /// A warm start, and as much again as is counted.
    amounts: [u64; 2],
}

/// All that are counted. The first amounts are enough for every chain to have been seen.
pub const WORKLOADS: [Workload; 5] = [
    Workload { name: "widgets", extension: "c", before: &[], amounts: [20_000, 50_000] },
    Workload { name: "deep", extension: "c", before: &["200"], amounts: [14_000, 42_000] },
    Workload { name: "sizes", extension: "c", before: &[], amounts: [40_000, 70_000] },
    Workload { name: "cpp", extension: "cpp", before: &[], amounts: [2000, 4000] },
    Workload { name: "realloc", extension: "c", before: &[], amounts: [20_000, 50_000] },
];

/// Why there is no count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable(pub String);

impl Workload {
    /// Instructions inside the library for each unit of the workload's amount.
    ///
    /// # Errors
    /// Where the machine has no callgrind, or one that cannot run the workload.
    ///
    /// # Panics
    /// When callgrind's file is not what it should be.
    pub fn count(self) -> Result<f64, Unavailable> {
        if Command::new("valgrind").arg("--version").output().is_err() {
            return Err(Unavailable("valgrind is not installed".to_owned()));
        }
        let source = format!("../../bench/workloads/{}.{}", self.name, self.extension);
        if let Some(compiler) = missing_compiler(&source) {
            return Err(Unavailable(format!("there is no {compiler}")));
        }
        let flags = ["-O2", "-g"].map(str::to_owned).to_vec();
        let step = Step { source, output: self.name.to_owned(), flags, inputs: Vec::new() };
        let folder = compile(&[step]);
        let [few, many] = self.amounts;
        let more = self.run(&folder, many)?.checked_sub(self.run(&folder, few)?);
        let more = more.unwrap_or_else(|| panic!("{}: more work took fewer instructions", self.name));
        #[expect(clippy::cast_precision_loss, reason = "a few millions")]
        Ok(more as f64 / (many - few) as f64)
    }

    /// Instructions inside the library in a run of this amount.
    fn run(self, program: &Path, amount: u64) -> Result<u64, Unavailable> {
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new("valgrind");
        command.current_dir(scratch.path()).env_clear().env("LC_ALL", "C");
        command.env("LD_PRELOAD", &Tools::get().library).env("MPROF_DATA", scratch.path().join("data"));
        command.envs(env::var_os("PATH").map(|path| ("PATH", path)));
        command.args(["--tool=callgrind", "--callgrind-out-file=callgrind.out"]);
        command.arg(format!("--toggle-collect={WRITING}")).arg("--collect-atstart=yes");
        command.arg(program.join(self.name)).args(self.before).arg(amount.to_string()).stdin(Stdio::null());
        let output: Output =
            run(&mut command, scratch.path(), "valgrind", TIME_LIMIT).expect("valgrind runs");
        if output.status != Status::Exited(0) {
            let last = output.stderr.lines().last().unwrap_or_default();
            return Err(Unavailable(format!("valgrind cannot run {}: {last}", self.name)));
        }
        let text = fs::read(scratch.path().join("callgrind.out")).expect("callgrind has written its file");
        let library = Tools::get().library.file_name().unwrap_or_default().to_string_lossy();
        let instructions = instructions_in(&String::from_utf8_lossy(&text), &library);
        assert!(instructions > 0, "{}: callgrind saw nothing of {library}", self.name);
        Ok(instructions)
    }
}

/// The file that the counts are kept in.
pub fn counts_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/instructions.txt")
}

/// The instructions executed in the object with this file name, by callgrind's file format (Valgrind manual, chapter
/// "Callgrind Format Specification"): lines of costs belong to the last object named, but for the line after `calls=`,
/// which has what the called function cost.
fn instructions_in(text: &str, object: &str) -> u64 {
    let mut sum = 0;
    // Objects are named once, `(1) /path`, and called by number afterwards.
    let mut number_of_object = None;
    let (mut inside, mut called) = (false, false);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("ob=").or_else(|| line.strip_prefix("cob=")) {
            let (number, path) = name.split_once(' ').unwrap_or((name, ""));
            if path.rsplit('/').next() == Some(object) {
                number_of_object = Some(number.to_owned());
            }
            if line.starts_with("ob=") {
                inside = number_of_object.as_deref() == Some(number);
            }
        } else if line.starts_with("calls=") {
            called = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '*')) {
            if inside && !called {
                sum += line.split(' ').nth(1).and_then(|cost| cost.parse::<u64>().ok()).unwrap_or(0);
            }
            called = false;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_of_other_objects_and_of_called_functions_are_left_out() {
        let text = "version: 1\nevents: Ir\n\nob=(1) /bin/program\nfn=(1) main\n16 100\ncob=(2) /x/libmprof.so\n\
                    cfn=(2) malloc\ncalls=4 20\n16 9999\n+1 7\nob=(2)\nfn=(2)\n20 30\n* 5\ncob=(3) /lib/libc.so.6\n\
                    cfn=(3) malloc\ncalls=1 1\n+3 8888\n+1 1\n\nob=(3)\nfn=(3)\n1 4\ntotals: 147\n";
        assert_eq!(instructions_in(text, "libmprof.so"), 36);
        assert_eq!(instructions_in(text, "program"), 107);
        assert_eq!(instructions_in(text, "libc.so.6"), 4);
    }
}
