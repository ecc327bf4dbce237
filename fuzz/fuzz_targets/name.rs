//! Names the code of any binary, as mpfilt does: wrong or missing names at worst.
//!
//! ```text
//! cargo +nightly fuzz run -s none name CORPUS_OF_SMALL_BINARIES -- -rss_limit_mb=2048 -timeout=10
//! ```
#![no_main]

use mpfilt::Options;
use mprof_format::model::{Bin, Context, Frame, Module, Profile};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let path = std::env::temp_dir().join(format!("mprof-fuzz-name-{}", std::process::id()));
    std::fs::write(&path, bytes).expect("a temporary file can be written");
    let file = path.to_str().expect("an ordinary name").as_bytes().to_vec();
    let mut profile = Profile::default();
    profile.process.program = file.clone();
    profile.modules.push(Module { path: file, ..Module::default() });
    profile.contexts = (0x1000..0x1400)
        .step_by(13)
        .map(|address| Context { parent: None, frame: Frame::Code { module: 0, address, interrupted: false } })
        .collect();
    profile.bins = [8, 16, 24, 40, 100].map(|size| Bin { size: Some(size), allocs: 1, ..Bin::default() }).to_vec();
    let nowhere = std::path::PathBuf::from("/nonexistent");
    let options = Options {
        root: None,
        debug_directories: Vec::new(),
        debuginfod_cache: None,
        perf_map_directory: nowhere,
        progress: false,
    };
    for warning in mpfilt::add_names(&mut profile, &options) {
        assert!(!warning.to_string().contains('\n'), "{warning}");
    }
});
