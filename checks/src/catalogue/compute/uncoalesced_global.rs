//! # What it looks for
//! Kernels whose neighbouring threads touch distant addresses, so that most of each 32-byte sector is fetched for nothing.
//!
//! # Why it wastes the GPU
//! Memory moves in sectors. A kernel that uses 4 bytes of each sector needs eight times the bandwidth.
//!
//! # Confirm by hand
//! `ncu --section MemoryWorkloadAnalysis_Tables`: excessive sectors; 32 useful bytes a sector is ideal.
//!
//! # Fix
//! Contiguous tensors, `channels_last`, loops that follow the memory, a transpose through shared memory.
//!
//! # Limits
//! Gathers and embeddings are scattered by nature. A kernel that reads in wide vectors may show half and be fine, as long
//! as memory is not what bounds it.
//!
//! # References
//! CUDA C++ best practices guide, coalesced access; Nsight Compute, rule UncoalescedGlobalAccess. An H200 measured by the
//! project: a transposing copy shows 12.5 %.

use crate::catalogue::ncu::{Profiled, is_later, long_kernels};
use crate::catalogue::traced::{number, pct};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Confidence, Fix, Level, Tag};

crate::check! {
    id: "compute/uncoalesced-global", layer: Compute, title: "Memory is read in scattered pieces", severity: Medium, core: true,
    minutes: 5, evidence: [Ncu],
    limits: {
        warn_excess = 0.25, "", "layers-4-6, compute/uncoalesced-global: a quarter of the sectors in excess; our choice";
        fail_excess = 0.50, "", "layers-4-6, compute/uncoalesced-global: half of the sectors in excess; our choice";
        warn_bytes = 16.0, "B", "layers-4-6, compute/uncoalesced-global: below half of a 32-byte sector";
        share = 0.03, "", "layers-4-6, compute/uncoalesced-global: kernels of 3 % of the time";
        fail_share = 0.10, "", "layers-4-6, compute/uncoalesced-global: kernels of 10 % of the time";
        memory_pct = 60.0, "%", "Nsight Compute, rule SOLBottleneck: below 60 % memory is not the limit";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let all = long_kernels(cx)?;
    let known: Vec<(&Profiled<'_>, f64)> = all.iter().filter_map(|p| Some((p, wasted(p)?))).collect();
    if known.is_empty() {
        return Err(Missing::fact("kernel[0].bytes_per_sector".into(), "memory metrics (ncu --set full)"));
    }
    let bound = |p: &Profiled<'_>| p.kernel.mem_pct.is_none_or(|m| m >= cx.limit(&memory_pct) || m >= p.kernel.sm_pct.unwrap_or(0.0));
    let worst = known
        .iter()
        .filter(|(p, w)| *w >= cx.limit(&warn_excess) && p.share >= cx.limit(&share) && bound(p))
        .filter(|(p, w)| p.kernel.excess_sectors.is_some() || *w > 1.0 - cx.limit(&warn_bytes) / 32.0)
        .max_by(|a, b| (a.1 * a.0.share).total_cmp(&(b.1 * b.0.share)));
    let Some((p, w)) = worst else {
        return Ok(Verdict::pass("The profiled kernels use most of what they fetch."));
    };
    let name = p.kernel.name.to_lowercase();
    let scattered = ["gather", "embedding", "index", "scatter"].iter().any(|n| name.contains(n));
    let level = if scattered || is_later(cx) {
        Level::Info
    } else if *w >= cx.limit(&fail_excess) && p.share >= cx.limit(&fail_share) && p.kernel.excess_sectors.is_some() {
        Level::Fail
    } else {
        Level::Warn
    };
    Ok(Verdict::new(level, format!("{} fetches {} of its memory sectors for nothing, in {} of the profiled time.", p.name(), pct(*w), pct(p.share)))
        .confidence(Confidence::Medium)
        .with([p.evidence("kernel.wasted_sectors_share", *w, "", &format!("< {}", number(cx.limit(&warn_excess))))]))
}

/// Share of the fetched bytes that nobody asked for.
fn wasted(p: &Profiled<'_>) -> Option<f64> {
    if let (Some(excess), Some(all)) = (p.kernel.excess_sectors, p.kernel.sectors)
        && all > 0.0
    {
        return Some((excess / all).clamp(0.0, 1.0));
    }
    // No access at all shows as 0, which is not bad.
    let used = [p.kernel.load_bytes_per_sector, p.kernel.store_bytes_per_sector].into_iter().flatten().filter(|b| *b > 0.0);
    let least = used.fold(f64::INFINITY, f64::min);
    least.is_finite().then(|| (1.0 - least / 32.0).clamp(0.0, 1.0))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("See which access it is.", "ncu --section SourceCounters --import-source yes -o profile python train.py", &[Tag::RestartsJob]),
            step("Make the fastest-changing index the one that threads differ in; transpose through shared memory.", &[Tag::RestartsJob]),
            cmd("For convolutions keep one layout throughout.", "model = model.to(memory_format=torch.channels_last)", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("ncu --set full --csv python train.py", "near 32 useful bytes a sector"),
    }
}
