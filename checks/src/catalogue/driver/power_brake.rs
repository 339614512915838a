//! # What it looks for
//! Whether the server or its power supply brakes the GPU from outside (hardware power brake).
//!
//! # Why it wastes the GPU
//! The brake cuts the clocks by half or more, whatever the job does, until the cause in the server is gone.
//!
//! # Confirm by hand
//! `nvidia-smi -q -d PERFORMANCE` shows "HW Power Brake Slowdown"; the server's management log shows power supply events.
//!
//! # Fix
//! Look at the server's power: a failed supply, a missing cable, a power policy of the management controller, the budget of
//! the rack.
//!
//! # Limits
//! The counter of brake time counts since the driver was loaded and is no present fault. A single reading without load is a
//! warning only.
//!
//! # References
//! NVML header nvml.h 13.3, nvmlClocksEventReasonHwPowerBrakeSlowdown.

use crate::catalogue::common::{Load, load, per_gpu, readings, reason, reasons, sampled, samples};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::keys;
use crate::report::{Applicability, Confidence, Fix, Tag};
use crate::tables::clock_event;

crate::check! {
    id: "driver/power-brake", layer: Driver, title: "The server brakes the GPU's clocks (power brake)",
    severity: High, core: true, minutes: 1, evidence: [Samples, SmiQ, Live],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    per_gpu(cx, |gpu| one(cx, gpu))
}

fn one(cx: &Ctx<'_>, gpu: usize) -> Result<Verdict, Missing> {
    if let Some(v) = over_samples(cx, gpu) {
        return Ok(v);
    }
    let known = reasons(cx, gpu).ok_or_else(|| Missing::fact(keys::GPU_THROTTLE.at(&[gpu]), keys::GPU_THROTTLE.what))?;
    if reason(cx, gpu, "hw_power_brake_slowdown") != Some(true) {
        return Ok(Verdict::pass("The power brake is not active."));
    }
    let clock = cx.get(&keys::GPU_SM_CLOCK, &[gpu]);
    let at = clock.as_ref().map_or_else(String::new, |c| format!("; the SM clock is {:.0} MHz", c.value));
    let text = format!("The server's power brake is active{at}: clocks are cut by half or more.");
    let verdict = if load(cx, gpu) == Load::Busy {
        Verdict::fail(text)
    } else {
        Verdict::warn(text).confidence(Confidence::Medium)
    };
    Ok(verdict.with([known.evidence("no power brake")]).with(clock.map(|c| c.evidence(""))))
}

/// The share of samples with the brake; `None` if no sample carries reasons.
fn over_samples(cx: &Ctx<'_>, gpu: usize) -> Option<Verdict> {
    let series = samples(cx)?;
    let bit = clock_event("hw_power_brake_slowdown")?.bit;
    let seen: Vec<bool> = readings(series, gpu).filter_map(|(_, g)| Some(g.reasons? & bit != 0)).collect();
    if seen.is_empty() {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "sample counts are small")]
    let share = seen.iter().filter(|b| **b).count() as f64 / seen.len() as f64 * 100.0;
    if share == 0.0 {
        return Some(Verdict::pass(format!("The power brake is active in none of {} samples.", seen.len())));
    }
    let text = format!("The server's power brake is active in {share:.0} % of the samples: clocks are cut by half or more.");
    Some(Verdict::fail(text).with([sampled(series, "samples.hw_power_brake_pct", share, "%", "0")]))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Read the server's own log for power supply and power policy events.", "ipmitool sel elist", &[Tag::Root]),
            step("Check that all power supplies work and that all power cables of the board and the riser are in.", &[Tag::Hands]),
            step("Look for a power limit or policy in the management controller and for the budget of the rack.", &[Tag::Root]),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify("nvidia-smi -q -d PERFORMANCE", "HW Power Brake Slowdown is Not Active under load"),
    }
}
