//! The same programs under LeakSanitizer and memcheck: the same objects are lost. The table in `docs/LEAKS.md` shows the
//! result, and says why the tools differ where they do.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use c_tests::{Facts, Program};

/// Lost objects, the indirect ones among them, by function of the program.
type Lost = BTreeMap<String, u64>;

const FLAGS: &str = "-O0 -pthread";

fn program(name: &str, language: &str) -> Program {
    if language == "c" { Program::c(name) } else { Program::cpp(name) }
}

/// What the profile says of these functions.
fn by_mprof(facts: &Facts, functions: &[&str]) -> Lost {
    let lost = functions.iter().map(|&function| {
        let [lost, indirect, ..] = facts.classes(function);
        (function.to_owned(), lost + indirect)
    });
    lost.filter(|(_, count)| *count > 0).collect()
}

/// The first of the functions that a tool's stack of calls has.
fn blamed<'f>(calls: impl Iterator<Item = &'f str>, functions: &[&str]) -> Option<String> {
    let mut names = calls.map(|call| call.split('(').next().unwrap_or(call));
    names.find(|name| functions.contains(name)).map(str::to_owned)
}

/// What memcheck says. `None`, and a line on standard error, where there is no valgrind.
fn by_memcheck(executable: &Path, functions: &[&str]) -> Option<Lost> {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.xml");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["-q", "--leak-check=full", "--show-leak-kinds=all", "--run-libc-freeres=no", "--xml=yes"]);
    valgrind.arg(format!("--xml-file={}", report.display())).arg(executable);
    match valgrind.output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(_) => {
            eprintln!("SKIPPED: there is no valgrind");
            return None;
        }
    }
    let text = std::fs::read_to_string(&report).expect("valgrind's report");
    let mut lost = Lost::new();
    for error in text.split("<error>").skip(1) {
        let inside = |tag: &str| {
            let parts = error.split(&format!("<{tag}>")[..]).skip(1).collect::<Vec<_>>();
            let texts = parts.into_iter().map(move |part| part.split('<').next().unwrap_or_default());
            texts.collect::<Vec<_>>()
        };
        let kind = inside("kind").first().copied().unwrap_or_default();
        if !["Leak_DefinitelyLost", "Leak_IndirectlyLost"].contains(&kind) {
            continue;
        }
        let blocks: u64 = inside("leakedblocks")[0].parse().expect("a number");
        if let Some(function) = blamed(inside("fn").into_iter(), functions) {
            *lost.entry(function).or_default() += blocks;
        }
    }
    Some(lost)
}

/// What LeakSanitizer says. `None`, and a line on standard error, where the compiler has none or it cannot work here.
fn by_sanitizer(name: &str, language: &str, functions: &[&str]) -> Option<Lost> {
    let probe = Command::new("gcc").arg("-print-file-name=liblsan.so").output().ok()?;
    if !String::from_utf8_lossy(&probe.stdout).starts_with('/') {
        eprintln!("SKIPPED: the compiler has no LeakSanitizer");
        return None;
    }
    let executable = program(name, language).flags(&format!("{FLAGS} -fsanitize=leak")).build();
    let output = Command::new(executable).env("LSAN_OPTIONS", "fast_unwind_on_malloc=0").output();
    let output = output.expect("the program runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if !text.contains("SUMMARY: LeakSanitizer") {
        eprintln!("SKIPPED: LeakSanitizer does not work here: {text}");
        return None;
    }
    let mut lost = Lost::new();
    for leak in text.split("\n\n").filter(|part| part.contains(" leak of ")) {
        let words: Vec<&str> = leak.split_whitespace().collect();
        let objects = words.iter().position(|&word| word == "object(s)").expect("a number of objects");
        let objects: u64 = words[objects - 1].parse().expect("a number");
        let calls = leak.lines().filter_map(|line| line.split(" in ").nth(1)?.split(' ').next());
        if let Some(function) = blamed(calls, functions) {
            *lost.entry(function).or_default() += objects;
        }
    }
    Some(lost)
}

/// The program under the three tools. `only_memcheck` and `only_sanitizer` are called lost by those alone.
struct Comparison {
    name: &'static str,
    language: &'static str,
    functions: &'static [&'static str],
    only_memcheck: &'static [(&'static str, u64)],
    only_sanitizer: &'static [(&'static str, u64)],
}

impl Comparison {
    fn run(&self) {
        let Comparison { name, language, functions, .. } = *self;
        let memcheck = by_memcheck(&program(name, language).flags(FLAGS).build(), functions);
        let sanitizer = by_sanitizer(name, language, functions);
        let checked = program(name, language).flags(FLAGS).env("MPROF_LEAK_CHECK", "1");
        checked.uncounted().varies().check(|run| {
            let lost = by_mprof(run.facts(), functions);
            assert!(!lost.is_empty());
            let and = |more: &[(&str, u64)]| {
                let mut all = lost.clone();
                all.extend(more.iter().map(|&(function, count)| (function.to_owned(), count)));
                all
            };
            if let Some(memcheck) = &memcheck {
                assert_eq!(*memcheck, and(self.only_memcheck), "{name}: memcheck against mprof");
            }
            if let Some(sanitizer) = &sanitizer {
                assert_eq!(*sanitizer, and(self.only_sanitizer), "{name}: LeakSanitizer against mprof");
            }
        });
    }
}

#[test]
fn kinds_compared() {
    Comparison {
        name: "reach_kinds",
        language: "c",
        functions: &[
            "in_variable",
            "in_initialised",
            "in_thread_local",
            "in_mapping",
            "in_shared_mapping",
            "in_protected_mapping",
            "in_first_keys",
            "in_last_keys",
            "in_environment",
            "in_list",
            "in_large_object",
            "aligned",
            "grown",
            "grown_aligned",
            "empty",
            "for_stack",
            "by_its_middle",
            "lose",
            "lose_large",
            "lose_aligned",
            "lose_list",
            "lose_ring",
            "known_to_freed",
            "known_to_freed_large",
            "known_by_its_end",
            "known_crooked",
            "known_hidden",
        ],
        only_memcheck: &[("in_protected_mapping", 1)],
        only_sanitizer: &[("in_mapping", 1), ("in_shared_mapping", 1), ("in_protected_mapping", 1)],
    }
    .run();
}

#[test]
fn ends_compared() {
    Comparison {
        name: "reach_ends",
        language: "c",
        functions: &["hold", "lose"],
        only_memcheck: &[],
        only_sanitizer: &[],
    }
    .run();
}

#[test]
fn cpp_compared() {
    Comparison {
        name: "reach_cpp",
        language: "cpp",
        functions: &["array", "base", "middle", "string", "lose"],
        only_memcheck: &[],
        only_sanitizer: &[],
    }
    .run();
}
