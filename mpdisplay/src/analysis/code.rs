//! Where in the machine code a function of a chain is: modules and addresses, over all profiles of a report.

use super::text::printable;
use mprof_format::model::{self, Frame, Profile};
use std::collections::HashMap;

/// A loaded object. The same file loaded by several processes is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Path of its file, printable.
    pub path: String,
    /// GNU build-id; empty where it has none.
    pub build_id: Vec<u8>,
    /// Run-time address of its first byte where it was first seen.
    pub start: u64,
    /// Length of its mapping, bytes.
    pub length: u64,
    /// Difference there between run-time addresses and the file's own: run-time = file + bias (wrapping).
    pub bias: u64,
}

/// A place in machine code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Code {
    /// Module id; `None` for code outside all modules.
    pub module: Option<u32>,
    /// Address in the module's file; run-time address outside of modules.
    pub address: u64,
    /// The function was interrupted at the address; else it called, and the address is the return address.
    pub interrupted: bool,
}

/// Modules and places, each once.
#[derive(Debug, Clone, Default)]
pub(super) struct CodeTable {
    pub(super) modules: Vec<Module>,
    pub(super) places: Vec<Code>,
    module_ids: HashMap<(Vec<u8>, Vec<u8>), u32>,
    place_ids: HashMap<Code, u32>,
    /// The current profile's modules.
    known_modules: Vec<u32>,
}

impl CodeTable {
    /// Turns to a profile.
    pub(super) fn begin(&mut self, profile: &Profile) {
        self.known_modules = profile.modules.iter().map(|module| self.module(module)).collect();
    }

    fn module(&mut self, module: &model::Module) -> u32 {
        let next = self.modules.len() as u32;
        let id = *self.module_ids.entry((module.path.clone(), module.build_id.clone())).or_insert(next);
        if id == next {
            let &model::Module { start, length, bias, .. } = module;
            let (path, build_id) = (printable(&module.path), module.build_id.clone());
            self.modules.push(Module { path, build_id, start, length, bias });
        }
        id
    }

    /// The id of a frame's place; `None` for frames that are no code.
    pub(super) fn place(&mut self, frame: Frame) -> Option<u32> {
        let code = match frame {
            Frame::Code { module, address, interrupted } => {
                let module = self.known_modules.get(module as usize).copied();
                Code { module, address, interrupted }
            }
            Frame::Anonymous { address, interrupted } => Code { module: None, address, interrupted },
            _ => return None,
        };
        let next = self.places.len() as u32;
        let id = *self.place_ids.entry(code).or_insert(next);
        if id == next {
            self.places.push(code);
        }
        Some(id)
    }
}
