//! JSON: what `docs/JSON.md` says of it.

use super::{Recorded, consume, deep, hostile, idle, recursive, widgets};
use serde_json::{Value, json};
use std::path::Path;

fn document(recorded: &Recorded, arguments: &[&str]) -> Value {
    serde_json::from_slice(&recorded.bytes(&[&["--format", "json"], arguments].concat())).expect("JSON")
}

#[test]
fn the_head_and_the_sums() {
    let document = document(&Recorded::new(&widgets()), &[]);
    assert_eq!((&document["format"], &document["version"]), (&json!("mprof-json"), &json!(1)));
    let process = &document["processes"][0];
    assert_eq!(
        (&process["pid"], &process["program"], &process["end"]),
        (&json!(4711), &json!("/usr/bin/widgets"), &json!("exit"))
    );
    let totals = json!({
        "allocs": 10_000, "bytes": 2_040_000, "frees": 4981, "freed_bytes": 1_016_124,
        "kept_objects": 5019, "kept_bytes": 1_023_876
    });
    assert_eq!(document["totals"], totals);
}

#[test]
fn the_four_tables() {
    let document = document(&Recorded::new(&widgets()), &[]);
    let tables = &document["tables"];
    assert_eq!(tables["leaks"][0]["path"], json!(["main", "make_red_widget", "make_widget"]));
    assert_eq!(tables["leaks"][0]["begins"], "start");
    assert_eq!(tables["bins"][0]["size_from"], 204);
    assert_eq!(tables["bins"][0]["types"], json!(["widget"]));
    assert_eq!(
        tables["bins"][1],
        json!({
            "size_from": 1025, "size_to": null, "allocs": 0, "bytes": 0, "frees": 0, "freed_bytes": 0,
            "kept_objects": 0, "kept_bytes": 0, "types": []
        })
    );
    assert_eq!(
        tables["direct"][0]["kept_bytes_by_category"],
        json!({"s": 0, "m": 1_023_876, "l": 0, "x": 0})
    );
    let entry = &tables["graph"]["entries"][1];
    assert_eq!(entry["name"], "make_widget");
    assert_eq!(entry["called"], 10_000);
    assert_eq!(entry["ancestors"][0]["bytes"], 1_023_876);
    assert_eq!(entry["ancestors"][0]["of_allocs"], 5019);
}

/// Chains from the nodes' parents, as the document's reader would follow them.
fn chains(document: &Value) -> Vec<(String, u64)> {
    let number = |value: &Value| value.as_u64().map(|number| number as usize);
    let chain = |allocation: &Value| {
        let mut names = Vec::new();
        let mut next = number(&allocation["node"]);
        while let Some(node) = next {
            let node = &document["nodes"][node];
            let function = number(&node["function"]).expect("a function");
            names.push(document["functions"][function]["name"].as_str().expect("a name").to_owned());
            next = node.get("parent").and_then(number);
        }
        names.reverse();
        (names.join(" > "), allocation["bytes"].as_u64().expect("bytes"))
    };
    document["allocations"].as_array().expect("a list").iter().map(chain).collect()
}

#[test]
fn whole_call_chains() {
    let found = chains(&document(&Recorded::new(&recursive()), &[]));
    let wanted = [
        ("main > F > G > F > G", 10),
        ("main > walk > walk > walk", 300),
        ("main > outer > inner > leaf", 2000),
    ];
    assert_eq!(found, wanted.map(|(chain, bytes)| (chain.to_owned(), bytes)));
    let deep = chains(&document(&Recorded::new(&deep()), &[]));
    assert_eq!(deep.iter().map(|(chain, _)| chain.matches(" > ").count()).max(), Some(20_000));
}

#[test]
fn tables_are_chosen_and_ordered() {
    let recorded = Recorded::new(&recursive());
    let chosen = document(&recorded, &["--tables", "direct", "--measure", "allocs"]);
    let tables = chosen["tables"].as_object().expect("an object");
    assert_eq!(tables.keys().collect::<Vec<_>>(), ["direct"]);
    let first = tables["direct"][0]["function"].as_u64().expect("a function") as usize;
    assert_eq!(chosen["functions"][first]["name"], "walk");
    assert_eq!(document(&recorded, &["--focus", "walk"])["tables"]["bins"], Value::Null);
}

/// The schema holds for all of them; where Python has `jsonschema`, it is asked.
#[test]
fn documents_follow_their_schema() {
    const CHECK: &str = "\
import json, sys
try:
    import jsonschema
except ImportError:
    sys.exit('no jsonschema')
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.Draft202012Validator(schema).validate(json.load(open(sys.argv[2])))
print('valid')";
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/mprof.schema.json");
    let schema = schema.to_string_lossy();
    let python = "/usr/bin/python3";
    let probe = std::process::Command::new(python).args(["-c", "import jsonschema"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "SKIPPED: {python} has no jsonschema");
        return;
    }
    for profile in [widgets(), recursive(), hostile(), idle()] {
        let recorded = Recorded::new(&profile);
        let path = recorded.file(&["--format", "json"], "out.json");
        let said = consume(python, &["-c", CHECK, &schema, &path.to_string_lossy()], &recorded);
        assert_eq!(said.as_deref(), Some("valid\n"));
    }
}
