//! The nvidia-smi family on captured inputs: what each file tells, and that damage never makes a value up.
//!
//! A file `x.txt` in `tests/data/smi` stands beside `x.facts`: lines `path = JSON` and `path absent`, and for the input
//! itself `kind = …` and `note = "part of a remark"`.
#![expect(clippy::unwrap_used, reason = "tests")]

mod mangled;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use checks::Intake;
use checks::fact::Value;
use serde_json::Value as Json;

/// What the intake makes of some bytes.
struct Read {
    kinds: Vec<String>,
    notes: Vec<String>,
    facts: BTreeMap<String, Value>,
    /// Quotes by path.
    quotes: BTreeMap<String, (Option<u32>, String)>,
}

fn read(bytes: &[u8]) -> Read {
    let mut intake = Intake::new();
    intake.add("file", bytes);
    let kinds = intake.inputs().iter().map(|i| i.kind.clone()).collect();
    let notes = intake.inputs().iter().flat_map(|i| i.notes.iter().map(|n| n.text.clone())).collect();
    let (inputs, subjects) = intake.finish();
    let mut facts = BTreeMap::new();
    let mut quotes = BTreeMap::new();
    let first = |i: u32| inputs[i as usize].first_line - 1;
    for (path, fact) in subjects.iter().flat_map(|s| s.facts.iter()) {
        facts.insert(path.to_owned(), fact.value.clone());
        let quote = fact.place.quote.as_deref().unwrap_or_default().to_owned();
        quotes.insert(path.to_owned(), (fact.place.line.map(|l| l + first(fact.place.input)), quote));
    }
    Read { kinds, notes, facts, quotes }
}

/// The data files with their texts.
fn files() -> Vec<(PathBuf, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/smi");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e != "facts"));
    paths.sort();
    paths.into_iter().map(|p| (p.clone(), std::fs::read(p).unwrap())).collect()
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn same(want: &Json, got: &Value) -> bool {
    match (want, got) {
        (Json::Number(a), got) => got.as_f64().is_some_and(|b| (a.as_f64().unwrap() - b).abs() < 1e-9),
        (Json::Array(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::String(a), Value::Text(b)) => a == b,
        (Json::Bool(a), Value::Bool(b)) => a == b,
        _ => false,
    }
}

#[test]
fn each_file_tells_what_stands_beside_it() {
    let mut wrong = Vec::new();
    for (path, bytes) in files() {
        let expected = path.with_extension("facts");
        let Ok(expected) = std::fs::read_to_string(&expected) else {
            assert_eq!(name(&path), "q_h200_580_idle.txt", "expectations are missing");
            continue;
        };
        let r = read(&bytes);
        for line in expected.lines().filter(|l| !l.is_empty()) {
            let ok = if let Some(path) = line.strip_suffix(" absent") {
                !r.facts.contains_key(path)
            } else {
                let (path, want) = line.split_once(" = ").unwrap();
                let want: Json = serde_json::from_str(want).unwrap();
                match path {
                    "kind" => r.kinds == [want.as_str().unwrap()],
                    "note" => r.notes.iter().any(|n| n.contains(want.as_str().unwrap())),
                    path => r.facts.get(path).is_some_and(|g| same(&want, g)),
                }
            };
            if !ok {
                let key = line.split(' ').next().unwrap();
                wrong.push(format!(
                    "{}: {line}\n    read {:?}, {:?}, {:?}",
                    name(&path),
                    r.facts.get(key),
                    r.kinds,
                    r.notes
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_value_is_quoted_with_its_line() {
    for (path, bytes) in files() {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (fact, (line, quote)) in read(&bytes).quotes {
            let n = line.unwrap() as usize;
            if lines[n - 1].contains('\u{1b}') {
                continue;
            }
            let line: String = lines[n - 1].trim().chars().take(240).collect();
            assert!(quote.starts_with(&line), "{}: {fact} quotes line {n} as {quote}", name(&path));
        }
    }
}

/// Wrappings that a text comes in; each must read like the text itself.
#[test]
fn wrapping_changes_nothing() {
    type Wrap = fn(&str) -> Vec<u8>;
    let each = |text: &str, f: fn(&str) -> String| text.lines().map(|l| f(l) + "\n").collect::<String>().into_bytes();
    let wrappings: &[(&str, Wrap)] = &[
        ("CRLF", |t| t.replace('\n', "\r\n").into_bytes()),
        ("UTF-16", |t| [0xff, 0xfe].into_iter().chain(t.encode_utf16().flat_map(u16::to_le_bytes)).collect()),
        ("blanks at line ends", |t| t.replace('\n', "   \n").into_bytes()),
        ("colour", |t| format!("\u{1b}[1m{}", t.replace('\n', "\u{1b}[0m\n\u{1b}[1m")).into_bytes()),
    ];
    let mut wrong = Vec::new();
    for (path, bytes) in files() {
        let text = String::from_utf8(bytes).unwrap();
        let plain = read(text.as_bytes());
        let indented = each(&text, |l| format!("    {l}"));
        let quoted = each(&text, |l| format!("> {l}"));
        let mut all: Vec<(&str, Vec<u8>)> = wrappings.iter().map(|(n, w)| (*n, w(&text))).collect();
        all.push(("indented", indented));
        all.push(("quoted", quoted));
        all.push(("fenced", format!("Here it is:\n```\n{text}\n```\nThanks\n").into_bytes()));
        for (how, bytes) in all {
            let r = read(&bytes);
            if r.kinds != plain.kinds || r.facts != plain.facts {
                let differ: Vec<_> = plain.facts.iter().filter(|(k, v)| r.facts.get(*k) != Some(v)).take(3).collect();
                wrong.push(format!("{} {how}: {:?}, differs in {differ:?}", name(&path), r.kinds));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Web forms and chats take the indentation away.
#[test]
fn q_reads_without_its_indentation() {
    for (path, bytes) in files().into_iter().filter(|(p, _)| name(p).starts_with("q_")) {
        let text = String::from_utf8(bytes).unwrap();
        let plain = read(text.as_bytes());
        let flat: String = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect();
        let r = read(flat.as_bytes());
        for (fact, value) in &r.facts {
            assert_eq!(plain.facts.get(fact).map(squeezed), Some(squeezed(value)), "{}: {fact}", name(&path));
        }
        // Without the indentation nothing tells where the list of MIG devices ends.
        let told = |k: &&String| !r.facts.contains_key(*k) && !k.ends_with("mig_device_count");
        let lost: Vec<_> = plain.facts.keys().filter(told).collect();
        assert!(lost.len() * 20 <= plain.facts.len(), "{}: lost {lost:?}", name(&path));
    }
}

/// A text without doubled blanks.
fn squeezed(v: &Value) -> Value {
    match v {
        Value::Text(t) => Value::Text(t.split_whitespace().collect::<Vec<_>>().join(" ")),
        other => other.clone(),
    }
}
