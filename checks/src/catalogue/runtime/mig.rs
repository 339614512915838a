//! # What it looks for
//! Whether a GPU is divided into instances (MIG), whether there is an instance at all, and whether a change of the mode
//! waits for a reset.
//!
//! # Why it wastes the GPU
//! With MIG on, a job gets one slice, a seventh at least, and never the whole GPU; with MIG on and no instance, CUDA finds
//! no device at all.
//!
//! # Confirm by hand
//! `nvidia-smi -L` lists the instances under each GPU; `nvidia-smi mig -lgi` their sizes.
//!
//! # Fix
//! Give the job the slice that was meant, by its UUID, or switch MIG off when the whole GPU is wanted.
//!
//! # Limits
//! MIG is often wanted: with instances it is worth knowing, not a fault. A GPU with MIG on tells no utilisation, which is
//! normal. A fragment that shows the mode but no list of instances cannot tell whether there are any.
//!
//! # References
//! NVIDIA Multi-Instance GPU User Guide (docs.nvidia.com/datacenter/tesla/mig-user-guide); telegraf's nvidia_smi test data (A100 with
//! MIG: gpu_util N/A).

use crate::catalogue::common::per_gpu;
use crate::check::{Ctx, Missing, Verdict, cmd, verify};
use crate::fact::Known;
use crate::keys;
use crate::report::{Applicability, Fix, Tag};

crate::check! {
    id: "runtime/mig", layer: Runtime, title: "The GPU is divided into instances (MIG)",
    severity: High, core: true, minutes: 1, evidence: [SmiQ, SmiTable, CollectEnv, Live],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    per_gpu(cx, |gpu| one(cx, gpu))
}

fn one(cx: &Ctx<'_>, gpu: usize) -> Result<Verdict, Missing> {
    let at = [gpu];
    let mode = cx.get(&keys::GPU_MIG_MODE, &at);
    let listed = cx.get(&keys::GPU_MIG_DEVICES, &at).or_else(|| cx.get(&keys::GPU_MIG_LISTED, &at));
    if let Some(n) = listed.as_ref().filter(|n| n.value > 0) {
        return Ok(divided(mode.as_ref(), n));
    }
    let Some(mode) = mode else {
        // Boards without MIG print N/A, which is no fact; a reading that carries other modes shows that it is one.
        if cx.get(&keys::GPU_PERSISTENCE, &at).is_some() || cx.get(&keys::GPU_COMPUTE_MODE, &at).is_some() {
            return Ok(Verdict::pass("This GPU is not divided."));
        }
        return Err(Missing::fact(keys::GPU_MIG_MODE.at(&at), keys::GPU_MIG_MODE.what));
    };
    let pending = cx.get(&keys::GPU_MIG_PENDING, &at).filter(|p| !p.value.eq_ignore_ascii_case(&mode.value));
    if let Some(p) = pending {
        return Ok(Verdict::warn(format!(
            "MIG is {} and will be {} after the next reset.",
            mode.value.to_lowercase(),
            p.value.to_lowercase()
        ))
        .with([mode.evidence(&p.value), p.evidence("")]));
    }
    if !mode.value.eq_ignore_ascii_case("enabled") {
        return Ok(Verdict::pass("MIG is off: a job gets the whole GPU."));
    }
    match listed {
        Some(n) => Ok(Verdict::fail("MIG is on and there is no instance: CUDA finds no device on this GPU.")
            .with([mode.evidence("an instance"), n.evidence("at least 1")])),
        None => Ok(Verdict::info("MIG is on: a job sees one slice of this GPU.").with([mode.evidence("")])),
    }
}

fn divided(mode: Option<&Known<'_, String>>, n: &Known<'_, i64>) -> Verdict {
    let slices = if n.value == 1 { "one instance".to_owned() } else { format!("{} instances", n.value) };
    Verdict::info(format!("MIG is on with {slices}: a job sees one slice, and utilisation of the whole GPU is not told."))
        .with(mode.map(|m| m.evidence("")))
        .with([n.evidence("")])
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("See the instances and their UUIDs.", "nvidia-smi -L", &[]),
            cmd("Where slices are wanted: make one for the whole GPU or smaller ones (9 and 0 are profile numbers of nvidia-smi mig -lgip).", "nvidia-smi mig -cgi 9 -C", &[Tag::Root]),
            cmd("Address a slice by its UUID.", "CUDA_VISIBLE_DEVICES=MIG-<uuid> python train.py", &[Tag::RestartsJob]),
            cmd(
                "Where the whole GPU is wanted: remove the instances and switch MIG off. This ends every process on the GPU.",
                "nvidia-smi mig -dci; nvidia-smi mig -dgi; nvidia-smi -mig 0",
                &[Tag::Root, Tag::Unsafe, Tag::RestartsJob],
            ),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("nvidia-smi -L", "shows the wanted instances, or none with MIG off"),
    }
}
