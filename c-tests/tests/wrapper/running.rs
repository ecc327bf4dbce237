//! Running a program: nothing of it changes, and what it left is told.

use crate::scratch::{Scratch, done, source};
use c_tests::{Tools, executable};
use std::fs;

#[test]
fn a_run_ends_with_a_summary() {
    let scratch = Scratch::widgets();
    let run = scratch.mprof("./widgets");
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    assert_eq!(
        run.stderr.replace(source("widgets.c").to_str().expect("text"), "widgets.c"),
        "mprof: allocated 10000 objects, 2040000 bytes; kept 5019 objects, 1023876 bytes\n\
         \x20 leaks:    1023876 bytes, 5019 objects  || > main > make_red_widget > make_widget at widgets.c:32\n\
         \x20 profile:  mprof.data\n\
         \x20 next:     mprof show                          all tables\n\
         \x20           mprof show --tables leaks --lines   leaks, with source lines\n"
    );
    assert_eq!(scratch.data_files(), ["mprof.data"]);
}

#[test]
fn quiet_says_nothing() {
    let scratch = Scratch::widgets();
    let run = scratch.mprof("-q ./widgets");
    assert_eq!((run.status, run.stdout + &run.stderr), (0, String::new()));
    assert_eq!(scratch.data_files(), ["mprof.data"]);
}

#[test]
fn output_status_and_name_are_the_programs_own() {
    let scratch = Scratch::new();
    scratch.c(
        "speak",
        "#include <stdio.h>\n#include <stdlib.h>\nint main(int c, char **v) { for (int i = 0; i < c; i++) puts(v[i]);\n\
         fputs(\"oops\\n\", stderr); return atoi(v[1]); }\n",
    );
    let run = scratch.mprof("-q ./speak 7 -o --fail-on-leak");
    assert_eq!(run.stdout, "./speak\n7\n-o\n--fail-on-leak\n");
    assert_eq!((run.stderr.as_str(), run.status), ("oops\n", 7));
    assert_eq!(scratch.mprof("-q -- ./speak 255").status, 255);
}

#[test]
fn the_library_comes_before_what_is_preloaded_already() {
    let scratch = Scratch::new();
    scratch.c(
        "show",
        "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(getenv(\"LD_PRELOAD\")); return 0; }\n",
    );
    let mut command = scratch.command(&Tools::get().mprof);
    command.args(["-q", "--", "./show"]).env("LD_PRELOAD", "libm.so.6 libdl.so.2");
    let run = done(command.output().expect("it runs"));
    assert_eq!(run.stdout, format!("{}:libm.so.6:libdl.so.2\n", Tools::get().library.display()));
    assert_eq!(run.stderr, "");
}

#[test]
fn a_library_with_a_blank_in_its_path_is_loaded() {
    let scratch = Scratch::widgets();
    fs::create_dir(scratch.file("my tools")).expect("made");
    fs::copy(&Tools::get().library, scratch.file("my tools/libmprof.so")).expect("copied");
    let mut command = scratch.command(&Tools::get().mprof);
    command.arg("./widgets").env("MPROF_LIB", scratch.file("my tools"));
    let run = done(command.output().expect("it runs"));
    assert!(run.stderr.starts_with("mprof: allocated 10000 objects, 2040000 bytes;"), "{}", run.stderr);
}

#[test]
fn the_library_is_found_where_it_is_installed() {
    for folder in ["lib", "lib/mprof", "lib64", "lib/x86_64-linux-gnu", "bin"] {
        let scratch = Scratch::widgets();
        fs::create_dir_all(scratch.file("usr/bin")).expect("made");
        fs::create_dir_all(scratch.file("usr").join(folder)).expect("made");
        executable::copy(&Tools::get().mprof, &scratch.file("usr/bin/mprof"));
        fs::copy(&Tools::get().library, scratch.file("usr").join(folder).join("libmprof.so"))
            .expect("copied");
        let mut command = scratch.command(scratch.file("usr/bin/mprof"));
        let run = done(command.arg("./widgets").env_remove("MPROF_LIB").output().expect("it runs"));
        assert!(run.stderr.contains("kept 5019 objects"), "{folder}: {}", run.stderr);
    }
}

#[test]
fn without_a_library_nothing_runs() {
    let scratch = Scratch::new();
    scratch.script("touch.sh", "#!/bin/sh\ntouch ran\n");
    executable::copy(&Tools::get().mprof, &scratch.file("mprof"));
    let mut command = scratch.command(scratch.file("mprof"));
    let run = done(command.arg("./touch.sh").env_remove("MPROF_LIB").output().expect("it runs"));
    assert_eq!(run.status, 2);
    assert!(run.stderr.starts_with("mprof: libmprof.so is neither in "), "{}", run.stderr);
    let mut command = scratch.command(scratch.file("mprof"));
    let run = done(command.arg("./touch.sh").env("MPROF_LIB", "/no/such.so").output().expect("it runs"));
    assert_eq!(run.status, 2);
    assert_eq!(run.stderr, "mprof: /no/such.so: no such file or directory (named by MPROF_LIB)\n");
    assert!(!scratch.file("ran").exists());
}

#[test]
fn the_profile_goes_where_it_is_sent() {
    let scratch = Scratch::widgets();
    let run = scratch.mprof("-o other.data ./widgets");
    assert!(run.stderr.contains("\n  profile:  other.data\n"), "{}", run.stderr);
    assert!(run.stderr.contains("mprof show other.data "), "{}", run.stderr);
    let run = scratch.mprof("-o %n-%p.data ./widgets");
    let name = scratch.data_files().remove(1);
    assert!(name.starts_with("widgets-"), "{name}");
    assert!(run.stderr.contains(&format!("\n  profile:  {name}\n")), "{}", run.stderr);
    let run = scratch.mprof("-o no/such/folder.data ./widgets");
    assert_eq!(run.status, 2);
    assert_eq!(run.stderr, "mprof: no/such: there is no such folder for the profile\n");
}

#[test]
fn children_and_their_files_are_told() {
    let scratch = Scratch::widgets();
    scratch.script("twice.sh", "#!/bin/sh\n./widgets\n./widgets\nexit 4\n");
    let run = scratch.mprof("./twice.sh");
    assert_eq!(run.status, 4);
    assert!(run.stderr.contains(" by 3 processes; kept "), "{}", run.stderr);
    // Where the shell has symbols, there are two functions `main` to be told apart.
    let text = run.stderr.replace("main (widgets.c)", "main");
    let leak = "2047752 bytes, 10038 objects  || > main > make_red_widget > make_widget at ";
    assert!(text.contains(leak), "{text}");
    let files = scratch.data_files();
    assert_eq!(files.len(), 3);
    assert!(run.stderr.contains(&format!("\n  children: {}, {}\n", files[1], files[2])), "{}", run.stderr);
    assert!(run.stderr.contains("mprof show mprof.data* "), "{}", run.stderr);
    // Those of earlier runs are not counted, and the pattern would mean them too.
    let run = scratch.mprof("./widgets");
    assert!(run.stderr.contains("allocated 10000 objects, 2040000 bytes; kept"), "{}", run.stderr);
    assert!(!run.stderr.contains("children"), "{}", run.stderr);
    let run = scratch.mprof("./twice.sh");
    assert!(!run.stderr.contains('*'), "{}", run.stderr);
}

#[test]
fn scripts_are_run_by_their_interpreter_or_the_shell() {
    let scratch = Scratch::new();
    scratch.script("named.sh", "#!/usr/bin/env sh\necho $0 $1\n");
    scratch.script("unnamed.sh", "echo $0 $1\n");
    assert_eq!(scratch.mprof("-q ./named.sh a").stdout, "./named.sh a\n");
    let run = scratch.mprof("-q ./unnamed.sh a");
    assert_eq!((run.stdout.as_str(), run.status), ("./unnamed.sh a\n", 0));
}

#[test]
fn what_cannot_be_run_gets_the_shells_status() {
    let scratch = Scratch::new();
    scratch.write("text", "hello\n");
    scratch.script("lost.sh", "#!/no/such/interpreter\n");
    let told = |words: &str| {
        let run = scratch.mprof(words);
        (run.status, run.stderr)
    };
    assert_eq!(told("no-such-command"), (127, "mprof: no-such-command: command not found\n".into()));
    assert_eq!(told("./missing"), (127, "mprof: ./missing: no such file or directory\n".into()));
    let message = "mprof: ./text: permission denied (chmod +x makes it a program)\n";
    assert_eq!(told("./text"), (126, message.into()));
    assert_eq!(told("./"), (126, "mprof: ./: is a folder\n".into()));
    assert_eq!(told("./lost.sh"), (127, "mprof: ./lost.sh: no such file or directory\n".into()));
    assert_eq!(told("").0, 2);
    assert_eq!(scratch.data_files(), [""; 0]);
}

/// The names are in the file, so that it can still be read when the program has changed.
#[test]
fn names_outlive_the_program() {
    let scratch = Scratch::widgets();
    scratch.mprof("-q -o named.data ./widgets");
    scratch.mprof("-q --raw -o raw.data ./widgets");
    let before = scratch.mpdisplay("raw.data").stdout;
    fs::remove_file(scratch.file("widgets")).expect("removed");
    let tables = |text: &str| text.split_once("Memory leaks").expect("a report").1.to_owned();
    let after = scratch.mprof("show named.data");
    assert_eq!((after.stderr.as_str(), tables(&after.stdout)), ("", tables(&before)));
    let raw = scratch.mprof("show raw.data");
    assert!(raw.stderr.contains("widgets is gone"), "{}", raw.stderr);
}

#[test]
fn show_is_mpdisplay() {
    let scratch = Scratch::widgets();
    scratch.mprof("-q ./widgets");
    let shown = scratch.mprof("show --tables leaks --depth 1");
    assert_eq!(shown.status, 0);
    assert_eq!(shown.stdout, scratch.mpdisplay("--tables leaks --depth 1").stdout);
    assert!(shown.stdout.contains("... > make_widget\n"), "{}", shown.stdout);
    let help = scratch.mprof("show --help");
    assert!(help.stdout.contains("--fail-on-leak"), "{}", help.stdout);
    fs::remove_file(scratch.file("mprof.data")).expect("removed");
    assert_eq!(scratch.mprof("show").status, 2);
    // A program of that name is run all the same, as another word.
    scratch.script("show", "#!/bin/sh\nexit 9\n");
    assert_eq!(scratch.mprof("-q -- ./show").status, 9);
}
