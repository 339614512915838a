//! # What it looks for
//! Code that is compiled again in warm steps, because shapes or values change.
//!
//! # Why it wastes the GPU
//! A compilation takes seconds, and the GPU has nothing to do meanwhile. After some recompilations PyTorch gives up and
//! runs the function uncompiled, without a word.
//!
//! # Confirm by hand
//! `TORCH_LOGS=recompiles,graph_breaks python train.py` names the guard that failed each time.
//!
//! # Fix
//! Mark the changing dimension as dynamic, pad to a few sizes, pass numbers that change as tensors.
//!
//! # Limits
//! The first compilation of each shape is no churn; a trace that holds only the first steps of a run shows it all the
//! same, so one compilation is worth knowing and two in different steps are a finding.
//!
//! # References
//! PyTorch documentation, torch.compile troubleshooting: recompilations, recompile_limit (8).

use crate::catalogue::traced::{at_most, grade, number, pct, traced};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::keys;
use crate::report::{Applicability, Confidence, Fix, Level, Tag};

crate::check! {
    id: "framework/compile-churn", layer: Framework, title: "Code is compiled again while training", severity: High,
    core: true, minutes: 5, evidence: [Trace, Steps, TrainLog],
    limits: {
        warn_share = 0.02, "", "as for other idle causes: 2 % of the step; our choice";
        fail_share = 0.10, "", "as for other idle causes: 10 % of the step; our choice";
        max_regions = 10.0, "regions", "layers-4-6, framework/compile-churn: more than ten compiled regions a step are graph breaks";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    if let Some(limit) = cx.get(&keys::LOG_RECOMPILE_LIMIT, &[]) {
        return Ok(Verdict::fail("The compiler has reached its limit of recompilations and runs the function uncompiled from then on.").with([limit.evidence("no such line")]));
    }
    let t = traced(cx)?;
    let c = &t.trace.compile;
    let share = t.share(t.step.ms.compile);
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let regions = c.regions as f64 / t.trace.step_count();
    let mut level = grade(share, cx.limit(&warn_share), cx.limit(&fail_share));
    if level.is_problem() && c.count < 2 {
        level = Level::Info;
    }
    if level == Level::Pass {
        if regions > cx.limit(&max_regions) {
            return Ok(Verdict::warn(format!("A step runs through {} compiled regions: the graph breaks between them.", number(regions)))
                .confidence(t.confidence())
                .with([t.evidence("trace.compiled_regions", regions, "", "<= 10")]));
        }
        let said = if c.count == 0 { "Nothing is compiled in the recorded steps.".into() } else { format!("Compiling takes {} of the step.", pct(share)) };
        return Ok(Verdict::pass(said).confidence(t.confidence()));
    }
    let confidence = if t.trace.steps.steady { t.confidence() } else { Confidence::Medium };
    Ok(Verdict::new(
        level,
        format!(
            "{} compilation{} in {} recorded step{}: the GPU idles {} of the time for them; {}.",
            c.count,
            if c.count == 1 { "" } else { "s" },
            t.trace.steps.used,
            if t.trace.steps.used == 1 { "" } else { "s" },
            pct(share),
            at_most(share)
        ),
    )
    .cost(share, share)
    .confidence(confidence)
    .with([t.evidence("trace.compilations", c.count, "", "0 in warm steps"), t.evidence("trace.compile_host_ms", c.host_ms / t.trace.step_count(), "ms", "")]))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("See which guard fails.", "TORCH_LOGS=recompiles,graph_breaks python train.py", &[Tag::RestartsJob]),
            cmd("Tell the compiler which dimension changes.", "torch._dynamo.mark_dynamic(batch, 1)", &[Tag::RestartsJob]),
            step("Or pad inputs to a few sizes, so that each is compiled once.", &[Tag::RestartsJob, Tag::ChangesTraining]),
            step("Pass learning rates and other changing numbers as tensors.", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("TORCH_LOGS=recompiles python train.py", "no recompilation in a hundred steps"),
    }
}
