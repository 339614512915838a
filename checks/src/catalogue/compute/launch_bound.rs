//! # What it looks for
//! Idle time of the GPU that ends with a kernel which the host launched too late: neither the loader, nor a
//! synchronisation, nor the allocator, nor a compiler held it up, only the work of launching itself.
//!
//! # Why it wastes the GPU
//! Every operator costs the host some microseconds of Python, dispatch and driver. Kernels shorter than that leave the
//! GPU empty in between, and a faster GPU only waits longer.
//!
//! # Confirm by hand
//! Double the batch: if the step takes less than one and a half times as long, the host was the limit.
//!
//! # Fix
//! Fewer and longer kernels: larger batch, `torch.compile`, CUDA graphs, a fused optimiser. Gradient accumulation does
//! not help: it launches more kernels for the same work.
//!
//! # Limits
//! A profiler slows the host, so a trace alone shows too much of this. With step timings of the untraced run beside it
//! the idle time is scaled to the real step; above a stretch of 1.15 the verdict is at most a warning.
//!
//! # References
//! TensorFlow profiler, kernel-launch share: 3 % and 15 % of the step. HolisticTraceAnalysis, idle-time breakdown.

use crate::catalogue::traced::{Traced, at_most, grade, number, pct, traced};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Confidence, Evidence, Fix, Level, Tag};

crate::check! {
    id: "compute/launch-bound", layer: Compute, title: "The GPU waits for the host to launch kernels", severity: High,
    core: true, minutes: 5, evidence: [Trace, Nsys],
    limits: {
        warn_share = 0.03, "", "TensorFlow profiler: kernel launch above 3 % of the step is worth a look";
        fail_share = 0.15, "", "TensorFlow profiler: kernel launch above 15 % of the step is high";
        host_ahead_us = 100.0, "µs", "layers-4-6, compute/launch-bound: a median launch delay above 100 µs means that the host is ahead";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let t = traced(cx)?;
    let share = t.share(t.step.ms.launch);
    let delay = t.trace.launch.delay_median_us;
    if share >= cx.limit(&warn_share) && delay.is_some_and(|d| d > cx.limit(&host_ahead_us)) {
        return Err(Missing::other("a trace of more steps: kernels wait in the queue here, so that the host cannot be late"));
    }
    let ms = t.step.ms.launch.unwrap_or(0.0);
    let said = format!("{} of {}", number(ms) + " ms", t.of_what());
    let level = t.host_grade(grade(share, cx.limit(&warn_share), cx.limit(&fail_share)));
    let evidence = evidence(cx, &t, ms);
    let verdict = match level {
        Level::Pass => Verdict::pass(format!("Launching keeps ahead of the GPU: it waits {} for it.", pct(share))),
        level => Verdict::new(
            level,
            format!(
                "The GPU waits for the host to launch its next kernel during {} of each step ({said}){}; {}.",
                pct(share),
                shape(&t),
                at_most(share)
            ),
        ),
    };
    let confidence = if t.distorted() { Confidence::Medium } else { t.confidence() };
    Ok(verdict.cost(share, share).confidence(confidence).with(evidence))
}

/// How short the kernels are beside what launching them takes.
fn shape(t: &Traced<'_>) -> String {
    let l = &t.trace.launch;
    match (l.kernel_median_us, l.call_median_us) {
        (Some(k), Some(c)) if k < c => {
            format!(": the median kernel takes {} µs, its launch call alone {} µs", number(k), number(c))
        }
        _ => String::new(),
    }
}

fn evidence(cx: &Ctx<'_>, t: &Traced<'_>, ms: f64) -> Vec<Evidence> {
    let l = &t.trace.launch;
    let per_step = |n: u64| {
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let n = n as f64;
        n / t.trace.step_count()
    };
    let expected = format!("< {} of the step", pct(cx.limit(&warn_share)));
    let mut out = vec![
        t.evidence("step.launch_ms", ms, "ms", &expected),
        t.evidence("trace.launches_per_step", per_step(l.launched), "", ""),
    ];
    if let Some(d) = l.delay_median_us {
        out.push(t.evidence("trace.launch_delay_median_us", d, "µs", "> 20 µs where the host is ahead"));
    }
    let longest = t.trace.gaps.iter().find(|g| {
        use crate::trace::Cause::{Framework, LaunchCall, Python};
        matches!(g.cause, Framework | LaunchCall | Python)
    });
    if let Some(g) = longest {
        let host = g.host.clone().unwrap_or_else(|| "Python".into());
        out.push(t.quoted("trace.longest_gap_ms", g.ms, "ms", "", &format!("the host was in {host}")));
    }
    out
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            step("Give each kernel more to do: a larger micro-batch, if memory allows.", &[Tag::RestartsJob, Tag::ChangesTraining]),
            cmd("Let the compiler merge kernels.", "model = torch.compile(model)", &[Tag::RestartsJob]),
            cmd(
                "With fixed shapes let one launch replace hundreds.",
                "model = torch.compile(model, mode=\"reduce-overhead\")",
                &[Tag::RestartsJob],
            ),
            cmd("Update all parameters in a few kernels.", "torch.optim.AdamW(params, fused=True)", &[Tag::RestartsJob]),
            step("Look at the host as well: a throttled or shared CPU looks exactly like this.", &[]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("sextant run --trace-steps 5 -- python train.py", "fewer launches a step and a shorter untraced step"),
    }
}
