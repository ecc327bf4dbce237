//! The dynamic loader: libraries that come and go, constructors, and what runs before them.

use c_tests::{Program, freed, kept};

/// A program that loads `first.so` and `second.so` from beside it.
pub(crate) fn with_plugins(name: &str) -> Program {
    let flags = "-O1 -g -shared -fPIC -fno-builtin";
    Program::c(name)
        .companion("plugin.c", "first.so", &format!("{flags} -DPLUGIN_NAME=first"))
        .companion("plugin.c", "second.so", &format!("{flags} -DPLUGIN_NAME=second"))
        .link("-ldl -Wl,-rpath,$ORIGIN")
}

#[test]
fn dlopen() {
    with_plugins("dlopen").prints("20 calls\n").check(|run| {
        let facts = run.facts();
        for plugin in ["first", "second"] {
            let keeper = format!("{plugin}_keep");
            assert_eq!(facts.direct(&keeper), kept(30, 6600), "{plugin}");
            let called = facts.chain(&format!("main > use > plugin_entry > {keeper}"));
            assert_eq!(called, kept(10, 2200), "{plugin}");
            assert_eq!(facts.ending(&format!("{plugin}_loaded > {keeper}")), kept(10, 2100), "{plugin}");
            assert_eq!(facts.ending(&format!("{plugin}_unloaded > {keeper}")), kept(10, 2300), "{plugin}");
        }
    });
}

#[test]
fn linked_library() {
    let library = "-O1 -g -shared -fPIC -fno-builtin -Wl,-soname,first.so -DPLUGIN_NAME=first";
    let program = Program::c("linked_library").companion("plugin.c", "first.so", library);
    program.link("./first.so -Wl,-rpath,$ORIGIN").prints("called 2\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.ending("first_loaded > first_keep"), kept(1, 210));
        assert_eq!(facts.chain("main > plugin_entry > first_keep"), kept(1, 220));
        assert_eq!(facts.ending("first_unloaded > first_keep"), kept(1, 230));
        assert_eq!(facts.beginning("[unknown]"), kept(0, 0), "{:#?}", facts.chains());
    });
}

#[test]
fn dlopen_while_allocating() {
    with_plugins("dlopen_while_allocating").also("-pthread").prints("400 loads\n").varies().check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > plugin_entry > first_keep"), kept(200, 44_000));
        assert_eq!(facts.chain("main > plugin_entry > second_keep"), kept(200, 44_000));
    });
}

#[test]
fn constructors() {
    Program::c("constructors").prints("main\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.ending("early_constructor"), freed(4, 204));
        assert_eq!(facts.ending("late_constructor"), kept(3, 156));
        assert_eq!(facts.ending("last_destructor"), kept(1, 53));
        assert_eq!(facts.total().allocs, 8);
        assert_eq!(facts.beginning("[unknown]").allocs, 0, "{:#?}", facts.chains());
    });
}

#[test]
fn before_constructors() {
    Program::c("before_constructors").no_reference().prints("resolved\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.bin(Some(81)), kept(3, 243));
        assert_eq!(facts.bin(Some(82)), freed(1, 82));
        assert_eq!(facts.ending("choose > resolver_keep").allocs, 4, "{:#?}", facts.chains());
    });
}

#[test]
fn own_malloc() {
    Program::c("own_malloc").prints("my own\n").says("malloc").no_data().check(|_| {});
}
