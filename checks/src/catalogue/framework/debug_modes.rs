//! # What it looks for
//! Debugging modes of the framework that were left on: anomaly detection, deterministic algorithms, blocking launches,
//! synchronous debugging.
//!
//! # Why it wastes the GPU
//! Anomaly detection records a stack for every operator and checks every gradient for NaN, which waits for the GPU each
//! time. Deterministic algorithms replace fast kernels by slow ones.
//!
//! # Confirm by hand
//! `torch.is_anomaly_enabled()`, `torch.are_deterministic_algorithms_enabled()` inside the training process.
//!
//! # Fix
//! Switch them off after the hunt; keep determinism only where it is wanted.
//!
//! # Limits
//! Seen where the step timings carry the process's settings. Determinism may be intended, so it is worth knowing only.
//!
//! # References
//! PyTorch documentation: autograd.set_detect_anomaly ("should be enabled only for debugging"), reproducibility notes.

use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::fact::Value;
use crate::record::StepSeries;
use crate::report::{Applicability, Evidence, Fix, Tag};

crate::check! {
    id: "framework/debug-modes", layer: Framework, title: "A debugging mode of the framework is on", severity: High,
    core: true, minutes: 2, evidence: [Steps, Trace],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let told: Vec<&StepSeries> = cx.facts.steps.iter().filter(|s| knows(s)).collect();
    if told.is_empty() {
        return Err(Missing::other("the training process's settings, which step timings carry"));
    }
    let (mut grave, mut known, mut evidence) = (Vec::new(), Vec::new(), Vec::new());
    for s in &told {
        let mut say = |name: &str, to: &mut Vec<String>, text: &str, expected: &str| {
            if on(s, name) && !to.iter().any(|t| t == text) {
                to.push(text.to_owned());
                evidence.push(place(s, name, expected));
            }
        };
        say("anomaly", &mut grave, "anomaly detection is on", "off");
        say("launch_blocking", &mut grave, "every launch waits for its kernel (CUDA_LAUNCH_BLOCKING)", "unset");
        say("deterministic", &mut known, "deterministic algorithms are on", "on only where wanted");
    }
    let verdict = if !grave.is_empty() {
        Verdict::fail(format!("In the training process {}.", grave.join(", and ")))
    } else if !known.is_empty() {
        Verdict::info(format!("In the training process {}: slower kernels by choice.", known.join(", ")))
    } else {
        return Ok(Verdict::pass("The training process has no debugging mode on."));
    };
    Ok(verdict.with(evidence))
}

fn knows(s: &StepSeries) -> bool {
    ["anomaly", "deterministic", "launch_blocking"].iter().any(|k| s.settings.contains_key(*k))
}

fn on(s: &StepSeries, name: &str) -> bool {
    match s.settings.get(name) {
        Some(Value::Bool(b)) => *b,
        Some(Value::Text(t)) => t == "1" || t.eq_ignore_ascii_case("true"),
        Some(Value::Int(i)) => *i != 0,
        _ => false,
    }
}

fn place(s: &StepSeries, name: &str, expected: &str) -> Evidence {
    Evidence {
        fact: format!("settings.{name}"),
        value: s.settings.get(name).cloned(),
        unit: String::new(),
        expected: Some(expected.to_owned()),
        input: Some(s.input),
        line: s.meta_line,
        quote: s.meta_quote.clone(),
    }
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Switch anomaly detection off.", "torch.autograd.set_detect_anomaly(False)", &[Tag::RestartsJob]),
            cmd("Take the variable out of the job's environment.", "unset CUDA_LAUNCH_BLOCKING", &[Tag::RestartsJob]),
            step("Keep the switch in one place, with a line in the log when it is on.", &[]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("sextant run -- python train.py", "a shorter step"),
    }
}
