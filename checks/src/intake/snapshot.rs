//! Snapshot v1, our own: raw texts, which are judged as if each had been sent alone, and facts that have no text form.
//!
//! Unknown keys are ignored, absent ones stay absent, a broken file is a note. It does not know which texts and facts a
//! collector sends.

use serde::Deserialize;

use super::Kind;
use super::decode::clean;
use super::parts::Parts;
use super::read::Text;
use crate::fact::{Fact, Place, Trust, Value};
use crate::keys;
use crate::snapshot::Collector;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Snapshot {
    v: Option<i64>,
    node: Option<Node>,
    taken_ms: Option<i64>,
    raw: Vec<Raw>,
    facts: Vec<serde_json::Value>,
    run: Option<String>,
    collector: Collector,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Node {
    name: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Raw {
    name: String,
    text: Option<String>,
}

#[derive(Deserialize)]
struct Given {
    path: String,
    value: Option<Value>,
    source: Option<String>,
}

/// Version that this reader knows.
const VERSION: i64 = 1;

pub(super) fn looks(head: &str) -> bool {
    let head = head.trim_start();
    // The kind stands among the first keys; a compact and a spaced form are both valid JSON.
    head.starts_with('{') && (head.contains("\"kind\":\"snapshot\"") || head.contains("\"kind\": \"snapshot\""))
}

pub(super) fn open(text: &mut Text<'_>, parts: &mut Parts) {
    let text = text.first;
    parts.keep(parts.len(), text);
    let mut part = parts.start(Kind::Snapshot);
    part.bytes = text.len() as u64;
    let snapshot: Snapshot = match serde_json::from_str(text) {
        Ok(s) => s,
        Err(e) => {
            let line = u32::try_from(e.line()).ok();
            part.note(line, format!("The snapshot could not be read: {e}."));
            parts.push("", part);
            return;
        }
    };
    if snapshot.v.is_some_and(|v| v > VERSION) {
        part.note(None, "The snapshot is of a newer version; what is known here was read.");
    }
    let host = snapshot.node.and_then(|n| n.name).filter(|n| !n.is_empty());
    part.host.clone_from(&host);
    part.run.clone_from(&snapshot.run);
    part.taken_ms = snapshot.taken_ms;
    let mut broken = 0;
    for entry in snapshot.facts {
        let quote = entry.to_string();
        match serde_json::from_value::<Given>(entry) {
            Ok(Given { path, value: Some(value), source }) if !path.is_empty() => {
                // The quote is the call or file with its value where that is told, else the record itself.
                let quote = source.map_or(quote, |s| format!("{s}: {value}"));
                let place = Place { line: None, ..Place::line(part.input, 1, &quote) };
                part.facts.insert(path.clone(), Fact { unit: unit(&path), value, trust: Trust::Live, place });
            }
            Ok(_) => {}
            Err(_) => broken += 1,
        }
    }
    if broken > 0 {
        part.note(None, format!("{broken} fact(s) are not of this format and were left out."));
    }
    for text in snapshot.collector.receipt.iter().flat_map(|r| &r.unreadable) {
        part.note(None, text);
    }
    parts.push("", part);
    let first = parts.len();
    for raw in &snapshot.raw {
        let Some(text) = raw.text.as_deref().filter(|t| !t.trim().is_empty()) else { continue };
        // JSON keeps the line ends and terminal escapes that a file sent alone loses when it is decoded.
        parts.text(&raw.name, &clean(text.to_owned()), Kind::from_id(&raw.name));
    }
    for (_, part) in parts.since(first) {
        part.host.clone_from(&host);
        part.run = part.run.take().or_else(|| snapshot.run.clone());
        part.taken_ms = snapshot.taken_ms;
    }
}

/// The unit of a declared key; "" for others.
fn unit(path: &str) -> &'static str {
    let mut pattern = String::with_capacity(path.len());
    let mut in_index = false;
    for c in path.chars() {
        match c {
            '[' => in_index = true,
            ']' => in_index = false,
            _ if in_index => continue,
            _ => {}
        }
        pattern.push(c);
    }
    keys::ALL.iter().find(|(p, ..)| *p == pattern).map_or("", |(_, u, _)| u)
}

#[cfg(test)]
mod tests {
    #[test]
    fn units_are_found_whatever_the_index() {
        assert_eq!(super::unit("gpu[12].power_draw_w"), "W");
        assert_eq!(super::unit("gpu[0].process[3].memory_mib"), "MiB");
        assert_eq!(super::unit("nothing.known"), "");
    }

    #[test]
    fn terminal_escapes_in_a_raw_text_do_not_hide_its_header() {
        let topo = "\t\u{1b}[4mGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\u{1b}[0m\nGPU0\t X \t0-15\t0\t\tN/A\n";
        let raw = serde_json::json!([{ "name": "nvidia-smi-topo", "text": topo }]);
        let snapshot =
            serde_json::json!({ "v": 1, "kind": "snapshot", "node": { "name": "n" }, "raw": raw, "facts": [] });
        let mut intake = crate::Intake::new();
        intake.add("snapshot.json", snapshot.to_string().as_bytes());
        let read = intake.inputs().iter().find(|i| i.kind == "nvidia-smi-topo");
        assert!(read.is_some_and(|i| i.notes.is_empty()), "{:?}", intake.inputs());
    }
}
