//! From facts to a report: runs every check, decides layer states, provisional marks, the order of findings, the headline
//! and what to look at next.
//!
//! Pure and total: the same facts and settings give the same report, and no facts at all give a report of unknowns.
//! It does not know any single check, except through the catalogue's own fields.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::catalogue;
use crate::check::{Check, Ctx, Missing};
use crate::fact::Facts;
use crate::report::{
    Confidence, FactOut, Finding, Headline, Layer, LayerState, Level, Report, SCHEMA, StepBreakdown, SubjectId,
};
use crate::settings::Settings;
use crate::{keys, next, step, work};

/// A symptom that only routes to others and takes less than this share of the step is `info`.
const SYMPTOM_MIN_SHARE: f64 = 0.01;
/// From this share of the step on, another finding is the cause that a symptom points to (as pipeline/loader-wait warns).
const CAUSE_MIN_SHARE: f64 = 0.05;
/// From this share of the step on, a run without findings is described by its computing.
const COMPUTING_SHARE: f64 = 0.80;

/// Runs the whole catalogue over the facts of one subject.
#[must_use]
pub fn evaluate(facts: &Facts, settings: &Settings) -> Report {
    let checks = catalogue::all();
    let mut findings: Vec<Finding> = checks.iter().map(|c| judge(c, facts, settings)).collect();
    explain(checks, &mut findings);
    let layers = layers(checks, &findings);
    mark_provisional(&mut findings, &layers);
    order(&mut findings);
    let step = step::breakdown(facts);
    let headline = headline(facts, &findings, step.as_ref());
    Report {
        schema: SCHEMA,
        catalogue: crate::CATALOGUE_VERSION.to_owned(),
        subject: SubjectId::default(),
        inputs: Vec::new(),
        headline,
        layers,
        next_evidence: next::evidence(facts, checks, &findings),
        findings,
        step,
        work: work::summary(facts),
        facts: settings.with_facts.then(|| list_facts(facts)),
        overridden: overridden(checks, settings),
        notes: Vec::new(),
    }
}

fn judge(check: &'static Check, facts: &Facts, settings: &Settings) -> Finding {
    let cx = Ctx { facts, settings, check: check.id };
    let mut finding = Finding {
        id: check.id.to_owned(),
        layer: check.layer,
        verdict: Level::Unknown,
        provisional: false,
        confidence: Confidence::High,
        title: check.title.to_owned(),
        message: String::new(),
        cost_share: None,
        recoverable_share: None,
        evidence: Vec::new(),
        fix: None,
        missing: Vec::new(),
    };
    match (check.run)(&cx) {
        Ok(v) => {
            finding.verdict = v.level;
            if check.routes && v.level.is_problem() && v.cost_share.is_some_and(|c| c < SYMPTOM_MIN_SHARE) {
                finding.verdict = Level::Info;
            }
            finding.confidence = v.confidence;
            finding.message = v.message;
            finding.cost_share = v.cost_share;
            finding.recoverable_share = v.recoverable_share;
            finding.evidence = v.evidence;
            if finding.verdict.is_problem() {
                finding.fix = Some((check.fix)(&cx));
            }
        }
        Err(Missing { facts, needs, .. }) => {
            finding.message = format!("Cannot say yet: needs {needs}.");
            finding.missing = facts;
        }
    }
    finding
}

/// A finding that another one explains is worth knowing, but it is not a second problem.
fn explain(checks: &[&'static Check], findings: &mut [Finding]) {
    let problems: Vec<&str> =
        checks.iter().zip(&*findings).filter(|(_, f)| f.verdict.is_problem()).map(|(c, _)| c.id).collect();
    for (check, finding) in checks.iter().zip(&mut *findings) {
        let Some(parent) = check.under.iter().find(|p| problems.contains(*p)) else { continue };
        if finding.verdict.is_problem() {
            finding.verdict = Level::Info;
            finding.fix = None;
            finding.message.push_str(&format!(" It is part of {parent}."));
        }
    }
    soften_symptoms(checks, findings);
}

/// A symptom that only routes never makes its own layer the place to start while a cause that costs time is known.
fn soften_symptoms(checks: &[&'static Check], findings: &mut [Finding]) {
    let routes = |f: &Finding| checks.iter().any(|c| c.id == f.id && c.routes);
    let cause = findings
        .iter()
        .filter(|f| f.verdict.is_problem() && f.cost_share.is_some_and(|c| c >= CAUSE_MIN_SHARE) && !routes(f))
        .max_by(|a, b| a.cost_share.unwrap_or(0.0).total_cmp(&b.cost_share.unwrap_or(0.0)))
        .map(|f| f.id.clone());
    let Some(cause) = cause else { return };
    for f in findings.iter_mut().filter(|f| f.verdict == Level::Fail && routes(f)) {
        f.verdict = Level::Warn;
        f.message.push_str(&format!(" The time goes to {cause}."));
    }
}

fn layers(checks: &[&'static Check], findings: &[Finding]) -> Vec<LayerState> {
    Layer::ALL
        .into_iter()
        .map(|id| {
            let of: Vec<(&&Check, &Finding)> = checks.iter().zip(findings).filter(|(c, _)| c.layer == id).collect();
            let total = of.iter().filter(|(_, f)| f.verdict != Level::NotApplicable).count();
            let measured =
                of.iter().filter(|(_, f)| !matches!(f.verdict, Level::NotApplicable | Level::Unknown)).count();
            let core = of.iter().any(|(c, f)| c.core && !matches!(f.verdict, Level::NotApplicable | Level::Unknown));
            let worst = [Level::Fail, Level::Warn, Level::Info, Level::Pass]
                .into_iter()
                .find(|l| of.iter().any(|(_, f)| f.verdict == *l));
            let status = match worst {
                Some(l @ (Level::Fail | Level::Warn)) => l,
                Some(l) if core => l,
                _ if total == 0 && !of.is_empty() => Level::NotApplicable,
                _ => Level::Unknown,
            };
            LayerState { id, status, measured, total }
        })
        .collect()
}

/// Findings above a failing or unmeasured layer hold, but their rank may change.
fn mark_provisional(findings: &mut [Finding], layers: &[LayerState]) {
    let Some(gate) = layers.iter().find(|l| matches!(l.status, Level::Fail | Level::Unknown)).map(|l| l.id) else {
        return;
    };
    for f in findings {
        f.provisional = f.layer > gate;
    }
}

fn order(findings: &mut [Finding]) {
    let group = |f: &Finding| match f.verdict {
        Level::Warn | Level::Fail => 0,
        Level::Info => 1,
        Level::Unknown => 2,
        Level::Pass => 3,
        Level::NotApplicable => 4,
    };
    // A symptom that only routes stands after its causes, whatever it costs.
    let routes = |f: &Finding| catalogue::find(&f.id).is_some_and(|c| c.routes);
    let desc = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => b.partial_cmp(&a).unwrap_or(Ordering::Equal),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    findings.sort_by(|a, b| {
        group(a)
            .cmp(&group(b))
            .then_with(|| if group(a) == 0 { routes(a).cmp(&routes(b)) } else { Ordering::Equal })
            .then_with(|| desc(a.recoverable_share, b.recoverable_share))
            .then_with(|| desc(a.cost_share, b.cost_share))
            .then_with(|| (a.verdict != Level::Fail).cmp(&(b.verdict != Level::Fail)))
            .then_with(|| a.layer.cmp(&b.layer))
            .then_with(|| a.id.cmp(&b.id))
    });
}

fn headline(facts: &Facts, findings: &[Finding], step: Option<&StepBreakdown>) -> Headline {
    let plain = |text: String| Headline { layer: None, check: None, text, recoverable_share: None };
    if let Some(f) = findings.first().filter(|f| f.verdict.is_problem()) {
        return Headline {
            layer: Some(f.layer),
            check: Some(f.id.clone()),
            text: f.message.clone(),
            recoverable_share: f.recoverable_share,
        };
    }
    if facts.is_empty() {
        return plain("Nothing could be read.".into());
    }
    if no_gpu(facts) {
        return plain("This node has no NVIDIA GPU, so there is nothing here that could be under-used.".into());
    }
    let measured = findings.iter().filter(|f| !matches!(f.verdict, Level::Unknown | Level::NotApplicable)).count();
    if measured == 0 {
        return plain("Cannot say yet: nothing here decides a check.".into());
    }
    let unknown = findings.iter().filter(|f| f.verdict == Level::Unknown).count();
    let checks = if measured == 1 { "1 check was measured".into() } else { format!("{measured} checks were measured") };
    let counts = format!("{checks}, {unknown} cannot be said yet");
    let busy = step.and_then(|s| Some(s.ms.compute? / s.mean_ms)).filter(|c| *c >= COMPUTING_SHARE);
    plain(match busy {
        Some(share) => format!(
            "The GPU computes during {:.0} % of every step, and nothing to fix was found: {counts}.",
            share * 100.0
        ),
        None if step.is_some() => format!("Nothing to fix was found in this run: {counts}."),
        None => format!("Nothing to fix was found: {counts}."),
    })
}

/// The PCI bus was looked at and has no NVIDIA GPU, and there is no other way in which one shows itself (WSL2 has none
/// on its bus).
pub(crate) fn no_gpu(facts: &Facts) -> bool {
    let paravirtual = [keys::WSL2, keys::DXG].iter().any(|k| facts.get(k, &[]).is_some_and(|f| f.value));
    facts.get(&keys::PCI_GPU_COUNT, &[]).is_some_and(|n| n.value == 0) && facts.gpus().is_empty() && !paravirtual
}

fn list_facts(facts: &Facts) -> Vec<FactOut> {
    facts
        .iter()
        .map(|(path, f)| FactOut {
            path: path.to_owned(),
            value: f.value.clone(),
            unit: f.unit.to_owned(),
            input: f.place.input,
            line: f.place.line,
        })
        .collect()
}

/// The overrides that name an existing threshold.
fn overridden(checks: &[&'static Check], settings: &Settings) -> BTreeMap<String, f64> {
    let exists = |name: &str| checks.iter().any(|c| c.limits.iter().any(|l| format!("{}.{}", c.id, l.name) == name));
    settings.limits.iter().filter(|(k, _)| exists(k)).map(|(k, v)| (k.clone(), *v)).collect()
}
