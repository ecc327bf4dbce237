//! A profile as questions with exact answers: what was allocated at the end of this chain, over this edge, of this
//! size.
//!
//! A chain is written as the report writes it, `main > foo > bar`, outermost first and whole. Callers outside `main`
//! or a thread's start function that belong to the C library's start-up are left out, as in the report.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use mprof_format::model::{
    Bin, CLASSES, Category, Context, Counter, Frame, ModuleKind, Names, Profile, Special,
};

/// What was allocated and freed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Objects allocated.
    pub allocs: u64,
    /// Bytes allocated.
    pub bytes: u64,
    /// Of these, objects freed.
    pub frees: u64,
    /// Of these, bytes freed.
    pub freed_bytes: u64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Totals) {
        self.allocs += other.allocs;
        self.bytes += other.bytes;
        self.frees += other.frees;
        self.freed_bytes += other.freed_bytes;
    }
}

/// `allocs` objects of `bytes` in all, none of them freed.
pub fn kept(allocs: u64, bytes: u64) -> Totals {
    totals(allocs, bytes, 0, 0)
}

/// `allocs` objects of `bytes` in all, all of them freed.
pub fn freed(allocs: u64, bytes: u64) -> Totals {
    totals(allocs, bytes, allocs, bytes)
}

/// All four numbers.
pub fn totals(allocs: u64, bytes: u64, frees: u64, freed_bytes: u64) -> Totals {
    Totals { allocs, bytes, frees, freed_bytes }
}

/// A named profile and its chains, of what the C library gave out: objects of garbage collectors are left out.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The profile itself, as `mpfilt` wrote it.
    pub profile: Profile,
    /// (functions of a chain, outermost first; category; what was allocated there), one a counter.
    counters: Vec<(Vec<String>, Category, Totals)>,
    /// (functions of a chain, objects of each class that are kept of what was allocated there).
    classes: Vec<(Vec<String>, [u64; CLASSES])>,
}

impl Facts {
    /// From a profile that has been through `mpfilt`.
    ///
    /// # Panics
    /// When it has no names.
    pub fn new(profile: Profile) -> Facts {
        let names = profile.names.as_ref().expect("the file has been through mpfilt");
        let chains = Chains { profile: &profile, names };
        let counters = profile
            .counters
            .iter()
            .filter(|counter| is_of_c(counter))
            .map(|counter| (chains.functions(counter.context), counter.category, of_counter(counter)));
        let counters = counters.collect();
        let kept = profile.reachability.iter().flat_map(|reachability| &reachability.kept);
        let classes = kept
            .map(|kept| (chains.functions(kept.context), kept.classes.map(|amount| amount.objects)))
            .collect();
        Facts { profile, counters, classes }
    }

    /// All that a profile's counters say, named or not.
    pub fn total_of(profile: &Profile) -> Totals {
        let mut sum = Totals::default();
        let counters = profile.counters.iter().filter(|counter| is_of_c(counter));
        counters.for_each(|counter| sum += of_counter(counter));
        sum
    }

    /// Path of the program.
    pub fn program(&self) -> String {
        lossy(&self.profile.process.program)
    }

    /// Everything.
    pub fn total(&self) -> Totals {
        self.sum(|_| true)
    }

    /// What was allocated at the end of exactly this chain.
    pub fn chain(&self, chain: &str) -> Totals {
        let wanted = words(chain);
        self.sum(|functions| functions == wanted)
    }

    /// What was allocated at the end of all chains whose innermost functions are these.
    pub fn ending(&self, chain: &str) -> Totals {
        let wanted = words(chain);
        self.sum(|functions| functions.ends_with(&wanted))
    }

    /// Kept objects that were allocated by this function and below it: lost, indirect, possible, reachable.
    ///
    /// # Panics
    /// When they were not classified.
    pub fn classes(&self, function: &str) -> [u64; CLASSES] {
        assert!(self.profile.reachability.is_some(), "the kept objects are classified");
        let with_arguments = format!("{function}()");
        let mut sums = [0; CLASSES];
        for (functions, classes) in &self.classes {
            if functions.iter().any(|name| name == function || *name == with_arguments) {
                sums.iter_mut().zip(classes).for_each(|(sum, count)| *sum += count);
            }
        }
        sums
    }

    /// What was allocated by all chains that begin with these functions.
    pub fn beginning(&self, chain: &str) -> Totals {
        let wanted = words(chain);
        self.sum(|functions| functions.starts_with(&wanted))
    }

    /// What was allocated directly by this function.
    pub fn direct(&self, function: &str) -> Totals {
        self.sum(|functions| functions.last().is_some_and(|last| last == function))
    }

    /// What was allocated by this function and below it.
    pub fn through(&self, function: &str) -> Totals {
        self.sum(|functions| functions.iter().any(|f| f == function))
    }

    /// What was allocated over calls from one function to the other, each allocation once.
    pub fn edge(&self, caller: &str, callee: &str) -> Totals {
        self.sum(|functions| functions.windows(2).any(|pair| pair[0] == caller && pair[1] == callee))
    }

    /// What was allocated in a category.
    pub fn category(&self, category: Category) -> Totals {
        let mut sum = Totals::default();
        self.counters.iter().filter(|(_, c, _)| *c == category).for_each(|(_, _, totals)| sum += *totals);
        sum
    }

    /// The bin of a size, `None` for that of all sizes over 1024 bytes. Zeros where there is none.
    pub fn bin(&self, size: Option<u64>) -> Totals {
        let mut sum = Totals::default();
        self.profile.bins.iter().filter(|bin| bin.size == size).for_each(|bin| sum += of_bin(bin));
        sum
    }

    /// All bins together.
    pub fn all_bins(&self) -> Totals {
        let mut sum = Totals::default();
        self.profile.bins.iter().for_each(|bin| sum += of_bin(bin));
        sum
    }

    /// The names of the program's own user types of a size, sorted. Whether its libraries have debug information
    /// depends on the machine.
    pub fn types(&self, size: u64) -> Vec<String> {
        let names = self.profile.names.as_ref().expect("checked in new");
        let own = |module: u32| self.profile.modules[module as usize].path == self.profile.process.program;
        let types = names.types.iter().filter(|t| t.size == size && !t.system && own(t.module));
        let mut types: Vec<String> = types.map(|t| lossy(&t.name)).collect();
        types.sort();
        types
    }

    /// All chains with what was allocated at their ends, sorted, as lines: for messages and for comparing runs.
    pub fn chains(&self) -> BTreeMap<String, Totals> {
        let mut chains: BTreeMap<String, Totals> = BTreeMap::new();
        for (functions, _, totals) in &self.counters {
            *chains.entry(functions.join(" > ")).or_default() += *totals;
        }
        chains
    }

    /// Checks that each total is the sum that it should be.
    ///
    /// # Panics
    /// When bins and counters do not agree, or more was freed than allocated.
    pub fn assert_consistent(&self) {
        assert_eq!(self.total(), self.all_bins(), "counters against bins of {}", self.program());
        for (functions, category, totals) in &self.counters {
            let chain = functions.join(" > ");
            assert!(totals.frees <= totals.allocs, "{chain}, {category:?}: {totals:?}");
            assert!(totals.freed_bytes <= totals.bytes, "{chain}, {category:?}: {totals:?}");
        }
    }

    fn sum(&self, matches: impl Fn(&[String]) -> bool) -> Totals {
        let mut sum = Totals::default();
        self.counters.iter().filter(|(chain, ..)| matches(chain)).for_each(|(_, _, totals)| sum += *totals);
        sum
    }
}

/// Whether the C library gave these objects out.
fn is_of_c(counter: &Counter) -> bool {
    use Category::{ExtraLarge, Large, Medium, Small};
    matches!(counter.category, Small | Medium | Large | ExtraLarge)
}

fn of_counter(counter: &Counter) -> Totals {
    totals(counter.allocs, counter.bytes, counter.frees, counter.freed_bytes)
}

fn of_bin(bin: &Bin) -> Totals {
    totals(bin.allocs, bin.bytes, bin.frees, bin.freed_bytes)
}

fn words(chain: &str) -> Vec<String> {
    chain.split(" > ").map(str::to_owned).collect()
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// How the report shows that outer callers were left out.
const CUT_OFF: &str = "...";

/// The chains of a profile as names.
struct Chains<'a> {
    profile: &'a Profile,
    names: &'a Names,
}

impl Chains<'_> {
    /// The functions from the outermost to the one that allocated.
    fn functions(&self, context: u32) -> Vec<String> {
        // Innermost first: (name, whether it may be part of the C library's start-up).
        let mut frames: Vec<(String, bool)> = Vec::new();
        let mut next = Some(context);
        while let Some(id) = next {
            let Context { parent, frame } = self.profile.contexts[id as usize];
            self.add(frame, &mut frames);
            next = parent;
        }
        // A chain that was cut off in the start-up code still reaches the program's start.
        let inside = frames.iter().rposition(|(name, startup)| !startup && name != CUT_OFF);
        if inside.is_some_and(|inside| frames[inside + 1..].iter().any(|(_, startup)| *startup)) {
            frames.truncate(inside.map_or(0, |inside| inside + 1));
        }
        frames.into_iter().rev().map(|(name, _)| name).collect()
    }

    /// Adds a frame's functions, innermost first.
    fn add(&self, frame: Frame, frames: &mut Vec<(String, bool)>) {
        match frame {
            Frame::Thread(_) => {}
            Frame::Special(Special::Unknown) => frames.push(("[unknown]".to_owned(), false)),
            Frame::Special(Special::Truncated) => frames.push((CUT_OFF.to_owned(), false)),
            Frame::Special(other) => frames.push((format!("{other:?}"), false)),
            Frame::Lisp(function) => {
                let name = &self.profile.collected.functions[function as usize].name;
                frames.push((if name.is_empty() { "(lambda)".to_owned() } else { lossy(name) }, false));
            }
            Frame::Code { .. } | Frame::Anonymous { .. } => {
                let startup = self.is_startup(frame);
                match self.names.sites.get(&frame) {
                    Some(site) => frames.extend(site.frames.iter().map(|source| {
                        let name = lossy(&self.names.functions[source.function as usize].name);
                        let startup = startup || name == "_start";
                        (name, startup)
                    })),
                    None => frames.push((self.nameless(frame), startup)),
                }
            }
        }
    }

    /// Whether the frame is in the C library or the dynamic loader: at a chain's outer end, this is start-up code
    /// (`_start`, which is in the program, is named).
    fn is_startup(&self, frame: Frame) -> bool {
        self.file_name(frame).is_some_and(|name| name.starts_with("libc.so") || name.starts_with("ld-linux"))
    }

    fn file_name(&self, frame: Frame) -> Option<String> {
        let Frame::Code { module, .. } = frame else { return None };
        let path = lossy(&self.profile.modules[module as usize].path);
        path.rsplit('/').next().map(str::to_owned)
    }

    fn nameless(&self, frame: Frame) -> String {
        match frame {
            Frame::Code { module, .. } if self.profile.modules[module as usize].kind == ModuleKind::Vdso => {
                "[vdso]".to_owned()
            }
            Frame::Code { .. } => format!("[{}]", self.file_name(frame).unwrap_or_default()),
            _ => "[anonymous]".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mprof_format::model::{Function, Module, Site, SourceFrame};

    fn code(module: u32, address: u64) -> Frame {
        Frame::Code { module, address, interrupted: false }
    }

    /// `_start > [libc.so.6] > main > work` with one freed object, and `[unknown] > work` with one kept.
    fn example() -> Facts {
        let module = |path: &str| Module { path: path.into(), ..Module::default() };
        let function = |name: &str| Function { name: name.into(), ..Function::default() };
        let site = |function| Site { frames: vec![SourceFrame { function, ..SourceFrame::default() }] };
        let context = |parent, frame| Context { parent, frame };
        let counter = |context, category, bytes, freed| Counter {
            context,
            category,
            allocs: 1,
            bytes,
            frees: u64::from(freed),
            freed_bytes: if freed { bytes } else { 0 },
        };
        let (start, libc, main, work) = (code(0, 1), code(1, 2), code(0, 3), code(0, 4));
        Facts::new(Profile {
            modules: vec![module("/bin/program"), module("/lib/libc.so.6")],
            contexts: vec![
                context(None, Frame::Thread(0)),
                context(Some(0), start),
                context(Some(1), libc),
                context(Some(2), main),
                context(Some(3), work),
                context(None, Frame::Special(Special::Unknown)),
                context(Some(5), work),
            ],
            counters: vec![counter(4, Category::Small, 10, true), counter(6, Category::Medium, 100, false)],
            bins: vec![
                Bin { size: Some(10), allocs: 1, frees: 1, bytes: 10, freed_bytes: 10 },
                Bin { size: Some(100), allocs: 1, frees: 0, bytes: 100, freed_bytes: 0 },
            ],
            names: Some(Names {
                functions: vec![function("_start"), function("main"), function("work")],
                sites: [(start, site(0)), (main, site(1)), (work, site(2))].into(),
                ..Names::default()
            }),
            ..Profile::default()
        })
    }

    #[test]
    fn chains_begin_at_main_or_where_the_stack_is_lost() {
        let facts = example();
        let chains: Vec<_> = facts.chains().into_iter().collect();
        assert_eq!(
            chains,
            [("[unknown] > work".to_owned(), kept(1, 100)), ("main > work".to_owned(), freed(1, 10))]
        );
    }

    #[test]
    fn questions_have_exact_answers() {
        let facts = example();
        assert_eq!(facts.chain("main > work"), freed(1, 10));
        assert_eq!(facts.chain("work"), Totals::default());
        assert_eq!(facts.ending("work"), totals(2, 110, 1, 10));
        assert_eq!(facts.beginning("main"), freed(1, 10));
        assert_eq!(facts.direct("main"), Totals::default());
        assert_eq!(facts.through("main"), freed(1, 10));
        assert_eq!(facts.edge("[unknown]", "work"), kept(1, 100));
        assert_eq!(facts.category(Category::Medium), kept(1, 100));
        assert_eq!(facts.bin(Some(10)), freed(1, 10));
        assert_eq!(facts.bin(None), Totals::default());
        facts.assert_consistent();
    }
}
