//! User types by size.

mod support;

use support::{Recording, Workshop, has_tool};

/// Compiles a program and gives its types of these sizes.
fn types(source: &str, compiler: &str, sizes: &[u64]) -> Vec<Vec<String>> {
    let workshop = Workshop::new();
    let name = if compiler.starts_with("rustc") { "a.rs" } else { "a.cpp" };
    let name = if compiler.starts_with("gcc") || compiler.starts_with("clang ") { "a.c" } else { name };
    workshop.write(name, source);
    workshop.run(&format!("{compiler} {name} -o a"));
    let mut recording = Recording::of(&workshop.file("a"));
    recording.sizes(sizes);
    assert_eq!(recording.name(), []);
    sizes.iter().map(|&size| recording.types(size)).collect()
}

/// The paper's figure 1.
const WIDGETS: &str = r#"#include <stdio.h>
#include <stdlib.h>
enum color { RED, BLUE };
typedef struct {
    enum color c;
    int data[50];
} widget;
widget *make_widget() {
    widget *w;
    w = (widget *) malloc(sizeof(widget));
    return w;
}
int main() { return make_widget() == NULL; }
"#;

#[test]
fn the_papers_program_has_widgets() {
    for compiler in [
        "gcc -g",
        "gcc -g -gdwarf-4 -fdebug-types-section",
        "gcc -g -fdebug-types-section",
        "gcc -g -O2 -flto",
    ] {
        assert_eq!(types(WIDGETS, compiler, &[204]), [["widget"]], "{compiler}");
    }
    if has_tool("clang") {
        assert_eq!(types(WIDGETS, "clang -g", &[204]), [["widget"]]);
    }
}

#[test]
fn c_types_are_structs_unions_and_typedefs_of_them() {
    let source = r#"
        struct widget { char b[101]; };
        typedef struct widget widget;
        typedef widget gadget;
        typedef const gadget *pointer;
        typedef const struct widget constant;
        union choice { char b[102]; char n; };
        typedef union { char b[102]; } nameless;
        typedef nameless again;
        enum big { ONE };
        typedef int number;
        typedef char array[101];
        typedef struct widget widgets[1];
        struct unknown;
        typedef struct unknown opaque;
        struct outer { struct inner { char b[103]; } i; } outer;
        widget w; gadget g; pointer p; constant c; union choice u; nameless n; again a; enum big e; number i;
        array r; widgets s; opaque *o;
        int main(void) { struct local { char b[104]; } l = {{0}}; return l.b[0]; }
    "#;
    let expected: [&[&str]; 4] = [
        &["constant", "gadget", "widget"],
        &["again", "choice", "nameless"],
        &["inner", "outer"],
        &["local"],
    ];
    for compiler in ["gcc -g", "gcc -g -fdebug-types-section", "gcc -g -gdwarf-4 -fdebug-types-section"] {
        assert_eq!(types(source, compiler, &[101, 102, 103, 104]), expected, "{compiler}");
    }
    // Nothing of 4 and 8 bytes but what is a structure.
    assert!(types(source, "gcc -g", &[4, 8]).concat().is_empty());
}

#[test]
fn only_sizes_with_allocations_count() {
    let workshop = Workshop::new();
    workshop.write("a.c", WIDGETS);
    workshop.run("gcc -g a.c -o a");
    let mut recording = Recording::of(&workshop.file("a"));
    recording.sizes(&[204]);
    recording.profile.bins[0].allocs = 0;
    recording.name();
    assert_eq!(recording.names().types, []);
}

#[test]
fn system_headers_are_told_apart() {
    let source = "#include <stdio.h>\ntypedef FILE document;\nstruct mine { char b[216]; } m;\ndocument *d;\nint main(void) { return 0; }\n";
    assert_eq!(types(source, "gcc -g", &[216]), [["(FILE)", "(_IO_FILE)", "document", "mine"]]);
}

#[test]
fn cpp_types_have_qualified_names() {
    let source = r#"
        namespace shop {
            class Item { char b[301]; };
            template <class T, int N> struct Shelf { T items[N]; typedef T element; };
            struct Outer { struct Inner { char b[302]; } i; typedef struct { char b[303]; } Named; Named n; };
            namespace { struct Hidden { char b[304]; } hidden; }
            using Alias = Item;
            class Declared;
        }
        typedef shop::Shelf<shop::Item, 1> Single;
        shop::Shelf<shop::Item, 1>::element e;
        shop::Item i; shop::Alias a; Single s; shop::Outer o; shop::Declared *d;
        int main() { auto f = [=] { return o; }; return sizeof f + sizeof e + sizeof shop::hidden; }
    "#;
    for compiler in ["g++ -g", "g++ -g -fdebug-types-section", "g++ -g -gdwarf-4 -fdebug-types-section"] {
        let found = types(source, compiler, &[301, 302, 303, 304]);
        assert_eq!(
            found[0],
            ["Single", "shop::Alias", "shop::Item", "shop::Shelf<shop::Item, 1>"],
            "{compiler}"
        );
        assert_eq!(found[1], ["shop::Outer::Inner"], "{compiler}");
        assert_eq!(found[2], ["shop::Outer::Named"], "{compiler}");
        assert_eq!(found[3], ["shop::(anonymous namespace)::Hidden"], "{compiler}");
    }
}

#[test]
fn library_types_of_cpp_are_system_types() {
    let source = "#include <string>\n#include <list>\nstruct Mine { char b[32]; } m;\nstd::string s;\nstd::list<Mine> l;\nint main() { return s.size() + l.size(); }\n";
    let found = &types(source, "g++ -g", &[32])[0];
    assert!(found.contains(&"Mine".into()));
    assert!(found.contains(&"(std::string)".into()), "{found:?}");
    assert_eq!(found.iter().filter(|name| !name.starts_with('(')).count(), 1, "{found:?}");
    // Nothing of the kind `value_type`: other names inside of classes for a type that has one.
    assert!(!found.iter().any(|name| name.contains("value_type")), "{found:?}");
}

#[test]
fn rust_types_are_structs_enums_with_data_and_unions() {
    let source = r#"
        pub struct Item { pub k: u64, pub b: [u64; 51] }
        pub enum Tree { Leaf, Node(Box<Tree>, [u64; 51]) }
        pub union Choice { pub n: u32, pub b: [u64; 52] }
        pub struct Gen<T> { pub t: T, pub b: [u64; 51] }
        pub struct Empty;
        pub enum Flat { A, B }
        fn main() {
            let item = Box::new(Item { k: 1, b: [1; 51] });
            let tree = Box::new(Tree::Node(Box::new(Tree::Leaf), [1; 51]));
            let choice = Box::new(Choice { n: 1 });
            let generic = Box::new(Gen { t: 1u8, b: [1; 51] });
            let tuple = Box::new((1u64, [1u64; 51]));
            let number = item.k;
            let closure = move || number + item.b[3] + tuple.1[2];
            let flat = if number > 3 { Flat::A } else { Flat::B };
            let empty = Empty;
            let bytes: Vec<u8> = std::env::args().map(|argument| argument.len() as u8).collect();
            let wide: Vec<Box<dyn Fn() -> u64>> = vec![Box::new(closure)];
            println!("{}", bytes.len() as u64 + wide[0]() + generic.t as u64 + matches!(flat, Flat::A) as u64);
            std::mem::forget((tree, choice, generic, empty));
        }
    "#;
    let found = types(source, "rustc --edition 2024 -g", &[416, 0, 1, 24, 16]);
    assert_eq!(found[0], ["a::Choice", "a::Gen<u8>", "a::Item", "a::Tree"]);
    assert_eq!(found[1], [""; 0]);
    assert!(found[3].contains(&"(alloc::vec::Vec<u8, alloc::alloc::Global>)".into()), "{:?}", found[3]);
    let boxed = "(alloc::boxed::Box<dyn core::ops::function::Fn<(), Output=u64>, alloc::alloc::Global>)";
    assert!(found[4].contains(&boxed.into()), "{:?}", found[4]);
    assert!(found.concat().iter().all(|name| name.starts_with('(') || name.starts_with("a::")), "{found:?}");
    assert!(!found.concat().iter().any(|name| name.contains("((") || name.contains("({")), "{found:?}");
}

#[test]
fn types_of_two_modules_are_listed_once() {
    let workshop = Workshop::new();
    workshop.write("a.c", WIDGETS);
    workshop.run("gcc -g a.c -o a; cp a b");
    let mut recording = Recording::of(&workshop.file("a"));
    recording.module(&workshop.file("b"));
    recording.sizes(&[204]);
    recording.name();
    assert_eq!(recording.types(204), ["widget"]);
    assert_eq!(recording.names().types[0].module, 0);
}
