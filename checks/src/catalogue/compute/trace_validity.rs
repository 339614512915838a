//! # What it looks for
//! Whether a profiler trace can carry a verdict: device activity in it, enough steady steps, and steps that are about as
//! long as without the profiler.
//!
//! # Why it wastes the GPU
//! It wastes nothing by itself. A distorted trace gives confident advice about a run that does not exist.
//!
//! # Confirm by hand
//! Compare the mean `ProfilerStep` with the step time of the same script without a profiler.
//!
//! # Fix
//! Record a few warm steps without stacks, shapes or memory, and export in the handler that the profiler calls.
//!
//! # Limits
//! Without step timings of the untraced run the stretch cannot be known.
//!
//! # References
//! PyTorch profiler documentation, `schedule`; Kineto's overhead events; HolisticTraceAnalysis leaves the last step out.

use crate::catalogue::traced::{DISTORTED, Traced, number, pct};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::keys;
use crate::report::{Applicability, Fix, Tag};
use crate::trace::MIN_STEPS;

crate::check! {
    id: "compute/trace-validity", layer: Compute, title: "The trace stands for the run", severity: Info, core: true,
    minutes: 2, evidence: [Trace, Ncu, Nsys],
    limits: {
        stretch = 1.15, "", "layers-4-6 section 2, trace/validity: traced over untraced step";
        overhead_share = 0.05, "", "layers-4-6 section 2, trace/validity: buffer overhead above 5 % of the window";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    if cx.facts.traces.is_empty() {
        return Err(Missing::fact(keys::KERNELS.path.into(), "a profiler trace"));
    }
    if cx.facts.traces.iter().all(|t| t.device_events == 0) {
        return Err(Missing::fact(
            keys::KERNELS.path.into(),
            "device activity in the trace: none was recorded, so nothing can be said about the GPU",
        ));
    }
    let t = crate::catalogue::traced::traced(cx)?;
    let limit = cx.limit(&stretch);
    if let Some(ratio) = t.step.traced_ratio.filter(|r| *r > limit) {
        return Ok(Verdict::warn(format!(
            "With the profiler a step takes {} ms, without it {} ms: {} times as long. What the trace says of the GPU's own work holds; its idle time was scaled to the untraced step.",
            number(t.trace.mean_step_ms()),
            number(t.step.mean_ms),
            number(ratio)
        ))
        .with([t.evidence("step.traced_ratio", ratio, "", &format!("<= {DISTORTED}"))]));
    }
    // A trace as long as the untraced step is sound, whatever its buffers did.
    if t.step.traced_ratio.is_none()
        && let Some((name, share)) = overhead(&t).filter(|o| o.1 > cx.limit(&overhead_share))
    {
        return Ok(Verdict::warn(format!("The profiler itself (\"{name}\") keeps the GPU idle for {} of the recorded time.", pct(share)))
            .with([t.quoted("trace.profiler_overhead", share, "", "<= 0.05", &name)]));
    }
    if t.trace.steps.used < MIN_STEPS {
        return Ok(Verdict::info(format!(
            "The trace has {} usable step{}: times are totals over the recorded window, not those of a steady step.",
            t.trace.steps.used,
            if t.trace.steps.used == 1 { "" } else { "s" }
        ))
        .with([t.evidence("trace.steps", t.trace.steps.used, "", ">= 3 after the first and the last")]));
    }
    let confirmed = match t.step.traced_ratio {
        Some(r) => format!(", {} times the untraced length", number(r)),
        None => "; how long they are without the profiler is not known".into(),
    };
    Ok(Verdict::pass(format!("{} steady steps with device activity{confirmed}.", t.trace.steps.used)))
}

/// The profiler's buffers in the window: name, share.
fn overhead(t: &Traced<'_>) -> Option<(String, f64)> {
    let (name, ms) =
        t.trace.overheads.iter().find(|o| o.0.contains("Command Buffer Full") || o.0.contains("Activity Buffer Request"))?;
    Some((name.clone(), t.trace.share_ms(*ms)))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd(
                "Record a few warm steps, once.",
                "schedule=torch.profiler.schedule(wait=5, warmup=2, active=5, repeat=1)",
                &[Tag::RestartsJob],
            ),
            cmd("Leave out what costs most.", "with_stack=False, record_shapes=False, profile_memory=False", &[Tag::RestartsJob]),
            step("Record step timings of the same script without the profiler, and give both.", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("sextant check steps.jsonl trace.json.gz", "traced over untraced step at most 1.15"),
    }
}
