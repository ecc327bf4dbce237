//! The forms in which profiles are taken away, each as the command writes it, read by a program that people use for
//! it, where there is one on the machine.

mod browser;
mod callgrind;
mod csv;
mod dot;
mod folded;
mod html;
mod json;
mod lisp;
mod massif;
mod options;
mod pprof;

use crate::builder::ProfileBuilder;
use mprof_format::model::Profile;
use mprof_format::write_profile;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with a profile.
struct Recorded {
    folder: TempDir,
}

impl Recorded {
    fn new(profile: &Profile) -> Recorded {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bytes = Vec::new();
        write_profile(profile, &mut bytes).expect("a vector takes everything");
        fs::write(folder.path().join("mprof.data"), bytes).expect("the profile is written");
        Recorded { folder }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mpdisplay"));
        command.args(arguments).arg("mprof.data").current_dir(self.folder.path());
        command.output().expect("mpdisplay runs")
    }

    /// What the command writes; it must have nothing to say.
    fn bytes(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.run(arguments);
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), messages.as_str()), (Some(0), ""), "{arguments:?}");
        output.stdout
    }

    fn text(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.bytes(arguments)).expect("text")
    }

    /// The path of a file with what the command writes.
    fn file(&self, arguments: &[&str], name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, self.bytes(arguments)).expect("the file is written");
        path
    }
}

/// What a consumer prints; `None`, with a note, where it is not on the machine.
fn consume(program: &str, arguments: &[&str], recorded: &Recorded) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(recorded.folder.path());
    command.env("HOME", recorded.folder.path()).env("GOFLAGS", "").env("GOTELEMETRY", "off");
    let output = match command.output() {
        Ok(output) => output,
        Err(_) => {
            // Past the test runner's capture: nothing is skipped silently.
            let _ = writeln!(std::io::stderr(), "SKIPPED: {program} is not installed");
            return None;
        }
    };
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The paper's program: of 10000 widgets 5019 are kept.
fn widgets() -> Profile {
    ProfileBuilder::new("widgets")
        .allocate("main@35 > make_red_widget@25 > make_widget+26@17", 204, 5019, 0)
        .allocate("main@33 > make_blue_widget@21 > make_widget+26@17", 204, 4981, 4981)
        .user_type(204, "widget", false)
        .build()
}

/// Functions that call themselves and each other, and one that is inlined.
fn recursive() -> Profile {
    ProfileBuilder::new("recursive")
        .allocate("main@1 > F@2 > G@3 > F@2 > G@3", 10, 1, 0)
        .allocate("main@1 > walk@5 > walk@5 > walk@5", 100, 3, 1)
        .allocate("main@1 > outer@40/inner@12 > leaf@7", 1000, 2, 2)
        .build()
}

/// Names that would break each of the forms if they were not escaped for it.
const HOSTILE: [&str; 12] = [
    "</script><script>hacked = 1</script>",
    "<img src=x onerror=hacked=1>",
    "\"quoted\" 'twice' \\ back\\",
    "semi;colon 12",
    "(3) 7",
    "comma, \"and\" so on",
    "# heading",
    "line\nbreak\rand\ttab \u{1b}[31m",
    "&amp; &lt;b&gt;",
    "\u{202e}desrever\u{202c} \u{fffe}",
    "=1+2",
    "]]> --> \u{0} ${x} `y` \\u0041 \\N",
];

/// A chain of functions with hostile names, each of which allocates as many bytes as its number from 1.
fn hostile() -> Profile {
    let mut builder = ProfileBuilder::new("hostile");
    let mut chain = String::from("main");
    for number in 0..HOSTILE.len() {
        chain += &format!(" > hostile_{number}");
        builder.add(&chain, number as u64 + 1, 1, 0);
    }
    let mut profile = builder.user_type(1, "</script><b>type", false).build();
    let names = profile.names.as_mut().expect("built with names");
    for function in &mut names.functions {
        let name = String::from_utf8_lossy(&function.name).into_owned();
        if let Some(number) = name.strip_prefix("hostile_") {
            let number: usize = number.parse().expect("a number");
            function.name = HOSTILE[number].as_bytes().to_vec();
        }
    }
    profile.process.arguments = HOSTILE.iter().map(|name| name.as_bytes().to_vec()).collect();
    profile
}

/// A chain of 20,000 functions that call one another in turn, of which the last ten allocate.
fn deep() -> Profile {
    const DEPTH: usize = 20_000;
    let mut builder = ProfileBuilder::new("deep");
    let mut chain = vec!["main".to_owned()];
    for level in 0..DEPTH {
        chain.push(format!("f{}", level % 7));
        if level >= DEPTH - 10 {
            builder.add(&chain.join(" > "), 100, 1, 0);
        }
    }
    builder.build()
}

/// A program that has not allocated anything.
fn idle() -> Profile {
    ProfileBuilder::new("idle").build()
}

const FORMATS: [&str; 9] =
    ["text", "json", "csv", "folded", "flamegraph", "pprof", "dot", "html", "callgrind"];
