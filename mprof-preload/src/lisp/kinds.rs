//! ECL's types, by number, and the proof that the numbers are what we think.
//!
//! The numbers depend on the version and on build options. They are checked by making an object of each of the types
//! that there are functions for, and looking at it. Where the numbers are not those of the version that we know, the
//! categories follow from these objects, for the order of the types has never changed; other types then have no name.

use core::alloc::Layout;

use std::alloc::GlobalAlloc;

use mprof_core::arena::Arena;
use mprof_core::lisp::kinds::{self, KINDS, Kind};
use mprof_format::kinds::Category;

use super::ecl::{self, NIL, small_integer};
use super::names;

/// Number of conses, which have no type byte: lists come first.
pub const CONS: u8 = 1;
/// Number of bodies without an object.
pub const DATA: u8 = 0;

const fn kind(name: &'static str, category: Category, has_body: bool) -> Kind {
    Kind { name, category, has_body }
}

const fn float(name: &'static str) -> Kind {
    kind(name, Category::Float, false)
}

const fn structure(name: &'static str) -> Kind {
    kind(name, Category::Structure, true)
}

const fn other(name: &'static str, has_body: bool) -> Kind {
    kind(name, Category::OtherObject, has_body)
}

/// The types of 21.2.1 (`cl_type` of `<ecl/object.h>`).
static KNOWN: [Kind; KINDS] = {
    let known = [
        other("data", false),
        kind("cons", Category::Cons, false),
        other("character", false),
        other("fixnum", false),
        other("bignum", false),
        other("ratio", false),
        float("single-float"),
        float("double-float"),
        float("long-float"),
        other("complex", false),
        float("complex-single-float"),
        float("complex-double-float"),
        float("complex-long-float"),
        other("symbol", false),
        other("package", true),
        other("hash-table", true),
        structure("array"),
        structure("vector"),
        structure("string"),
        structure("base-string"),
        structure("bit-vector"),
        other("stream", true),
        other("random-state", true),
        other("readtable", true),
        other("pathname", false),
        other("bytecodes", true),
        other("bytecodes-closure", false),
        other("compiled-function", false),
        other("compiled-function", false),
        other("compiled-closure", false),
        structure("instance"),
        other("process", true),
        other("lock", false),
        other("rwlock", false),
        other("condition-variable", false),
        other("semaphore", false),
        other("barrier", false),
        other("mailbox", false),
        other("codeblock", true),
        other("foreign-data", true),
        other("frame", true),
        other("weak-pointer", false),
        other("sse-pack", false),
    ];
    let mut all = [Kind::NONE; KINDS];
    let mut number = 0;
    while number < known.len() {
        all[number] = known[number];
        number += 1;
    }
    all
};

/// Numbers of the types that there are functions for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Anchors {
    bignum: u8,
    ratio: u8,
    single_float: u8,
    double_float: u8,
    complex: u8,
    symbol: u8,
    vector: u8,
    string: u8,
    base_string: u8,
    instance: u8,
}

/// Those of 21.2.1.
const KNOWN_ANCHORS: Anchors = Anchors {
    bignum: 4,
    ratio: 5,
    single_float: 6,
    double_float: 7,
    complex: 9,
    symbol: 13,
    vector: 17,
    string: 18,
    base_string: 19,
    instance: 30,
};

/// What is known of the types before they are checked.
pub fn assume() {
    kinds::set(&KNOWN);
}

/// Checks the numbers; false where nothing can be said about them. The Lisp system has been started.
pub fn check() -> bool {
    // SAFETY: each is called as its declaration in `<ecl/external.h>` wants it, in the thread that started ECL.
    let objects = unsafe {
        [
            ecl::ecl_make_integer()(isize::MAX / 2),
            ecl::ecl_make_ratio()(small_integer(1), small_integer(2)),
            ecl::ecl_make_single_float()(1.5),
            ecl::ecl_make_double_float()(1.5),
            ecl::ecl_make_complex()(small_integer(1), small_integer(2)),
            ecl::ecl_alloc_simple_vector()(1, 0),
            ecl::ecl_alloc_adjustable_extended_string()(1),
            ecl::ecl_make_simple_base_string()(c"x".as_ptr(), 1),
            ecl::ecl_alloc_instance()(1),
        ]
    };
    // SAFETY: a cons of immediate objects.
    let is_cons = ecl::is_cons(unsafe { ecl::ecl_cons()(small_integer(1), NIL) });
    // SAFETY: the objects were made just now.
    let types = objects.map(|object| unsafe { ecl::type_of(object) }.unwrap_or(0));
    let [bignum, ratio, single_float, double_float, complex, vector, string, base_string, instance] = types;
    let symbol = names::symbol_type().unwrap_or(0);
    let anchors = Anchors {
        bignum,
        ratio,
        single_float,
        double_float,
        complex,
        symbol,
        vector,
        string,
        base_string,
        instance,
    };
    if !is_cons {
        return false;
    }
    if anchors == KNOWN_ANCHORS {
        kinds::set(&KNOWN);
        return true;
    }
    match derive(&anchors).and_then(|derived| Some((derived, allocate()?))) {
        Some((derived, place)) => {
            // SAFETY: the memory is ours alone, fits, and stays.
            kinds::set(unsafe {
                place.write(derived);
                &*place
            });
            true
        }
        None => false,
    }
}

/// Memory for other types.
fn allocate() -> Option<*mut [Kind; KINDS]> {
    // SAFETY: the layout is not empty.
    let memory = unsafe { Arena.alloc(Layout::new::<[Kind; KINDS]>()) }.cast::<[Kind; KINDS]>();
    (!memory.is_null()).then_some(memory)
}

/// The types of another version: those that there are functions for, and those whose place among them is known. `None`
/// where they are in another order.
fn derive(anchors: &Anchors) -> Option<[Kind; KINDS]> {
    let &Anchors { bignum, ratio, single_float, double_float, complex, .. } = anchors;
    let &Anchors { symbol, vector, string, base_string, instance, .. } = anchors;
    let order = [CONS, bignum, ratio, single_float, double_float, complex, symbol, vector, string];
    let rest = [string, base_string, instance, KINDS as u8];
    if !order.is_sorted_by(|a, b| a < b) || !rest.is_sorted_by(|a, b| a < b) {
        return None;
    }
    let mut all = [Kind::NONE; KINDS];
    // A type of which nothing is known may well have a body.
    all.fill(other("", true));
    let mut set = |number: u8, kind: Kind| all[usize::from(number) % KINDS] = kind;
    set(DATA, other("data", false));
    set(CONS, kind("cons", Category::Cons, false));
    set(bignum, other("bignum", false));
    set(ratio, other("ratio", false));
    (single_float..complex).for_each(|number| set(number, float("long-float")));
    set(single_float, float("single-float"));
    set(double_float, float("double-float"));
    set(complex, other("complex", false));
    (complex + 1..symbol).for_each(|number| set(number, float("complex-float")));
    set(symbol, other("symbol", false));
    set(vector - 1, structure("array"));
    set(vector, structure("vector"));
    set(string, structure("string"));
    set(base_string, structure("base-string"));
    set(base_string + 1, structure("bit-vector"));
    set(instance, structure("instance"));
    Some(all)
}
