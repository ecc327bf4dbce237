//! What `make install` and the Debian package put on a machine, in a folder that stands for its root.

use crate::scratch::{Scratch, done, skipped};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Both write the generated pages to the target folder first.
static GENERATING: Mutex<()> = Mutex::new(());

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

fn make(words: &[&str]) {
    let mut command = Command::new("make");
    let output = command.current_dir(project()).arg("-s").args(words).output().expect("make runs");
    assert!(output.status.success(), "{output:?}");
}

/// All files below a folder, relative to it.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("readable").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(folder).expect("below").to_str().expect("text").to_owned());
            }
        }
    }
    found
}

/// Files that a machine must have, with the library's folder and that of zsh's completions.
fn expected(library: &str, zsh: &str, compressed: &str) -> Vec<String> {
    let mut files = vec![
        format!("usr/{library}/libmprof.so"),
        format!("usr/share/man/man3/libmprof.3{compressed}"),
        "usr/include/mprof.h".into(),
    ];
    for program in ["mprof", "mpfilt", "mpdisplay"] {
        files.push(format!("usr/bin/{program}"));
        files.push(format!("usr/share/man/man1/{program}.1{compressed}"));
        files.push(format!("usr/share/bash-completion/completions/{program}"));
        files.push(format!("usr/share/zsh/{zsh}/_{program}"));
        files.push(format!("usr/share/fish/vendor_completions.d/{program}.fish"));
    }
    files
}

/// The installed command finds the installed library.
fn works(root: &Path, scratch: &Scratch) {
    let mut command = scratch.command(root.join("usr/bin/mprof"));
    let run = done(command.arg("./widgets").env_remove("MPROF_LIB").output().expect("it runs"));
    assert!(run.stderr.starts_with("mprof: allocated 10000 objects, 2040000 bytes;"), "{}", run.stderr);
}

#[test]
fn make_installs_and_uninstalls() {
    let _alone = GENERATING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let scratch = Scratch::widgets();
    let root = scratch.file("root");
    let words = ["PREFIX=/usr", &format!("DESTDIR={}", root.display())];
    make(&[&["install"], &words[..]].concat());
    let installed = files(&root);
    for file in expected("lib", "site-functions", "") {
        assert!(installed.contains(&file), "{file}: {installed:?}");
    }
    for document in ["README.md", "LICENSE-MIT", "FORMAT.md"] {
        assert!(installed.contains(&format!("usr/share/doc/mprof/{document}")), "{document}");
    }
    works(&root, &scratch);
    make(&[&["uninstall"], &words[..]].concat());
    assert_eq!(files(&root), BTreeSet::new());
}

#[test]
fn the_debian_package_holds_the_same() {
    if Command::new("dpkg-deb").arg("--version").output().is_err() {
        return skipped("there is no dpkg-deb");
    }
    let _alone = GENERATING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let scratch = Scratch::widgets();
    let script = project().join("packaging/deb.sh");
    let built = done(Command::new(script).arg(scratch.path()).output().expect("it runs"));
    assert_eq!(built.status, 0, "{}", built.stderr);
    let package = PathBuf::from(built.stdout.lines().last().expect("the package's path"));
    let dpkg = |words: &[&str]| done(Command::new("dpkg-deb").args(words).output().expect("it runs"));
    let root = scratch.file("root");
    let (package, target) = (package.to_str().expect("text"), root.to_str().expect("text"));
    assert_eq!(dpkg(&["-x", package, target]).status, 0);
    let installed = files(&root);
    for file in expected("lib/x86_64-linux-gnu", "vendor-completions", ".gz") {
        assert!(installed.contains(&file), "{file}: {installed:?}");
    }
    assert_eq!(
        dpkg(&["-f", package, "Package", "Architecture"]).stdout,
        "Package: mprof\nArchitecture: amd64\n"
    );
    works(&root, &scratch);
}
