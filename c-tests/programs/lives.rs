//! A Rust program: boxes, vectors that grow, an alignment over 16 bytes, a caught panic, threads with thread-locals.
//! The report must show lost's 4 boxes of 120 bytes kept, dropped's 10 freed, aligned's 3 of 256 bytes freed, and the
//! names of Rust's functions readable.

use std::cell::RefCell;
use std::hint::black_box;
use std::panic;
use std::thread;

thread_local! {
    static OWN: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

#[repr(align(64))]
struct Aligned([u8; 256]);

#[inline(never)]
fn lost() {
    for i in 0..4u8 {
        Box::leak(black_box(Box::new([i; 120])));
    }
}

#[inline(never)]
fn dropped() {
    for i in 0..10u8 {
        drop(black_box(Box::new([i; 120])));
    }
}

#[inline(never)]
fn aligned() {
    for i in 0..3u8 {
        let object = black_box(Box::new(Aligned([i; 256])));
        assert_eq!(&raw const object.0 as usize % 64, 0);
    }
}

#[inline(never)]
fn grows() -> usize {
    let mut numbers = Vec::new();
    for i in 0..1000u64 {
        numbers.push(black_box(i));
    }
    numbers.len()
}

#[inline(never)]
fn panics() -> bool {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let caught = panic::catch_unwind(|| {
        let _owner = black_box(vec![1u8; 333]);
        panic!("on purpose");
    });
    panic::set_hook(hook);
    caught.is_err()
}

#[inline(never)]
fn in_thread() -> usize {
    OWN.with_borrow_mut(|own| own.extend(0..100));
    OWN.with_borrow(Vec::len)
}

fn main() {
    lost();
    dropped();
    aligned();
    let length = grows();
    let caught = panics();
    let threads: Vec<_> = (0..8).map(|_| thread::spawn(in_thread)).collect();
    let sum: usize = threads.into_iter().map(|thread| thread.join().expect("it does not panic")).sum();
    println!("{length} {caught} {sum}");
}
