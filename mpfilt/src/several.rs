//! Several profiles at once: a file that many processes loaded is read once.

use std::collections::{BTreeSet, HashMap};

use mprof_format::model::{Frame, Module, ModuleKind, Profile};

use crate::module_names::{Job, ModuleNames};
use crate::name_table::{NameTable, Takeover};
use crate::options::Options;
use crate::progress::Progress;
use crate::skim::Sizes;
use crate::warning::Warning;
use crate::{Types, code_frames, is_system_library, perf_map, run};

/// Does for each of the profiles what [`add_names`](crate::add_names) does for one, and reads each file once. The
/// warnings about a file speak of all frames that the profiles have in it.
pub fn add_names_to_all(profiles: &mut [&mut Profile], options: &Options) -> Vec<Warning> {
    let progress = Progress::new(options.progress);
    let mut files = Files::default();
    let wanted: Vec<Sizes> = profiles.iter().map(|profile| Sizes::of(profile)).collect();
    let all_wanted = Sizes::union(&wanted);
    for (index, profile) in profiles.iter().enumerate() {
        files.add(index, profile);
    }
    let jobs = files.list.iter().zip(0u32..).map(|(file, id)| Job {
        id,
        module: &file.module,
        program: file.program,
        lisp: file.lisp,
        frames: file.frames.iter().copied().collect(),
        wanted: &all_wanted,
        options,
        progress: &progress,
    });
    let jobs: Vec<Job<'_>> = jobs.collect();
    let mut found = run(&jobs);
    drop(jobs);
    let mut warnings: Vec<Warning> = found.iter_mut().flat_map(|found| found.warnings.drain(..)).collect();
    for ((profile, modules), wanted) in profiles.iter_mut().zip(&files.of_profiles).zip(&wanted) {
        warnings.extend(give(profile, modules, &found, wanted, options));
    }
    warnings
}

/// A file that was loaded.
struct File {
    module: Module,
    /// A process runs it as its program.
    program: bool,
    /// A process that loaded it has Lisp functions.
    lisp: bool,
    /// Frames in it; their module is the file's place in the list.
    frames: BTreeSet<Frame>,
}

/// Files of all profiles.
#[derive(Default)]
struct Files {
    list: Vec<File>,
    known: HashMap<(bool, Vec<u8>, Vec<u8>), u32>,
    /// For each profile: the file of each of its modules.
    of_profiles: Vec<Vec<u32>>,
}

impl Files {
    fn add(&mut self, index: usize, profile: &Profile) {
        let ids: Vec<u32> = profile.modules.iter().map(|module| self.id(module)).collect();
        let (of_modules, _) = code_frames(profile);
        for ((&id, frames), module) in ids.iter().zip(of_modules).zip(&profile.modules) {
            let file = &mut self.list[id as usize];
            file.program |= module.path == profile.process.program;
            file.lisp |= !profile.collected.functions.is_empty();
            file.frames.extend(frames.into_iter().map(|frame| in_module(frame, id)));
        }
        debug_assert_eq!(index, self.of_profiles.len());
        self.of_profiles.push(ids);
    }

    fn id(&mut self, module: &Module) -> u32 {
        let key = (module.kind == ModuleKind::Vdso, module.path.clone(), module.build_id.clone());
        let next = self.list.len() as u32;
        let id = *self.known.entry(key).or_insert(next);
        if id == next {
            self.list.push(File {
                module: module.clone(),
                program: false,
                lisp: false,
                frames: BTreeSet::new(),
            });
        }
        id
    }
}

/// The frame as one of another module.
fn in_module(frame: Frame, module: u32) -> Frame {
    match frame {
        Frame::Code { address, interrupted, .. } => Frame::Code { module, address, interrupted },
        other => other,
    }
}

/// Gives a profile its part of what was found; `files` has the file of each of its modules.
fn give(
    profile: &mut Profile,
    files: &[u32],
    found: &[ModuleNames],
    wanted: &Sizes,
    options: &Options,
) -> Option<Warning> {
    let (of_modules, anonymous) = code_frames(profile);
    let mut table = NameTable::default();
    let mut types = Types::default();
    // A file counts as the first module that it was loaded as.
    let mut takeovers: HashMap<u32, Takeover<'_>> = HashMap::new();
    for ((module, &file), frames) in (0u32..).zip(files).zip(of_modules) {
        let names = &found[file as usize];
        let takeover = takeovers.entry(file).or_insert_with(|| {
            let of_size = names.types.iter().filter(|found| wanted.contains(found.size));
            types.add(of_size.cloned(), module, is_system_library(&profile.modules[module as usize].path));
            Takeover::new(&names.table, module)
        });
        for frame in frames {
            takeover.site(&mut table, in_module(frame, file), frame);
        }
    }
    let warning = perf_map::name(&anonymous, &profile.process, options, &mut table);
    let mut names = table.finish();
    names.types = types.finish();
    profile.names = Some(names);
    warning
}
