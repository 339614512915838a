//! # What it looks for
//! Whether each GPU's PCIe link has as many lanes as the GPU and its slot can use together.
//!
//! # Why it wastes the GPU
//! Each halving of the width halves the rate at which batches reach the GPU, and that of every peer transfer over PCIe.
//!
//! # Confirm by hand
//! Read the width again while something is copied to the GPU: `nvidia-smi
//! --query-gpu=pcie.link.width.current,pcie.link.width.max --format=csv`. The kernel says at boot which port limits:
//! `dmesg | grep 'available PCIe bandwidth'`.
//!
//! # Fix
//! Seat the board again, try another slot, look at bifurcation settings and at other cards that share the lanes; swap
//! the board to tell slot from board.
//!
//! # Limits
//! NVIDIA's own help says that the width may be reduced while the GPU is idle, so only a reading under load, or one below
//! the width at which NVIDIA's diagnostic fails, is a failure. Some boards and cloud instances have x8 or x4 by design;
//! laptops, virtual machines and Grace modules are judged gently or not at all.
//!
//! # References
//! `nvidia-smi --help-query-gpu` (580.159.04), fields pcie.link.width.*; DCGM 4.6 `nvvs/diag-skus.yaml.in` (least widths);
//! pciutils `ls-caps.c`.

use crate::catalogue::common::{per_gpu, Load, is_guest, is_laptop, is_vgpu, load, model, name};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::fact::Known;
use crate::keys;
use crate::report::{Applicability, Confidence, Evidence, Fix, Tag};
use crate::tables::{self, Class};

crate::check! {
    id: "driver/pcie-link-width", layer: Driver, title: "The PCIe link has fewer lanes than it can have",
    severity: High, core: true, minutes: 2, evidence: [SmiQ, Lspci, Live, BugReport],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    per_gpu(cx, |gpu| one(cx, gpu))
}

fn one(cx: &Ctx<'_>, gpu: usize) -> Result<Verdict, Missing> {
    let name = name(cx, gpu);
    match tables::class(&name) {
        Some(Class::Soc) => return Ok(Verdict::not_applicable("The GPU is integrated: it has no PCIe slot.")),
        Some(Class::Grace) => {
            return Ok(Verdict::not_applicable("Data reaches this GPU over C2C; its PCIe link is for management."));
        }
        _ if is_vgpu(cx, gpu) => return Ok(Verdict::not_applicable("A virtual GPU has no link of its own.")),
        _ => {}
    }
    let current = lanes(cx.need(&keys::PCIE_WIDTH_CURRENT, &[gpu])?)?;
    let limits = Limits::read(cx, gpu)?;
    let want = limits.device.min(limits.slot);
    let floor = model(cx, gpu).and_then(|m| m.min_width);
    let evidence = limits.evidence(&current, want);
    let shown = format!("x{} of x{want}", current.value);

    if current.value >= want {
        if limits.slot < limits.device {
            return Ok(Verdict::info(format!(
                "The slot gives x{} to a board that can use x{}: the link runs at all the slot has.",
                limits.slot, limits.device
            ))
            .with(evidence));
        }
        return Ok(Verdict::pass(format!("The link has all its lanes (x{}).", current.value)));
    }
    if let Some(native) = model(cx, gpu).and_then(|m| m.native_width).filter(|n| current.value >= *n) {
        return Ok(Verdict::info(format!("The link runs at x{native}, which is all that this model has.")).with(evidence));
    }
    if is_laptop(cx, gpu) {
        return Ok(Verdict::info(format!("The link runs at {shown}; laptops are often wired so.")).with(evidence));
    }
    let below_floor = floor.is_some_and(|f| current.value < f);
    if is_guest(cx, gpu) {
        return Ok(if below_floor {
            Verdict::warn(format!(
                "The link runs at {shown}, below what NVIDIA's diagnostic accepts for this model. The slot belongs to the host of this virtual machine."
            ))
            .confidence(Confidence::Medium)
        } else {
            Verdict::info(format!("The link runs at {shown}; this virtual machine was given it so."))
        }
        .with(evidence));
    }
    let busy = load(cx, gpu) == Load::Busy;
    let verdict = if busy || below_floor {
        Verdict::fail(format!("The link runs at {shown}: it carries {} of what it could.", share(current.value, want)))
    } else {
        Verdict::warn(format!(
            "The link runs at {shown} in a reading without load. Widths rarely fall at idle: read it again under load."
        ))
        .confidence(Confidence::Medium)
    };
    Ok(verdict.with(evidence))
}

/// How many lanes the board and what is above it have.
struct Limits<'a> {
    device: i64,
    slot: i64,
    from: Vec<Known<'a, i64>>,
}

impl<'a> Limits<'a> {
    fn read(cx: &Ctx<'a>, gpu: usize) -> Result<Self, Missing> {
        let known = |key| cx.get(key, &[gpu]).filter(|k: &Known<'_, i64>| lanes_ok(k.value));
        let device = known(&keys::PCIE_WIDTH_DEVICE_MAX);
        let system = known(&keys::PCIE_WIDTH_MAX);
        let parent = known(&keys::PCIE_WIDTH_PARENT_MAX);
        let Some(most) = device.as_ref().or(system.as_ref()).map(|k| k.value) else {
            return Err(Missing::fact(keys::PCIE_WIDTH_MAX.at(&[gpu]), keys::PCIE_WIDTH_MAX.what));
        };
        // A port that claims fewer lanes than are in use is a virtual one.
        let used = cx.value(&keys::PCIE_WIDTH_CURRENT, &[gpu]).unwrap_or(0);
        let slot = [system.as_ref(), parent.as_ref()]
            .into_iter()
            .flatten()
            .map(|k| k.value)
            .filter(|w| *w >= used)
            .min()
            .unwrap_or(most);
        Ok(Self { device: most, slot, from: [device, system, parent].into_iter().flatten().collect() })
    }

    fn evidence(&self, current: &Known<'_, i64>, want: i64) -> Vec<Evidence> {
        let mut out = vec![current.evidence(&format!("{want}"))];
        out.extend(self.from.iter().map(|k| k.evidence("")));
        out
    }
}

/// 0, 63 and 255 are what a dead or hidden link reads as.
fn lanes_ok(width: i64) -> bool {
    (1..=32).contains(&width)
}

fn lanes(k: Known<'_, i64>) -> Result<Known<'_, i64>, Missing> {
    if lanes_ok(k.value) { Ok(k) } else { Err(Missing::fact(k.path, "a link width that can be read")) }
}

fn share(current: i64, want: i64) -> String {
    match want / current {
        2 => "half".into(),
        4 => "a quarter".into(),
        8 => "an eighth".into(),
        _ => format!("{current} lanes of {want}"),
    }
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd(
                "Read the width again while the job runs.",
                "nvidia-smi --query-gpu=index,pcie.link.width.current,pcie.link.width.max,utilization.gpu --format=csv",
                &[],
            ),
            cmd("Find the port that limits, as the kernel saw it at boot.", "dmesg | grep 'available PCIe bandwidth'", &[Tag::Root]),
            step("Look in the firmware set-up whether the slot is split (x8/x8) although it could be x16.", &[Tag::Bios, Tag::Reboot]),
            step("Switch the node off, seat board and riser again, take out cards that share the lanes, try another slot.", &[Tag::Hands, Tag::Reboot]),
            step("Swap the board with a good one: if the fault stays with the slot, it is the slot or riser; if it moves, the board.", &[Tag::Hands, Tag::Reboot]),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify(
            "nvidia-smi --query-gpu=pcie.link.width.current,pcie.link.width.max --format=csv",
            "both columns show the same width under load",
        ),
    }
}
