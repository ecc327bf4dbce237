//! The profile, from the heaps to the file's bytes. Allocates nothing.

mod history;
mod reachability;
mod straight;

use core::sync::atomic::Ordering;

use mprof_format::kinds::{Category, Counter, Frame, ModuleKind, Reason, Special};
use mprof_format::write::{Entry, ModuleRef, ProcessRef, Sink, ThreadRef, WriteError, Writer};

use crate::heap::{self, HeapView};
use crate::ledger::Peak;
use crate::lifetimes::Lifetime;
use crate::lisp;
use crate::location::{FrameKey, SPACE_ANONYMOUS, SPACE_LISP, SPACE_MODULES, SPACE_SPECIAL, SPACE_THREAD};
use crate::process::{self, OPTIONS};
use crate::records::{self, Chunk, Tally};
use crate::{bins, events, ledger, modules, threads};
use history::Clock;

/// What the engine does not know about the process.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a, Arguments> {
    /// Why the profile is written.
    pub reason: Reason,
    /// Signal number where that is the reason, else 0.
    pub signal: u32,
    /// Absolute path of the program.
    pub program: &'a [u8],
    /// Command line.
    pub arguments: Arguments,
}

/// Writes the profile. `buffer`: see [`Writer::new`].
///
/// # Errors
/// The sink's.
pub fn write<'a, S: Sink, A>(sink: S, buffer: &mut [u8], facts: Facts<'_, A>) -> Result<S, S::Error>
where
    A: Iterator<Item = &'a [u8]>,
{
    let writer = Writer::new(sink, buffer);
    let (clock, peak) = (Clock::now(), ledger::peak());
    let mut dump = Dump { writer, clock, peak, modules: 0, threads: 0, contexts: 0 };
    match dump.everything(facts) {
        Ok(()) => dump.writer.finish().map_err(sink_error),
        Err(error) => Err(error),
    }
}

/// With a buffer of the required size, and entries in the required order, only the sink can fail; what the writer
/// refuses for other reasons is left out.
fn lenient<T: Default, E>(result: Result<T, WriteError<E>>) -> Result<T, E> {
    match result {
        Ok(value) => Ok(value),
        Err(WriteError::Sink(error)) => Err(error),
        Err(_) => Ok(T::default()),
    }
}

fn sink_error<E>(error: WriteError<E>) -> E {
    match error {
        WriteError::Sink(error) => error,
        _ => unreachable!("finishing writes one number"),
    }
}

struct Dump<'a, S: Sink> {
    writer: Writer<'a, S>,
    clock: Clock,
    peak: Peak,
    /// Modules written.
    modules: usize,
    /// Thread records written.
    threads: usize,
    /// Contexts written.
    contexts: u32,
}

impl<S: Sink> Dump<'_, S> {
    fn everything<'a, A: Iterator<Item = &'a [u8]>>(&mut self, facts: Facts<'_, A>) -> Result<(), S::Error> {
        lenient(self.writer.header(0))?;
        lenient(self.writer.process(&ProcessRef {
            pid: process::id(),
            parent_pid: process::parent(),
            program: facts.program,
            start_unix_ns: process::start_unix(),
            elapsed_ns: self.clock.elapsed(),
            reason: facts.reason,
            signal: facts.signal,
            depth_limit: OPTIONS.depth.load(Ordering::Relaxed),
            reentrant_events: process::reentrant(),
            unrecorded: process::unrecorded(),
        }))?;
        for argument in facts.arguments {
            lenient(self.writer.argument(argument))?;
        }
        self.peak()?;
        lisp::dump::begin();
        self.reachability()?;
        for view in heap::current() {
            self.heap(view, facts.program)?;
        }
        self.unknown()?;
        self.curve()?;
        self.snapshots()?;
        for index in 0..bins::COUNT {
            let all = heap::current().map(HeapView::bins).chain(core::iter::once(&events::COMMON_BINS));
            let bin = bins::sum(index, all);
            if bin.allocs != 0 || bin.frees != 0 {
                lenient(self.writer.bin(&bin))?;
            }
        }
        lisp::dump::type_bins(&mut self.writer)?;
        self.rounding()
    }

    /// Contexts and counters of one heap.
    fn heap(&mut self, view: &HeapView, program: &[u8]) -> Result<(), S::Error> {
        // What a node below this length refers to exists already, and is written first.
        let length = view.tree().len();
        let peak = self.peak;
        self.modules(program)?;
        self.threads()?;
        lisp::dump::functions(&mut self.writer, frame)?;
        let first = self.contexts;
        let id = |node: u32| first + node - 1;
        for index in 1..length {
            let node = view.tree().node(index);
            let parent = (node.parent != 0).then(|| id(node.parent));
            lenient(self.writer.context(parent, frame(node.key)))?;
            self.contexts += 1;
        }
        let chunks = || records::chunks().filter(|chunk| chunk.owner().cast_const() == view.address());
        let tallies = |chunk: &'static Chunk| {
            let tallies = chunk.tallies(&peak, view.balance().epoch());
            tallies.filter(|tally| (1..length).contains(&tally.node))
        };
        for index in 1..length {
            let latest = view.tree().node(index).record.load(Ordering::Acquire);
            for (tally, lifetime) in records::of_context(latest, &peak, view.balance().epoch()) {
                self.counter(id(index), &tally, &lifetime)?;
            }
        }
        for tally in chunks().flat_map(tallies) {
            self.kept(id(tally.node), &tally)?;
        }
        let known = |node: u32| (1..length).contains(&node).then(|| id(node));
        chunks().try_for_each(|chunk| self.ages(chunk, known))?;
        chunks().try_for_each(|chunk| self.growth(chunk, known))?;
        chunks().for_each(|chunk| chunk.set_base(first));
        Ok(())
    }

    /// What was counted without a chain.
    fn unknown(&mut self) -> Result<(), S::Error> {
        let peak = self.peak;
        if records::unknown_tallies(&peak).all(|tally| tally.allocs == 0) {
            return Ok(());
        }
        let context = self.contexts;
        lenient(self.writer.context(None, Frame::Special(Special::Unknown)))?;
        self.contexts += 1;
        for tally in records::unknown_tallies(&peak) {
            self.counter(context, &tally, &Lifetime::default())?;
        }
        records::unknown_tallies(&peak).try_for_each(|tally| self.kept(context, &tally))
    }

    /// What is known of one record: what was counted, what was alive at the peak, and how long the freed objects lived.
    fn counter(&mut self, context: u32, tally: &Tally, lifetime: &Lifetime) -> Result<(), S::Error> {
        let category = Category::from_index(tally.category as u8);
        let counter = (tally.allocs > 0).then_some(Counter {
            context,
            category,
            allocs: tally.allocs,
            bytes: tally.bytes,
            frees: tally.frees,
            freed_bytes: tally.freed_bytes,
        });
        let live = history::live(context, category, tally);
        let lifetime = history::lifetime(context, category, lifetime);
        let entry = Entry { counter: counter.as_ref(), live: live.as_ref(), lifetime: lifetime.as_ref() };
        // One without anything is refused, and left out.
        lenient(self.writer.entry(&entry))
    }

    /// The modules that were not written yet.
    fn modules(&mut self, program: &[u8]) -> Result<(), S::Error> {
        for module in modules::all().skip(self.modules) {
            let vdso = module.path.starts_with(b"linux-vdso.so") || module.path.starts_with(b"linux-gate.so");
            lenient(self.writer.module(&ModuleRef {
                kind: match vdso {
                    true => ModuleKind::Vdso,
                    false if module.is_monitor() => ModuleKind::Monitor,
                    false => ModuleKind::File,
                },
                path: if module.path.is_empty() { program } else { module.path },
                build_id: module.build_id,
                bias: module.bias as u64,
                start: module.start as u64,
                length: (module.end - module.start) as u64,
            }))?;
            self.modules += 1;
        }
        Ok(())
    }

    /// The thread records that were not written yet.
    fn threads(&mut self) -> Result<(), S::Error> {
        for thread in threads::all().skip(self.threads) {
            let length = thread.name.iter().position(|&byte| byte == 0).unwrap_or(thread.name.len());
            lenient(self.writer.thread(&ThreadRef {
                name: &thread.name[..length],
                tid: thread.id,
                count: thread.count,
                start: thread.start.map(frame).filter(|frame| match *frame {
                    Frame::Code { module, .. } => (module as usize) < self.modules,
                    Frame::Anonymous { .. } => true,
                    _ => false,
                }),
            }))?;
            self.threads += 1;
        }
        Ok(())
    }
}

/// A frame key as the file has it.
fn frame(key: FrameKey) -> Frame {
    let location = key.location();
    let interrupted = location.is_interrupted();
    match key.space() {
        SPACE_SPECIAL if key == FrameKey::UNKNOWN => Frame::Special(Special::Unknown),
        SPACE_SPECIAL => Frame::Special(Special::Truncated),
        SPACE_THREAD => Frame::Thread(key.value() as u32),
        SPACE_ANONYMOUS => Frame::Anonymous { address: location.address() as u64, interrupted },
        SPACE_LISP => lisp::dump::frame(key).unwrap_or(Frame::Special(Special::Unknown)),
        space => {
            let number = space.saturating_sub(SPACE_MODULES);
            let bias = modules::get(usize::from(number)).map_or(0, |module| module.bias);
            let address = location.address().wrapping_sub(bias) as u64;
            Frame::Code { module: u32::from(number), address, interrupted }
        }
    }
}
