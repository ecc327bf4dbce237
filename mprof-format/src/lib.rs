//! The mprof data file: one definition, a writer that needs no allocator, a reader that trusts nothing.
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

#[cfg(feature = "std")]
pub mod model;
