//! `mpfilt`: gives a profile its names.
#![forbid(unsafe_code)]

use std::fs::{self, Permissions};
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use mpfilt::Options;
use mprof_format::model::Profile;

mod cli;
mod error;

use cli::Arguments;
use error::Error;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mpfilt: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Error> {
    if arguments.output.is_none() && !arguments.text && io::stdout().is_terminal() {
        return Err(Error::Terminal);
    }
    let (mut profile, trouble) = read(&arguments.input)?;
    if profile.names.is_none() || arguments.again {
        for warning in mpfilt::add_names(&mut profile, &options(arguments)) {
            eprintln!("mpfilt: {warning}");
        }
    } else if !arguments.text {
        eprintln!(
            "mpfilt: {}: has its names already (--again looks them up anew)",
            arguments.input.display()
        );
    }
    write(&profile, arguments)?;
    trouble.map_or(Ok(()), Err)
}

/// Reads the profile; the error beside it says what is missing from it.
fn read(path: &Path) -> Result<(Profile, Option<Error>), Error> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut bytes)
    } else {
        fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    let path = path.to_path_buf();
    if let Err(reason) = read {
        return Err(Error::Input { path, reason });
    }
    let loaded = match mprof_format::read(&bytes) {
        Ok(loaded) => loaded,
        Err(reason) => return Err(Error::Format { path, reason }),
    };
    let trouble = match loaded.damage {
        Some(damage) => Some(Error::Damaged { path, damage }),
        None => loaded.profile.incomplete.then_some(Error::Incomplete { path }),
    };
    Ok((loaded.profile, trouble))
}

fn options(arguments: &Arguments) -> Options {
    let mut options = Options { root: arguments.root.clone(), ..Options::default() };
    options.debug_directories.splice(0..0, arguments.debug_directories.iter().cloned());
    options
}

fn write(profile: &Profile, arguments: &Arguments) -> Result<(), Error> {
    let write = |out: &mut dyn Write| {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        if arguments.text {
            mpfilt::text::write_relations(profile, &mut out)?;
        } else {
            mprof_format::write_profile(profile, &mut out)?;
        }
        out.flush()
    };
    match &arguments.output {
        Some(path) => write_file(path, write).map_err(|reason| Error::Output { path: path.clone(), reason }),
        None => match write(&mut io::stdout().lock()) {
            // Who closes the pipe has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(reason) => Err(Error::Output { path: "standard output".into(), reason }),
            Ok(()) => Ok(()),
        },
    }
}

/// Writes a file whole or not at all: beside it first, then in its place. What is no regular file (a pipe, a
/// device) cannot be replaced and is written to.
fn write_file(path: &Path, write: impl Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
        return write(&mut fs::OpenOptions::new().write(true).open(&target)?);
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = tempfile::Builder::new()
        .prefix(".mpfilt-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    write(beside.as_file_mut())?;
    beside.persist(&target).map_err(|error| error.error)?;
    Ok(())
}
