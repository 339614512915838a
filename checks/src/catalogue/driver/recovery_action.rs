//! # What it looks for
//! Whether the driver itself asks for a recovery of a GPU: a reset, a reboot, or draining it first.
//!
//! # Why it wastes the GPU
//! Until it is done, the GPU may refuse new work, and other readings of it are not to be trusted.
//!
//! # Confirm by hand
//! `nvidia-smi -q | grep -A1 'Recovery Action'` (drivers from 570 on); `nvidia-smi -q | grep -A4 'Reset Status'`.
//!
//! # Fix
//! Do what the driver names, once the jobs on the GPU have ended.
//!
//! # Limits
//! Older drivers do not tell; absence is unknown and no good sign.
//!
//! # References
//! NVML header nvml.h 13.3, field 230 (NVML_FI_DEV_GET_GPU_RECOVERY_ACTION) and nvmlDeviceGpuRecoveryAction_t.

use crate::catalogue::common::per_gpu;
use crate::check::{Ctx, Missing, Verdict, cmd, verify};
use crate::keys;
use crate::report::{Applicability, Fix, Tag};

crate::check! {
    id: "driver/recovery-action", layer: Driver, title: "The driver asks for a recovery of the GPU",
    severity: High, core: false, minutes: 1, evidence: [SmiQ, Live],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    per_gpu(cx, |gpu| one(cx, gpu))
}

fn one(cx: &Ctx<'_>, gpu: usize) -> Result<Verdict, Missing> {
    let at = [gpu];
    if let Some(k) = cx.get(&keys::GPU_RESET_REQUIRED, &at).filter(|k| k.value) {
        return Ok(Verdict::fail("The driver says that this GPU must be reset.").with([k.evidence("no")]));
    }
    let Some(action) = cx.get(&keys::GPU_RECOVERY_ACTION, &at) else {
        if let Some(k) = cx.get(&keys::GPU_DRAIN_RESET, &at).filter(|k| k.value) {
            return Ok(Verdict::warn("The driver recommends draining this GPU and resetting it.").with([k.evidence("no")]));
        }
        return match cx.get(&keys::GPU_RESET_REQUIRED, &at) {
            Some(_) => Ok(Verdict::pass("The driver asks for no reset.")),
            None => Err(Missing::fact(keys::GPU_RECOVERY_ACTION.at(&at), keys::GPU_RECOVERY_ACTION.what)),
        };
    };
    let asked = action.value.to_ascii_lowercase();
    if asked == "none" {
        return Ok(Verdict::pass("The driver asks for no recovery."));
    }
    let text = format!("The driver asks for a recovery of this GPU: {}.", action.value);
    let grave = asked.contains("reset") || asked.contains("reboot");
    Ok(if grave { Verdict::fail(text) } else { Verdict::warn(text) }.with([action.evidence("None")]))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("See what is asked for.", "nvidia-smi -q | grep -iE '^GPU|Recovery Action|Reset'", &[]),
            cmd("Keep the evidence.", "nvidia-bug-report.sh", &[Tag::Root]),
            cmd(
                "For a reset: end the jobs on that GPU, then reset it (i is its index). On NVSwitch systems all GPUs are reset together.",
                "nvidia-smi -r -i i",
                &[Tag::Root, Tag::Unsafe, Tag::RestartsJob],
            ),
            cmd("For a reboot: drain the node first.", "reboot", &[Tag::Root, Tag::Reboot, Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify("nvidia-smi -q | grep 'Recovery Action'", "None for every GPU"),
    }
}
