//! # What it looks for
//! Whether a port between the CPU and the GPU carries less than the GPU's own link.
//!
//! # Why it wastes the GPU
//! The slowest hop sets the rate. The GPU's own link can look perfect behind a switch or slot that is half as wide.
//!
//! # Confirm by hand
//! `dmesg | grep 'available PCIe bandwidth'`; `lspci -tv` shows the path, `lspci -vv` the LnkSta of each port on it.
//!
//! # Fix
//! Move the board to a slot at the CPU, or spread GPUs, network cards and disks over the switches.
//!
//! # Limits
//! A port's link slows down at idle like the GPU's, so what the port can do is compared, and its present width only where it is
//! below its own maximum. A line of the boot can show a link that trained later. Virtual machines show ports that do not exist.
//!
//! # References
//! Linux kernel, drivers/pci/pci.c (pcie_print_link_status); pciutils `ls-caps.c` (ports print no "downgraded").

use crate::catalogue::common::{Load, events, is_guest, load, logged, per_gpu};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::keys;
use crate::record::{KernelEvent, KernelKind};
use crate::report::{Applicability, Confidence, Evidence, Fix, Tag};
use crate::tables::{gen_of_gts, link_gb_s};

crate::check! {
    id: "driver/pcie-upstream-bottleneck", layer: Driver, title: "A port above the GPU carries less than the GPU's link",
    severity: Medium, core: true, minutes: 3, evidence: [Lspci, KernelLog, Live],
    limits: {
        severe_share = 0.50, "", "layers-1-3 section 2, driver/pcie-upstream-bottleneck: less than half is a failure under load";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let has_ports = cx.facts.gpus().iter().any(|g| !ports(cx, *g).is_empty());
    if has_ports {
        return per_gpu(cx, |gpu| one(cx, gpu));
    }
    if cx.is(&keys::VIRTUAL_MACHINE) || cx.facts.gpus().iter().any(|g| is_guest(cx, *g)) {
        return Ok(Verdict::not_applicable("The ports above the GPU belong to the host of this virtual machine."));
    }
    if let Some(e) = boot_line(cx) {
        return Ok(Verdict::warn(format!("At boot the kernel found a GPU limited by a port above it: {}.", told(&e.text)))
            .confidence(Confidence::Medium)
            .with([logged(e, "kernel_log", None)]));
    }
    Err(Missing::fact(keys::PCIE_PORT_WIDTH_MAX.at(&[0, 0]), "the ports above the GPU"))
}

fn boot_line<'a>(cx: &Ctx<'a>) -> Option<&'a KernelEvent> {
    events(cx).find(|e| e.kind == KernelKind::Other("pcie-bandwidth"))
}

/// The part of the kernel's line that names rate and port.
fn told(text: &str) -> &str {
    text.split_once(": ").map_or(text, |(_, t)| t).trim_end_matches('.')
}

/// Rates of the ports above a GPU, in GB/s, with the evidence for each.
fn ports(cx: &Ctx<'_>, gpu: usize) -> Vec<(f64, Vec<Evidence>)> {
    let indices = cx.facts.indices(&format!("gpu[{gpu}].pcie.port"));
    indices
        .into_iter()
        .filter_map(|p| {
            let at = [gpu, p];
            let speed = cx.get(&keys::PCIE_PORT_SPEED_MAX, &at)?;
            let most = cx.get(&keys::PCIE_PORT_WIDTH_MAX, &at)?;
            let now = cx.get(&keys::PCIE_PORT_WIDTH, &at);
            let lanes = now.as_ref().map_or(most.value, |n| if n.value > 0 { n.value.min(most.value) } else { most.value });
            let rate = link_gb_s(gen_of_gts(speed.value)?, lanes)?;
            let evidence = [Some(speed.evidence("")), Some(most.evidence("")), now.map(|n| n.evidence(""))];
            Some((rate, evidence.into_iter().flatten().collect()))
        })
        .collect()
}

fn one(cx: &Ctx<'_>, gpu: usize) -> Result<Verdict, Missing> {
    if is_guest(cx, gpu) {
        return Ok(Verdict::not_applicable("The ports above the GPU belong to the host of this virtual machine."));
    }
    let at = [gpu];
    let own_gen = cx
        .get(&keys::PCIE_SPEED_MAX, &at)
        .and_then(|s| gen_of_gts(s.value))
        .or_else(|| cx.value(&keys::PCIE_GEN_DEVICE_MAX, &at))
        .ok_or_else(|| Missing::fact(keys::PCIE_SPEED_MAX.at(&at), keys::PCIE_SPEED_MAX.what))?;
    // The width in use: a narrow slot is the business of driver/pcie-link-width.
    let own_width = cx
        .value(&keys::PCIE_WIDTH_CURRENT, &at)
        .filter(|w| (1..=32).contains(w))
        .ok_or_else(|| Missing::fact(keys::PCIE_WIDTH_CURRENT.at(&at), keys::PCIE_WIDTH_CURRENT.what))?;
    let own = link_gb_s(own_gen, own_width).ok_or_else(|| Missing::other("a PCIe generation that is known"))?;
    let ports = ports(cx, gpu);
    let Some((slowest, evidence)) = ports.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Err(Missing::fact(keys::PCIE_PORT_WIDTH_MAX.at(&[gpu, 0]), "the ports above the GPU"));
    };
    let share = slowest / own;
    // Rates are rounded in the table; a difference of a per cent is none.
    if share > 0.99 {
        return Ok(Verdict::pass(format!("Every port above the GPU carries its {own:.1} GB/s.")));
    }
    let text = format!("A port above the GPU carries {slowest:.1} GB/s, the GPU's own link {own:.1} GB/s.");
    let verdict = if share < cx.limit(&severe_share) && load(cx, gpu) == Load::Busy {
        Verdict::fail(text)
    } else {
        Verdict::warn(text).confidence(Confidence::Medium)
    };
    Ok(verdict.with(evidence))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("See the path from CPU to GPU.", "lspci -tv", &[]),
            cmd("Find the port that limits.", "dmesg | grep 'available PCIe bandwidth'", &[Tag::Root]),
            step("Move the board to a slot that is connected to the CPU, or spread boards over the switches.", &[Tag::Hands, Tag::Reboot]),
            step("Look at the bifurcation and speed settings of that port in the firmware set-up.", &[Tag::Bios, Tag::Reboot]),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify("dmesg | grep 'available PCIe bandwidth'", "no such line for a GPU after the next boot"),
    }
}
