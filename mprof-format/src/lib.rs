//! The mprof data file: one definition, a writer that needs no allocator, a reader that trusts nothing.
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
// Both directions of an encoding stand side by side; without std there is nobody to decode.
#![cfg_attr(not(feature = "std"), allow(dead_code))]

#[cfg(all(test, not(feature = "std")))]
extern crate std;

mod entries;
mod frames;
pub mod kinds;
pub mod layout;
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
pub use write_profile::{IoSink, write_profile};
