//! Leaks as a test result: by `mprof` around the test, and by `mpdisplay` afterwards.

use crate::scratch::{Scratch, done};
use c_tests::Tools;

/// Leaks 3 objects of 100 bytes in `cache`, one of 50 in `load`, and `argv[1]` of 10 in `extra`; prints, so that the
/// C library keeps a buffer; ends with the status `argv[2]`.
const LEAKY: &str = "#include <stdio.h>\n\
    #include <stdlib.h>\n\
    void *cache(void) { return malloc(100); }\n\
    void *load(void) { return malloc(50); }\n\
    void *extra(void) { return malloc(10); }\n\
    int main(int c, char **v) {\n\
    \x20   for (int i = 0; i < 3; i++) cache();\n\
    \x20   load();\n\
    \x20   for (int i = 0; i < (c > 1 ? atoi(v[1]) : 0); i++) extra();\n\
    \x20   puts(\"done\");\n\
    \x20   return c > 2 ? atoi(v[2]) : 0;\n\
    }\n";

fn leaky() -> Scratch {
    let scratch = Scratch::new();
    scratch.c("leaky", LEAKY);
    scratch
}

#[test]
fn a_leak_fails_a_test_that_passes() {
    let scratch = leaky();
    let run = scratch.mprof("--fail-on-leak ./leaky");
    assert_eq!((run.status, run.stdout.as_str()), (1, "done\n"));
    assert_eq!(
        run.stderr,
        "mprof: allocated 5 objects, 4446 bytes; kept 5 objects, 4446 bytes\n\
         mprof: leaks: 4 objects, 350 bytes on 2 paths\n\
         \n\
         Memory leaks\n\
         \n\
         \x20 allocs     bytes (%)     path\n\
         \n\
         \x20      3       300 (6)     || > main > cache\n\
         \x20      1        50 (1)     || > main > load\n\
         \n\
         \x20 suppressed: 1 object, 4096 bytes kept\n\
         \n\
         \x20      1      4096 (92)    C library: buffer of a stream (built in)\n\
         \n\
         \x20 profile:  mprof.data\n\
         \x20 next:     mprof show                          all tables\n\
         \x20           mprof show --tables leaks --lines   leaks, with source lines\n"
    );
    let quiet = scratch.mprof("-q --fail-on-leak ./leaky");
    assert_eq!(quiet.stderr, "mprof: leaks: 4 objects, 350 bytes on 2 paths\n");
}

#[test]
fn the_limit_is_in_bytes_and_the_programs_status_counts_first() {
    let scratch = leaky();
    assert_eq!(scratch.mprof("--fail-on-leak=350 ./leaky").status, 1);
    assert_eq!(scratch.mprof("--fail-on-leak=351 ./leaky").status, 0);
    assert_eq!(scratch.mprof("--fail-on-leak=4K --no-default-suppressions ./leaky").status, 1);
    assert_eq!(scratch.mprof("--fail-on-leak ./leaky 0 3").status, 3);
    for (limit, status) in
        [("--fail-on-leak", 1), ("--fail-on-leak=350", 1), ("--fail-on-leak=351", 0), ("", 0)]
    {
        let shown = scratch.mpdisplay(&format!("--tables leaks {limit} mprof.data"));
        assert_eq!(shown.status, status, "{limit}");
        assert_eq!(shown.stderr.contains("mpdisplay: leaks: 4 objects, 350 bytes on 2 paths\n"), status == 1);
    }
    assert_eq!(scratch.mpdisplay("--fail-on-leak=many mprof.data").status, 2);
}

#[test]
fn suppressions_are_read_from_options_and_the_environment() {
    let scratch = leaky();
    scratch.write("cache.supp", "# kept for the next call\nleak:^cache$\n");
    scratch.write(
        "load.supp",
        "{\n   config\n   Memcheck:Leak\n   match-leak-kinds: definite\n   fun:malloc\n   fun:load\n   fun:main\n}\n",
    );
    let run = scratch.mprof("--fail-on-leak --suppressions cache.supp --suppressions load.supp ./leaky");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains("  leaks:    none; not counted: 5 objects, 4446 bytes suppressed\n"),
        "{}",
        run.stderr
    );
    let mut command = scratch.command(&Tools::get().mpdisplay);
    command.args(["--tables", "leaks", "--fail-on-leak"]).env("MPROF_SUPPRESSIONS", "cache.supp:load.supp");
    let shown = done(command.output().expect("it runs"));
    assert_eq!(shown.status, 0, "{}", shown.stderr);
    assert!(shown.stdout.ends_with(
        "  no objects were kept but those that are suppressed\n\
         \n\
         \x20 suppressed: 5 objects, 4446 bytes kept\n\
         \n\
         \x20      1      4096 (92)    C library: buffer of a stream (built in)\n\
         \x20      3       300 (6)     leak:^cache$ (cache.supp:2)\n\
         \x20      1        50 (1)     config (load.supp:1)\n"
    ));
    let bare = scratch.mpdisplay("--tables leaks --no-default-suppressions");
    assert!(bare.stdout.contains("_IO_file_doallocate"), "{}", bare.stdout);
}

#[test]
fn a_wrong_suppression_is_told_before_the_program_runs() {
    let scratch = leaky();
    scratch.write("wrong.supp", "leak:a\ncache\n");
    let run = scratch.mprof("--suppressions wrong.supp ./leaky");
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    let expected =
        "mprof: wrong.supp:2: `cache` is neither `leak:PATTERN` nor the `{` of a Valgrind record\n";
    assert_eq!(run.stderr, expected);
    let run = scratch.mprof("--suppressions missing.supp ./leaky");
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.starts_with("mprof: missing.supp: "), "{}", run.stderr);
}

#[test]
fn generated_suppressions_hide_todays_leaks() {
    let scratch = leaky();
    scratch.mprof("-q ./leaky");
    for format in ["", "=lsan", "=valgrind"] {
        let made = scratch.mpdisplay(&format!("--gen-suppressions{format}"));
        assert_eq!(made.status, 0);
        scratch.write("known.supp", &made.stdout);
        let checked = scratch.mpdisplay("--fail-on-leak --suppressions known.supp --tables leaks");
        assert_eq!(checked.status, 0, "{format}: {}{}", made.stdout, checked.stdout);
    }
    let run = scratch.mprof("--fail-on-leak --suppressions known.supp ./leaky 2");
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("mprof: leaks: 2 objects, 20 bytes on 1 path\n"), "{}", run.stderr);
}

#[test]
fn against_a_baseline_only_new_and_grown_leaks_count() {
    let scratch = leaky();
    scratch.mprof("-q -o known.data ./leaky 2");
    assert_eq!(scratch.mprof("-q --fail-on-leak --baseline known.data ./leaky 2").status, 0);
    assert_eq!(scratch.mprof("-q --fail-on-leak --baseline known.data ./leaky").status, 0, "fewer");
    let run = scratch.mprof("--fail-on-leak --baseline known.data ./leaky 5");
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("mprof: leaks: 3 objects, 30 bytes on 1 path\n"), "{}", run.stderr);
    assert!(run.stderr.contains("       5        50 (1)     +30    || > main > extra\n"), "{}", run.stderr);
    assert!(
        run.stderr.contains("\n  known from the baseline: 2 paths, 4 objects, 350 bytes kept\n"),
        "{}",
        run.stderr
    );
    assert_eq!(scratch.mprof("-q --fail-on-leak=31 --baseline known.data ./leaky 5").status, 0);
    scratch.mprof("-q -o less.data ./leaky");
    let shown = scratch.mpdisplay("--tables leaks --fail-on-leak --baseline less.data known.data");
    assert_eq!(shown.status, 1);
    assert!(
        shown.stdout.contains("       2        20 (0)     new    || > main > extra\n"),
        "{}",
        shown.stdout
    );
    assert_eq!(scratch.mprof("--baseline missing.data ./leaky").status, 2);
}

/// The baseline may be the very file that the run replaces.
#[test]
fn the_last_run_may_be_the_baseline() {
    let scratch = leaky();
    scratch.mprof("-q ./leaky 1");
    assert_eq!(scratch.mprof("-q --fail-on-leak --baseline mprof.data ./leaky 1").status, 0);
    assert_eq!(scratch.mprof("-q --fail-on-leak --baseline mprof.data ./leaky 2").status, 1);
}

#[test]
fn damaged_files_are_status_2_even_if_they_leak() {
    let scratch = leaky();
    scratch.mprof("-q ./leaky");
    let whole = std::fs::read(scratch.file("mprof.data")).expect("readable");
    std::fs::write(scratch.file("cut.data"), &whole[..whole.len() - 8]).expect("written");
    assert_eq!(scratch.mpdisplay("--fail-on-leak --tables leaks cut.data").status, 2);
}

#[test]
fn reports_for_ci_are_written_whole_or_not_at_all() {
    let scratch = leaky();
    let run = scratch.mprof("-q --fail-on-leak --junit leaks.xml --sarif leaks.sarif ./leaky");
    assert_eq!(run.status, 1);
    let junit = scratch.read("leaks.xml");
    assert!(junit.contains(r#"tests="3" failures="2" errors="0" skipped="1""#), "{junit}");
    let file = scratch.file("leaky.c").canonicalize().expect("there");
    assert!(junit.contains(&format!("    cache ({}:3)\n", file.display())), "{junit}");
    let sarif = scratch.read("leaks.sarif");
    assert!(sarif.contains(r#""uri": "leaky.c""#), "{sarif}");
    let again = scratch.mpdisplay("--tables leaks --junit again.xml --sarif again.sarif");
    assert_eq!(again.status, 0);
    assert_eq!(scratch.read("again.xml"), junit);
    let run = scratch.mprof("-q --junit no/such/leaks.xml ./leaky");
    assert_eq!(run.status, 2);
    assert!(run.stderr.starts_with("mprof: no/such/leaks.xml: cannot be written: "), "{}", run.stderr);
}
