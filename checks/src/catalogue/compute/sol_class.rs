//! # What it looks for
//! What bounds the profiled kernels: arithmetic, memory, or neither, that is the time that each access takes.
//!
//! # Why it wastes the GPU
//! A kernel that reaches neither roof leaves both units waiting. Which roof it is under decides what can help at all.
//!
//! # Confirm by hand
//! `ncu --section SpeedOfLight`: both throughputs below 60 % mean latency.
//!
//! # Fix
//! Latency: more independent work for each multiprocessor (larger tiles, more warps, fewer barriers). Memory: fuse, and
//! move fewer bytes. Arithmetic: Tensor Cores, smaller formats.
//!
//! # Limits
//! Kernels below 5 µs say nothing here. Nsight Compute runs each kernel alone with cold caches.
//!
//! # References
//! Nsight Compute, rule SOLBottleneck: below 60 % of both roofs latency is the likely limit, from 80 % on the roof is near.

use crate::catalogue::ncu::{is_later, long_kernels};
use crate::catalogue::traced::pct;
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Confidence, Fix, Level, Tag};

crate::check! {
    id: "compute/sol-class", layer: Compute, title: "Profiled kernels reach neither roof", severity: Info, core: true,
    minutes: 5, evidence: [Ncu],
    limits: {
        latency_pct = 60.0, "%", "Nsight Compute, rule SOLBottleneck: below 60 % of peak";
        roof_pct = 80.0, "%", "Nsight Compute, rule SOLBottleneck: above 80 % of peak";
        warn_share = 0.40, "", "layers-4-6, compute/sol-class: 40 % of the profiled time; our choice";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let all = long_kernels(cx)?;
    let (mut latency, mut compute, mut memory, mut known) = (0.0, 0.0, 0.0, 0.0);
    let mut worst: Option<&crate::catalogue::ncu::Profiled<'_>> = None;
    for p in &all {
        let (Some(sm), Some(mem)) = (p.kernel.sm_pct, p.kernel.mem_pct) else { continue };
        known += p.share;
        if sm < cx.limit(&latency_pct) && mem < cx.limit(&latency_pct) {
            latency += p.share;
            if worst.is_none_or(|w| w.share < p.share) {
                worst = Some(p);
            }
        } else if sm.max(mem) >= cx.limit(&roof_pct) {
            *(if sm >= mem { &mut compute } else { &mut memory }) += p.share;
        }
    }
    if known <= 0.0 {
        return Err(Missing::fact("kernel[0].sm_throughput_pct".into(), "Speed-of-Light metrics (ncu --section SpeedOfLight)"));
    }
    let said = format!("near the arithmetic roof {}, near the memory roof {}, below both {}", pct(compute / known), pct(memory / known), pct(latency / known));
    let Some(p) = worst.filter(|_| latency / known >= cx.limit(&warn_share)) else {
        return Ok(Verdict::pass(format!("Of the profiled time: {said}.")));
    };
    let level = if is_later(cx) { Level::Info } else { Level::Warn };
    let text = format!(
        "{} of the profiled time is in kernels that wait for latency; {} reaches {:.0} % of the arithmetic and {:.0} % of the memory peak.",
        pct(latency / known),
        p.name(),
        p.kernel.sm_pct.unwrap_or_default(),
        p.kernel.mem_pct.unwrap_or_default()
    );
    Ok(Verdict::new(level, text).confidence(Confidence::Medium).with([
        p.evidence("kernel.sm_throughput_pct", p.kernel.sm_pct.unwrap_or_default(), "%", ">= 60 % of either peak"),
        p.evidence("kernel.mem_throughput_pct", p.kernel.mem_pct.unwrap_or_default(), "%", ""),
    ]))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("See what the warps wait for.", "ncu --section WarpStateStats --section SchedulerStats --launch-skip 50 --launch-count 20 python train.py", &[Tag::RestartsJob]),
            step("Give each multiprocessor more independent work: a larger batch, more blocks or warps, other tile sizes.", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("ncu --section SpeedOfLight --csv python train.py", "one of the two throughputs above 60 %"),
    }
}
