//! Documents whose examples are run: files that they show are written, commands are typed, and what they print must
//! stand in the document.
//!
//! A code block ```` ```c file=NAME ```` is a file; one ```` ```console ```` has commands after `$ ` and their output
//! below. In the output a line `…` stands for any lines, and a `…` in a line for any text. Each section (`## `) has a
//! folder of its own and one shell; with `<!-- test: one folder -->` the document has one for all. A comment
//! `<!-- test: needs WORD WORD -->` in a section names commands without which it is skipped, and
//! `<!-- test: not run -->` leaves out the next block, and `<!-- test: type COMMAND -->` stands for it.

use c_tests::{Tools, bare_only};
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Part of a document that is run in one folder.
#[derive(Default)]
struct Section {
    title: String,
    needs: Vec<String>,
    blocks: Vec<Block>,
}

enum Block {
    File { name: String, text: String },
    Console(Vec<Typed>),
}

/// A command and what it prints.
#[derive(Debug)]
struct Typed {
    line: usize,
    command: String,
    expected: Vec<String>,
}

#[test]
fn the_readme() {
    check("../README.md");
}

#[test]
fn the_tutorial() {
    check("TUTORIAL.md");
}

#[test]
fn the_recipes_for_tests() {
    check("TESTING-WITH-MPROF.md");
}

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

fn check(document: &str) {
    if bare_only() {
        return;
    }
    let text = fs::read_to_string(project().join("docs").join(document)).expect("the document");
    let sections = parse(&text);
    let commands: usize = sections.iter().flat_map(|section| &section.blocks).map(Block::commands).sum();
    assert!(commands > 1, "{document}: {commands} commands found");
    for section in &sections {
        run(document, section);
    }
}

impl Block {
    fn commands(&self) -> usize {
        match self {
            Block::File { .. } => 0,
            Block::Console(typed) => typed.len(),
        }
    }
}

fn parse(text: &str) -> Vec<Section> {
    let one_folder = text.contains("<!-- test: one folder -->");
    let mut sections = vec![Section::default()];
    let mut lines = text.lines().enumerate();
    let mut run_next = true;
    while let Some((number, line)) = lines.next() {
        let section = sections.last_mut().expect("one at least");
        if let Some(title) = line.strip_prefix("## ").filter(|_| !one_folder) {
            sections.push(Section { title: title.into(), ..Section::default() });
        } else if let Some(needs) = directive(line, "needs ") {
            section.needs.extend(needs.split_whitespace().map(str::to_owned));
        } else if let Some(command) = directive(line, "type ") {
            let expected = vec!["…".to_owned()];
            let typed = Typed { line: number + 1, command: command.into(), expected };
            section.blocks.push(Block::Console(vec![typed]));
        } else if directive(line, "not run").is_some() {
            run_next = false;
        } else if let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) {
            let block: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| !line.starts_with("```")).collect();
            if std::mem::replace(&mut run_next, true) {
                if let Some((_, name)) = kind.split_once(" file=") {
                    section.blocks.push(Block::File { name: name.into(), text: block.join("\n") + "\n" });
                } else if kind == "console" {
                    section.blocks.push(Block::Console(typed(&block, number + 2)));
                }
            }
        }
    }
    sections
}

fn directive<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.strip_prefix("<!-- test: ")?.strip_suffix(" -->")?.strip_prefix(name)
}

/// The commands of a block, whose first line is line `begin` of the document.
fn typed(block: &[&str], begin: usize) -> Vec<Typed> {
    let mut all: Vec<Typed> = Vec::new();
    for (index, line) in block.iter().enumerate() {
        match (line.strip_prefix("$ "), all.last_mut()) {
            (Some(command), _) => {
                all.push(Typed { line: begin + index, command: command.into(), expected: Vec::new() });
            }
            (None, Some(last)) if last.command.ends_with('\\') => last.command += &format!("\n{line}"),
            (None, Some(last)) => last.expected.push((*line).to_owned()),
            (None, None) => panic!("line {}: output without a command", begin + index),
        }
    }
    all
}

fn run(document: &str, section: &Section) {
    let commands: usize = section.blocks.iter().map(Block::commands).sum();
    if commands == 0 {
        return;
    }
    let missing = section.needs.iter().find(|name| !is_there(name));
    if let Some(missing) = missing {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {document}, {}: {missing} is not there", section.title);
        return;
    }
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let home = scratch.path().canonicalize().expect("it is there");
    let bin = home.join("bin");
    let folder = home.join("shop");
    fs::create_dir(&bin).and_then(|()| fs::create_dir(&folder)).expect("made");
    let tools = Tools::get();
    for tool in [&tools.mprof, &tools.mpfilt, &tools.mpdisplay] {
        symlink(tool, bin.join(tool.file_name().expect("a name"))).expect("linked");
    }
    for (index, block) in section.blocks.iter().enumerate() {
        match block {
            Block::File { name, text } => {
                let path = folder.join(name);
                fs::create_dir_all(path.parent().expect("a folder")).expect("made");
                fs::write(path, text).expect("written");
            }
            Block::Console(typed) => {
                let state = home.join("state");
                let printed = shell(typed, &home, &folder, &state);
                assert_eq!(
                    printed.len(),
                    typed.len(),
                    "{document}, {}: block {index} ended early",
                    section.title
                );
                for (typed, printed) in typed.iter().zip(&printed) {
                    assert!(
                        agree(&typed.expected, printed),
                        "{document}:{}: {}\n--- stands there\n{}\n--- printed\n{}\n",
                        typed.line,
                        typed.command,
                        typed.expected.join("\n"),
                        printed.join("\n")
                    );
                }
            }
        }
    }
}

/// Whether a command, or a module of Debian's Python (`python:NAME`), is there.
fn is_there(name: &str) -> bool {
    let mut command = match name.strip_prefix("python:") {
        Some(module) => {
            let mut command = Command::new("/usr/bin/python3");
            command.args(["-c", &format!("import {module}")]);
            command
        }
        None => {
            let mut command = Command::new("sh");
            command.args(["-c", &format!("command -v {name}")]);
            command
        }
    };
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Types the commands into a shell and gives what each printed, the person's home made out as `/home/me`. Folder and
/// variables are those that the block before left.
fn shell(typed: &[Typed], home: &Path, folder: &Path, state: &Path) -> Vec<Vec<String>> {
    const MARK: &str = "=== a command ends here ===";
    let mut script = format!("exec 2>&1\nif [ -f '{0}' ]; then . '{0}'; fi\n", state.display());
    for typed in typed {
        // The next command may ask for the status of this one.
        script += &format!("{}\n(status=$?; printf '\\n%s\\n' '{MARK}'; exit $status)\n", typed.command);
    }
    script += &format!("{{ export -p; echo \"cd '$PWD'\"; }} > '{}'\n", state.display());
    let path = format!("{}:/usr/bin:/bin:/usr/local/bin", home.join("bin").display());
    let cargo = std::env::var_os("CARGO").map(PathBuf::from);
    let path = match cargo.as_deref().and_then(Path::parent) {
        Some(folder) => format!("{path}:{}", folder.display()),
        None => path,
    };
    let mut command = Command::new("bash");
    command.current_dir(folder).args(["-c", &script]).stdin(Stdio::null()).env_clear();
    command.env("HOME", home).env("PATH", path).env("LC_ALL", "C.UTF-8").env("PROJECT", project());
    command.env("LIBRARY", &Tools::get().library);
    for name in ["CARGO_HOME", "RUSTUP_HOME"] {
        let default = std::env::var_os("HOME").map(|home| {
            Path::new(&home).join(if name == "CARGO_HOME" { ".cargo" } else { ".rustup" }).into_os_string()
        });
        if let Some(value) = std::env::var_os(name).or(default) {
            command.env(name, value);
        }
    }
    let output = command.output().expect("bash runs");
    let text =
        String::from_utf8(output.stdout).expect("text").replace(home.to_str().expect("text"), "/home/me");
    let text = text.replace(project().to_str().expect("text"), "/home/me/mprof");
    let mut printed = Vec::new();
    let mut rest = text.as_str();
    while let Some((one, more)) = rest.split_once(&format!("\n{MARK}\n")) {
        printed.push(one.lines().map(|line| line.trim_end().to_owned()).collect());
        rest = more;
    }
    printed
}

/// Whether the lines in the document stand for those printed. Process ids and times are not compared.
fn agree(expected: &[String], printed: &[String]) -> bool {
    match expected {
        [] => printed.iter().all(|line| line.is_empty()),
        [any, rest @ ..] if any == "…" => (0..=printed.len()).any(|end| agree(rest, &printed[end..])),
        [line, rest @ ..] => printed
            .split_first()
            .is_some_and(|(first, more)| fits(&without_ids(line), &without_ids(first)) && agree(rest, more)),
    }
}

/// `process 4711` as `process N`, `after 1.65 ms and` as `after N and`.
fn without_ids(line: &str) -> String {
    let is_digit = |character: char| character.is_ascii_digit();
    let mut text = line.to_owned();
    if let Some((before, after)) = line.split_once("process ") {
        text = format!("{before}process N{}", after.trim_start_matches(is_digit));
    }
    match text.split_once("after ").and_then(|(before, rest)| Some((before, rest.split_once(" and")?.1))) {
        Some((before, rest)) => format!("{before}after N and{rest}"),
        None => text,
    }
}

fn fits(pattern: &str, line: &str) -> bool {
    match pattern.split_once('…') {
        None => pattern.trim_end() == line,
        Some((begin, rest)) => line.strip_prefix(begin).is_some_and(|line| {
            line.char_indices().map(|(at, _)| at).chain([line.len()]).any(|at| fits(rest, &line[at..]))
        }),
    }
}

#[test]
fn ellipses_stand_for_text_and_lines() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(agree(&lines("a\n…\nz"), &lines("a\nb\nc\nz")));
    assert!(agree(&lines("a\n…\nz"), &lines("a\nz")));
    assert!(!agree(&lines("a\nz"), &lines("a\nb\nz")));
    assert!(agree(&lines("x… bytes"), &lines("x 17 bytes")));
    assert!(agree(&lines("./a, process 12"), &lines("./a, process 4711")));
    assert!(!agree(&lines(""), &lines("a")));
}
