//! The command: where profiles come from, what is said about bad ones, exit statuses.

use crate::builder::ProfileBuilder;
use mprof_format::model::Profile;
use mprof_format::write_profile;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// What a run printed and how it ended.
struct Ran {
    out: String,
    err: String,
    status: Option<i32>,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Ran { out: text(output.stdout), err: text(output.stderr), status: output.status.code() }
    }
}

fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpdisplay"));
    command.args(arguments).current_dir(folder.path()).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(folder: &TempDir, arguments: &[&str]) -> Ran {
    command(folder, arguments).output().expect("mpdisplay runs").into()
}

/// Runs with something piped into standard input.
fn run_piped(folder: &TempDir, arguments: &[&str], input: &[u8]) -> Ran {
    let mut child = command(folder, arguments).stdin(Stdio::piped()).spawn().expect("mpdisplay starts");
    // A run that reads a file instead may have ended already.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("mpdisplay ends").into()
}

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

pub(crate) fn bytes(profile: &Profile) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_profile(profile, &mut bytes).expect("a vector takes everything");
    bytes
}

fn program(name: &str) -> Profile {
    ProfileBuilder::new(name).allocate(&format!("main > {name}_keep"), 1311, 4, 0).build()
}

pub(crate) fn put(folder: &TempDir, name: &str, contents: &[u8]) {
    fs::write(folder.path().join(name), contents).expect("the file is written");
}

const KEPT: &str = "       4      5244 (99)    || > main > ";

#[test]
fn without_arguments_the_default_file_is_shown() {
    let folder = folder();
    put(&folder, "mprof.data", &bytes(&program("first")));
    let ran = run(&folder, &[]);
    assert_eq!((ran.err.as_str(), ran.status), ("", Some(0)));
    assert!(ran.out.contains(&format!("{KEPT}first_keep\n")), "{}", ran.out);
    let headings =
        ["\nMemory leaks\n", "\nAllocation bins\n", "\nDirect allocation\n", "\nAllocation call graph\n"];
    let places: Vec<_> = headings.iter().map(|heading| ran.out.find(heading)).collect();
    assert!(places.is_sorted() && places[0].is_some(), "{places:?}");
}

#[test]
fn two_runs_print_the_same() {
    let folder = folder();
    put(&folder, "mprof.data", &bytes(&program("first")));
    assert_eq!(run(&folder, &["-v"]).out, run(&folder, &["-v"]).out);
}

#[test]
fn a_named_file_wins_over_a_pipe_and_a_pipe_over_the_default_file() {
    let folder = folder();
    put(&folder, "mprof.data", &bytes(&program("default")));
    put(&folder, "named", &bytes(&program("named")));
    let piped = bytes(&program("piped"));
    assert!(run_piped(&folder, &["named"], &piped).out.contains("named_keep"));
    assert!(run_piped(&folder, &[], &piped).out.contains("piped_keep"));
    assert!(run_piped(&folder, &["-"], &piped).out.contains("piped_keep"));
    assert!(run_piped(&folder, &[], b"").out.contains("default_keep"), "an empty pipe is nothing");
    let file = File::open(folder.path().join("named")).expect("the file");
    let ran: Ran = command(&folder, &[]).stdin(file).output().expect("mpdisplay runs").into();
    assert!(ran.out.contains("named_keep"), "a file before standard input");
    let both = run_piped(&folder, &["-", "named"], &piped);
    assert!(both.out.contains("piped_keep") && both.out.contains("named_keep"));
}

#[test]
fn a_missing_file_is_named_with_those_that_are_there() {
    let folder = folder();
    let ran = run(&folder, &[]);
    assert_eq!((ran.out.as_str(), ran.status), ("", Some(2)));
    assert!(ran.err.starts_with("mpdisplay: mprof.data: No such file or directory"), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1);
    put(&folder, "mprof.data.41", b"");
    put(&folder, "mprof.data.42\x1b", b"");
    let ran = run(&folder, &["mprof.data"]);
    assert!(ran.err.ends_with("; there is mprof.data.41, mprof.data.42\\u{1b}\n"), "{}", ran.err);
    assert_eq!(ran.status, Some(2));
}

#[test]
fn other_files_and_folders_are_refused_in_one_line() {
    let folder = folder();
    put(&folder, "text", b"this is no profile");
    for file in ["text", "."] {
        let ran = run(&folder, &[file]);
        assert_eq!((ran.out.as_str(), ran.status, ran.err.lines().count()), ("", Some(2), 1), "{}", ran.err);
        assert!(ran.err.starts_with(&format!("mpdisplay: {file}: ")), "{}", ran.err);
    }
}

#[test]
fn of_a_damaged_file_what_could_be_read_is_shown() {
    let folder = folder();
    let whole = bytes(&program("cut"));
    put(&folder, "cut", &whole[..whole.len() - 5]);
    let ran = run(&folder, &["cut"]);
    assert!(ran.out.contains(&format!("{KEPT}cut_keep\n")), "{}", ran.out);
    assert!(ran.out.contains("\nNote:      part of the file was lost; the numbers are too small\n"));
    assert_eq!((ran.status, ran.err.lines().count()), (Some(2), 1), "{}", ran.err);
    assert!(ran.err.starts_with("mpdisplay: cut: damaged at byte "), "{}", ran.err);
}

/// Whatever is cut off or changed: one line or a report, never a panic or a hang.
#[test]
fn no_damage_breaks_the_command() {
    let folder = folder();
    let whole = bytes(&program("cut"));
    for length in (1..whole.len()).step_by(7) {
        put(&folder, "cut", &whole[..length]);
        let ran = run(&folder, &["cut"]);
        assert_eq!(ran.status, Some(2), "{length}");
        let last = ran.err.lines().last().unwrap_or_default();
        assert!(last.starts_with("mpdisplay: cut: ") && last.contains("byte"), "{length}: {}", ran.err);
    }
    for place in (0..whole.len()).step_by(11) {
        let mut changed = whole.clone();
        changed[place] ^= 0x10;
        put(&folder, "changed", &changed);
        assert_eq!(run(&folder, &["changed"]).status, Some(2), "byte {place}");
    }
}

#[test]
fn several_files_are_summed() {
    let folder = folder();
    for name in ["a", "b", "c"] {
        put(&folder, name, &bytes(&program("same")));
    }
    let ran = run(&folder, &["a", "b", "c", "--tables", "leaks"]);
    assert!(ran.out.starts_with("Sum of 3 profiles\n"), "{}", ran.out);
    assert!(ran.out.contains("      12     15732 (99)    || > main > same_keep\n"), "{}", ran.out);
}

#[test]
fn tables_are_chosen() {
    let folder = folder();
    put(&folder, "mprof.data", &bytes(&program("first")));
    let ran = run(&folder, &["--tables", "bins,direct"]);
    let has = |ran: &Ran, heading: &str| ran.out.lines().any(|line| line == heading);
    assert!(has(&ran, "Allocation bins") && has(&ran, "Direct allocation"));
    assert!(!has(&ran, "Memory leaks") && !has(&ran, "Allocation call graph"));
    let ran = run(&folder, &["--no-leaks"]);
    assert!(!has(&ran, "Memory leaks") && has(&ran, "Allocation call graph"));
}

#[test]
fn wrong_usage_is_status_2() {
    let folder = folder();
    for arguments in [["--depth", "0"], ["--tables", "leeks"], ["--limit", "many"], ["--terse", "--verbose"]]
    {
        let ran = run(&folder, &arguments);
        assert_eq!((ran.out.as_str(), ran.status), ("", Some(2)), "{arguments:?}");
    }
    assert_eq!(run(&folder, &["--help"]).status, Some(0));
}

/// `mpdisplay | head -1`, of a report longer than a pipe holds.
#[test]
fn a_closed_pipe_is_success_without_a_message() {
    let folder = folder();
    let mut builder = ProfileBuilder::new("long");
    for number in 0..5000 {
        builder.add(&format!("main > function_{number}"), 1000, 1, 0);
    }
    put(&folder, "mprof.data", &bytes(&builder.build()));
    let mut child = command(&folder, &["--verbose"]).spawn().expect("mpdisplay starts");
    let mut first = [0; 7];
    child.stdout.take().expect("a pipe").read_exact(&mut first).expect("some output");
    assert_eq!(&first, b"Program");
    let ran: Ran = child.wait_with_output().expect("mpdisplay ends").into();
    assert_eq!((ran.err.as_str(), ran.status), ("", Some(0)));
}

#[test]
fn a_report_that_cannot_be_written_is_status_2() {
    let folder = folder();
    put(&folder, "mprof.data", &bytes(&program("first")));
    let full = || File::options().write(true).open(Path::new("/dev/full")).expect("/dev/full");
    let ran: Ran = command(&folder, &[]).stdout(full()).output().expect("mpdisplay runs").into();
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.starts_with("mpdisplay: cannot write the report: "), "{}", ran.err);
    let ran: Ran = command(&folder, &["none"]).stderr(full()).output().expect("mpdisplay runs").into();
    assert_eq!(ran.status, Some(2), "standard error that takes nothing is no reason to crash");
}

/// A profile that comes straight from a program: names are looked up, and where that fails, addresses stand.
#[test]
fn frames_without_names_stand_for_themselves() {
    let folder = folder();
    let profile = Profile { names: None, ..program("gone") };
    put(&folder, "mprof.data", &bytes(&profile));
    let ran = run(&folder, &["--tables", "leaks"]);
    assert_eq!(ran.status, Some(0));
    assert!(
        ran.out.contains(&format!("{}gone+0x1000 > gone+0x1010\n", KEPT.replace("main > ", ""))),
        "{}",
        ran.out
    );
    assert!(ran.err.starts_with("mpdisplay: gone: "), "{}", ran.err);
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let folder = folder();
    put(&folder, "good", &bytes(&program("good")));
    put(&folder, "text", b"this is no profile");
    let ran = run(&folder, &["text", "good", "gone", "--tables", "leaks"]);
    assert!(ran.out.contains(&format!("{KEPT}good_keep\n")), "{}", ran.out);
    assert_eq!(ran.status, Some(2));
    let errors: Vec<&str> = ran.err.lines().collect();
    assert_eq!(errors.len(), 2, "{}", ran.err);
    assert!(errors[0].starts_with("mpdisplay: text: ") && errors[1].starts_with("mpdisplay: gone: "));
    let ran = run(&folder, &["text", "gone"]);
    assert_eq!((ran.out.as_str(), ran.status, ran.err.lines().count()), ("", Some(2), 2), "{}", ran.err);
}

/// A program's threads: the initial one and two readers.
fn threaded() -> Vec<u8> {
    let profile = ProfileBuilder::new("threaded")
        .thread("reader", 4712, 1, "read_all")
        .thread("writer", 4713, 1, "write_all")
        .allocate("main", 100, 1, 0)
        .allocate("#1 > read_all", 10, 4, 0)
        .allocate("#2 > write_all", 20, 4, 4)
        .build();
    bytes(&profile)
}

#[test]
fn processes_and_threads_are_chosen_by_number() {
    let folder = folder();
    put(&folder, "threaded", &threaded());
    let other = ProfileBuilder::new("other").process(|process| process.pid = 99);
    put(&folder, "other", &bytes(&other.allocate("main", 8, 1, 0).build()));
    let allocated = |arguments: &[&str]| {
        let ran = run(&folder, arguments);
        assert_eq!((ran.err.as_str(), ran.status), ("", Some(0)));
        let line = ran.out.lines().find(|line| line.starts_with("Allocated: ")).expect("a total").to_owned();
        line["Allocated: ".len()..].to_owned()
    };
    let files = ["threaded", "other"];
    assert_eq!(allocated(&files), "10 objects, 228 bytes; kept: 6 objects, 148 bytes");
    assert_eq!(
        allocated(&["threaded", "other", "--pid", "99"]),
        "1 object, 8 bytes; kept: 1 object, 8 bytes"
    );
    assert_eq!(
        allocated(&["threaded", "other", "--tid", "4712", "--tid", "4713"]),
        "8 objects, 120 bytes; kept: 4 objects, 40 bytes"
    );
    let ran = run(&folder, &["threaded", "other", "--pid", "5"]);
    assert_eq!(ran.err, "mpdisplay: no process 5 in these profiles; there are 99, 4711\n");
    assert_eq!((ran.out.as_str(), ran.status), ("", Some(2)));
    let ran = run(&folder, &["threaded", "--tid", "1"]);
    assert!(ran.err.starts_with("mpdisplay: no thread 1 in these profiles; there are 4711, 4712, 4713 ("));
    assert_eq!(ran.status, Some(2));
    let ran = run(&folder, &["threaded", "other", "--by", "thread", "--tables", "leaks"]);
    assert!(ran.out.contains("\n=== thread 4711 reader, tid 4712, began in read_all ===\n"), "{}", ran.out);
    let ran = run(&folder, &["threaded", "other", "--by", "process", "--tables", "leaks", "--sort", "name"]);
    let place = |text: &str| ran.out.find(text).unwrap_or_else(|| panic!("{text} in {}", ran.out));
    assert!(place("=== process 4711 ./threaded ===") < place("=== process 99 ./other ==="));
}

#[test]
fn filters_can_be_given_more_than_once() {
    let folder = folder();
    let profile = ProfileBuilder::new("shop")
        .allocate("main > a > operator new", 10, 1, 0)
        .allocate("main > b", 20, 1, 0)
        .allocate("main > c > my_alloc", 40, 1, 0)
        .build();
    put(&folder, "mprof.data", &bytes(&profile));
    let leaks = |arguments: &[&str]| {
        let ran = run(&folder, &[&["--tables", "leaks"], arguments].concat());
        assert_eq!((ran.err.as_str(), ran.status), ("", Some(0)));
        let paths = ran.out.lines().filter_map(|line| line.split_once("|| > main > ")).map(|(_, path)| path);
        paths.map(str::to_owned).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(leaks(&[]), "c > my_alloc, b, a > operator new");
    assert_eq!(leaks(&["--focus", "a", "--focus", "b"]), "b, a > operator new");
    assert_eq!(leaks(&["--ignore", "a", "--ignore", "b"]), "c > my_alloc");
    assert_eq!(leaks(&["--show", "a", "--show", "b"]), "b, a > operator new");
    assert_eq!(leaks(&["--hide", "my_*", "--hide", "operator*"]), "c, b, a");
    assert_eq!(leaks(&["--skip-wrappers"]), "c > my_alloc, b, a");
    assert_eq!(leaks(&["--wrapper", "my_alloc"]), "c, b, a");
    assert_eq!(leaks(&["--limit", "1"]), "c > my_alloc");
    assert_eq!(leaks(&["--sort", "name"]), "a > operator new, b, c > my_alloc");
}

#[test]
fn a_run_is_compared_with_earlier_ones() {
    let folder = folder();
    let run_of = |pid: u32, size: u64| {
        let profile = ProfileBuilder::new("run").process(|process| process.pid = pid);
        bytes(&profile.allocate("main > keep", size, 2, 0).build())
    };
    put(&folder, "mprof.data", &run_of(3, 30));
    put(&folder, "one", &run_of(1, 10));
    put(&folder, "two", &run_of(2, 5));
    let row = |ran: Ran| {
        assert_eq!((ran.err.as_str(), ran.status), ("", Some(0)));
        ran.out.lines().find(|line| line.ends_with("> keep")).unwrap_or_default().to_owned()
    };
    let tables = ["--tables", "leaks", "--diff", "one"];
    assert_eq!(row(run(&folder, &tables)), "       0       +40         grown    || > main > keep");
    let both = [&tables[..], &["--diff", "two"]].concat();
    assert_eq!(row(run(&folder, &both)), "      -2       +30         grown    || > main > keep");
    let gone = run(&folder, &["--diff", "none"]);
    assert_eq!(gone.status, Some(2));
    assert!(gone.err.starts_with("mpdisplay: none: "), "{}", gone.err);
    let apart = run(&folder, &["--diff", "one", "--by", "process"]);
    assert_eq!((apart.out.as_str(), apart.status, apart.err.lines().count()), ("", Some(2), 1));
}

#[test]
fn sources_are_annotated() {
    let folder = folder();
    put(&folder, "a.c", b"int main(void) {\n\treturn make();\n}\n");
    let source = folder.path().to_str().expect("text").to_owned();
    let profile = ProfileBuilder::new("a").sources_in("/build/x").allocate("main{a.c}@2", 10, 3, 1).build();
    put(&folder, "mprof.data", &bytes(&profile));
    let ran = run(&folder, &["--annotate", "a.c", "--source-dir", &source]);
    assert_eq!((ran.err.as_str(), ran.status), ("", Some(0)));
    let line = "       3        30        20 * |    2          return make();\n";
    assert!(ran.out.contains(line), "{}", ran.out);
    let ran = run(&folder, &["--annotate", "--source-dir", &source]);
    assert!(ran.out.contains(line), "{}", ran.out);
    let ran = run(&folder, &["--annotate"]);
    assert!(ran.out.contains("\n  /build/x/a.c (3 objects, 30 bytes of its own)\n"), "{}", ran.out);
    let ran = run(&folder, &["--annotate", "b.c"]);
    assert_eq!(
        ran.err,
        "mpdisplay: no line of a source file b.c is on a call chain; there are lines of a.c\n"
    );
    assert_eq!((ran.out.as_str(), ran.status), ("", Some(2)));
}

/// What is misspelt is told, with what comes nearest; the report is written all the same.
#[test]
fn patterns_that_mean_nothing_are_told() {
    let folder = folder();
    let profile = ProfileBuilder::new("shop").allocate("main@10 > make_widget{shop.c}@17", 8, 1, 0).allocate(
        "main@12 > libc.so.6!strdup",
        8,
        1,
        0,
    );
    put(&folder, "mprof.data", &bytes(&profile.build()));
    let told = |option: &str, pattern: &str| {
        let ran = run(&folder, &["--tables", "direct", option, pattern]);
        assert_eq!(ran.status, Some(0));
        assert!(ran.out.starts_with("Program: "), "{}", ran.out);
        ran.err
    };
    let nothing = "nothing like that is on a call chain";
    assert_eq!(
        told("--focus", "make_wigdet"),
        format!("mpdisplay: --focus make_wigdet: {nothing}; there is make_widget\n")
    );
    assert_eq!(
        told("--show", "WIDGET"),
        format!("mpdisplay: --show WIDGET: {nothing}; there is make_widget\n")
    );
    assert_eq!(
        told("--ignore", "shop.c:16"),
        format!("mpdisplay: --ignore shop.c:16: {nothing}; there are shop.c:10, shop.c:12, shop.c:17\n")
    );
    assert_eq!(told("--hide", "shop.c"), format!("mpdisplay: --hide shop.c: {nothing}; there is shop.c:*\n"));
    assert_eq!(
        told("--focus", "libc.so.6"),
        format!("mpdisplay: --focus libc.so.6: {nothing}; there is module:libc.so.6\n")
    );
    assert_eq!(
        told("--wrapper", "module:libc.so"),
        format!("mpdisplay: --wrapper module:libc.so: {nothing}; there is module:libc.so.6\n")
    );
    assert_eq!(
        told("--focus", "zzz"),
        format!("mpdisplay: --focus zzz: {nothing}; try a part of the name between stars, '*NAME*'\n")
    );
    assert_eq!(told("--focus", "*widget"), "");
    let exported = run(&folder, &["--format", "folded", "--focus", "make_wigdet"]);
    assert!(exported.err.starts_with("mpdisplay: --focus make_wigdet: "), "{}", exported.err);
}

#[test]
fn a_profile_is_no_source_file() {
    let folder = folder();
    put(&folder, "x.data", &bytes(&program("first")));
    let ran = run(&folder, &["--annotate", "x.data"]);
    let wanted = "mpdisplay: --annotate x.data: this is a profile, not a source file: put it first, `x.data --annotate`\n";
    assert_eq!((ran.err.as_str(), ran.status), (wanted, Some(2)));
    let right = run(&folder, &["x.data", "--annotate"]);
    assert_eq!((right.err.as_str(), right.status), ("", Some(0)));
}
