//! Names for the addresses in a profile: functions, files, lines, inlined frames, and user types by size.
//!
//! ```no_run
//! # let mut profile = mprof_format::model::Profile::default();
//! for warning in mpfilt::add_names(&mut profile, &mpfilt::Options::default()) {
//!     eprintln!("mpfilt: {warning}");
//! }
//! ```
//!
//! **Functions** are told apart as the source has them: an inlined function, its copies in several units and its
//! out-of-line code are one. Names are demangled, without parameters and return types and with template arguments.
//! Where there is no debug information, the symbol tables name machine functions; clones that the compiler made
//! (`f.constprop.0`) are functions of their own with the name `f`.
//!
//! **Types** are structures, classes, unions, typedefs of these, and Rust enums with data; each by its qualified name
//! without `struct`. Left out are: enums, base types, pointers and arrays; what has no name of its own (closures,
//! lambdas) or one that the compiler made up (Rust tuples, references, trait objects and what has no bytes); and
//! typedefs inside of classes for types that have a name (`std::vector<T>::value_type`). A type is a *system* type if
//! system headers declare it, or the Rust library; functions that contain a type are not part of its name.
//!
//! Binaries and debug information are read as hostile: they may make names wrong or missing, not more.
#![deny(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use mprof_format::model::{Frame, Module, ModuleKind, Profile, Type};

mod debug_files;
mod demangle;
mod dwarf;
mod entry;
mod functions;
mod mapped;
mod mini_debug_info;
mod module_names;
mod modules;
mod name_table;
mod options;
mod perf_map;
mod progress;
mod resolve;
mod scopes;
mod several;
mod skim;
mod source_file;
mod source_path;
mod split;
mod survey;
mod symbols;
pub mod text;
mod vet;
mod warning;

pub use options::Options;
pub use several::add_names_to_all;
pub use warning::{Problem, Warning};

use module_names::{Job, ModuleNames};
use name_table::NameTable;
use progress::Progress;
use skim::Sizes;

/// Stack for the threads that look names up: addr2line recurses once an inlined call, up to [`vet::MAX_DEPTH`].
const STACK: usize = 16 << 20;
/// More threads gain nothing, and each keeps what it reads.
const MAX_THREADS: usize = 16;

/// Finds out what the addresses of `profile` mean and puts it into `profile.names`, in place of what was there.
///
/// Files are looked for where the profile says that they were; `options` says where else. What could not be found
/// has no entry in `names.sites`: show such a frame as `module+0xoffset`. The warnings say why, one line each.
///
/// The result depends on the profile and the files only.
pub fn add_names(profile: &mut Profile, options: &Options) -> Vec<Warning> {
    let wanted = Sizes::of(profile);
    let progress = Progress::new(options.progress);
    let (of_modules, anonymous) = code_frames(profile);
    let lisp = !profile.collected.functions.is_empty();
    let jobs = jobs(profile, of_modules, |id, module, frames| {
        let program = module.path == profile.process.program;
        Job { id, module, program, lisp, frames, wanted: &wanted, options, progress: &progress }
    });
    let mut table = NameTable::default();
    let mut types = Types::default();
    let mut warnings = Vec::new();
    for (job, mut found) in jobs.iter().zip(run(&jobs)) {
        table.absorb(found.table);
        types.add(found.types, job.id, is_system_library(&job.module.path));
        warnings.append(&mut found.warnings);
    }
    drop(jobs);
    warnings.extend(perf_map::name(&anonymous, &profile.process, options, &mut table));
    let mut names = table.finish();
    names.types = types.finish();
    profile.names = Some(names);
    warnings
}

/// The frames that are code, sorted: of each module, and of none.
fn code_frames(profile: &Profile) -> (Vec<Vec<Frame>>, Vec<Frame>) {
    let contexts = profile.contexts.iter().map(|context| context.frame);
    let starts = profile.threads.iter().filter_map(|thread| thread.start);
    // What the linker calls a Lisp function tells it where it is inlined.
    let lisp = profile.collected.functions.iter().filter_map(|function| function.code);
    let lisp = lisp.map(|(start, _)| start);
    let frames: BTreeSet<Frame> = contexts.chain(starts).chain(lisp).collect();
    let mut of_modules: Vec<Vec<Frame>> = vec![Vec::new(); profile.modules.len()];
    let mut anonymous = Vec::new();
    for frame in frames {
        match frame {
            Frame::Code { module, .. } => {
                if let Some(frames) = of_modules.get_mut(module as usize) {
                    frames.push(frame);
                }
            }
            Frame::Anonymous { .. } => anonymous.push(frame),
            _ => {}
        }
    }
    (of_modules, anonymous)
}

/// A job for each file, in the order in which they first appear among the modules.
fn jobs<'p>(
    profile: &'p Profile,
    of_modules: Vec<Vec<Frame>>,
    job: impl Fn(u32, &'p Module, Vec<Frame>) -> Job<'p>,
) -> Vec<Job<'p>> {
    let mut jobs: Vec<Job<'p>> = Vec::new();
    let mut known = HashMap::new();
    for ((id, module), frames) in (0u32..).zip(&profile.modules).zip(of_modules) {
        let file = (module.kind == ModuleKind::Vdso, &module.path, &module.build_id);
        match known.get(&file) {
            Some(&index) => {
                let first: &mut Job<'p> = &mut jobs[index];
                first.frames.extend(frames);
            }
            None => {
                known.insert(file, jobs.len());
                jobs.push(job(id, module, frames));
            }
        }
    }
    jobs
}

/// Runs the jobs on as many threads as pay; the results are in the order of the jobs.
fn run(jobs: &[Job<'_>]) -> Vec<ModuleNames> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<ModuleNames>> = jobs.iter().map(|_| Mutex::default()).collect();
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let (Some(job), Some(result)) = (jobs.get(index), results.get(index)) else {
                return;
            };
            *result.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = job.run();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads().min(jobs.len()) {
            // Where no thread can be had, others do the work; where not even one can, modules stay without names.
            let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        }
    });
    results
        .into_iter()
        .map(|result| result.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
        .collect()
}

/// How many threads to work with.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS)
}

/// Whether a module is part of the system: the C library is built from its headers before they are installed, so
/// its own debug information does not call them system headers.
fn is_system_library(path: &[u8]) -> bool {
    [&b"/lib/"[..], b"/lib64/", b"/usr/lib/", b"/usr/lib64/"].iter().any(|folder| path.starts_with(folder))
}

/// User types of all modules: each size and name once.
#[derive(Default)]
struct Types(BTreeMap<(u64, Vec<u8>), Declarations>);

/// Who declares a type.
struct Declarations {
    first_module: u32,
    /// A program or a library of its own, outside of system headers.
    by_program: bool,
    /// Anyone, in a system header.
    in_system_header: bool,
}

impl Types {
    fn add(&mut self, types: impl IntoIterator<Item = survey::UserType>, module: u32, system_library: bool) {
        for of in types {
            let none = || Declarations { first_module: module, by_program: false, in_system_header: false };
            let all = self.0.entry((of.size, of.name)).or_insert_with(none);
            all.by_program |= !of.system && !system_library;
            all.in_system_header |= of.system;
        }
    }

    fn finish(self) -> Vec<Type> {
        let finish = |((size, name), all): (_, Declarations)| {
            let system = all.in_system_header && !all.by_program;
            Type { size, system, name, module: all.first_module }
        };
        self.0.into_iter().map(finish).collect()
    }
}
