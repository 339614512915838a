//! # What it looks for
//! Batches that are copied to the GPU from ordinary (pageable) memory.
//!
//! # Why it wastes the GPU
//! The driver must first copy such memory into a page-locked buffer, piece by piece, and the training thread stands
//! still meanwhile. Page-locked memory goes out by itself, several times faster.
//!
//! # Confirm by hand
//! The profiler's copies are named: `Memcpy HtoD (Pageable -> Device)`.
//!
//! # Fix
//! `pin_memory=True` on the loader, and `non_blocking=True` on the copy. Batches of a type of your own need a
//! `pin_memory()` method.
//!
//! # Limits
//! Copies that take under 1 % of the step are let pass whatever their source. On systems where the GPU reads host memory
//! coherently (Grace) the kind of memory matters little.
//!
//! # References
//! An H200 measured by the project: 64 MiB take 9.0 to 9.6 ms from pageable memory, 1.24 ms from pinned memory. PyTorch
//! tutorial on pin_memory and non_blocking.

use crate::catalogue::common::class;
use crate::catalogue::traced::{Traced, at_most, number, pct, summed};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Fix, Level, Tag};
use crate::tables::Class;

crate::check! {
    id: "memory/pageable-copies", layer: Memory, title: "Batches are copied from pageable memory", severity: Medium,
    core: true, minutes: 3, evidence: [Trace, Nsys, Steps],
    limits: {
        warn_bytes = 0.10, "", "catalogue, memory/pageable-copies: 10 % of the bytes copied to the device";
        warn_share = 0.01, "", "catalogue, memory/pageable-copies: exposed copies of 1 % of the step";
        fail_bytes = 0.50, "", "catalogue, memory/pageable-copies: half of the bytes";
        fail_share = 0.05, "", "catalogue, memory/pageable-copies: exposed copies of 5 % of the step";
        speedup = 7.0, "", "H200 measured by the project: 64 MiB in 9.0 ms pageable, 1.24 ms pinned";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let t = summed(cx)?;
    let c = &t.trace.copies;
    if cx.facts.gpus().iter().any(|g| class(cx, *g) == Some(Class::Grace)) {
        return Ok(Verdict::not_applicable("Host memory is coherent here; its kind matters little."));
    }
    if c.h2d == 0 {
        return Ok(Verdict::pass("Nothing was copied to the device in the window."));
    }
    if c.pageable + c.pinned < c.h2d {
        return Err(Missing::other("copies that tell their source memory (this profiler does not)"));
    }
    let bytes = share(c);
    let exposed = exposed(&t);
    let said = format!(
        "{} of the bytes copied to the GPU come from pageable memory ({} MiB a step)",
        pct(bytes),
        number(mib(c.pageable_bytes) / t.trace.step_count())
    );
    let level = if bytes > cx.limit(&fail_bytes) && exposed >= cx.limit(&fail_share) {
        Level::Fail
    } else if bytes >= cx.limit(&warn_bytes) && exposed >= cx.limit(&warn_share) {
        Level::Warn
    } else {
        Level::Pass
    };
    let level = if t.unmarked && level == Level::Fail { Level::Warn } else { level };
    if level == Level::Pass {
        let text = if bytes >= cx.limit(&warn_bytes) {
            format!("{said}, but copies stand exposed for only {} of the step.", pct(exposed))
        } else {
            format!("{} of the bytes copied to the GPU come from pinned memory.", pct(1.0 - bytes))
        };
        return Ok(Verdict::pass(text).confidence(t.confidence()));
    }
    let (cost, gain) = worth(cx, &t);
    Ok(Verdict::new(
        level,
        format!("{said}; copies keep the GPU from computing for {} of {}; {}.", pct(exposed), t.of_what(), at_most(gain)),
    )
    .cost(cost, gain)
    .confidence(t.confidence())
    .with([
        t.quoted("trace.pageable_share", bytes, "", &format!("< {}", cx.limit(&warn_bytes)), "Memcpy HtoD (Pageable -> Device)"),
        t.evidence("step.exposed_h2d_share", exposed, "", &format!("< {}", cx.limit(&warn_share))),
    ]))
}

fn share(c: &crate::trace::Copies) -> f64 {
    if c.h2d_bytes > 0 {
        mib(c.pageable_bytes) / mib(c.h2d_bytes)
    } else {
        c.pageable_ms / c.h2d_ms.max(f64::MIN_POSITIVE)
    }
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a window are far below 2^53")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}

/// Exposed copies as a share of the step; of the device's busy time where no step is marked, since the window then
/// holds start-up too.
fn exposed(t: &Traced<'_>) -> f64 {
    if t.unmarked { t.trace.share(t.trace.parts.h2d) / t.busy().max(f64::MIN_POSITIVE) } else { t.share(t.step.ms.exposed_h2d) }
}

/// What the exposed pageable copies take, and what pinned memory gives back: seven times faster, or hidden behind
/// compute.
fn worth(cx: &Ctx<'_>, t: &Traced<'_>) -> (f64, f64) {
    let all = t.share(t.step.ms.exposed_h2d);
    let part = if t.trace.copies.h2d_ms > 0.0 { t.trace.copies.pageable_ms / t.trace.copies.h2d_ms } else { 0.0 };
    let cost = all * part.min(1.0);
    let faster = cost * (1.0 - 1.0 / cx.limit(&speedup));
    (cost, faster.max(cost.min(t.share(t.step.ms.compute))))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Let the loader hand out page-locked batches.", "DataLoader(..., pin_memory=True)", &[Tag::RestartsJob]),
            cmd("Start the copy without waiting for it.", "batch = batch.to(\"cuda\", non_blocking=True)", &[Tag::RestartsJob]),
            step("Do not call pin_memory() on each batch in the training loop: pinning costs more than it saves there.", &[]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("sextant run --trace-steps 5 -- python train.py", "copies named (Pinned -> Device), and less exposed copying"),
    }
}
