//! # What it looks for
//! Launch calls that take more than 50 µs, and why: a full queue (the GPU is the limit, which is fine), a module that is
//! loaded for its first use, or a host that was taken off its CPU.
//!
//! # Why it wastes the GPU
//! While the host hangs in one launch it cannot prepare the next; if the queue is short, the GPU runs dry.
//!
//! # Confirm by hand
//! `perf sched timehist -p PID` shows whether the launching thread was scheduled away.
//!
//! # Fix
//! Keep the launching thread on its CPU (affinity, quota), and run every shape once before measuring.
//!
//! # Limits
//! Calls that end after their own kernel has ended mean blocking launches; that is the finding of runtime/debug-env.
//!
//! # References
//! HolisticTraceAnalysis, launch statistics: runtime cutoff 50 µs. CUDA's launch queue holds 1024 entries.

use crate::catalogue::traced::{number, pct, traced};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Fix, Tag};

crate::check! {
    id: "compute/launch-api-stall", layer: Compute, title: "Launch calls hang on the host", severity: Low, core: true,
    minutes: 3, evidence: [Trace, Nsys], under: ["runtime/debug-env"],
    limits: {
        share = 0.02, "", "layers-4-6, compute/launch-api-stall: 2 % of the step; our choice";
        min_calls = 50.0, "calls", "fewer launches tell nothing about a habit; our choice";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let t = traced(cx)?;
    let l = &t.trace.launch;
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let launched = l.launched as f64;
    if launched < cx.limit(&min_calls) {
        return Err(Missing::other("a trace with more launch calls"));
    }
    let full = t.trace.share_ms(l.slow_full_queue_ms);
    let loading = t.trace.share_ms(l.slow_loading_ms);
    let blocked = t.trace.share_ms(l.slow_blocked_ms);
    let other = t.trace.share_ms((l.slow_ms - l.slow_full_queue_ms - l.slow_loading_ms - l.slow_blocked_ms).max(0.0));
    let evidence = [
        t.evidence("trace.slow_launch_calls", l.slow, "", ""),
        t.evidence("trace.slow_launch_share", other, "", &format!("< {}", cx.limit(&share))),
    ];
    let verdict = if other >= cx.limit(&share) {
        Verdict::warn(format!(
            "{} of the step passes in launch calls above 50 µs although the queue is not full: the host was probably taken off its CPU ({} calls, {} ms in all).",
            pct(other),
            l.slow,
            number(l.slow_ms)
        ))
    } else if blocked >= cx.limit(&share) {
        Verdict::info(format!("{} of the step passes in launch calls that end after their own kernel.", pct(blocked)))
    } else if loading >= cx.limit(&share) {
        Verdict::info(format!("{} of the step loads kernels for their first use; it goes away once each has run.", pct(loading)))
    } else if full >= cx.limit(&share) {
        Verdict::pass(format!("Launch calls wait for a full queue during {} of the step: the GPU is the limit.", pct(full)))
    } else {
        Verdict::pass(format!("Launch calls above 50 µs take {} of the step.", pct(other)))
    };
    let cost = t.share(t.step.ms.launch).min(other);
    Ok(verdict.cost(cost, cost).confidence(t.confidence()).with(evidence))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("See whether the job is short of CPU time.", "cat /sys/fs/cgroup/cpu.stat", &[]),
            cmd("Give the launching process CPUs of its own.", "taskset -c 0-7 python train.py", &[Tag::RestartsJob]),
            step("Run every input shape once before the part that counts.", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("sextant run --trace-steps 5 -- python train.py", "no launch calls above 50 µs beside a full queue"),
    }
}
