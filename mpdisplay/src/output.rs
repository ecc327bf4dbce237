//! Standard output: terminal or pipe, its width, styles, the pager.

use crate::error::Error;
use crate::pager::{self, Paged};
use crate::report::options::Page;
use crate::report::style::Styles;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use terminal_size::{Height, Width};

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

/// Columns and lines of the terminal that standard output is; `None` where it is none.
fn terminal() -> Option<(usize, usize)> {
    let (Width(columns), Height(lines)) = terminal_size::terminal_size_of(io::stdout())?;
    // One that does not know its size says 0.
    (io::stdout().is_terminal() && columns > 0).then_some((columns.into(), lines.into()))
}

impl Screen {
    pub(crate) fn styles(&self) -> Styles {
        Styles { on: self.styles }
    }

    /// The terminal's width, and lines folded to it; in a pipe 80 columns, and nothing is folded.
    pub(crate) fn page(&self) -> Page {
        let page = match terminal() {
            Some((width, _)) => Page { width, fold: true, ..Page::default() },
            None => Page::default(),
        };
        Page { full_names: self.full_names, ..page }
    }

    /// Writes to standard output, or into the pager. Who closes the pipe or leaves the pager has seen enough: that is
    /// no error.
    ///
    /// # Errors
    /// Those of standard output.
    pub(crate) fn print(
        &self,
        write: impl FnOnce(&mut BufWriter<Output>) -> io::Result<()>,
    ) -> Result<(), Error> {
        let mut out = BufWriter::with_capacity(1 << 16, self.open());
        let written = write(&mut out).and_then(|()| out.flush());
        // What a failed write leaves in the buffer is not to be written when it is dropped.
        let (output, _) = out.into_parts();
        match written.and(output.finish()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Output(error)),
            _ => Ok(()),
        }
    }

    fn open(&self) -> Output {
        let stdout = io::stdout().lock();
        match (terminal(), pager::command()) {
            (Some((_, lines)), Some(command)) if self.pager && lines > 0 => {
                Output::Paged(Paged::new(command, lines, stdout))
            }
            _ => Output::Plain(stdout),
        }
    }
}

/// Where a report goes.
pub(crate) enum Output {
    /// To standard output as it is.
    Plain(StdoutLock<'static>),
    /// To the terminal, through a pager if it is long.
    Paged(Paged<StdoutLock<'static>>),
}

impl Output {
    /// Ends the output: waits for the pager.
    fn finish(self) -> io::Result<()> {
        match self {
            Output::Plain(mut stdout) => stdout.flush(),
            Output::Paged(paged) => paged.finish(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Plain(stdout) => stdout.write(bytes),
            Output::Paged(paged) => paged.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Plain(stdout) => stdout.flush(),
            Output::Paged(_) => Ok(()),
        }
    }
}
