//! The interposed functions.

pub mod allocation;
pub mod collector;
pub mod ending;
pub mod lisp;
pub mod loading;
pub mod running;
