//! The command `mpfilt`.

mod support;

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use mprof_format::model::{Category, Context, Counter, Frame, Profile};
use support::{Recording, Workshop, has_tool};

/// A program like the paper's example of callers and callees, and a profile of it: 24 bytes in `foo`, 10 below it
/// in `bar`, and 7 in `otherbar`.
fn recorded() -> Workshop {
    let workshop = Workshop::new();
    workshop.write(
        "a.c",
        "#include <stdlib.h>\nvoid *v;\nvoid bar(void) { v = malloc(10); }\nvoid foo(void) { v = malloc(24); bar(); }\nvoid otherbar(void) { v = malloc(7); }\nint main(void) { foo(); otherbar(); return 0; }\n",
    );
    workshop.run("gcc -O0 -g a.c -o a");
    let mut profile = Recording::of(&workshop.file("a")).profile;
    let mut add = |parent, caller: &str, callee: &str| {
        let address = workshop.call("a", caller, callee);
        let frame = Frame::Code { module: 0, address, interrupted: false };
        profile.contexts.push(Context { parent: Some(parent), frame });
        profile.contexts.len() as u32 - 1
    };
    let main_foo = add(0, "main", "foo");
    let in_foo = add(main_foo, "foo", "malloc");
    let foo_bar = add(main_foo, "foo", "bar");
    let bar = add(foo_bar, "bar", "malloc");
    let main_otherbar = add(0, "main", "otherbar");
    let otherbar = add(main_otherbar, "otherbar", "malloc");
    for (context, bytes) in [(in_foo, 24), (bar, 10), (otherbar, 7)] {
        let category = Category::of_size(bytes);
        profile.counters.push(Counter { context, category, allocs: 1, bytes, frees: 0, freed_bytes: 0 });
    }
    write(&profile, &workshop.file("mprof.data"));
    workshop
}

fn write(profile: &Profile, path: &Path) {
    let mut bytes = Vec::new();
    mprof_format::write_profile(profile, &mut bytes).expect("a valid profile");
    fs::write(path, bytes).expect("write");
}

fn mpfilt(workshop: &Workshop, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpfilt"));
    command.args(arguments).current_dir(workshop.path()).output().expect("mpfilt")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn named(bytes: &[u8]) -> Profile {
    let loaded = mprof_format::read(bytes).expect("a profile");
    assert!(loaded.profile.names.as_ref().is_some_and(|names| !names.sites.is_empty()));
    loaded.profile
}

#[test]
fn text_shows_the_relations() {
    let workshop = recorded();
    let output = mpfilt(&workshop, &["--text"]);
    assert_eq!(stderr(&output), "");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "Caller -> callee\n\n\
         34 bytes  2 allocs  main -> foo\n\
         10 bytes  1 allocs  foo -> bar\n \
          7 bytes  1 allocs  main -> otherbar\n\n\
         Direct allocation\n\n\
         24 bytes  1 allocs  foo\n\
         10 bytes  1 allocs  bar\n \
          7 bytes  1 allocs  otherbar\n"
    );
}

#[test]
fn the_named_profile_goes_to_a_pipe_or_a_file() {
    let workshop = recorded();
    let piped = mpfilt(&workshop, &["mprof.data"]);
    assert_eq!((piped.status.code(), stderr(&piped)), (Some(0), String::new()));
    let profile = named(&piped.stdout);
    let filed = mpfilt(&workshop, &["-o", "named.data"]);
    assert_eq!((filed.status.code(), filed.stdout.len()), (Some(0), 0));
    assert_eq!(fs::read(workshop.file("named.data")).expect("written"), piped.stdout);
    // The input may be the output, and be read from standard input.
    let line = format!("{} -o mprof.data mprof.data && cat mprof.data", env!("CARGO_BIN_EXE_mpfilt"));
    workshop.run(&format!("{line} | cmp - named.data"));
    workshop.run(&format!("{} - < named.data 2>/dev/null | cmp - named.data", env!("CARGO_BIN_EXE_mpfilt")));
    assert_eq!(profile.contexts.len(), 7);
    // Nothing is left beside it.
    let mut left: Vec<_> =
        fs::read_dir(workshop.path()).expect("folder").flatten().map(|of| of.file_name()).collect();
    left.sort();
    assert_eq!(left, ["a", "a.c", "mprof.data", "named.data"]);
}

#[test]
fn a_new_file_has_the_usual_permissions() {
    let workshop = recorded();
    workshop.run(&format!("umask 027; {} -o named.data", env!("CARGO_BIN_EXE_mpfilt")));
    assert_eq!(workshop.run("stat -c %a named.data"), "640\n");
}

#[test]
fn what_is_no_file_is_written_to_not_replaced() {
    let workshop = recorded();
    workshop.run("mkfifo pipe");
    workshop.run(&format!("cat pipe > copy & {} -o pipe; wait", env!("CARGO_BIN_EXE_mpfilt")));
    named(&fs::read(workshop.file("copy")).expect("copy"));
    workshop.run("test -p pipe");
}

#[test]
fn a_terminal_is_not_given_binary_data() {
    if !has_tool("script") {
        return;
    }
    let workshop = recorded();
    let line = format!(
        "SHELL=/bin/sh script -qec '{} mprof.data; echo status $?' /dev/null",
        env!("CARGO_BIN_EXE_mpfilt")
    );
    let shown = workshop.run(&line).replace('\r', "");
    assert_eq!(
        shown,
        "mpfilt: a profile is not for reading; try `mpfilt --text`, `mpfilt -o FILE`, or `mpfilt | mpdisplay`\n\
         status 2\n"
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let workshop = recorded();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpfilt"));
    command.current_dir(workshop.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("mpfilt");
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().expect("stderr").read_to_string(&mut said).expect("text");
    assert_eq!((child.wait().expect("end").code(), said), (Some(0), String::new()));
}

#[test]
fn names_are_not_looked_up_twice() {
    let workshop = recorded();
    mpfilt(&workshop, &["-o", "named.data"]);
    fs::remove_file(workshop.file("a")).expect("remove");
    let kept = mpfilt(&workshop, &["named.data"]);
    assert_eq!(kept.status.code(), Some(0));
    assert_eq!(stderr(&kept), "mpfilt: named.data: has its names already (--again looks them up anew)\n");
    named(&kept.stdout);
    let again = mpfilt(&workshop, &["--again", "named.data"]);
    assert_eq!(again.status.code(), Some(0));
    let path = workshop.file("a").display().to_string();
    assert!(stderr(&again).starts_with(&format!("mpfilt: a: {path} is gone; ")), "{}", stderr(&again));
}

#[test]
fn a_damaged_profile_gives_what_came_before() {
    let workshop = recorded();
    let whole = fs::read(workshop.file("mprof.data")).expect("profile");
    fs::write(workshop.file("cut.data"), &whole[..whole.len() - 9]).expect("write");
    let output = mpfilt(&workshop, &["-o", "named.data", "cut.data"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.starts_with("mpfilt: cut.data: damaged at byte "), "{said}");
    assert_eq!(said.lines().count(), 1);
    let profile = named(&fs::read(workshop.file("named.data")).expect("written"));
    assert!(profile.incomplete);
    // What was made of it is incomplete too.
    let output = mpfilt(&workshop, &["--text", "named.data"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stderr(&output), "mpfilt: named.data: made from a damaged file: its numbers are too small\n");
}

#[test]
fn what_cannot_be_read_or_written_is_one_line() {
    let workshop = recorded();
    let gone = mpfilt(&workshop, &["gone.data"]);
    assert_eq!(gone.status.code(), Some(2));
    assert_eq!(
        stderr(&gone),
        "mpfilt: gone.data: No such file or directory (os error 2); give the file that a program run under mprof wrote\n"
    );
    let other = mpfilt(&workshop, &["a"]);
    assert_eq!(other.status.code(), Some(2));
    assert_eq!(
        stderr(&other),
        "mpfilt: a: byte 0: not an mprof data file; give the file that a program run under mprof wrote\n"
    );
    let nowhere = mpfilt(&workshop, &["-o", "gone/named.data"]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(
        stderr(&nowhere).starts_with("mpfilt: gone/named.data: cannot be written: "),
        "{}",
        stderr(&nowhere)
    );
    let wrong = mpfilt(&workshop, &["--wrong"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn help_teaches_by_example() {
    let workshop = Workshop::new();
    let help = mpfilt(&workshop, &["--help"]);
    assert_eq!(help.status.code(), Some(0));
    let text = String::from_utf8_lossy(&help.stdout);
    assert!(text.contains("mpfilt mprof.data | mpdisplay"), "{text}");
    assert!(text.contains("Exit status: 0; 2 for"), "{text}");
}
