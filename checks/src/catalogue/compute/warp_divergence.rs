//! # What it looks for
//! Kernels in which the threads of a warp take different ways, so that part of them sits out.
//!
//! # Why it wastes the GPU
//! A warp issues one instruction for 32 threads. Threads that are masked out cost the same and do nothing.
//!
//! # Confirm by hand
//! `ncu --section WarpStateStats`: "Avg. Active Threads Per Warp" of 32.
//!
//! # Fix
//! Sort work by the branch it takes, replace branches by arithmetic, pad to full warps, split the kernel.
//!
//! # Limits
//! Blocks that are not a multiple of 32 threads show the same; library kernels cannot be changed, so they are worth
//! knowing only.
//!
//! # References
//! Nsight Compute, rule ThreadDivergence: 24 of 32.

use crate::catalogue::ncu::{is_later, kernels, long_kernels};
use crate::catalogue::traced::{number, pct};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Confidence, Fix, Level, Tag};
use crate::trace::Family;

crate::check! {
    id: "compute/warp-divergence", layer: Compute, title: "Threads of a warp sit out", severity: Medium, core: true,
    minutes: 5, evidence: [Ncu],
    limits: {
        warn_threads = 24.0, "threads", "Nsight Compute, rule ThreadDivergence: below 24 of 32";
        fail_threads = 16.0, "threads", "layers-4-6, compute/warp-divergence: half of the warp";
        warn_share = 0.03, "", "layers-4-6, compute/warp-divergence: kernels of 3 % of the time";
        fail_share = 0.10, "", "layers-4-6, compute/warp-divergence: kernels of 10 % of the time";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    kernels(cx)?;
    let all = long_kernels(cx)?;
    let active = |k: &crate::profile::NcuKernel| match (k.threads_active, k.threads_on) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let known: Vec<_> = all.iter().filter_map(|p| Some((p, active(p.kernel)?))).collect();
    let Some((p, threads)) = known
        .iter()
        .filter(|(p, t)| *t < cx.limit(&warn_threads) && p.share >= cx.limit(&warn_share))
        .max_by(|a, b| a.0.share.total_cmp(&b.0.share))
    else {
        if known.is_empty() {
            return Err(Missing::fact("kernel[0].threads_per_instruction".into(), "warp metrics (ncu --section WarpStateStats)"));
        }
        return Ok(Verdict::pass("Warps of the profiled kernels are full."));
    };
    // A ragged block or a library's kernel is no branch of the user's.
    let ragged = p.kernel.threads.is_some_and(|t| t % 32 != 0);
    let library = p.class().family.is_product() || matches!(p.class().family, Family::Softmax | Family::Optimizer);
    let level = if ragged || library || is_later(cx) {
        Level::Info
    } else if *threads < cx.limit(&fail_threads) && p.share >= cx.limit(&fail_share) {
        Level::Fail
    } else {
        Level::Warn
    };
    let why = if ragged { " (its blocks do not fill their warps)" } else if library { " (a library's kernel)" } else { "" };
    Ok(Verdict::new(level, format!("{} uses {} of 32 threads of each warp and takes {} of the profiled time{why}.", p.name(), number(*threads), pct(p.share)))
        .confidence(Confidence::Medium)
        .with([p.evidence("kernel.threads_per_instruction", *threads, "threads", ">= 24 of 32")]))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Find the branch.", "ncu --section SourceCounters --import-source yes -o profile python train.py", &[Tag::RestartsJob]),
            step("Sort or bucket the work so that neighbouring threads take the same way, or replace the branch by arithmetic.", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("ncu --section WarpStateStats --csv python train.py", "28 and more active threads a warp"),
    }
}
