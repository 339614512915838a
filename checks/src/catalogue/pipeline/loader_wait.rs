//! # What it looks for
//! How much of each training step the training thread stands in the data loader while the GPU has nothing to do.
//!
//! # Why it wastes the GPU
//! A step cannot start before its batch is there. If the loader is slower than the GPU, the GPU idles for the
//! difference in every step, and nothing that makes kernels faster helps.
//!
//! # Confirm by hand
//! Feed the same batch twice: keep one batch on the GPU and train on it for a minute. If the step time falls by about
//! the wait shown here, the loader was the limit.
//!
//! # Fix
//! Workers first, then the work itself: without worker processes give the loader some; with them, look at what the
//! workers do (CPU-bound decoding, waiting for the disk) before adding more.
//!
//! # Limits
//! Loaders that do not go through PyTorch's `DataLoader` are not seen. Frameworks that fetch one batch ahead move the
//! wait into the step before. A wait that the GPU spends with queued work costs nothing and is told apart where the
//! recording says whether the GPU had run dry. Three steps with a second signal (a trace, or samples of an idle GPU) name
//! the cause; thirty make it a number.
//!
//! # References
//! TensorFlow/XProf input-pipeline analyser: 5 % and 20 % of the step; torch_tb_profiler: 5 %. Mohan et al., "Analyzing
//! and Mitigating Data Stalls in DNN Training", VLDB 2021.

use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::keys;
use crate::record::StepSeries;
use crate::report::{Applicability, Confidence, Evidence, Fix, StepBreakdown, StepSource, Tag};
use crate::step::{breakdown, kept};
use crate::work;

crate::check! {
    id: "pipeline/loader-wait", layer: Pipeline, title: "The GPU waits for the data loader", severity: Critical, core: true,
    minutes: 5, evidence: [Steps, Trace, TrainLog],
    limits: {
        warn_share = 0.05, "", "TensorFlow/XProf input-pipeline analyser and torch_tb_profiler: 5 % of the step";
        fail_share = 0.20, "", "TensorFlow/XProf input-pipeline analyser: 20 % of the step";
        min_steps = 3.0, "steps", "layers-4-6 section 8: at least three steps before a cause is named";
        sure_steps = 30.0, "steps", "layers-4-6 section 8: thirty live steps, or a second signal, for a failure";
        dry_share = 0.20, "", "layers-4-6 section 5.4: a GPU that is dry in at most 20 % of the steps has work queued";
        pattern_steps = 50.0, "steps", "layers-4-6 section 3, loader-wait: fifty steps before the pattern of waits is named";
        tail_ratio = 5.0, "", "layers-4-6 section 3, loader-wait: p99 above five times p50 is a tail";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let step = breakdown(cx.facts)
        .ok_or_else(|| Missing::fact(keys::STEPS.path.into(), "step timings or a trace of the run"))?;
    let wait_ms =
        step.ms.data_wait.ok_or_else(|| Missing::fact("step.data_wait_ms".into(), "the time spent in the loader"))?;
    #[expect(clippy::cast_precision_loss, reason = "step counts are small")]
    let steps = step.steps as f64;
    if steps < cx.limit(&min_steps) {
        return Err(Missing::other(format!("at least {:.0} steps; there are {}", cx.limit(&min_steps), step.steps)));
    }
    let share = (wait_ms / step.mean_ms).clamp(0.0, 1.0);
    let said = format!("{wait_ms:.1} of {:.1} ms", step.mean_ms);
    let evidence = evidence(cx, wait_ms, cx.limit(&warn_share));
    if share >= cx.limit(&warn_share) && step.source == StepSource::Live && dry(cx).is_some_and(|d| d <= cx.limit(&dry_share)) {
        return Ok(Verdict::pass(format!(
            "The training thread waits for the loader ({said}), but the GPU has queued work meanwhile: the wait is hidden."
        ))
        .with(evidence));
    }
    let second = step.source != StepSource::Live || gpu_idles(cx, share);
    let sure = steps >= cx.limit(&sure_steps);
    let confidence = if sure && second { Confidence::High } else { Confidence::Medium };
    let verdict = if share >= cx.limit(&fail_share) {
        let text = format!(
            "The GPU waits for data during {:.0} % of every step.{}{} On average the wait takes {said}.",
            share * 100.0,
            workers(cx),
            pattern(cx)
        );
        if sure || second { Verdict::fail(text) } else { Verdict::warn(text) }
    } else if share >= cx.limit(&warn_share) {
        Verdict::warn(format!(
            "The GPU waits for data during {:.1} % of every step.{}{} On average the wait takes {said}.",
            share * 100.0,
            workers(cx),
            pattern(cx)
        ))
    } else {
        return Ok(Verdict::pass(format!("The loader keeps up: it takes {said} of a step.")).with(evidence));
    };
    Ok(verdict.cost(share, share).confidence(confidence).with(evidence).with(idle_evidence(cx, &step)))
}

/// Share of the steps in which the GPU had run dry when the next batch came, where the recording tells.
fn dry(cx: &Ctx<'_>) -> Option<f64> {
    let told: Vec<bool> = cx.facts.steps.iter().flat_map(kept).filter_map(|s| s.dry).collect();
    #[expect(clippy::cast_precision_loss, reason = "step counts are small")]
    let share = |n: usize| n as f64 / told.len() as f64;
    (!told.is_empty()).then(|| share(told.iter().filter(|d| **d).count()))
}

/// A second signal: the samples, or the stream's own events, show an idle GPU for at least half of the wait.
fn gpu_idles(cx: &Ctx<'_>, share: f64) -> bool {
    let sampled = work::summary(cx.facts).and_then(|w| w.sm_pct.or(w.util_pct)).map(|busy| 1.0 - busy / 100.0);
    sampled.is_some_and(|idle| idle >= share / 2.0) || dry(cx).is_some_and(|d| d >= 1.0 - cx.limit(&dry_share))
}

fn idle_evidence(cx: &Ctx<'_>, step: &StepBreakdown) -> Option<Evidence> {
    let series = cx.facts.samples.iter().max_by_key(|s| s.samples.len())?;
    let busy = work::summary(cx.facts)?;
    let (fact, value) = match (busy.sm_pct, busy.util_pct) {
        (Some(sm), _) => ("samples.sm_pct", sm),
        (None, Some(util)) => ("samples.util_pct", util),
        _ => return None,
    };
    (step.source == StepSource::Live).then(|| crate::catalogue::common::sampled(series, fact, value, "%", ""))
}

/// When the waits come, from a series that is long enough to tell.
fn pattern(cx: &Ctx<'_>) -> String {
    let Some(series) = cx.facts.steps.iter().max_by_key(|s| s.steps.len()) else { return String::new() };
    let waits: Vec<f64> = kept(series).iter().filter_map(|s| s.data_wait_ms).collect();
    #[expect(clippy::cast_precision_loss, reason = "step counts are small")]
    if (waits.len() as f64) < cx.limit(&pattern_steps) {
        return String::new();
    }
    let mut sorted = waits.clone();
    sorted.sort_by(f64::total_cmp);
    let at = |q: usize| sorted[(sorted.len() - 1) * q / 100];
    let every = loader(cx).and_then(|w| usize::try_from(w).ok()).filter(|w| *w >= 2);
    if let Some(w) = every.filter(|w| in_bursts(&waits, *w)) {
        return format!(" The wait comes every {w} steps, once a round of the workers: each of them is too slow.");
    }
    if at(50) > 0.0 && at(99) > cx.limit(&tail_ratio) * at(50) {
        return " Most waits are short and a few are long: look at the storage behind the slow ones.".into();
    }
    " Every step waits: the loader as a whole is too slow.".into()
}

/// Most of the waiting falls on one step in each round of `w`.
fn in_bursts(waits: &[f64], w: usize) -> bool {
    let total: f64 = waits.iter().sum();
    let most = (0..w).map(|r| waits.iter().skip(r).step_by(w).sum::<f64>()).fold(0.0, f64::max);
    total > 0.0 && most / total >= 0.8
}

/// The slowest kept step with its own line, and the loader's settings.
fn evidence(cx: &Ctx<'_>, wait_ms: f64, warn: f64) -> Vec<Evidence> {
    let mut out = Vec::new();
    for series in cx.facts.steps.iter().take(1) {
        let worst = kept(series)
            .into_iter()
            .max_by(|a, b| a.data_wait_ms.unwrap_or(0.0).total_cmp(&b.data_wait_ms.unwrap_or(0.0)));
        if let Some(s) = worst {
            out.push(Evidence {
                fact: "step.data_wait_ms".into(),
                value: Some(((wait_ms * 10.0).round() / 10.0).into()),
                unit: "ms".into(),
                expected: Some(format!("< {:.0} % of the step", warn * 100.0)),
                input: Some(series.input),
                line: Some(s.line),
                quote: series.quote(s),
            });
        }
        if let Some((l, n)) = series.loaders.first().and_then(|l| Some((l, l.num_workers?))) {
            out.push(Evidence {
                fact: "loader.num_workers".into(),
                value: Some(n.into()),
                unit: String::new(),
                expected: (n == 0).then(|| "at least 1".into()),
                input: Some(series.input),
                line: series.meta_line,
                quote: series.meta_quote.clone().or_else(|| l.cls.clone()),
            });
        }
    }
    out
}

fn loader(cx: &Ctx<'_>) -> Option<i64> {
    cx.facts.steps.iter().find_map(|s: &StepSeries| s.loaders.first()?.num_workers)
}

fn workers(cx: &Ctx<'_>) -> String {
    match loader(cx) {
        Some(0) => " The loader has no worker processes: each batch is made inside the training process.".into(),
        Some(n) => format!(" The loader has {n} worker process{}.", if n == 1 { "" } else { "es" }),
        None => String::new(),
    }
}

fn fix(cx: &Ctx<'_>) -> Fix {
    let mut steps = Vec::new();
    if loader(cx) == Some(0) {
        steps.push(cmd(
            "Give the loader worker processes, as many as the CPUs of the job allow.",
            "DataLoader(..., num_workers=8, pin_memory=True, persistent_workers=True, prefetch_factor=4)",
            &[Tag::RestartsJob],
        ));
    } else {
        steps.push(cmd(
            "See what the workers do: state R means that they compute, D that they wait for the disk.",
            "ps -C pt_data_worker,python -o pid,stat,pcpu,comm",
            &[],
        ));
        steps.push(step("If they compute and CPUs are free: more workers. If no CPU is free: make the work cheaper (smaller images, tokenise once, decode on the GPU).", &[Tag::RestartsJob]));
        steps.push(step(
            "If they wait for the disk: larger files read in sequence, a faster disk, or a cache in memory.",
            &[Tag::RestartsJob],
        ));
    }
    steps.push(cmd(
        "One thread a worker, so that the workers do not take each other's CPUs.",
        "OMP_NUM_THREADS=1 python train.py",
        &[Tag::RestartsJob],
    ));
    Fix {
        steps,
        applicability: Applicability::NeedsRestart,
        verify: verify("sextant run -- python train.py", "data wait below 5 % of the step, and a shorter step"),
    }
}
