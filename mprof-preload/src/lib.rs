//! `libmprof.so`: preloaded under a program, it stands before `malloc` and its kin and records who allocates.
//!
//! This is the skin: it knows the C library, the engine (`mprof-core`) does not.
//!
//! | module | what |
//! |---|---|
//! | [`hooks::allocation`] | the allocation functions |
//! | [`hooks::ending`], [`hooks::running`] | how a process ends; how it starts another |
//! | [`hooks::loading`] | code that comes and goes |
//! | [`lisp`], [`hooks::lisp`] | ECL, where it is in the process |
//! | [`hooks::collector`] | libgc, where its objects are asked for |
//! | [`library_calls`], [`elf`] | loaded objects, and how to have their calls come to us |
//! | [`shim`] | the few instructions between a C symbol and a hook |
//! | [`originals`], [`bootstrap`] | the functions behind us; memory until they are found |
//! | [`startup`] | the order of things at the start |
//! | [`options`], [`identity`] | what was asked for; who we are |
//! | [`leak_check`], [`viewer`], [`addresses`] | what leaks bring about at the end; mpdisplay as a child; the table without it |
//! | [`profile`] | writing the file |
//! | [`reachability`], [`registers`] | which kept objects can still be reached |
//! | [`reference`] | the `backtrace` crate as a second opinion on call chains |
//!
//! What Rust code allocates in here comes from the engine's arena and never reaches the program's allocator.
// `pub` says what the other modules use; nothing but the C symbols leaves the library.
#![allow(unreachable_pub)]

mod addresses;
mod alternate_stack;
mod api;
mod bootstrap;
mod dynamic_symbols;
mod elf;
mod file_name;
mod hooks;
mod identity;
mod leak_check;
mod library_calls;
mod lisp;
mod options;
mod originals;
mod own_stack;
mod profile;
mod reachability;
mod redirect;
mod reference;
mod registers;
mod shim;
mod signals;
mod startup;
mod viewer;

#[global_allocator]
static ARENA: mprof_core::arena::Arena = mprof_core::arena::Arena;
