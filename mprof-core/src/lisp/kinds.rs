//! Types of Lisp objects, and how much was allocated of each.

use core::sync::atomic::{AtomicPtr, Ordering};

use mprof_format::kinds::Category;

use crate::arena::Zeroable;
use crate::records::Count;

/// Types at most; a type is known by a number below this.
pub const KINDS: usize = 64;

/// A type of objects.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Name, as the language has it; empty for numbers that are no type's.
    pub name: &'static str,
    /// Category of its objects.
    pub category: Category,
    /// Whether its objects have parts (a vector's elements, an instance's slots) that are allocated by themselves.
    pub has_body: bool,
}

impl Kind {
    /// No type.
    pub const NONE: Kind = Kind { name: "", category: Category::OtherObject, has_body: false };
}

/// The types by number.
static TABLE: AtomicPtr<[Kind; KINDS]> = AtomicPtr::new(core::ptr::null_mut());
static NOTHING: [Kind; KINDS] = [Kind::NONE; KINDS];

/// Makes the types known.
pub fn set(kinds: &'static [Kind; KINDS]) {
    TABLE.store((&raw const *kinds).cast_mut(), Ordering::Release);
}

/// All types, by number.
#[inline(always)]
pub fn all() -> &'static [Kind; KINDS] {
    // SAFETY: only `set` stores here, a reference that stays.
    unsafe { TABLE.load(Ordering::Relaxed).as_ref() }.unwrap_or(&NOTHING)
}

/// What was allocated of a type.
#[derive(Debug, Default)]
#[repr(C, align(16))]
struct Counts {
    allocs: Count,
    bytes: Count,
}

/// What a thread allocated, by type.
#[derive(Debug)]
pub struct KindCounts([Counts; KINDS]);

// SAFETY: integers.
unsafe impl Zeroable for KindCounts {}

impl KindCounts {
    /// Nothing counted yet.
    pub const fn new() -> KindCounts {
        KindCounts([const { Counts { allocs: Count::new(), bytes: Count::new() } }; KINDS])
    }

    /// Counts objects of a type, as the owner.
    #[inline(always)]
    pub fn add_owned(&self, kind: u8, objects: u64, bytes: u64) {
        let counts = &self.0[usize::from(kind) % KINDS];
        counts.allocs.add_owned(objects);
        counts.bytes.add_owned(bytes);
    }

    /// Counts objects of a type, from any thread.
    pub fn add_shared(&self, kind: u8, objects: u64, bytes: u64) {
        let counts = &self.0[usize::from(kind) % KINDS];
        counts.allocs.add_shared(objects);
        counts.bytes.add_shared(bytes);
    }

    /// Objects and bytes of a type.
    pub fn get(&self, kind: usize) -> (u64, u64) {
        (self.0[kind].allocs.get(), self.0[kind].bytes.get())
    }

    /// Forgets all counts. Only while nothing counts.
    pub fn clear(&self) {
        for counts in &self.0 {
            counts.allocs.set(0);
            counts.bytes.set(0);
        }
    }
}

impl Default for KindCounts {
    fn default() -> Self {
        KindCounts::new()
    }
}
