//! Functions, files and sites while they are collected.

use std::collections::{BTreeMap, HashMap};

use mprof_format::model::{Frame, Function, Names, Site, SourceFrame};

/// Collects names; equal functions and files are kept once.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    functions: Vec<(Function, u64)>,
    function_ids: HashMap<(Function, u64), u32>,
    files: Vec<Vec<u8>>,
    file_ids: HashMap<Vec<u8>, u32>,
    sites: BTreeMap<Frame, Site>,
}

impl NameTable {
    /// The id of a function. `entry` tells functions apart that look the same but are not: 0 where the source says
    /// which function it is, else something that only this one has (its address).
    pub(crate) fn function(&mut self, function: Function, entry: u64) -> u32 {
        let next = id(self.functions.len());
        let key = (function, entry);
        *self.function_ids.entry(key).or_insert_with_key(|key| {
            self.functions.push(key.clone());
            next
        })
    }

    /// The id of a file.
    pub(crate) fn file(&mut self, path: &[u8]) -> u32 {
        if let Some(&known) = self.file_ids.get(path) {
            return known;
        }
        let next = id(self.files.len());
        self.files.push(path.to_vec());
        self.file_ids.insert(path.to_vec(), next);
        next
    }

    /// Says what a frame means. Frames without names are left out.
    pub(crate) fn site(&mut self, frame: Frame, frames: Vec<SourceFrame>) {
        if !frames.is_empty() {
            self.sites.insert(frame, Site { frames });
        }
    }

    /// Whether the frame has a name.
    pub(crate) fn has(&self, frame: Frame) -> bool {
        self.sites.contains_key(&frame)
    }

    /// Takes over all that another table has, with ids of this one.
    pub(crate) fn absorb(&mut self, other: NameTable) {
        let files: Vec<u32> = other.files.iter().map(|path| self.file(path)).collect();
        let translate = |file: Option<u32>| file.and_then(|file| files.get(file as usize).copied());
        let mut functions = Vec::with_capacity(other.functions.len());
        for (mut function, entry) in other.functions {
            function.file = translate(function.file);
            functions.push(self.function(function, entry));
        }
        for (frame, site) in other.sites {
            let frames = site.frames.into_iter().map(|of| SourceFrame {
                function: functions[of.function as usize],
                file: translate(of.file),
                ..of
            });
            self.site(frame, frames.collect());
        }
    }

    /// The names, without types.
    pub(crate) fn finish(self) -> Names {
        let functions = self.functions.into_iter().map(|(function, _)| function).collect();
        Names { functions, files: self.files, sites: self.sites, types: Vec::new() }
    }
}

/// Takes single frames over from a table of one module.
pub(crate) struct Takeover<'t> {
    from: &'t NameTable,
    /// The module's id where the frames go.
    module: u32,
    functions: HashMap<u32, u32>,
    files: HashMap<u32, u32>,
}

impl<'t> Takeover<'t> {
    pub(crate) fn new(from: &'t NameTable, module: u32) -> Self {
        Takeover { from, module, functions: HashMap::new(), files: HashMap::new() }
    }

    /// Takes over what `frame` means, for the frame that is called `new` there.
    pub(crate) fn site(&mut self, to: &mut NameTable, frame: Frame, new: Frame) {
        if let Some(site) = self.from.sites.get(&frame) {
            let frames = site.frames.iter().map(|of| SourceFrame {
                function: self.function(to, of.function),
                file: self.file(to, of.file),
                ..*of
            });
            let frames = frames.collect();
            to.site(new, frames);
        }
    }

    fn function(&mut self, to: &mut NameTable, id: u32) -> u32 {
        if let Some(&known) = self.functions.get(&id) {
            return known;
        }
        let (function, entry) = &self.from.functions[id as usize];
        let mut function = function.clone();
        function.file = self.file(to, function.file);
        function.module = function.module.map(|_| self.module);
        let new = to.function(function, *entry);
        self.functions.insert(id, new);
        new
    }

    fn file(&mut self, to: &mut NameTable, id: Option<u32>) -> Option<u32> {
        let path = self.from.files.get(id? as usize)?;
        Some(*self.files.entry(id?).or_insert_with(|| to.file(path)))
    }
}

/// The next id. There are fewer functions and files than bytes of memory for them, which end long before `u32`.
fn id(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, module: Option<u32>, file: Option<u32>) -> Function {
        Function { name: name.into(), module, file, ..Function::default() }
    }

    #[test]
    fn equal_functions_and_files_are_one() {
        let mut table = NameTable::default();
        assert_eq!(table.file(b"/a.c"), 0);
        assert_eq!(table.file(b"/b.c"), 1);
        assert_eq!(table.file(b"/a.c"), 0);
        assert_eq!(table.function(function("f", Some(0), Some(0)), 0), 0);
        assert_eq!(table.function(function("f", Some(0), Some(1)), 0), 1);
        assert_eq!(table.function(function("f", Some(0), Some(0)), 0), 0);
        assert_eq!(table.function(function("f", Some(0), Some(0)), 0x1000), 2);
    }

    #[test]
    fn tables_are_joined_with_new_ids() {
        let mut first = NameTable::default();
        let file = Some(first.file(b"/a.c"));
        first.function(function("f", Some(0), file), 0);
        let mut second = NameTable::default();
        second.file(b"/other.c");
        let file = Some(second.file(b"/a.c"));
        let g = second.function(function("g", Some(1), file), 0);
        let frame = Frame::Code { module: 1, address: 7, interrupted: false };
        second.site(frame, vec![SourceFrame { function: g, file, line: 3, offset: 4 }]);
        first.absorb(second);
        assert!(first.has(frame));
        let names = first.finish();
        assert_eq!(names.files, [b"/a.c".to_vec(), b"/other.c".to_vec()]);
        assert_eq!(names.functions[1], function("g", Some(1), Some(0)));
        assert_eq!(
            names.sites[&frame].frames,
            [SourceFrame { function: 1, file: Some(0), line: 3, offset: 4 }]
        );
    }
}
