//! The tools on files of programs that have changed, gone or never been whole.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use c_tests::{Program, Tools, bare_only, executable};

/// A program in a folder of its own, which the test may change, and the profile that it left there.
struct Recorded {
    folder: tempfile::TempDir,
}

impl Recorded {
    /// Runs a copy of the program; `None` where only the bare programs are looked at.
    fn new(program: &Program) -> Option<Recorded> {
        if bare_only() {
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let copy = folder.path().join("program");
        executable::copy(&program.build(), &copy);
        let mut command = Command::new(&copy);
        command.current_dir(folder.path()).env("LD_PRELOAD", &Tools::get().library);
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        Some(Recorded { folder })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn call(&self, tool: &Path, args: &[&str]) -> Output {
        Command::new(tool).current_dir(self.path()).args(args).output().expect("the tool runs")
    }

    /// What `mpdisplay` prints for a file.
    fn report(&self, file: &str) -> String {
        let output = self.call(&Tools::get().mpdisplay, &[file]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("reports are text")
    }
}

/// `mpfilt -o` where the binaries are; the report anywhere.
#[test]
fn names_stay_where_the_binaries_are_gone() {
    let Some(run) = Recorded::new(&Program::c("widgets").flags("-O0")) else { return };
    let before = run.report("mprof.data");
    let filtered = run.call(&Tools::get().mpfilt, &["-o", "named.data", "mprof.data"]);
    assert!(filtered.status.success(), "{filtered:?}");
    fs::remove_file(run.path().join("program")).expect("it can be removed");
    assert_eq!(run.report("named.data"), before);
}

/// Without its binary the program's numbers stay and its functions are addresses.
#[test]
fn a_binary_that_is_gone_is_no_failure() {
    let Some(run) = Recorded::new(&Program::c("widgets").flags("-O0")) else { return };
    fs::remove_file(run.path().join("program")).expect("it can be removed");
    let report = run.report("mprof.data");
    assert!(report.contains("1023876"), "{report}");
    assert!(report.contains("program+0x"), "{report}");
    assert!(!report.contains("make_widget"), "{report}");
}

/// Another binary at the same place is not asked for names, and a warning says so.
#[test]
fn a_binary_that_has_changed_is_noticed() {
    let Some(run) = Recorded::new(&Program::c("widgets").flags("-O0")) else { return };
    fs::copy(Program::c("figure6").build(), run.path().join("program")).expect("it can be replaced");
    let output = run.call(&Tools::get().mpdisplay, &["mprof.data"]);
    let [report, warnings] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{report}{warnings}");
    assert!(report.contains("program+0x"), "{report}");
    assert!(!report.contains("foo") && !report.contains("make_widget"), "{report}");
    assert!(warnings.contains("build-id"), "{warnings:?}");
}

/// A file that was cut off gives what came before, says so, and the status is 2, whatever its length.
#[test]
fn a_file_that_was_cut_off_gives_status_2() {
    let Some(run) = Recorded::new(&Program::c("figure6").flags("-O0")) else { return };
    let whole = fs::read(run.path().join("mprof.data")).expect("the profile");
    for length in (0..whole.len()).step_by(7) {
        fs::write(run.path().join("cut.data"), &whole[..length]).expect("the folder can be written");
        let output = run.call(&Tools::get().mpdisplay, &["cut.data"]);
        let warnings = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{length} bytes: {warnings}");
        assert!(warnings.contains("cut.data"), "{length} bytes: {warnings:?}");
    }
}

/// Two runs of one program sum up.
#[test]
fn several_files_are_summed() {
    let Some(run) = Recorded::new(&Program::c("figure6").flags("-O0")) else { return };
    let output = run.call(&Tools::get().mpdisplay, &["mprof.data", "mprof.data"]);
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    let total = report.lines().find(|line| line.contains("<TOTAL>")).expect("the bins' total");
    let numbers: Vec<&str> = total.split_whitespace().collect();
    assert_eq!(numbers, ["<TOTAL>", "4", "68", "0", "68"]);
}
