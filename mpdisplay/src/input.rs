//! Profiles from files and pipes.

use std::fs;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use mprof_format::model::Profile;

use crate::error::{Advice, Error};

/// The file that programs write.
const DEFAULT: &str = "mprof.data";

/// What a file held, and what is wrong with it.
pub(crate) struct Input {
    /// The profile, or as much of it as could be read.
    pub(crate) profile: Profile,
    /// What is missing from it.
    pub(crate) trouble: Option<Error>,
}

/// What several files held.
#[derive(Debug)]
pub(crate) struct Inputs {
    /// At least one profile.
    pub(crate) profiles: Vec<Profile>,
    /// What is missing from them, and files that could not be read at all.
    pub(crate) troubles: Vec<Error>,
}

/// Reads the profiles in `paths`; without any, what is meant then. A file that cannot be read does not keep the
/// others from being shown.
///
/// # Errors
/// Where there is nothing to show: the last reason; `complain` has heard those before.
pub(crate) fn read_all(paths: &[PathBuf], complain: &dyn Fn(&Error)) -> Result<Inputs, Error> {
    let mut inputs = Inputs { profiles: Vec::new(), troubles: Vec::new() };
    let mut add = |input: Result<Input, Error>| match input {
        Ok(Input { profile, trouble }) => {
            inputs.profiles.push(profile);
            inputs.troubles.extend(trouble);
        }
        Err(error) => inputs.troubles.push(error),
    };
    if paths.is_empty() {
        add(read_unnamed());
    } else {
        paths.iter().for_each(|path| add(read(path)));
    }
    match inputs.troubles.pop() {
        Some(last) if inputs.profiles.is_empty() => {
            inputs.troubles.iter().for_each(complain);
            Err(last)
        }
        last => {
            inputs.troubles.extend(last);
            Ok(inputs)
        }
    }
}

/// Reads the profile in `path`; `-` is standard input.
///
/// # Errors
/// Where there is nothing to show.
pub(crate) fn read(path: &Path) -> Result<Input, Error> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut bytes)
    } else {
        fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    match read {
        Ok(_) => parse(&bytes, path),
        Err(reason) => {
            let advice = if reason.kind() == io::ErrorKind::NotFound { others(path) } else { Advice::None };
            Err(Error::Input { path: path.into(), reason, advice })
        }
    }
}

/// Reads what is meant when no file is named: standard input if something is piped into it, else the file that
/// programs write.
///
/// # Errors
/// As [`read`].
fn read_unnamed() -> Result<Input, Error> {
    if is_directed() {
        let mut bytes = Vec::new();
        if io::stdin().lock().read_to_end(&mut bytes).is_ok() && !bytes.is_empty() {
            return parse(&bytes, Path::new("standard input"));
        }
    }
    read(Path::new(DEFAULT))
}

/// Whether somebody put something before standard input: a pipe or a file, but no terminal and no
/// /dev/null.
fn is_directed() -> bool {
    let Ok(descriptor) = io::stdin().as_fd().try_clone_to_owned() else { return false };
    let Ok(metadata) = fs::File::from(descriptor).metadata() else { return false };
    let kind = metadata.file_type();
    kind.is_fifo() || kind.is_file()
}

fn parse(bytes: &[u8], path: &Path) -> Result<Input, Error> {
    let path = path.to_path_buf();
    let loaded = match mprof_format::read(bytes) {
        Ok(loaded) => loaded,
        Err(reason) => return Err(Error::Format { path, reason }),
    };
    let trouble = match loaded.damage {
        Some(damage) => Some(Error::Damaged { path, damage }),
        None => loaded.profile.incomplete.then_some(Error::Incomplete { path }),
    };
    Ok(Input { profile: loaded.profile, trouble })
}

/// Profiles in the folder where `path` is missing.
fn others(path: &Path) -> Advice {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else { return Advice::None };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| PathBuf::from(entry.file_name()))
        .filter(|name| name.to_str().is_some_and(|name| name.starts_with(DEFAULT) && !name.ends_with(".tmp")))
        .map(|name| folder.map_or(name.clone(), |folder| folder.join(&name)))
        .collect();
    files.sort();
    if files.is_empty() { Advice::Record } else { Advice::Others(files) }
}
