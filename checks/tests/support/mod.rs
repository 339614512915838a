//! Turns a case of a case file into facts, and compares a finding with what the case expects.
#![allow(dead_code, reason = "each test binary uses a part of it")]

mod trace;

use checks::catalogue::Case;
use checks::fact::Fact;
use checks::report::Finding;
use checks::{Facts, Intake, Place, Settings, Trust, Value, evaluate, keys};

/// The facts of a case: its `input` blocks through intake, its `facts` lines on top.
pub(crate) fn facts(case: &Case) -> Result<Facts, String> {
    let mut intake = Intake::new();
    for (name, text) in &case.inputs {
        intake.add(name, text.as_bytes());
    }
    for (name, text) in &case.traces {
        intake.add(name, trace::json(text)?.as_bytes());
    }
    let (inputs, mut subjects) = intake.finish();
    if let Some(i) = inputs.iter().find(|i| i.kind == "unknown") {
        return Err(format!("input {} is not recognised", i.name));
    }
    if subjects.len() != 1 {
        return Err(format!("the inputs are {} subjects", subjects.len()));
    }
    let mut facts = subjects.remove(0).facts;
    for (n, line) in case.facts.iter().enumerate() {
        let (path, fact) = fact(line, inputs.len(), n)?;
        facts.insert(path, fact);
    }
    Ok(facts)
}

/// One `path = JSON value` line: the path must be a key of `keys.rs`, the value of the key's type; `env.NAME` is text.
fn fact(line: &str, input: usize, n: usize) -> Result<(String, Fact), String> {
    let (path, json) = line.split_once(" = ").ok_or_else(|| format!("not `path = value`: {line}"))?;
    let (path, json) = (path.trim(), json.trim());
    let pattern = pattern(path);
    if path.starts_with("env.") {
        let value = Value::Text(serde_json::from_str(json).map_err(|e| format!("{path}: {e}"))?);
        let place = Place::line(u32::try_from(input).unwrap_or(0), u32::try_from(n + 1).unwrap_or(1), line);
        return Ok((path.to_owned(), Fact { value, unit: "", trust: Trust::Live, place }));
    }
    let (_, unit, _) =
        keys::ALL.iter().find(|(p, _, _)| *p == pattern).ok_or_else(|| format!("no key has the path {pattern}"))?;
    let (_, ty) = keys::TYPES.iter().find(|(p, _)| *p == pattern).ok_or("a key without a type")?;
    let value: Value = serde_json::from_str(json).map_err(|e| format!("{path}: {e}"))?;
    let fits = match *ty {
        "bool" => matches!(value, Value::Bool(_)),
        "i64" => matches!(value, Value::Int(_)),
        "f64" => value.as_f64().is_some(),
        "String" => matches!(value, Value::Text(_)),
        _ => matches!(value, Value::List(_)),
    };
    if !fits {
        return Err(format!("{path} is of type {ty}, not {json}"));
    }
    let input = u32::try_from(input).map_err(|e| e.to_string())?;
    let line_no = u32::try_from(n + 1).map_err(|e| e.to_string())?;
    Ok((path.to_owned(), Fact { value, unit, trust: Trust::Live, place: Place::line(input, line_no, line) }))
}

/// `gpu[3].name` as `gpu[].name`.
fn pattern(path: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in path.chars() {
        match c {
            '[' => {
                inside = true;
                out.push(c);
            }
            ']' => {
                inside = false;
                out.push(c);
            }
            _ if !inside => out.push(c),
            _ => {}
        }
    }
    out
}

/// The finding of a check for a case.
pub(crate) fn finding(id: &str, case: &Case) -> Result<Finding, String> {
    let report = evaluate(&facts(case)?, &Settings::default());
    report.finding(id).cloned().ok_or_else(|| format!("no finding of {id}"))
}

/// What differs between a finding and the case's `expect` block; empty if nothing does.
pub(crate) fn differences(finding: &Finding, expect: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    let Some((verdict, rest)) = expect.split_first() else { return vec!["nothing is expected".into()] };
    if finding.verdict.id() != verdict.trim() {
        out.push(format!("verdict is {}, not {verdict}", finding.verdict.id()));
    }
    for line in rest {
        let Some((key, want)) = line.split_once(": ") else {
            out.push(format!("not `key: value`: {line}"));
            continue;
        };
        let want = want.trim();
        let near = |have: Option<f64>| {
            want.parse::<f64>().is_ok_and(|w| have.is_some_and(|h| (h - w).abs() < 5e-4 + 1e-3 * w.abs()))
        };
        let ok = match key {
            "message" => finding.message.contains(want),
            "not-message" => !finding.message.contains(want),
            "missing" => finding.missing.iter().any(|m| m == want),
            "evidence" => finding.evidence.iter().any(|e| e.fact == want),
            "quote" => finding.evidence.iter().any(|e| e.quote.as_deref().is_some_and(|q| q.contains(want))),
            "recoverable" => near(finding.recoverable_share),
            "cost" => near(finding.cost_share),
            "confidence" => format!("{:?}", finding.confidence).to_lowercase() == want,
            "fix" => finding
                .fix
                .iter()
                .flat_map(|f| &f.steps)
                .any(|s| s.text.contains(want) || s.command.as_deref().is_some_and(|c| c.contains(want))),
            _ => {
                out.push(format!("unknown expectation {key}"));
                continue;
            }
        };
        if !ok {
            out.push(format!("{line} does not hold"));
        }
    }
    out
}

/// What every finding must have, whatever it says.
pub(crate) fn malformed(f: &Finding) -> Vec<String> {
    let mut out = Vec::new();
    let mut claim = |ok: bool, text: &str| {
        if !ok {
            out.push(text.to_owned());
        }
    };
    claim(!f.message.trim().is_empty(), "no message");
    claim(f.message.ends_with('.') || f.message.ends_with('"') || f.message.ends_with(')'), "message has no full stop");
    claim(!f.message.contains('!'), "exclamation mark");
    claim(!f.message.contains("NaN") && !f.message.contains("inf "), "a number is not finite");
    claim(!f.message.contains("-0 ") && !f.message.contains("-0.0 "), "negative zero");
    if f.verdict.is_problem() {
        claim(!f.evidence.is_empty(), "a problem without evidence");
        match &f.fix {
            None => claim(false, "a problem without a fix"),
            Some(fix) => {
                claim(!fix.steps.is_empty(), "a fix without steps");
                claim(fix.steps.iter().all(|s| s.text.ends_with('.')), "a fix step has no full stop");
                claim(!fix.verify.command.is_empty() && !fix.verify.expect.is_empty(), "a fix that cannot be verified");
            }
        }
    }
    claim(f.cost_share.is_none_or(|c| (0.0..=1.0).contains(&c)), "cost share is not a share");
    claim(f.recoverable_share.is_none_or(|c| (0.0..=1.0).contains(&c)), "recoverable share is not a share");
    out
}
