//! Where the report goes: to a file, or to standard output.

use crate::cli::{Arguments, When};
use crate::error::Error;
use crate::output::{self, Screen};
use crate::report::options::Page;
use crate::report::style::Styles;
use crate::whole_file;
use std::io::{self, Write};
use std::path::Path;

/// Where the report goes, and so how it looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destination<'a> {
    screen: Screen,
    file: Option<&'a Path>,
}

impl<'a> Destination<'a> {
    /// What the arguments ask for.
    pub(crate) fn of(arguments: &'a Arguments) -> Self {
        let file = arguments.export.output.as_deref();
        let styles = match arguments.screen.color {
            When::Auto => file.is_none() && output::styles(),
            When::Always => true,
            When::Never => false,
        };
        let full_names = arguments.screen.full_names;
        Destination { screen: Screen { styles, pager: !arguments.screen.no_pager, full_names }, file }
    }

    /// Whether styles are written.
    pub(crate) fn styles(&self) -> Styles {
        self.screen.styles()
    }

    /// Width and folding; a file is as a pipe.
    pub(crate) fn page(&self) -> Page {
        if self.file.is_some() { Page::default() } else { self.screen.page() }
    }

    /// Writes there. A file is written whole or not at all.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn put(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        match self.file {
            Some(path) => whole_file::write(path, |out| write(out))
                .map_err(|reason| Error::OutputFile { path: path.to_path_buf(), reason }),
            None => self.screen.print(|out| write(out)),
        }
    }
}
