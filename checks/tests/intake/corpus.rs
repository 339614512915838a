//! The real files beside the repository, where they are there: kinds and facts as their labels say.

use checks::Value;
use serde_json::Value as Json;

use crate::common::{corpus, read};

/// Kinds that this test answers for.
const KINDS: &[&str] = &[
    "dmesg",
    "collect_env",
    "lspci",
    "nvidia-bug-report",
    "xorg",
    "glxinfo",
    "fabricmanager",
    "proc-modules",
    "proc-driver-nvidia",
];

/// Labels that describe a file in words of their own and are no facts: they are compared by other tests or by people.
const DESCRIPTIVE: &[&str] = &[
    "lines",
    "peermem_invalid_context",
    "segfaults_in_libnccl",
    "process",
    "pid",
    "xid_events",
    "xid_counts",
    "pci",
    "oom_kills",
    "hardware",
    "xid109_pid",
    "xid109_name",
    "nonzero_domain",
    "fatal",
    "cpu_name",
];

#[test]
fn labelled_files_read_as_labelled() {
    let Some(folder) = corpus() else { return };
    let labels: Vec<Json> = serde_json::from_slice(&std::fs::read(folder.join("labels.json")).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for label in labels.iter().filter(|l| KINDS.contains(&l["kind"].as_str().unwrap())) {
        let file = label["file"].as_str().unwrap();
        let r = read(file, std::fs::read(folder.join(file)).unwrap());
        if !r.kinds().contains(&label["kind"].as_str().unwrap()) {
            wrong.push(format!("{file}: read as {:?}", r.kinds()));
        }
        for (path, want) in label["facts"].as_object().unwrap() {
            if DESCRIPTIVE.contains(&path.as_str()) {
                continue;
            }
            // The label's name of what is `module.version` everywhere else.
            let path = if path == "loaded_kernel_module" { "module.version" } else { path };
            let got = r.value(path);
            if !same(want, got.as_ref()) {
                wrong.push(format!("{file}: {path} is {want}, read as {got:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn same(want: &Json, got: Option<&Value>) -> bool {
    match (want, got) {
        (Json::Null, None) => true,
        (Json::Null, _) | (_, None) => false,
        (Json::Number(n), Some(v)) => v.as_f64().is_some_and(|v| (v - n.as_f64().unwrap()).abs() < 1e-6),
        (Json::Array(a), Some(Value::List(l))) => {
            let text = |v: &Json| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
            a.iter().map(text).eq(l.iter().map(ToString::to_string))
        }
        (Json::Bool(b), Some(Value::Bool(v))) => b == v,
        (Json::String(s), Some(v)) => s.eq_ignore_ascii_case(&v.to_string()),
        _ => false,
    }
}
