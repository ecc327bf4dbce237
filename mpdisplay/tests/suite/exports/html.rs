//! The page, as it is written; `browser.rs` looks at it in a browser.

use super::{HOSTILE, Recorded, deep, hostile, widgets};
use crate::builder::ProfileBuilder;
use crate::when::with_snapshots;

#[test]
fn the_page_needs_nothing_but_itself() {
    let page = Recorded::new(&widgets()).text(&["--format", "html"]);
    assert!(page.starts_with("<!DOCTYPE html>"));
    assert!(
        page.contains(
            "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\""
        )
    );
    for outside in ["http:", "https:", "url(", "@import", "src=", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

/// The four tables are there without a script.
#[test]
fn the_tables_are_part_of_the_page() {
    let page = Recorded::new(&widgets()).text(&["--format", "html"]);
    let leak = "|| <i>&gt;</i> <a href=\"#g0\">main</a> <i>&gt;</i> <a href=\"#g2\">make_red_widget</a> <i>&gt;</i> \
                <b><a href=\"#g1\">make_widget</a></b></td>";
    assert!(page.contains(leak), "{page}");
    let bin =
        "<tr><td class=\"n\">204</td><td class=\"n b\" data-l=\"objects \" style=\"--p:100.0\">10,000</td>";
    assert!(page.contains(bin), "{page}");
    assert!(page.contains("<td class=\"name\">widget</td>"), "{page}");
    assert!(page.contains("<td class=\"name\"><a href=\"#g1\">make_widget</a></td>"), "{page}");
    let entry = "make_red_widget <i>[2]</i>";
    assert!(page.contains("<section class=e id=g2>") && page.contains(entry), "{page}");
    assert!(page.contains("title=\"193 to 208 bytes: 10,000, 5,019 of these kept\""), "{page}");
}

#[test]
fn names_are_text() {
    let page = Recorded::new(&hostile()).text(&["--format", "html"]);
    assert_eq!(page.matches("<script").count(), 2, "the data and the script");
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("<img"));
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;hacked = 1&lt;/script&gt;"));
    assert!(page.contains(r#""\u003c/script\u003e\u003cscript\u003ehacked = 1\u003c/script\u003e""#));
    assert!(!page.contains('\u{1b}') && !page.contains('\u{0}') && !page.contains('\u{202e}'));
    assert!(!page.contains(HOSTILE[1]));
}

/// Data of the flame graphs: every function with its depth, in preorder.
#[test]
fn the_data_are_whole() {
    let page = Recorded::new(&widgets()).text(&["--format", "html", "--measure", "kept"]);
    let (_, data) = page.split_once("<script type=\"application/json\" id=\"stacks\">").expect("the data");
    let (data, _) = data.split_once("</script>").expect("their end");
    let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(data["measure"], 2);
    assert_eq!(data["all"], serde_json::json!([2_040_000, 10_000, 1_023_876, 5019]));
    assert_eq!(data["depth"], serde_json::json!([0, 1, 2, 1, 2]));
    let name = |place: usize| {
        let label = data["label"][place].as_u64().expect("a number") as usize;
        data["labels"][label][0].as_str().expect("a name").to_owned()
    };
    let names: Vec<String> = (0..5).map(name).collect();
    assert_eq!(names, ["main", "make_blue_widget", "make_widget", "make_red_widget", "make_widget"]);
    assert_eq!(data["total"][2], serde_json::json!([1_023_876, 0, 0, 1_023_876, 1_023_876]));
    assert_eq!(data["own"][3], serde_json::json!([0, 0, 0, 0, 5019]));
}

/// Pages of large profiles have a limit, and say what is left out.
#[test]
fn large_profiles_have_pages_of_limited_size() {
    let mut builder = ProfileBuilder::new("large");
    for number in 0..8_000 {
        builder.add(&format!("main > caller_{} > allocate_{number}", number / 10), number + 1, 1, 0);
    }
    let recorded = Recorded::new(&builder.build());
    let page = recorded.text(&["--format", "html"]);
    assert!(page.len() < 3_500_000, "{} bytes", page.len());
    assert!(page.contains("<p class=\"note\">Left out: 7000 paths, "), "leaks");
    assert!(page.contains("<p class=\"note\">Left out: 7801 functions, which allocated "), "the call graph");
    let less = recorded.text(&["--format", "html", "--limit", "10"]);
    assert!(less.contains("<p class=\"note\">Left out: 7990 functions, "), "direct allocation");
    assert!(Recorded::new(&deep()).text(&["--format", "html"]).len() < 1_000_000);
}

#[test]
fn chosen_chains_have_no_sizes() {
    let page = Recorded::new(&widgets()).text(&["--format", "html", "--focus", "make_red_widget"]);
    assert!(page.contains("Sizes are recorded for whole processes only"));
    assert!(!page.contains("class=\"bars\""));
}

/// Curve, peak, snapshots and lifetimes are there without a script; the marks of the curve are links to the tables.
#[test]
fn the_course_of_time_is_part_of_the_page() {
    let page = Recorded::new(&with_snapshots()).text(&["--format", "html"]);
    assert!(page.contains("<path class=\"area\" d=\"M0 240L0 "), "{page}");
    let peak = "<a class=\"mark peak\" href=\"#peak\" style=\"left:62.5%;bottom:100.0%\" title=\"Peak: 1002 objects, \
                306024 bytes, after 1.25 s and 4100 allocations\">peak</a>";
    assert!(page.contains(peak), "{page}");
    assert!(
        page.contains("<a class=\"mark\" href=\"#snapshot1\" style=\"left:87.5%;bottom:78.4%\""),
        "{page}"
    );
    assert!(page.contains("<div class=\"moment\" id=\"snapshot1\"><h3>Snapshot 2, after 1.75 s"), "{page}");
    assert!(page.contains("style=\"--p:98.0\">300,000</td>"), "{page}");
    assert!(page.contains("<p>4,950 objects died young: without them 81.1 % of all allocations"), "{page}");
    let plain = Recorded::new(&widgets()).text(&["--format", "html"]);
    assert_eq!(plain.matches("<p>Not recorded.</p>").count(), 2, "no curve, no peak");
}
