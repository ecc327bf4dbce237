//! The mprof data file: one definition, a writer that needs no allocator, a reader that trusts nothing.
//!
//! A file describes one process image. `libmprof.so` streams it through [`write::Writer`], which is `no_std`, uses
//! nothing but a buffer that it is given, and never panics. `mpfilt` and `mpdisplay` get a checked
//! `model::Profile` from `read`, and `mpfilt` writes it with its names by `write_profile`; these three need the
//! feature `std`. The bytes are drawn in [`layout`] and told in `docs/FORMAT.md`.
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use mprof_format::kinds::{Category, Counter, Frame};
//! use mprof_format::write::{MIN_BUFFER, ModuleRef, ProcessRef, ThreadRef, Writer};
//! use mprof_format::{IoSink, read};
//!
//! let mut buffer = [0; MIN_BUFFER];
//! let mut writer = Writer::new(IoSink(Vec::new()), &mut buffer);
//! writer.header(0)?;
//! writer.process(&ProcessRef { pid: 42, program: b"/bin/widgets", ..ProcessRef::default() })?;
//! writer.argument(b"widgets")?;
//! let module = writer.module(&ModuleRef { path: b"/bin/widgets", ..ModuleRef::default() })?;
//! let thread = writer.thread(&ThreadRef { name: b"main", count: 1, ..ThreadRef::default() })?;
//! let top = writer.context(None, Frame::Thread(thread))?;
//! let main = writer.context(Some(top), Frame::Code { module, address: 0x11d3, interrupted: false })?;
//! let category = Category::of_size(204);
//! let (allocs, bytes, frees, freed_bytes) = (10, 2040, 1, 204);
//! writer.counter(&Counter { context: main, category, allocs, bytes, frees, freed_bytes })?;
//! let IoSink(file) = writer.finish()?;
//!
//! let loaded = read(&file)?;
//! assert_eq!(loaded.damage, None);
//! assert_eq!(loaded.profile.counters[0].kept_bytes(), 1836);
//! // Cut, it gives what came before the cut.
//! let loaded = read(&file[..file.len() - 20])?;
//! assert!(loaded.damage.is_some());
//! assert_eq!(loaded.profile.contexts.len(), 2);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
// Both directions of an encoding stand side by side; without std there is nobody to decode.
#![cfg_attr(not(feature = "std"), allow(dead_code))]

#[cfg(all(test, not(feature = "std")))]
extern crate std;

mod entries;
mod frames;
pub mod history;
pub mod kinds;
pub mod layout;
mod packed;
pub mod reachability;
mod record;
mod refs;
pub mod varint;
pub mod write;

#[cfg(feature = "std")]
mod decode;
#[cfg(feature = "std")]
mod error;
#[cfg(feature = "std")]
mod input;
#[cfg(feature = "std")]
pub mod model;
#[cfg(feature = "std")]
mod tables;
#[cfg(feature = "std")]
mod write_profile;

#[cfg(feature = "std")]
pub use decode::{Loaded, read};
#[cfg(feature = "std")]
pub use error::{Damage, ReadError};
#[cfg(feature = "std")]
pub use tables::merge_counters;
#[cfg(feature = "std")]
pub use write_profile::{IoSink, write_profile};
