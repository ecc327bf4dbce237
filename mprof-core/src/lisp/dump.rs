//! Lisp functions and types, from the engine's tables to the file's records.

use core::sync::atomic::Ordering;

use mprof_format::kinds::{Category, Frame, LAST_BIN};
use mprof_format::write::{LispFunctionRef, Sink, WriteError, Writer};

use super::functions::{self, Function};
use super::{kinds, objects};
use crate::bins;
use crate::location::FrameKey;
use crate::note::Text;

/// Begins a dump: no function has an id yet.
pub fn begin() {
    all().for_each(|function| function.id.store(0, Ordering::Relaxed));
}

fn all() -> impl Iterator<Item = &'static Function> {
    (0..functions::count()).filter_map(functions::get)
}

/// Writes the functions that are to be written and were not yet: those that chains need, and all compiled ones but the
/// Lisp system's own, which may be inlined where they are not seen. `frame` gives a key as the file has it.
///
/// # Errors
/// The sink's.
pub fn functions<S: Sink>(
    writer: &mut Writer<'_, S>,
    frame: impl Fn(FrameKey) -> Frame,
) -> Result<(), S::Error> {
    for function in all().filter(|function| function.id.load(Ordering::Relaxed) == 0) {
        if !function.is_used() && functions::is_system(function.start) {
            continue;
        }
        let code = (!function.is_interpreted()).then(|| (frame(function.start), function.length.into()));
        let entry = LispFunctionRef { name: function.name, package: function.package, code };
        match writer.lisp_function(&entry) {
            Ok(id) => function.id.store(id + 1, Ordering::Relaxed),
            Err(WriteError::Sink(error)) => return Err(error),
            Err(_) => {} // its module is on no chain
        }
    }
    Ok(())
}

/// The frame of an interpreted function; `None` where it is not written.
pub fn frame(key: FrameKey) -> Option<Frame> {
    let id = functions::get(key.value() as u32)?.id.load(Ordering::Relaxed);
    id.checked_sub(1).map(Frame::Lisp)
}

/// Writes what was allocated by type, or by size where a collector knows no types.
///
/// # Errors
/// The sink's.
pub fn type_bins<S: Sink>(writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
    for (number, kind) in kinds::all().iter().enumerate() {
        let (allocs, bytes) = objects::sum_of_kind(number);
        let mut name = Text::<24>::new();
        let _ = match kind.name {
            "" => core::fmt::write(&mut name, format_args!("type {number}")),
            known => core::fmt::Write::write_str(&mut name, known),
        };
        bin(writer, kind.category, name.as_bytes(), allocs, bytes)?;
    }
    for index in 0..bins::COUNT {
        let sum = objects::sum_of_size(index);
        let mut name = Text::<24>::new();
        let _ = match sum.size {
            Some(size) => core::fmt::write(&mut name, format_args!("{size}")),
            None => core::fmt::write(&mut name, format_args!("> {LAST_BIN}")),
        };
        let category = Category::of_collected_size(sum.size.unwrap_or(u64::MAX));
        bin(writer, category, name.as_bytes(), sum.allocs, sum.bytes)?;
    }
    Ok(())
}

fn bin<S: Sink>(
    writer: &mut Writer<'_, S>,
    category: Category,
    name: &[u8],
    allocs: u64,
    bytes: u64,
) -> Result<(), S::Error> {
    if allocs == 0 && bytes == 0 {
        return Ok(());
    }
    match writer.type_bin(category, name, allocs, bytes) {
        Err(WriteError::Sink(error)) => Err(error),
        _ => Ok(()),
    }
}
