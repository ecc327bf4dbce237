//! The profile's tables while a file is read: one method a kind of record. An entry enters its table only when it
//! is whole and all that it refers to is there, so what is in the tables is good however the reading ends.

mod history;
mod packed;
mod reachability;

use crate::entries::{Life, bin_bytes, bin_number};
use crate::error::Damage;
use crate::frames::{self, FrameMemory, Told};
use crate::input::Input;
use crate::kinds::{Bin, Category, Counter, Frame, LAST_BIN, ModuleKind, Reason, SourceFrame};
use crate::layout::Tag;
use crate::model::{
    Context, Function, LispFunction, Module, Names, Process, Profile, Site, Thread, Type, TypeBin,
};
use crate::packed::Cell;
use crate::varint::unzigzag;

/// What has been read.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    profile: Profile,
    has_process: bool,
    /// The last snapshot whose changes were told.
    changed: usize,
    /// What packed entries are told after; empty before the first.
    packed: Vec<Cell>,
}

impl Tables {
    /// The profile; `None` where there was no process record.
    pub(crate) fn into_profile(mut self) -> Option<Profile> {
        merge_counters(&mut self.profile.counters);
        history::merge(&mut self.profile.history);
        if let Some(reachability) = &mut self.profile.reachability {
            reachability::merge(reachability);
        }
        self.has_process.then_some(self.profile)
    }

    /// Reads one record of a known kind.
    pub(crate) fn record(&mut self, tag: Tag, input: &mut Input<'_>) -> Result<(), Damage> {
        if self.has_process == (tag == Tag::Process) {
            return Err(input.damage("one process record expected, before all others"));
        }
        match tag {
            Tag::Process => self.process(input)?,
            Tag::Arguments => self.arguments(input)?,
            Tag::Modules => self.modules(input)?,
            Tag::Threads => self.threads(input)?,
            Tag::Contexts => self.contexts(input)?,
            Tag::Counters => self.counters(input)?,
            Tag::Packed => self.packed(input)?,
            Tag::Bins => self.bins(input)?,
            Tag::LispFunctions => self.lisp_functions(input)?,
            Tag::TypeBins => self.type_bins(input)?,
            Tag::Peak => self.peak(input)?,
            Tag::Curve => self.curve(input)?,
            Tag::Snapshots => self.snapshots(input)?,
            Tag::Changes => self.changes(input)?,
            Tag::Lifetimes => self.lifetimes(input)?,
            Tag::Ages => self.ages(input)?,
            Tag::Growth => self.growth(input)?,
            Tag::Rounding => self.rounding(input)?,
            Tag::Reachability => self.reachability(input)?,
            Tag::Names => {
                self.profile.names.get_or_insert_default();
            }
            Tag::Files => self.files(input)?,
            Tag::Functions => self.functions(input)?,
            Tag::Sites => self.sites(input)?,
            Tag::Types => self.types(input)?,
            Tag::End => {}
        }
        if input.is_empty() { Ok(()) } else { Err(input.damage("the end of the record expected")) }
    }

    fn process(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        self.profile.process = Process {
            pid: input.number_to("process id")?,
            parent_pid: input.number_to("parent's process id")?,
            start_unix_ns: input.number("start time")?,
            elapsed_ns: input.number("elapsed time")?,
            reason: Reason::from_index(input.number("reason")?),
            signal: input.number_to("signal")?,
            depth_limit: input.number_to("depth limit")?,
            reentrant_events: input.number("re-entrant events")?,
            unrecorded: input.number("unrecorded allocations")?,
            program: input.string("program")?,
            arguments: Vec::new(),
        };
        self.has_process = true;
        Ok(())
    }

    fn arguments(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        while !input.is_empty() {
            self.profile.process.arguments.push(input.string("argument")?);
        }
        Ok(())
    }

    fn modules(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        first_id(input, self.profile.modules.len())?;
        while !input.is_empty() {
            let module = Module {
                kind: ModuleKind::from_index(input.number_to("module kind")?),
                path: input.string("module path")?,
                build_id: input.string("build-id")?,
                bias: input.number("bias")?,
                start: input.number("start")?,
                length: input.number("length")?,
            };
            push(&mut self.profile.modules, module, input)?;
        }
        Ok(())
    }

    fn threads(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        first_id(input, self.profile.threads.len())?;
        let mut cells = frames::EMPTY;
        let mut memory = FrameMemory::new(&mut cells);
        while !input.is_empty() {
            let name = input.string("thread name")?;
            let tid = input.number_to("thread id")?;
            let count = input.number("number of threads")?;
            let start = match input.number("presence of a start")? {
                0 => None,
                _ => {
                    let (_, frame) = self.frame(input, &mut memory)?;
                    Some(self.code(frame, input)?)
                }
            };
            push(&mut self.profile.threads, Thread { name, tid, count, start }, input)?;
        }
        Ok(())
    }

    fn contexts(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        first_id(input, self.profile.contexts.len())?;
        let mut cells = frames::EMPTY;
        let mut memory = FrameMemory::new(&mut cells);
        while !input.is_empty() {
            let start = input.clone();
            let id = self.profile.contexts.len() as u64;
            let (up, frame) = self.frame(input, &mut memory)?;
            let parent = match up {
                0 => None,
                _ => match id.checked_sub(up) {
                    Some(parent) => u32::try_from(parent).ok(),
                    None => {
                        return Err(start.damage(format!("the parent of context {id} expected before it")));
                    }
                },
            };
            let fits = match frame {
                Frame::Thread(_) => parent.is_none(),
                Frame::Special(_) => true,
                Frame::Code { .. } | Frame::Anonymous { .. } | Frame::Lisp(_) => parent.is_some(),
            };
            if !fits {
                return Err(
                    start.damage(format!("context {id}: another kind of frame expected at its place"))
                );
            }
            push(&mut self.profile.contexts, Context { parent, frame }, &start)?;
        }
        Ok(())
    }

    fn counters(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        let mut context = 0u64;
        while !input.is_empty() {
            let start = input.clone();
            context = context.wrapping_add(unzigzag(input.number("context")?) as u64);
            let kind: u16 = input.number_to("category")?;
            let allocs = input.number("allocations")?;
            let bytes = input.number("bytes")?;
            let (kept, kept_bytes) = match kind & 3 {
                n if n == Life::None as u16 => (0, 0),
                n if n == Life::All as u16 => (allocs, bytes),
                n if n == Life::Some as u16 => (input.number("kept objects")?, input.number("kept bytes")?),
                _ => return Err(start.damage("a counter of another kind expected")),
            };
            let category =
                u8::try_from(kind >> 2).map_err(|_| start.damage("a smaller category expected"))?;
            self.profile.counters.push(Counter {
                context: start.check_id(context, self.profile.contexts.len(), "context")?,
                category: Category::from_index(category),
                allocs,
                bytes,
                frees: allocs.wrapping_sub(kept),
                freed_bytes: bytes.wrapping_sub(kept_bytes),
            });
        }
        Ok(())
    }

    fn bins(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        let mut next = self.profile.bins.last().map_or(0, |last| bin_number(last.size) + 1);
        let mut number = 0u64;
        while !input.is_empty() {
            let start = input.clone();
            let head = input.number("size")?;
            number = number.saturating_add(head >> 1);
            if number < next || number > bin_number(None) {
                return Err(start.damage("a larger bin expected, up to the one for the largest objects"));
            }
            let size = (number <= LAST_BIN).then_some(number);
            let allocs = input.number("allocations")?;
            let frees = allocs.wrapping_sub(input.number("kept objects")?);
            let (bytes, freed_bytes) = if head & 1 == 1 {
                let bytes = input.number("bytes")?;
                (bytes, bytes.wrapping_sub(input.number("kept bytes")?))
            } else {
                let computed = bin_bytes(size, allocs, frees);
                computed.ok_or_else(|| start.damage("the bin's bytes expected"))?
            };
            self.profile.bins.push(Bin { size, allocs, frees, bytes, freed_bytes });
            next = number + 1;
        }
        Ok(())
    }

    fn lisp_functions(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        first_id(input, self.profile.collected.functions.len())?;
        let mut cells = frames::EMPTY;
        let mut memory = FrameMemory::new(&mut cells);
        while !input.is_empty() {
            let name = input.string("name of a Lisp function")?;
            let package = input.string("package")?;
            let code = match input.number("presence of code")? {
                0 => None,
                _ => {
                    let start = input.clone();
                    let (_, frame) = self.frame(input, &mut memory)?;
                    Some((self.code(frame, &start)?, input.number("length of the code")?))
                }
            };
            push(&mut self.profile.collected.functions, LispFunction { name, package, code }, input)?;
        }
        Ok(())
    }

    fn type_bins(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        while !input.is_empty() {
            let bin = TypeBin {
                category: Category::from_index(input.number_to("category")?),
                name: input.string("type")?,
                allocs: input.number("allocations")?,
                bytes: input.number("bytes")?,
            };
            self.profile.collected.bins.push(bin);
        }
        Ok(())
    }

    fn names(&mut self) -> &mut Names {
        self.profile.names.get_or_insert_default()
    }

    fn counts(&self) -> (usize, usize) {
        self.profile.names.as_ref().map_or((0, 0), |names| (names.files.len(), names.functions.len()))
    }

    fn files(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        first_id(input, self.names().files.len())?;
        while !input.is_empty() {
            let file = input.string("file")?;
            push(&mut self.names().files, file, input)?;
        }
        Ok(())
    }

    fn functions(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        first_id(input, self.names().functions.len())?;
        let (files, _) = self.counts();
        while !input.is_empty() {
            let function = Function {
                name: input.string("function name")?,
                linkage_name: input.string("linkage name")?,
                module: input.optional_id(self.profile.modules.len(), "module")?,
                file: input.optional_id(files, "file")?,
                line: input.number_to("line")?,
            };
            push(&mut self.names().functions, function, input)?;
        }
        Ok(())
    }

    fn sites(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        let (files, functions) = self.counts();
        let mut cells = frames::EMPTY;
        let mut memory = FrameMemory::new(&mut cells);
        while !input.is_empty() {
            let start = input.clone();
            let (count, frame) = self.frame(input, &mut memory)?;
            let frame = self.code(frame, &start)?;
            if count == 0 {
                return Err(start.damage("a source frame expected"));
            }
            let mut frames = Vec::new();
            for _ in 0..count {
                frames.push(SourceFrame {
                    function: input.id(functions, "function")?,
                    file: input.optional_id(files, "file")?,
                    line: input.number_to("line")?,
                    offset: input.number("offset")?,
                });
            }
            if self.names().sites.insert(frame, Site { frames }).is_some() {
                return Err(start.damage("one meaning for each frame expected"));
            }
        }
        Ok(())
    }

    fn types(&mut self, input: &mut Input<'_>) -> Result<(), Damage> {
        while !input.is_empty() {
            let user_type = Type {
                size: input.number("type size")?,
                system: input.number("mark of a system type")? != 0,
                name: input.string("type name")?,
                module: input.id(self.profile.modules.len(), "module")?,
            };
            self.names().types.push(user_type);
        }
        Ok(())
    }

    /// The number before a frame, and the frame, whose module or thread is there.
    fn frame(&self, input: &mut Input<'_>, memory: &mut FrameMemory<'_>) -> Result<(u64, Frame), Damage> {
        let start = input.clone();
        let head = input.number("frame")?;
        let told = match head & 3 {
            0 => Told::NewSpace { space: input.number("frame space")?, value: input.number("frame value")? },
            1 => Told::SameSpace { value: input.number("frame value")? },
            2 => Told::FirstSuccessor,
            _ => Told::SecondSuccessor,
        };
        let Some(frame) = memory.decode(told) else {
            return Err(start.damage("a frame of a known space expected"));
        };
        match frame {
            Frame::Thread(id) => start.check_id(id.into(), self.profile.threads.len(), "thread")?,
            Frame::Code { module, .. } => {
                start.check_id(module.into(), self.profile.modules.len(), "module")?
            }
            Frame::Lisp(id) => {
                start.check_id(id.into(), self.profile.collected.functions.len(), "Lisp function")?
            }
            Frame::Special(_) | Frame::Anonymous { .. } => 0,
        };
        Ok((head >> 2, frame))
    }

    fn code(&self, frame: Frame, input: &Input<'_>) -> Result<Frame, Damage> {
        match frame {
            Frame::Code { .. } | Frame::Anonymous { .. } => Ok(frame),
            _ => Err(input.damage("a frame of code expected")),
        }
    }
}

/// Reads the id at the start of a record, which must continue its table.
fn first_id(input: &mut Input<'_>, count: usize) -> Result<(), Damage> {
    let start = input.clone();
    let first = input.number("first id")?;
    if first == count as u64 {
        Ok(())
    } else {
        Err(start.damage(format!("the entry with id {count} expected, not {first}")))
    }
}

/// Adds an entry to a table with ids.
fn push<T>(table: &mut Vec<T>, entry: T, at: &Input<'_>) -> Result<(), Damage> {
    // Writers stop at the same number, so that an id's successor is a u32 too.
    if table.len() >= u32::MAX as usize {
        return Err(at.damage("fewer entries expected than a 32-bit id can tell apart"));
    }
    table.push(entry);
    Ok(())
}

/// Sorts counters by context and category and sums those that agree in both.
pub fn merge_counters(counters: &mut Vec<Counter>) {
    let key = |counter: &Counter| (counter.context, counter.category);
    if counters.is_sorted_by(|a, b| key(a) < key(b)) {
        return;
    }
    counters.sort_by_key(key);
    counters.dedup_by(|next, sum| {
        let same = key(next) == key(sum);
        if same {
            sum.allocs = sum.allocs.saturating_add(next.allocs);
            sum.bytes = sum.bytes.saturating_add(next.bytes);
            sum.frees = sum.frees.saturating_add(next.frees);
            sum.freed_bytes = sum.freed_bytes.saturating_add(next.freed_bytes);
        }
        same
    });
}
