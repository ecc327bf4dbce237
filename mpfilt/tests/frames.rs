//! Functions, lines and inlined frames of programs with debug information.

mod support;

use mprof_format::model::Frame;
use support::{Recording, Workshop, text};

const INLINED: &str = r#"#include <stdlib.h>
static inline __attribute__((always_inline)) void *leaf(int n) {
    return malloc(n);
}
static inline __attribute__((always_inline)) void *middle(int n) {
    void *p = leaf(n + 1);
    return p;
}
__attribute__((noinline)) void *outer(int n) {
    void *p = middle(n);
    return p;
}
int main(void) {
    free(outer(3));
    return 0;
}
"#;

#[test]
fn c_functions_have_names_files_lines_and_offsets() {
    let workshop = Workshop::new();
    workshop.write("src/a.c", "#include <stdlib.h>\nvoid *make(void) {\n  return malloc(8);\n}\nint main(void) {\n  free(make());\n  return 0;\n}\n");
    workshop.run("mkdir build; cd build; gcc -O0 -g ../src/../src/a.c -o ../a");
    let (make, main) = (workshop.call("a", "make", "malloc"), workshop.call("a", "main", "make"));
    let mut recording = Recording::of(&workshop.file("a"));
    let (make_frame, main_frame) = (recording.frame(make), recording.frame(main));
    assert_eq!(text(&recording.name()), [""; 0]);
    assert_eq!(recording.shown(make_frame, &workshop), ["make src/a.c:3"]);
    assert_eq!(recording.shown(main_frame, &workshop), ["main src/a.c:6"]);
    assert_eq!(recording.frames(make_frame)[0].offset, make - workshop.symbol("a", "make"));
    let names = recording.names();
    let function = &names.functions[recording.frames(make_frame)[0].function as usize];
    assert_eq!((function.line, &*function.linkage_name, function.module), (2, &b""[..], Some(0)));
    let file = &names.files[function.file.expect("file") as usize];
    assert_eq!(*file, workshop.file("src/a.c").as_os_str().as_encoded_bytes());
}

#[test]
fn inlined_calls_are_frames_of_their_own() {
    let workshop = Workshop::new();
    workshop.write("a.c", INLINED);
    workshop.run("gcc -O2 -g a.c -o a");
    // The compiler may make the call a jump: then nothing returns there, but the code still is there.
    let start = workshop.symbol("a", "outer");
    let mut recording = Recording::of(&workshop.file("a"));
    let call = recording.add(Frame::Code { module: 0, address: start + 1, interrupted: true });
    let main = recording.frame(workshop.call("a", "main", "outer"));
    assert_eq!(text(&recording.name()), [""; 0]);
    let names = recording.function_names(call);
    assert_eq!(names.last().map(String::as_str), Some("outer"));
    assert_eq!(recording.shown(main, &workshop), ["main a.c:14"]);
    assert_eq!(recording.frames(call)[0].offset, 1);
}

#[test]
fn inlined_frames_carry_their_call_sites() {
    let workshop = Workshop::new();
    workshop.write("a.c", &INLINED.replace("return p;", "*(volatile char *)p = 1; return p;"));
    workshop.run("gcc -O2 -g a.c -o a");
    let mut recording = Recording::of(&workshop.file("a"));
    let address = workshop.call("a", "outer", "malloc");
    let frame = recording.frame(address);
    recording.name();
    assert_eq!(recording.shown(frame, &workshop), ["leaf a.c:3", "middle a.c:6", "outer a.c:10"]);
    let offset = address - workshop.symbol("a", "outer");
    assert!(recording.frames(frame).iter().all(|frame| frame.offset == offset));
}

#[test]
fn an_inlined_function_and_its_copy_are_one() {
    let workshop = Workshop::new();
    workshop.write(
        "a.h",
        "#include <stdlib.h>\nstatic inline void *get(int n) {\n  void *p = malloc(n);\n  *(volatile char *)p = 0;\n  return p;\n}\n",
    );
    workshop.write("a.c", "#include \"a.h\"\nvoid *(*volatile f)(int) = get;\n__attribute__((noinline)) void *inlining(void) {\n  void *p = get(3);\n  *(volatile char *)p = 1;\n  return p;\n}\nvoid *other(void);\nint main(void) { return inlining() == f(2) || other() != 0; }\n");
    workshop.write("b.c", "#include \"a.h\"\nvoid *other(void) {\n  void *p = get(4);\n  *(volatile char *)p = 1;\n  return p;\n}\n");
    workshop.run("gcc -O2 -g a.c b.c -o a");
    let mut recording = Recording::of(&workshop.file("a"));
    let [copy, first, second] =
        ["get", "inlining", "other"].map(|caller| recording.frame(workshop.call("a", caller, "malloc")));
    recording.name();
    assert_eq!(recording.shown(copy, &workshop), ["get a.h:3"]);
    assert_eq!(recording.shown(first, &workshop), ["get a.h:3", "inlining a.c:4"]);
    assert_eq!(recording.shown(second, &workshop), ["get a.h:3", "other b.c:3"]);
    let function = recording.frames(copy)[0].function;
    assert_eq!(recording.frames(first)[0].function, function);
    assert_eq!(recording.frames(second)[0].function, function);
}

#[test]
fn static_functions_with_one_name_in_two_files_are_two() {
    let workshop = Workshop::new();
    let part = "#include <stdlib.h>\nstatic __attribute__((noinline)) void *get(void) { return malloc(5); }\nvoid *NAME(void) { return (char *)get() + 1; }\n";
    workshop.write("a.c", &part.replace("NAME", "a"));
    workshop.write("b.c", &part.replace("NAME", "b"));
    workshop.write("main.c", "void *a(void); void *b(void);\nint main(void) { return a() == b(); }\n");
    for debug in ["-g", "-g0"] {
        workshop.run(&format!("gcc -O0 {debug} a.c b.c main.c -o a"));
        let calls = workshop.calls("a", "get", "malloc");
        let mut recording = Recording::of(&workshop.file("a"));
        let frames: Vec<_> = calls.iter().map(|&call| recording.frame(call)).collect();
        recording.name();
        let functions: Vec<_> = frames.iter().map(|&frame| recording.frames(frame)[0].function).collect();
        assert_eq!(frames.len(), 2);
        assert_ne!(functions[0], functions[1], "{debug}");
        assert!(frames.iter().all(|&frame| recording.function_names(frame) == ["get"]));
    }
}

#[test]
fn an_interrupted_frame_is_looked_up_where_it_is() {
    let workshop = Workshop::new();
    workshop.write("a.c", INLINED);
    workshop.run("gcc -O0 -g a.c -o a");
    let start = workshop.symbol("a", "main");
    let mut recording = Recording::of(&workshop.file("a"));
    let interrupted = recording.add(Frame::Code { module: 0, address: start, interrupted: true });
    let returned = recording.add(Frame::Code { module: 0, address: start, interrupted: false });
    recording.name();
    assert_eq!(recording.function_names(interrupted), ["main"]);
    assert_ne!(recording.function_names(returned), ["main"]);
}

#[test]
fn thread_starts_are_named_too() {
    let workshop = Workshop::new();
    workshop.write("a.c", INLINED);
    workshop.run("gcc -O0 -g a.c -o a");
    let mut recording = Recording::of(&workshop.file("a"));
    let start = Frame::Code { module: 0, address: workshop.symbol("a", "outer"), interrupted: true };
    recording.profile.threads[0].start = Some(start);
    recording.name();
    assert_eq!(recording.shown(start, &workshop), ["outer a.c:9"]);
}

#[test]
fn cold_parts_belong_to_their_function() {
    let workshop = Workshop::new();
    workshop.write(
        "a.cpp",
        "#include <cstdlib>\nextern \"C\" __attribute__((noinline)) void *work(int n) {\n  void *p = malloc(n);\n  \
         *(volatile char *)p = 1;\n  if (n > 100)\n    throw 1;\n  return p;\n}\n\
         int main(int c, char **) { return work(c) == 0; }\n",
    );
    for (debug, lines) in [("-g", ["work a.cpp:3", "work a.cpp:6"]), ("-g0", ["work ?:0", "work ?:0"])] {
        workshop.run(&format!("g++ -O2 {debug} a.cpp -o a"));
        let hot = workshop.call("a", "work", "malloc");
        let cold = workshop.call("a", "work.cold", "__cxa_allocate_exception");
        let size =
            u64::from_str_radix(workshop.run("nm -S a | grep ' work$'").split(' ').nth(1).expect("size"), 16)
                .expect("hexadecimal");
        let mut recording = Recording::of(&workshop.file("a"));
        let frames = [hot, cold].map(|address| recording.frame(address));
        recording.name();
        let shown: Vec<_> = frames.iter().flat_map(|&frame| recording.shown(frame, &workshop)).collect();
        assert_eq!(shown, lines);
        let [hot_frame, cold_frame] = frames.map(|frame| recording.frames(frame)[0]);
        assert_eq!(hot_frame.function, cold_frame.function);
        assert_eq!(hot_frame.offset, hot - workshop.symbol("a", "work"));
        assert_eq!(cold_frame.offset, size + cold - workshop.symbol("a", "work.cold"), "{debug}");
    }
}

#[test]
fn clones_have_the_name_of_their_function() {
    let workshop = Workshop::new();
    workshop.write("a.c", "#include <stdlib.h>\nstatic __attribute__((noinline)) void *get(int n, int k) { void *p = malloc(n * k); *(volatile char *)p = 1; return p; }\nint main(int c, char **v) { return get(c, 7) == get(c + 1, 7); }\n");
    workshop.run("gcc -O2 -fipa-cp a.c -o plain; gcc -O2 -g -fipa-cp a.c -o debug");
    for file in ["plain", "debug"] {
        let mut recording = Recording::of(&workshop.file(file));
        let frame = recording.frame(workshop.call(file, "get.constprop.0", "malloc"));
        recording.name();
        assert_eq!(recording.function_names(frame), ["get"]);
        let function = &recording.names().functions[recording.frames(frame)[0].function as usize];
        let whole: &[u8] = if file == "plain" { b"get.constprop.0" } else { b"" };
        assert_eq!(function.linkage_name, whole);
    }
}

#[test]
fn assembly_has_its_symbol_and_lines() {
    let workshop = Workshop::new();
    workshop.write("f.s", ".globl f\n.type f,@function\nf:\n  subq $8,%rsp\n  call g\n  addq $8,%rsp\n  ret\n.size f,.-f\n.globl label\nlabel:\n  subq $8,%rsp\n  call g\n  addq $8,%rsp\n  ret\n.section .note.GNU-stack\n");
    workshop.write(
        "a.c",
        "void g(void) {}\nvoid f(void); void label(void);\nint main(void) { f(); label(); return 0; }\n",
    );
    workshop.run("gcc -g f.s a.c -o a; gcc f.s a.c -o plain");
    for (file, lines) in [("a", ["f f.s:5", "label f.s:12"]), ("plain", ["f ?:0", "label ?:0"])] {
        let mut recording = Recording::of(&workshop.file(file));
        let frames = ["f", "label"].map(|caller| recording.frame(workshop.call(file, caller, "g")));
        recording.name();
        let shown: Vec<_> = frames.iter().flat_map(|&frame| recording.shown(frame, &workshop)).collect();
        assert_eq!(shown, lines);
    }
}

#[test]
fn functions_with_reserved_names_are_shown_by_their_public_ones() {
    let workshop = Workshop::new();
    workshop.write(
        "a.c",
        "#include <stdlib.h>\nvoid *__make(void) { return (char *)malloc(3) + 1; }\n\
         void *make(void) __attribute__((weak, alias(\"__make\")));\n\
         void *alone(void) __asm__(\"__GI_alone\");\nvoid *alone(void) { return (char *)malloc(4) + 1; }\n\
         int main(void) { return make() == alone(); }\n",
    );
    workshop.run("gcc -O0 -g a.c -o a");
    let mut recording = Recording::of(&workshop.file("a"));
    let calls = ["__make", "__GI_alone"].map(|caller| workshop.call("a", caller, "malloc"));
    let [make, alone] = calls.map(|call| recording.frame(call));
    recording.name();
    assert_eq!(recording.shown(make, &workshop), ["make a.c:2"]);
    assert_eq!(recording.shown(alone, &workshop), ["alone a.c:5"]);
    let linkage_name = |frame| {
        let function = recording.frames(frame)[0].function;
        recording.names().functions[function as usize].linkage_name.clone()
    };
    assert_eq!((linkage_name(make), linkage_name(alone)), (b"".to_vec(), b"__GI_alone".to_vec()));
}

#[test]
fn a_file_that_was_loaded_twice_is_two_modules() {
    let workshop = Workshop::new();
    workshop.write("a.c", INLINED);
    workshop.run("gcc -O0 -g a.c -o a");
    let mut recording = Recording::of(&workshop.file("a"));
    assert_eq!(recording.module(&workshop.file("a")), 1);
    let address = workshop.call("a", "main", "outer");
    let frames = [0, 1].map(|module| recording.add(Frame::Code { module, address, interrupted: false }));
    recording.name();
    let modules = frames.map(|frame| {
        let function = recording.frames(frame)[0].function;
        recording.names().functions[function as usize].module
    });
    assert_eq!(modules, [Some(0), Some(1)]);
    assert_eq!(recording.shown(frames[1], &workshop), ["main a.c:14"]);
}

#[test]
fn the_same_input_gives_the_same_names() {
    let workshop = Workshop::new();
    workshop.write("a.c", INLINED);
    workshop.run("gcc -O2 -g a.c -o a");
    let names = || {
        let mut recording = Recording::of(&workshop.file("a"));
        let start = workshop.symbol("a", "outer");
        (0..64).for_each(|offset| {
            recording.frame(start + offset);
        });
        recording.sizes(&[8, 16, 24, 216]);
        recording.name();
        recording.profile.names
    };
    assert_eq!(names(), names());
}
