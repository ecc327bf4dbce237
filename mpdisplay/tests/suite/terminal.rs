//! The command on a terminal: width, styles, pager. `script` (util-linux) makes one.

use crate::builder::ProfileBuilder;
use crate::command::{bytes, folder, put};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// What a command line prints on a terminal of so many columns and lines; `$M` is mpdisplay. `None` where there is no
/// `script`.
fn on_terminal(folder: &TempDir, columns: u32, lines: u32, line: &str) -> Option<String> {
    let line = format!("stty cols {columns} rows {lines}; {line}");
    let mut script = Command::new("script");
    script.args(["-q", "-e", "-c", &line, "/dev/null"]).current_dir(folder.path()).stdin(Stdio::null());
    // The whole environment, so that none of the caller's variables count: what they mean is what is tested here. (`CI`
    // among them: it makes anstream take a dumb terminal for one that shows colours.)
    script.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    script
        .env("M", env!("CARGO_BIN_EXE_mpdisplay"))
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .env("LC_ALL", "C");
    match script.output() {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n")),
        Err(_) => {
            eprintln!("skipped: there is no script here");
            None
        }
    }
}

const LONG: &str = "std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>, \
    shop::Item, std::less<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>>>::operator[]";

fn shop() -> TempDir {
    let folder = folder();
    let profile = ProfileBuilder::new("shop")
        .allocate(&format!("main > {LONG}"), 64, 3, 0)
        .allocate("main > stock", 32, 2, 1)
        .build();
    put(&folder, "mprof.data", &bytes(&profile));
    folder
}

#[test]
fn long_names_are_shortened_unless_full_names_are_asked_for() {
    let shop = shop();
    let Some(folded) = on_terminal(&shop, 100, 50, "$M --tables direct") else { return };
    assert!(folded.contains("std::map<…>::operator[]\n"), "{folded}");
    let wide = on_terminal(&shop, 140, 50, "$M --tables direct").expect("a terminal");
    assert!(wide.contains("std::map<std::string, shop::Item>::operator[]\n"), "{wide}");
    let full = on_terminal(&shop, 100, 50, "$M --tables direct --full-names").expect("a terminal");
    assert!(full.contains(LONG), "{full}");
    let piped = on_terminal(&shop, 100, 50, "$M --tables direct | cat").expect("a terminal");
    assert!(piped.contains(LONG), "{piped}");
}

#[test]
fn headings_are_bold_on_a_terminal_and_where_asked_for() {
    let shop = shop();
    let bold = "\u{1b}[1mMemory leaks\u{1b}[0m\n";
    let Some(shown) = on_terminal(&shop, 100, 50, "$M --tables leaks") else { return };
    assert!(shown.contains(bold), "{shown}");
    let plain = |line: &str| {
        let shown = on_terminal(&shop, 100, 50, line).expect("a terminal");
        assert!(shown.contains("\nMemory leaks\n") && !shown.contains('\u{1b}'), "{line}: {shown}");
    };
    plain("$M --tables leaks | cat");
    plain("NO_COLOR=1 $M --tables leaks");
    plain("TERM=dumb $M --tables leaks");
    plain("$M --tables leaks --color never");
    let asked = on_terminal(&shop, 100, 50, "$M --tables leaks --color always | cat").expect("a terminal");
    assert!(asked.contains(bold), "{asked}");
}

#[test]
fn long_reports_go_through_a_pager() {
    let shop = shop();
    let paged = |line: &str| {
        let shown = on_terminal(&shop, 100, 20, line)?;
        assert!(shown.contains("Memory leaks") || shown.contains("Allocation bins"), "{line}: {shown}");
        Some(shown.lines().filter(|line| line.starts_with("P:")).count())
    };
    let Some(all) = paged("MPROF_PAGER='sed s/^/P:/' $M") else { return };
    assert!(all > 20, "{all}");
    assert_eq!(paged("PAGER='sed s/^/P:/' $M"), Some(all));
    assert_eq!(paged("MPROF_PAGER='sed s/^/P:/' PAGER=cat $M"), Some(all));
    assert_eq!(paged("MPROF_PAGER= PAGER='sed s/^/P:/' $M"), Some(0), "none is wanted");
    assert_eq!(paged("PAGER='sed s/^/P:/' $M --no-pager"), Some(0));
    assert_eq!(paged("PAGER='sed s/^/P:/' $M | cat"), Some(0), "no terminal");
    assert_eq!(paged("TERM=dumb PAGER='sed s/^/P:/' $M"), Some(0));
    assert_eq!(paged("PAGER='sed s/^/P:/' $M --tables bins"), Some(0), "fits the terminal");
    assert_eq!(paged("PAGER=/nonexistent/pager $M"), Some(0), "a pager that is not there");
}

/// `q` in the pager: no message, no failure.
#[test]
fn a_pager_may_be_left_early() {
    let folder = folder();
    let mut builder = ProfileBuilder::new("long");
    for number in 0..5000 {
        builder.add(&format!("main > function_{number}"), 1000, 1, 0);
    }
    put(&folder, "mprof.data", &bytes(&builder.build()));
    let line = "PAGER='head -2' $M --verbose; echo status $?";
    let Some(shown) = on_terminal(&folder, 80, 24, line) else { return };
    assert_eq!(shown, "Program:   /usr/bin/long, process 4711\nArguments: ./long\nstatus 0\n");
}
