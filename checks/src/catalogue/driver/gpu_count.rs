//! # What it looks for
//! Whether the driver lists as many GPUs as there are on the PCI bus.
//!
//! # Why it wastes the GPU
//! A GPU that is missing takes a job down to fewer ranks, or makes it hang while it waits for all of them.
//!
//! # Confirm by hand
//! `lspci -d 10de: | grep -cE 'VGA|3D'` against `nvidia-smi -L | wc -l`; `nvidia-smi -B` for GPUs that were left out on purpose.
//!
//! # Fix
//! The kernel log says why a GPU did not start; see driver/rm-init-failed and driver/gpu-lost.
//!
//! # Limits
//! GPUs that are passed through to a virtual machine or excluded on purpose do not count. In a container the driver lists what
//! the container was given, while the bus shows the whole node. A text that was cut may list fewer GPUs than it announces.
//!
//! # References
//! NVML nvmlDeviceGetCount, nvml.h 13.3; `nvidia-smi --help` (580.159.04), -B.

use crate::catalogue::common::is_windows;
use crate::check::{Ctx, Missing, Verdict, cmd, verify};
use crate::fact::Known;
use crate::keys;
use crate::report::{Applicability, Fix, Tag};

crate::check! {
    id: "driver/gpu-count", layer: Driver, title: "The driver lists fewer GPUs than the PCI bus has",
    severity: Critical, core: true, minutes: 1, evidence: [Live, BugReport, Lspci],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    if cx.is(&keys::WSL2) || is_windows(cx) {
        return Ok(Verdict::not_applicable("The PCI bus is that of Windows."));
    }
    let listed = cx
        .get(&keys::NVML_GPU_COUNT, &[])
        .or_else(|| cx.get(&keys::ATTACHED_GPUS, &[]))
        .ok_or_else(|| Missing::fact(keys::NVML_GPU_COUNT.path.into(), keys::NVML_GPU_COUNT.what))?;
    let Some(bus) = cx.get(&keys::PCI_GPU_COUNT, &[]) else { return shown(cx, &listed) };
    let unlisted = cx.get(&keys::PCI_UNLISTED, &[]);
    // vfio-pci holds a GPU for a virtual machine; an excluded one was left out on purpose.
    let given_away = unlisted.as_ref().map_or(0, |u| u.value.iter().filter(|g| g.ends_with("vfio-pci")).count());
    let excluded = cx.facts.gpus().iter().filter(|g| cx.value(&keys::GPU_EXCLUDED, &[**g]) == Some(true)).count();
    let explained = i64::try_from(given_away + excluded).unwrap_or(0);
    let missing = bus.value.saturating_sub(listed.value).saturating_sub(explained);
    if missing <= 0 {
        let more = match (given_away, excluded) {
            (0, 0) => String::new(),
            (g, 0) => format!(" {g} more are kept for virtual machines."),
            (0, e) => format!(" {e} more are excluded on purpose."),
            (g, e) => format!(" {g} more are kept for virtual machines, {e} excluded on purpose."),
        };
        return Ok(Verdict::pass(format!("The driver lists {} of {} GPUs on the PCI bus.{more}", listed.value, bus.value)));
    }
    if cx.is(&keys::CONTAINER) {
        return Ok(Verdict::info(format!("This container was given {} of the node's {} GPUs.", listed.value, bus.value))
            .with([listed.evidence(""), bus.evidence("")]));
    }
    let which = unlisted.as_ref().map_or_else(String::new, |u| format!(" Not listed: {}.", u.value.join(", ")));
    Ok(Verdict::fail(format!("The driver lists {} of {} GPUs on the PCI bus.{which}", listed.value, bus.value))
        .with([listed.evidence(&bus.value.to_string()), bus.evidence("")])
        .with(unlisted.map(|u| u.evidence("none"))))
}

/// Without a look at the bus: what nvidia-smi announces against what it shows.
fn shown(cx: &Ctx<'_>, listed: &Known<'_, i64>) -> Result<Verdict, Missing> {
    if let Some(elements) = cx.get(&keys::GPU_ELEMENTS, &[]).filter(|e| e.value < listed.value) {
        return Ok(Verdict::info(format!(
            "The text announces {} GPUs and shows {}: it was probably cut.",
            listed.value, elements.value
        ))
        .with([elements.evidence(&listed.value.to_string()), listed.evidence("")]));
    }
    Err(Missing::fact(keys::PCI_GPU_COUNT.path.into(), keys::PCI_GPU_COUNT.what))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Find the GPU that is missing.", "lspci -d 10de: | grep -E 'VGA|3D'; nvidia-smi --query-gpu=pci.bus_id --format=csv", &[]),
            cmd("Read why it did not start.", "dmesg -T | grep -iE 'nvrm|nvidia'", &[Tag::Root]),
            cmd("Switch the node off completely and start it again. This ends all work on the node.", "poweroff", &[Tag::Root, Tag::Reboot, Tag::Unsafe]),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify("nvidia-smi -L", "as many GPUs as lspci shows, and no new NVRM line in the kernel log"),
    }
}
