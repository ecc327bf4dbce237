//! Writes suppressions for leaks, to be read again by this tool or by others.

use super::pattern::Matcher;
use crate::analysis::functions::{Function, FunctionKind};
use crate::analysis::leaks::{LeakRow, Leaks};
use crate::report::number::counted;
use std::io::{self, Write};

/// A format of suppressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `leak:function`: everything that is allocated by a function and below it.
    Sanitizer,
    /// A Valgrind record of the callers shown.
    Valgrind,
}

/// Writes a suppression for each of the rows, each under a comment with what it is for.
///
/// # Errors
/// Those of `out`.
pub fn write(leaks: &Leaks<'_>, rows: &[LeakRow], format: Format, out: &mut impl Write) -> io::Result<()> {
    let mut written = Vec::new();
    for row in rows {
        let shown: Vec<&Function> =
            leaks.chain(row).take(leaks.shown_callers(row)).map(|(function, _)| function).collect();
        let text = match format {
            Format::Sanitizer => sanitizer(&shown),
            Format::Valgrind => valgrind(&shown),
        };
        let path = leaks.path(row);
        let kept =
            format!("{}, {}", counted(row.usage.kept(), "object"), counted(row.usage.kept_bytes(), "byte"));
        match text {
            None => writeln!(out, "# no function of this path has a name: {path}")?,
            Some(text) if written.contains(&text) => {
                writeln!(out, "# covered above: {kept}: {path}")?;
            }
            Some(text) => {
                writeln!(out, "# {kept}: {path}\n{text}")?;
                written.push(text);
            }
        }
    }
    Ok(())
}

/// `leak:` and the innermost function that is not a library's, or else the innermost that has a name. `main` is not
/// taken where there is another: it would hide everything.
fn sanitizer(shown: &[&Function]) -> Option<String> {
    let named = || shown.iter().filter(|function| function.kind == FunctionKind::Named);
    let own = named().find(|function| !is_system(&function.module_path) && function.name != "main");
    let function = own.or_else(|| named().next())?;
    Some(format!("leak:^{}$", linker_name(function)))
}

/// A record of the functions, innermost first.
fn valgrind(shown: &[&Function]) -> Option<String> {
    let mut frames = Vec::new();
    let innermost = shown.first()?;
    // Valgrind counts `operator new` as the allocation function, we as the first caller of it.
    if !Matcher::Function(linker_name(innermost).to_owned()).is_allocation() {
        frames.push("   fun:*alloc".to_owned());
    }
    for function in shown {
        frames.push(match function.kind {
            FunctionKind::Named => format!("   fun:{}", linker_name(function)),
            FunctionKind::Unnamed => format!("   obj:{}", function.module_path),
            _ => break,
        });
    }
    let name = shown.iter().find(|function| function.kind == FunctionKind::Named)?;
    Some(format!("{{\n   {}\n   Memcheck:Leak\n{}\n}}", name.name, frames.join("\n")))
}

/// The name that other tools know it by.
fn linker_name(function: &Function) -> &str {
    if function.linkage_name.is_empty() { &function.name } else { &function.linkage_name }
}

fn is_system(module: &str) -> bool {
    ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"].iter().any(|folder| module.starts_with(folder))
}
