//! The interposed functions.

pub mod allocation;
pub mod collector;
pub mod confinement;
pub mod dispositions;
pub mod ending;
pub mod lisp;
pub mod loading;
pub mod running;
