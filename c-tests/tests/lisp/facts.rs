//! The Lisp half of a profile as questions with exact answers.

use std::collections::BTreeMap;

use c_tests::Outcome;
use mpdisplay::analysis::half::Half;
use mprof_format::model::{Category, Frame, Profile};

/// Objects and bytes of each category.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ByCategory {
    /// Of c, f, s, o: objects and bytes.
    all: [(u64, u64); 4],
}

impl std::fmt::Debug for ByCategory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = self.all.iter().zip("cfso".chars()).filter(|(counts, _)| **counts != (0, 0));
        f.debug_list().entries(all.map(|((objects, bytes), letter)| (letter, objects, bytes))).finish()
    }
}

/// So many objects and bytes of the categories named by letters; nothing else.
pub(crate) fn by_category(parts: &[(char, u64, u64)]) -> ByCategory {
    let mut sum = ByCategory::default();
    for &(letter, objects, bytes) in parts {
        sum.all["cfso".find(letter).expect("a category's letter")] = (objects, bytes);
    }
    sum
}

/// What a Lisp program allocated, with the names that the tables have.
pub(crate) struct LispFacts {
    /// (functions of a chain, outermost first; category; objects; bytes).
    counters: Vec<(Vec<String>, usize, u64, u64)>,
}

impl LispFacts {
    /// From a run's profile.
    pub(crate) fn of(run: &Outcome) -> LispFacts {
        let half = Half::Lisp.take(&run.facts().profile).into_owned();
        let counters = half.counters.iter().map(|counter| {
            let functions = functions(&half, counter.context);
            (functions, column(counter.category), counter.allocs, counter.bytes)
        });
        LispFacts { counters: counters.collect() }
    }

    fn sum(&self, matches: impl Fn(&[String]) -> bool) -> ByCategory {
        let mut sum = ByCategory::default();
        for (functions, column, objects, bytes) in &self.counters {
            if matches(functions) {
                sum.all[*column].0 += objects;
                sum.all[*column].1 += bytes;
            }
        }
        sum
    }

    /// What a function and those below it allocated.
    pub(crate) fn through(&self, function: &str) -> ByCategory {
        self.sum(|functions| functions.iter().any(|name| name == function))
    }

    /// What was allocated at the end of exactly this chain, from `toplevel` or a thread's function on.
    pub(crate) fn chain(&self, chain: &str) -> ByCategory {
        self.sum(|functions| functions.join(" > ") == chain)
    }

    /// All chains that one function is on, with what was allocated at their ends.
    pub(crate) fn chains_through(&self, function: &str) -> BTreeMap<String, ByCategory> {
        let mut chains: BTreeMap<String, ByCategory> = BTreeMap::new();
        for (functions, ..) in &self.counters {
            if functions.iter().any(|name| name == function) {
                let chain = functions.join(" > ");
                let sum = self.chain(&chain);
                chains.insert(chain, sum);
            }
        }
        chains
    }
}

fn column(category: Category) -> usize {
    match category {
        Category::Cons => 0,
        Category::Float => 1,
        Category::Structure => 2,
        Category::OtherObject => 3,
        other => panic!("{other:?} in Lisp's half"),
    }
}

fn functions(profile: &Profile, context: u32) -> Vec<String> {
    let names = profile.names.as_ref().expect("the profile has names");
    let (mut functions, mut next) = (Vec::new(), Some(context));
    while let Some(id) = next {
        let context = profile.contexts[id as usize];
        match (context.frame, names.sites.get(&context.frame)) {
            (Frame::Thread(_), _) => {}
            (Frame::Special(special), _) => functions.push(format!("[{special:?}]")),
            (_, Some(site)) => functions.extend(site.frames.iter().map(|frame| {
                String::from_utf8_lossy(&names.functions[frame.function as usize].name).into_owned()
            })),
            (frame, None) => panic!("{frame:?} has no name, and is no Lisp function"),
        }
        next = context.parent;
    }
    functions.reverse();
    functions
}
