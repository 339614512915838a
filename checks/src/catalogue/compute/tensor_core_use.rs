//! # What it looks for
//! Matrix products, convolutions and attention that run on the ordinary arithmetic units instead of the Tensor Cores.
//!
//! # Why it wastes the GPU
//! Tensor Cores do the same product eight to sixteen times faster. A GPU at 100 % without them is a slow GPU.
//!
//! # Confirm by hand
//! `ncu --metrics sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active` over a few products, or DCGM field
//! 1004. The number of tensor instructions proves nothing: other kernels issue some too.
//!
//! # Fix
//! bf16 autocast, or TF32 for what stays in 32 bits; dimensions that are multiples of 8; fused attention.
//!
//! # Limits
//! A kernel's name tells its unit for cuBLAS, cuDNN, CUTLASS and fused attention; compiled Triton kernels do not tell
//! and count as unknown. Work that needs 32 or 64 bits is right as it is.
//!
//! # References
//! Kernel naming of cuBLAS and cuDNN since Volta; NVIDIA data sheets: TF32 against FP32 without Tensor Cores is 8 on an
//! A100 and 7.4 on an H100.

use crate::catalogue::ncu;
use crate::catalogue::traced::{Traced, at_most, number, pct, summed};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Fix, Level, Tag};

crate::check! {
    id: "compute/tensor-core-use", layer: Compute, title: "Matrix products do not run on Tensor Cores", severity: High,
    core: true, minutes: 5, evidence: [Trace, Ncu, Nsys, Samples],
    limits: {
        pass_share = 0.90, "", "layers-4-6, compute/tensor-core-use: 90 % of product time; our choice";
        fail_share = 0.50, "", "layers-4-6, compute/tensor-core-use: half of product time; our choice";
        unknown_share = 0.30, "", "layers-4-6, compute/tensor-core-use: above 30 % of names that do not tell nothing is said";
        step_share = 0.10, "", "layers-4-6, compute/tensor-core-use: products below 10 % of the step are worth knowing only";
        speedup = 8.0, "", "NVIDIA data sheets: TF32 Tensor Core against FP32 rate, A100 8.0, H100 7.4";
    },
}

/// First compute capability with Tensor Cores.
const FIRST: (u32, u32) = (7, 0);

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    match summed(cx) {
        Ok(t) => from_trace(cx, &t),
        Err(m) => ncu::tensor(cx, cx.limit(&fail_share), cx.limit(&pass_share)).unwrap_or(Err(m)),
    }
}

fn from_trace(cx: &Ctx<'_>, t: &Traced<'_>) -> Result<Verdict, Missing> {
    let p = &t.trace.products;
    let all = p.total_ms();
    if t.trace.device.as_ref().and_then(|d| d.compute).is_some_and(|c| c < FIRST) && !t.trace.rocm {
        return Ok(Verdict::not_applicable("This GPU has no Tensor Cores."));
    }
    if all <= 0.0 {
        return Ok(Verdict::not_applicable("No matrix product or convolution was recorded."));
    }
    if p.known_input_ms > 0.0 && p.fp64_input_ms >= 0.5 * p.known_input_ms {
        return Ok(Verdict::info("Most matrix products are in 64 bits; that is a choice, and Tensor Cores do little for it."));
    }
    if p.unknown_ms > cx.limit(&unknown_share) * all {
        return Err(Missing::other("kernel names that tell the unit, or an ncu profile of the longest products"));
    }
    let share = p.tensor_ms / (p.tensor_ms + p.plain_ms).max(f64::MIN_POSITIVE);
    let of_step = t.device_share(p.plain_ms);
    let level = if share >= cx.limit(&pass_share) {
        Level::Pass
    } else if t.device_share(all) < cx.limit(&step_share) {
        Level::Info
    } else if share < cx.limit(&fail_share) {
        Level::Fail
    } else {
        Level::Warn
    };
    let said = format!("{} of the time of matrix products is on Tensor Cores", pct(share));
    if level == Level::Pass {
        return Ok(Verdict::pass(format!("{said}.")).confidence(t.confidence()));
    }
    let gain = of_step * (1.0 - 1.0 / cx.limit(&speedup));
    let top = p.plain_top.clone().unwrap_or_default();
    let message = if level == Level::Info {
        format!("{said}, but products take only {} of the step.", pct(t.device_share(all)))
    } else {
        format!("Only {said}: {top} and its like take {} of each step on ordinary units; {}.", pct(of_step), at_most(gain))
    };
    Ok(Verdict::new(level, message).cost(of_step, gain).confidence(t.confidence()).with([
        t.quoted("trace.tensor_core_share", share, "", &format!(">= {}", cx.limit(&pass_share)), &top),
        t.evidence("trace.plain_product_ms", p.plain_ms / t.trace.step_count(), "ms", &format!("of {} ms", number(t.trace.mean_step_ms()))),
    ]))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd(
                "Compute in bf16 where it is safe, with 32-bit weights kept.",
                "with torch.autocast(\"cuda\", dtype=torch.bfloat16):",
                &[Tag::RestartsJob, Tag::ChangesTraining],
            ),
            cmd(
                "Let 32-bit products use TF32.",
                "torch.set_float32_matmul_precision(\"high\")",
                &[Tag::RestartsJob, Tag::ChangesTraining],
            ),
            step("Keep dimensions multiples of 8, and compare the loss curve before and after.", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("sextant run --trace-steps 5 -- python train.py", "kernel names with tensorop, nvjet, bf16 or tf32, and a shorter step"),
    }
}
