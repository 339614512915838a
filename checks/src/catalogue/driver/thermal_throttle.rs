//! # What it looks for
//! Whether temperature holds the clocks down: the driver's own thermal reasons under load, and how many degrees are left.
//!
//! # Why it wastes the GPU
//! Software slowdown lowers the clock step by step; hardware slowdown cuts it by half or more, for every kernel.
//!
//! # Confirm by hand
//! `nvidia-smi -q -d PERFORMANCE,TEMPERATURE` under load: an active thermal slowdown, and the distance to the slowdown
//! temperature (older boards) or the T.Limit margin (Ada, Hopper and newer).
//!
//! # Fix
//! Air first: fans, filters, blanking panels, inlet temperature. A lower power limit is a stopgap.
//!
//! # Limits
//! A reading without load proves nothing: the board may be cool because it rests. Temperatures are compared with the
//! board's own limits, never with a fixed number; a T.Limit value is a margin, not a temperature. The parent reason "HW
//! Slowdown" alone may flash when the performance state changes and needs a second reading.
//!
//! # References
//! NVML header nvml.h 13.3, nvmlClocksEventReason*Thermal*; telegraf's nvidia_smi test data (limits of T4, A10G, RTX
//! 3090); an H200 measured by the project (T.Limit values).

use crate::catalogue::common::{Load, is_vgpu, load, readings, reason, reasons, sampled, sampled_gpus, samples};
use crate::check::{Ctx, Missing, PerGpu, Verdict, cmd, step, verify};
use crate::keys;
use crate::report::{Applicability, Confidence, Fix, Tag};
use crate::tables::clock_event;

crate::check! {
    id: "driver/thermal-throttle", layer: Driver, title: "Temperature holds the clocks down",
    severity: High, core: true, minutes: 2, evidence: [Samples, SmiQ, Live],
    limits: {
        legacy_margin_c = 5.0, "°C", "layers-1-3 section 2, driver/thermal-throttle: five degrees below the slowdown temperature";
        tlimit_margin_c = 2.0, "°C", "layers-1-3 section 2, driver/thermal-throttle: two degrees of T.Limit margin left";
        busy_util_pct = 20.0, "%", "layers-1-3 section 2, driver/pcie-link-gen: utilisation from which a reading is under load";
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
    if is_vgpu(cx, gpu) {
        return Ok(Verdict::not_applicable("A virtual GPU does not see the board's temperature."));
    }
    if let Some(v) = sampled_verdict(cx, gpu).filter(|v| v.level.is_problem()) {
        return Ok(v);
    }
    if let Some(v) = reading(cx, gpu) {
        return Ok(v);
    }
    if let Some(v) = margin(cx, gpu) {
        return Ok(v);
    }
    if let Some(v) = sampled_verdict(cx, gpu) {
        return Ok(v);
    }
    match (reasons(cx, gpu), load(cx, gpu)) {
        (Some(_), Load::Busy) => Ok(Verdict::pass("Under load no thermal reason is active.")),
        (Some(_), _) => Err(Missing::other("a reading under load (this one is idle, or does not tell)")),
        (None, _) => Err(Missing::fact(keys::GPU_THROTTLE.at(&[gpu]), keys::GPU_THROTTLE.what)),
    }
}

/// The reasons over a series of samples; `None` if there is no sample under load that carries them.
fn sampled_verdict(cx: &Ctx<'_>, gpu: usize) -> Option<Verdict> {
    let series = samples(cx)?;
    let (hw, sw) = (clock_event("hw_thermal_slowdown")?.bit, clock_event("sw_thermal_slowdown")?.bit);
    let busy: Vec<u64> = readings(series, gpu)
        .filter(|(_, g)| g.util_pct.is_some_and(|u| u >= cx.limit(&busy_util_pct)))
        .filter_map(|(_, g)| g.reasons)
        .collect();
    if busy.is_empty() {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "sample counts are small")]
    let share = |bit: u64| busy.iter().filter(|r| **r & bit != 0).count() as f64 / busy.len() as f64 * 100.0;
    let (hot, warm) = (share(hw), share(sw));
    if hot > 0.0 {
        let text = format!("Hardware thermal slowdown is active in {hot:.0} % of the samples under load: clocks are cut by half or more.");
        return Some(Verdict::fail(text).with([sampled(series, "samples.hw_thermal_slowdown_pct", hot, "%", "0")]));
    }
    if warm > 0.0 {
        let text = format!("Software thermal slowdown is active in {warm:.0} % of the samples under load.");
        return Some(Verdict::warn(text).with([sampled(series, "samples.sw_thermal_slowdown_pct", warm, "%", "0")]));
    }
    Some(Verdict::pass(format!("No thermal reason in {} samples under load.", busy.len())))
}

/// The reasons of one reading.
fn reading(cx: &Ctx<'_>, gpu: usize) -> Option<Verdict> {
    let known = reasons(cx, gpu)?;
    let active = |id| reason(cx, gpu, id) == Some(true);
    let busy = load(cx, gpu) == Load::Busy;
    let temperature = cx.get(&keys::GPU_TEMPERATURE, &[gpu]);
    let at = temperature.as_ref().map_or_else(String::new, |t| format!(" at {:.0} °C", t.value));
    let verdict = if active("hw_thermal_slowdown") {
        let text = format!("Hardware thermal slowdown is active{at}: clocks are cut by half or more.");
        if busy { Verdict::fail(text) } else { Verdict::warn(text).confidence(Confidence::Medium) }
    } else if active("sw_thermal_slowdown") {
        Verdict::warn(format!("Software thermal slowdown is active{at}.")).confidence(Confidence::Medium)
    } else {
        return None;
    };
    Some(verdict.with([known.evidence("no thermal reason")]).with(temperature.map(|t| t.evidence(""))))
}

/// How many degrees are left. T.Limit is a margin that falls to zero and below; older boards tell temperatures.
fn margin(cx: &Ctx<'_>, gpu: usize) -> Option<Verdict> {
    let at = [gpu];
    if let Some(left) = cx.get(&keys::GPU_TLIMIT_MARGIN, &at) {
        let limit = cx.limit(&tlimit_margin_c);
        return (left.value <= limit).then(|| {
            Verdict::warn(format!("{:.0} °C are left to the temperature at which the clocks fall.", left.value))
                .confidence(Confidence::Medium)
                .with([left.evidence(&format!("> {limit:.0} °C"))])
        });
    }
    let (now, slow) = (cx.get(&keys::GPU_TEMPERATURE, &at)?, cx.get(&keys::GPU_SLOWDOWN_TEMP, &at)?);
    let left = slow.value - now.value;
    (left <= cx.limit(&legacy_margin_c)).then(|| {
        Verdict::warn(format!("The GPU is at {:.0} °C and slows down at {:.0} °C.", now.value, slow.value))
            .confidence(Confidence::Medium)
            .with([now.evidence(&format!("< {:.0} °C", slow.value - cx.limit(&legacy_margin_c))), slow.evidence("")])
    })
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Watch temperature and reasons under load.", "nvidia-smi --query-gpu=index,temperature.gpu,clocks_event_reasons.active,clocks.sm --format=csv -l 5", &[]),
            step("Check fans, filters, blanking panels and the temperature of the air that goes in.", &[Tag::Hands]),
            step("Raise the fan curve in the server's management controller.", &[Tag::Root]),
            cmd(
                "Until the cooling is mended: lower the power limit by a tenth (watts for W). It slows the job, evenly instead of in jumps.",
                "nvidia-smi -pl W",
                &[Tag::Root, Tag::Unsafe],
            ),
        ],
        applicability: Applicability::Manual,
        verify: verify("nvidia-smi -q -d PERFORMANCE", "after 15 minutes of load no thermal slowdown is active"),
    }
}
