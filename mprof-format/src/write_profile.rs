//! Writes a whole profile, as `mpfilt` does.

use crate::layout::FILE_INCOMPLETE;
use crate::model::{History, Names, Profile};
use crate::write::{
    Entry, FunctionRef, LispFunctionRef, MIN_BUFFER, ModuleRef, ProcessRef, Sink, ThreadRef, TypeRef,
    WriteError, Writer, site_bound, string_bound,
};
use std::io;

/// Bytes a record, unless one entry is longer.
const RECORD: usize = 64 * 1024;

/// Any [`io::Write`] as a [`Sink`].
#[derive(Debug)]
pub struct IoSink<W>(pub W);

impl<W: io::Write> Sink for IoSink<W> {
    type Error = io::Error;

    fn write_all(&mut self, bytes: &[u8]) -> Result<(), io::Error> {
        self.0.write_all(bytes)
    }
}

/// Writes `profile` as a file of the current version, nothing cut. Records of unknown kinds (`profile.extra`)
/// come last. Does not flush `out`.
///
/// # Errors
/// Those of `out`, and `InvalidInput` where the profile breaks a rule of the model (an index that points
/// nowhere, bins out of order …); `out` then holds an unfinished file.
pub fn write_profile(profile: &Profile, out: &mut impl io::Write) -> io::Result<()> {
    let mut buffer = vec![0; MIN_BUFFER + RECORD.max(longest_entry(profile))];
    let mut writer = Writer::new(IoSink(out), &mut buffer);
    match write_all(profile, &mut writer).and_then(|()| writer.finish()) {
        Ok(_) => Ok(()),
        Err(WriteError::Sink(error)) => Err(error),
        Err(error) => Err(io::Error::new(io::ErrorKind::InvalidInput, error.to_string())),
    }
}

fn write_all<S: Sink>(profile: &Profile, writer: &mut Writer<'_, S>) -> Result<(), WriteError<S::Error>> {
    writer.header(if profile.incomplete { FILE_INCOMPLETE } else { 0 })?;
    let process = &profile.process;
    writer.process(&ProcessRef {
        pid: process.pid,
        parent_pid: process.parent_pid,
        program: &process.program,
        start_unix_ns: process.start_unix_ns,
        elapsed_ns: process.elapsed_ns,
        reason: process.reason,
        signal: process.signal,
        depth_limit: process.depth_limit,
        reentrant_events: process.reentrant_events,
        unrecorded: process.unrecorded,
    })?;
    for argument in &process.arguments {
        writer.argument(argument)?;
    }
    for module in &profile.modules {
        let (kind, path, build_id) = (module.kind, &module.path, &module.build_id);
        let (bias, start, length) = (module.bias, module.start, module.length);
        writer.module(&ModuleRef { kind, path, build_id, bias, start, length })?;
    }
    for thread in &profile.threads {
        let (name, tid, count, start) = (&thread.name, thread.tid, thread.count, thread.start);
        writer.thread(&ThreadRef { name, tid, count, start })?;
    }
    for function in &profile.collected.functions {
        let (name, package, code) = (&function.name, &function.package, function.code);
        writer.lisp_function(&LispFunctionRef { name, package, code })?;
    }
    for context in &profile.contexts {
        writer.context(context.parent, context.frame)?;
    }
    if let Some(peak) = &profile.history.peak {
        writer.peak(&peak.totals)?;
    }
    entries(profile, |entry| writer.entry(entry))?;
    for bin in &profile.bins {
        writer.bin(bin)?;
    }
    for bin in &profile.collected.bins {
        writer.type_bin(bin.category, &bin.name, bin.allocs, bin.bytes)?;
    }
    write_history(&profile.history, writer)?;
    if let Some(reachability) = &profile.reachability {
        writer.reachability(reachability.unseen_threads)?;
        reachability.kept.iter().try_for_each(|kept| writer.kept(kept))?;
    }
    if let Some(names) = &profile.names {
        write_names(names, writer)?;
    }
    for record in &profile.extra {
        writer.raw(record.tag, record.flags, &record.payload)?;
    }
    Ok(())
}

/// Calls `write` with what is told of each context and category.
fn entries<E>(profile: &Profile, mut write: impl FnMut(&Entry<'_>) -> Result<(), E>) -> Result<(), E> {
    let live = profile.history.peak.as_ref().map_or(&[][..], |peak| &peak.live);
    let mut counters = profile.counters.iter().peekable();
    let mut live = live.iter().peekable();
    let mut lifetimes = profile.history.lifetimes.iter().peekable();
    loop {
        let counter = counters.peek().map(|counter| (counter.context, counter.category));
        let alive = live.peek().map(|live| (live.context, live.category));
        let lifetime = lifetimes.peek().map(|lifetime| (lifetime.context, lifetime.category));
        let Some(key) = [counter, alive, lifetime].into_iter().flatten().min() else { return Ok(()) };
        write(&Entry {
            counter: counters.next_if(|counter| (counter.context, counter.category) == key),
            live: live.next_if(|live| (live.context, live.category) == key),
            lifetime: lifetimes.next_if(|lifetime| (lifetime.context, lifetime.category) == key),
        })?;
    }
}

fn write_history<S: Sink>(history: &History, writer: &mut Writer<'_, S>) -> Result<(), WriteError<S::Error>> {
    history.curve.iter().try_for_each(|point| writer.point(point))?;
    history.snapshots.iter().try_for_each(|snapshot| writer.snapshot(&snapshot.totals).map(drop))?;
    history.ages.iter().try_for_each(|ages| writer.ages(ages))?;
    history.growth.iter().try_for_each(|growth| writer.growth(growth))?;
    history.rounding.iter().try_for_each(|rounding| writer.rounding(rounding))?;
    for (id, snapshot) in (0..).zip(&history.snapshots) {
        snapshot.changes.iter().try_for_each(|change| writer.change(id, change))?;
    }
    Ok(())
}

fn write_names<S: Sink>(names: &Names, writer: &mut Writer<'_, S>) -> Result<(), WriteError<S::Error>> {
    writer.names()?;
    for file in &names.files {
        writer.file(file)?;
    }
    for function in &names.functions {
        let (name, linkage_name) = (&function.name, &function.linkage_name);
        let (module, file, line) = (function.module, function.file, function.line);
        writer.function(&FunctionRef { name, linkage_name, module, file, line })?;
    }
    for (&frame, site) in &names.sites {
        writer.site(frame, &site.frames)?;
    }
    for user_type in &names.types {
        let (size, system, name, module) =
            (user_type.size, user_type.system, &user_type.name, user_type.module);
        writer.user_type(&TypeRef { size, system, name, module })?;
    }
    Ok(())
}

/// Bytes of buffer with which nothing in `profile` is cut.
fn longest_entry(profile: &Profile) -> usize {
    let process = [&profile.process.program].into_iter().chain(&profile.process.arguments);
    let modules = profile.modules.iter().flat_map(|module| [&module.path, &module.build_id]);
    let threads = profile.threads.iter().map(|thread| &thread.name);
    let lisp = profile.collected.functions.iter().flat_map(|function| [&function.name, &function.package]);
    let lisp = lisp.chain(profile.collected.bins.iter().map(|bin| &bin.name));
    let strings = process.chain(modules).chain(threads).chain(lisp).map(Vec::len).max().unwrap_or(0);
    let Some(names) = &profile.names else { return string_bound(strings) };
    let functions = names.functions.iter().flat_map(|function| [&function.name, &function.linkage_name]);
    let types = names.types.iter().map(|user_type| &user_type.name);
    let strings =
        names.files.iter().chain(functions).chain(types).map(Vec::len).max().unwrap_or(0).max(strings);
    let frames = names.sites.values().map(|site| site.frames.len()).max().unwrap_or(0);
    string_bound(strings).max(site_bound(frames))
}
