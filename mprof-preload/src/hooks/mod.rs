//! The interposed functions.

pub mod allocation;
pub mod confinement;
pub mod dispositions;
pub mod ending;
pub mod loading;
pub mod running;
