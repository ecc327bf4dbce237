//! `docs/RELIABILITY.md` names tests that there are.

use std::fs;
use std::path::Path;

#[test]
fn every_test_that_is_named_exists() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/RELIABILITY.md");
    let text = fs::read_to_string(document).expect("the document");
    let names =
        text.split('`').skip(1).step_by(2).filter(|name| name.contains("::") && *name != "module::test");
    let mut count = 0;
    for name in names {
        let (module, test) = name.split_once("::").expect("filtered");
        let path = tests.join(format!("{module}.rs"));
        let source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(source.contains(&format!("#[test]\nfn {test}()")), "{name} is no test");
        count += 1;
    }
    assert!(count > 60, "{count}");
}
