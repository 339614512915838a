//! # What it looks for
//! A GPU that the driver found on the bus and could not start.
//!
//! # Why it wastes the GPU
//! Such a GPU is not there for any job: the node has one less, or none at all.
//!
//! # Confirm by hand
//! `dmesg | grep -iE 'RmInitAdapter|probe with driver nvidia'`; `nvidia-smi -L` lists one GPU less than `lspci -d 10de:`.
//!
//! # Fix
//! The lines before the failure name the reason: power cables, BAR space, wrong kernel module, firmware. Without one, a
//! complete power cycle, then another slot or board.
//!
//! # Limits
//! Failures of earlier boots are history. The numbers in brackets are a place in the driver's source and mean nothing by
//! themselves; NVIDIA support can read them.
//!
//! # References
//! open-gpu-kernel-modules 595.45.04, nv.c and osinit.c (wording and form of the code).

use std::collections::BTreeSet;

use crate::catalogue::common::{events, logged, silent_log, times};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::record::{Boot, KernelEvent, KernelKind};
use crate::report::{Applicability, Confidence, Fix, Tag};

crate::check! {
    id: "driver/rm-init-failed", layer: Driver, title: "The driver could not start a GPU",
    severity: Critical, core: true, minutes: 2, evidence: [KernelLog, BugReport, Live],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let failed = |e: &&KernelEvent| matches!(e.kind, KernelKind::InitFailed { .. });
    let now: Vec<&KernelEvent> = events(cx).filter(failed).collect();
    if let Some(first) = now.first() {
        let gpus: BTreeSet<&str> = now.iter().filter_map(|e| e.pci.as_deref()).collect();
        let at = match gpus.len() {
            0 => String::new(),
            _ => format!(" at {}", gpus.iter().copied().collect::<Vec<_>>().join(", ")),
        };
        let code = now.iter().find_map(|e| match &e.kind {
            KernelKind::InitFailed { code } => code.clone(),
            _ => None,
        });
        let code = code.map_or_else(String::new, |c| format!(" (code {c})"));
        let why = cause(cx).map_or_else(String::new, |(text, _)| format!(" {text}"));
        let evidence = [logged(first, "kernel_log", None)];
        return Ok(Verdict::fail(format!(
            "The driver could not start the GPU{at}, {}{code}.{why}",
            times(now.len())
        ))
        .with(evidence)
        .with(cause(cx).map(|(_, e)| logged(e, "kernel_log", None))));
    }
    let old: Vec<&KernelEvent> = cx.facts.kernel.iter().filter(|e| e.boot == Boot::Earlier).filter(failed).collect();
    if let Some(last) = old.last() {
        return Ok(Verdict::info(format!(
            "The driver could not start a GPU {} in earlier boots; in the present one it did.",
            times(old.len())
        ))
        .confidence(Confidence::Medium)
        .with([logged(last, "kernel_log", None)]));
    }
    let lines = silent_log(cx)?;
    Ok(Verdict::pass(format!("No failed start of a GPU in {lines} lines of kernel log.")).confidence(Confidence::Medium))
}

/// A line of the same boot that says why.
fn cause<'a>(cx: &Ctx<'a>) -> Option<(&'static str, &'a KernelEvent)> {
    events(cx).find_map(|e| {
        let text = match e.kind {
            KernelKind::Other("power-cable") => "The board says that its power cables are not connected.",
            KernelKind::Other("bar-invalid") => "The firmware gave the board no memory window (BAR).",
            KernelKind::Other("not-supported-open") => "The open kernel module does not support this GPU.",
            KernelKind::Other("not-supported") => "This driver release does not support this GPU.",
            KernelKind::Other("gsp") => "The GPU's firmware did not start.",
            KernelKind::FallenOffBus => "The GPU has fallen off the bus.",
            _ => return None,
        };
        Some((text, e))
    })
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Read what the driver says before the failure.", "dmesg -T | grep -iE 'nvrm|nvidia|BAR'", &[Tag::Root]),
            step("Power cables named: connect them. BAR named: switch on \"Above 4G Decoding\" in the firmware set-up.", &[Tag::Hands, Tag::Bios, Tag::Reboot]),
            cmd("Module named: install the flavour that the GPU needs (open for Blackwell, proprietary before Turing).", "cat /proc/driver/nvidia/version", &[]),
            step("Otherwise switch the node off completely, wait a minute, start it again. This ends all work on the node.", &[Tag::Hands, Tag::Reboot, Tag::Unsafe]),
            cmd("If it stays: collect a bug report, try another slot, then another board.", "nvidia-bug-report.sh", &[Tag::Root]),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify("nvidia-smi -L", "lists as many GPUs as lspci -d 10de: shows display functions"),
    }
}
