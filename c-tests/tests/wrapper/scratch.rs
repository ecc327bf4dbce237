//! A folder with programs in it, in which the tools are called.

use c_tests::{Tools, executable, programs_folder, with_default_signals};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder that is removed at the end.
pub(crate) struct Scratch {
    folder: tempfile::TempDir,
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Exit status, or minus the signal.
    pub(crate) status: i32,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Scratch { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// The paper's program, as `widgets`.
    pub(crate) fn widgets() -> Self {
        let scratch = Scratch::new();
        scratch.compile(&["-O0", "-g", "-o", "widgets", source("widgets.c").to_str().expect("text")]);
        scratch
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.file(name), text).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A file that may be executed.
    pub(crate) fn script(&self, name: &str, text: &str) {
        executable::write(&self.file(name), text.as_bytes());
    }

    /// Builds `name` of this C source.
    pub(crate) fn c(&self, name: &str, text: &str) {
        self.write(&format!("{name}.c"), text);
        self.compile(&["-O0", "-g", "-o", name, &format!("{name}.c")]);
    }

    pub(crate) fn compile(&self, words: &[&str]) {
        let compiler = std::env::var("CC").unwrap_or_else(|_| "gcc".into());
        let output =
            Command::new(compiler).current_dir(self.path()).args(words).output().expect("a compiler");
        assert!(output.status.success(), "{output:?}");
    }

    /// `mprof` with these words, which are separated by blanks.
    pub(crate) fn mprof(&self, words: &str) -> Done {
        self.run(&Tools::get().mprof, words)
    }

    pub(crate) fn mpdisplay(&self, words: &str) -> Done {
        self.run(&Tools::get().mpdisplay, words)
    }

    fn run(&self, tool: &Path, words: &str) -> Done {
        done(self.command(tool).args(words.split_whitespace()).output().expect("the tool runs"))
    }

    /// A command in this folder, in an environment where nothing of ours is set but the library's path, and where no
    /// signal is ignored.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path()).stdin(Stdio::null());
        let ours = std::env::vars_os().map(|(name, _)| name);
        for variable in ours.filter(|name| name.as_encoded_bytes().starts_with(b"MPROF_")) {
            command.env_remove(variable);
        }
        command.env("MPROF_LIB", &Tools::get().library).env_remove("LD_PRELOAD");
        with_default_signals(&mut command);
        command
    }

    /// Names of the data files, sorted.
    pub(crate) fn data_files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).expect("readable").flatten();
        let names = entries.map(|entry| entry.file_name().into_string().expect("text"));
        let mut names: Vec<String> = names.filter(|name| name.contains(".data")).collect();
        names.sort();
        names
    }
}

/// A program of the other tests.
pub(crate) fn source(name: &str) -> PathBuf {
    programs_folder().join(name)
}

pub(crate) fn done(output: Output) -> Done {
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let status = output.status.code().or(output.status.signal().map(|signal| -signal));
    Done { stdout: text(output.stdout), stderr: text(output.stderr), status: status.expect("it has ended") }
}

/// Says that a test is skipped, past the runner's capture.
pub(crate) fn skipped(why: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
