//! # What it looks for
//! A GPU that no longer answers: lost, off the bus, or only to be had again after a reset.
//!
//! # Why it wastes the GPU
//! A job that uses it hangs or dies, often all ranks of it, and new jobs fail at their start until somebody acts.
//!
//! # Confirm by hand
//! `nvidia-smi -L` shows fewer GPUs or an error; `dmesg | grep -i 'fallen off'` says when; `lspci -d 10de:` prints `rev
//! ff` for a device that answers nothing.
//!
//! # Fix
//! Take the node out of use, keep a bug report, switch it off completely. Then power cables, temperature, riser; when it
//! comes back with the same board or the same slot, that part is to be replaced.
//!
//! # Limits
//! A GPU that was lost and came back in a new boot is history. `ERR!` in a single column is one value that could not be
//! read, not a lost GPU.
//!
//! # References
//! NVML return codes 15 (GPU_IS_LOST) and 16 (RESET_REQUIRED), nvml.h 13.3; open-gpu-kernel-modules 595.45.04 (wording of
//! the kernel log).

use crate::catalogue::common::{events, logged, name, silent_log};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::keys;
use crate::record::KernelKind;
use crate::report::{Applicability, Confidence, Evidence, Fix, Tag};

crate::check! {
    id: "driver/gpu-lost", layer: Driver, title: "A GPU no longer answers",
    severity: Critical, core: true, minutes: 1, evidence: [SmiQ, SmiTable, KernelLog, Lspci, Live],
}

/// NVML's codes for a lost GPU and one that needs a reset (nvml.h).
const LOST: [i64; 2] = [15, 16];

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let gpus = cx.facts.gpus();
    let lost: Vec<usize> = gpus.iter().copied().filter(|g| cx.value(&keys::GPU_LOST, &[*g]) == Some(true)).collect();
    let off: Vec<_> = events(cx)
        .filter(|e| matches!(e.kind, KernelKind::FallenOffBus | KernelKind::Xid { code: 79, .. }))
        .collect();
    let code = cx.get(&keys::NVML_ERROR, &[]).filter(|c| LOST.contains(&c.value));

    let mut evidence: Vec<Evidence> =
        lost.iter().filter_map(|g| cx.get(&keys::GPU_LOST, &[*g])).map(|k| k.evidence("no")).collect();
    evidence.extend(off.iter().take(4).map(|e| logged(e, "kernel_log", None)));
    evidence.extend(code.as_ref().map(|c| c.evidence("0")));
    if !lost.is_empty() {
        let list: Vec<String> = lost.iter().map(|g| named(cx, *g)).collect();
        return Ok(Verdict::fail(format!("The driver has lost {}.", list.join(", "))).with(evidence));
    }
    let unreachable = cx.get(&keys::LOST_GPUS, &[]).filter(|l| !l.value.is_empty());
    if let Some(l) = unreachable {
        return Ok(Verdict::fail(format!("The driver has lost the GPU at {}.", l.value.join(", "))).with([l.evidence("none")]));
    }
    if let Some(e) = off.first() {
        let at = e.pci.as_deref().map_or_else(String::new, |p| format!(" at {p}"));
        return Ok(Verdict::fail(format!("The GPU{at} has fallen off the PCI bus in this boot.")).with(evidence));
    }
    if code.is_some() {
        return Ok(Verdict::fail("The driver reports a GPU that is lost or must be reset.").with(evidence));
    }
    let answered =
        |g: &&usize| cx.get(&keys::GPU_PSTATE, &[**g]).is_some() || cx.get(&keys::GPU_MEMORY_USED, &[**g]).is_some();
    let n = gpus.iter().filter(answered).count();
    if n > 0 {
        let said = if n == 1 { "The GPU that is listed answers.".into() } else { format!("All {n} GPUs that are listed answer.") };
        return Ok(Verdict::pass(said));
    }
    let lines = silent_log(cx)?;
    Ok(Verdict::pass(format!("No lost GPU in {lines} lines of kernel log.")).confidence(Confidence::Low))
}

fn named(cx: &Ctx<'_>, gpu: usize) -> String {
    let at = cx.value(&keys::GPU_BUS_ID, &[gpu]).map_or_else(String::new, |b| format!(" at {b}"));
    match name(cx, gpu) {
        n if n.is_empty() => format!("GPU {gpu}{at}"),
        n => format!("GPU {gpu} ({n}){at}"),
    }
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            step("Take the node out of use.", &[]),
            cmd("Keep the evidence.", "nvidia-bug-report.sh", &[Tag::Root]),
            step("Switch the node off completely (power cords too), wait a minute, start it again. This ends all work on the node.", &[Tag::Hands, Tag::Reboot, Tag::Unsafe]),
            step("Check the board's power cables, its seat and riser, and the temperatures before the loss.", &[Tag::Hands]),
            step("Swap boards between slots: the part that the fault follows, board or slot, is to be replaced.", &[Tag::Hands, Tag::Reboot]),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify("dcgmi diag -r 3", "passes, and 24 hours of load bring no new line"),
    }
}
