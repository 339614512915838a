//! Our own JSON-lines formats: step timings v1 and samples v1. Unknown keys are ignored, absent keys stay absent, a
//! broken line is a note.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Part;
use crate::fact::{Place, Trust, Value};
use crate::keys;
use crate::record::{Gpm, Loader, Sample, SampleSeries, SampledGpu, Step, StepSeries};

/// Step lines whose raw text is kept for quoting: the slowest loads of a run.
const QUOTES: usize = 16;

#[derive(Deserialize)]
struct Kinded<'a> {
    #[serde(borrow)]
    kind: Option<std::borrow::Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Meta {
    host: Option<String>,
    rank: Option<i64>,
    world: Option<i64>,
    pid: Option<i64>,
    torch: Option<String>,
    cuda: Option<String>,
    perf_ns: Option<i64>,
    wall_ns: Option<i64>,
    loaders: Vec<Loader>,
    settings: BTreeMap<String, serde_json::Value>,
    cpus: Option<i64>,
    hz: Option<f64>,
    gpus: Vec<SampledGpu>,
    run: Option<String>,
}

fn first_kinds(head: &str) -> impl Iterator<Item = String> + '_ {
    head.lines()
        .filter(|l| l.trim_start().starts_with('{'))
        .take(20)
        .filter_map(|l| Some(serde_json::from_str::<Kinded<'_>>(l).ok()?.kind?.into_owned()))
}

pub(super) fn looks_like_steps(head: &str) -> bool {
    let meta = || head.contains("\"loaders\"") || head.contains("\"perf_ns\"") || head.contains("\"local_rank\"");
    first_kinds(head).any(|k| k == "step") || (first_kinds(head).any(|k| k == "meta") && meta())
}

pub(super) fn looks_like_samples(head: &str) -> bool {
    let meta = || head.contains("\"gpus\"") && head.contains("\"hz\"");
    first_kinds(head).any(|k| k == "sample") || (first_kinds(head).any(|k| k == "meta") && meta())
}

/// Lines that are JSON objects, with their numbers and kinds; broken ones become notes.
fn records<'t>(text: &'t str, part: &mut Part) -> Vec<(u32, &'t str, String)> {
    let mut out = Vec::new();
    let mut broken: Vec<u32> = Vec::new();
    for (n, line) in (1u32..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str::<Kinded<'_>>(line) {
            Ok(Kinded { kind: Some(kind) }) => out.push((n, line, kind.into_owned())),
            _ => broken.push(n),
        }
    }
    if let Some(first) = broken.first() {
        part.note(Some(*first), format!("{} line(s) are not records of this format and were left out.", broken.len()));
    }
    out
}

pub(super) fn steps(text: &str, part: &mut Part) {
    let mut series = StepSeries { input: part.input, ..StepSeries::default() };
    let mut lines: Vec<(u32, &str)> = Vec::new();
    for (n, line, kind) in records(text, part) {
        match kind.as_str() {
            "meta" => {
                let Ok(m) = serde_json::from_str::<Meta>(line) else {
                    part.note(Some(n), "The meta record could not be read.");
                    continue;
                };
                if let Some(t) = &m.torch {
                    part.put(&keys::TORCH, &[], t.as_str(), Trust::Live, n, line);
                }
                if let Some(c) = &m.cuda {
                    part.put(&keys::CUDA_BUILD, &[], c.as_str(), Trust::Live, n, line);
                }
                part.host = part.host.take().or_else(|| m.host.clone());
                part.run = part.run.take().or(m.run);
                part.taken_ms = part.taken_ms.or(m.wall_ns.map(|w| w / 1_000_000));
                series.host = m.host;
                series.rank = m.rank;
                series.world = m.world;
                series.pid = m.pid;
                series.anchor = m.perf_ns.zip(m.wall_ns);
                series.loaders = m.loaders;
                // A setting that is null or nested says nothing that could be compared.
                series.settings = m
                    .settings
                    .into_iter()
                    .filter_map(|(k, v)| Some((k, serde_json::from_value::<Value>(v).ok()?)))
                    .collect();
                series.meta_line = Some(n);
                series.meta_quote = Place::line(part.input, n, line).quote.as_deref().map(str::to_owned);
            }
            "step" => match serde_json::from_str::<Step>(line) {
                Ok(mut s) if s.step_ms.is_finite() && s.step_ms >= 0.0 => {
                    s.line = n;
                    lines.push((n, line));
                    series.steps.push(s);
                }
                _ => part.note(Some(n), "A step record could not be read."),
            },
            _ => {}
        }
    }
    keep_quotes(&mut series, &lines, part.input);
    if let (Some((n, line)), count) = (lines.last(), series.steps.len()) {
        part.put(&keys::STEPS, &[], count, Trust::Live, *n, line);
    } else {
        part.note(None, "There is no step in it.");
    }
    part.facts.steps.push(series);
}

fn keep_quotes(series: &mut StepSeries, lines: &[(u32, &str)], input: u32) {
    let mut by_wait: Vec<usize> = (0..series.steps.len()).collect();
    let wait = |i: &usize| series.steps[*i].data_wait_ms.unwrap_or(series.steps[*i].step_ms);
    by_wait.sort_by(|a, b| wait(b).total_cmp(&wait(a)));
    for i in by_wait.into_iter().take(QUOTES) {
        let (n, line) = lines[i];
        if let Some(q) = Place::line(input, n, line).quote {
            series.quotes.insert(n, q);
        }
    }
}

pub(super) fn samples(text: &str, part: &mut Part) {
    let mut series = SampleSeries { input: part.input, ..SampleSeries::default() };
    for (n, line, kind) in records(text, part) {
        match kind.as_str() {
            "meta" => {
                let Ok(m) = serde_json::from_str::<Meta>(line) else {
                    part.note(Some(n), "The meta record could not be read.");
                    continue;
                };
                for g in &m.gpus {
                    if let Some(name) = &g.name {
                        part.put(&keys::GPU_NAME, &[g.i], name.as_str(), Trust::Live, n, line);
                    }
                    if let Some(w) = g.power_limit_w {
                        part.put(&keys::GPU_POWER_LIMIT, &[g.i], w, Trust::Live, n, line);
                    }
                }
                if let Some(c) = m.cpus {
                    part.put(&keys::CPU_COUNT, &[], c, Trust::Live, n, line);
                }
                part.host = part.host.take().or_else(|| m.host.clone());
                part.run = part.run.take().or(m.run);
                part.taken_ms = part.taken_ms.or(m.wall_ns.map(|w| w / 1_000_000));
                series.host = m.host;
                series.cpus = m.cpus;
                series.hz = m.hz;
                series.gpus = m.gpus;
            }
            "sample" => match serde_json::from_str::<Sample>(line) {
                Ok(mut s) if s.t_ms.is_finite() && s.t_ms > 0.0 => {
                    s.line = n;
                    for g in &mut s.gpu {
                        g.gpm = g.gpm.take().filter(is_reading);
                    }
                    series.samples.push(s);
                }
                _ => part.note(Some(n), "A sample could not be read."),
            },
            _ => {}
        }
    }
    if series.samples.is_empty() {
        part.note(None, "There is no sample in it.");
    }
    part.facts.samples.push(series);
}

/// Two GPM reads within one 100 ms window give zeros with NaN DRAM (null in JSON): that is no reading.
fn is_reading(g: &Gpm) -> bool {
    let zero = |v: Option<f64>| v.is_none_or(|v| v == 0.0);
    !(g.dram_pct.is_none() && zero(g.gr_pct) && zero(g.sm_pct) && zero(g.occupancy_pct) && zero(g.tensor_pct))
}
