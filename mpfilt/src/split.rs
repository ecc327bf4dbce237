//! Split DWARF: the parts of the debug information that stayed in `.dwo` files or went into a `.dwp` package
//! (DWARF 5, section 7.3.2).

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gimli::{DwarfPackage, DwoId};

use crate::dwarf::{self, Arena, Dwarf, Slice, Unit};
use crate::mapped::MappedFile;
use crate::modules;
use crate::options::Options;
use crate::progress::Progress;
use crate::skim::Sizes;
use crate::survey::{self, UserType};
use crate::vet;

/// The split parts of one file's debug information, opened when first needed.
pub(crate) struct SplitFiles<'o, 'a> {
    options: &'o Options,
    wanted: &'o Sizes,
    progress: &'o Progress,
    arena: &'a Arena,
    package: Option<DwarfPackage<Slice<'a>>>,
    opened: HashMap<u64, Option<Arc<Dwarf<'a>>>>,
    /// User types of the parts that were opened.
    pub(crate) types: BTreeSet<UserType>,
    /// Where parts would be that are not there.
    pub(crate) missing: Vec<PathBuf>,
}

impl<'o, 'a> SplitFiles<'o, 'a> {
    /// `path` is the file whose debug information was split; a package lies beside it.
    pub(crate) fn new(
        path: Option<&Path>,
        options: &'o Options,
        wanted: &'o Sizes,
        progress: &'o Progress,
        arena: &'a Arena,
    ) -> Self {
        let package = path.and_then(|path| open_package(path, arena));
        let (opened, types, missing) = (HashMap::new(), BTreeSet::new(), Vec::new());
        SplitFiles { options, wanted, progress, arena, package, opened, types, missing }
    }

    /// Opens the split part of every unit that has one.
    pub(crate) fn open_all(&mut self, parent: &Dwarf<'a>) {
        for header in vet::unit_headers(parent) {
            let Ok(unit) = parent.unit(header) else {
                continue;
            };
            let Some(id) = unit.dwo_id else {
                continue;
            };
            let name = unit.dwo_name().ok().flatten().and_then(|name| parent.attr_string(&unit, name).ok());
            self.open_skeleton(id, unit.comp_dir, name, parent, Some(&unit));
        }
    }

    /// The split part with this id; `None` where it is not there or cannot be trusted.
    pub(crate) fn open(
        &mut self,
        id: DwoId,
        folder: Option<Slice<'a>>,
        name: Option<Slice<'a>>,
        parent: &Dwarf<'a>,
    ) -> Option<Arc<Dwarf<'a>>> {
        self.open_skeleton(id, folder, name, parent, None)
    }

    fn open_skeleton(
        &mut self,
        id: DwoId,
        folder: Option<Slice<'a>>,
        name: Option<Slice<'a>>,
        parent: &Dwarf<'a>,
        skeleton: Option<&Unit<'a>>,
    ) -> Option<Arc<Dwarf<'a>>> {
        if let Some(known) = self.opened.get(&id.0) {
            return known.clone();
        }
        let part = self
            .find_in_package(id, parent)
            .or_else(|| self.find_file(id, folder, name, parent))
            .and_then(|part| self.trusted(part, skeleton.map(|unit| (parent, unit))));
        self.opened.insert(id.0, part.clone());
        part
    }

    fn find_in_package(&self, id: DwoId, parent: &Dwarf<'a>) -> Option<Dwarf<'a>> {
        self.package.as_ref()?.find_cu(id, parent).ok()?
    }

    fn find_file(
        &mut self,
        id: DwoId,
        folder: Option<Slice<'a>>,
        name: Option<Slice<'a>>,
        parent: &Dwarf<'a>,
    ) -> Option<Dwarf<'a>> {
        let path = |text: Slice<'a>| PathBuf::from(OsStr::from_bytes(text.slice()));
        let path = folder.map(path).unwrap_or_default().join(name.map(path)?);
        let path = modules::rooted(path.as_os_str().as_bytes(), self.options);
        let Ok(file) = MappedFile::open(&path) else {
            self.missing.push(path);
            return None;
        };
        let object = object::File::parse(self.arena.file(file)).ok()?;
        let mut part = dwarf::load_split(&object, self.arena).ok()?;
        vet::check_abbreviations(&part, &vet::unit_headers(&part)).ok()?;
        let header = part.units().next().ok()??;
        if part.unit(header).ok()?.dwo_id != Some(id) {
            return None;
        }
        part.make_dwo(parent);
        Some(part)
    }

    /// Vets a part and collects its types.
    fn trusted(
        &mut self,
        part: Dwarf<'a>,
        skeleton: Option<(&Dwarf<'a>, &Unit<'a>)>,
    ) -> Option<Arc<Dwarf<'a>>> {
        vet::check(&part).ok()?;
        let types = survey::survey_split(&part, skeleton, self.wanted, self.progress).ok()?;
        self.types.extend(types);
        Some(Arc::new(part))
    }
}

/// Opens `program.dwp` for `program`.
fn open_package<'a>(path: &Path, arena: &'a Arena) -> Option<DwarfPackage<Slice<'a>>> {
    let mut name = OsString::from(path);
    name.push(".dwp");
    let object = object::File::parse(arena.file(MappedFile::open(Path::new(&name)).ok()?)).ok()?;
    dwarf::load_package(&object, arena).ok()
}
