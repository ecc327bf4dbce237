//! The reports for CI systems, read by others' programs.

use crate::scratch::{Done, Scratch, done, skipped};
use std::path::PathBuf;

/// C++ names have characters that XML and JSON escape.
const SHOP: &str = "#include <cstdlib>\n\
    namespace shop {\n\
    template <typename T> struct Cart { T *add() { return static_cast<T *>(std::malloc(sizeof(T))); } };\n\
    bool operator<(Cart<int>, Cart<int>) { return std::malloc(7) != nullptr; }\n\
    }\n\
    int main() {\n\
    \x20   shop::Cart<long double>().add();\n\
    \x20   return !(shop::Cart<int>() < shop::Cart<int>());\n\
    }\n";

fn shop(options: &str) -> Option<Scratch> {
    let scratch = Scratch::new();
    scratch.write("shop & \"till\".cpp", SHOP);
    let built = scratch.command("g++").args(["-O0", "-g", "-o", "shop", "shop & \"till\".cpp"]).output();
    if !built.is_ok_and(|output| output.status.success()) {
        skipped("there is no g++");
        return None;
    }
    let run = scratch.mprof(&format!("-q {options} ./shop"));
    assert_eq!(run.status, 1, "{}", run.stderr);
    Some(scratch)
}

/// A Python program with the modules that it needs; `None`, with a note, where these are missing.
fn python(scratch: &Scratch, modules: &str, program: &str) -> Option<Done> {
    let python = |text: &str| scratch.command("/usr/bin/python3").args(["-c", text]).output();
    if !python(&format!("import {modules}")).is_ok_and(|output| output.status.success()) {
        skipped(&format!("Python has no {modules}"));
        return None;
    }
    Some(done(python(program).expect("it runs")))
}

#[test]
fn junitparser_reads_the_junit_report() {
    let Some(scratch) = shop("--fail-on-leak --junit leaks.xml") else { return };
    let program = "from junitparser import JUnitXml\n\
        for suite in JUnitXml.fromfile('leaks.xml'):\n\
        \x20   print(suite.name, suite.tests, suite.failures, suite.errors, suite.skipped)\n\
        \x20   for case in suite: print(case.classname, case.name, case.result[0].message, case.result[0].type)\n";
    let Some(read) = python(&scratch, "junitparser", program) else { return };
    assert_eq!(
        read.stdout,
        "mprof: shop 2 2 0 0\n\
         shop || > main > shop::Cart<long double>::add 1 object, 16 bytes kept leak\n\
         shop || > main > shop::operator< 1 object, 7 bytes kept leak\n",
        "{}",
        read.stderr
    );
}

/// The schema that the standard's authors publish: `MPROF_SARIF_SCHEMA` names the file.
#[test]
fn the_sarif_log_follows_the_schema() {
    let Some(schema) =
        std::env::var_os("MPROF_SARIF_SCHEMA").map(PathBuf::from).filter(|path| path.is_file())
    else {
        return skipped("MPROF_SARIF_SCHEMA names no file");
    };
    let Some(scratch) = shop("--fail-on-leak --sarif leaks.sarif") else { return };
    scratch.write("known.supp", "leak:operator<\n");
    scratch.mprof("-q -o base.data --suppressions known.supp --sarif suppressed.sarif ./shop");
    scratch.mprof("-q --baseline base.data --sarif same.sarif ./shop");
    let program = format!(
        "import json, jsonschema, sys\n\
         schema = json.load(open({:?}))\n\
         validator = jsonschema.validators.validator_for(schema)(schema)\n\
         for name in ['leaks', 'suppressed', 'same']:\n\
         \x20   log = json.load(open(name + '.sarif'))\n\
         \x20   print(name, len(log['runs'][0]['results']), [error.message for error in validator.iter_errors(log)])\n",
        schema
    );
    let Some(read) = python(&scratch, "jsonschema", &program) else { return };
    assert_eq!(read.stdout, "leaks 2 []\nsuppressed 2 []\nsame 0 []\n", "{}", read.stderr);
}

/// What both say, where no reader is installed.
#[test]
fn names_are_escaped_in_both() {
    let Some(scratch) = shop("--fail-on-leak --junit leaks.xml --sarif leaks.sarif") else { return };
    let junit = scratch.read("leaks.xml");
    assert!(junit.contains("shop::Cart&lt;long double&gt;::add"), "{junit}");
    assert!(junit.contains("/shop &amp; &quot;till&quot;.cpp:3)"), "{junit}");
    let sarif = scratch.read("leaks.sarif");
    assert!(sarif.contains(r#""uri": "shop%20%26%20%22till%22.cpp""#), "{sarif}");
    assert!(sarif.contains(r#""fullyQualifiedName": "shop::operator<""#), "{sarif}");
}
