//! Standard output: terminal or pipe, its width, styles, the pager.

use crate::error::Error;
use crate::report::options::Page;
use crate::report::style::Styles;
use std::io::{self, BufWriter, IsTerminal, Write};

/// How the report is put out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Screen {
    /// With bold and colour.
    pub(crate) styles: bool,
    /// In a pager where it is longer than the terminal.
    pub(crate) pager: bool,
    /// Without folding names.
    pub(crate) full_names: bool,
}

/// Whether standard output shows styles: a terminal that can, where NO_COLOR (no-color.org) and CLICOLOR
/// (bixense.com/clicolors) do not say otherwise.
pub(crate) fn styles() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

impl Screen {
    pub(crate) fn styles(&self) -> Styles {
        Styles { on: self.styles }
    }

    /// The terminal's width, and lines folded to it; in a pipe 80 columns, and nothing is folded.
    pub(crate) fn page(&self) -> Page {
        let page = match terminal_size::terminal_size_of(io::stdout()) {
            Some((terminal_size::Width(width), _)) if io::stdout().is_terminal() => {
                Page { width: width.into(), fold: true, ..Page::default() }
            }
            _ => Page::default(),
        };
        Page { full_names: self.full_names, ..page }
    }

    /// Writes to standard output. Who closes the pipe has seen enough: that is no error.
    pub(crate) fn print(
        &self,
        write: impl FnOnce(&mut BufWriter<io::StdoutLock<'static>>) -> io::Result<()>,
    ) -> Result<(), Error> {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        match write(&mut out).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Output(error)),
            _ => Ok(()),
        }
    }
}
