//! # What it looks for
//! Copies from the host to the GPU during which no kernel runs.
//!
//! # Why it wastes the GPU
//! Copy engines work beside the multiprocessors. A copy that nothing overlaps is idle time for them.
//!
//! # Confirm by hand
//! In the profiler's timeline look for copies above an empty compute stream at the start of each step.
//!
//! # Fix
//! Send the next batch while this one computes: pinned memory, `non_blocking=True`, a second stream that the compute
//! stream waits for. Send less: bytes instead of floats, and normalise on the GPU.
//!
//! # Limits
//! Optimisers that keep their state on the host copy by design. The first step's copies do not count.
//!
//! # References
//! layers-4-6 of the project's notes, rule and thresholds by choice; PyTorch tutorial on pin_memory and non_blocking.

use crate::catalogue::traced::{Traced, at_most, grade, number, pct, summed};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Fix, Level, Tag};

crate::check! {
    id: "memory/h2d-exposed", layer: Memory, title: "The GPU stands still while data is copied to it", severity: Medium,
    core: true, minutes: 3, evidence: [Trace, Nsys],
    limits: {
        warn_share = 0.02, "", "layers-4-6, h2d-exposed: 2 % of the step; our choice";
        fail_share = 0.10, "", "layers-4-6, h2d-exposed: 10 % of the step; our choice";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let t = summed(cx)?;
    // Without step marks the window holds start-up, so that only the device's own busy time is a fair measure.
    let share = if t.unmarked {
        t.trace.share(t.trace.parts.h2d) / t.busy().max(f64::MIN_POSITIVE)
    } else {
        t.share(t.step.ms.exposed_h2d)
    };
    let level = grade(share, cx.limit(&warn_share), cx.limit(&fail_share));
    let level = if t.unmarked && level == Level::Fail { Level::Warn } else { level };
    let what = if t.unmarked { "of the GPU's busy time".to_owned() } else { format!("of {}", t.of_what()) };
    if level == Level::Pass {
        return Ok(Verdict::pass(format!("Copies to the GPU stand alone for {} {what}.", pct(share))).confidence(t.confidence()));
    }
    let cost = t.share(t.step.ms.exposed_h2d);
    let gain = cost.min(t.share(t.step.ms.compute));
    let c = &t.trace.copies;
    Ok(Verdict::new(
        level,
        format!(
            "The GPU does nothing but receive data for {} {what}{}. If all of it could run beside the kernels: {}.",
            pct(share),
            same_stream(&t),
            at_most(gain)
        ),
    )
    .cost(cost, gain)
    .confidence(t.confidence())
    .with([
        t.evidence("step.exposed_h2d_ms", t.step.ms.exposed_h2d.unwrap_or(0.0), "ms", &format!("< {} of the step", pct(cx.limit(&warn_share)))),
        t.evidence("trace.h2d_mib_per_step", mib(c.h2d_bytes) / t.trace.step_count(), "MiB", ""),
    ]))
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a window are far below 2^53")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}

fn same_stream(t: &Traced<'_>) -> String {
    let c = &t.trace.copies;
    if c.h2d_ms > 0.0 && c.on_compute_stream_ms >= 0.5 * c.h2d_ms {
        format!(": the copies ({} ms a step) are on the stream that computes, where nothing can overlap them", number(c.h2d_ms / t.trace.step_count()))
    } else {
        String::new()
    }
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd(
                "Page-locked batches, copied without waiting.",
                "DataLoader(..., pin_memory=True); batch = batch.to(\"cuda\", non_blocking=True)",
                &[Tag::RestartsJob],
            ),
            cmd(
                "Copy the next batch on a stream of its own while this one computes.",
                "with torch.cuda.stream(copy): nxt = nxt.to(\"cuda\", non_blocking=True)\ntorch.cuda.current_stream().wait_stream(copy); nxt.record_stream(torch.cuda.current_stream())",
                &[Tag::RestartsJob],
            ),
            step("Send images as bytes and turn them into floats on the GPU: a quarter of the traffic.", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("sextant run --trace-steps 5 -- python train.py", "exposed copies below 2 % of the step"),
    }
}
