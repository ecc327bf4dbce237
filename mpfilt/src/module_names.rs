//! All that is found out about one module: its file, its debug information, the names of its frames, its types.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use gimli::AbbreviationsCacheStrategy;
use mprof_format::model::{Frame, Module, ModuleKind};
use object::read::Object;

use crate::debug_files::{self, DebugFile};
use crate::dwarf::{self, Arena, Dwarf};
use crate::mapped::MappedFile;
use crate::modules::{self, Image};
use crate::name_table::NameTable;
use crate::options::Options;
use crate::progress::Progress;
use crate::resolve::{DebugInfo, Resolver};
use crate::skim::Sizes;
use crate::split::SplitFiles;
use crate::survey::{self, UserType};
use crate::symbols::Symbols;
use crate::warning::{Problem, Warning, file_name, printable};
use crate::{mini_debug_info, vet};

/// Work for a frame, in bytes of debug information, for progress.
const BYTES_PER_FRAME: u64 = 1000;
/// So many frames of a module, and this share (1/n), must lack a name to be worth a warning: the loader's and the
/// C library's start code has none on most machines.
const UNNAMED: (usize, usize) = (4, 4);

/// What is to be found out about one module, or several that are the same file (loaded anew, or into another
/// namespace): a file is read once.
pub(crate) struct Job<'j> {
    /// Id of the first of them.
    pub(crate) id: u32,
    pub(crate) module: &'j Module,
    /// It is the program itself.
    pub(crate) program: bool,
    /// There are Lisp functions on the chains. They have names already, and of the machine code between them, which is
    /// not shown, none is needed.
    pub(crate) lisp: bool,
    /// Their frames, sorted.
    pub(crate) frames: Vec<Frame>,
    pub(crate) wanted: &'j Sizes,
    pub(crate) options: &'j Options,
    pub(crate) progress: &'j Progress,
}

/// What was found out.
#[derive(Default)]
pub(crate) struct ModuleNames {
    pub(crate) table: NameTable,
    pub(crate) types: BTreeSet<UserType>,
    pub(crate) warnings: Vec<Warning>,
}

impl Job<'_> {
    /// Does the work. Needs [`crate::STACK`] bytes of stack.
    pub(crate) fn run(&self) -> ModuleNames {
        let arena = Arena::default();
        let mut problems = Vec::new();
        let image = match modules::find(self.module, self.options, &arena) {
            Ok(image) => Some(image),
            Err(problem) => {
                problems.push(problem);
                None
            }
        };
        let debug = self.debug_file(image.as_ref(), &arena, &mut problems);
        if debug.is_some() && image.is_none() {
            // A debug file of this very build has all that the file had.
            problems.clear();
        }
        let mut names = self.name(image, debug, &arena, &mut problems);
        if self.frames.is_empty() {
            problems.retain(|problem| matches!(problem, Problem::Damaged { .. }));
        }
        let subject = file_name(&self.module.path);
        names.warnings =
            problems.into_iter().map(|problem| Warning::new(subject.as_str(), problem)).collect();
        names
    }

    fn name<'a>(
        &self,
        image: Option<Image<'a>>,
        debug: Option<DebugImage<'a>>,
        arena: &'a Arena,
        problems: &mut Vec<Problem>,
    ) -> ModuleNames {
        let mut names = ModuleNames::default();
        let found_image = image.is_some();
        let symbols = symbols(image, debug.as_ref(), arena);
        let dwarf = debug.as_ref().and_then(|debug| {
            let dwarf = self.debug_info(debug, arena, &mut names.types, problems);
            dwarf.map_err(|reason| problems.push(Problem::Damaged { reason })).ok()
        });
        let path = debug.as_ref().map(|debug| debug.path.as_path());
        let mut split = SplitFiles::new(path, self.options, self.wanted, self.progress, arena);
        if let Some(dwarf) = &dwarf {
            split.open_all(dwarf);
            names.types.append(&mut split.types);
            if let Some(first) = split.missing.first() {
                let path = printable(first.as_os_str().as_encoded_bytes());
                problems.push(Problem::NoSplitFiles { missing: split.missing.len(), path });
            }
        }
        let info = dwarf.as_ref().and_then(|dwarf| {
            let info = DebugInfo::new(dwarf, &mut split);
            info.map_err(|error| problems.push(Problem::Damaged { reason: error.to_string() })).ok()
        });
        let damaged = problems.iter().any(|problem| matches!(problem, Problem::Damaged { .. }));
        if info.is_none() && self.program && found_image && !damaged && !self.lisp {
            problems.push(Problem::NoDebugInformation);
        }
        let mut resolver = Resolver::new(info, &symbols);
        self.progress.expect(self.frames.len() as u64 * BYTES_PER_FRAME);
        for &frame in &self.frames {
            resolver.resolve(frame);
            self.progress.done(BYTES_PER_FRAME);
        }
        names.table = resolver.finish();
        let (frames, unnamed) = self.unnamed(&names.table);
        if found_image && !self.lisp && unnamed >= UNNAMED.0 && unnamed * UNNAMED.1 >= frames {
            // It has no debug information either.
            problems.retain(|problem| *problem != Problem::NoDebugInformation);
            problems.push(Problem::NoSymbols { unnamed, frames });
        }
        names
    }

    fn unnamed(&self, table: &NameTable) -> (usize, usize) {
        (self.frames.len(), self.frames.iter().filter(|&&frame| !table.has(frame)).count())
    }

    /// The file with the module's debug information: the module itself, or a separate one.
    fn debug_file<'a>(
        &self,
        image: Option<&Image<'a>>,
        arena: &'a Arena,
        problems: &mut Vec<Problem>,
    ) -> Option<DebugImage<'a>> {
        if self.module.kind == ModuleKind::Vdso {
            return None;
        }
        let complete = image.filter(|image| dwarf::has_debug_info(&image.object));
        if let Some(Image { path: Some(path), data, .. }) = complete {
            return Some(DebugImage { path: path.clone(), data, separate: false });
        }
        let in_file = image.and_then(|image| image.object.build_id().ok().flatten());
        let build_id = in_file.unwrap_or(&self.module.build_id);
        if let Some(found) = debug_files::by_build_id(build_id, self.options) {
            return Some(DebugImage::separate(found, arena));
        }
        let Image { path, object, .. } = image?;
        let search = debug_files::by_link(object, path.as_deref()?, self.options);
        if let (None, Some(stale)) = (&search.found, search.stale) {
            problems.push(Problem::StaleDebugFile { path: printable(stale.as_os_str().as_encoded_bytes()) });
        }
        search.found.map(|found| DebugImage::separate(found, arena))
    }

    /// Reads and vets debug information and collects its types; the error says what is wrong with it.
    fn debug_info<'a>(
        &self,
        debug: &DebugImage<'a>,
        arena: &'a Arena,
        types: &mut BTreeSet<UserType>,
        problems: &mut Vec<Problem>,
    ) -> Result<Arc<Dwarf<'a>>, String> {
        let object = object::File::parse(debug.data).map_err(|error| error.to_string())?;
        let mut dwarf = load(&object, arena)?;
        match debug_files::supplementary(&object, &debug.path, self.options) {
            Ok(None) => {}
            Ok(Some(found)) => dwarf.set_sup(load_file(found.file, arena)?),
            Err(path) => {
                let path = printable(path.as_os_str().as_encoded_bytes());
                problems.push(Problem::NoSupplementaryFile { path });
            }
        }
        types
            .extend(survey::survey(&dwarf, self.wanted, self.progress).map_err(|damage| damage.to_string())?);
        Ok(Arc::new(dwarf))
    }
}

fn load_file<'a>(file: MappedFile, arena: &'a Arena) -> Result<Dwarf<'a>, String> {
    let object = object::File::parse(arena.file(file)).map_err(|error| error.to_string())?;
    load(&object, arena)
}

/// Loads DWARF and makes the checks that must come before it is used.
fn load<'a>(object: &object::File<'a>, arena: &'a Arena) -> Result<Dwarf<'a>, String> {
    let mut dwarf = dwarf::load(object, arena).map_err(|error| error.to_string())?;
    let headers = vet::unit_headers(&dwarf);
    vet::check_abbreviations(&dwarf, &headers).map_err(|damage| damage.to_string())?;
    // All units are read twice, by the survey and by addr2line.
    dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::All);
    vet::check_line_tables(&dwarf, &headers).map_err(|damage| damage.to_string())?;
    Ok(dwarf)
}

/// The file that the debug information is in.
struct DebugImage<'a> {
    path: PathBuf,
    data: &'a [u8],
    /// It is not the module's own file.
    separate: bool,
}

impl<'a> DebugImage<'a> {
    fn separate(found: DebugFile, arena: &'a Arena) -> Self {
        DebugImage { path: found.path, data: arena.file(found.file), separate: true }
    }
}

/// The symbol tables of a module, the fullest first.
fn symbols<'a>(image: Option<Image<'a>>, debug: Option<&DebugImage<'a>>, arena: &'a Arena) -> Symbols<'a> {
    let mut symbols = Symbols::default();
    let mut add = |data: &'a [u8], dynamic| {
        if let Ok(object) = object::File::parse(data) {
            symbols.add(object, dynamic);
        }
    };
    if let Some(debug) = debug.filter(|debug| debug.separate) {
        add(debug.data, false);
    }
    if let Some(Image { data, object, .. }) = image {
        add(data, false);
        add(data, true);
        if let Some(mini) = mini_debug_info::unpack(&object, arena) {
            symbols.add(mini, false);
        }
    }
    symbols
}
