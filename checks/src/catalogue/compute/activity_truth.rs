//! # What it looks for
//! How much of the time the multiprocessors (SMs) of the GPU have work while a training job runs.
//!
//! # Why it wastes the GPU
//! SM activity is the nearest thing to "how much of the GPU is used". Below half, most of what was paid for is idle,
//! whatever utilisation reads.
//!
//! # Confirm by hand
//! On Hopper and newer: `nvidia-smi dmon --gpm-metrics 2`. With DCGM: `dcgmi dmon -e 1002`.
//!
//! # Fix
//! It has none of its own: it says that there is something to find. The step breakdown and the findings beside this one
//! say where.
//!
//! # Limits
//! It speaks only while a job runs: with step timings beside the samples, or over ten seconds of counters in which the
//! GPU did something. A utilisation reading without SM activity is never graded.
//!
//! # References
//! NVIDIA DCGM documentation, "Profiling metrics": SM activity of 0.8 and more is what effective use needs, below 0.5 is
//! likely not effective.

use crate::catalogue::common::{readings, sampled, sampled_gpus, samples, seconds};
use crate::check::{Ctx, Missing, PerGpu, Verdict, cmd, verify};
use crate::record::SampleSeries;
use crate::report::{Applicability, Confidence, Fix, Tag};
use crate::step::kept;
use crate::work::mean;

crate::check! {
    id: "compute/activity-truth", layer: Compute, title: "The multiprocessors have too little work while a job runs",
    severity: High, core: true, minutes: 2, evidence: [Samples, Dcgm], routes: true,
    limits: {
        good_sm_pct = 80.0, "%", "NVIDIA DCGM documentation, SM activity: 0.8 and more is needed for effective use";
        poor_sm_pct = 50.0, "%", "NVIDIA DCGM documentation, SM activity: below 0.5 is likely not effective";
        min_seconds = 10.0, "s", "without step timings, ten seconds of counters show a job rather than its start";
        min_readings = 5.0, "readings", "one reading is never a verdict (layers-1-3 section 2, memory/pcie-saturation)";
        working_util_pct = 1.0, "%", "a GPU whose mean utilisation stays below 1 % has no job on it";
        busy_util_pct = 80.0, "%", "catalogue: from here driver/util-vs-sm-activity speaks";
        empty_sm_pct = 30.0, "%", "catalogue: below this driver/util-vs-sm-activity speaks";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let series = samples(cx).ok_or_else(|| Missing::other("samples of SM activity while a job runs"))?;
    let stepping = cx.facts.steps.iter().any(|s| !kept(s).is_empty());
    let mut all = PerGpu::default();
    for gpu in sampled_gpus(series) {
        all.add(gpu, one(cx, series, gpu, stepping));
    }
    all.fold()
}

fn one(cx: &Ctx<'_>, series: &SampleSeries, gpu: usize, stepping: bool) -> Result<Verdict, Missing> {
    let util = mean(readings(series, gpu).filter_map(|(_, g)| g.util_pct));
    let sm: Vec<f64> = readings(series, gpu).filter_map(|(_, g)| g.gpm.as_ref()?.sm_pct).collect();
    let worked = util.into_iter().chain(mean(sm.iter().copied())).any(|u| u >= cx.limit(&working_util_pct));
    if !worked && (util.is_some() || !sm.is_empty()) {
        return Ok(Verdict::not_applicable("No job ran on this GPU while it was sampled."));
    }
    #[expect(clippy::cast_precision_loss, reason = "sample counts are small")]
    let n = sm.len() as f64;
    if n < cx.limit(&min_readings) {
        return Err(Missing::fact("samples.sm_pct".into(), "SM activity (GPM on Hopper and newer, or DCGM field 1002)"));
    }
    let span = seconds(series);
    if !stepping && span < cx.limit(&min_seconds) {
        return Err(Missing::other(format!(
            "step timings beside the samples, or at least {:.0} s of counters; there are {span:.1} s",
            cx.limit(&min_seconds)
        )));
    }
    let mean_sm = mean(sm.into_iter()).unwrap_or_default();
    let evidence = sampled(series, "samples.sm_pct", mean_sm, "%", &format!(">= {:.0} %", cx.limit(&good_sm_pct)));
    let said = format!("The multiprocessors have work {mean_sm:.0} % of the time over {span:.1} s");
    if util.is_some_and(|u| u >= cx.limit(&busy_util_pct)) && mean_sm < cx.limit(&empty_sm_pct) {
        return Ok(Verdict::info(format!("{said}; see driver/util-vs-sm-activity.")).with([evidence]));
    }
    let verdict = if mean_sm >= cx.limit(&good_sm_pct) {
        Verdict::pass(format!("{said}."))
    } else if mean_sm >= cx.limit(&poor_sm_pct) {
        Verdict::warn(format!("{said}: something keeps them waiting."))
    } else {
        Verdict::fail(format!("{said}: most of the GPU is idle while the job runs."))
    };
    let beside = util.map(|u| sampled(series, "samples.util_pct", u, "%", ""));
    Ok(verdict.confidence(if stepping { Confidence::High } else { Confidence::Medium }).with([evidence]).with(beside))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![cmd(
            "Record step timings and a short trace: they divide the step by cause.",
            "sextant run --trace-steps 5 -- python train.py",
            &[Tag::RestartsJob],
        )],
        applicability: Applicability::NeedsRestart,
        verify: verify("nvidia-smi dmon --gpm-metrics 2", "SM activity of 80 % and more while the job runs"),
    }
}
