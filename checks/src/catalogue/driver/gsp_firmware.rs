//! # What it looks for
//! Whether the GPU's own processor for the driver (GSP) runs, answers, and has firmware of the driver's version.
//!
//! # Why it wastes the GPU
//! When it does not answer, every call that manages the GPU hangs: nvidia-smi stands still and jobs stall.
//!
//! # Confirm by hand
//! `nvidia-smi -q | grep GSP`; `dmesg | grep -iE 'Xid.*(119|120)|GSP'`.
//!
//! # Fix
//! Reset the GPU or reboot, then update the driver.
//!
//! # Limits
//! GPUs before Turing have none, and older drivers run without it: "N/A" is normal there. The tables that the driver prints
//! after a timeout are history and no further errors.
//!
//! # References
//! NVIDIA, "Analyzing Xid Errors with the Xid Catalog" (119, 120); open-gpu-kernel-modules 595.45.04 (wording) and its
//! issues 446 and 820.

use crate::catalogue::common::{events, logged, per_gpu, times, version};
use crate::check::{Ctx, Missing, Verdict, cmd, verify};
use crate::keys;
use crate::record::{KernelEvent, KernelKind};
use crate::report::{Applicability, Fix, Tag};

crate::check! {
    id: "driver/gsp-firmware", layer: Driver, title: "The GPU's firmware processor (GSP) does not answer",
    severity: High, core: true, minutes: 1, evidence: [KernelLog, SmiQ, Live, BugReport],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let bad: Vec<&KernelEvent> = events(cx)
        .filter(|e| matches!(e.kind, KernelKind::Xid { code: 119 | 120, .. } | KernelKind::Other("gsp")))
        .collect();
    if let Some(first) = bad.first() {
        let at = first.pci.as_deref().map_or_else(String::new, |p| format!(" of {p}"));
        return Ok(Verdict::fail(format!("The firmware processor{at} failed or did not answer, {}.", times(bad.len())))
            .with([logged(first, "kernel_log", None)]));
    }
    per_gpu(cx, |gpu| {
        let firmware = cx.need(&keys::GPU_GSP_FIRMWARE, &[gpu])?;
        let driver = cx.get(&keys::DRIVER, &[]).or_else(|| cx.get(&keys::MODULE_VERSION, &[]));
        let Some(driver) = driver else {
            return Ok(Verdict::pass(format!("The firmware processor runs version {}.", firmware.value)));
        };
        if version(&firmware.value) == version(&driver.value) {
            return Ok(Verdict::pass(format!("The firmware is of the driver's version, {}.", driver.value)));
        }
        Ok(Verdict::warn(format!("The firmware is version {}, the driver {}.", firmware.value, driver.value))
            .with([firmware.evidence(&driver.value), driver.evidence("")]))
    })
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Keep the evidence.", "nvidia-bug-report.sh", &[Tag::Root]),
            cmd(
                "Reset the GPU once nothing runs on it (it ends every process there); if that hangs, reboot.",
                "nvidia-smi -r",
                &[Tag::Root, Tag::Unsafe, Tag::RestartsJob],
            ),
            cmd("Update driver and firmware package together.", "apt install --only-upgrade 'nvidia-*'", &[Tag::Root, Tag::Reboot]),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify("nvidia-smi -q | grep GSP", "answers at once with the driver's version"),
    }
}
