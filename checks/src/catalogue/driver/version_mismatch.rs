//! # What it looks for
//! Whether the driver's kernel module and its libraries in user space are of one version.
//!
//! # Why it wastes the GPU
//! After an update of the packages the old module stays loaded until the next start. Jobs that run go on; every new one
//! fails, and so does nvidia-smi.
//!
//! # Confirm by hand
//! `cat /proc/driver/nvidia/version` (the loaded module) against `ls /usr/lib/*/libnvidia-ml.so.*` (the libraries);
//! `nvidia-smi` prints "Driver/library version mismatch".
//!
//! # Fix
//! Load the new module: reboot, or take the old one out once nothing uses it. Then hold the package, so that an update
//! happens when you want it.
//!
//! # Limits
//! In a container the compatibility libraries of CUDA may be newer than the module by design; only the management library is
//! compared.
//!
//! # References
//! NVML return code 18 (LIB_RM_VERSION_MISMATCH), nvml.h 13.3; open-gpu-kernel-modules 595.45.04 (wording of "API
//! mismatch").

use crate::catalogue::common::{events, logged, version};
use crate::check::{Ctx, Missing, Verdict, cmd, verify};
use crate::keys;
use crate::record::KernelKind;
use crate::report::{Applicability, Fix, Tag};

crate::check! {
    id: "driver/version-mismatch", layer: Driver, title: "Kernel module and driver libraries are of different versions",
    severity: Critical, core: true, minutes: 1, evidence: [SmiTable, KernelLog, BugReport, Live],
}

/// NVML's code for versions that differ, and for a library that is missing (nvml.h).
const MISMATCH: i64 = 18;
const LIBRARY_MISSING: i64 = 12;

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let module = cx.get(&keys::MODULE_VERSION, &[]);
    let library = cx.get(&keys::NVML_LIBRARY, &[]);
    let error = cx.get(&keys::NVML_ERROR, &[]);
    if let Some(e) = error.as_ref().filter(|e| e.value == MISMATCH) {
        let versions = match (&module, &library) {
            (Some(m), Some(l)) => format!(": the module is {}, the library {}", m.value, l.value),
            (None, Some(l)) => format!(": the library is {}, the loaded module is another", l.value),
            _ => String::new(),
        };
        return Ok(Verdict::fail(format!("Kernel module and driver library are of different versions{versions}."))
            .with([e.evidence("0")])
            .with(library.map(|l| l.evidence("")))
            .with(module.map(|m| m.evidence(""))));
    }
    if let Some(e) = events(cx).filter(|e| e.kind == KernelKind::ApiMismatch).last() {
        return Ok(Verdict::fail("The kernel log names a program whose driver library is not of the module's version.")
            .with([logged(e, "kernel_log", None)]));
    }
    let loaded = module.is_some() || cx.is(&keys::MODULE_NVIDIA);
    if let Some(e) = error.as_ref().filter(|e| e.value == LIBRARY_MISSING && loaded) {
        return Ok(Verdict::fail("The kernel module is loaded, and the driver's library is missing in user space.")
            .with([e.evidence("0")])
            .with(module.map(|m| m.evidence(""))));
    }
    if let Some(works) = cx.get(&keys::SMI_WORKS, &[]).filter(|w| !w.value && loaded) {
        return Ok(Verdict::fail(
            "The kernel module is loaded, and nvidia-smi does not work: the driver's libraries are missing or of another version.",
        )
        .with([works.evidence("yes")])
        .with(module.map(|m| m.evidence(""))));
    }
    // nvidia-smi prints the module's version, so two readings that differ are two times or two nodes.
    let driver = cx.get(&keys::DRIVER, &[]);
    if let (Some(m), Some(l)) = (&module, &library)
        && version(&m.value) != version(&l.value)
    {
        return Ok(Verdict::fail(format!("The loaded module is {}, the driver library {}.", m.value, l.value))
            .with([m.evidence(&l.value), l.evidence("")]));
    }
    match (driver, module) {
        (Some(d), _) => Ok(Verdict::pass(format!("nvidia-smi works with driver {}.", d.value))),
        (None, Some(m)) if library.is_some() => Ok(Verdict::pass(format!("Module and library are both {}.", m.value))),
        _ => Err(Missing::fact(keys::NVML_LIBRARY.path.into(), "nvidia-smi's output, or the versions of module and library")),
    }
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("See both versions.", "cat /proc/driver/nvidia/version; ls -l /usr/lib/*/libnvidia-ml.so.*", &[]),
            cmd("The sure way.", "reboot", &[Tag::Root, Tag::Reboot, Tag::RestartsJob]),
            cmd(
                "Without a reboot: load the new module once no process uses the GPU. It fails while one does, and ends displays.",
                "rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia && modprobe nvidia",
                &[Tag::Root, Tag::Unsafe, Tag::RestartsJob],
            ),
            cmd("Keep updates for maintenance windows.", "apt-mark hold 'nvidia-*' 'libnvidia-*'", &[Tag::Root]),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify("nvidia-smi", "prints its table, and its version equals that in /proc/driver/nvidia/version"),
    }
}
