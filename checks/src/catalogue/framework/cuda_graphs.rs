//! # What it looks for
//! A launch-bound run with the same shapes in every step that does not use CUDA graphs.
//!
//! # Why it wastes the GPU
//! A graph replays hundreds of kernels with one launch. Where the host is the limit and nothing changes from step to
//! step, that is the most direct cure.
//!
//! # Confirm by hand
//! `python -c "..."` with `torch.cuda.make_graphed_callables` around the model: if it captures, it can be used.
//!
//! # Fix
//! `torch.compile(mode="reduce-overhead")`, or graphs by hand for forward and backward.
//!
//! # Limits
//! Shapes are only known where the profiler recorded them. Changing shapes, control flow that depends on values, and
//! synchronisations inside rule graphs out. A graph needs memory of its own.
//!
//! # References
//! PyTorch notes on CUDA graphs. An H200 measured by the project: 9.7 ms a step became 6.0 ms with forward and backward
//! in graphs.

use crate::catalogue::traced::{pct, traced};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Fix, Tag};

crate::check! {
    id: "framework/cuda-graphs", layer: Framework, title: "Fixed steps could be replayed as a CUDA graph", severity: Medium,
    core: true, minutes: 5, evidence: [Trace, Nsys], under: ["compute/launch-bound"],
    limits: {
        idle_share = 0.15, "", "layers-4-6, framework/cuda-graphs: launch-bound idle of 15 % of the step";
        coverage = 0.10, "", "layers-4-6, framework/cuda-graphs: less than 10 % of the kernels in graphs";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let t = traced(cx)?;
    let l = &t.trace.launch;
    let idle = t.share(t.step.ms.launch);
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let covered = if l.launched + l.in_graph > 0 { l.in_graph as f64 / (l.launched + l.in_graph) as f64 } else { 0.0 };
    let in_graphs = format!("{} of the kernels are launched by graphs", pct(covered));
    let shapes = t.trace.steps.distinct_shapes;
    if idle < cx.limit(&idle_share) {
        return Ok(Verdict::pass(format!("The host keeps up without them: {in_graphs}.")).confidence(t.confidence()));
    }
    if covered >= cx.limit(&coverage) {
        return Ok(Verdict::info(format!("{in_graphs}, and the GPU still idles {} of the step between launches.", pct(idle))).confidence(t.confidence()));
    }
    if shapes.is_some_and(|n| n > 1) {
        return Ok(Verdict::not_applicable("Input shapes change from step to step."));
    }
    let known = if shapes.is_some() { "shapes do not change" } else { "if shapes do not change" };
    Ok(Verdict::warn(format!("The GPU idles {} of the step between launches, {in_graphs}; {known}, a graph can replay the step.", pct(idle)))
        .cost(idle, idle)
        .confidence(t.confidence())
        .with([t.evidence("trace.graph_coverage", covered, "", ""), t.evidence("step.launch_share", idle, "", &format!("< {}", cx.limit(&idle_share)))]))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Let the compiler capture and replay.", "model = torch.compile(model, mode=\"reduce-overhead\")", &[Tag::RestartsJob]),
            cmd("Or capture by hand.", "model = torch.cuda.make_graphed_callables(model, (sample,))", &[Tag::RestartsJob]),
            step("Pad inputs to a fixed shape, and keep .item() and prints out of the captured part.", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("sextant run --trace-steps 5 -- python train.py", "cudaGraphLaunch in the trace, and a shorter untraced step"),
    }
}
