//! A valid profile out of any numbers: what property tests shrink and compare.

use mprof_format::layout::Tag;
use mprof_format::model::*;

/// Numbers that a profile is made from; zeros when they are used up, so that every profile is finite.
struct Source<'a> {
    numbers: std::slice::Iter<'a, u64>,
}

impl Source<'_> {
    fn next(&mut self) -> u64 {
        self.numbers.next().copied().unwrap_or(0)
    }

    /// A number, often one at an edge of an encoding.
    fn number(&mut self) -> u64 {
        let edges =
            [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u32::MAX.into(), 1 << 32, i64::MAX as u64, 1 << 63, u64::MAX];
        match self.next() {
            choice if choice % 16 < edges.len() as u64 => edges[(choice % 16) as usize],
            choice => choice >> (choice % 61),
        }
    }

    fn small(&mut self, below: u64) -> u64 {
        self.next() % below.max(1)
    }

    fn u32(&mut self) -> u32 {
        self.number() as u32
    }

    fn string(&mut self) -> Vec<u8> {
        let length = match self.small(20) {
            0 => 1000,
            length => length - 1,
        };
        let seed = self.next();
        (0..length).map(|index| (seed >> (index % 8 * 8)) as u8).collect()
    }

    fn list<T>(&mut self, longest: u64, mut entry: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let length = self.small(longest + 1);
        (0..length).map(|_| entry(self)).collect()
    }

    /// An id of a table with `count` entries; `None` now and then, and always where the table is empty.
    fn id(&mut self, count: usize) -> Option<u32> {
        let id = self.small(count as u64 + 1) as u32;
        ((id as usize) < count).then_some(id)
    }

    fn code(&mut self, modules: usize) -> Frame {
        let interrupted = self.small(8) == 0;
        match self.id(modules) {
            Some(module) => Frame::Code { module, address: self.address(), interrupted },
            None => Frame::Anonymous { address: self.address(), interrupted },
        }
    }

    /// Mostly one of a few, so that chains repeat.
    fn address(&mut self) -> u64 {
        match self.small(4) {
            0 => self.number(),
            _ => 0x1000 + 16 * self.small(8),
        }
    }

    fn context(&mut self, id: usize, threads: usize, modules: usize, lisp: usize) -> Context {
        let special = Frame::Special(Special::from_index(self.small(4) as u32));
        let parent = match self.small(3) {
            0 => self.id(id),
            _ => id.checked_sub(1).map(|id| id as u32),
        };
        let frame = match (parent, self.small(12)) {
            (_, 0) => special,
            (None, _) => self.id(threads).map_or(special, Frame::Thread),
            (Some(_), 1..3) => self.id(lisp).map_or(special, Frame::Lisp),
            (Some(_), _) => self.code(modules),
        };
        Context { parent, frame }
    }

    fn counters(&mut self, contexts: usize) -> Vec<Counter> {
        let mut counters = vec![];
        for context in 0..contexts as u32 {
            for category in self.list(2, |source| Category::from_index(source.number() as u8)) {
                let (allocs, bytes) = (self.number(), self.number());
                let (frees, freed_bytes) = match self.small(4) {
                    0 => (0, 0),
                    1 => (allocs, bytes),
                    _ => (self.number(), self.number()),
                };
                counters.push(Counter { context, category, allocs, bytes, frees, freed_bytes });
            }
        }
        counters.sort_by_key(|counter| (counter.context, counter.category));
        counters.dedup_by_key(|counter| (counter.context, counter.category));
        counters
    }

    fn bins(&mut self) -> Vec<Bin> {
        let mut sizes = self.list(6, |source| source.small(LAST_BIN + 2));
        sizes.sort_unstable();
        sizes.dedup();
        let bin = |size: u64| {
            let size = (size <= LAST_BIN).then_some(size);
            let (allocs, frees) = (self.number(), self.number());
            let (mut bytes, mut freed_bytes) = (self.number(), self.number());
            if let Some(size) = size.filter(|_| self.small(2) == 0) {
                (bytes, freed_bytes) = (allocs.wrapping_mul(size), frees.wrapping_mul(size));
            }
            Bin { size, allocs, frees, bytes, freed_bytes }
        };
        sizes.into_iter().map(bin).collect()
    }

    fn collected(&mut self, modules: usize) -> Collected {
        let functions = self.list(3, |source| LispFunction {
            name: source.string(),
            package: source.string(),
            code: (source.small(2) == 0).then(|| (source.code(modules), source.number())),
        });
        let bins = self.list(3, |source| TypeBin {
            category: Category::from_index(source.number() as u8),
            name: source.string(),
            allocs: source.number(),
            bytes: source.number(),
        });
        Collected { functions, bins }
    }

    fn history(&mut self, contexts: usize) -> History {
        if self.small(3) == 0 {
            return History::default();
        }
        let peak = (self.small(4) > 0).then(|| Peak {
            totals: PeakTotals {
                bytes: self.number(),
                objects: self.number(),
                number: self.number(),
                ns: self.number(),
                uncertainty: self.number(),
                incomplete: self.small(2) == 1,
            },
            live: self.keyed(contexts, |source, context, category| {
                let (objects, bytes) = (source.number(), source.number());
                Live { context, category, objects, bytes }
            }),
        });
        History {
            peak,
            curve: self.curve(),
            snapshots: self.list(4, |source| Snapshot {
                totals: SnapshotTotals {
                    ns: source.number(),
                    live_bytes: source.number(),
                    live_objects: source.number(),
                    bytes: source.number(),
                    objects: source.number(),
                },
                changes: source.keyed(contexts, |source, context, category| {
                    let (objects, bytes) = (source.number() as i64, source.number() as i64);
                    Change { context, category, objects, bytes }
                }),
            }),
            lifetimes: self.keyed(contexts, Source::lifetime),
            ages: self.keyed(contexts, |source, context, category| {
                let (classes, ages) = (source.classes(), source.number());
                Ages { context, category, classes, ages }
            }),
            growth: self.keyed(contexts, |source, context, category| {
                let [reallocations, first, moved, copied_bytes, smallest, largest] =
                    std::array::from_fn(|_| source.number());
                Growth { context, category, reallocations, first, moved, copied_bytes, smallest, largest }
            }),
            rounding: self.rounding(),
        }
    }

    /// Entries for some of the contexts, in order.
    fn keyed<T>(&mut self, contexts: usize, entry: impl Fn(&mut Self, u32, Category) -> T) -> Vec<T> {
        let step = 1 + self.small(20) as usize;
        let mut entries = vec![];
        for context in (0..contexts as u32).step_by(step) {
            let mut categories = self.list(2, |source| match source.small(3) {
                0 => source.number() as u8,
                _ => source.small(5) as u8,
            });
            categories.sort_by_key(|category| Category::from_index(*category));
            categories.dedup();
            for category in categories {
                entries.push(entry(self, context, Category::from_index(category)));
            }
        }
        entries
    }

    fn classes<const N: usize>(&mut self) -> [u64; N] {
        let mut classes = [0; N];
        for _ in 0..self.small(5) {
            classes[self.small(N as u64) as usize] = self.number();
        }
        classes
    }

    fn lifetime(&mut self, context: u32, category: Category) -> Lifetime {
        let mut lifetime = Lifetime {
            context,
            category,
            classes: self.classes(),
            temporary: self.number(),
            ages: self.number(),
            young_bytes: 0,
        };
        if self.small(3) == 0 {
            lifetime.classes = [0; LIFETIME_CLASSES];
            lifetime.classes[Lifetime::class_of(lifetime.ages)] = 1;
            lifetime.temporary %= 3;
        }
        if self.small(3) == 0 {
            lifetime.temporary = lifetime.classes[0];
        }
        if lifetime.classes[0] > 0 {
            lifetime.young_bytes = self.number();
        }
        if lifetime.classes[1..].iter().all(|count| *count == 0) {
            lifetime.ages = 0;
        }
        lifetime
    }

    /// Points that rise, up to the largest number.
    fn curve(&mut self) -> Vec<Point> {
        let mut last = Point::default();
        self.list(20, |source| {
            let live_bytes = source.number();
            last = Point {
                ns: last.ns.saturating_add(source.number()),
                live_bytes,
                live_objects: source.number(),
                most_bytes: source.number(),
                bytes: last.bytes.saturating_add(source.number()),
                objects: last.objects.saturating_add(source.number()),
            };
            last
        })
    }

    fn rounding(&mut self) -> Vec<Rounding> {
        let mut sizes = self.list(6, |source| source.small(LAST_BIN + 2));
        sizes.sort_unstable();
        sizes.dedup();
        let rounding =
            |size: u64| Rounding { size: (size <= LAST_BIN).then_some(size), bytes: self.number() };
        sizes.into_iter().map(rounding).collect()
    }

    fn reachability(&mut self, contexts: usize) -> Option<Reachability> {
        (self.small(3) == 0).then(|| Reachability {
            unseen_threads: self.number() as u32,
            kept: self.keyed(contexts, |source, context, category| {
                let classes = std::array::from_fn(|_| match source.small(2) {
                    0 => Amount::default(),
                    _ => Amount { objects: source.number(), bytes: source.number() },
                });
                Kept { context, category, classes }
            }),
        })
    }

    fn names(&mut self, modules: usize) -> Names {
        let files = self.list(4, Source::string);
        let functions = self.list(4, |source| Function {
            name: source.string(),
            linkage_name: source.string(),
            module: source.id(modules),
            file: source.id(files.len()),
            line: source.u32(),
        });
        let mut names = Names { files, functions, ..Names::default() };
        if !names.functions.is_empty() {
            let sites = self.list(6, |source| {
                let frame = source.code(modules);
                let count = 1 + source.small(3);
                (frame, Site { frames: (0..count).map(|_| source.source_frame(&names)).collect() })
            });
            names.sites = sites.into_iter().collect();
        }
        if modules > 0 {
            names.types = self.list(3, |source| Type {
                size: source.number(),
                system: source.small(2) == 1,
                name: source.string(),
                module: source.small(modules as u64) as u32,
            });
        }
        names
    }

    fn source_frame(&mut self, names: &Names) -> SourceFrame {
        SourceFrame {
            function: self.small(names.functions.len() as u64) as u32,
            file: self.id(names.files.len()),
            line: self.u32(),
            offset: self.number(),
        }
    }
}

/// A valid profile, the same for the same numbers.
pub(crate) fn profile(numbers: &[u64]) -> Profile {
    let mut source = Source { numbers: numbers.iter() };
    let process = Process {
        pid: source.u32(),
        parent_pid: source.u32(),
        program: source.string(),
        arguments: source.list(4, Source::string),
        start_unix_ns: source.number(),
        elapsed_ns: source.number(),
        reason: Reason::from_index(source.small(11)),
        signal: source.u32(),
        depth_limit: source.u32(),
        reentrant_events: source.number(),
        unrecorded: source.number(),
    };
    let modules = source.list(100, |source| Module {
        kind: ModuleKind::from_index(source.number() as u8),
        path: source.string(),
        build_id: source.string(),
        bias: source.number(),
        start: source.number(),
        length: source.number(),
    });
    let threads = source.list(4, |source| Thread {
        name: source.string(),
        tid: source.u32(),
        count: source.number(),
        start: (source.small(2) == 0).then(|| source.code(modules.len())),
    });
    let collected = source.collected(modules.len());
    let count = source.small(200) as usize;
    let lisp = collected.functions.len();
    let contexts: Vec<_> =
        (0..count).map(|id| source.context(id, threads.len(), modules.len(), lisp)).collect();
    let counters = source.counters(contexts.len());
    let bins = source.bins();
    let history = source.history(contexts.len());
    let reachability = source.reachability(contexts.len());
    let names = (source.small(2) == 0).then(|| source.names(modules.len()));
    let extra = source.list(3, |source| {
        let tag = source.number() as u16;
        let tag = if Tag::from_number(tag).is_some() { 1000 } else { tag };
        RawRecord { tag, flags: source.number() as u16 & !1, payload: source.string() }
    });
    let incomplete = source.small(2) == 1;
    Profile {
        process,
        modules,
        threads,
        contexts,
        counters,
        bins,
        collected,
        history,
        reachability,
        names,
        extra,
        incomplete,
    }
}
