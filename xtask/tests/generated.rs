//! What is generated, read by the programs that it is for. Where one is missing, a line says that it is skipped.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAMS: [&str; 3] = ["mprof", "mpfilt", "mpdisplay"];

fn generate(task: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output =
        Command::new(env!("CARGO_BIN_EXE_xtask")).arg(task).arg(folder.path()).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    folder
}

/// Runs a checker, which must have nothing to say.
fn is_content(program: &str, words: &[&str], file: &Path) {
    match Command::new(program).args(words).arg(file).output() {
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text);
            assert!(output.status.success() && text.is_empty(), "{program} {}: {text}", file.display());
        }
        Err(_) => skipped(&format!("{program} is not installed")),
    }
}

fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let programs = PROGRAMS.map(|name| folder.join(format!("man1/{name}.1")));
    programs.into_iter().chain([folder.join("man3/libmprof.3")]).collect()
}

#[test]
fn manual_pages_are_sound() {
    let folder = generate("man");
    for page in pages(folder.path()) {
        assert!(page.is_file(), "{}", page.display());
        is_content("mandoc", &["-T", "lint", "-W", "error"], &page);
        is_content("groff", &["-man", "-Tutf8", "-ww", "-z"], &page);
        assert!(fs::read(&page).expect("readable").is_ascii(), "{}", page.display());
    }
}

/// Every variable that the library reads is in the README's table.
#[test]
fn the_readme_has_all_variables() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let text = |path: &str| fs::read_to_string(project.join(path)).expect("readable");
    let (options, readme) = (text("mprof-preload/src/options.rs"), text("README.md"));
    let variables: BTreeSet<&str> =
        options.split("b\"MPROF_").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(variables.contains("DATA") && variables.contains("REPORT"), "{variables:?}");
    for variable in variables {
        assert!(readme.contains(&format!("\n| `MPROF_{variable}` |")), "MPROF_{variable}");
    }
}

#[test]
fn manual_pages_have_all_options_and_sections() {
    let folder = generate("man");
    let page = |name: &str| fs::read_to_string(folder.path().join(name)).expect("there");
    let display = page("man1/mpdisplay.1");
    for option in ["tables", "fail\\-on\\-leak", "gen\\-suppressions", "debug\\-dir", "depth"] {
        assert!(display.contains(&format!("\\-\\-{option}\\f")), "{option}");
    }
    for name in PROGRAMS {
        let page = page(&format!("man1/{name}.1"));
        for section in
            ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "FILES", "SEE ALSO"]
        {
            assert!(
                page.contains(&format!(".SH {section}\n")) || page.contains(&format!(".SH \"{section}\"\n")),
                "{name}: {section}"
            );
        }
    }
}

/// Every variable that the library reads is in its page, and no other.
#[test]
fn the_librarys_page_has_all_variables() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mprof-preload/src/options.rs");
    let source = fs::read_to_string(source).expect("readable");
    let read: BTreeSet<&str> = names(&source).collect();
    let page = include_str!("../pages/libmprof.3");
    let documented: BTreeSet<&str> = names(page).collect();
    // Those of the programs, and the header's macros.
    let others =
        BTreeSet::from(["MPROF_LIB", "MPROF_SUPPRESSIONS", "MPROF_ROOT", "MPROF_RESTART", "MPROF_STOP"]);
    assert_eq!(documented.difference(&others).collect::<Vec<_>>(), read.iter().collect::<Vec<_>>());
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("MPROF_").map(|(at, _)| {
        let rest = &text[at..];
        let end = rest.find(|character: char| !(character.is_ascii_uppercase() || character == '_'));
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[test]
fn completions_are_sound() {
    let folder = generate("completions");
    for name in PROGRAMS {
        let file = |path: String| folder.path().join(path);
        is_content("bash", &["-n"], &file(format!("bash/{name}")));
        is_content("zsh", &["-n"], &file(format!("zsh/_{name}")));
        is_content("fish", &["--no-execute"], &file(format!("fish/{name}.fish")));
    }
}

/// What bash offers for words that are typed so far.
fn bash_offers(script: &Path, words: &[&str]) -> Vec<String> {
    let program = words[0];
    let text = format!(
        "source '{}'; COMP_WORDS=({}); COMP_CWORD={}; _{program} {program} '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display(),
        words.join(" "),
        words.len() - 1,
        words[words.len() - 1],
        words[words.len() - 2]
    );
    let output = Command::new("bash").args(["-c", &text]).output().expect("bash runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_options_and_values() {
    let folder = generate("completions");
    let script = |name: &str| folder.path().join("bash").join(name);
    assert_eq!(bash_offers(&script("mprof"), &["mprof", "--fail"]), ["--fail-on-leak"]);
    assert_eq!(bash_offers(&script("mprof"), &["mprof", "sho"]), ["show"]);
    assert_eq!(bash_offers(&script("mprof"), &["mprof", "show", "--gen"]), ["--gen-suppressions"]);
    assert_eq!(bash_offers(&script("mpdisplay"), &["mpdisplay", "--sort", "k"]), ["kept", "kept-objects"]);
    assert_eq!(bash_offers(&script("mpfilt"), &["mpfilt", "--ag"]), ["--again"]);
}
