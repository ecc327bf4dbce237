//! Completions for bash, zsh and fish, named as these shells look for them.

use crate::programs;
use clap::Command;
use clap_complete::Shell;
use std::fs;
use std::io;
use std::path::Path;

/// Writes `bash/NAME`, `zsh/_NAME` and `fish/NAME.fish` for each program.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write_all(folder: &Path) -> io::Result<()> {
    let [_, mpfilt, mpdisplay] = programs::all();
    for command in [programs::mprof_with_show(), mpfilt, mpdisplay] {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            write(command.clone(), shell, folder)?;
        }
    }
    Ok(())
}

fn write(mut command: Command, shell: Shell, folder: &Path) -> io::Result<()> {
    let name = command.get_name().to_owned();
    let file = match shell {
        Shell::Zsh => format!("zsh/_{name}"),
        Shell::Fish => format!("fish/{name}.fish"),
        _ => format!("bash/{name}"),
    };
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, &name, &mut text);
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    fs::write(path, text)
}
