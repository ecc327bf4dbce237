//! Shows any data file, in each of the forms that mpdisplay knows: as it is, and with the checksums put right.
//!
//! ```text
//! cargo +nightly fuzz run -s none display mprof-format/tests/files/corpus -- -rss_limit_mb=2048 -timeout=10 \
//!     -close_fd_mask=3
//! ```
#![no_main]

#[path = "../../mprof-format/tests/common/hostile.rs"]
#[allow(dead_code)]
mod hostile;

use clap::Parser;

/// Options of each run; the file's length chooses among them.
const OPTIONS: [&[&str]; 8] = [
    &[],
    &["--verbose", "--exact"],
    &["--format", "json"],
    &["--format", "folded"],
    &["--format", "pprof"],
    &["--format", "callgrind"],
    &["--format", "html"],
    &["--format", "csv"],
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    show(bytes, OPTIONS[bytes.len() % OPTIONS.len()]);
    show(&hostile::sealed(bytes), OPTIONS[bytes.len() / 8 % OPTIONS.len()]);
});

fn show(bytes: &[u8], options: &[&str]) {
    let id = std::process::id();
    let [input, output] = ["in", "out"].map(|name| std::env::temp_dir().join(format!("mprof-fuzz-{id}-{name}")));
    std::fs::write(&input, bytes).expect("a temporary file can be written");
    let words = ["mpdisplay", "-o", output.to_str().expect("an ordinary name")];
    let words = words.iter().chain(options).copied().chain(input.to_str());
    let arguments = mpdisplay::cli::Arguments::try_parse_from(words).expect("options that there are");
    mpdisplay::command::run(&arguments);
}
