//! C++ and Rust names.

mod support;

use support::{Recording, Workshop, has_tool};

/// As the report's case of this kind: namespaces, templates, operators, lambdas, constructors.
const CPP: &str = r#"#include <cstdlib>
namespace shop {
void *volatile v[12];
int at;
template <class T, int N> struct Shelf {
    __attribute__((noinline)) void stock(T n) { v[at] = malloc(n); at++; }
};
struct Item { int k; __attribute__((noinline)) Item(int n) : k(n) { v[at] = malloc(n); at++; } };
__attribute__((noinline)) Item operator+(Item a, Item b) { v[at] = malloc(9); at++; return {a.k + b.k}; }
template <class F> __attribute__((noinline)) void apply(F f) { f(); at++; }
namespace { __attribute__((noinline)) void hidden() { v[at] = malloc(7); at++; } }
struct Base { virtual ~Base() {} virtual void put(long) const = 0; };
struct Derived : Base { __attribute__((noinline)) void put(long n) const override { v[at] = malloc(n); at++; } };
}
int main() {
    shop::Shelf<int, 7> s;
    s.stock(4);
    shop::Item x(1);
    x = x + shop::Item(1);
    shop::apply([] { shop::v[shop::at] = malloc(14); shop::at++; });
    shop::hidden();
    shop::Base *volatile b = new shop::Derived;
    b->put(3);
}
"#;

const CPP_NAMES: [(&str, &str); 6] = [
    ("_ZN4shop5ShelfIiLi7EE5stockEi", "shop::Shelf<int, 7>::stock"),
    ("_ZN4shop4ItemC2Ei", "shop::Item::Item"),
    ("_ZN4shopplENS_4ItemES0_", "shop::operator+"),
    ("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}"),
    ("_ZN4shop12_GLOBAL__N_16hiddenEv", "shop::(anonymous namespace)::hidden"),
    ("_ZNK4shop7Derived3putEl", "shop::Derived::put"),
];

#[test]
fn cpp_names_are_for_people() {
    let workshop = Workshop::new();
    workshop.write("a.cpp", CPP);
    let mut compilers = vec!["g++ -O0 -g", "g++ -O0 -g -gdwarf-4", "g++ -O0 -g1", "g++ -O0 -g0"];
    if has_tool("clang++") {
        compilers.extend(["clang++ -O0 -g", "clang++ -O0 -gline-tables-only"]);
    }
    for compiler in compilers {
        workshop.run(&format!("{compiler} -std=c++17 a.cpp -o a"));
        let mut recording = Recording::of(&workshop.file("a"));
        for (linkage_name, name) in CPP_NAMES {
            // clang names lambdas differently.
            let (linkage_name, name) = match compiler.starts_with("clang") && linkage_name.starts_with("_ZZ")
            {
                true => ("_ZZ4mainENK3$_0clEv", "main::$_0"),
                false => (linkage_name, name),
            };
            let frame = recording.frame(workshop.call("a", linkage_name, "malloc"));
            recording.name();
            assert_eq!(recording.function_names(frame), [name], "{compiler}");
        }
    }
}

#[test]
fn an_inlined_constructor_is_the_constructor() {
    let workshop = Workshop::new();
    workshop.write(
        "s.h",
        "#include <cstdlib>\nstruct S {\n  void *p;\n  inline S(int n) {\n    p = malloc(n);\n    \
         *(volatile char *)p = 1;\n  }\n};\n",
    );
    let part =
        "#include \"s.h\"\n__attribute__((noinline)) void *NAME(int n) {\n  S s(n);\n  return s.p;\n}\n";
    workshop.write("f.cpp", &part.replace("NAME", "f"));
    workshop.write("g.cpp", &part.replace("NAME", "g"));
    workshop
        .write("a.cpp", "void *f(int); void *g(int);\nint main(int c, char **) { return f(c) == g(c); }\n");
    workshop.run("g++ -O2 -g -c f.cpp; g++ -O0 -g -c g.cpp; g++ -g a.cpp f.o g.o -o a");
    let mut recording = Recording::of(&workshop.file("a"));
    let inlined = recording.frame(workshop.call("a", "_Z1fi", "malloc"));
    let called = recording.frame(workshop.call("a", "_ZN1SC2Ei", "malloc"));
    recording.name();
    assert_eq!(recording.shown(inlined, &workshop), ["S::S s.h:5", "f f.cpp:3"]);
    assert_eq!(recording.shown(called, &workshop), ["S::S s.h:5"]);
    assert_eq!(recording.frames(inlined)[0].function, recording.frames(called)[0].function);
}

#[test]
fn members_of_local_classes_are_named_by_their_function() {
    let workshop = Workshop::new();
    workshop.write(
        "a.cpp",
        r#"#include <cstdlib>
void *volatile v;
struct S { void m(); };
struct T { int t; };
void S::m() {
    auto g = [this](int n, const char *) { v = malloc(n); v = 0; };
    g(3, "");
    struct L { void z(int n) { v = malloc(n); v = 0; } };
    L().z(5);
}
int main(int c, char **) {
    auto first = [] { v = malloc(11); v = 0; };
    auto second = [c](T t) { v = malloc(t.t); v = 0; };
    { auto third = [c] { v = malloc(13); v = 0; [] { v = malloc(14); v = 0; }(); }; third(); }
    first();
    second(T{c});
    S().m();
}
"#,
    );
    let names = [
        "S::m::L::z",
        "S::m::{lambda(int, char const*)#1}",
        "main::{lambda()#1}",
        "main::{lambda()#2}",
        "main::{lambda()#2}::{lambda()#1}",
        "main::{lambda(T)#1}",
    ];
    for compiler in ["g++ -O2 -g", "g++ -O0 -g", "g++ -O2 -g -gdwarf-4"] {
        workshop.run(&format!("{compiler} a.cpp -o a; nm a | grep ' [tTW] ' | sed 's/.* //' > names"));
        let functions = std::fs::read_to_string(workshop.file("names")).expect("names");
        let mut recording = Recording::of(&workshop.file("a"));
        let of_cpp = functions.lines().filter(|name| name.starts_with("_Z") || *name == "main");
        let calls: Vec<u64> = of_cpp.flat_map(|name| workshop.calls("a", name, "malloc")).collect();
        let frames: Vec<_> = calls.iter().map(|&call| recording.frame(call)).collect();
        recording.name();
        let mut found: Vec<_> =
            frames.iter().map(|&frame| recording.function_names(frame)[0].clone()).collect();
        found.sort();
        found.dedup();
        assert_eq!(found, names, "{compiler}");
    }
}

const RUST: &str = r#"
pub mod shop {
    #[inline(never)]
    pub fn make<T: Copy>(value: T, n: usize) -> Vec<T> {
        let mut items = Vec::with_capacity(n);
        items.push(value);
        items
    }
    pub struct Shelf(pub Vec<u32>);
    impl Shelf {
        #[inline(never)]
        pub fn stock(&mut self) {
            self.0 = make(7u32, 9);
        }
    }
}
fn main() {
    let mut shelf = shop::Shelf(Vec::new());
    shelf.stock();
    println!("{}", shelf.0.len());
}
"#;

#[test]
fn rust_names_are_for_people() {
    let workshop = Workshop::new();
    workshop.write("shop.rs", RUST);
    for (mangling, make) in [("legacy", "shop::shop::make"), ("v0", "shop::shop::make::<u32>")] {
        let mangling = format!("-Csymbol-mangling-version={mangling} -Zunstable-options");
        let built = workshop.run(&format!(
            "RUSTC_BOOTSTRAP=1 rustc --edition 2024 -g -O {mangling} shop.rs -o shop 2>&1; nm shop | grep -E 'make|stock' | sed 's/.* //'"
        ));
        let linkage_name = |part: &str| {
            let found = built.lines().find(|line| line.contains(part) && line.starts_with('_'));
            found.unwrap_or_else(|| panic!("{part} in {built}")).to_owned()
        };
        let (stock_name, make_name) = (linkage_name("5stock"), linkage_name("4make"));
        let mut recording = Recording::of(&workshop.file("shop"));
        let start = workshop.symbol("shop", &make_name);
        let make_frame = recording.frame(start + 1);
        let stock = recording.frame(workshop.call("shop", &stock_name, &make_name));
        recording.name();
        assert_eq!(
            recording.shown(stock, &workshop),
            [format!(
                "{} shop.rs:13",
                if make.ends_with('>') { "<shop::shop::Shelf>::stock" } else { "shop::shop::Shelf::stock" }
            )]
        );
        assert_eq!(recording.function_names(make_frame).last().map(String::as_str), Some(make));
    }
}

#[test]
fn rust_library_frames_are_inlined_frames() {
    let workshop = Workshop::new();
    workshop.write("shop.rs", RUST);
    workshop.run("rustc --edition 2024 -g -O shop.rs -o shop");
    let make = workshop.run("nm shop | grep '4shop4make' | sed 's/.* //'");
    let mut recording = Recording::of(&workshop.file("shop"));
    // The allocation in `Vec::with_capacity` is one of the calls.
    let calls = workshop.all_calls("shop", make.trim());
    let frames: Vec<_> = calls.iter().map(|&call| recording.frame(call)).collect();
    recording.name();
    let deepest = frames.iter().max_by_key(|&&frame| recording.frames(frame).len()).expect("calls");
    let shown = recording.shown(*deepest, &workshop);
    assert_eq!(shown.last().map(String::as_str), Some("shop::shop::make shop.rs:5"));
    assert!(shown.len() > 2, "{shown:?}");
    assert!(shown[shown.len() - 2].starts_with("alloc::vec::Vec<T>::with_capacity /"), "{shown:?}");
}
