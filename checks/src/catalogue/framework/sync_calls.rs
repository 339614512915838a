//! # What it looks for
//! Places where the host waits for the GPU in each step although it would not have to, and the idle time that follows
//! while the queue fills up again.
//!
//! # Why it wastes the GPU
//! As long as the host runs ahead, the GPU never sees how slow Python is. A wait empties the queue, and every launch
//! after it is exposed.
//!
//! # Confirm by hand
//! `torch.cuda.set_sync_debug_mode("warn")` names each line that waits.
//!
//! # Fix
//! Keep losses and metrics on the GPU and read them every hundred steps; `torch.where` instead of masks; a fused
//! optimiser where a gradient scaler is used.
//!
//! # Limits
//! Judged by the idle time that follows, not by the number of calls: where the host is behind anyway, a wait costs
//! nothing. Under a profiler the host is slower and rarely ahead, so the cost shown is a lower bound.
//!
//! # References
//! layers-4-6 of the project's notes, section 5.3, rule 5; PyTorch documentation of set_sync_debug_mode.

use crate::catalogue::traced::{Traced, at_most, grade, number, pct, traced};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::report::{Applicability, Fix, Level, Tag};

crate::check! {
    id: "framework/sync-calls", layer: Framework, title: "The host waits for the GPU in every step", severity: High,
    core: true, minutes: 5, evidence: [Trace, Nsys],
    limits: {
        warn_share = 0.02, "", "layers-4-6, framework/sync-calls: bubbles of 2 % of the step; our choice";
        fail_share = 0.10, "", "layers-4-6, framework/sync-calls: bubbles of 10 % of the step; our choice";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let t = traced(cx)?;
    let s = &t.trace.sync;
    let share = bubbles(&t);
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let (calls, costly) = (s.calls as f64 / t.trace.step_count(), s.costly as f64 / t.trace.step_count());
    let level = grade(share, cx.limit(&warn_share), cx.limit(&fail_share));
    let level = if t.unmarked && level.is_problem() { Level::Info } else { level };
    if level == Level::Pass {
        let text = format!("{} synchronisations a step leave the GPU idle for {} of it.", number(calls), pct(share));
        let verdict = if calls > 1.0 { Verdict::info(text) } else { Verdict::pass(text) };
        return Ok(verdict.cost(share, share).confidence(t.confidence()));
    }
    let by = parents(&t);
    Ok(Verdict::new(
        level,
        format!(
            "{} synchronisations a step{by}, {} of which find the GPU at work and empty its queue; it then idles {} of the step; {}.",
            number(calls),
            number(costly),
            pct(share),
            at_most(share)
        ),
    )
    .cost(share, share)
    .confidence(t.confidence())
    .with([
        t.quoted("trace.syncs_per_step", calls, "", "0 to 1", &by.replacen(": ", "", 1)),
        t.evidence("trace.draining_syncs_per_step", costly, "", "0"),
        t.evidence("step.sync_share", share, "", &format!("< {}", cx.limit(&warn_share))),
    ]))
}

/// The bubbles as a share of the untraced step. They are bounded by the time for which the GPU was still at work, which
/// a profiler does not stretch, so that they count against the step without it.
fn bubbles(t: &Traced<'_>) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
    let ms = t.trace.parts.sync() as f64 / 1e6;
    t.device_share(ms).max(t.share(t.step.ms.sync))
}

/// Who asks for it, in words.
fn parents(t: &Traced<'_>) -> String {
    let named: Vec<String> = t
        .trace
        .sync
        .parents
        .iter()
        .take(2)
        .map(|(name, n, _)| {
            let what = match name.as_str() {
                "aten::_local_scalar_dense" => " (.item(), float(), print)",
                "aten::nonzero" => " (masks, unique)",
                "aten::is_nonzero" => " (if tensor:)",
                "aten::_to_copy" | "aten::copy_" => " (blocking copies)",
                _ => "",
            };
            format!("{n} x {name}{what}")
        })
        .collect();
    if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) }
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Find the lines that wait.", "torch.cuda.set_sync_debug_mode(\"warn\")", &[Tag::RestartsJob]),
            cmd(
                "Add up on the GPU and read rarely.",
                "total += loss.detach()\nif step % 100 == 0: print(total.item() / 100)",
                &[Tag::RestartsJob],
            ),
            step("Replace boolean masks by torch.where, and branches on tensors by arithmetic.", &[Tag::RestartsJob]),
            cmd("With a gradient scaler use the fused optimiser, or bf16, which needs no scaler.", "torch.optim.AdamW(params, fused=True)", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("sextant run --trace-steps 5 -- python train.py", "fewer synchronisations a step, and a shorter untraced step"),
    }
}
