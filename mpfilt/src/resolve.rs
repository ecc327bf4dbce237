//! Addresses of one module to functions, files and lines.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use addr2line::{Context, LookupContinuation, LookupResult};
use gimli::UnitOffset;
use mprof_format::model::{Frame, Function, SourceFrame};

use crate::demangle::{base_name, demangle, is_mangled};
use crate::dwarf::{Dwarf, Slice, Unit};
use crate::functions::{Described, Pieces, Units, unit_place};
use crate::name_table::NameTable;
use crate::source_path;
use crate::split::SplitFiles;
use crate::symbols::Symbols;

/// Most source frames at one address: more than compilers inline, and a bound for what a crafted file makes.
const MAX_FRAMES: usize = 200;

/// Looks up addresses of one module, first in its debug information, then in its symbol tables.
pub(crate) struct Resolver<'r, 'o, 'a> {
    /// The module of the frame that is being looked up.
    module: u32,
    debug: Option<DebugInfo<'r, 'o, 'a>>,
    symbols: &'r Symbols<'a>,
    table: NameTable,
}

/// The debug information of a module, ready for questions.
pub(crate) struct DebugInfo<'r, 'o, 'a> {
    context: Context<Slice<'a>>,
    units: Units<'r, 'a>,
    split: &'r mut SplitFiles<'o, 'a>,
    /// Functions seen so far, by the place of their entry.
    known: HashMap<EntryPlace, Rc<Known>>,
    /// Paths seen so far, by where addr2line keeps their text.
    paths: HashMap<(usize, usize), Rc<[u8]>>,
}

/// A split part's id (0: none), a unit's offset, and the entry's offset in it.
type EntryPlace = (u64, usize, usize);

struct Known {
    described: Described,
    pieces: Pieces,
    /// Function id, once it has one that does not depend on the call site.
    function: Cell<Option<u32>>,
}

/// One frame as the debug information has it.
struct SourceLocation {
    known: Option<Rc<Known>>,
    file: Option<Rc<[u8]>>,
    line: u32,
}

impl<'r, 'o, 'a> DebugInfo<'r, 'o, 'a> {
    /// # Errors
    /// gimli's, where not even the list of units can be read.
    pub(crate) fn new(dwarf: &'r Arc<Dwarf<'a>>, split: &'r mut SplitFiles<'o, 'a>) -> gimli::Result<Self> {
        let context = Context::from_arc_dwarf(Arc::clone(dwarf))?;
        let (known, paths) = (HashMap::new(), HashMap::new());
        Ok(DebugInfo { context, units: Units::new(dwarf), split, known, paths })
    }

    /// The frames at an address, innermost first.
    fn locations(&mut self, lookup: u64) -> Vec<SourceLocation> {
        let Ok(mut frames) = run(self.context.find_frames(lookup), self.split) else {
            return Vec::new();
        };
        let unit = run(self.context.find_dwarf_and_unit(lookup), self.split);
        let mut locations = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let place = frame.dw_die_offset.zip(unit.as_ref());
            let known =
                place.map(|(entry, unit)| know(&mut self.known, &self.units, unit.dwarf, unit.unit, entry));
            let (file, line) = frame.location.map_or((None, None), |at| (at.file, at.line));
            let file = file.map(|file| {
                let path = self.paths.entry((file.as_ptr().addr(), file.len()));
                Rc::clone(path.or_insert_with(|| source_path::join(&[file.as_bytes()]).into()))
            });
            locations.push(SourceLocation { known, file, line: line.unwrap_or(0) });
        }
        // The outermost frame is the machine function and must stay.
        if locations.len() > MAX_FRAMES {
            locations.drain(MAX_FRAMES - 1..locations.len() - 1);
        }
        locations
    }
}

/// Describes an entry once.
fn know<'a>(
    known: &mut HashMap<EntryPlace, Rc<Known>>,
    units: &Units<'_, 'a>,
    dwarf: &Dwarf<'a>,
    unit: &Unit<'a>,
    entry: UnitOffset,
) -> Rc<Known> {
    let (part, offset) = unit_place(dwarf, unit);
    let known = known.entry((part, offset, entry.0)).or_insert_with(|| {
        let described = units.describe(dwarf, unit, entry);
        let pieces = Pieces::of(dwarf, unit, entry);
        Rc::new(Known { described, pieces, function: Cell::new(None) })
    });
    Rc::clone(known)
}

/// Runs a lookup, opening the split parts that it asks for.
fn run<'a, L>(mut lookup: LookupResult<L>, split: &mut SplitFiles<'_, 'a>) -> L::Output
where
    L: LookupContinuation<Buf = Slice<'a>>,
{
    loop {
        match lookup {
            LookupResult::Output(output) => return output,
            LookupResult::Load { load, continuation } => {
                let part = split.open(load.dwo_id, load.comp_dir, load.path, &load.parent);
                lookup = continuation.resume(part);
            }
        }
    }
}

impl<'r, 'o, 'a> Resolver<'r, 'o, 'a> {
    pub(crate) fn new(debug: Option<DebugInfo<'r, 'o, 'a>>, symbols: &'r Symbols<'a>) -> Self {
        Resolver { module: 0, debug, symbols, table: NameTable::default() }
    }

    /// Names one frame, a `Code` frame of a module that is this file, if anything is known about it.
    pub(crate) fn resolve(&mut self, frame: Frame) {
        let Frame::Code { module, address, .. } = frame else {
            return;
        };
        self.enter(module);
        let Some(lookup) = frame.lookup_address().filter(|&lookup| lookup < u64::MAX) else {
            return;
        };
        let locations = self.debug.as_mut().map_or_else(Vec::new, |debug| debug.locations(lookup));
        let mut frames = self.described_frames(&locations, address, lookup);
        if frames.is_empty() {
            // No function in the debug information; perhaps a line (assembly).
            frames.extend(self.symbol_frame(locations.first(), address, lookup));
        }
        self.table.site(frame, frames);
    }

    /// Goes on with frames of another module: its functions have ids of their own.
    fn enter(&mut self, module: u32) {
        if self.module != module {
            let known = self.debug.iter().flat_map(|debug| debug.known.values());
            known.for_each(|known| known.function.set(None));
            self.module = module;
        }
    }

    /// What was found.
    pub(crate) fn finish(self) -> NameTable {
        self.table
    }

    fn described_frames(
        &mut self,
        locations: &[SourceLocation],
        address: u64,
        lookup: u64,
    ) -> Vec<SourceFrame> {
        let Some(machine) = locations.last().and_then(|outermost| outermost.known.as_ref()) else {
            return Vec::new();
        };
        let offset = machine.pieces.offset(address, lookup);
        let mut frames = Vec::with_capacity(locations.len());
        for location in locations {
            let Some(known) = &location.known else {
                continue;
            };
            let Some(function) = self.function(known, Rc::ptr_eq(known, machine), location) else {
                continue;
            };
            let file = location.file.as_ref().map(|path| self.table.file(path));
            frames.push(SourceFrame { function, file, line: location.line, offset });
        }
        frames
    }

    /// A better name of a machine function than its entry has, from its symbols: the mangled one where the entry
    /// has only the short one (`-gline-tables-only`), and the public one of what a C library defines under a
    /// reserved name (`strdup` for `__strdup`), so that a report does not depend on debug packages.
    fn linker_name(&self, known: &Known) -> Option<&'a [u8]> {
        let described = &known.described;
        if is_mangled(&described.linkage_name) {
            return None;
        }
        let start = known.pieces.start()?;
        let symbol = self.symbols.find(start).filter(|symbol| symbol.start == start)?;
        let name = base_name(symbol.name);
        // One name must be part of the other: another function may have been folded into this one.
        if is_mangled(name) {
            let same = contains(name, &described.name) || described.name.starts_with(b"operator");
            return same.then_some(name);
        }
        let reserved = |name: &[u8]| name.iter().take_while(|&&byte| byte == b'_').count();
        let public = reserved(name) < reserved(&described.name) && contains(&described.name, name);
        public.then_some(name)
    }

    fn function(&mut self, known: &Known, is_machine: bool, location: &SourceLocation) -> Option<u32> {
        if let Some(function) = known.function.get() {
            return Some(function);
        }
        let of = &known.described;
        let symbol = if is_machine { self.linker_name(known) } else { None };
        let linkage_name = symbol.unwrap_or(&of.linkage_name);
        let name = symbol.map_or_else(|| of.name.clone(), demangle);
        if name.is_empty() {
            return None;
        }
        // Where the declaration says nothing, the code does: it stands in the function's file.
        let file = of.file.as_deref().or(location.file.as_deref());
        let function = Function {
            linkage_name: if *linkage_name == name { Vec::new() } else { linkage_name.to_vec() },
            name,
            module: Some(self.module),
            file: file.map(|path| self.table.file(path)),
            line: of.line,
        };
        let id = self.table.function(function, 0);
        if of.file.is_some() && symbol.is_none() {
            known.function.set(Some(id));
        }
        Some(id)
    }

    fn symbol_frame(
        &mut self,
        location: Option<&SourceLocation>,
        address: u64,
        lookup: u64,
    ) -> Option<SourceFrame> {
        let symbol = self.symbols.find(lookup)?;
        let name = demangle(symbol.name);
        let linkage_name = if name == symbol.name { Vec::new() } else { symbol.name.to_vec() };
        let function = Function { name, linkage_name, module: Some(self.module), file: None, line: 0 };
        let function = self.table.function(function, symbol.start);
        let file = location.and_then(|at| at.file.as_ref()).map(|path| self.table.file(path));
        let line = location.map_or(0, |at| at.line);
        Some(SourceFrame { function, file, line, offset: symbol.offset(address) })
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}
