//! # What it looks for
//! Whether the NVIDIA kernel module is loaded on a node that has an NVIDIA GPU, and whether the kernel refused it.
//!
//! # Why it wastes the GPU
//! Without the module there is no CUDA: frameworks run the whole job on the CPU or end at once. After a kernel update a
//! module that was not built anew is the usual reason.
//!
//! # Confirm by hand
//! `cat /proc/driver/nvidia/version` shows the loaded module; `modinfo nvidia` the one for the running kernel; `dmesg |
//! grep -iE 'nvrm|module verification|rejected'` why it was not taken.
//!
//! # Fix
//! Build or install the module for the running kernel; with Secure Boot, enrol the key that signs it; load it.
//!
//! # Limits
//! A container without a view of the host's modules is unknown. WSL2 and Windows have no such module. `nvidia_uvm` is
//! loaded at the first use of CUDA, so its absence is worth knowing and no fault; `nvidia_drm` is for displays only.
//!
//! # References
//! NVIDIA open-gpu-kernel-modules 595.45.04, README; Linux kernel, module signing; NVML return code 9
//! (DRIVER_NOT_LOADED), nvml.h 13.3.

use crate::catalogue::common::{events, is_windows, logged};
use crate::check::{Ctx, Missing, Verdict, cmd, verify};
use crate::keys;
use crate::record::{KernelEvent, KernelKind};
use crate::report::{Applicability, Confidence, Fix, Tag};

crate::check! {
    id: "driver/kernel-module-loaded", layer: Driver, title: "The NVIDIA kernel module is not loaded",
    severity: Critical, core: true, minutes: 1, evidence: [Live, SmiQ, SmiTable, KernelLog, BugReport],
}

/// NVML's code for "driver not loaded" (nvml.h).
const DRIVER_NOT_LOADED: i64 = 9;

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    if cx.is(&keys::WSL2) {
        return Ok(Verdict::not_applicable("Under WSL2 the driver is that of Windows; there is no such module."));
    }
    if is_windows(cx) {
        return Ok(Verdict::not_applicable("Windows has no such module."));
    }
    let loaded = cx.get(&keys::MODULE_NVIDIA, &[]);
    if let Some(k) = loaded.as_ref().filter(|k| k.value) {
        return Ok(loaded_verdict(cx).with([k.evidence("")]));
    }
    if let Some(version) = cx.get(&keys::MODULE_VERSION, &[]) {
        return Ok(loaded_verdict(cx).with([version.evidence("")]));
    }
    let pci = cx.value(&keys::PCI_GPU_COUNT, &[]);
    if pci == Some(0) {
        return Ok(Verdict::not_applicable("There is no NVIDIA GPU on the PCI bus."));
    }
    let rejected = events(cx).filter(|e| e.kind == KernelKind::ModuleRejected).last();
    let quoted = |e: &KernelEvent| logged(e, "kernel_log", None);
    let present = pci.is_some_and(|n| n > 0);
    if let Some(e) = rejected
        && loaded.as_ref().is_some_and(|k| !k.value)
    {
        return Ok(Verdict::fail("The kernel refused the NVIDIA module; no GPU can be used.").with([quoted(e)]));
    }
    let error = cx.get(&keys::NVML_ERROR, &[]).filter(|e| e.value == DRIVER_NOT_LOADED);
    if let (Some(k), true) = (&loaded, present) {
        let text = "There is an NVIDIA GPU on the PCI bus, and the kernel module is not loaded.";
        let pci = cx.get(&keys::PCI_GPU_COUNT, &[]).map(|k| k.evidence(""));
        return Ok(Verdict::fail(text).with([k.evidence("yes")]).with(pci).with(rejected.map(quoted)));
    }
    if let Some(e) = error {
        let text = "nvidia-smi could not reach the driver: its kernel module is not loaded.";
        let verdict = if present || !cx.is(&keys::CONTAINER) {
            Verdict::fail(text).confidence(Confidence::Medium)
        } else {
            Verdict::warn(format!("{text} In a container this can also mean that it was given no GPU."))
                .confidence(Confidence::Low)
        };
        return Ok(verdict.with([e.evidence("")]).with(rejected.map(quoted)));
    }
    if smi_answered(cx) {
        return Ok(Verdict::pass("nvidia-smi answered, so the kernel module is loaded."));
    }
    let what = if cx.is(&keys::CONTAINER) { "the host's list of modules" } else { keys::MODULE_NVIDIA.what };
    Err(Missing::fact(keys::MODULE_NVIDIA.path.into(), what))
}

/// The module is there; say so, with a word on what CUDA needs beside it.
fn loaded_verdict(cx: &Ctx<'_>) -> Verdict {
    let version = cx.value(&keys::MODULE_VERSION, &[]).map_or_else(String::new, |v| format!(" ({v})"));
    let uvm = cx.value(&keys::MODULE_UVM, &[]) == Some(false) || cx.value(&keys::DEV_UVM, &[]) == Some(false);
    if uvm {
        return Verdict::info(format!(
            "The kernel module is loaded{version}. nvidia_uvm is not there yet: the first CUDA program loads it, if it may."
        ));
    }
    Verdict::pass(format!("The kernel module is loaded{version}."))
}

/// nvidia-smi or NVML has listed a GPU with a driver version, which it cannot without the module.
fn smi_answered(cx: &Ctx<'_>) -> bool {
    let asked = cx.value(&keys::DRIVER, &[]).is_some() || cx.value(&keys::TOOL_VERSION, &[]).is_some();
    let read = |g: &usize| {
        cx.value(&keys::GPU_PSTATE, &[*g]).is_some() || cx.value(&keys::GPU_MEMORY_USED, &[*g]).is_some()
    };
    asked && cx.facts.gpus().iter().any(read)
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Compare the running kernel with the one the module was built for.", "uname -r; modinfo -F vermagic nvidia", &[]),
            cmd(
                "Read why the kernel did not take it. \"Key was rejected\" means Secure Boot without a signed module.",
                "dmesg | grep -iE 'nvrm|nvidia|module verification|rejected'",
                &[Tag::Root],
            ),
            cmd("Build the module for this kernel, or install the distribution's package anew.", "dkms autoinstall", &[Tag::Root]),
            cmd("With Secure Boot: enrol the key that signs the module; the firmware asks for it at the next boot.", "mokutil --import /var/lib/dkms/mok.pub", &[Tag::Root, Tag::Reboot]),
            cmd("Load it.", "modprobe nvidia && modprobe nvidia_uvm", &[Tag::Root]),
        ],
        applicability: Applicability::Manual,
        verify: verify("nvidia-smi -L", "lists every GPU; /dev/nvidia-uvm exists after the first CUDA program"),
    }
}
