//! Manual pages: options from the definitions, examples and exit status from the help's end, the rest from `pages/`.

use crate::programs;
use clap::Command;
use clap_mangen::Man;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// The end of each program's page, by hand.
const ENDS: [(&str, &str); 3] = [
    ("mprof", include_str!("../pages/mprof.roff")),
    ("mpfilt", include_str!("../pages/mpfilt.roff")),
    ("mpdisplay", include_str!("../pages/mpdisplay.roff")),
];

/// The library's page, which is by hand as a whole.
const LIBRARY: &str = include_str!("../pages/libmprof.3");

/// Writes `man1/NAME.1` for each program, and `man3/libmprof.3`.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write_all(folder: &Path) -> io::Result<()> {
    let (programs_folder, library_folder) = (folder.join("man1"), folder.join("man3"));
    fs::create_dir_all(&programs_folder)?;
    fs::create_dir_all(&library_folder)?;
    for command in programs::all() {
        let name = command.get_name().to_owned();
        let mut page = Vec::new();
        write_page(command, &mut page)?;
        fs::write(programs_folder.join(format!("{name}.1")), in_ascii(&String::from_utf8_lossy(&page)))?;
    }
    let version = env!("CARGO_PKG_VERSION");
    fs::write(library_folder.join("libmprof.3"), LIBRARY.replace("@VERSION@", version))
}

fn write_page(mut command: Command, out: &mut Vec<u8>) -> io::Result<()> {
    command.build();
    let name = command.get_name().to_owned();
    let text =
        |styled: Option<&clap::builder::StyledStr>| styled.map(ToString::to_string).unwrap_or_default();
    let (about, end) = (text(command.get_long_about()), text(command.get_after_help()));
    // `mprof` has it as a word of its own in its usage.
    let man =
        Man::new(command.disable_help_subcommand(true)).title(name.to_uppercase()).manual("mprof").date("");
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    writeln!(out, ".SH DESCRIPTION")?;
    // The first paragraph is the name's line again.
    prose(about.split_once("\n\n").map_or(about.as_str(), |(_, rest)| rest), out)?;
    man.render_options_section(out)?;
    for (title, text) in sections(&end) {
        writeln!(out, ".SH {}", title.to_uppercase())?;
        if title == "Examples" {
            literal(&text, out)?;
        } else {
            prose(&sentence(text.trim_start()), out)?;
        }
    }
    let by_hand = ENDS.iter().find(|(program, _)| *program == name).map_or("", |(_, text)| text);
    out.write_all(by_hand.as_bytes())
}

/// The parts of a help's end: `Examples:` with the lines below it, `Exit status: …` up to an empty line.
fn sections(end: &str) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = Vec::new();
    for paragraph in end.split("\n\n") {
        if let Some((title, text)) = paragraph.split_once(':') {
            sections.push((title.trim().to_owned(), text.trim_start_matches('\n').trim_end().to_owned()));
        }
    }
    sections
}

/// The text with a capital at its beginning, unless that is a name.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// Paragraphs; what is indented stands as it is.
fn prose(text: &str, out: &mut Vec<u8>) -> io::Result<()> {
    for (index, paragraph) in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()).enumerate()
    {
        if index > 0 {
            writeln!(out, ".PP")?;
        }
        if paragraph.lines().all(|line| line.starts_with("  ")) {
            literal(paragraph, out)?;
        } else {
            for line in paragraph.lines() {
                writeln!(out, "{}", escaped(line.trim()))?;
            }
        }
    }
    Ok(())
}

/// Lines as they are.
fn literal(text: &str, out: &mut Vec<u8>) -> io::Result<()> {
    writeln!(out, ".nf\n.ft CR")?;
    for line in text.lines() {
        writeln!(out, "{}", escaped(line))?;
    }
    writeln!(out, ".ft\n.fi")
}

/// The page with roff's names for what is not ASCII, which it may not take for UTF-8 (groff_char(7)).
fn in_ascii(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    for character in page.chars() {
        if character.is_ascii() {
            text.push(character);
        } else {
            text += &format!("\\[u{:04X}]", u32::from(character));
        }
    }
    text
}

/// A line that roff prints as it stands.
fn escaped(line: &str) -> String {
    let mut text = line.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) {
        text.insert_str(0, "\\&");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_helps_end_has_sections() {
        let end = "Examples:\n  a b   c\n  d\n\nExit status: 0; or\n1.\n\nEnvironment: X.";
        assert_eq!(
            sections(end),
            [
                ("Examples".into(), "  a b   c\n  d".into()),
                ("Exit status".into(), " 0; or\n1.".into()),
                ("Environment".into(), " X.".into()),
            ]
        );
    }

    #[test]
    fn nothing_in_a_line_is_a_request() {
        assert_eq!(escaped(".SH x\\y"), "\\&.SH x\\ey");
        assert_eq!(escaped("a-b"), "a\\-b");
        assert_eq!(in_ascii("a…b"), "a\\[u2026]b");
    }
}
