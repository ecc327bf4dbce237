//! The call graph, as graphviz draws it.

use super::{Recorded, consume, hostile, idle, recursive, widgets};

/// The picture that graphviz makes.
fn drawn(recorded: &Recorded, arguments: &[&str]) -> Option<String> {
    let path = recorded.file(&[&["--format", "dot"], arguments].concat(), "graph.dot");
    consume("dot", &["-Tsvg", &path.to_string_lossy()], recorded)
}

#[test]
fn functions_and_calls_with_their_numbers() {
    let recorded = Recorded::new(&widgets());
    let dot = recorded.text(&["--format", "dot"]);
    assert!(dot.contains("n1 [label=\"make_widget\\n2.04 MB (100.0%)\", tooltip=\"make_widget\""), "{dot}");
    assert!(dot.contains("n0 -> n2 [label=\"1.02 MB (50.2%)\""), "{dot}");
    let kept = recorded.text(&["--format", "dot", "--measure", "kept-objects"]);
    assert!(kept.contains("n1 [label=\"make_widget\\n5.02k (100.0%)\""), "{kept}");
    assert!(!kept.contains("blue"), "{kept}");
    let Some(svg) = drawn(&recorded, &[]) else { return };
    assert_eq!(svg.matches("class=\"node\"").count(), 4);
    assert_eq!(svg.matches("class=\"edge\"").count(), 4);
    assert!(svg.contains(">make_red_widget</text>"), "{svg}");
}

/// Nothing is merged: each of the calls of a cycle is drawn with its own bytes, each byte once.
#[test]
fn cycles_are_drawn_as_they_are() {
    let recorded = Recorded::new(&recursive());
    let dot = recorded.text(&["--format", "dot", "--focus", "F"]);
    for function in ["main", "F", "G"] {
        assert!(dot.contains(&format!("[label=\"{function}\\n10 B (100.0%)\"")), "{dot}");
    }
    assert_eq!(dot.matches(" -> ").count(), 3, "{dot}");
    let Some(svg) = drawn(&recorded, &["-v"]) else { return };
    assert_eq!(svg.matches("class=\"node\"").count(), 7);
    let walk = recorded.text(&["--format", "dot", "--focus", "walk"]);
    assert!(walk.contains("[style=dashed]"), "a call to itself: {walk}");
}

#[test]
fn hostile_names_are_drawn() {
    for profile in [hostile(), idle()] {
        let recorded = Recorded::new(&profile);
        let Some(svg) = drawn(&recorded, &["-v"]) else { return };
        assert!(!svg.contains("<script") && !svg.contains("<img"), "{svg}");
    }
    let recorded = Recorded::new(&hostile());
    let Some(svg) = drawn(&recorded, &["-v"]) else { return };
    assert!(svg.contains("&amp;amp; &amp;lt;b&amp;gt;"), "entities are none: {svg}");
}

#[test]
fn small_functions_are_left_out_and_a_message_says_so() {
    let recorded = Recorded::new(&widgets());
    let output = recorded.run(&["--format", "dot", "--limit", "2"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "mpdisplay: 2 functions are not drawn: small, or over the limit\n"
    );
}
