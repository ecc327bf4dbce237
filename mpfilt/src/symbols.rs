//! Symbol tables: the names of machine code that has no debug information.

use std::cell::OnceCell;

use object::elf;
use object::read::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolFlags};

use crate::demangle;

/// How many symbols that start inside another one are looked behind for it.
const MAX_NESTED: usize = 64;

/// A symbol that covers an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Match<'a> {
    /// Name as the linker knows it.
    pub(crate) name: &'a [u8],
    /// Start of the function, file address.
    pub(crate) start: u64,
    /// Start of the piece of code that the address lies in, which is a function's cold part or `start`.
    piece: u64,
    /// What lies before the piece when a function's pieces are laid end to end, bytes.
    before: u64,
}

impl Match<'_> {
    /// Offset of a file address from the start of the function, bytes. A cold part, which the compiler put
    /// elsewhere, is taken to follow the function's other code, so that no two calls have one offset.
    pub(crate) fn offset(&self, address: u64) -> u64 {
        self.before.wrapping_add(address.wrapping_sub(self.piece))
    }
}

/// The symbol tables of one module, in the order in which they are asked.
#[derive(Default)]
pub(crate) struct Symbols<'a> {
    sources: Vec<(Source<'a>, OnceCell<Table<'a>>)>,
}

/// Where a table comes from.
struct Source<'a> {
    object: object::File<'a>,
    dynamic: bool,
}

impl<'a> Symbols<'a> {
    /// Adds a file's symbol table, to be read when first asked.
    pub(crate) fn add(&mut self, object: object::File<'a>, dynamic: bool) {
        self.sources.push((Source { object, dynamic }, OnceCell::new()));
    }

    /// The nearest symbol that covers a file address.
    pub(crate) fn find(&self, address: u64) -> Option<Match<'a>> {
        self.sources.iter().find_map(|(source, table)| {
            table.get_or_init(|| Table::new(&source.object, source.dynamic)).find(address)
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Symbol<'a> {
    start: u64,
    /// Bytes; 0 where the symbol does not say (assembly).
    size: u64,
    name: &'a [u8],
    /// Which source file's local symbols it stands among; `None` for global ones.
    file: Option<u32>,
}

/// One symbol table, by rising address; one name an address.
#[derive(Debug, Default)]
struct Table<'a> {
    symbols: Vec<Symbol<'a>>,
    /// For each symbol the largest end of it and all before it: how far back a search has to go.
    reach: Vec<u64>,
    /// Address ranges of sections with code.
    code: Vec<(u64, u64)>,
}

impl<'a> Table<'a> {
    fn new(object: &object::File<'a>, dynamic: bool) -> Self {
        let code_sections: Vec<_> = object.sections().filter(is_code).collect();
        let code: Vec<_> = code_sections
            .iter()
            .map(|section| (section.address(), section.address().saturating_add(section.size())))
            .collect();
        let symbols = if dynamic { object.dynamic_symbols() } else { object.symbols() };
        let mut file = None;
        let mut ranked = Vec::new();
        for symbol in symbols {
            let SymbolFlags::Elf { st_info, .. } = symbol.flags() else {
                continue;
            };
            let (kind, binding) = (st_info.st_type(), st_info.st_bind());
            if kind == elf::STT_FILE {
                file = Some(file.map_or(0, |number: u32| number.wrapping_add(1)));
                continue;
            }
            let is_function = kind == elf::STT_FUNC || kind == elf::STT_GNU_IFUNC;
            if symbol.is_undefined() || !(is_function || kind == elf::STT_NOTYPE) {
                continue;
            }
            let Ok(name) = symbol.name_bytes() else {
                continue;
            };
            let start = symbol.address();
            if name.is_empty()
                || name.starts_with(b"$")
                || !code.iter().any(|&(low, high)| low <= start && start < high)
            {
                continue;
            }
            let local = binding == elf::STB_LOCAL;
            let entry = Symbol { start, size: symbol.size(), name, file: file.filter(|_| local) };
            ranked.push((Rank::of(&entry, is_function, local), entry));
        }
        ranked.sort_by(|(a_rank, a), (b_rank, b)| (a.start, a_rank).cmp(&(b.start, b_rank)));
        ranked.dedup_by_key(|(_, symbol)| symbol.start);
        let symbols: Vec<_> = ranked.into_iter().map(|(_, symbol)| symbol).collect();
        let reach = symbols
            .iter()
            .scan(0, |reach: &mut u64, symbol| {
                *reach = (*reach).max(symbol.start.saturating_add(symbol.size));
                Some(*reach)
            })
            .collect();
        Table { symbols, reach, code }
    }

    fn find(&self, address: u64) -> Option<Match<'a>> {
        let symbol = self.covering(address)?;
        if let Some(function) = self.function_of_cold_part(symbol) {
            let (start, piece, before) = (function.start, symbol.start, function.size);
            return Some(Match { name: function.name, start, piece, before });
        }
        Some(Match { name: symbol.name, start: symbol.start, piece: symbol.start, before: 0 })
    }

    /// The symbol whose code the address is in: the nearest with a size that reaches it, else the nearest
    /// without, if no other symbol's code lies between and it is in the same section.
    fn covering(&self, address: u64) -> Option<&Symbol<'a>> {
        let next = self.symbols.partition_point(|symbol| symbol.start <= address);
        let before = &self.symbols[..next];
        let reaching = before.iter().zip(&self.reach).rev().take_while(|&(_, &reach)| reach > address);
        for (symbol, _) in reaching.take(MAX_NESTED) {
            if symbol.start.saturating_add(symbol.size) > address {
                return Some(symbol);
            }
        }
        let nearest = before.last().filter(|nearest| nearest.size == 0)?;
        // Code with a size that ended after the label stood before it: the label is inside of other code.
        if self.reach[next - 1] > nearest.start {
            return None;
        }
        let same_section =
            |&(low, high): &(u64, u64)| low <= nearest.start && nearest.start < high && address < high;
        self.code.iter().any(same_section).then_some(nearest)
    }

    /// The function that a cold part was cut from: of that name, local to the same source file or global.
    fn function_of_cold_part(&self, cold: &Symbol<'a>) -> Option<&Symbol<'a>> {
        let name = demangle::cold_part_of(cold.name)?;
        let of_name = || self.symbols.iter().filter(|symbol| symbol.name == name);
        of_name()
            .find(|symbol| symbol.file == cold.file)
            .or_else(|| of_name().find(|symbol| symbol.file.is_none()))
    }
}

fn is_code<'a>(section: &impl ObjectSection<'a>) -> bool {
    matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(elf::SHF_EXECINSTR))
}

/// Which of several names of one address people know best; the smallest wins.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank<'a> {
    sizeless: bool,
    label: bool,
    underscores: usize,
    local: bool,
    length: usize,
    name: &'a [u8],
}

impl<'a> Rank<'a> {
    fn of(symbol: &Symbol<'a>, is_function: bool, local: bool) -> Self {
        let name = symbol.name;
        Rank {
            sizeless: symbol.size == 0,
            label: !is_function,
            underscores: name.iter().take_while(|&&byte| byte == b'_').count(),
            local,
            length: name.len(),
            name,
        }
    }
}
