//! # What it looks for
//! Whether another kernel driver holds an NVIDIA GPU: nouveau or nova instead of NVIDIA's own.
//!
//! # Why it wastes the GPU
//! One device has one driver. As long as the other one holds it, CUDA does not see the GPU.
//!
//! # Confirm by hand
//! `lspci -k -d 10de:` prints "Kernel driver in use:" for each device.
//!
//! # Fix
//! Keep the other driver from loading, rebuild the initial ramdisk, reboot.
//!
//! # Limits
//! "Kernel modules:" lists what could be used and says nothing. `vfio-pci` means that the GPU was given to a virtual machine
//! on purpose. A GPU without any driver on a node where nvidia is loaded was refused for a reason that the kernel log names.
//!
//! # References
//! Linux kernel, driver binding in sysfs; open-gpu-kernel-modules 595.45.04 (wording of the probe messages).

use crate::catalogue::common::{events, logged, per_gpu};
use crate::check::{Ctx, Missing, Verdict, cmd, verify};
use crate::keys;
use crate::record::KernelKind;
use crate::report::{Applicability, Fix, Tag};

crate::check! {
    id: "driver/driver-conflict", layer: Driver, title: "Another kernel driver holds the GPU",
    severity: Critical, core: true, minutes: 1, evidence: [Lspci, KernelLog, Live, BugReport],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    if let Some(e) =
        events(cx).find(|e| matches!(e.kind, KernelKind::Other("driver-conflict")))
    {
        return Ok(Verdict::fail("NVIDIA's driver was not called for a GPU because another driver owns it.")
            .with([logged(e, "kernel_log", None)]));
    }
    let known = cx.facts.gpus().iter().any(|g| cx.get(&keys::PCIE_DRIVER, &[*g]).is_some());
    if known {
        return per_gpu(cx, |gpu| bound(cx, gpu));
    }
    let nouveau = events(cx).find(|e| matches!(e.kind, KernelKind::Other("nouveau")));
    let nvidia = cx.is(&keys::MODULE_NVIDIA) || cx.value(&keys::MODULE_VERSION, &[]).is_some();
    if let Some(e) = nouveau.filter(|_| !nvidia) {
        return Ok(Verdict::fail("nouveau has taken the GPU.").with([logged(e, "kernel_log", None)]));
    }
    let loaded = cx.get(&keys::MODULE_NOUVEAU, &[]);
    if let Some(k) = loaded.as_ref().filter(|k| k.value && !nvidia) {
        return Ok(Verdict::fail("nouveau is loaded instead of NVIDIA's driver.").with([k.evidence("no")]));
    }
    let smi = cx.facts.gpus().iter().any(|g| cx.get(&keys::GPU_PSTATE, &[*g]).is_some());
    if smi || (nvidia && loaded.is_some_and(|k| !k.value)) {
        return Ok(Verdict::pass("NVIDIA's driver holds the GPUs that it lists."));
    }
    Err(Missing::fact(keys::PCIE_DRIVER.at(&[0]), keys::PCIE_DRIVER.what))
}

fn bound(cx: &Ctx<'_>, gpu: usize) -> Result<Verdict, Missing> {
    let driver = cx.need(&keys::PCIE_DRIVER, &[gpu])?;
    Ok(match driver.value.as_str() {
        "nvidia" => Verdict::pass("NVIDIA's driver holds the GPU."),
        "vfio-pci" | "pci-stub" => {
            Verdict::info("The GPU is kept for a virtual machine (vfio-pci); jobs of this node do not see it.")
                .with([driver.evidence("")])
        }
        other => Verdict::fail(format!("The GPU is held by {other}; CUDA does not see it.")).with([driver.evidence("nvidia")]),
    })
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("See which driver holds which device.", "lspci -k -d 10de:", &[]),
            cmd(
                "Keep nouveau from loading.",
                "printf 'blacklist nouveau\\noptions nouveau modeset=0\\n' > /etc/modprobe.d/blacklist-nouveau.conf",
                &[Tag::Root],
            ),
            cmd("Rebuild the initial ramdisk and reboot (dracut -f on Red Hat systems).", "update-initramfs -u && reboot", &[Tag::Root, Tag::Reboot, Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify("lspci -k -d 10de:", "Kernel driver in use: nvidia"),
    }
}
