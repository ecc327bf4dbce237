//! Folded stacks and the flame graph that is drawn from them.

use super::{Recorded, consume, deep, hostile, idle, recursive, widgets};

#[test]
fn a_line_for_each_stack() {
    let recorded = Recorded::new(&widgets());
    let folded = |measure| recorded.text(&["--format", "folded", "--measure", measure]);
    let both = |blue, red| {
        format!("main;make_blue_widget;make_widget {blue}\nmain;make_red_widget;make_widget {red}\n")
    };
    assert_eq!(folded("bytes"), both(1_016_124, 1_023_876));
    assert_eq!(folded("allocs"), both(4981, 5019));
    assert_eq!(folded("kept"), "main;make_red_widget;make_widget 1023876\n");
    assert_eq!(folded("kept-objects"), "main;make_red_widget;make_widget 5019\n");
    let lines = recorded.text(&["--format", "folded", "--lines", "--measure", "kept"]);
    assert_eq!(
        lines,
        "main (widgets.c:35);make_red_widget (widgets.c:25);make_widget (widgets.c:17) 1023876\n"
    );
}

#[test]
fn recursion_and_inlined_functions_stay_as_they_are() {
    let folded = Recorded::new(&recursive()).text(&["--format", "folded"]);
    assert_eq!(folded, "main;F;G;F;G 10\nmain;outer;inner;leaf 2000\nmain;walk;walk;walk 300\n");
}

#[test]
fn hostile_names_are_one_frame_each_and_one_line() {
    let folded = Recorded::new(&hostile()).text(&["--format", "folded"]);
    let lines: Vec<&str> = folded.lines().collect();
    assert_eq!(lines.len(), super::HOSTILE.len());
    for line in lines {
        let (stack, value) = line.rsplit_once(' ').expect("a value");
        let value: usize = value.parse().expect("a number");
        assert_eq!(stack.split(';').count(), value + 1, "{line:?}");
        let (_, last) = stack.rsplit_once(' ').unwrap_or_default();
        assert!(last.parse::<u64>().is_err(), "no second value: {line:?}");
    }
}

/// The width of the function's box in percent.
fn width(svg: &str, function: &str) -> Option<f64> {
    let title = format!("<title>{function} (");
    let (_, rest) = svg.split_once(&title)?;
    let (_, rest) = rest.split_once("width=\"")?;
    let (number, _) = rest.split_once('%')?;
    number.parse().ok()
}

#[test]
fn the_flame_graph_is_as_wide_as_the_numbers_say() {
    let svg = Recorded::new(&widgets()).text(&["--format", "flamegraph"]);
    let near = |function, wanted: f64| {
        let width = width(&svg, function).expect("the function is drawn");
        assert!((width - wanted).abs() < 0.01, "{function}: {width}");
    };
    near("main", 100.0);
    near("make_red_widget", 50.19);
    near("make_blue_widget", 49.81);
    assert!(svg.contains("make_red_widget (1,023,876 bytes, 50.19%)"));
    let kept = Recorded::new(&widgets()).text(&["--format", "flamegraph", "--measure", "kept-objects"]);
    assert!(kept.contains("make_red_widget (5,019 objects, 100.00%)"));
    assert!(!kept.contains("make_blue_widget"));
}

/// `f` and `f g` sort with one another by their text; each is drawn once all the same.
#[test]
fn a_function_is_drawn_once() {
    use crate::builder::ProfileBuilder;
    let profile = ProfileBuilder::new("once")
        .allocate("f", 10, 1, 0)
        .allocate("f g > h", 10, 1, 0)
        .allocate("f > x", 10, 1, 0)
        .build();
    let svg = Recorded::new(&profile).text(&["--format", "flamegraph"]);
    assert_eq!(svg.matches("<title>f (").count(), 1);
    assert!(svg.contains("<title>f (20 bytes, 66.67%)"));
}

/// A parser of XML reads all pictures.
#[test]
fn the_flame_graph_is_well_formed() {
    const CHECK: &str = "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])";
    for profile in [hostile(), idle(), recursive()] {
        let recorded = Recorded::new(&profile);
        let path = recorded.file(&["--format", "flamegraph"], "flame.svg");
        consume("python3", &["-c", CHECK, &path.to_string_lossy()], &recorded);
    }
}

#[test]
fn deep_chains_are_cut_and_a_message_says_so() {
    let output = Recorded::new(&deep()).run(&["--format", "flamegraph"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "mpdisplay: Functions above level 1000 are not drawn\n"
    );
}
