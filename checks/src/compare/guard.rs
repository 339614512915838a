//! The same-work guard: which differences between two runs forbid a comparison, which are the fix itself, and which are
//! only worth listing.
//!
//! It compares what was recorded. What one side did not record is said to be unknown, never equal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fact::{Facts, Value};
use crate::keys;
use crate::record::StepSeries;
use crate::report::Report;

/// What a difference means for the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// Other work: no verdict.
    Invalid,
    /// The fix turns this knob: listed.
    Knob,
    /// Could explain the change: listed.
    Differs,
    /// Recorded on one side only.
    Unknown,
    /// Equal on both sides.
    Same,
}

/// One compared property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// What, in a word or two.
    pub name: String,
    /// Value of the first side.
    pub a: Option<String>,
    /// Value of the second side.
    pub b: Option<String>,
    /// What the difference means.
    pub means: Means,
}

/// Properties that make two runs the same work, and the knob that may turn them.
const WORK: &[(&str, Option<&str>)] = &[
    ("world size", None),
    ("batch", Some("batch")),
    ("sequence length", None),
    ("precision", Some("precision")),
    ("model size", None),
    ("dataset", None),
    ("accumulation", Some("accumulation")),
    ("step definition", None),
];

/// Properties that may explain a change, the likeliest first.
const SETTINGS: &[(&str, Option<&str>)] = &[
    ("loader workers", Some("workers")),
    ("prefetch factor", Some("workers")),
    ("persistent workers", Some("workers")),
    ("pinned memory", Some("pinning")),
    ("GPU", None),
    ("power limit", None),
    ("PyTorch", None),
    ("CUDA of PyTorch", None),
    ("driver", None),
    ("CPUs", None),
    ("node", None),
];

/// Which knobs the fixes of a report's findings turn.
#[must_use]
pub fn knobs(report: &Report) -> Vec<&'static str> {
    let mut out = Vec::new();
    for f in report.findings.iter().filter(|f| f.verdict.is_problem()) {
        let turned: &[&str] = match f.id.as_str() {
            "compute/precision-policy" | "compute/tensor-core-use" => &["precision"],
            "compute/launch-bound" | "compute/short-kernels" | "compute/activity-truth" | "compute/launch-geometry" => {
                &["batch", "accumulation", "precision"]
            }
            "memory/pageable-copies" | "memory/h2d-exposed" => &["pinning", "workers"],
            id if id.starts_with("pipeline/") => &["workers", "pinning"],
            _ => &[],
        };
        out.extend_from_slice(turned);
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// Compares what was recorded about two runs. `knobs` are those that the linked finding's fix turns.
#[must_use]
pub fn guard(a: &Facts, b: &Facts, knobs: &[&str]) -> Vec<Compared> {
    let (pa, pb) = (properties(a), properties(b));
    let mut out = Vec::new();
    for (invalid, list) in [(true, WORK), (false, SETTINGS)] {
        for (name, knob) in list {
            let (va, vb) = (pa.get(name).cloned(), pb.get(name).cloned());
            let means = match (&va, &vb) {
                (None, None) => continue,
                (Some(x), Some(y)) if x == y => Means::Same,
                (Some(_), Some(_)) if knob.is_some_and(|k| knobs.contains(&k)) => Means::Knob,
                (Some(_), Some(_)) if invalid => Means::Invalid,
                (Some(_), Some(_)) => Means::Differs,
                _ => Means::Unknown,
            };
            out.push(Compared { name: (*name).to_owned(), a: va, b: vb, means });
        }
    }
    out
}

fn properties(f: &Facts) -> BTreeMap<&'static str, String> {
    let mut out = BTreeMap::new();
    let mut put = |k: &'static str, v: Option<String>| {
        if let Some(v) = v {
            out.insert(k, v);
        }
    };
    let series: Option<&StepSeries> = f.steps.first();
    let setting = |names: &[&str]| series.and_then(|s| names.iter().find_map(|n| s.settings.get(*n))).map(plain);
    let loader = series.and_then(|s| s.loaders.first());
    put("world size", series.and_then(|s| s.world).map(|w| w.to_string()));
    put("batch", setting(&["batch", "batch_size"]).or_else(|| loader.and_then(|l| l.batch).map(|b| b.to_string())));
    put("sequence length", setting(&["seq_len", "sequence_length"]));
    let precision: Vec<String> = ["autocast", "matmul_precision", "dtype", "precision"]
        .iter()
        .filter_map(|n| Some(format!("{n} {}", plain(series?.settings.get(*n)?))))
        .collect();
    put("precision", (!precision.is_empty()).then(|| precision.join(", ")));
    put("model size", setting(&["parameters", "model_parameters"]));
    put("dataset", setting(&["dataset"]));
    put("accumulation", setting(&["accumulation", "gradient_accumulation_steps"]).or_else(|| micro(series)));
    put("step definition", setting(&["step_definition"]));
    put("loader workers", loader.and_then(|l| l.num_workers).map(|n| n.to_string()));
    put("prefetch factor", loader.and_then(|l| l.prefetch_factor).map(|n| n.to_string()));
    put("persistent workers", loader.and_then(|l| l.persistent_workers).map(|n| n.to_string()));
    put("pinned memory", loader.and_then(|l| l.pin_memory).map(|n| n.to_string()));
    put("GPU", f.get(&keys::GPU_NAME, &[0]).map(|k| k.value));
    put("power limit", f.get(&keys::GPU_POWER_LIMIT, &[0]).map(|k| format!("{:.0} W", k.value)));
    put("PyTorch", f.get(&keys::TORCH, &[]).map(|k| k.value));
    put("CUDA of PyTorch", f.get(&keys::CUDA_BUILD, &[]).map(|k| k.value));
    put("driver", f.get(&keys::DRIVER, &[]).map(|k| k.value));
    put("CPUs", f.get(&keys::CPU_COUNT, &[]).map(|k| k.value.to_string()));
    put("node", series.and_then(|s| s.host.clone()));
    out
}

/// Micro batches a step, if every step has the same number.
fn micro(series: Option<&StepSeries>) -> Option<String> {
    let mut all = series?.steps.iter().map(|s| s.n_micro);
    let first = all.next()??;
    all.all(|n| n == Some(first)).then(|| first.to_string())
}

fn plain(v: &Value) -> String {
    v.to_string()
}
