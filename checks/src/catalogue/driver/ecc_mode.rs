//! # What it looks for
//! Whether error correction is on where the board has it for a reason, and whether a change of the mode waits for a reset.
//!
//! # Why it wastes the GPU
//! It does not slow the job down. It protects the result: without it a flipped bit goes into the weights unseen, and a
//! training run that diverges days later has cost every GPU hour since.
//!
//! # Confirm by hand
//! `nvidia-smi -q -d ECC` shows the current and the pending mode.
//!
//! # Fix
//! Switch it on and reset the GPU, after the jobs on it have ended.
//!
//! # Limits
//! Consumer boards have no ECC mode. Workstation boards ship with it off, which is worth knowing and no fault. On boards
//! with GDDR memory ECC takes some capacity and bandwidth.
//!
//! # References
//! NVIDIA, "GPU Memory Error Management" (docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt); telegraf's nvidia_smi test data (RTX 4000
//! SFF Ada ships disabled).

use crate::catalogue::common::{per_gpu, class, is_vgpu};
use crate::check::{Ctx, Missing, Verdict, cmd, verify};
use crate::keys;
use crate::report::{Applicability, Confidence, Fix, Tag};
use crate::tables::Class;

crate::check! {
    id: "driver/ecc-mode", layer: Driver, title: "Error correction (ECC) is off, or waits for a reset",
    severity: Low, core: true, minutes: 1, evidence: [SmiQ, Live],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    per_gpu(cx, |gpu| one(cx, gpu))
}

fn one(cx: &Ctx<'_>, gpu: usize) -> Result<Verdict, Missing> {
    let kind = class(cx, gpu);
    let Some(mode) = cx.get(&keys::GPU_ECC_MODE, &[gpu]) else {
        if matches!(kind, Some(Class::GeForce | Class::Soc)) {
            return Ok(Verdict::not_applicable("This board has no ECC mode."));
        }
        return Err(Missing::fact(keys::GPU_ECC_MODE.at(&[gpu]), keys::GPU_ECC_MODE.what));
    };
    if is_vgpu(cx, gpu) {
        return Ok(Verdict::not_applicable("The host sets the ECC mode of a virtual GPU."));
    }
    let pending = cx.get(&keys::GPU_ECC_PENDING, &[gpu]);
    if let Some(p) = pending.filter(|p| !p.value.eq_ignore_ascii_case(&mode.value)) {
        return Ok(Verdict::warn(format!("ECC is {} and will be {} after the next reset.", word(&mode.value), word(&p.value)))
            .with([mode.evidence(&p.value), p.evidence("")]));
    }
    if mode.value.eq_ignore_ascii_case("enabled") {
        return Ok(Verdict::pass("ECC is on."));
    }
    let text = "ECC is off: a flipped bit in memory goes unseen.";
    let verdict = match kind {
        Some(Class::DataCentre | Class::Grace) => Verdict::warn(text),
        _ => Verdict::info(format!("{text} Boards of this class ship so.")).confidence(Confidence::Medium),
    };
    Ok(verdict.with([mode.evidence("Enabled")]))
}

fn word(mode: &str) -> &str {
    if mode.eq_ignore_ascii_case("enabled") { "on" } else { "off" }
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Switch ECC on (it is stored and takes effect after a reset).", "nvidia-smi -e 1", &[Tag::Root]),
            cmd(
                "Reset the GPU once nothing runs on it. This ends every process on the GPU; on NVSwitch systems all GPUs are reset together.",
                "nvidia-smi -r",
                &[Tag::Root, Tag::Unsafe, Tag::RestartsJob],
            ),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("nvidia-smi --query-gpu=index,ecc.mode.current,ecc.mode.pending --format=csv", "both columns say Enabled"),
    }
}
