//! # What it looks for
//! A GPU that works far below its highest clock without a reason of power or temperature, or whose application clocks were
//! set below the board's default.
//!
//! # Why it wastes the GPU
//! Somebody locked the clocks for a measurement or a power budget and left it so; every kernel pays for it.
//!
//! # Confirm by hand
//! `nvidia-smi -q -d CLOCK,PERFORMANCE` under load: current against highest SM clock, application clocks against their
//! default, and which reasons are active.
//!
//! # Fix
//! Reset locked clocks and application clocks.
//!
//! # Limits
//! Low clocks at idle are normal, and so is P2 for CUDA on consumer boards. A board limited by power or temperature is the
//! business of those checks. Laptops lower their clocks as they please.
//!
//! # References
//! NVML header nvml.h 13.3 (clock event reasons); `nvidia-smi --help-query-gpu` (580.159.04), clocks.*.

use crate::catalogue::common::{Load, is_laptop, is_vgpu, load, per_gpu, reasons};
use crate::check::{Ctx, Missing, Verdict, cmd, verify};
use crate::keys;
use crate::report::{Applicability, Confidence, Fix, Tag};

crate::check! {
    id: "driver/clocks-restricted", layer: Driver, title: "The clocks are held down by a setting",
    severity: Medium, core: true, minutes: 2, evidence: [SmiQ, Live],
    limits: {
        busy_util_pct = 50.0, "%", "layers-1-3 section 2, driver/clocks-restricted: busy from 50 % utilisation";
        clock_share = 0.80, "", "layers-1-3 section 2, driver/clocks-restricted: 80 % of the highest SM clock";
        worst_pstate = 2.0, "", "layers-1-3 section 2, driver/clocks-restricted: a busy GPU is in P0 to P2";
    },
}

/// Reasons that explain a low clock by themselves and have checks of their own.
const EXPLAINED: [&str; 6] =
    ["sw_power_cap", "hw_slowdown", "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown", "idle"];

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    per_gpu(cx, |gpu| one(cx, gpu))
}

fn one(cx: &Ctx<'_>, gpu: usize) -> Result<Verdict, Missing> {
    if is_laptop(cx, gpu) || is_vgpu(cx, gpu) {
        return Ok(Verdict::not_applicable("The clocks of laptops and virtual GPUs are set elsewhere."));
    }
    let at = [gpu];
    let (app, default) = (cx.get(&keys::GPU_APP_CLOCK, &at), cx.get(&keys::GPU_APP_CLOCK_DEFAULT, &at));
    if let (Some(a), Some(d)) = (&app, &default)
        && a.value < d.value
    {
        return Ok(Verdict::warn(format!(
            "The application clock is set to {:.0} MHz; the board's default is {:.0} MHz.",
            a.value, d.value
        ))
        .with([a.evidence(&format!("{:.0} MHz", d.value)), d.evidence("")]));
    }
    let clock = cx.need(&keys::GPU_SM_CLOCK, &at)?;
    let max = cx.need(&keys::GPU_SM_CLOCK_MAX, &at)?;
    let why = cx.need(&keys::GPU_THROTTLE, &at)?;
    let util = cx.get(&keys::GPU_UTIL, &at);
    let busy = load(cx, gpu) == Load::Busy && util.as_ref().is_some_and(|u| u.value >= cx.limit(&busy_util_pct));
    if !busy {
        return Err(Missing::other("a reading under load (this one is idle, or does not tell)"));
    }
    if why.value.iter().any(|r| EXPLAINED.contains(&r.as_str())) {
        return Ok(Verdict::pass("The clock is where power and temperature allow it."));
    }
    let share = clock.value / max.value.max(1.0);
    if share < cx.limit(&clock_share) {
        let set = if why.value.iter().any(|r| r == "applications_clocks_setting") {
            "the application clocks hold it"
        } else {
            "no reason of power or temperature is active: a locked clock is likely"
        };
        return Ok(Verdict::warn(format!(
            "Under load the SM clock is {:.0} of {:.0} MHz ({:.0} %), and {set}.",
            clock.value,
            max.value,
            share * 100.0
        ))
        .confidence(Confidence::Medium)
        .with([clock.evidence(&format!(">= {:.0} MHz", cx.limit(&clock_share) * max.value)), max.evidence("")])
        .with(reasons(cx, gpu).map(|k| k.evidence(""))));
    }
    let state = cx.get(&keys::GPU_PSTATE, &at);
    let low = state.filter(|s| s.value.trim_start_matches('P').parse::<f64>().is_ok_and(|p| p > cx.limit(&worst_pstate)));
    if let Some(s) = low {
        return Ok(Verdict::warn(format!("Under load the GPU stays in {}.", s.value))
            .confidence(Confidence::Medium)
            .with([s.evidence("P0 to P2")]));
    }
    Ok(Verdict::pass(format!("Under load the SM clock is {:.0} of {:.0} MHz.", clock.value, max.value)))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("See the clocks and what holds them.", "nvidia-smi -q -d CLOCK,PERFORMANCE", &[]),
            cmd("Take away locked clocks. Ask first: a shared node may be locked on purpose.", "nvidia-smi -rgc; nvidia-smi -rmc", &[Tag::Root]),
            cmd("Set the application clocks to the board's default.", "nvidia-smi -rac", &[Tag::Root]),
        ],
        applicability: Applicability::Safe,
        verify: verify("nvidia-smi --query-gpu=clocks.sm,clocks.max.sm --format=csv", "the SM clock rises under load"),
    }
}
