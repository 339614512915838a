//! # What it looks for
//! Whether the firmware gave each GPU the memory windows (BARs) that it needs.
//!
//! # Why it wastes the GPU
//! Without them the GPU cannot be mapped and does not start. A small BAR1 on a data-centre board rules out direct transfers
//! from network cards and disks.
//!
//! # Confirm by hand
//! `lspci -vv -d 10de: | grep Region` shows `<unassigned>`; `dmesg | grep -E 'BAR|I/O region'`.
//!
//! # Fix
//! Switch on "Above 4G Decoding" (large memory-mapped I/O) in the firmware set-up, update the firmware; in virtual machines
//! raise the 64-bit window.
//!
//! # Limits
//! "no space for" lines about small windows, and those that a later line takes back, are normal at boot: such a line alone is a
//! warning, and only where it speaks of a large window of a GPU.
//!
//! # References
//! open-gpu-kernel-modules 595.45.04, nv-pci.c (wording); Linux kernel, drivers/pci/setup-res.c.

use crate::catalogue::common::{events, logged, silent_log};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::keys;
use crate::record::{KernelEvent, KernelKind};
use crate::report::{Applicability, Confidence, Fix, Tag};

crate::check! {
    id: "driver/bar-resources", layer: Driver, title: "A GPU has no memory window (BAR)",
    severity: Critical, core: false, minutes: 2, evidence: [KernelLog, Lspci, Live],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let gpus = cx.facts.gpus();
    let unassigned = gpus.iter().find_map(|g| cx.get(&keys::GPU_BAR_UNASSIGNED, &[*g]).filter(|k| k.value));
    if let Some(k) = unassigned {
        return Ok(Verdict::fail("A memory window of the GPU is not assigned; the driver cannot start it.").with([k.evidence("no")]));
    }
    if let Some(e) = events(cx).find(|e| e.kind == KernelKind::Other("bar-invalid")) {
        let at = e.pci.as_deref().map_or_else(String::new, |p| format!(" at {p}"));
        return Ok(Verdict::fail(format!("The driver found a memory window of the GPU{at} invalid."))
            .with([logged(e, "kernel_log", None)]));
    }
    let large = |e: &&KernelEvent| {
        e.kind == KernelKind::Other("bar-no-space") && e.text.contains("64bit pref") && !works(cx)
    };
    if let Some(e) = events(cx).find(large) {
        return Ok(Verdict::warn("The kernel found no room for a large memory window of a GPU.")
            .confidence(Confidence::Medium)
            .with([logged(e, "kernel_log", None)]));
    }
    let bar1 = gpus.iter().any(|g| cx.value(&keys::GPU_BAR1_TOTAL, &[*g]).is_some_and(|b| b > 0.0));
    let assigned = gpus.iter().any(|g| cx.value(&keys::GPU_BAR_UNASSIGNED, &[*g]) == Some(false));
    if bar1 || assigned {
        return Ok(Verdict::pass("The GPUs have their memory windows."));
    }
    let lines = silent_log(cx)?;
    Ok(Verdict::pass(format!("No complaint about memory windows in {lines} lines of kernel log.")).confidence(Confidence::Medium))
}

/// A GPU that answers was mapped in the end, whatever the boot said on the way.
fn works(cx: &Ctx<'_>) -> bool {
    cx.facts.gpus().iter().any(|g| cx.get(&keys::GPU_PSTATE, &[*g]).is_some())
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("See which windows are missing.", "lspci -vv -d 10de: | grep -E '^[0-9a-f]|Region'", &[Tag::Root]),
            step("Switch on \"Above 4G Decoding\" or \"large MMIO\" in the firmware set-up.", &[Tag::Bios, Tag::Reboot]),
            step("Update the system's firmware.", &[Tag::Bios, Tag::Reboot]),
            cmd("If the firmware cannot: let the kernel assign the windows anew (kernel command line).", "pci=realloc", &[Tag::Root, Tag::Reboot]),
            step("In a virtual machine: have the host raise the 64-bit window of the guest.", &[]),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify("nvidia-smi -q -d MEMORY", "BAR1 Memory Usage shows a total above 0"),
    }
}
