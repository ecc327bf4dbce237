//! Where to look for what: the settings of a naming run.

use std::path::PathBuf;

/// Where files are looked for and whether progress is shown. [`Options::default`] is what the command uses.
#[derive(Debug, Clone)]
pub struct Options {
    /// Put before every path that the profile names (a container's or another machine's file system); `None`:
    /// paths are used as they are.
    pub root: Option<PathBuf>,
    /// Folders of separate debug files, laid out as gdb's debug-file-directory; `/usr/lib/debug` by default.
    pub debug_directories: Vec<PathBuf>,
    /// debuginfod's client cache; nothing is ever fetched.
    pub debuginfod_cache: Option<PathBuf>,
    /// Folder of the `perf-PID.map` files of programs that generate code; `/tmp` by default.
    pub perf_map_directory: PathBuf,
    /// Show progress on stderr, where that is a terminal and the work takes longer than a second.
    pub progress: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            root: None,
            debug_directories: vec![PathBuf::from("/usr/lib/debug")],
            debuginfod_cache: debuginfod_cache(),
            perf_map_directory: PathBuf::from("/tmp"),
            progress: true,
        }
    }
}

/// The cache folder by the rules of debuginfod_find_debuginfo(3).
fn debuginfod_cache() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("DEBUGINFOD_CACHE_PATH")
        .or_else(|| folder("XDG_CACHE_HOME").map(|cache| cache.join("debuginfod_client")))
        .or_else(|| folder("HOME").map(|home| home.join(".cache/debuginfod_client")))
}
