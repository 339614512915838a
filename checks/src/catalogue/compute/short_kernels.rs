//! # What it looks for
//! Kernels that run for less time than the host needs to launch them.
//!
//! # Why it wastes the GPU
//! A stream of such kernels can never be launched fast enough: the GPU finishes each before the next one arrives.
//!
//! # Confirm by hand
//! In the profiler's table compare the mean CUDA time of the most frequent kernels with the mean CPU time of
//! `cudaLaunchKernel`.
//!
//! # Fix
//! Merge them: compile the model, use fused operators, batch small products, or replay them as a CUDA graph.
//!
//! # Limits
//! Harmless as long as the queue never runs empty; kernels inside CUDA graphs have no launch call of their own and do
//! not count. Under a profiler launch calls take about twice as long.
//!
//! # References
//! HolisticTraceAnalysis, launch statistics, "short GPU kernels".

use crate::catalogue::traced::{number, pct, traced};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Fix, Tag};

crate::check! {
    id: "compute/short-kernels", layer: Compute, title: "Most kernels are shorter than their launch", severity: Medium,
    core: true, minutes: 3, evidence: [Trace, Nsys], under: ["compute/launch-bound"],
    limits: {
        count_share = 0.5, "", "layers-4-6, compute/short-kernels: half of all kernels";
        idle_share = 0.03, "", "layers-4-6, compute/short-kernels: launch-bound idle of 3 % of the step";
        min_kernels = 50.0, "kernels", "fewer kernels than this are no stream; our choice";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let t = traced(cx)?;
    let l = &t.trace.launch;
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let (short, launched) = (l.short as f64, l.launched as f64);
    if l.launched == 0 && l.in_graph > 0 {
        return Ok(Verdict::not_applicable("All kernels are launched by CUDA graphs."));
    }
    if launched < cx.limit(&min_kernels) {
        return Err(Missing::other("a trace with more kernels and their launch calls"));
    }
    let share = short / launched;
    let idle = t.share(t.step.ms.launch);
    let (kernel, call) = (l.kernel_median_us.unwrap_or(0.0), l.call_median_us.unwrap_or(0.0));
    let said = format!(
        "{} of {launched:.0} kernels are shorter than their own launch call (median {} µs against {} µs)",
        pct(share),
        number(kernel),
        number(call)
    );
    let evidence = [
        t.evidence("trace.short_kernel_share", share, "", "< 0.5"),
        t.evidence("trace.kernel_median_us", kernel, "µs", ""),
        t.evidence("trace.launch_call_median_us", call, "µs", ""),
    ];
    let verdict = if share < cx.limit(&count_share) {
        Verdict::pass(format!("{said}."))
    } else if idle < cx.limit(&idle_share) {
        Verdict::info(format!("{said}; it costs nothing here, since the queue does not run empty."))
    } else {
        Verdict::warn(format!("{said}, and the GPU idles {} of the step between them.", pct(idle))).cost(idle, idle)
    };
    Ok(verdict.confidence(t.confidence()).with(evidence))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Let the compiler merge them.", "model = torch.compile(model)", &[Tag::RestartsJob]),
            step("Stack parameters and inputs of equal layers, so that one operator works on all of them.", &[Tag::RestartsJob]),
            cmd("Replay fixed-shape steps as a graph.", "torch.cuda.make_graphed_callables(model, sample)", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("sextant run --trace-steps 5 -- python train.py", "fewer kernels a step"),
    }
}
