//! Which file is used for a module, and where its debug information is found.

mod support;

use std::fs;
use std::path::PathBuf;

use mpfilt::Problem;
use mprof_format::model::{Frame, Module, ModuleKind};
use object::Object;
use support::{Recording, Workshop, has_tool, text};

const PROGRAM: &str = "#include <stdlib.h>\nstruct crate { char bytes[321]; };\nvoid *make(void) {\n  struct crate *c = malloc(sizeof *c);\n  return c;\n}\nint main(void) {\n  return make() == 0;\n}\n";

/// A workshop with the program built as `a` and the address of its allocation.
fn built(options: &str) -> (Workshop, u64) {
    let workshop = Workshop::new();
    workshop.write("a.c", PROGRAM);
    workshop.run(&format!("gcc -O0 -Wl,--build-id -Wl,-export-dynamic {options} a.c -o a"));
    let call = workshop.call("a", "make", "malloc");
    (workshop, call)
}

fn build_id(path: PathBuf) -> String {
    let bytes = fs::read(path).expect("the file");
    let object = object::File::parse(&*bytes).expect("ELF");
    let id = object.build_id().expect("notes").expect("build-id");
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What `a` now gives: the frame as text, the types, the warnings.
fn named(
    recording: &mut Recording,
    workshop: &Workshop,
    call: u64,
) -> (Vec<String>, Vec<String>, Vec<String>) {
    recording.sizes(&[321]);
    let frame = recording.frame(call);
    let warnings = text(&recording.name());
    (recording.shown(frame, workshop), recording.types(321), warnings)
}

const WHOLE: &str = "make a.c:4";
const SYMBOL: &str = "make ?:0";
const NO_DEBUG: &str = "a: has no debug information: no lines, inlined functions and types (compile with -g)";

#[test]
fn debug_information_in_the_file_itself() {
    for options in
        ["-g", "-g -gdwarf-4", "-g -gdwarf-3", "-g -gz=zlib", "-g -gz=zlib-gnu", "-g -fdebug-types-section"]
    {
        let (workshop, call) = built(options);
        let mut recording = Recording::of(&workshop.file("a"));
        let (shown, types, warnings) = named(&mut recording, &workshop, call);
        assert_eq!((shown, types, warnings), (vec![WHOLE.into()], vec!["crate".into()], vec![]), "{options}");
    }
}

#[test]
fn debug_information_compressed_with_zstd() {
    let (workshop, call) = built("-g");
    let tool = std::process::Command::new("objcopy")
        .args(["--compress-debug-sections=zstd", "a"])
        .current_dir(workshop.path())
        .status();
    if !tool.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no zstd in objcopy");
        return;
    }
    let mut recording = Recording::of(&workshop.file("a"));
    assert_eq!(named(&mut recording, &workshop, call).0, [WHOLE]);
}

#[test]
fn stripped_programs_have_dynamic_symbols() {
    let (workshop, call) = built("-g");
    workshop.run("strip a");
    let mut recording = Recording::of(&workshop.file("a"));
    let (shown, types, warnings) = named(&mut recording, &workshop, call);
    assert_eq!((shown, types), (vec![SYMBOL.into()], vec![]));
    assert_eq!(warnings, [NO_DEBUG]);
}

#[test]
fn mini_debug_info_has_the_symbols_that_were_stripped() {
    if !has_tool("xz") {
        return;
    }
    let workshop = Workshop::new();
    workshop.write("a.c", &PROGRAM.replace("void *make", "static void *make"));
    workshop.run("gcc -O0 -Wl,--build-id a.c -o a");
    let call = workshop.call("a", "make", "malloc");
    workshop.run(
        "objcopy -S --keep-symbol=make a mini; xz mini; objcopy --add-section .gnu_debugdata=mini.xz a; strip a",
    );
    let mut recording = Recording::of(&workshop.file("a"));
    assert_eq!(named(&mut recording, &workshop, call).0, [SYMBOL]);
}

#[test]
fn a_debug_link_leads_to_the_file_beside_below_and_in_the_debug_folder() {
    for place in [".", ".debug", "debugs/FOLDER"] {
        let (workshop, call) = built("-g");
        let folder = workshop.path().display().to_string();
        let place = place.replace("FOLDER", folder.trim_start_matches('/'));
        workshop.run(&format!(
            "mkdir -p {place}; objcopy --only-keep-debug --compress-debug-sections a a.debug; strip a; objcopy \
             --add-gnu-debuglink=a.debug a; mv a.debug {place}/a.debug 2>/dev/null || true"
        ));
        let mut recording = Recording::of(&workshop.file("a"));
        recording.options.debug_directories.push(workshop.file("debugs"));
        let (shown, types, warnings) = named(&mut recording, &workshop, call);
        assert_eq!((shown, types, warnings), (vec![WHOLE.into()], vec!["crate".into()], vec![]), "{place}");
    }
}

#[test]
fn a_debug_link_to_another_build_is_not_followed() {
    // Without build-ids the checksum tells; with them the build-ids do.
    for id in ["-Wl,--build-id=none", "-Wl,--build-id=sha1"] {
        let (workshop, call) = built(&format!("-g {id}"));
        workshop.run("objcopy --only-keep-debug a a.debug; strip a; objcopy --add-gnu-debuglink=a.debug a");
        workshop.write("b.c", "int other;\nint main(void) { return other; }\n");
        workshop.run(&format!("gcc -g {id} b.c -o b; objcopy --only-keep-debug b a.debug"));
        let mut recording = Recording::of(&workshop.file("a"));
        let (shown, _, warnings) = named(&mut recording, &workshop, call);
        assert_eq!(shown, [SYMBOL]);
        let path = workshop.file("a.debug").display().to_string();
        let stale = format!("a: the debug file {path} belongs to another build and was not used");
        assert_eq!(warnings, [stale.as_str(), NO_DEBUG]);
    }
}

#[test]
fn build_ids_lead_to_debug_files() {
    let (workshop, call) = built("-g");
    let id = build_id(workshop.file("a"));
    workshop.run(&format!(
        "objcopy --only-keep-debug a a.debug; strip a; mkdir -p debugs/.build-id/{0} cache/{id}; cp a.debug \
         debugs/.build-id/{0}/{1}.debug; mv a.debug cache/{id}/debuginfo",
        &id[..2],
        &id[2..]
    ));
    for cache in [false, true] {
        let mut recording = Recording::of(&workshop.file("a"));
        match cache {
            true => recording.options.debuginfod_cache = Some(workshop.file("cache")),
            false => recording.options.debug_directories.push(workshop.file("debugs")),
        }
        let (shown, types, warnings) = named(&mut recording, &workshop, call);
        assert_eq!((shown, types, warnings), (vec![WHOLE.into()], vec!["crate".into()], vec![]));
        // The program itself may even be gone.
        recording.profile.modules[0].path = b"/nonexistent/a".to_vec();
        recording.profile.names = None;
        let (shown, _, warnings) = named(&mut recording, &workshop, call);
        assert_eq!((shown, warnings), (vec![WHOLE.into()], vec![]));
    }
}

#[test]
fn supplementary_files_are_read_with_the_files_that_share_them() {
    if !has_tool("dwz") {
        return;
    }
    let workshop = Workshop::new();
    // Enough in common for dwz to move it, and one type that only the other program has.
    let shared: String =
        (0..40).map(|n| format!("struct shared_{n} {{ char bytes[{}]; }};\n", 321 + n)).collect();
    let header = format!("{shared}typedef struct shared_0 first;\n#include <stdlib.h>\n");
    let uses: String = (0..40).map(|n| format!("struct shared_{n} v{n};\n")).collect();
    for (file, own) in [("a", "own_a"), ("b", "own_b")] {
        let text = format!(
            "{header}{uses}first f; struct {own} {{ char b[321]; }} own;\nvoid *make(void) {{\n  return malloc(321);\n}}\nint main(void) {{ return make() == 0; }}\n"
        );
        workshop.write(&format!("{file}.c"), &text);
        workshop.run(&format!("gcc -O0 -g -Wl,--build-id {file}.c -o {file}"));
    }
    workshop.run("dwz -m common.debug a b");
    let mut recording = Recording::of(&workshop.file("a"));
    let call = workshop.call("a", "make", "malloc");
    let (shown, types, warnings) = named(&mut recording, &workshop, call);
    assert_eq!(shown, ["make a.c:85"]);
    assert_eq!(types, ["first", "own_a", "shared_0"]);
    assert_eq!(warnings, [""; 0]);
    // Without the common file some names are missing, and it says so.
    fs::remove_file(workshop.file("common.debug")).expect("remove");
    let mut recording = Recording::of(&workshop.file("a"));
    let (_, _, warnings) = named(&mut recording, &workshop, call);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("common.debug is missing"), "{warnings:?}");
}

#[test]
fn split_debug_information_is_read_where_it_lies() {
    for dwarf in ["-gdwarf-5", "-gdwarf-4"] {
        let workshop = Workshop::new();
        workshop.write("b.h", "static inline __attribute__((always_inline)) void *inner(int n) {\n  void *p = malloc(n); *(volatile char *)p = 0;\n  return p;\n}\n");
        let text = PROGRAM
            .replace("void *make", "#include \"b.h\"\nvoid *make")
            .replace("malloc(sizeof *c)", "inner(sizeof *c)");
        workshop.write("a.c", &text);
        workshop.run(&format!("gcc -O2 -g {dwarf} -gsplit-dwarf a.c -o a"));
        let call = workshop.call("a", "make", "malloc");
        let mut recording = Recording::of(&workshop.file("a"));
        let (shown, types, warnings) = named(&mut recording, &workshop, call);
        assert_eq!(shown, ["inner b.h:2", "make a.c:5"], "{dwarf}");
        assert_eq!((types, warnings), (vec!["crate".into()], vec![]));
        workshop.run("mkdir away; mv *.dwo away");
        let mut recording = Recording::of(&workshop.file("a"));
        let (shown, types, warnings) = named(&mut recording, &workshop, call);
        assert_eq!((shown, types.len()), (vec!["make b.h:2".into()], 0));
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].starts_with("a: 1 split debug files are missing, the first "), "{warnings:?}");
        workshop.run("mv away/*.dwo .");
        if has_tool("llvm-dwp") {
            workshop.run("llvm-dwp -e a -o a.dwp && rm *.dwo");
            let mut recording = Recording::of(&workshop.file("a"));
            let (shown, types, _) = named(&mut recording, &workshop, call);
            assert_eq!(shown, ["inner b.h:2", "make a.c:5"], "{dwarf}");
            assert_eq!(types, ["crate"]);
        }
    }
}

#[test]
fn a_rebuilt_program_is_not_used() {
    let (workshop, call) = built("-g");
    let recorded = build_id(workshop.file("a"));
    let mut recording = Recording::of(&workshop.file("a"));
    workshop.run("echo 'int more;' >> a.c; gcc -O0 -g -Wl,--build-id a.c -o a");
    let found = build_id(workshop.file("a"));
    let (shown, types, warnings) = named(&mut recording, &workshop, call);
    assert_eq!((shown, types), (vec![], vec![]));
    assert_eq!(
        warnings,
        [format!(
            "a: the file was changed after the recording (build-id then {recorded}, now {found}); its frames are \
             shown as a+0xOFFSET (record again, or run mpfilt before rebuilding)"
        )]
    );
}

#[test]
fn a_program_that_is_gone_is_reported_once() {
    let (workshop, call) = built("-g");
    let mut recording = Recording::of(&workshop.file("a"));
    recording.frame(call + 1);
    fs::remove_file(workshop.file("a")).expect("remove");
    let (shown, types, warnings) = named(&mut recording, &workshop, call);
    assert_eq!((shown, types), (vec![], vec![]));
    let path = workshop.file("a").display().to_string();
    assert_eq!(
        warnings,
        [format!(
            "a: {path} is gone; its frames are shown as a+0xOFFSET (run mpfilt while the file is still there)"
        )]
    );
}

#[test]
fn modules_without_frames_are_not_worth_a_warning() {
    let (workshop, call) = built("-g");
    let mut recording = Recording::of(&workshop.file("a"));
    recording.module(&workshop.file("gone.so"));
    assert_eq!(named(&mut recording, &workshop, call).2, [""; 0]);
}

#[test]
fn a_program_without_build_id_is_used_as_it_is() {
    let (workshop, call) = built("-g -Wl,--build-id=none");
    let mut recording = Recording::of(&workshop.file("a"));
    assert_eq!(recording.profile.modules[0].build_id, b"");
    assert_eq!(named(&mut recording, &workshop, call), (vec![WHOLE.into()], vec!["crate".into()], vec![]));
    // But not for one that had a build-id.
    recording.profile.modules[0].build_id = vec![1, 2, 3];
    let (shown, _, warnings) = named(&mut recording, &workshop, call);
    assert_eq!(shown, [""; 0]);
    assert!(warnings[0].contains("(build-id then 010203, now none)"), "{warnings:?}");
}

#[test]
fn what_is_no_binary_is_reported() {
    let workshop = Workshop::new();
    let path = workshop.write("a", "#!/bin/sh\n");
    let mut recording = Recording::of(&path);
    let frame = recording.frame(0x1000);
    let warnings = recording.name();
    assert!(matches!(warnings[0].problem(), Problem::Unreadable { .. }), "{warnings:?}");
    assert_eq!(recording.frames(frame), []);
    let mut recording = Recording::of(&workshop.path());
    recording.frame(0x1000);
    assert_eq!(
        text(&recording.name())[0].split_once(": ").map(|(_, reason)| reason),
        Some(&*format!(
            "cannot be read: not a regular file; its frames are shown as {}+0xOFFSET",
            workshop.path().file_name().expect("name").to_string_lossy()
        ))
    );
}

#[test]
fn a_root_is_put_before_the_paths_of_the_profile() {
    let (workshop, call) = built("-g");
    let mut recording = Recording::of(&workshop.file("a"));
    recording.profile.modules[0].path = b"/usr/bin/a".to_vec();
    workshop.run("mkdir -p box/usr/bin; mv a box/usr/bin");
    recording.options.root = Some(workshop.file("box"));
    assert_eq!(named(&mut recording, &workshop, call).0, [WHOLE]);
}

#[test]
fn the_vdso_is_only_used_if_it_is_ours() {
    let workshop = Workshop::new();
    let mut recording = Recording::of(&workshop.file("none"));
    recording.profile.modules[0] = Module {
        kind: ModuleKind::Vdso,
        path: b"linux-vdso.so.1".to_vec(),
        build_id: vec![1; 20],
        ..Module::default()
    };
    let frame = recording.frame(0x700);
    assert_eq!(
        text(&recording.name()),
        ["linux-vdso.so.1: recorded under another kernel; its frames are shown as linux-vdso.so.1+0xOFFSET"]
    );
    assert_eq!(recording.frames(frame), []);
    // Ours, as gdb would dump it.
    workshop.run(
        "python3 -c \"
import re
line = [l for l in open('/proc/self/maps') if l.rstrip().endswith('[vdso]')][0]
start, end = (int(x, 16) for x in line.split()[0].split('-'))
memory = open('/proc/self/mem', 'rb'); memory.seek(start)
open('vdso', 'wb').write(memory.read(end - start))\"",
    );
    let bytes = fs::read(workshop.file("vdso")).expect("vdso");
    let object = object::File::parse(&*bytes).expect("ELF");
    recording.profile.modules[0].build_id = object.build_id().expect("notes").expect("build-id").to_vec();
    use object::ObjectSymbol;
    let symbol = object.dynamic_symbols().find(|symbol| symbol.name() == Ok("__vdso_clock_gettime"));
    let address = symbol.expect("a function of the vdso").address() + 1;
    let frame = recording.add(Frame::Code { module: 0, address, interrupted: false });
    recording.name();
    assert_eq!(recording.function_names(frame), ["clock_gettime"]);
}
