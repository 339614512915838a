//! # What it looks for
//! How often the GPU's PCIe link had to send data again since the last reset.
//!
//! # Why it wastes the GPU
//! Each replay costs bandwidth and time, and a link that replays often is one that may drop the GPU later.
//!
//! # Confirm by hand
//! Read `nvidia-smi --query-gpu=pcie.replay_counter --format=csv` twice, ten minutes apart, under load.
//!
//! # Fix
//! Seat board and riser again, try another slot; as a test, lower the slot's generation by one.
//!
//! # Limits
//! The counter runs since the last reset, and how long ago that was is not told: a number alone is worth knowing and no
//! verdict. Up to what a good link may have in a minute it says nothing at all.
//!
//! # References
//! DCGM 4.6 `modules/health/DcgmHealthWatch.cpp`: allowed replays a minute are the rate in GT/s, times lanes, times 60, over
//! 1000 (a bit error rate of 1e-12).

use crate::catalogue::common::{is_guest, per_gpu};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::keys;
use crate::report::{Applicability, Confidence, Fix, Tag};
use crate::tables::pcie_rates;

crate::check! {
    id: "driver/pcie-replays", layer: Driver, title: "The PCIe link had to send data again",
    severity: Medium, core: true, minutes: 10, evidence: [SmiQ, Live],
    limits: {
        allowed_per_lane = 0.06, "replays a minute and GT/s", "DCGM 4.6 DcgmHealthWatch.cpp: 60 / 1000 for each GT/s and lane";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    per_gpu(cx, |gpu| one(cx, gpu))
}

fn one(cx: &Ctx<'_>, gpu: usize) -> Result<Verdict, Missing> {
    let at = [gpu];
    let replays = cx.need(&keys::PCIE_REPLAYS, &at)?;
    if replays.value == 0 {
        return Ok(Verdict::pass("The link has sent nothing again since the last reset."));
    }
    let allowed = allowed(cx, gpu);
    #[expect(clippy::cast_precision_loss, reason = "counters are far below 2^53")]
    let n = replays.value as f64;
    if allowed.is_some_and(|a| n <= a) {
        return Ok(Verdict::pass(format!(
            "{} replays since the last reset: no more than a good link may have in one minute.",
            replays.value
        )));
    }
    let whose = if is_guest(cx, gpu) { " The link belongs to the host of this virtual machine." } else { "" };
    Ok(Verdict::info(format!(
        "{} replays since the last reset. Whether they still come, a second reading tells.{whose}",
        replays.value
    ))
    .confidence(Confidence::Low)
    .with([replays.evidence(&allowed.map_or_else(String::new, |a| format!("<= {a:.0} a minute")))])
    .with(cx.get(&keys::PCIE_REPLAY_ROLLOVERS, &at).filter(|r| r.value > 0).map(|r| r.evidence("0"))))
}

/// Replays that a good link may have in a minute.
fn allowed(cx: &Ctx<'_>, gpu: usize) -> Option<f64> {
    let at = [gpu];
    let generation = cx.value(&keys::PCIE_GEN_MAX, &at).or_else(|| cx.value(&keys::PCIE_GEN_CURRENT, &at))?;
    let lanes = cx.value(&keys::PCIE_WIDTH_CURRENT, &at)?;
    let gts = pcie_rates().iter().find(|r| r.generation == generation)?.gts;
    #[expect(clippy::cast_precision_loss, reason = "lanes are at most 32")]
    Some((cx.limit(&allowed_per_lane) * gts * lanes as f64).ceil())
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Read the counter twice, ten minutes apart, under load.", "nvidia-smi --query-gpu=index,pcie.replay_counter --format=csv", &[]),
            step("If it rises: seat board and riser again, try another slot.", &[Tag::Hands, Tag::Reboot]),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify("nvidia-smi --query-gpu=pcie.replay_counter --format=csv", "the counter stands still under load"),
    }
}
