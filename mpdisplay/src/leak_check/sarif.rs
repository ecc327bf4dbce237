//! Leaks as SARIF 2.1.0 (OASIS Standard, "Static Analysis Results Interchange Format"), which code hosts show at the
//! lines of the source.

use super::junit::{message, name};
use super::location::{Call, Place, blamed, calls};
use super::time::date_time;
use crate::analysis::leaks::{LeakRow, Leaks, Path, Since, SuppressedLeaks};
use crate::analysis::text::printable;
use crate::report::number::counted;
use mprof_format::model::{Process, Profile};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Writes the log: a result for each path that kept something and for each suppression that was used. Files below
/// `source_root`, an absolute path, are named relative to it. With `failing` false leaks are warnings, else errors.
///
/// # Errors
/// Those of `out`.
pub fn write(
    profiles: &[Profile],
    leaks: &Leaks<'_>,
    failing: bool,
    source_root: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut results: Vec<Value> = Vec::new();
    for (row, path) in leaks.sorted() {
        results.push(leak(leaks, &row, &path, failing, source_root));
    }
    results.extend(leaks.suppressed.iter().map(suppressed));
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver() },
            "invocations": profiles.iter().map(|profile| invocation(&profile.process)).collect::<Vec<_>>(),
            "originalUriBaseIds": { "%SRCROOT%": { "uri": format!("{}/", uri(source_root.trim_end_matches('/'))) } },
            "columnKind": "utf16CodeUnits",
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn driver() -> Value {
    json!({
        "name": "mprof",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": [{
            "id": "leak",
            "name": "MemoryLeak",
            "shortDescription": { "text": "Memory was allocated and never freed." },
            "fullDescription": {
                "text": "Objects that were allocated over this call path were still allocated when the process ended.",
            },
            "help": {
                "text": "Free the objects when they are no longer needed. If they are kept on purpose, suppress the path: \
                         mpdisplay --gen-suppressions writes the suppression.",
            },
            "defaultConfiguration": { "level": "warning" },
        }],
    })
}

fn invocation(process: &Process) -> Value {
    let arguments: Vec<String> =
        process.arguments.iter().skip(1).map(|argument| printable(argument)).collect();
    json!({
        "executionSuccessful": true,
        "executableLocation": { "uri": uri(&printable(&process.program)) },
        "arguments": arguments,
        "processId": process.pid,
        "startTimeUtc": format!("{}Z", date_time(process.start_unix_ns)),
        "endTimeUtc": format!("{}Z", date_time(process.start_unix_ns.saturating_add(process.elapsed_ns))),
    })
}

fn leak(leaks: &Leaks<'_>, row: &LeakRow, path: &Path, failing: bool, source_root: &str) -> Value {
    let calls = calls(leaks, row);
    let frames: Vec<Value> =
        calls.iter().map(|call| json!({ "location": location(call, source_root) })).collect();
    let mut result = json!({
        "ruleId": "leak",
        "ruleIndex": 0,
        "level": if failing { "error" } else { "warning" },
        "message": { "text": format!("{}: {path}", message(row)) },
        "stacks": [{ "message": { "text": "Allocated by" }, "frames": frames }],
        "partialFingerprints": { "leakPath/v1": fingerprint(&name(row, path)) },
    });
    // Code hosts want exactly one location.
    let blamed = blamed(&calls).map(|place| json!({ "physicalLocation": physical(place, source_root) }));
    let first = || calls.first().map(|call| location(call, source_root));
    if let Some(location) = blamed.or_else(first) {
        result["locations"] = json!([location]);
    }
    match row.since {
        Since::Unknown => {}
        Since::New => result["baselineState"] = json!("new"),
        Since::Grown { .. } => result["baselineState"] = json!("updated"),
    }
    result
}

fn suppressed(hidden: &SuppressedLeaks) -> Value {
    let (objects, bytes) =
        (counted(hidden.usage.kept(), "object"), counted(hidden.usage.kept_bytes(), "byte"));
    json!({
        "ruleId": "leak",
        "ruleIndex": 0,
        "level": "note",
        "message": { "text": format!("{objects}, {bytes} kept: {}", hidden.label.name) },
        "suppressions": [{
            "kind": "external",
            "status": "accepted",
            "justification": format!("{} ({})", hidden.label.name, hidden.label.origin),
        }],
    })
}

/// A call with its function and, where it is known, its line.
fn location(call: &Call<'_>, source_root: &str) -> Value {
    let mut location = Map::new();
    if let Some(place) = call.place {
        location.insert("physicalLocation".into(), physical(place, source_root));
    }
    location.insert(
        "logicalLocations".into(),
        json!([{ "fullyQualifiedName": call.function.name, "kind": "function" }]),
    );
    Value::Object(location)
}

fn physical(place: Place<'_>, source_root: &str) -> Value {
    let root = source_root.trim_end_matches('/');
    let below = place.file.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
    let artifact = match below.filter(|path| !path.split('/').any(|part| part == "..")) {
        Some(relative) => json!({ "uri": encoded(relative), "uriBaseId": "%SRCROOT%" }),
        None => json!({ "uri": uri(place.file) }),
    };
    json!({ "artifactLocation": artifact, "region": { "startLine": place.line } })
}

/// A path as a URI (RFC 8089), or a relative reference where it is relative.
fn uri(path: &str) -> String {
    if path.starts_with('/') { format!("file://{}", encoded(path)) } else { encoded(path) }
}

/// The path with everything escaped that is not plain in a URI's path (RFC 3986, section 3.3).
fn encoded(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for &byte in path.as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' | b'+' | b'@' => {
                text.push(byte.into());
            }
            _ => text += &format!("%{byte:02X}"),
        }
    }
    text
}

/// A number for the name by which the same leak is recognised in the next run, however much it keeps: its FNV-1a
/// hash, which is the same in every version.
fn fingerprint(name: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_the_root_are_relative() {
        let place = |file| physical(Place { file, line: 7 }, "/src/my shop/");
        assert_eq!(
            place("/src/my shop/a b.c"),
            json!({
                "artifactLocation": { "uri": "a%20b.c", "uriBaseId": "%SRCROOT%" },
                "region": { "startLine": 7 },
            })
        );
        assert_eq!(
            place("/src/my shopping/a.c")["artifactLocation"],
            json!({ "uri": "file:///src/my%20shopping/a.c" })
        );
        assert_eq!(
            place("/src/my shop/../a.c")["artifactLocation"],
            json!({ "uri": "file:///src/my%20shop/../a.c" })
        );
    }
}
