//! Raw files → reports, through `checks`, in the form that the store keeps.

use std::io::{self, Read};

use checks::intake::Intake;
use checks::report::SubjectId;
use checks::{Facts, Report, Settings, evaluate as judge, keys, series};

use crate::packed;
use crate::store::{Body, MadeSubject};

/// Reads files and judges what they tell: one report a host, at least one.
pub(super) fn evaluate(files: Vec<(String, Box<dyn Read + Send>)>) -> io::Result<Vec<MadeSubject>> {
    let mut intake = Intake::new();
    for (name, reader) in files {
        intake.add(&name, reader);
    }
    let (inputs, subjects) = intake.finish();
    let settings = Settings { with_facts: true, ..Settings::default() };
    subjects
        .into_iter()
        .map(|s| {
            let report = Report { inputs: inputs.clone(), ..judge(&s.facts, &settings) };
            made(s.id, &s.facts, report)
        })
        .collect()
}

fn made(id: SubjectId, facts: &Facts, mut report: Report) -> io::Result<MadeSubject> {
    // Node, run and time stand in the report's row, so that reports which say the same share one body.
    report.subject = SubjectId::default();
    let (packed, report_hash) = packed::pack(&report)?;
    let (lanes, lanes_hash) = packed::pack(&series::lanes(facts))?;
    let mut both = blake3::Hasher::new();
    both.update(report_hash.as_bytes()).update(lanes_hash.as_bytes());
    let firing = report.findings.iter().filter(|f| f.verdict.is_problem());
    Ok(MadeSubject {
        node: id.node,
        run: id.run,
        taken_ms: id.taken_ms,
        firing: firing
            .map(|f| (f.id.clone(), f.verdict.id().to_owned(), f.recoverable_share, f.message.clone()))
            .collect(),
        body: Body {
            hash: both.finalize().to_hex().to_string(),
            brief: serde_json::to_string(&report.summary())?,
            report: packed,
            lanes,
            gpus: gpus(facts),
            driver: facts.get(&keys::DRIVER, &[]).map(|d| d.value),
            win_share: report.headline.recoverable_share,
        },
    })
}

/// "8 × NVIDIA H200", "1 × A + 1 × B"; `None` if no GPU is known by name.
fn gpus(facts: &Facts) -> Option<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for i in facts.gpus() {
        let Some(name) = facts.get(&keys::GPU_NAME, &[i]) else { continue };
        match counts.iter_mut().find(|(n, _)| *n == name.value) {
            Some((_, n)) => *n += 1,
            None => counts.push((name.value, 1)),
        }
    }
    let parts: Vec<String> = counts.into_iter().map(|(name, n)| format!("{n} × {name}")).collect();
    (!parts.is_empty()).then(|| parts.join(" + "))
}
