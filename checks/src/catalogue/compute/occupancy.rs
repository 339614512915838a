//! # What it looks for
//! Kernels that wait for latency and have too few warps to hide it.
//!
//! # Why it wastes the GPU
//! While one warp waits for memory, others should work. With few warps nobody does.
//!
//! # Confirm by hand
//! `ncu --section Occupancy`: achieved against theoretical, and what limits it.
//!
//! # Fix
//! Relieve the limiter that Nsight Compute names: registers, shared memory, block size.
//!
//! # Limits
//! Low occupancy is no fault by itself: a product on Tensor Cores runs at 14 % by design. It counts only for kernels that
//! reach neither roof, and never as a failure.
//!
//! # References
//! NVIDIA: higher occupancy is not necessarily better (CUDA C++ best practices guide); thresholds by choice.

use crate::catalogue::ncu::{is_later, long_kernels};
use crate::catalogue::traced::{number, pct};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Confidence, Fix, Level, Tag};

crate::check! {
    id: "compute/occupancy", layer: Compute, title: "Too few warps to hide latency", severity: Low, core: false,
    minutes: 5, evidence: [Ncu],
    limits: {
        achieved_pct = 25.0, "%", "layers-4-6, compute/occupancy: 25 %; our choice";
        latency_pct = 60.0, "%", "Nsight Compute, rule SOLBottleneck: below 60 % of both peaks";
        share = 0.05, "", "kernels of 5 % of the profiled time; our choice";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let all = long_kernels(cx)?;
    let known: Vec<_> = all
        .iter()
        .filter_map(|p| Some((p, p.kernel.occupancy_achieved_pct?, p.kernel.sm_pct?.max(p.kernel.mem_pct?))))
        .collect();
    if known.is_empty() {
        return Err(Missing::fact("kernel[0].achieved_occupancy_pct".into(), "occupancy and Speed-of-Light metrics (ncu --set full)"));
    }
    let worst = known
        .iter()
        .filter(|(p, o, sol)| *o < cx.limit(&achieved_pct) && *sol < cx.limit(&latency_pct) && p.share >= cx.limit(&share))
        .filter(|(p, _, _)| p.class().tensor != Some(true))
        .max_by(|a, b| a.0.share.total_cmp(&b.0.share));
    let Some((p, o, _)) = worst else {
        return Ok(Verdict::pass("No profiled kernel that waits for latency lacks warps."));
    };
    let least = p.kernel.occupancy_limits.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let limiter = least.map_or(String::new(), |l| format!("; {} limit it to {:.0} blocks a multiprocessor", l.0, l.1));
    let level = if is_later(cx) { Level::Info } else { Level::Warn };
    Ok(Verdict::new(level, format!("{} reaches {} % of the warps that fit and waits for latency{limiter} ({} of the profiled time).", p.name(), number(*o), pct(p.share)))
        .confidence(Confidence::Low)
        .with([p.evidence("kernel.achieved_occupancy_pct", *o, "%", ">= 25 % where latency bounds")]))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("See what limits it.", "ncu --section Occupancy --section LaunchStats --csv python train.py", &[Tag::RestartsJob]),
            step("Relieve the limiter: fewer registers, less shared memory, blocks of 128 to 256 threads, or more blocks.", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("ncu --section SpeedOfLight --csv python train.py", "a higher throughput, not only a higher occupancy"),
    }
}
