//! Reads any bytes: as they are, and with the checksums put right, so that what lies behind them is reached too.
//!
//! ```text
//! cargo +nightly fuzz run read fuzz/corpus/read mprof-format/tests/files/corpus
//! ```
#![no_main]

#[path = "../../mprof-format/tests/common/hostile.rs"]
mod hostile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    hostile::check(bytes);
    hostile::check(&hostile::sealed(bytes));
});
