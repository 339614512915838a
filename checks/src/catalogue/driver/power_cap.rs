//! # What it looks for
//! Whether the power limit in force is below the board's own default, so that the board slows down earlier than it was
//! built for.
//!
//! # Why it wastes the GPU
//! Under load a modern board is held by its power limit. Each watt below the default costs clock, and with it speed, in
//! exactly the phases that matter.
//!
//! # Confirm by hand
//! `nvidia-smi -q -d POWER` shows the limit in force beside the default; `nvidia-smi -q -d PERFORMANCE` whether the cap
//! is active.
//!
//! # Fix
//! Find out who lowered the limit: some fleets do so on purpose. Then set the default again.
//!
//! # Limits
//! An active power cap at the default limit is normal under full load, and it can read active on an idle board. Laptops
//! and Grace modules share a budget with the CPU and are not judged. The board's base clock is taken from its default
//! application clock, which newer boards do not tell.
//!
//! # References
//! NVML header nvml.h 13.3, nvmlClocksEventReasonSwPowerCap; `nvidia-smi --help-query-gpu` (580.159.04), power.*.

use crate::catalogue::common::{Load, class, is_laptop, is_vgpu, load, readings, reason, reasons, sampled_gpus, samples};
use crate::check::{Ctx, Missing, PerGpu, Verdict, cmd, step, verify};
use crate::keys;
use crate::report::{Applicability, Confidence, Fix, Tag};
use crate::tables::{Class, clock_event};

crate::check! {
    id: "driver/power-cap", layer: Driver, title: "The power limit is below the board's default",
    severity: Medium, core: true, minutes: 1, evidence: [SmiQ, Live, Samples],
    limits: {
        lowered_share = 0.05, "", "layers-1-3 section 2, driver/power-cap: a limit lowered by more than 5 % is deliberate";
        severe_share = 0.40, "", "layers-1-3 section 2, driver/power-cap: below 60 % of the default the board is crippled";
        base_clock_share = 0.90, "", "catalogue, rule for driver/power-cap: a clock below 90 % of the base clock";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let mut gpus = cx.facts.gpus();
    if let Some(s) = samples(cx) {
        gpus.extend(sampled_gpus(s));
        gpus.sort_unstable();
        gpus.dedup();
    }
    if gpus.is_empty() {
        return Err(Missing::fact("gpu[0]".into(), "a GPU that could be read"));
    }
    let mut all = PerGpu::default();
    for gpu in gpus {
        all.add(gpu, one(cx, gpu));
    }
    all.fold()
}

fn one(cx: &Ctx<'_>, gpu: usize) -> Result<Verdict, Missing> {
    if is_laptop(cx, gpu) {
        return Ok(Verdict::not_applicable("A laptop's GPU shares its power budget with the rest of the laptop."));
    }
    if class(cx, gpu) == Some(Class::Grace) || is_vgpu(cx, gpu) {
        return Ok(Verdict::not_applicable("The power budget of this GPU is set elsewhere (module or host)."));
    }
    let at = [gpu];
    let limit = cx.get(&keys::GPU_POWER_LIMIT, &at).filter(|k| k.value > 0.0);
    let default = cx.get(&keys::GPU_POWER_LIMIT_DEFAULT, &at).filter(|k| k.value > 0.0);
    if let (Some(limit), Some(default)) = (&limit, &default) {
        let lowered = 1.0 - limit.value / default.value;
        let text = format!(
            "The power limit is {:.0} W, {:.0} % below the board's default of {:.0} W.",
            limit.value,
            lowered * 100.0,
            default.value
        );
        let evidence = [limit.evidence(&format!("{:.0} W", default.value)), default.evidence("")];
        if lowered > cx.limit(&severe_share) {
            return Ok(Verdict::fail(text).with(evidence));
        }
        if lowered > cx.limit(&lowered_share) {
            return Ok(Verdict::warn(text).with(evidence));
        }
        if let Some(v) = below_base_clock(cx, gpu) {
            return Ok(v);
        }
        return Ok(Verdict::pass(match active(cx, gpu) {
            Some(true) => format!("The board works at its default limit of {:.0} W; a power cap is normal there.", default.value),
            _ => format!("The power limit is the board's default of {:.0} W.", default.value),
        }));
    }
    match active(cx, gpu) {
        Some(false) => Ok(Verdict::pass("No reading shows the power cap active.")),
        _ => Err(Missing::fact(keys::GPU_POWER_LIMIT_DEFAULT.at(&at), keys::GPU_POWER_LIMIT_DEFAULT.what)),
    }
}

/// Whether the cap was active under load: in the samples if there are any, else in the one reading.
fn active(cx: &Ctx<'_>, gpu: usize) -> Option<bool> {
    let bit = clock_event("sw_power_cap")?.bit;
    if let Some(series) = samples(cx) {
        let seen: Vec<bool> = readings(series, gpu).filter_map(|(_, g)| Some(g.reasons? & bit != 0)).collect();
        if !seen.is_empty() {
            return Some(seen.contains(&true));
        }
    }
    let active = reason(cx, gpu, "sw_power_cap")?;
    (load(cx, gpu) == Load::Busy || !active).then_some(active)
}

/// A cap that pushes the clock under the base clock costs more than boost. Only boards whose default application clock
/// lies below the highest clock tell a base clock.
fn below_base_clock(cx: &Ctx<'_>, gpu: usize) -> Option<Verdict> {
    let at = [gpu];
    if load(cx, gpu) != Load::Busy || reason(cx, gpu, "sw_power_cap") != Some(true) {
        return None;
    }
    let clock = cx.get(&keys::GPU_SM_CLOCK, &at)?;
    let base = cx.get(&keys::GPU_APP_CLOCK_DEFAULT, &at)?;
    let max = cx.value(&keys::GPU_SM_CLOCK_MAX, &at)?;
    if base.value >= max || clock.value >= cx.limit(&base_clock_share) * base.value {
        return None;
    }
    Some(
        Verdict::warn(format!(
            "The power cap holds the SM clock at {:.0} MHz, below the base clock of {:.0} MHz.",
            clock.value, base.value
        ))
        .confidence(Confidence::Medium)
        .with([clock.evidence(&format!(">= {:.0} MHz", base.value)), base.evidence("")])
        .with(reasons(cx, gpu).map(|k| k.evidence(""))),
    )
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("See limit, default and draw of every GPU.", "nvidia-smi --query-gpu=index,power.limit,power.default_limit,power.draw --format=csv", &[]),
            step("Ask whether the limit was lowered on purpose (rack budget, cooling).", &[]),
            cmd(
                "Set the default again (put the default in watts for DEFAULT). Power supply and cooling must carry it: a rack that was capped on purpose can trip.",
                "nvidia-smi -pl DEFAULT",
                &[Tag::Root, Tag::Unsafe],
            ),
        ],
        applicability: Applicability::Manual,
        verify: verify("nvidia-smi -q -d POWER", "limit in force equals the default limit"),
    }
}
