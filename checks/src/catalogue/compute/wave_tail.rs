//! # What it looks for
//! Kernels whose blocks fill the GPU a little more than a whole number of times, so that the last round runs nearly empty.
//!
//! # Why it wastes the GPU
//! With 1.1 waves the second round takes as long as the first and uses a tenth of the multiprocessors.
//!
//! # Confirm by hand
//! `ncu --section LaunchStats`: "Waves Per SM" just above a whole number.
//!
//! # Fix
//! Sizes that fill waves, other tile sizes (autotuning), a slightly larger or smaller batch.
//!
//! # Limits
//! Persistent and cluster kernels schedule blocks themselves, and blocks of unequal work even out.
//!
//! # References
//! NVIDIA deep learning performance guide, wave quantisation; thresholds by choice.

use crate::catalogue::ncu::{is_later, long_kernels};
use crate::catalogue::traced::{number, pct};
use crate::check::{Ctx, Missing, Verdict, step, verify};
use crate::report::{Applicability, Confidence, Fix, Level, Tag};

crate::check! {
    id: "compute/wave-tail", layer: Compute, title: "The last wave of a kernel runs nearly empty", severity: Low, core: false,
    minutes: 3, evidence: [Ncu, Trace],
    limits: {
        tail = 0.20, "", "layers-4-6, compute/wave-tail: a fifth of the kernel's time; our choice";
        max_waves = 5.0, "waves", "layers-4-6, compute/wave-tail: with more waves the tail is small";
        share = 0.05, "", "layers-4-6, compute/wave-tail: kernels of 5 % of the time";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let all = long_kernels(cx)?;
    let known: Vec<_> = all.iter().filter_map(|p| Some((p, p.kernel.waves?))).collect();
    if known.is_empty() {
        return Err(Missing::fact("kernel[0].waves_per_sm".into(), "launch statistics (ncu --section LaunchStats)"));
    }
    let lost = |w: f64| 1.0 - w / w.ceil();
    let worst = known
        .iter()
        .filter(|(p, w)| *w >= 1.0 && *w <= cx.limit(&max_waves) && lost(*w) >= cx.limit(&tail) && p.share >= cx.limit(&share))
        .filter(|(p, _)| !p.class().small_grid_by_design)
        .max_by(|a, b| (lost(a.1) * a.0.share).total_cmp(&(lost(b.1) * b.0.share)));
    let Some((p, w)) = worst else {
        return Ok(Verdict::pass("The profiled kernels fill their waves well enough."));
    };
    let level = if is_later(cx) { Level::Info } else { Level::Warn };
    Ok(Verdict::new(
        level,
        format!("{} runs in {} waves: {} of its time the GPU is partly empty ({} of the profiled time is this kernel).", p.name(), number(*w), pct(lost(*w)), pct(p.share)),
    )
    .confidence(Confidence::Low)
    .with([p.evidence("kernel.waves_per_sm", *w, "", "a whole number, or above 5")]))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            step("Change the batch or the sizes so that the number of blocks is just below a multiple of what fits at once.", &[Tag::RestartsJob, Tag::ChangesTraining]),
            step("Let the library choose another tile: autotuning, or torch.compile with max-autotune.", &[Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("ncu --section LaunchStats --csv python train.py", "waves just below a whole number"),
    }
}
