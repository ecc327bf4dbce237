//! One pass over a unit's entries: the user types that it declares, and the checks without which its functions
//! must not be looked up.

use std::collections::{HashMap, HashSet};

use gimli::{AttributeValue, DW_LANG_Rust, UnitHeader};
use mprof_format::model::{LAST_BIN, Profile};

use crate::dwarf::{Dwarf, Slice, Unit};
use crate::entry::{Entry, Role, Value};
use crate::vet::{AttributeBudget, Budget, Damage, MAX_DEPTH};
use crate::{source_file, source_path};

/// The sizes for which types are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sizes([bool; LAST_BIN as usize + 1]);

impl Sizes {
    pub(crate) fn new(sizes: impl IntoIterator<Item = u64>) -> Self {
        let mut wanted = [false; LAST_BIN as usize + 1];
        for size in sizes.into_iter().filter(|&size| size <= LAST_BIN) {
            wanted[size as usize] = true;
        }
        Sizes(wanted)
    }

    /// The sizes that have a bin with allocations.
    pub(crate) fn of(profile: &Profile) -> Self {
        Sizes::new(profile.bins.iter().filter(|bin| bin.allocs > 0).filter_map(|bin| bin.size))
    }

    /// The sizes that are in any of several.
    pub(crate) fn union(all: &[Sizes]) -> Self {
        Sizes::new((0..=LAST_BIN).filter(|&size| all.iter().any(|sizes| sizes.contains(size))))
    }

    pub(crate) fn contains(&self, size: u64) -> bool {
        self.0.get(usize::try_from(size).unwrap_or(usize::MAX)).is_some_and(|&wanted| wanted)
    }
}

/// Where an entry stands, over all sections of a program's debug information.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    /// Offset in `.debug_info`.
    Info(usize),
    /// Offset in `.debug_types` (DWARF 4).
    Types(usize),
    /// Offset in the supplementary file's `.debug_info`.
    Supplementary(usize),
    /// The type of the type unit with this signature.
    Signature(u64),
}

/// A type of a wanted size that has been found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) place: Place,
    /// Bytes.
    pub(crate) size: u64,
    /// Qualified name; `None` where it is not to be listed.
    pub(crate) name: Option<Vec<u8>>,
    /// Nothing that leads to the type gives it a name so far: a typedef of it does.
    pub(crate) nameless: bool,
    /// Declared in a system header.
    pub(crate) system: bool,
}

/// A typedef whose type stands in another unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) place: Place,
    pub(crate) target: Place,
    /// As in [`Declared`].
    pub(crate) name: Option<Vec<u8>>,
    pub(crate) system: bool,
    /// Declared inside a class: of interest only if it gives a nameless type its name.
    pub(crate) member: bool,
}

/// What one unit has to say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct UnitTypes {
    pub(crate) declared: Vec<Declared>,
    pub(crate) pending: Vec<Pending>,
    /// Partial units that are part of this one (dwz).
    pub(crate) imports: Vec<Place>,
    /// For a type unit its signature and its type's place.
    pub(crate) signature: Option<(u64, Place)>,
}

/// The unit to be read and the one that has its table of source files, which is another one for a split part.
#[derive(Clone, Copy)]
pub(crate) struct Source<'s, 'a> {
    pub(crate) dwarf: &'s Dwarf<'a>,
    /// The skeleton of a split part.
    pub(crate) skeleton: Option<(&'s Dwarf<'a>, &'s Unit<'a>)>,
    /// It is the supplementary file.
    pub(crate) supplementary: bool,
}

/// Reads all entries of a unit. An entry that cannot be read ends the unit; what was found before it counts.
///
/// # Errors
/// Damage for which the file's debug information must not be used at all.
pub(crate) fn skim<'a>(
    source: Source<'_, 'a>,
    header: UnitHeader<Slice<'a>>,
    wanted: &Sizes,
    budget: &Budget,
) -> Result<UnitTypes, Damage> {
    let mut found = UnitTypes::default();
    let dwarf = source.dwarf;
    let Ok(unit) = dwarf.unit(header) else {
        return Ok(found);
    };
    budget.take_paths(dwarf, &unit)?;
    let mut skim = Skim {
        dwarf,
        unit: &unit,
        files: source.skeleton.filter(|_| unit.line_program.is_none()).unwrap_or((dwarf, &unit)),
        supplementary: source.supplementary,
        wanted,
        budget,
        rust: false,
        scopes: Vec::new(),
        open: Vec::new(),
        structures: Vec::new(),
        declarations: Vec::new(),
        aliases: Vec::new(),
        imports: Vec::new(),
        system_files: HashMap::new(),
    };
    // Errors of gimli's: the rest of the unit cannot be read.
    skim.entries().unwrap_or(Ok(()))?;
    skim.finish(&mut found);
    Ok(found)
}

/// A namespace or class that others are declared in.
struct Scope<'a> {
    parent: Option<usize>,
    name: Option<Value<'a>>,
    /// Offset of its declaration, which has its name and parent.
    specification: Option<usize>,
    class: bool,
}

struct Structure<'a> {
    offset: usize,
    size: u64,
    details: Details<'a>,
    /// Offset of its declaration, which has its name.
    specification: Option<usize>,
}

/// A typedef or a qualified (`const` …) type.
struct Alias<'a> {
    offset: usize,
    target: Place,
    /// For a typedef.
    details: Option<Details<'a>>,
}

/// What a declaration looks like before its name is put together, which few need.
#[derive(Clone, Copy)]
struct Details<'a> {
    name: Option<Value<'a>>,
    scope: Option<usize>,
    file: Option<u64>,
}

struct Skim<'s, 'a> {
    dwarf: &'s Dwarf<'a>,
    unit: &'s Unit<'a>,
    files: (&'s Dwarf<'a>, &'s Unit<'a>),
    supplementary: bool,
    wanted: &'s Sizes,
    budget: &'s Budget,
    rust: bool,
    scopes: Vec<Scope<'a>>,
    /// The scopes around the current entry, outermost first: depth and index.
    open: Vec<(isize, usize)>,
    structures: Vec<Structure<'a>>,
    /// Structures without contents, by offset: a definition elsewhere in the unit has its name and scope there.
    declarations: Vec<(usize, Details<'a>)>,
    aliases: Vec<Alias<'a>>,
    imports: Vec<Place>,
    system_files: HashMap<u64, bool>,
}

impl<'s, 'a> Skim<'s, 'a> {
    /// Walks over all entries; the outer result is gimli's, the inner one ours.
    fn entries(&mut self) -> gimli::Result<Result<(), Damage>> {
        let mut entries = self.unit.entries_raw(None)?;
        let mut attributes = AttributeBudget::new(self.unit.header.length_including_self());
        while !entries.is_empty() {
            let offset = entries.next_offset().0;
            let depth = entries.next_depth();
            while self.open.last().is_some_and(|&(outer, _)| outer >= depth) {
                self.open.pop();
            }
            let Some(abbreviation) = entries.read_abbreviation()? else {
                continue;
            };
            if depth > MAX_DEPTH {
                return Ok(Err(Damage::new("entries are nested too deep")));
            }
            let specifications = abbreviation.attributes();
            if let Err(damage) = attributes.take(specifications.len()) {
                return Ok(Err(damage));
            }
            let tag = abbreviation.tag();
            let role = Role::of(tag).filter(|&role| {
                role != Role::Code || specifications.iter().any(|of| of.name() == gimli::DW_AT_ranges)
            });
            let Some(role) = role else {
                entries.skip_attributes(specifications)?;
                continue;
            };
            let typedef = tag == gimli::DW_TAG_typedef;
            let mut entry = Entry { offset, depth, typedef, ..Entry::default() };
            for specification in specifications {
                let attribute = entries.read_attribute_inline(*specification)?;
                entry.note(attribute.name(), attribute.value());
            }
            if let Err(damage) = self.entry(role, &entry, abbreviation.has_children()) {
                return Ok(Err(damage));
            }
        }
        Ok(Ok(()))
    }

    fn entry(&mut self, role: Role, entry: &Entry<'a>, has_children: bool) -> Result<(), Damage> {
        if let Some(ranges) = entry.ranges {
            self.budget.take_ranges(self.dwarf, self.unit, ranges)?;
        }
        let scope = self.open.last().map(|&(_, scope)| scope);
        let details = Details { name: entry.name, scope, file: entry.file };
        match role {
            Role::Unit => self.rust = entry.language == Some(DW_LANG_Rust),
            Role::Code => {}
            Role::Import => self.imports.extend(entry.target.and_then(|target| self.place_of(target))),
            Role::Alias => {
                let details = entry.typedef.then_some(details);
                if let Some(target) = entry.target.and_then(|target| self.place_of(target)) {
                    self.aliases.push(Alias { offset: entry.offset, target, details });
                }
            }
            Role::Structure => {
                let size = entry.size.filter(|&size| self.wanted.contains(size));
                if let Some(target) = entry.signature {
                    // It stands for the type of a type unit.
                    self.aliases.push(Alias { offset: entry.offset, target, details: None });
                }
                if entry.declaration {
                    self.declarations.push((entry.offset, details));
                } else if let Some(size) = size.filter(|&size| self.is_user_type(size, scope)) {
                    let specification = entry.specification;
                    self.structures.push(Structure { offset: entry.offset, size, details, specification });
                }
            }
            Role::Namespace => {}
        }
        if has_children && matches!(role, Role::Structure | Role::Namespace) {
            self.open.push((entry.depth, self.scopes.len()));
            let (name, specification, class) = (entry.name, entry.specification, role == Role::Structure);
            self.scopes.push(Scope { parent: scope, name, specification, class });
        }
        Ok(())
    }

    /// In Rust a structure inside another one is an enum's variant, which is no type; and what has no bytes is never
    /// allocated.
    fn is_user_type(&self, size: u64, scope: Option<usize>) -> bool {
        !self.rust || (size > 0 && scope.is_none_or(|scope| !self.scopes[scope].class))
    }

    /// Where an attribute refers to.
    fn place_of(&self, value: Value<'a>) -> Option<Place> {
        match value {
            AttributeValue::UnitRef(offset) => Some(self.place(offset.0)),
            AttributeValue::DebugInfoRef(offset) => {
                Some(if self.supplementary { Place::Supplementary(offset.0) } else { Place::Info(offset.0) })
            }
            AttributeValue::DebugInfoRefSup(offset) => Some(Place::Supplementary(offset.0)),
            AttributeValue::DebugTypesRef(signature) => Some(Place::Signature(signature.0)),
            _ => None,
        }
    }

    /// The place of an entry of this unit.
    fn place(&self, offset: usize) -> Place {
        let header = &self.unit.header;
        match (header.debug_info_offset(), header.debug_types_offset()) {
            (Some(start), _) if self.supplementary => Place::Supplementary(start.0.wrapping_add(offset)),
            (Some(start), _) => Place::Info(start.0.wrapping_add(offset)),
            (None, start) => Place::Types(start.map_or(0, |start| start.0).wrapping_add(offset)),
        }
    }

    /// Names what was found. Typedefs that lead to a type of the unit are followed here, others are left pending.
    fn finish(&mut self, found: &mut UnitTypes) {
        let mut places: HashMap<Place, usize> = HashMap::new();
        for structure in std::mem::take(&mut self.structures) {
            let place = self.place(structure.offset);
            let details = self.with_declaration(structure.details, structure.specification);
            let name = self.qualified_name(details);
            let system = name.is_some() && self.is_system(details);
            places.insert(place, found.declared.len());
            let nameless = name.is_none();
            found.declared.push(Declared { place, size: structure.size, name, nameless, system });
        }
        let mut aliases = std::mem::take(&mut self.aliases);
        self.follow(&mut aliases, &mut places, found);
        self.leave_pending(aliases, found);
        found.imports = std::mem::take(&mut self.imports);
        if let gimli::UnitType::Type { type_signature, type_offset }
        | gimli::UnitType::SplitType { type_signature, type_offset } = self.unit.header.type_()
        {
            found.signature = Some((type_signature.0, self.place(type_offset.0)));
        }
    }

    /// Follows typedefs within the unit; those that lead nowhere here are left in `aliases`.
    fn follow(
        &mut self,
        aliases: &mut Vec<Alias<'a>>,
        places: &mut HashMap<Place, usize>,
        found: &mut UnitTypes,
    ) {
        // A typedef may stand before what it names: each round gets at least one step further along the chains.
        for _ in 0..MAX_CHAIN {
            let before = aliases.len();
            aliases.retain(|alias| {
                let Some(&target) = places.get(&alias.target) else {
                    return true;
                };
                let place = self.place(alias.offset);
                let Declared { size, nameless, .. } = found.declared[target];
                let (name, system) = self.alias_name(alias, nameless);
                places.insert(place, found.declared.len());
                let nameless = nameless && name.is_none();
                found.declared.push(Declared { place, size, name, nameless, system });
                false
            });
            if aliases.len() == before {
                break;
            }
        }
    }

    /// Keeps the typedefs that lead, perhaps over others, out of the unit.
    fn leave_pending(&mut self, mut aliases: Vec<Alias<'a>>, found: &mut UnitTypes) {
        let bounds = self.place(0)..self.place(self.unit.header.length_including_self());
        let mut outside = HashSet::new();
        for _ in 0..MAX_CHAIN {
            let before = aliases.len();
            aliases.retain(|alias| {
                if bounds.contains(&alias.target) && !outside.contains(&alias.target) {
                    return true;
                }
                let (name, system) = self.alias_name(alias, true);
                let member = alias.details.is_some_and(|details| self.is_member(details));
                let (place, target) = (self.place(alias.offset), alias.target);
                outside.insert(place);
                found.pending.push(Pending { place, target, name, system, member });
                false
            });
            if aliases.len() == before {
                break;
            }
        }
    }

    /// What a definition and its declaration say together.
    fn with_declaration(&self, own: Details<'a>, specification: Option<usize>) -> Details<'a> {
        let declared = specification.and_then(|offset| {
            let found = self.declarations.binary_search_by_key(&offset, |&(offset, _)| offset).ok()?;
            Some(self.declarations[found].1)
        });
        declared.map_or(own, |of| Details {
            name: own.name.or(of.name),
            scope: of.scope,
            file: own.file.or(of.file),
        })
    }

    /// The name of a typedef, if it is to be listed, and whether that is the system's.
    fn alias_name(&mut self, alias: &Alias<'a>, target_is_nameless: bool) -> (Option<Vec<u8>>, bool) {
        let Some(details) = alias.details else {
            return (None, false);
        };
        if !target_is_nameless && self.is_member(details) {
            return (None, false);
        }
        let name = self.qualified_name(details);
        let system = name.is_some() && self.is_system(details);
        (name, system)
    }

    fn is_member(&self, details: Details<'_>) -> bool {
        details.scope.is_some_and(|scope| self.scopes[scope].class)
    }

    /// The name with the namespaces and classes around it.
    fn qualified_name(&self, details: Details<'a>) -> Option<Vec<u8>> {
        let own = self.text(details.name?)?;
        if !is_for_people(own, self.rust) {
            return None;
        }
        let mut parts = vec![own];
        let mut scope = details.scope;
        while let Some(index) = scope.filter(|_| parts.len() < MAX_DEPTH as usize) {
            let outer = &self.scopes[index];
            let nameless: &[u8] = if outer.class { b"(anonymous class)" } else { b"(anonymous namespace)" };
            let own = Details { name: outer.name, scope: outer.parent, file: None };
            let details = self.with_declaration(own, outer.specification);
            parts.push(details.name.and_then(|name| self.text(name)).unwrap_or(nameless));
            scope = details.scope;
        }
        let length: usize = parts.iter().map(|part| part.len() + 2).sum();
        parts.reverse();
        (length <= MAX_NAME).then(|| parts.join(&b"::"[..]))
    }

    fn text(&self, value: Value<'a>) -> Option<&'a [u8]> {
        self.dwarf.attr_string(self.unit, value).ok().map(|text| text.slice()).filter(|text| !text.is_empty())
    }

    fn is_system(&mut self, details: Details<'a>) -> bool {
        if self.rust {
            return self.is_rust_system(details);
        }
        // What no file declares is the compiler's own.
        let Some(file) = details.file else {
            return true;
        };
        let (dwarf, unit) = self.files;
        *self.system_files.entry(file).or_insert_with(|| {
            source_file::path(dwarf, unit, file).is_some_and(|path| source_path::is_system(&path))
        })
    }

    /// Rust types carry no file. Those of the library are in its crates' namespaces, or in its own units.
    fn is_rust_system(&self, details: Details<'a>) -> bool {
        const CRATES: [&[u8]; 7] =
            [b"std", b"core", b"alloc", b"hashbrown", b"proc_macro", b"std_detect", b"compiler_builtins"];
        let mut outermost = details.scope;
        while let Some(parent) = outermost.and_then(|scope| self.scopes[scope].parent) {
            outermost = Some(parent);
        }
        // Wide boxes stand outside of all namespaces, with a whole path as their name.
        let root = outermost.map_or(details.name, |scope| self.scopes[scope].name);
        let root =
            root.and_then(|name| self.text(name)).and_then(|name| name.split(|&byte| byte == b':').next());
        let folder = self.unit.comp_dir.map_or(&[][..], |folder| folder.slice());
        let name = self.unit.name.map_or(&[][..], |name| name.slice());
        root.is_some_and(|root| CRATES.contains(&root))
            || source_path::is_system(&source_path::join(&[folder, name]))
    }
}

/// Longest chain of typedefs that is followed.
const MAX_CHAIN: usize = 32;
/// Longest qualified name, bytes.
const MAX_NAME: usize = 64 * 1024;

/// Whether a type's own name is one that people gave it: compilers name pointers, tuples, closures and trait objects by
/// how they look.
fn is_for_people(name: &[u8], rust: bool) -> bool {
    match name.first() {
        None => false,
        Some(b'd') if rust && name.starts_with(b"dyn ") => false,
        Some(b'<' | b'.') => false,
        Some(b'&' | b'*' | b'(' | b'[' | b'{') => !rust,
        Some(_) => true,
    }
}
