//! How far the work is, for people who wait.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that is done faster than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// Counts work; draws a bar on stderr once the work has taken a second, if stderr is a terminal.
pub(crate) struct Progress {
    shown: bool,
    start: Instant,
    expected: AtomicU64,
    done: AtomicU64,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(wanted: bool) -> Self {
        Progress {
            shown: wanted && std::io::stderr().is_terminal(),
            start: Instant::now(),
            expected: AtomicU64::new(0),
            done: AtomicU64::new(0),
            bar: OnceLock::new(),
        }
    }

    /// Says that there is more work than was known so far; the unit is a byte of debug information.
    pub(crate) fn expect(&self, amount: u64) {
        self.expected.fetch_add(amount, Ordering::Relaxed);
    }

    /// Says that work was done.
    pub(crate) fn done(&self, amount: u64) {
        let done = self.done.fetch_add(amount, Ordering::Relaxed).saturating_add(amount);
        if !self.shown || self.start.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("reading debug information {wide_bar} {percent}%");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        bar.set_length(self.expected.load(Ordering::Relaxed));
        bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
