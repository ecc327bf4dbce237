//! Programs compiled on the spot, and profiles made by hand of addresses in them.
#![allow(dead_code, unreachable_pub)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mpfilt::{Options, Warning};
use mprof_format::model::{Bin, Context, Frame, Module, ModuleKind, Names, Profile, SourceFrame, Thread};
use object::Object;
use tempfile::TempDir;

/// A folder with a program's sources and what was made of them.
pub struct Workshop {
    folder: TempDir,
}

impl Workshop {
    pub fn new() -> Self {
        Workshop { folder: tempfile::tempdir().expect("temporary folder") }
    }

    /// The folder, as compilers write it into debug information.
    pub fn path(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("the folder is there")
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("folder");
        fs::write(&path, text).expect("write");
        path
    }

    /// Runs a command line in the folder; it must succeed.
    pub fn run(&self, line: &str) -> String {
        let output = Command::new("sh").arg("-c").arg(line).current_dir(self.path()).output().expect("sh");
        assert!(output.status.success(), "{line}\n{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The return addresses of calls from `caller` to `callee` (linker names) in a file that is not stripped.
    pub fn calls(&self, file: &str, caller: &str, callee: &str) -> Vec<u64> {
        let is_callee = |instruction: &str| {
            let target = instruction.rsplit_once('<').map(|(_, target)| target.trim_end_matches('>'));
            target.is_some_and(|target| target == callee || target == format!("{callee}@plt"))
        };
        self.calls_that(file, caller, is_callee)
    }

    /// The return addresses of all calls from `caller`.
    pub fn all_calls(&self, file: &str, caller: &str) -> Vec<u64> {
        self.calls_that(file, caller, |_| true)
    }

    fn calls_that(&self, file: &str, caller: &str, wanted: impl Fn(&str) -> bool) -> Vec<u64> {
        let text = self.run(&format!("objdump -d --no-show-raw-insn {file}"));
        let starts: Vec<String> =
            self.symbols(file, caller).iter().map(|of| format!("{of:016x} <")).collect();
        let functions = text.split("\n\n").map(str::trim_start);
        let bodies = functions.filter(|body| starts.iter().any(|start| body.starts_with(start)));
        let instructions: Vec<(u64, &str)> = bodies
            .flat_map(|body| body.lines().skip(1))
            .filter_map(|line| {
                let (address, instruction) = line.split_once(':')?;
                Some((u64::from_str_radix(address.trim(), 16).ok()?, instruction.trim()))
            })
            .collect();
        let pairs = instructions.windows(2);
        let is_call = |instruction: &str| instruction.starts_with("call") && wanted(instruction);
        pairs.filter(|pair| is_call(pair[0].1)).map(|pair| pair[1].0).collect()
    }

    /// The one return address of a call.
    pub fn call(&self, file: &str, caller: &str, callee: &str) -> u64 {
        let calls = self.calls(file, caller, callee);
        assert_eq!(calls.len(), 1, "calls from {caller} to {callee} in {file}: {calls:x?}");
        calls[0]
    }

    /// Address of a symbol.
    pub fn symbol(&self, file: &str, name: &str) -> u64 {
        *self.symbols(file, name).first().unwrap_or_else(|| panic!("{name} in {file}"))
    }

    /// Addresses of all symbols with this name.
    pub fn symbols(&self, file: &str, name: &str) -> Vec<u64> {
        let text = self.run(&format!("nm {file}"));
        let lines = text.lines().filter(|line| line.ends_with(&format!(" {name}")));
        let address = |line: &str| u64::from_str_radix(line.split(' ').next()?, 16).ok();
        lines.filter_map(address).collect()
    }
}

/// Whether a tool that a test wants is there; says that the test is skipped where not.
pub fn has_tool(name: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {name}")])
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !found {
        eprintln!("skipped: no {name} here");
    }
    found
}

/// A profile under construction.
pub struct Recording {
    pub profile: Profile,
    pub options: Options,
}

impl Recording {
    /// Of a program that ran as `path` and has the build-id now.
    pub fn of(path: &Path) -> Self {
        let mut recording = Recording { profile: Profile::default(), options: isolated() };
        recording.profile.process.pid = 4242;
        recording.profile.process.program = path.as_os_str().as_encoded_bytes().to_vec();
        recording.profile.threads.push(Thread { count: 1, ..Thread::default() });
        recording.profile.contexts.push(Context { parent: None, frame: Frame::Thread(0) });
        recording.module(path);
        recording
    }

    /// Adds a module and returns its id.
    pub fn module(&mut self, path: &Path) -> u32 {
        let bytes = fs::read(path).unwrap_or_default();
        let object = object::File::parse(&*bytes).ok();
        let build_id = object.and_then(|object| object.build_id().ok().flatten().map(<[u8]>::to_vec));
        self.profile.modules.push(Module {
            kind: ModuleKind::File,
            path: path.as_os_str().as_encoded_bytes().to_vec(),
            build_id: build_id.unwrap_or_default(),
            length: 1 << 20,
            ..Module::default()
        });
        self.profile.modules.len() as u32 - 1
    }

    /// Adds a frame with a return address in the program.
    pub fn frame(&mut self, address: u64) -> Frame {
        self.add(Frame::Code { module: 0, address, interrupted: false })
    }

    pub fn add(&mut self, frame: Frame) -> Frame {
        self.profile.contexts.push(Context { parent: Some(0), frame });
        frame
    }

    /// Bins for these sizes.
    pub fn sizes(&mut self, sizes: &[u64]) {
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable();
        let bin = |size: u64| Bin { size: Some(size), allocs: 1, bytes: size, ..Bin::default() };
        self.profile.bins = sizes.into_iter().map(bin).collect();
    }

    pub fn name(&mut self) -> Vec<Warning> {
        let warnings = mpfilt::add_names(&mut self.profile, &self.options);
        // What was found must be a valid profile.
        let mut bytes = Vec::new();
        mprof_format::write_profile(&self.profile, &mut bytes).expect("the names can be written");
        let read = mprof_format::read(&bytes).expect("and read");
        assert_eq!(read.damage, None);
        assert_eq!(read.profile.names, self.profile.names);
        warnings
    }

    pub fn names(&self) -> &Names {
        self.profile.names.as_ref().expect("named")
    }

    pub fn frames(&self, frame: Frame) -> &[SourceFrame] {
        self.names().sites.get(&frame).map_or(&[], |site| &site.frames)
    }

    /// A frame's source frames, innermost first, each as `name file:line`, the file relative to the workshop.
    pub fn shown(&self, frame: Frame, workshop: &Workshop) -> Vec<String> {
        let names = self.names();
        let folder = format!("{}/", workshop.path().display());
        let show = |of: &SourceFrame| {
            let name = String::from_utf8_lossy(&names.functions[of.function as usize].name).into_owned();
            let file = of.file.map(|file| String::from_utf8_lossy(&names.files[file as usize]).into_owned());
            let file = file.unwrap_or_else(|| "?".into());
            format!("{name} {}:{}", file.strip_prefix(&folder).unwrap_or(&file), of.line)
        };
        self.frames(frame).iter().map(show).collect()
    }

    /// Names of a frame's source frames, innermost first.
    pub fn function_names(&self, frame: Frame) -> Vec<String> {
        let name = |of: &SourceFrame| &self.names().functions[of.function as usize].name;
        self.frames(frame).iter().map(|of| String::from_utf8_lossy(name(of)).into_owned()).collect()
    }

    /// Types of a size as text, those of system headers in brackets.
    pub fn types(&self, size: u64) -> Vec<String> {
        let of_size = self.names().types.iter().filter(|of| of.size == size);
        of_size
            .map(|of| {
                let name = String::from_utf8_lossy(&of.name);
                if of.system { format!("({name})") } else { name.into_owned() }
            })
            .collect()
    }
}

/// Options that look nowhere but at the files themselves.
pub fn isolated() -> Options {
    let nowhere = PathBuf::from("/nonexistent");
    Options {
        root: None,
        debug_directories: Vec::new(),
        debuginfod_cache: None,
        perf_map_directory: nowhere,
        progress: false,
    }
}

/// Warnings as text.
pub fn text(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(Warning::to_string).collect()
}
