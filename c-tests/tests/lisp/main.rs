//! Lisp programs (`lisp/*.lisp`) under ECL: what they allocate by type, to the object, and by whom.
//!
//! The numbers are those of ECL 21.2.1, as its compiler and its interpreter allocate; see docs/LISP.md.

mod collector;
mod direct;
mod ecl;
mod exports;
mod facts;
mod larger;
mod names;
mod numbers;
