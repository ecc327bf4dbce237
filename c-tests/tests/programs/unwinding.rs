//! Chains: whole, exact, and through every kind of frame.

use c_tests::{Program, freed, kept, totals};
use mprof_format::model::{Frame, Special};

#[test]
fn deep_recursion() {
    Program::c("deep_recursion").prints("depth 20000\n").check(|run| {
        let facts = run.facts();
        let down = |levels| format!("main{}", " > deeper".repeat(levels));
        assert_eq!(facts.chain(&format!("{} > deep_leaf", down(20_000))), kept(20, 1800));
        assert_eq!(facts.chain(&format!("{} > half_way", down(10_000))), kept(10, 300));
    });
}

#[test]
fn many_contexts() {
    Program::c("many_contexts").prints("16384 chains\n").check(|run| {
        let facts = run.facts();
        let bytes = |paths: &mut dyn Iterator<Item = u64>| paths.map(|path| 1 + path % 5).sum::<u64>() * 2;
        let (all, odd) = (bytes(&mut (0..16_384)), bytes(&mut (1..16_384).step_by(2)));
        assert_eq!(facts.total(), totals(32_768, all, 16_384, odd));
        let leftmost = format!("main > choose{} > take", " > left > choose".repeat(14));
        assert_eq!(facts.chain(&leftmost), kept(2, 2));
        let rightmost = format!("main > choose{} > take", " > right > choose".repeat(14));
        assert_eq!(facts.chain(&rightmost), freed(2, 2 * (1 + 16_383 % 5)));
        assert_eq!(facts.chains().len(), 16_384);
    });
}

#[test]
fn same_stack_other_chain() {
    Program::c("same_stack_other_chain").prints("").check(|run| {
        assert_eq!(run.facts().chain("main > east > middle > leaf"), kept(500, 8000));
        assert_eq!(run.facts().chain("main > west > middle > leaf"), kept(500, 8000));
    });
}

#[test]
fn same_chain_other_stack() {
    Program::c("same_chain_other_stack").prints("").check(|run| {
        assert_eq!(run.facts().chain("main > elastic > leaf"), kept(400, 6400));
        assert_eq!(run.facts().total(), kept(400, 6400));
    });
}

#[test]
fn variable_frames() {
    Program::c("variable_frames").prints("sum 45750\n").check(|run| {
        assert_eq!(run.facts().chain("main > by_alloca > fixed > by_array > leaf"), kept(300, 14_400));
    });
}

fn stack_realignment(program: Program) {
    program.prints("sum 3525\n").check(|run| {
        let facts = run.facts();
        let outer = "main > many_arguments";
        assert_eq!(facts.chain(&format!("{outer} > leaf")), kept(50, 2800));
        assert_eq!(facts.chain(&format!("{outer} > by_64_variable > leaf")), kept(50, 2800));
        assert_eq!(facts.chain(&format!("{outer} > by_64_variable > plain > by_32 > leaf")), kept(50, 2800));
    });
}

#[test]
fn stack_realignment_by_locals() {
    stack_realignment(Program::c("stack_realignment"));
}

#[test]
fn stack_realignment_everywhere() {
    stack_realignment(Program::c("stack_realignment").also("-mstackrealign"));
}

#[test]
fn frame_pointer_as_data() {
    Program::c("frame_pointer_as_data").also("-fomit-frame-pointer").prints("computed 1\n").check(|run| {
        assert_eq!(run.facts().chain("main > outer > inner > leaf"), kept(600, 14_400));
        assert_eq!(run.facts().total(), kept(600, 14_400));
    });
}

#[test]
fn tail_calls() {
    Program::c("tail_calls").prints("5 objects\n").check(|run| {
        assert_eq!(run.facts().chain("main > caller > user"), kept(5, 800), "{:#?}", run.facts().chains());
    });
}

#[test]
fn early_returns() {
    Program::c("early_returns").prints("sum 4653, 150 kept\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.beginning("main > exits"), kept(150, 150 * 17));
        assert_eq!(facts.chain("main > exits > rare > leaf"), kept(8, 8 * 17));
        assert_eq!(facts.chain("main > exits > leaf"), kept(142, 142 * 17));
    });
}

/// The C library's own functions may be named or not, but they are on the chain.
#[test]
fn libc_callbacks() {
    Program::c("libc_callbacks").prints("sorted 1\n").check(|run| {
        let facts = run.facts();
        for caller in ["sorts", "searches", "walks"] {
            assert_eq!(facts.beginning(&format!("main > {caller}")), facts.through(caller), "{caller}");
        }
        assert_eq!(facts.edge("sorts", "compare"), kept(0, 0), "libc's frames lie between");
        assert_eq!(facts.ending("visit"), kept(100, 4300));
        let searched = facts.ending("compare_keeping");
        assert_eq!(searched.bytes, 42 * searched.allocs);
        assert_eq!(facts.beginning("main > searches"), searched);
        assert_eq!(facts.beginning("main"), facts.total());
    });
}

#[test]
fn assembly_cfi() {
    Program::c("assembly_cfi").prints("140 objects\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > plain_frame > leaf_plain"), kept(20, 220));
        assert_eq!(facts.chain("main > cfa_in_rbx > leaf_rbx"), kept(20, 240));
        assert_eq!(facts.chain("main > switched_stack > leaf_switched"), kept(20, 260));
        assert_eq!(facts.chain("main > return_in_rbx > leaf_moved"), kept(20, 280));
        assert_eq!(facts.chain("main > changing_frame > leaf_changing"), kept(60, 900));
    });
}

/// Links in a middle part that has no unwind information.
fn with_blind_middle(program: &str, frame_pointer: &str) -> Program {
    let without = "-c -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-dwarf2-cfi-asm";
    Program::c(program)
        .companion("no_unwind_middle.c", "middle.o", &format!("{without} {frame_pointer}"))
        .link("middle.o")
}

fn no_unwind(frame_pointer: &str) -> Program {
    with_blind_middle("no_unwind_main", frame_pointer).prints("sum 44\n")
}

#[test]
fn no_unwind_with_frame_pointers() {
    no_unwind("-fno-omit-frame-pointer").check(|run| {
        let facts = run.facts();
        assert_eq!(
            facts.chain("main > seen_caller > blind_middle > seen_leaf"),
            kept(8, 976),
            "{:#?}",
            facts.chains()
        );
    });
}

#[test]
fn no_unwind_without_frame_pointers() {
    no_unwind("-fomit-frame-pointer").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.ending("blind_middle > seen_leaf"), kept(8, 976), "{:#?}", facts.chains());
    });
}

/// A page's end between frames makes no difference, in the first allocation as little as in later ones.
#[test]
fn blind_places() {
    let program = with_blind_middle("blind_places", "-fno-omit-frame-pointer").also("-pthread");
    program.prints("done\n").check(|run| {
        let facts = run.facts();
        let chain = "at_place > seen_caller > blind_middle > seen_leaf";
        assert_eq!(facts.chain(chain), kept(256, 256 * 122), "{:#?}", facts.chains());
        let children = run.data_files().into_iter().filter(|name| name != "mprof.data");
        let children: Vec<_> = children.map(|name| run.raw(&name)).collect();
        assert_eq!(children.len(), 256);
        let contexts = children[0].contexts.len();
        for child in children {
            let unknown = child.contexts.iter().filter(|c| c.frame == Frame::Special(Special::Unknown));
            assert_eq!((unknown.count(), child.contexts.len()), (0, contexts), "{:?}", child.process);
        }
    });
}

#[test]
fn jit() {
    Program::c("jit").prints("made 6\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.chain("main > run_code > [anonymous]"), kept(6, 570), "{:#?}", facts.chains());
    });
}

#[test]
fn coroutines() {
    Program::c("coroutines").prints("20 coroutines\n").check(|run| {
        let facts = run.facts();
        assert_eq!(
            facts.chain("coroutine > turn"),
            totals(2000, 128_000, 1980, 126_720),
            "{:#?}",
            facts.chains()
        );
    });
}

#[test]
fn coroutine_stack_reused() {
    Program::c("coroutine_stack_reused").prints("100 kept\n").check(|run| {
        assert_eq!(run.facts().chain("odd > leaf"), kept(50, 900));
        assert_eq!(run.facts().chain("even > leaf"), kept(50, 900));
    });
}

#[test]
fn longjmp() {
    Program::c("longjmp").prints("600 kept\n").check(|run| {
        let facts = run.facts();
        assert_eq!(facts.direct("jumper"), kept(300, 6300));
        assert_eq!(facts.direct("after_jump"), kept(300, 6600));
        for levels in 1..=7 {
            // 300 = 42 * 7 + 6: the deepest is taken once less.
            let times = if levels == 7 { 42 } else { 43 };
            let chain = |function: &str| format!("main{}", format!(" > {function}").repeat(levels));
            assert_eq!(facts.chain(&chain("jumper")), kept(times, 21 * times));
            assert_eq!(facts.chain(&chain("after_jump")), kept(times, 22 * times));
        }
    });
}

#[test]
fn setjmp_returns_twice() {
    Program::c("setjmp_returns_twice").prints("20 kept\n").check(|run| {
        assert_eq!(run.facts().chain("main > twice > first_time"), kept(10, 310));
        assert_eq!(run.facts().chain("main > twice > second_time"), kept(10, 320));
    });
}
