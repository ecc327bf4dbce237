//! Lisp's half of a profile in the forms that other programs read: by type, under the letters of its categories.

use super::{Recorded, consume};
use crate::builder::ProfileBuilder;
use mprof_format::model::{Category, Profile, TypeBin};
use serde_json::{Value, json};

/// A program with a thousand conses, ten floats, a hundred vectors and a hash table.
fn lisp() -> Profile {
    let mut profile = ProfileBuilder::new("lisp")
        .allocate("toplevel > run > conses", 16, 1000, 0)
        .allocate("toplevel > run > numbers", 8, 10, 0)
        .allocate("toplevel > run > vectors", 128, 100, 0)
        .allocate("toplevel > run > table", 4000, 1, 0)
        .build();
    for counter in &mut profile.counters {
        counter.category = match counter.bytes / counter.allocs {
            16 => Category::Cons,
            8 => Category::Float,
            128 => Category::Structure,
            _ => Category::OtherObject,
        };
    }
    let bin = |category, name: &str, allocs, bytes| TypeBin { category, name: name.into(), allocs, bytes };
    profile.collected.bins = vec![
        bin(Category::Cons, "cons", 1000, 16_000),
        bin(Category::Float, "double-float", 10, 80),
        bin(Category::Structure, "vector", 100, 12_800),
        bin(Category::OtherObject, "hash-table", 1, 4000),
    ];
    profile.bins.clear();
    profile
}

/// What another collector gave out, by size.
fn collected() -> Profile {
    let mut profile = ProfileBuilder::new("browser")
        .allocate("main > render", 24, 3, 0)
        .allocate("main > load", 5000, 2, 0)
        .build();
    for counter in &mut profile.counters {
        let is_small = counter.bytes < 1000;
        counter.category = if is_small { Category::CollectedSmall } else { Category::CollectedExtraLarge };
    }
    let bin = |category, name: &str, allocs, bytes| TypeBin { category, name: name.into(), allocs, bytes };
    profile.collected.bins = vec![
        bin(Category::CollectedSmall, "24", 3, 72),
        bin(Category::CollectedExtraLarge, "> 1024", 2, 10_000),
    ];
    profile.bins.clear();
    profile
}

fn document(profile: &Profile, arguments: &[&str]) -> Value {
    let recorded = Recorded::new(profile);
    serde_json::from_slice(&recorded.bytes(&[&["--format", "json"], arguments].concat())).expect("JSON")
}

#[test]
fn json_has_types_and_their_letters() {
    let document = document(&lisp(), &[]);
    assert_eq!(document["half"], "lisp");
    let tables = &document["tables"];
    assert_eq!(tables["bins"], Value::Null);
    assert_eq!(
        tables["types"],
        json!([
            {"type": "cons", "category": "c", "allocs": 1000, "bytes": 16_000},
            {"type": "vector", "category": "s", "allocs": 100, "bytes": 12_800},
            {"type": "hash-table", "category": "o", "allocs": 1, "bytes": 4000},
            {"type": "double-float", "category": "f", "allocs": 10, "bytes": 80}
        ])
    );
    let nothing_else = |letter: &str, bytes: u64| {
        let mut all = json!({"c": 0, "f": 0, "s": 0, "o": 0});
        all[letter] = bytes.into();
        all
    };
    assert_eq!(tables["direct"][0]["bytes_by_category"], nothing_else("c", 16_000));
    assert_eq!(tables["direct"][3]["bytes_by_category"], nothing_else("f", 80));
    let total = &tables["graph"]["entries"][0]["total"]["bytes_by_category"];
    assert_eq!(total, &json!({"c": 16_000, "f": 80, "s": 12_800, "o": 4000}));
    let allocations = document["allocations"].as_array().expect("a list");
    let categories: Vec<&str> =
        allocations.iter().filter_map(|allocation| allocation["category"].as_str()).collect();
    assert_eq!(categories, ["c", "f", "s", "o"]);
    assert_eq!(document["totals"]["kept_bytes"], 0);
}

/// Tables that mean nothing where a collector frees are not left out without a word.
#[test]
fn tables_of_what_is_freed_are_not_there() {
    let report = Recorded::new(&lisp()).text(&["--tables", "leaks,peak,timeline"]);
    let end =
        "\n\nThese tables are of what programs free themselves; here there are bins, direct and graph\n";
    assert!(report.ends_with(end), "{report}");
}

#[test]
fn types_of_chosen_chains_are_not_known() {
    let tables = &document(&lisp(), &["--focus", "conses"])["tables"];
    assert_eq!((&tables["bins"], &tables["types"]), (&Value::Null, &Value::Null));
    let page = Recorded::new(&lisp()).text(&["--format", "html", "--focus", "conses"]);
    assert!(page.contains("<p>Types are recorded for whole processes only"), "{page}");
}

#[test]
fn csv_has_types_and_their_letters() {
    let recorded = Recorded::new(&lisp());
    let csv = |table| recorded.text(&["--format", "csv", "--tables", table]);
    assert_eq!(
        csv("bins"),
        "type,category,allocs,bytes\r\ncons,c,1000,16000\r\nvector,s,100,12800\r\nhash-table,o,1,4000\r\n\
         double-float,f,10,80\r\n"
    );
    let titles = |table| csv(table).lines().next().unwrap_or_default().trim_end().to_owned();
    assert!(
        titles("direct").ends_with(
            ",bytes_c,bytes_f,bytes_s,bytes_o,kept_bytes_c,kept_bytes_f,kept_bytes_s,kept_bytes_o"
        )
    );
    assert!(titles("graph").contains(",bytes_c,bytes_f,bytes_s,bytes_o,own_allocs,"));
    let sorted = recorded.text(&["--format", "csv", "--tables", "bins", "--sort", "name", "--limit", "2"]);
    assert_eq!(sorted, "type,category,allocs,bytes\r\ncons,c,1000,16000\r\ndouble-float,f,10,80\r\n");
}

/// The page has types for sizes, and nothing of what is kept, which means nothing where a collector frees.
#[test]
fn the_page_has_types_and_their_letters() {
    let page = Recorded::new(&lisp()).text(&["--format", "html"]);
    let row = "<td class=\"n pct\" data-l=\"% \">48.7</td><td class=\"n b\" data-l=\"objects \" style=\"--p:90.0\">1,000</td>\
               <td class=\"n\">c</td><td class=\"name\">cons</td></tr>";
    assert!(page.contains(row), "{page}");
    assert!(page.contains("c conses, f floating point numbers, s structures, vectors and strings, o others"));
    for letter in ["c", "f", "s", "o"] {
        assert!(page.contains(&format!("<th class=\"n opt\" scope=\"col\">{letter}</th>")), "{letter}");
    }
    assert!(page.contains("<th>types c f s o</th>"), "{page}");
    assert!(page.contains("title=\"c 48.7 %, f 0.2 %, s 38.9 %, o 12.2 %\""), "{page}");
    let (content, _) = page.split_once("<script>").expect("the script");
    let (_, content) = content.split_once("</style>").expect("the style");
    for absent in ["bytes kept", "Kept to the end", "id=\"leaks\"", "#peak", "Lifetimes", "<!--@"] {
        assert!(!content.contains(absent), "{absent}: {content}");
    }
    assert!(content.contains("\"measures\":[\n{\"title\":\"Bytes allocated\",\"unit\":\"bytes\"}\n,{\"title\":\"Objects allocated\",\"unit\":\"objects\"}\n]"), "{content}");
}

#[test]
fn another_collectors_objects_have_sizes() {
    let recorded = Recorded::new(&collected());
    assert_eq!(
        recorded.text(&["--format", "csv", "--tables", "bins"]),
        "size_from,size_to,allocs,bytes,frees,freed_bytes,kept_objects,kept_bytes,types\r\n24,24,3,72,3,72,0,0,\r\n\
         1025,,2,10000,2,10000,0,0,\r\n"
    );
    let document = document(&collected(), &[]);
    assert_eq!((&document["half"], &document["tables"]["bins"][0]["bytes"]), (&json!("gc"), &json!(72)));
    assert_eq!(document["tables"].get("types"), None);
    let page = recorded.text(&["--format", "html"]);
    assert!(page.contains("title=\"17 to 32 bytes: 3\""), "{page}");
}

/// pprof shows of a Lisp profile what was allocated: nothing is in use.
#[test]
fn pprof_and_callgrind_show_what_was_allocated() {
    let recorded = Recorded::new(&lisp());
    recorded.file(&["--format", "pprof"], "lisp.pb.gz");
    if let Some(top) = consume("go", &["tool", "pprof", "-top", "lisp.pb.gz"], &recorded) {
        assert!(top.contains("Type: alloc_space"), "{top}");
        assert!(top.contains("conses"), "{top}");
    }
    let callgrind = recorded.text(&["--format", "callgrind"]);
    assert!(callgrind.contains("\nsummary: 32880 1111 0 0\n"), "{callgrind}");
}
