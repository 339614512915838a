//! # What it looks for
//! Kernels that take much of the GPU's time with fewer thread blocks than the GPU has multiprocessors (SMs), or with
//! blocks whose threads do not fill warps.
//!
//! # Why it wastes the GPU
//! An SM without a block does nothing. Utilisation still reads 100 %, because something runs.
//!
//! # Confirm by hand
//! `ncu --section LaunchStats` shows grid and waves per SM; `nvidia-smi dmon --gpm-metrics 2` shows SM activity.
//!
//! # Fix
//! More blocks: a larger batch, several small products as one batched product, a split along the long dimension; in own
//! kernels a grid that covers the SMs and blocks of a multiple of 32 threads.
//!
//! # Limits
//! Persistent, cluster and split kernels, fused attention and communication use few blocks by design and are left out,
//! as are kernels below 5 µs, which belong to launching, and grids that reach four fifths of the SMs. Kernels that run beside others on a second stream may be fine.
//!
//! # References
//! Nsight Compute rule LaunchConfiguration; CUDA C++ best practices guide, execution configuration.

use crate::catalogue::ncu;
use crate::catalogue::traced::{Traced, at_most, grade, number, pct, traced};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Fix, Level, Tag};

crate::check! {
    id: "compute/launch-geometry", layer: Compute, title: "Kernels leave most multiprocessors without work", severity: Medium,
    core: true, minutes: 5, evidence: [Trace, Ncu],
    limits: {
        warn_share = 0.20, "", "layers-4-6, compute/launch-geometry: 20 % of kernel time in small grids; our choice";
        fail_share = 0.50, "", "layers-4-6, compute/launch-geometry: 50 % of kernel time; our choice";
        ragged_share = 0.05, "", "layers-4-6, compute/launch-geometry: 5 % of kernel time in blocks that waste lanes; our choice";
        step_share = 0.05, "", "below 5 % of the step it is worth knowing only; our choice";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    match traced(cx) {
        Ok(t) => from_trace(cx, &t),
        Err(m) => ncu::geometry(cx, cx.limit(&warn_share), cx.limit(&fail_share)).unwrap_or(Err(m)),
    }
}

fn from_trace(cx: &Ctx<'_>, t: &Traced<'_>) -> Result<Verdict, Missing> {
    let g = &t.trace.geometry;
    let Some(sms) = t.trace.device.as_ref().and_then(|d| d.sms) else {
        return Err(Missing::other("the number of multiprocessors, which this trace does not tell"));
    };
    let kernels = t.trace.kernel_ms() - t.trace.family(|f| f == crate::trace::Family::Comm).1;
    if kernels <= 0.0 || g.known_ms <= 0.0 {
        return Err(Missing::other("a trace with grids of kernels of at least 5 µs"));
    }
    let (small, ragged) = (g.small_ms / kernels, g.ragged_ms / kernels);
    let of_step = t.device_share(g.small_ms);
    let mut level = grade(small, cx.limit(&warn_share), cx.limit(&fail_share));
    if level.is_problem() && of_step < cx.limit(&step_share) {
        level = Level::Info;
    }
    if level == Level::Pass && ragged >= cx.limit(&ragged_share) {
        let share = t.device_share(g.ragged_ms);
        return Ok(Verdict::warn(format!(
            "{} of kernel time is in blocks that do not fill their warps (not a multiple of 32 threads, or below 64).",
            pct(ragged)
        ))
        .cost(share, 0.0)
        .confidence(t.confidence())
        .with([t.evidence("trace.ragged_block_share", ragged, "", &format!("< {}", cx.limit(&ragged_share)))]));
    }
    let Some((name, blocks)) = g.top.as_ref().filter(|_| level != Level::Pass) else {
        return Ok(Verdict::pass(format!("Grids cover the {sms} multiprocessors: {} of kernel time is in smaller ones.", pct(small)))
            .confidence(t.confidence()));
    };
    // With as many blocks as SMs the work would be spread over all of them.
    let gain = of_step * (1.0 - f64::from(*blocks) / f64::from(sms)).max(0.0);
    Ok(Verdict::new(
        level,
        format!(
            "Kernels with too few blocks for the {sms} multiprocessors take {} of each step: {name} runs on {blocks} block{} and leaves the rest of the GPU dark; {}.",
            pct(of_step),
            if *blocks == 1 { "" } else { "s" },
            at_most(gain)
        ),
    )
    .cost(of_step, gain)
    .confidence(t.confidence())
    .with([
        t.quoted("trace.small_grid_share", small, "", &format!("< {}", cx.limit(&warn_share)), name),
        t.evidence("trace.small_grid_blocks", *blocks, "blocks", &format!(">= {sms}")),
        t.evidence("trace.small_grid_ms", g.small_ms / t.trace.step_count(), "ms", &format!("of {} ms", number(t.trace.mean_step_ms()))),
    ]))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            step("Give the kernel more independent work: a larger batch, packed sequences, one batched product for many small ones.", &[Tag::RestartsJob]),
            step("In a kernel of your own: at least as many blocks as multiprocessors, and blocks of 128 to 256 threads.", &[Tag::RestartsJob]),
            cmd(
                "See grid, waves and what limits them for the slowest kernels.",
                "ncu --section LaunchStats --section Occupancy --launch-skip 50 --launch-count 20 python train.py",
                &[Tag::RestartsJob],
            ),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("nvidia-smi dmon --gpm-metrics 2", "SM activity rises, and the step gets shorter"),
    }
}
