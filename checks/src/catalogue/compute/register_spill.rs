//! # What it looks for
//! Kernels whose variables do not fit into registers and go to memory and back.
//!
//! # Why it wastes the GPU
//! A spilled variable is a load and a store through the caches in the innermost loop.
//!
//! # Confirm by hand
//! `ncu --section MemoryWorkloadAnalysis`: local memory spilling; or `ptxas -v` when compiling.
//!
//! # Fix
//! Smaller tiles, less unrolling, `__launch_bounds__`, in Triton more warps or fewer stages.
//!
//! # Limits
//! Many registers alone are no fault: a product with 254 registers and no spilling is as it should be. Local memory
//! without the spilling counter may be arrays on the stack.
//!
//! # References
//! Nsight Compute metrics derived__local_spilling_requests and _pct. An H200 measured by the project.

use crate::catalogue::ncu::{is_later, long_kernels};
use crate::catalogue::traced::{number, pct};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Confidence, Fix, Level, Tag};

crate::check! {
    id: "compute/register-spill", layer: Compute, title: "A kernel spills registers to memory", severity: Medium, core: true,
    minutes: 5, evidence: [Ncu],
    limits: {
        warn_pct = 5.0, "%", "layers-4-6, compute/register-spill: 5 % of requests; our choice";
        fail_pct = 20.0, "%", "layers-4-6, compute/register-spill: 20 % of requests; our choice";
        share = 0.03, "", "layers-4-6, compute/register-spill: kernels of 3 % of the time";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let all = long_kernels(cx)?;
    let known: Vec<_> = all.iter().filter_map(|p| Some((p, p.kernel.spill_pct?))).collect();
    if known.is_empty() {
        let local = all.iter().any(|p| p.kernel.local_instructions.is_some_and(|n| n > 0.0));
        let what = if local {
            "the spilling counter of a newer Nsight Compute: local memory is used, for spills or for arrays"
        } else {
            "the spilling counter (ncu --set full)"
        };
        return Err(Missing::fact("kernel[0].spill_pct".into(), what));
    }
    let worst = known.iter().filter(|(p, s)| *s >= cx.limit(&warn_pct) && p.share >= cx.limit(&share)).max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((p, spill)) = worst else {
        return Ok(Verdict::pass("The profiled kernels do not spill registers."));
    };
    let level = if is_later(cx) {
        Level::Info
    } else if *spill >= cx.limit(&fail_pct) {
        Level::Fail
    } else {
        Level::Warn
    };
    let registers = p.kernel.registers.map_or(String::new(), |r| format!(" with {r:.0} registers a thread"));
    Ok(Verdict::new(level, format!("{}{registers} spills: {} % of its local requests, in {} of the profiled time.", p.name(), number(*spill), pct(p.share)))
        .confidence(Confidence::Medium)
        .with([p.evidence("kernel.spill_pct", *spill, "%", "< 5 %")]))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("See registers and spills when compiling.", "nvcc -Xptxas -v kernel.cu", &[]),
            step("Smaller tiles or less unrolling; in Triton more num_warps or fewer num_stages.", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("ncu --metrics derived__local_spilling_requests --csv python train.py", "0"),
    }
}
