//! # What it looks for
//! Whether each GPU tells its VBIOS version, and whether boards of one model in one node have the same.
//!
//! # Why it wastes the GPU
//! Different versions can mean different power and clock tables: in a job that waits for the slowest rank, one slower board
//! slows all of them.
//!
//! # Confirm by hand
//! `nvidia-smi --query-gpu=index,name,vbios_version --format=csv`.
//!
//! # Fix
//! Bring all boards to the version of the system vendor's current firmware bundle.
//!
//! # Limits
//! There is no rule for "too old" without the vendor's own list. Boards of different parts (memory size, cooling) have
//! different versions by design; only boards of one name and one PCI id are compared.
//!
//! # References
//! open-gpu-kernel-modules 595.45.04 (`/proc/driver/nvidia/gpus/*/information`); NVML nvmlDeviceGetVbiosVersion.

use std::collections::BTreeMap;

use crate::catalogue::common::name;
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::fact::Known;
use crate::keys;
use crate::report::{Applicability, Confidence, Fix, Tag};

crate::check! {
    id: "driver/vbios-present", layer: Driver, title: "Boards of one model have different VBIOS versions",
    severity: Low, core: true, minutes: 1, evidence: [SmiQ, Live],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let gpus = cx.gpus()?;
    let mut by_model: BTreeMap<(String, String), Vec<Known<'_, String>>> = BTreeMap::new();
    for gpu in &gpus {
        let Some(vbios) = cx.get(&keys::GPU_VBIOS, &[*gpu]).filter(|v| told(&v.value)) else { continue };
        let id = cx.value(&keys::GPU_DEVICE_ID, &[*gpu]).unwrap_or_default();
        by_model.entry((name(cx, *gpu), id)).or_default().push(vbios);
    }
    let told: usize = by_model.values().map(Vec::len).sum();
    if told == 0 {
        return Err(Missing::fact(keys::GPU_VBIOS.at(&[gpus[0]]), keys::GPU_VBIOS.what));
    }
    for ((model, _), versions) in &by_model {
        let Some(first) = versions.first() else { continue };
        let Some(other) = versions.iter().find(|v| !v.value.eq_ignore_ascii_case(&first.value)) else { continue };
        let named = if model.is_empty() { "boards of one model" } else { model.as_str() };
        return Ok(Verdict::warn(format!("The VBIOS versions of {named} differ: {} and {}.", first.value, other.value))
            .confidence(Confidence::Medium)
            .with([first.evidence("one version"), other.evidence("")]));
    }
    Ok(Verdict::pass(if told == 1 { "The GPU tells its VBIOS version.".into() } else { format!("All {told} GPUs tell their VBIOS version, boards of one model the same.") }))
}

/// `??.??.??.??.??` stands for a GPU that was not started since the driver was loaded.
fn told(version: &str) -> bool {
    version.contains('.') && !version.contains('?')
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("List the versions.", "nvidia-smi --query-gpu=index,name,vbios_version --format=csv", &[]),
            step(
                "Ask the system vendor for its firmware bundle and apply it with the vendor's tool. A wrong image makes the board unusable; never flash a file from elsewhere.",
                &[Tag::Root, Tag::Reboot, Tag::Unsafe],
            ),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify("nvidia-smi --query-gpu=index,vbios_version --format=csv", "one version for boards of one model"),
    }
}
