//! The writer: streams a profile into a [`Sink`] through one buffer that the caller gives. It needs no allocator
//! and never panics, so that the monitor can use it inside a dying program.
//!
//! Order of the calls: [`Writer::header`], [`Writer::process`], then modules, threads, Lisp functions, contexts,
//! counters, bins, bins of types, peak, curve and what else there is about the course of time, and for `mpfilt` names,
//! files, functions, sites, types; [`Writer::finish`] last. What an entry refers to must
//! have been written before it (a context's modules and threads, a counter's context …); kinds may otherwise take
//! turns, but entries share a record, and so its short deltas, only with others of their kind next to them.

mod history;
mod packed;
mod reachability;

use crate::entries::{bin_bytes, bin_number, optional};
use crate::frames::{CELLS_SIZE, FrameMemory, Told, cells_from};
use crate::kinds::{Bin, Category, Frame, LAST_BIN, SourceFrame};
use crate::layout::{FILE_HEADER, LITTLE_ENDIAN, MAGIC, POINTER_WIDTH, Tag, VERSION};
use crate::record::{self, Record};
use crate::varint::MAX_VARINT;

pub use crate::refs::{FunctionRef, LispFunctionRef, ModuleRef, ProcessRef, ThreadRef, TypeRef};
pub use packed::Entry;

/// Where the file's bytes go.
pub trait Sink {
    /// What can go wrong.
    type Error;

    /// Writes all of `bytes`; called once a record.
    ///
    /// # Errors
    /// Where not all could be written. The writer hands the error on; the file is then incomplete.
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;
}

/// Why something was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError<E> {
    /// The sink's error. The file ends somewhere.
    Sink(E),
    /// The entry refers to what has not been written, or does not follow the one before it as it must; the text
    /// says which rule. The entry was left out; the writer can go on.
    Invalid(&'static str),
    /// The entry does not fit the buffer, not even with its strings cut. It was left out; the writer can go on.
    TooLarge,
}

impl<E: core::fmt::Display> core::fmt::Display for WriteError<E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            WriteError::Sink(error) => error.fmt(f),
            WriteError::Invalid(rule) => write!(f, "not a valid profile: {rule}"),
            WriteError::TooLarge => f.write_str("an entry does not fit the writer's buffer"),
        }
    }
}

impl<E: core::error::Error + 'static> core::error::Error for WriteError<E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            WriteError::Sink(error) => Some(error),
            _ => None,
        }
    }
}

/// Smallest buffer with which only over-long strings are cut and nothing else is [`WriteError::TooLarge`], bytes.
pub const MIN_BUFFER: usize = BEFORE_RECORD + crate::packed::LONGEST + 64;

/// Bytes of a buffer that are used for other things than the record.
pub const BEFORE_RECORD: usize = CELLS_SIZE + crate::packed::MEMORY;

/// Most bytes that an entry's numbers take, site frames aside; with [`MIN_BUFFER`] there is always room for them.
const NUMBERS: usize = 12 * MAX_VARINT;

/// Entries written so far, of the kinds that others refer to.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    modules: u32,
    threads: u32,
    lisp_functions: u32,
    contexts: u32,
    files: u32,
    functions: u32,
}

/// Writes one profile. See the module's text for the order of the calls.
pub struct Writer<'a, S: Sink> {
    sink: S,
    record: Record<'a>,
    /// Records handed to the sink.
    records: u64,
    counts: Counts,
    /// Frames earlier in the open record.
    frames: FrameMemory<'a>,
    /// Counters earlier in the file, and the entries in the open record.
    packed: packed::Memory<'a>,
    /// Last bin in the open record, as [`bin_number`].
    bin: u64,
    /// Lowest bin that may follow, as [`bin_number`].
    next_bin: u64,
    /// The same for the records about the course of time.
    last: history::Last,
    heads: history::Heads,
}

type Written<T, S> = Result<T, WriteError<<S as Sink>::Error>>;

impl<'a, S: Sink> Writer<'a, S> {
    /// A writer that uses the first [`BEFORE_RECORD`] bytes of `buffer` as a memory of frames and counters, and the rest
    /// to collect a record in (in all at least [`MIN_BUFFER`]). So a file that is cut loses no more than one such record
    /// before the cut.
    pub fn new(sink: S, buffer: &'a mut [u8]) -> Writer<'a, S> {
        let (cells, buffer) = cells_from(buffer);
        let (packed, buffer) = packed::Memory::from(buffer);
        Writer {
            sink,
            record: Record::new(buffer),
            records: 0,
            counts: Counts::default(),
            frames: FrameMemory::new(cells),
            packed,
            bin: 0,
            next_bin: 0,
            last: history::Last::default(),
            heads: history::Heads::default(),
        }
    }

    /// Writes the file header; `flags` as `layout::FILE_INCOMPLETE`, normally 0.
    ///
    /// # Errors
    /// The sink's.
    pub fn header(&mut self, flags: u32) -> Written<(), S> {
        let mut header = [0; FILE_HEADER];
        header[..8].copy_from_slice(&MAGIC);
        header[8..10].copy_from_slice(&VERSION.to_le_bytes());
        header[10] = LITTLE_ENDIAN;
        header[11] = POINTER_WIDTH;
        header[12..16].copy_from_slice(&flags.to_le_bytes());
        let crc = crc32fast::hash(&header[..16]);
        header[16..].copy_from_slice(&crc.to_le_bytes());
        self.sink.write_all(&header).map_err(WriteError::Sink)
    }

    /// Writes the process; once, before anything else.
    ///
    /// # Errors
    /// The sink's; `TooLarge` with a buffer under [`MIN_BUFFER`]. A longer program path than fits is cut.
    pub fn process(&mut self, process: &ProcessRef<'_>) -> Written<(), S> {
        let program = self.cut(process.program);
        self.room(Tag::Process, NUMBERS + program.len())?;
        self.record.number(process.pid.into());
        self.record.number(process.parent_pid.into());
        self.record.number(process.start_unix_ns);
        self.record.number(process.elapsed_ns);
        self.record.number(process.reason.index().into());
        self.record.number(process.signal.into());
        self.record.number(process.depth_limit.into());
        self.record.number(process.reentrant_events);
        self.record.number(process.unrecorded);
        self.record.string(program);
        self.flush()
    }

    /// Adds one argument of the command line, argument 0 first.
    ///
    /// # Errors
    /// As [`Writer::process`]; a longer argument than fits is cut.
    pub fn argument(&mut self, argument: &[u8]) -> Written<(), S> {
        let argument = self.cut(argument);
        self.room(Tag::Arguments, NUMBERS + argument.len())?;
        self.record.string(argument);
        Ok(())
    }

    /// Adds a module and returns its id; ids count up from 0.
    ///
    /// # Errors
    /// As [`Writer::process`]; longer strings than fit are cut.
    pub fn module(&mut self, module: &ModuleRef<'_>) -> Written<u32, S> {
        let path = self.cut(module.path);
        let build_id = self.cut(module.build_id);
        let next = next_id(self.counts.modules)?;
        self.room(Tag::Modules, NUMBERS + path.len() + build_id.len())?;
        self.record.number(module.kind.index().into());
        self.record.string(path);
        self.record.string(build_id);
        self.record.number(module.bias);
        self.record.number(module.start);
        self.record.number(module.length);
        Ok(core::mem::replace(&mut self.counts.modules, next))
    }

    /// Adds a thread record and returns its id; ids count up from 0.
    ///
    /// # Errors
    /// As [`Writer::process`]; `Invalid` where its start is no code in a module that was written.
    pub fn thread(&mut self, thread: &ThreadRef<'_>) -> Written<u32, S> {
        if thread.start.is_some_and(|frame| !self.is_code(frame)) {
            return Err(WriteError::Invalid("a thread starts at code, in a module that comes before it"));
        }
        let name = self.cut(thread.name);
        let next = next_id(self.counts.threads)?;
        self.room(Tag::Threads, NUMBERS + name.len())?;
        self.record.string(name);
        self.record.number(thread.tid.into());
        self.record.number(thread.count);
        self.record.number(thread.start.is_some().into());
        if let Some(frame) = thread.start {
            self.frame(0, frame);
        }
        Ok(core::mem::replace(&mut self.counts.threads, next))
    }

    /// Adds a Lisp function and returns its id; ids count up from 0.
    ///
    /// # Errors
    /// As [`Writer::process`], longer names than fit are cut; `Invalid` where its first instruction is no code in a
    /// module that was written.
    pub fn lisp_function(&mut self, function: &LispFunctionRef<'_>) -> Written<u32, S> {
        if function.code.is_some_and(|(start, _)| !self.is_code(start)) {
            return Err(WriteError::Invalid("a Lisp function's code is in a module that comes before it"));
        }
        let name = self.cut(function.name);
        let package = self.cut(function.package);
        let next = next_id(self.counts.lisp_functions)?;
        self.room(Tag::LispFunctions, NUMBERS + name.len() + package.len())?;
        self.record.string(name);
        self.record.string(package);
        self.record.number(function.code.is_some().into());
        if let Some((start, length)) = function.code {
            self.frame(0, start);
            self.record.number(length);
        }
        Ok(core::mem::replace(&mut self.counts.lisp_functions, next))
    }

    /// Adds a context and returns its id; ids count up from 0, so a parent comes before its children.
    ///
    /// # Errors
    /// The sink's; `Invalid` where the parent, module or thread is not written yet, where there is no parent
    /// and the frame is code, and where there is one and the frame is a thread.
    pub fn context(&mut self, parent: Option<u32>, frame: Frame) -> Written<u32, S> {
        let id = self.counts.contexts;
        let next = next_id(id)?;
        let up = match parent {
            None => 0,
            Some(parent) if parent < id => id - parent,
            Some(_) => return Err(WriteError::Invalid("a context comes after its parent")),
        };
        match frame {
            Frame::Thread(thread) if parent.is_none() && thread < self.counts.threads => {}
            Frame::Special(_) => {}
            Frame::Code { .. } | Frame::Anonymous { .. } if parent.is_some() && self.is_code(frame) => {}
            Frame::Lisp(function) if parent.is_some() && function < self.counts.lisp_functions => {}
            _ => {
                return Err(WriteError::Invalid(
                    "a context's frame fits its place and refers to what is written",
                ));
            }
        }
        self.room(Tag::Contexts, NUMBERS)?;
        self.frame(up.into(), frame);
        self.counts.contexts = next;
        Ok(id)
    }

    /// Adds a bin, by rising size.
    ///
    /// # Errors
    /// The sink's; `Invalid` where sizes do not rise or one is over [`LAST_BIN`].
    pub fn bin(&mut self, bin: &Bin) -> Written<(), S> {
        let number = bin_number(bin.size);
        if number < self.next_bin || bin.size.is_some_and(|size| size > LAST_BIN) {
            return Err(WriteError::Invalid(
                "bins come by rising size, up to LAST_BIN, then the one for the rest",
            ));
        }
        self.room(Tag::Bins, NUMBERS)?;
        let computed = bin_bytes(bin.size, bin.allocs, bin.frees) == Some((bin.bytes, bin.freed_bytes));
        self.record.number((number - self.bin) << 1 | u64::from(!computed));
        self.bin = number;
        self.next_bin = number + 1;
        self.record.number(bin.allocs);
        self.record.number(bin.allocs.wrapping_sub(bin.frees));
        if !computed {
            self.record.number(bin.bytes);
            self.record.number(bin.bytes.wrapping_sub(bin.freed_bytes));
        }
        Ok(())
    }

    /// Adds what was allocated of one type; each category and name once.
    ///
    /// # Errors
    /// As [`Writer::process`]; a longer name than fits is cut.
    pub fn type_bin(&mut self, category: Category, name: &[u8], allocs: u64, bytes: u64) -> Written<(), S> {
        let name = self.cut(name);
        self.room(Tag::TypeBins, NUMBERS + name.len())?;
        self.record.number(category.index().into());
        self.record.string(name);
        self.record.number(allocs);
        self.record.number(bytes);
        Ok(())
    }

    /// Says that names were looked for; before files, functions, sites and types.
    ///
    /// # Errors
    /// The sink's.
    pub fn names(&mut self) -> Written<(), S> {
        self.room(Tag::Names, 0)?;
        self.flush()
    }

    /// Adds a source file and returns its id.
    ///
    /// # Errors
    /// As [`Writer::process`]; a longer path than fits is cut.
    pub fn file(&mut self, path: &[u8]) -> Written<u32, S> {
        let path = self.cut(path);
        let next = next_id(self.counts.files)?;
        self.room(Tag::Files, NUMBERS + path.len())?;
        self.record.string(path);
        Ok(core::mem::replace(&mut self.counts.files, next))
    }

    /// Adds a function and returns its id.
    ///
    /// # Errors
    /// As [`Writer::process`], longer names than fit are cut; `Invalid` where its module or file is not written.
    pub fn function(&mut self, function: &FunctionRef<'_>) -> Written<u32, S> {
        if !is_below(function.module, self.counts.modules) || !is_below(function.file, self.counts.files) {
            return Err(WriteError::Invalid("a function comes after its module and file"));
        }
        let name = self.cut(function.name);
        let linkage_name = self.cut(function.linkage_name);
        let next = next_id(self.counts.functions)?;
        self.room(Tag::Functions, NUMBERS + name.len() + linkage_name.len())?;
        self.record.string(name);
        self.record.string(linkage_name);
        self.record.number(optional(function.module));
        self.record.number(optional(function.file));
        self.record.number(function.line.into());
        Ok(core::mem::replace(&mut self.counts.functions, next))
    }

    /// Adds what one code frame means: its source frames, innermost first.
    ///
    /// # Errors
    /// The sink's; `Invalid` where `frame` is no code, `frames` is empty, or a function or file is not written;
    /// `TooLarge` where `frames` is longer than fits.
    pub fn site(&mut self, frame: Frame, frames: &[SourceFrame]) -> Written<(), S> {
        let counts = self.counts;
        let known =
            |frame: &SourceFrame| frame.function < counts.functions && is_below(frame.file, counts.files);
        if !self.is_code(frame) || frames.is_empty() || !frames.iter().all(known) {
            return Err(WriteError::Invalid("a site is for code and comes after its functions and files"));
        }
        self.room(Tag::Sites, site_bound(frames.len()))?;
        self.frame(frames.len() as u64, frame);
        for frame in frames {
            self.record.number(frame.function.into());
            self.record.number(optional(frame.file));
            self.record.number(frame.line.into());
            self.record.number(frame.offset);
        }
        Ok(())
    }

    /// Adds a user type.
    ///
    /// # Errors
    /// As [`Writer::process`], a longer name than fits is cut; `Invalid` where its module is not written.
    pub fn user_type(&mut self, user_type: &TypeRef<'_>) -> Written<(), S> {
        if user_type.module >= self.counts.modules {
            return Err(WriteError::Invalid("a type comes after its module"));
        }
        let name = self.cut(user_type.name);
        self.room(Tag::Types, NUMBERS + name.len())?;
        self.record.number(user_type.size);
        self.record.number(user_type.system.into());
        self.record.string(name);
        self.record.number(user_type.module.into());
        Ok(())
    }

    /// Writes a record of a kind that this version does not know, as it was read; past the buffer.
    ///
    /// # Errors
    /// The sink's; `Invalid` where the kind is a known one; `TooLarge` from 4 GiB on.
    pub fn raw(&mut self, tag: u16, flags: u16, payload: &[u8]) -> Written<(), S> {
        if Tag::from_number(tag).is_some() {
            return Err(WriteError::Invalid("only records of unknown kinds are copied"));
        }
        let length = u32::try_from(payload.len()).map_err(|_| WriteError::TooLarge)?;
        self.flush()?;
        let header = record::header(tag, flags, length);
        let mut crc = crc32fast::Hasher::new();
        crc.update(&header);
        crc.update(payload);
        for bytes in [&header[..], payload, &crc.finalize().to_le_bytes()] {
            self.sink.write_all(bytes).map_err(WriteError::Sink)?;
        }
        self.records += 1;
        Ok(())
    }

    /// Writes what is still in the buffer and the end record, and gives the sink back.
    ///
    /// # Errors
    /// The sink's.
    pub fn finish(mut self) -> Written<S, S> {
        self.flush()?;
        let records = self.records;
        self.room(Tag::End, MAX_VARINT)?;
        self.record.number(records);
        self.flush()?;
        Ok(self.sink)
    }

    /// Hands the open record, if any, to the sink.
    ///
    /// # Errors
    /// The sink's.
    pub fn flush(&mut self) -> Written<(), S> {
        if self.record.tag() == Some(Tag::Packed) {
            self.packed.finish(&mut self.record);
        }
        if let Some(bytes) = self.record.seal() {
            self.sink.write_all(bytes).map_err(WriteError::Sink)?;
            self.records += 1;
        }
        Ok(())
    }

    /// Sees to it that a record of this kind is open and has room for `bytes` more.
    fn room(&mut self, tag: Tag, bytes: usize) -> Written<(), S> {
        if self.record.tag() == Some(tag) && self.record.free() >= bytes {
            return Ok(());
        }
        self.flush()?;
        if self.record.capacity() < bytes.saturating_add(MAX_VARINT) {
            return Err(WriteError::TooLarge);
        }
        self.record.open(tag);
        self.frames.forget();
        self.packed.begin();
        self.bin = 0;
        self.last = history::Last::default();
        self.heads.begin(tag, &mut self.record);
        // Records of entries with ids begin with the first one's.
        match tag {
            Tag::Modules => self.record.number(self.counts.modules.into()),
            Tag::Threads => self.record.number(self.counts.threads.into()),
            Tag::LispFunctions => self.record.number(self.counts.lisp_functions.into()),
            Tag::Contexts => self.record.number(self.counts.contexts.into()),
            Tag::Files => self.record.number(self.counts.files.into()),
            Tag::Functions => self.record.number(self.counts.functions.into()),
            _ => {}
        }
        Ok(())
    }

    /// A number and a frame: `head` and how the frame is told in one number, then the frame's own numbers.
    fn frame(&mut self, head: u64, frame: Frame) {
        let told = self.frames.encode(frame);
        self.record.number(head << 2 | told.mode());
        match told {
            Told::NewSpace { space, value } => {
                self.record.number(space);
                self.record.number(value);
            }
            Told::SameSpace { value } => self.record.number(value),
            Told::FirstSuccessor | Told::SecondSuccessor => {}
        }
    }

    fn is_code(&self, frame: Frame) -> bool {
        match frame {
            Frame::Code { module, .. } => module < self.counts.modules,
            Frame::Anonymous { .. } => true,
            _ => false,
        }
    }

    /// As much of a string as fits into an entry with one more of that length.
    fn cut<'s>(&self, string: &'s [u8]) -> &'s [u8] {
        let limit = self.record.capacity().saturating_sub(NUMBERS + MAX_VARINT) / 2;
        &string[..string.len().min(limit)]
    }
}

/// How long a site's entry can be, bytes.
pub(crate) const fn site_bound(frames: usize) -> usize {
    NUMBERS.saturating_add(frames.saturating_mul(4 * MAX_VARINT))
}

/// How much buffer strings of this length need in order not to be cut, bytes.
pub(crate) const fn string_bound(length: usize) -> usize {
    length.saturating_mul(2).saturating_add(2 * NUMBERS)
}

fn next_id<E>(id: u32) -> Result<u32, WriteError<E>> {
    id.checked_add(1).ok_or(WriteError::Invalid("more entries of one kind than ids"))
}

fn is_below(id: Option<u32>, count: u32) -> bool {
    id.is_none_or(|id| id < count)
}
