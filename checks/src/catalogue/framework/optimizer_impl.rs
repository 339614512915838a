//! # What it looks for
//! An optimiser that updates parameters one by one, or that waits for the GPU.
//!
//! # Why it wastes the GPU
//! A loop over parameters launches several kernels for each of them, thousands at the end of every step, all of them tiny.
//!
//! # Confirm by hand
//! Count the kernels under `Optimizer.step` in the profiler, and compare with the number of parameter tensors.
//!
//! # Fix
//! `fused=True`, or `foreach=True`, which is the default on CUDA since PyTorch 2.0; `capturable=True` where the step
//! counter lives on the GPU.
//!
//! # Limits
//! Optimisers that keep their state on the host, and LBFGS, are as they are. Without a backward pass in the trace the
//! number of parameters is not known.
//!
//! # References
//! PyTorch torch.optim documentation, foreach and fused; pytorch issue 128208 (a step counter on the GPU).

use crate::catalogue::traced::{Traced, number, pct, traced};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Fix, Tag};

crate::check! {
    id: "framework/optimizer-impl", layer: Framework, title: "The optimiser updates parameters one by one", severity: Medium,
    core: true, minutes: 3, evidence: [Trace, Steps], under: ["compute/launch-bound"],
    limits: {
        min_parameters = 50.0, "tensors", "layers-4-6, framework/optimizer-impl: fewer parameters make no loop worth the change";
        idle_share = 0.10, "", "layers-4-6, framework/optimizer-impl: launch-bound idle in the optimiser of 10 % of the step";
        sync_share = 0.5, "", "layers-4-6, framework/optimizer-impl: one wait for every second parameter is a wait for each";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let t = traced(cx)?;
    let o = &t.trace.optimizer;
    if o.steps == 0 {
        return Ok(Verdict::not_applicable("No optimiser step was recorded."));
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let (launches, syncs, parameters) =
        (o.launches as f64 / o.steps as f64, o.syncs as f64 / o.steps as f64, t.trace.autograd.parameters as f64);
    let name = o.classes.join(", ");
    let idle = idle(&t);
    let evidence = [
        t.quoted("trace.optimizer_launches", launches, "", &format!("far below {parameters:.0} parameter tensors"), &name),
        t.evidence("trace.optimizer_host_ms", o.host_ms / t.trace.step_count(), "ms", ""),
    ];
    let many = parameters >= cx.limit(&min_parameters);
    let verdict = if many && syncs >= cx.limit(&sync_share) * parameters {
        Verdict::fail(format!("{name} waits for the GPU {} times a step, about once for each parameter: its step counter is on the GPU.", number(syncs)))
    } else if many && launches >= parameters {
        Verdict::warn(format!("{name} launches {} kernels for {parameters:.0} parameter tensors: it updates them one by one.", number(launches)))
    } else if idle >= cx.limit(&idle_share) {
        Verdict::warn(format!("The GPU idles {} of the step while {name} launches {} kernels.", pct(idle), number(launches)))
    } else {
        Verdict::pass(format!("{name} launches {} kernels a step.", number(launches)))
    };
    Ok(verdict.cost(idle, idle).confidence(t.confidence()).with(evidence))
}

/// The part of the step's launch-bound idle that lies within the optimiser.
fn idle(t: &Traced<'_>) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
    let all = t.trace.parts.launch() as f64 / 1e6;
    if all > 0.0 { t.share(t.step.ms.launch) * (t.trace.optimizer.idle_ms / all).min(1.0) } else { 0.0 }
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Update all parameters in a few kernels.", "torch.optim.AdamW(params, lr=lr, fused=True)", &[Tag::RestartsJob]),
            step("After loading a checkpoint keep the optimiser's step counters on the CPU, or set capturable=True.", &[Tag::RestartsJob]),
            cmd("Compile the step of optimisers without a fused form.", "step = torch.compile(optimizer.step)", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("sextant run --trace-steps 5 -- python train.py", "tens of kernels under Optimizer.step instead of thousands"),
    }
}
