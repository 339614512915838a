//! # What it looks for
//! Whether the board's InfoROM, the small store for its own settings and error history, is intact.
//!
//! # Why it wastes the GPU
//! Power limits, ECC settings and the list of faulty memory live there. With a damaged store the readings of ECC and power are
//! not to be trusted, and memory repairs can no longer be recorded.
//!
//! # Confirm by hand
//! `nvidia-smi -q | grep -A4 'Inforom Version'`; nvidia-smi prints "infoROM is corrupted at gpu …" above its table.
//!
//! # Fix
//! A complete power cycle; if the message stays, the board is to be replaced.
//!
//! # Limits
//! Consumer boards may not tell. Xid 93 says that the store is worn, which is judged with the other codes.
//!
//! # References
//! NVML nvmlDeviceValidateInforom and return code 14 (CORRUPTED_INFOROM), nvml.h 13.3.

use crate::catalogue::common::per_gpu;
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::keys;
use crate::report::{Applicability, Fix, Tag};

crate::check! {
    id: "driver/inforom-valid", layer: Driver, title: "The board's InfoROM is damaged",
    severity: High, core: false, minutes: 1, evidence: [Live, SmiQ],
}

/// NVML's code for a damaged InfoROM (nvml.h).
const CORRUPTED: i64 = 14;

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    if let Some(e) = cx.get(&keys::NVML_ERROR, &[]).filter(|e| e.value == CORRUPTED) {
        return Ok(Verdict::fail("The driver reports a damaged InfoROM.").with([e.evidence("0")]));
    }
    per_gpu(cx, |gpu| {
        let at = [gpu];
        if let Some(e) = cx.get(&keys::GPU_ERROR, &at).filter(|e| e.value == CORRUPTED) {
            return Ok(Verdict::fail("The InfoROM of this board is damaged.").with([e.evidence("0")]));
        }
        if let Some(valid) = cx.get(&keys::GPU_INFOROM_VALID, &at) {
            return Ok(if valid.value {
                Verdict::pass("The InfoROM is intact.")
            } else {
                Verdict::fail("The InfoROM of this board is damaged.").with([valid.evidence("yes")])
            });
        }
        if cx.get(&keys::GPU_INFOROM, &at).is_some() {
            return Ok(Verdict::pass("The InfoROM tells its version."));
        }
        Err(Missing::fact(keys::GPU_INFOROM_VALID.at(&at), keys::GPU_INFOROM_VALID.what))
    })
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Keep the evidence.", "nvidia-bug-report.sh", &[Tag::Root]),
            step("Switch the node off completely, wait a minute, start it again. This ends all work on the node.", &[Tag::Hands, Tag::Reboot, Tag::Unsafe]),
            step("If the message stays, ask the vendor for a replacement.", &[Tag::Hands]),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify("nvidia-smi -q | grep -A4 'Inforom Version'", "versions, and no warning above the table"),
    }
}
