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
    /// Address ranges of sections with code, sorted.
    code: Vec<(u64, u64)>,
}

impl<'a> Table<'a> {
    fn new(object: &object::File<'a>, dynamic: bool) -> Self {
        let range = |section: &object::Section<'_, '_>| {
            (section.address(), section.address().saturating_add(section.size()))
        };
        let mut code: Vec<_> = object.sections().filter(is_code).map(|section| range(&section)).collect();
        code.sort_unstable();
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
            if name.is_empty() || name.starts_with(b"$") || section_around(&code, start).is_none() {
                continue;
            }
            let local = binding == elf::STB_LOCAL;
            let entry = Symbol { start, size: symbol.size(), name, file: file.filter(|_| local) };
            ranked.push((Rank::of(&entry, is_function, local), entry));
        }
        Table::of(ranked, code)
    }

    fn of(mut ranked: Vec<(Rank<'a>, Symbol<'a>)>, code: Vec<(u64, u64)>) -> Self {
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
        section_around(&self.code, nearest.start).filter(|&(_, end)| address < end).map(|_| nearest)
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

/// The section (from, to) that an address is in; `sections` are sorted.
fn section_around(sections: &[(u64, u64)], address: u64) -> Option<(u64, u64)> {
    let index = sections.partition_point(|&(start, _)| start <= address).checked_sub(1)?;
    Some(sections[index]).filter(|&(_, end)| address < end)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of `(start, size, name, file)` in one section from 0x1000 to 0x2000, and one from 0x2000 to 0x2100.
    fn table(symbols: &[(u64, u64, &'static str, Option<u32>)]) -> Table<'static> {
        let symbol = |&(start, size, name, file): &(u64, u64, &'static str, _)| Symbol {
            start,
            size,
            name: name.as_bytes(),
            file,
        };
        let ranked = symbols.iter().map(|of| (Rank::of(&symbol(of), true, of.3.is_some()), symbol(of)));
        Table::of(ranked.collect(), vec![(0x1000, 0x2000), (0x2000, 0x2100)])
    }

    fn found(table: &Table<'static>, address: u64) -> Option<(String, u64)> {
        let found = table.find(address)?;
        Some((String::from_utf8_lossy(found.name).into_owned(), found.offset(address)))
    }

    fn at(name: &str, offset: u64) -> Option<(String, u64)> {
        Some((name.to_owned(), offset))
    }

    #[test]
    fn a_symbol_must_cover_the_address() {
        let table = table(&[(0x1010, 0x10, "f", None), (0x1030, 0x10, "g", None)]);
        assert_eq!(found(&table, 0x100f), None);
        assert_eq!(found(&table, 0x1010), at("f", 0));
        assert_eq!(found(&table, 0x101f), at("f", 0xf));
        assert_eq!(found(&table, 0x1020), None);
        assert_eq!(found(&table, 0x1035), at("g", 5));
        assert_eq!(found(&table, u64::MAX), None);
    }

    #[test]
    fn a_label_reaches_to_the_next_symbol_or_the_end_of_its_section() {
        let table = table(&[(0x1010, 0, "a", None), (0x1030, 0x10, "b", None), (0x1100, 0, "c", None)]);
        assert_eq!(found(&table, 0x1020), at("a", 0x10));
        assert_eq!(found(&table, 0x1040), None);
        assert_eq!(found(&table, 0x1fff), at("c", 0xeff));
        assert_eq!(found(&table, 0x2000), None);
    }

    #[test]
    fn labels_inside_of_a_function_do_not_cut_it() {
        let table =
            table(&[(0x1000, 0x100, "f", None), (0x1040, 0, "label", None), (0x1080, 8, "inner", None)]);
        assert_eq!(found(&table, 0x1050), at("f", 0x50));
        assert_eq!(found(&table, 0x1084), at("inner", 4));
        assert_eq!(found(&table, 0x1090), at("f", 0x90));
        // Behind the function that it was in, a label means nothing.
        assert_eq!(found(&table, 0x1100), None);
    }

    #[test]
    fn the_best_known_of_several_names_is_shown() {
        let table = table(&[
            (0x1000, 8, "__GI_puts", Some(3)),
            (0x1000, 8, "_IO_puts", None),
            (0x1000, 8, "puts", None),
            (0x1000, 0, "a", None),
        ]);
        assert_eq!(found(&table, 0x1001), at("puts", 1));
    }

    #[test]
    fn a_cold_part_belongs_to_the_function_of_its_file() {
        let table = table(&[
            (0x1000, 0x40, "f", Some(1)),
            (0x1100, 0x40, "f", Some(2)),
            (0x1200, 0x40, "g", None),
            (0x1800, 8, "f.cold", Some(2)),
            (0x1808, 8, "g.cold", Some(2)),
            (0x1810, 8, "h.cold", Some(2)),
        ]);
        let cold = table.find(0x1803).expect("a cold part");
        assert_eq!((cold.name, cold.start, cold.offset(0x1803)), (&b"f"[..], 0x1100, 0x43));
        assert_eq!(table.find(0x1808).expect("a cold part").start, 0x1200);
        assert_eq!(found(&table, 0x1812), at("h.cold", 2));
    }
}
