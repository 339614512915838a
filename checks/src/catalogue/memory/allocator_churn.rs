//! # What it looks for
//! Device memory that is taken from the driver and given back in every step.
//!
//! # Why it wastes the GPU
//! `cudaFree` waits until the GPU has done everything, and `cudaMalloc` takes a hundred times as long as PyTorch's own
//! allocator. The GPU runs dry each time.
//!
//! # Confirm by hand
//! `torch.cuda.memory_stats()["num_device_alloc"]` must not grow from step to step.
//!
//! # Fix
//! No `empty_cache()` in the loop; expandable segments; fewer different shapes; some memory left free.
//!
//! # Limits
//! The first steps and new shapes allocate by right. Memory pools (`cudaMallocAsync`) do not wait and do not count.
//!
//! # References
//! CUDA runtime documentation, implicit synchronisation of cudaFree; PyTorch notes on memory management. Thresholds:
//! layers-4-6 of the project's notes.

use crate::catalogue::traced::{at_most, number, pct, traced};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Fix, Level, Tag};
use crate::trace::MIN_STEPS;

crate::check! {
    id: "memory/allocator-churn", layer: Memory, title: "Device memory is allocated and freed in every step", severity: High,
    core: true, minutes: 3, evidence: [Trace, Nsys, Steps],
    limits: {
        fail_share = 0.02, "", "layers-4-6, allocator-churn: allocator time of 2 % of the step";
        fail_frees = 1.0, "calls", "layers-4-6, allocator-churn: one free a step";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let t = traced(cx)?;
    let a = &t.trace.allocator;
    if t.trace.steps.used < MIN_STEPS {
        return Err(Missing::other("a trace of at least three warm steps: the first ones allocate by right"));
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let (takes, gives) = (a.takes as f64 / t.trace.step_count(), a.gives as f64 / t.trace.step_count());
    let share = t.share(t.step.ms.allocator);
    if takes + gives == 0.0 {
        return Ok(Verdict::pass("No device memory is taken from the driver in the recorded steps.").confidence(t.confidence()));
    }
    let level = if share >= cx.limit(&fail_share) || (gives >= cx.limit(&fail_frees) && t.trace.share_ms(a.host_ms) >= 0.01) {
        Level::Fail
    } else if gives > 0.0 {
        Level::Warn
    } else {
        Level::Info
    };
    let said = format!(
        "Each step takes device memory {} times from the driver and gives it back {} times ({} ms on the host)",
        number(takes),
        number(gives),
        number(a.host_ms / t.trace.step_count())
    );
    let message = if share > 0.0 {
        format!("{said}; the GPU idles {} of the step for it; {}.", pct(share), at_most(share))
    } else {
        format!("{said}; the GPU was busy meanwhile.")
    };
    Ok(Verdict::new(level, message).cost(share, share).confidence(t.confidence()).with([
        t.evidence("trace.allocations_per_step", takes, "", "0 after warm-up"),
        t.evidence("trace.frees_per_step", gives, "", "0 after warm-up"),
        t.evidence("step.allocator_ms", t.step.ms.allocator.unwrap_or(0.0), "ms", ""),
    ]))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            step("Take torch.cuda.empty_cache() out of the training loop.", &[Tag::RestartsJob]),
            cmd(
                "Let the allocator grow its segments instead of exchanging them.",
                "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py",
                &[Tag::RestartsJob],
            ),
            step("Leave a few per cent of the memory free: close to the limit the allocator gives everything back and starts anew.", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("sextant run --trace-steps 5 -- python train.py", "no cudaMalloc and cudaFree in warm steps"),
    }
}
