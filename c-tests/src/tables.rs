//! The report's four tables as text, and the totals in them.

use std::collections::BTreeMap;

/// A printed report.
#[derive(Debug, Clone)]
pub struct Tables {
    text: String,
}

/// One line of table 4 that describes the entry function itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Index, function name, index: as printed.
    pub name: String,
    /// Bytes allocated in the function itself.
    pub own_bytes: u64,
}

/// The edges of table 4: (caller, callee) with bytes and allocations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edges {
    /// As the ancestor lines above the callee's entry have them.
    pub above: BTreeMap<(String, String), (u64, u64)>,
    /// As the descendent lines below the caller's entry have them.
    pub below: BTreeMap<(String, String), (u64, u64)>,
}

impl Tables {
    /// From what `mpdisplay` printed.
    pub fn new(text: String) -> Tables {
        Tables { text }
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All from the first table on, without what stands above: that names the process, which no two runs share.
    pub fn tables(&self) -> &str {
        let start =
            ["Memory leaks\n", "Allocation bins\n"].iter().find_map(|heading| self.text.find(heading));
        &self.text[start.unwrap_or(0)..]
    }

    /// The lines from a table's heading to the next heading; empty where the table is not there.
    pub fn section(&self, heading: &str) -> Vec<&str> {
        let headings = ["Memory leaks", "Allocation bins", "Direct allocation", "Allocation call graph"];
        let mut lines = self.text.lines().skip_while(|line| line.trim() != heading);
        let first = lines.next();
        first.into_iter().chain(lines.take_while(|line| !headings.contains(&line.trim()))).collect()
    }

    /// The `<TOTAL>` line of table 2: allocations, bytes, frees, kept bytes.
    pub fn bins_total(&self) -> Option<[u64; 4]> {
        let section = self.section("Allocation bins");
        let line = section.iter().find(|line| line.contains("<TOTAL>"))?;
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        numbers.try_into().ok()
    }

    /// The `<TOTAL>` line of table 3: bytes, kept bytes, calls.
    pub fn direct_total(&self) -> Option<[u64; 3]> {
        let section = self.section("Direct allocation");
        let line = section.iter().find(|line| line.contains("<TOTAL>"))?;
        let fields: Vec<&str> = line.split('|').collect();
        let [bytes, _, kept, _, calls] = fields[..] else { return None };
        let number = |field: &str| field.split_whitespace().find_map(|word| word.parse().ok());
        Some([number(bytes)?, number(kept)?, number(calls)?])
    }

    /// The kept bytes of all lines of table 1 together, as `--verbose` prints them.
    pub fn leaked(&self) -> u64 {
        let section = self.section("Memory leaks");
        // allocs, bytes, frees, freed, kept (%), path
        let kept = |line: &&str| {
            let numbers: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
            (numbers.len() == 5).then(|| numbers[4])
        };
        section.iter().filter_map(kept).sum()
    }

    /// The lines of table 1, as `--verbose` prints them: path, outermost first, kept objects and kept bytes.
    pub fn leak_paths(&self) -> Vec<(Vec<String>, u64, u64)> {
        // allocs, bytes, frees, freed, kept (%), path
        let row = |line: &&str| {
            let numbers: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
            let [allocs, _, frees, _, kept] = numbers[..] else { return None };
            let path = line.split(" > ").map(|name| name.trim().to_owned());
            // Before the first of them stand the numbers.
            Some((path.skip(1).collect(), allocs - frees, kept))
        };
        self.section("Memory leaks").iter().filter_map(row).collect()
    }

    /// The edges of table 4.
    pub fn edges(&self) -> Edges {
        let mut edges = Edges::default();
        // The functions above the next entry, with bytes and allocations; and the entry above.
        let mut callers: Vec<(String, (u64, u64))> = Vec::new();
        let mut entry_above: Option<String> = None;
        for line in self.section("Allocation call graph") {
            if line.starts_with("-----") {
                entry_above = None;
            } else if let Some(entry) = entry(line) {
                let name = without_index(&entry.name).to_owned();
                let above = callers.drain(..).map(|(caller, numbers)| ((caller, name.clone()), numbers));
                edges.above.extend(above);
                entry_above = Some(name);
            } else if let Some((name, numbers)) = edge(line) {
                match &entry_above {
                    Some(caller) => {
                        edges.below.insert((caller.clone(), name), numbers);
                    }
                    None => callers.push((name, numbers)),
                }
            }
        }
        edges
    }

    /// The entries of table 4, in order: the lines with the long rule in the *frac* field.
    pub fn entries(&self) -> Vec<Entry> {
        let section = self.section("Allocation call graph");
        section.iter().filter_map(|line| entry(line)).collect()
    }

    /// Checks that the tables of one report of `--verbose` agree with each other, which must hold every time. `exact`
    /// is the report of `--exact` besides, in which no cycles are merged.
    ///
    /// # Panics
    /// When they do not.
    pub fn assert_agree(&self, exact: &Tables) {
        let [allocs, bytes, _, kept] =
            self.bins_total().unwrap_or_else(|| panic!("no bins in\n{}", self.text));
        let direct = self.direct_total().unwrap_or_else(|| panic!("no direct allocation in\n{}", self.text));
        assert_eq!(direct, [bytes, kept, allocs], "table 3 against table 2 of\n{}", self.text);
        assert_eq!(self.leaked(), kept, "table 1 against table 2 of\n{}", self.text);
        for (graph, text) in [(self.entries(), &self.text), (exact.entries(), &exact.text)] {
            // A cycle as one function repeats what its members have.
            let functions = graph.iter().filter(|entry| !entry.name.starts_with("<cycle "));
            let own: u64 = functions.map(|entry| entry.own_bytes).sum();
            assert_eq!(own, bytes, "own bytes of table 4 against table 2 of\n{text}");
        }
    }
}

fn entry(line: &str) -> Option<Entry> {
    let fields: Vec<&str> = line.split('|').collect();
    let [own, _, rule, name] = fields[..] else { return None };
    if rule.trim() != "-----------" {
        return None;
    }
    // `[0]    100.0        0 (0)`: index, self + desc, own bytes, their share.
    let words: Vec<&str> = own.split_whitespace().collect();
    let own_bytes = words.get(2)?.parse().ok()?;
    // A cycle that is listed as a whole has no *called*.
    let words = name.split_whitespace().skip_while(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let name = words.collect::<Vec<_>>().join(" ");
    Some(Entry { name, own_bytes })
}

/// An ancestor's or descendent's line: name, bytes, and allocations over the edge.
fn edge(line: &str) -> Option<(String, (u64, u64))> {
    let fields: Vec<&str> = line.split('|').collect();
    let [bytes, _, _, name] = fields[..] else { return None };
    let bytes = bytes.split_whitespace().next()?.parse().ok()?;
    let (calls, name) = name.trim().split_once(' ')?;
    let allocs = calls.split_once('/')?.0.parse().ok()?;
    Some((without_index(name.trim()).to_owned(), (bytes, allocs)))
}

/// A function's name without the index after it.
fn without_index(name: &str) -> &str {
    name.rsplit_once(" [").map_or(name, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widgets() -> Tables {
        Tables::new(include_str!("../expected/widgets.txt").to_owned())
    }

    #[test]
    fn the_papers_totals_are_read() {
        assert_eq!(widgets().bins_total(), Some([10000, 2_040_000, 4981, 1_023_876]));
        assert_eq!(widgets().direct_total(), Some([2_040_000, 1_023_876, 10000]));
    }

    #[test]
    fn the_papers_entries_are_read() {
        let entry = |name: &str, own_bytes| Entry { name: name.to_owned(), own_bytes };
        assert_eq!(
            widgets().entries(),
            [
                entry("main [0]", 0),
                entry("make_widget [1]", 2_040_000),
                entry("make_red_widget [2]", 0),
                entry("make_blue_widget [3]", 0)
            ]
        );
    }

    #[test]
    fn the_papers_edges_are_read() {
        let edges = widgets().edges();
        let expected = [
            (("main", "make_blue_widget"), (1_016_124, 4981)),
            (("main", "make_red_widget"), (1_023_876, 5019)),
            (("make_blue_widget", "make_widget"), (1_016_124, 4981)),
            (("make_red_widget", "make_widget"), (1_023_876, 5019)),
        ];
        let expected: BTreeMap<_, _> = expected
            .map(|((caller, callee), numbers)| ((caller.to_owned(), callee.to_owned()), numbers))
            .into();
        assert_eq!(edges.above, expected);
        assert_eq!(edges.below, expected);
    }

    #[test]
    fn kept_paths_are_read() {
        let text = "Memory leaks\n  allocs  bytes  frees  freed  kept (%)  path\n\
                    \n   7   70   3   30   40 (99)   || > main > A::f(int) > b\n";
        let path = ["main", "A::f(int)", "b"].map(str::to_owned).to_vec();
        assert_eq!(Tables::new(text.to_owned()).leak_paths(), [(path, 4, 40)]);
    }

    #[test]
    fn a_cycle_as_one_function_is_told_from_its_members() {
        let line = |text| entry(text).map(|entry| (entry.name, entry.own_bytes));
        let merged =
            "[2]     47.1      360 (13)  | 22 77       | ----------- |      41+30      <cycle 1> [2]";
        assert_eq!(line(merged), Some(("<cycle 1> [2]".to_owned(), 360)));
        let whole = "[2]     47.1      360 (13)  | 22 77       | ----------- |                 <cycle 1> as a whole [2]";
        assert_eq!(line(whole), Some(("<cycle 1> as a whole [2]".to_owned(), 360)));
        let member =
            "[4]      6.7       80 (21)  | 99          | ----------- |      40+3       even <cycle 1> [4]";
        assert_eq!(line(member), Some(("even <cycle 1> [4]".to_owned(), 80)));
        let ancestor =
            "                  316 (11)  |  5 94       |  5 94       |       4/4           start [5]";
        assert_eq!(line(ancestor), None);
    }
}
