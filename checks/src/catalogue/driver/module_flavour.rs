//! # What it looks for
//! Whether the kernel module is of the flavour that the GPU needs: the open one for Blackwell and newer, the proprietary one
//! before Turing.
//!
//! # Why it wastes the GPU
//! With the wrong flavour the GPU is seen on the bus and never started.
//!
//! # Confirm by hand
//! `cat /proc/driver/nvidia/version`: "Open Kernel Module" or "x86_64 Kernel Module".
//!
//! # Fix
//! Install the other flavour of the same release.
//!
//! # Limits
//! From Turing to Hopper both flavours work. A model that is not known is not judged.
//!
//! # References
//! open-gpu-kernel-modules 595.45.04, README (supported GPUs) and nv.c ("not supported by open nvidia.ko"); NVIDIA "CUDA
//! Toolkit, Driver, and Architecture Matrix" (last branch for Maxwell to Volta is R580).

use crate::catalogue::common::{capability, events, logged};
use crate::check::{Ctx, Missing, Verdict, cmd, verify};
use crate::keys;
use crate::record::KernelKind;
use crate::report::{Applicability, Fix, Tag};

crate::check! {
    id: "driver/module-flavour", layer: Driver, title: "The kernel module has the wrong flavour for the GPU",
    severity: Critical, core: false, minutes: 1, evidence: [Live, KernelLog, BugReport],
}

/// First compute capability with the processor that the open module needs (Turing), and first that needs the open module
/// (Blackwell).
const OPEN_FROM: (u32, u32) = (7, 5);
const OPEN_ONLY_FROM: (u32, u32) = (10, 0);

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    if let Some(e) = events(cx).find(|e| e.kind == KernelKind::Other("not-supported-open")) {
        return Ok(Verdict::fail("The open kernel module does not support this GPU: it is older than Turing.")
            .with([logged(e, "kernel_log", None)]));
    }
    if cx.is(&keys::WSL2) {
        return Ok(Verdict::not_applicable("Under WSL2 the driver is that of Windows."));
    }
    let open = cx.need(&keys::MODULE_OPEN, &[])?;
    let gpus: Vec<(usize, (u32, u32))> = cx.facts.gpus().into_iter().filter_map(|g| Some((g, capability(cx, g)?))).collect();
    let flavour = if open.value { "open" } else { "proprietary" };
    if !open.value
        && let Some((g, _)) = gpus.iter().find(|(_, cc)| *cc >= OPEN_ONLY_FROM)
    {
        return Ok(Verdict::fail(format!("GPU {g} needs the open kernel module, and the proprietary one is loaded."))
            .with([open.evidence("yes")])
            .with(cx.get(&keys::GPU_NAME, &[*g]).map(|n| n.evidence(""))));
    }
    if open.value
        && let Some((g, _)) = gpus.iter().find(|(_, cc)| *cc < OPEN_FROM)
    {
        return Ok(Verdict::fail(format!("GPU {g} is older than Turing and does not work with the open kernel module."))
            .with([open.evidence("no")])
            .with(cx.get(&keys::GPU_NAME, &[*g]).map(|n| n.evidence(""))));
    }
    if gpus.is_empty() {
        return Err(Missing::fact(keys::GPU_NAME.at(&[0]), "a GPU whose architecture is known"));
    }
    Ok(Verdict::pass(format!("The {flavour} kernel module fits these GPUs.")))
}

fn fix(cx: &Ctx<'_>) -> Fix {
    let (to, package) = if cx.is(&keys::MODULE_OPEN) {
        ("the proprietary module (branch 580 is the last for GPUs before Turing)", "apt install nvidia-driver-580")
    } else {
        ("the open module", "apt install nvidia-open")
    };
    Fix {
        steps: vec![
            cmd("See the flavour that is loaded.", "cat /proc/driver/nvidia/version", &[]),
            cmd(format!("Install {to}; package names differ between distributions."), package, &[Tag::Root]),
            cmd("Load it.", "reboot", &[Tag::Root, Tag::Reboot, Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify("nvidia-smi -L", "lists every GPU"),
    }
}
