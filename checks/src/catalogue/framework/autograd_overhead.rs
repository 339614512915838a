//! # What it looks for
//! A backward pass made of so many small nodes that the host cannot walk through them as fast as the GPU works.
//!
//! # Why it wastes the GPU
//! Each node costs the host some ten microseconds, whatever it computes. Thousands of element-wise nodes leave the GPU
//! idle for most of the backward pass.
//!
//! # Confirm by hand
//! In the profiler's table look at the number of `autograd::engine::evaluate_function` calls a step. The sum of their
//! times proves nothing: it contains everything that backward does.
//!
//! # Fix
//! `torch.compile` turns forward and backward into a few kernels. Checkpointing does not help: it adds work. Nor do
//! functional_call or TorchScript.
//!
//! # Limits
//! Judged by idle time within backward, scaled to the untraced step where that is known. Compiled backward passes are
//! let pass.
//!
//! # References
//! layers-4-6 of the project's notes: thresholds by choice; node and launch counts measured on an H200.

use crate::catalogue::traced::{Traced, at_most, grade, number, pct, traced};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Fix, Level, Tag};

crate::check! {
    id: "framework/autograd-overhead", layer: Framework, title: "The backward pass is too finely divided", severity: Medium,
    core: true, minutes: 5, evidence: [Trace], under: ["compute/launch-bound"],
    limits: {
        warn_share = 0.10, "", "layers-4-6, framework/autograd-overhead: launch-bound idle in backward of 10 % of the step";
        fail_share = 0.25, "", "layers-4-6, framework/autograd-overhead: 25 % of the step";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let t = traced(cx)?;
    let a = &t.trace.autograd;
    if a.nodes == 0 {
        return Ok(Verdict::not_applicable("No backward pass was recorded."));
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let nodes = a.nodes as f64 / t.trace.step_count();
    if a.compiled > 0 {
        return Ok(Verdict::pass(format!("The backward pass is compiled ({} nodes a step).", number(nodes))).confidence(t.confidence()));
    }
    let (host, gpu) = (a.host_median_us.unwrap_or(0.0), a.gpu_mean_us.unwrap_or(0.0));
    let idle = idle(&t);
    let said = format!("Backward walks through {} nodes a step, {} µs of host time for {} µs of GPU work each", number(nodes), number(host), number(gpu));
    let level = if host > gpu { t.host_grade(grade(idle, cx.limit(&warn_share), cx.limit(&fail_share))) } else { Level::Pass };
    if level == Level::Pass {
        return Ok(Verdict::pass(format!("{said}; the GPU waits for it for {} of the step.", pct(idle))).confidence(t.confidence()));
    }
    let top: Vec<String> = a.top.iter().take(3).map(|(n, c)| format!("{n} x{c}")).collect();
    Ok(Verdict::new(level, format!("{said}: the GPU idles {} of the step meanwhile; {}.", pct(idle), at_most(idle)))
        .cost(idle, idle)
        .confidence(t.confidence())
        .with([
            t.quoted("trace.autograd_nodes_per_step", nodes, "", "", &top.join(", ")),
            t.evidence("trace.autograd_host_median_us", host, "µs", &format!("< {} µs, the GPU's time", number(gpu))),
        ]))
}

/// Idle time within backward as a share of the step: the part of the step's launch-bound idle that lies there.
fn idle(t: &Traced<'_>) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
    let all = t.trace.parts.launch() as f64 / 1e6;
    if all > 0.0 { t.share(t.step.ms.launch) * (t.trace.autograd.idle_ms / all).min(1.0) } else { 0.0 }
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Compile the model: forward and backward become a few kernels.", "model = torch.compile(model)", &[Tag::RestartsJob]),
            step("Write chains of element-wise operators as one operator, and parameters of equal layers as one stacked tensor.", &[Tag::RestartsJob]),
            step("A larger batch gives each node more work at the same cost for the host.", &[Tag::RestartsJob, Tag::ChangesTraining]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("sextant run --trace-steps 5 -- python train.py", "fewer nodes a step, and less idle time in backward"),
    }
}
