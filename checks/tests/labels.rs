//! Every labelled fact of the reference corpus, compared with what the intake reads. The corpus lies beside the
//! repository; where it does not, there is nothing to compare.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use checks::Intake;
use checks::fact::Value;
use serde_json::Value as Json;

/// Kinds whose labelled facts are all compared here.
const KINDS: &[&str] = &[
    "nvidia-smi-q",
    "nvidia-smi-xml",
    "nvidia-smi-table",
    "nvidia-smi-csv",
    "nvidia-smi-topo",
    "nvidia-smi-nvlink",
    "nvidia-smi-dmon",
    "nvidia-smi-pmon",
    "dcgmi-dmon",
    "dcgmi-diag",
];

fn corpus() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    dir.join("labels.json").exists().then_some(dir)
}

/// Facts and kinds that the intake reads from a file.
fn read(path: &Path) -> (BTreeMap<String, Value>, Vec<String>) {
    let bytes = std::fs::read(path).expect("a file that the labels name");
    let mut intake = Intake::new();
    intake.add("file", bytes.as_slice());
    let kinds = intake.inputs().iter().map(|i| i.kind.clone()).collect();
    let (_, subjects) = intake.finish();
    let facts = subjects
        .into_iter()
        .flat_map(|s| s.facts.iter().map(|(p, f)| (p.to_owned(), f.value.clone())).collect::<Vec<_>>());
    (facts.collect(), kinds)
}

fn same(want: &Json, got: &Value) -> bool {
    match (want, got) {
        (Json::Number(a), got) => {
            let (Some(a), Some(b)) = (a.as_f64(), got.as_f64()) else { return false };
            (a - b).abs() <= 1e-6 * a.abs().max(1.0)
        }
        (Json::Array(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::String(a), Value::Text(b)) => a == b,
        (Json::Bool(a), Value::Bool(b)) => a == b,
        _ => false,
    }
}

#[test]
fn every_labelled_fact_is_read() {
    let Some(dir) = corpus() else { return };
    let text = std::fs::read_to_string(dir.join("labels.json")).expect("labels");
    let labels: Vec<Json> = serde_json::from_str(&text).expect("labels are JSON");
    let mut wrong = Vec::new();
    let mut compared = 0;
    for label in &labels {
        let (Some(kind), Some(file)) = (label["kind"].as_str(), label["file"].as_str()) else { continue };
        if !KINDS.contains(&kind) {
            continue;
        }
        let (facts, kinds) = read(&dir.join(file));
        if !kinds.iter().any(|k| k == kind) {
            wrong.push(format!("{file}: is {kind}, taken for {kinds:?}"));
        }
        for (path, want) in label["facts"].as_object().into_iter().flatten() {
            compared += 1;
            let got = facts.get(path);
            let ok = if want.is_null() { got.is_none() } else { got.is_some_and(|g| same(want, g)) };
            if !ok {
                wrong.push(format!("{file}: {path} is {want}, read as {got:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{compared} facts compared, wrong:\n{}", wrong.join("\n"));
    assert!(compared > 100, "only {compared} facts compared");
}
