//! All tests of `mpdisplay` from outside, in one program.

mod analysis;
mod builder;
mod chains;
mod command;
mod exports;
mod golden;
mod leak_check;
mod leak_kinds;
mod reading;
mod terminal;
mod when;
