//! Profiles made by hand, for tests.
//!
//! A chain is written as the leak table shows it, `main > make > alloc`, outermost first; `[unknown] > f` and
//! `... > f` begin at callers that are not there. Each part is `[MODULE!]NAME[{FILE}][+OFFSET][@LINE]`:
//! `libc.so.6!qsort`, `helper{b.c}`, `make+26@17`. `MODULE!0x1234` is an address without a name, `[jit]` one
//! outside all modules, and `outer/inner` one frame in which `inner` is inlined. A chain that begins with `#1` is of
//! the thread that was added first, one without of the initial thread.

use mprof_format::model::{
    Bin, Category, Context, Counter, Frame, Function, LAST_BIN, Module, Names, Process, Profile, Reason,
    Site, SourceFrame, Special, Thread, Type,
};
use std::collections::{BTreeMap, HashMap};

/// Builds a profile.
pub(crate) struct ProfileBuilder {
    process: Process,
    /// Where sources are that are named without a folder.
    folder: &'static str,
    modules: Vec<String>,
    threads: Vec<Thread>,
    names: Names,
    functions: HashMap<(String, u32, String), u32>,
    files: HashMap<String, u32>,
    frames: HashMap<String, Frame>,
    contexts: Vec<Context>,
    children: HashMap<(Option<u32>, Frame), u32>,
    counters: BTreeMap<(u32, Category), Counter>,
    bins: BTreeMap<u64, Bin>,
}

impl ProfileBuilder {
    /// A program that has not allocated anything.
    pub(crate) fn new(program: &str) -> Self {
        let process = Process {
            pid: 4711,
            parent_pid: 1,
            program: format!("/usr/bin/{program}").into_bytes(),
            arguments: vec![format!("./{program}").into_bytes()],
            reason: Reason::Exit,
            ..Process::default()
        };
        ProfileBuilder {
            process,
            folder: "/src",
            modules: vec![program.to_owned()],
            threads: vec![Thread { name: program.into(), count: 1, tid: 4711, start: None }],
            names: Names::default(),
            functions: HashMap::new(),
            files: HashMap::new(),
            frames: HashMap::new(),
            contexts: Vec::new(),
            children: HashMap::new(),
            counters: BTreeMap::new(),
            bins: BTreeMap::new(),
        }
    }

    /// Sources that are named without a folder are in this one, not in /src.
    pub(crate) fn sources_in(mut self, folder: &'static str) -> Self {
        self.folder = folder;
        self
    }

    /// Changes the process record.
    pub(crate) fn process(mut self, change: impl FnOnce(&mut Process)) -> Self {
        change(&mut self.process);
        self
    }

    /// A thread, or several that began in the same function.
    pub(crate) fn thread(mut self, name: &str, tid: u32, count: u64, start: &str) -> Self {
        let start = self.frame(start);
        self.threads.push(Thread { name: name.into(), tid, count, start: Some(start) });
        self
    }

    /// `allocs` objects of `size` bytes at the end of a chain, `frees` of them freed.
    pub(crate) fn allocate(mut self, chain: &str, size: u64, allocs: u64, frees: u64) -> Self {
        self.add(chain, size, allocs, frees);
        self
    }

    /// The same for loops.
    pub(crate) fn add(&mut self, chain: &str, size: u64, allocs: u64, frees: u64) {
        let context = self.chain(chain);
        let category = Category::of_size(size);
        let none = Counter { context, category, allocs: 0, bytes: 0, frees: 0, freed_bytes: 0 };
        let counter = self.counters.entry((context, category)).or_insert(none);
        counter.allocs += allocs;
        counter.bytes += allocs * size;
        counter.frees += frees;
        counter.freed_bytes += frees * size;
        let last = size.min(LAST_BIN + 1);
        let own = Bin { size: (size <= LAST_BIN).then_some(size), ..Bin::default() };
        let bin = self.bins.entry(last).or_insert(own);
        bin.allocs += allocs;
        bin.bytes += allocs * size;
        bin.frees += frees;
        bin.freed_bytes += frees * size;
    }

    /// A user type.
    pub(crate) fn user_type(mut self, size: u64, name: &str, system: bool) -> Self {
        self.names.types.push(Type { size, system, name: name.into(), module: 0 });
        self
    }

    /// The profile, with names.
    pub(crate) fn build(mut self) -> Profile {
        self.names.types.sort();
        let module = |name: &String| {
            let folder = if name.contains(".so") { "/usr/lib" } else { "/usr/bin" };
            Module { path: format!("{folder}/{name}").into_bytes(), length: 1 << 40, ..Module::default() }
        };
        Profile {
            process: self.process,
            modules: self.modules.iter().map(module).collect(),
            threads: self.threads,
            contexts: self.contexts,
            counters: self.counters.into_values().collect(),
            bins: self.bins.into_values().collect(),
            names: Some(self.names),
            ..Profile::default()
        }
    }

    /// The context at the end of a chain.
    fn chain(&mut self, chain: &str) -> u32 {
        let mut parts = chain.split(" > ").filter(|part| !part.is_empty()).peekable();
        let top = match parts.peek() {
            Some(&"[unknown]") => Frame::Special(Special::Unknown),
            Some(&"...") => Frame::Special(Special::Truncated),
            Some(part) if part.starts_with('#') => {
                Frame::Thread(part[1..].parse().expect("a thread's number"))
            }
            _ => Frame::Thread(0),
        };
        if top != Frame::Thread(0) {
            parts.next();
        }
        let mut context = self.child(None, top);
        for part in parts {
            let frame = self.frame(part);
            context = self.child(Some(context), frame);
        }
        context
    }

    fn child(&mut self, parent: Option<u32>, frame: Frame) -> u32 {
        let next = self.contexts.len() as u32;
        let id = *self.children.entry((parent, frame)).or_insert(next);
        if id == next {
            self.contexts.push(Context { parent, frame });
        }
        id
    }

    fn frame(&mut self, part: &str) -> Frame {
        if let Some(frame) = self.frames.get(part) {
            return *frame;
        }
        let address = 0x1000 + 0x10 * self.frames.len() as u64;
        let (module, source) = part.split_once('!').unwrap_or((&self.modules[0], part));
        let module = self.module(&module.to_owned());
        let frame = if source == "[jit]" {
            Frame::Anonymous { address, interrupted: false }
        } else if let Some(address) = source.strip_prefix("0x") {
            let address = u64::from_str_radix(address, 16).expect("a hexadecimal address");
            Frame::Code { module, address, interrupted: false }
        } else {
            let frame = Frame::Code { module, address, interrupted: false };
            let frames = source.rsplit('/').map(|source| self.source(source, module)).collect();
            self.names.sites.insert(frame, Site { frames });
            frame
        };
        self.frames.insert(part.to_owned(), frame);
        frame
    }

    fn module(&mut self, name: &String) -> u32 {
        let known = self.modules.iter().position(|module| module == name);
        known.unwrap_or_else(|| {
            self.modules.push(name.clone());
            self.modules.len() - 1
        }) as u32
    }

    fn source(&mut self, text: &str, module: u32) -> SourceFrame {
        let number = |text: &str| text.parse().ok();
        let (text, line) = match text.rsplit_once('@') {
            Some((rest, line)) => (rest, number(line).expect("a line")),
            None => (text, 0),
        };
        let (text, offset) = match text.rsplit_once('+').and_then(|(rest, end)| Some((rest, number(end)?))) {
            Some((rest, offset)) => (rest, offset),
            None => (text, 0),
        };
        let (name, file) = match text.strip_suffix('}').and_then(|text| text.rsplit_once('{')) {
            // `{{closure}}` is part of a name.
            Some((name, file)) if file.contains('.') => (name, Some(file.to_owned())),
            _ => (text, (line > 0).then(|| format!("{}.c", self.modules[module as usize]))),
        };
        let function = self.function(name, module, file.as_deref());
        let file = file.filter(|_| line > 0).map(|file| self.file(&file));
        SourceFrame { function, file, line: line as u32, offset }
    }

    fn function(&mut self, name: &str, module: u32, file: Option<&str>) -> u32 {
        let key = (name.to_owned(), module, file.unwrap_or_default().to_owned());
        if let Some(known) = self.functions.get(&key) {
            return *known;
        }
        let file = file.map(|file| self.file(file));
        let (name, module) = (name.as_bytes().to_vec(), Some(module));
        self.names.functions.push(Function { name, module, file, ..Function::default() });
        let id = self.names.functions.len() as u32 - 1;
        self.functions.insert(key, id);
        id
    }

    fn file(&mut self, name: &str) -> u32 {
        let path = if name.starts_with('/') { name.to_owned() } else { format!("{}/{name}", self.folder) };
        let next = self.names.files.len() as u32;
        let id = *self.files.entry(path.clone()).or_insert(next);
        if id == next {
            self.names.files.push(path.into_bytes());
        }
        id
    }
}
