//! The page in headless Chromium: a script that is put at its end uses it as a reader would, and writes down what it
//! sees.

use super::{Recorded, hostile, widgets};
use crate::builder::ProfileBuilder;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use tempfile::TempDir;

/// What the browser makes of a page; `None` where it does not start, or not in time.
fn dom(browser: &str, address: &str, settings: &Path, flags: &[&str]) -> Option<String> {
    let mut command = Command::new("timeout");
    command.args(["120", browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]);
    command.args([
        "--disable-background-networking",
        "--no-first-run",
        "--virtual-time-budget=5000",
        "--dump-dom",
    ]);
    command.arg(format!("--user-data-dir={}", settings.display()));
    let output = command.args(flags).arg(address).env("HOME", settings).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A browser that shows pages here. It is tried with a small one first: in some containers it is there and cannot run.
fn browser() -> Option<&'static str> {
    static BROWSER: LazyLock<Option<&str>> = LazyLock::new(|| {
        let folder = TempDir::new().expect("a folder");
        let starts = |browser: &&str| {
            dom(browser, "data:text/html,<p>it%20runs", folder.path(), &[])
                .is_some_and(|dom| dom.contains("it runs"))
        };
        let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(starts);
        if found.is_none() {
            let _ = writeln!(std::io::stderr(), "SKIPPED: chromium is not installed, or does not run here");
        }
        found
    });
    *BROWSER
}

/// What `script`, which fills `seen`, sees on the page; `None` where there is no browser.
fn look(recorded: &Recorded, arguments: &[&str], flags: &[&str], script: &str) -> Option<serde_json::Value> {
    let browser = browser()?;
    let page = recorded.text(&[&["--format", "html"], arguments].concat());
    let probe = format!(
        "<script>const seen = {{}};\ntry {{ {script} }} catch (error) {{ seen.error = String(error); }}\n\
         document.body.append(Object.assign(document.createElement('pre'), \
         {{ id: 'seen', textContent: JSON.stringify(seen) }}));</script></body>"
    );
    let path = recorded.folder.path().join("page.html");
    fs::write(&path, page.replace("</body>", &probe)).expect("the page is written");
    let address = format!("file://{}", path.display());
    let dom = dom(browser, &address, &recorded.folder.path().join("browser"), flags).expect("it ran before");
    let (_, rest) = dom.split_once("<pre id=\"seen\">").unwrap_or_else(|| panic!("nothing seen: {dom}"));
    let (seen, _) = rest.split_once("</pre>").expect("the end of what was seen");
    let seen = seen.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let seen: serde_json::Value = serde_json::from_str(&seen).expect("JSON");
    assert_eq!(seen.get("error"), None, "{seen}");
    Some(seen)
}

/// Functions with kept bytes that fall from a to d, and freed ones that rise.
fn several() -> Recorded {
    let mut builder = ProfileBuilder::new("several");
    for (number, name) in (1..).zip(["d", "c", "b", "a"]) {
        builder.add(&format!("main > take > {name}"), 10, 10, 10 - number);
        builder.add(&format!("main > drop > {name}"), 1000, 5 - number, 5 - number);
    }
    Recorded::new(&builder.build())
}

const HELPERS: &str = "
    const names = (table, column) => [...document.querySelectorAll(table + ' tbody tr')]
        .filter(row => !row.hidden).map(row => row.cells[column].textContent);
    const type = (input, text) => { input.value = text; input.dispatchEvent(new Event('input')); };
    const titles = table => [...document.querySelectorAll(table + ' thead th button')];
";

#[test]
fn tables_are_sorted_and_searched() {
    let script = "
        seen.first = names('#direct', 12);
        titles('#direct')[12].click();
        seen.byName = names('#direct', 12);
        titles('#direct')[12].click();
        seen.byNameBack = names('#direct', 12);
        titles('#direct')[6].click();
        seen.byKept = names('#direct', 12);
        seen.order = titles('#direct')[6].parentElement.getAttribute('aria-sort');
        const search = document.querySelector('#leaks .tools + .sheet').previousElementSibling.querySelector('input');
        type(search, 'TAKE b');
        seen.found = names('#leaks .sheet', 5);
        seen.count = search.nextElementSibling.textContent;
        type(search, '');
        seen.all = names('#leaks .sheet', 5).length;
    ";
    let Some(seen) = look(&several(), &[], &[], &format!("{HELPERS}{script}")) else { return };
    assert_eq!(seen["first"], serde_json::json!(["d", "c", "b", "a"]));
    assert_eq!(seen["byName"], serde_json::json!(["a", "b", "c", "d"]));
    assert_eq!(seen["byNameBack"], serde_json::json!(["d", "c", "b", "a"]));
    assert_eq!(seen["byKept"], serde_json::json!(["a", "b", "c", "d"]));
    assert_eq!(seen["order"], "descending");
    assert_eq!(seen["found"], serde_json::json!(["|| > main > take > b"]));
    assert_eq!((&seen["count"], &seen["all"]), (&"1 of 4".into(), &4.into()));
}

#[test]
fn the_flame_graph_zooms_and_highlights_and_leads_to_the_call_graph() {
    let script = "
        const root = document.querySelector('#flame .flame');
        const boxes = () => [...root.querySelectorAll('.f')].map(box => box.getAttribute('aria-label')).sort();
        const box = name => [...root.querySelectorAll('.f')].find(box => box.getAttribute('aria-label') === name);
        const status = () => root.querySelector('.status').textContent;
        seen.boxes = boxes();
        seen.shares = ['main', 'make_red_widget'].map(name => parseFloat(box(name).style.width) / parseFloat(box('all').style.width));
        box('make_red_widget').click();
        seen.zoomed = boxes();
        seen.status = status();
        seen.link = root.querySelector('.status a').getAttribute('href');
        seen.target = document.querySelector(seen.link + ' .self .name').textContent.trim();
        [...root.querySelectorAll('.group button')].find(button => button.textContent === 'Objects kept').click();
        seen.kept = status();
        root.querySelector('.tools button:last-child').click();
        seen.keptBoxes = boxes();
        type(root.querySelector('input'), 'RED');
        seen.matched = [...root.querySelectorAll('.f.match')].map(box => box.getAttribute('aria-label'));
        seen.icicle = [...document.querySelectorAll('#leaks .f')].map(box => box.getAttribute('aria-label'));
        const key = name => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
        box('all').focus();
        key('ArrowUp'); key('ArrowUp');
        seen.focused = document.activeElement.getAttribute('aria-label');
    ";
    let Some(seen) = look(&Recorded::new(&widgets()), &[], &[], &format!("{HELPERS}{script}")) else {
        return;
    };
    let all = ["all", "main", "make_blue_widget", "make_red_widget", "make_widget", "make_widget"];
    assert_eq!(seen["boxes"], serde_json::json!(all));
    let share = |place: usize| seen["shares"][place].as_f64().expect("a number");
    assert!((share(0) - 1.0).abs() < 0.001 && (share(1) - 0.50190).abs() < 0.001, "{seen}");
    assert_eq!(seen["zoomed"], serde_json::json!(["all", "main", "make_red_widget", "make_widget"]));
    assert_eq!(seen["status"], "make_red_widget  1,023,876 bytes (50.2 %), 0 by itself  call graph [2]");
    assert_eq!((&seen["link"], &seen["target"]), (&"#g2".into(), &"make_red_widget [2]".into()));
    assert_eq!(seen["kept"], "make_red_widget  5,019 objects (100.0 %), 0 by itself  call graph [2]");
    assert_eq!(seen["keptBoxes"], serde_json::json!(["all", "main", "make_red_widget", "make_widget"]));
    assert_eq!(seen["matched"], serde_json::json!(["make_red_widget"]));
    assert_eq!(seen["icicle"], serde_json::json!(["all", "main", "make_red_widget", "make_widget"]));
    assert_eq!(seen["focused"], "make_red_widget");
}

#[test]
fn the_call_graph_is_ordered_and_searched_and_all_links_lead_somewhere() {
    let script = "
        const entries = () => [...document.querySelectorAll('.e')].filter(entry => !entry.hidden).map(entry => entry.querySelector('.self .name').textContent.split(' ')[0]);
        seen.first = entries();
        const order = document.querySelector('#graph select');
        order.value = 'name'; order.dispatchEvent(new Event('change'));
        seen.byName = entries();
        order.value = 'bytes kept'; order.dispatchEvent(new Event('change'));
        seen.byKept = entries();
        type(document.querySelector('#graph input'), 'a [5]');
        seen.found = entries();
        const links = [...document.querySelectorAll('a[href^=\"#g\"]')];
        seen.links = links.length;
        seen.broken = links.filter(link => !document.querySelector(link.getAttribute('href'))).length;
    ";
    let Some(seen) = look(&several(), &[], &[], &format!("{HELPERS}{script}")) else { return };
    assert_eq!(seen["first"], serde_json::json!(["main", "drop", "d", "c", "b", "a", "take"]));
    assert_eq!(seen["byName"], serde_json::json!(["a", "b", "c", "d", "drop", "main", "take"]));
    assert_eq!(seen["byKept"], serde_json::json!(["main", "take", "a", "b", "c", "d", "drop"]));
    assert_eq!(seen["found"], serde_json::json!(["take", "a", "drop"]));
    assert_eq!(seen["broken"], 0);
    assert!(seen["links"].as_u64() > Some(20), "{seen}");
}

#[test]
fn hostile_names_do_nothing() {
    let script = "
        seen.hacked = typeof hacked;
        seen.images = document.images.length;
        seen.scripts = document.scripts.length;
        seen.boxes = [...document.querySelectorAll('#flame .f')].map(box => box.getAttribute('aria-label'));
        seen.direct = names('#direct', 12);
    ";
    let Some(seen) = look(&Recorded::new(&hostile()), &[], &[], &format!("{HELPERS}{script}")) else {
        return;
    };
    assert_eq!(
        (&seen["hacked"], &seen["images"], &seen["scripts"]),
        (&"undefined".into(), &0.into(), &3.into())
    );
    for list in ["boxes", "direct"] {
        let names = seen[list].as_array().expect("a list");
        for name in [super::HOSTILE[0], super::HOSTILE[1], super::HOSTILE[8]] {
            assert!(names.contains(&name.into()), "{list}: {seen}");
        }
    }
}

/// No page is wider than its window, and dark where the reader wants it so.
#[test]
fn the_page_fits_narrow_windows_and_dark_rooms() {
    let script = "
        seen.width = innerWidth;
        seen.over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
        seen.page = getComputedStyle(document.body).backgroundColor;
        seen.columns = getComputedStyle(document.querySelector('.plots')).gridTemplateColumns.split(' ').length;
    ";
    let recorded = Recorded::new(&hostile());
    let look = |width: &str, scheme: &str| look(&recorded, &[], &[width, scheme], script);
    let (light, dark) =
        ("--blink-settings=preferredColorScheme=1", "--blink-settings=preferredColorScheme=0");
    let Some(narrow) = look("--window-size=500,900", dark) else { return };
    let Some(wide) = look("--window-size=1600,900", light) else { return };
    assert_eq!((&narrow["over"], &wide["over"]), (&0.into(), &0.into()), "{narrow} {wide}");
    assert_eq!((&narrow["columns"], &wide["columns"]), (&1.into(), &2.into()), "{narrow} {wide}");
    assert_eq!((&narrow["page"], &wide["page"]), (&"rgb(20, 22, 26)".into(), &"rgb(247, 246, 243)".into()));
}
