//! Link options of `libmprof.so`.
#![allow(clippy::disallowed_macros)] // cargo is spoken to on standard output; the rule is for hooks

fn main() {
    // The constructor runs before any other library's, so that its exit handler runs after all of theirs.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,initfirst");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmprof.so");
    println!("cargo:rerun-if-changed=build.rs");
}
