//! # What it looks for
//! Whether each GPU's PCIe link runs, under load, at the generation that board and slot can do together, and whether a
//! board is held below what it can do.
//!
//! # Why it wastes the GPU
//! Each generation doubles the rate: a link one generation short carries half, two short a quarter.
//!
//! # Confirm by hand
//! Read the generation while something is copied to the GPU: `nvidia-smi
//! --query-gpu=pcie.link.gen.current,pcie.link.gen.max,utilization.gpu --format=csv`.
//!
//! # Fix
//! Set the slot's speed to Auto in the firmware set-up; check risers and retimers for the generation they are made for.
//!
//! # Limits
//! A GPU lowers its generation at idle by design, so a reading without load says nothing about the generation in use. In
//! virtual machines the host's side is not visible. A board in an older slot is not a fault.
//!
//! # References
//! `nvidia-smi --help-query-gpu` (580.159.04), fields pcie.link.gen.*; telegraf's nvidia_smi test data (RTX 3090 and RTX
//! 4000 SFF Ada at generation 1 while idle).

use crate::catalogue::common::{Load, class, is_guest, is_laptop, is_vgpu, load, name};
use crate::check::{Ctx, Missing, PerGpu, Verdict, cmd, step, verify};
use crate::fact::Known;
use crate::keys;
use crate::report::{Applicability, Confidence, Evidence, Fix, Tag};
use crate::tables::{Class, gen_of_gts, link_gb_s};

crate::check! {
    id: "driver/pcie-link-gen", layer: Driver, title: "The PCIe link runs below its generation",
    severity: High, core: true, minutes: 2, evidence: [SmiQ, Lspci, Live, BugReport],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let gpus = cx.gpus()?;
    let mut all = PerGpu::default();
    for gpu in &gpus {
        all.add(*gpu, one(cx, *gpu, &gpus));
    }
    all.fold()
}

/// A generation and where it was read: printed as such, or as a speed.
struct Generation {
    value: i64,
    evidence: Evidence,
}

impl Generation {
    fn printed(k: Option<Known<'_, i64>>) -> Option<Self> {
        let k = k.filter(|k| (1..=6).contains(&k.value))?;
        Some(Self { value: k.value, evidence: k.evidence("") })
    }

    fn speed(k: Option<Known<'_, f64>>) -> Option<Self> {
        let k = k?;
        Some(Self { value: gen_of_gts(k.value)?, evidence: k.evidence("") })
    }
}

fn one(cx: &Ctx<'_>, gpu: usize, gpus: &[usize]) -> Result<Verdict, Missing> {
    match class(cx, gpu) {
        Some(Class::Soc) => return Ok(Verdict::not_applicable("The GPU is integrated: it has no PCIe slot.")),
        Some(Class::Grace) => {
            return Ok(Verdict::not_applicable("Data reaches this GPU over C2C; its PCIe link is for management."));
        }
        _ if is_vgpu(cx, gpu) => return Ok(Verdict::not_applicable("A virtual GPU has no link of its own.")),
        _ => {}
    }
    let at = [gpu];
    let device = Generation::printed(cx.get(&keys::PCIE_GEN_DEVICE_MAX, &at))
        .or_else(|| Generation::speed(cx.get(&keys::PCIE_SPEED_MAX, &at)));
    let host = Generation::printed(cx.get(&keys::PCIE_GEN_HOST_MAX, &at))
        .or_else(|| Generation::speed(cx.get(&keys::PCIE_SPEED_PARENT_MAX, &at)));
    let current = Generation::printed(cx.get(&keys::PCIE_GEN_CURRENT, &at))
        .or_else(|| Generation::speed(cx.get(&keys::PCIE_SPEED_CURRENT, &at)))
        .ok_or_else(|| Missing::fact(keys::PCIE_GEN_CURRENT.at(&at), keys::PCIE_GEN_CURRENT.what))?;
    let max = Generation::printed(cx.get(&keys::PCIE_GEN_MAX, &at)).map(|g| g.value);
    let together = max.or_else(|| {
        let (d, h) = (device.as_ref().map(|g| g.value), host.as_ref().map(|g| g.value));
        d.map(|d| h.filter(|h| *h >= current.value).map_or(d, |h| d.min(h)))
    });
    let Some(together) = together else {
        return Err(Missing::fact(keys::PCIE_GEN_MAX.at(&at), keys::PCIE_GEN_MAX.what));
    };

    if let Some(v) = capped_against_twin(cx, gpu, gpus, device.as_ref()) {
        return Ok(v);
    }
    if load(cx, gpu) == Load::Busy && current.value < together {
        return Ok(slow_under_load(cx, gpu, &current, together));
    }
    if let Some(v) = older_slot(cx, gpu, device.as_ref(), together) {
        return Ok(v);
    }
    if current.value < together {
        return Ok(Verdict::pass(format!(
            "Generation {} of {together} without load: the link saves power and rises when it is used.",
            current.value
        )));
    }
    Ok(Verdict::pass(format!("The link runs at generation {}, all it can do.", current.value)))
}

fn slow_under_load(cx: &Ctx<'_>, gpu: usize, current: &Generation, together: i64) -> Verdict {
    let lanes = cx.value(&keys::PCIE_WIDTH_CURRENT, &[gpu]).unwrap_or(16);
    let rates = match (link_gb_s(current.value, lanes), link_gb_s(together, lanes)) {
        (Some(have), Some(could)) => format!(" ({have:.1} of {could:.1} GB/s in each direction)"),
        _ => String::new(),
    };
    let text = format!("Under load the link runs at generation {} of {together}{rates}.", current.value);
    let evidence = Evidence { expected: Some(together.to_string()), ..current.evidence.clone() };
    let verdict = if together.saturating_sub(current.value) >= 2 && !is_laptop(cx, gpu) && !is_guest(cx, gpu) {
        Verdict::fail(text)
    } else {
        Verdict::warn(text).confidence(Confidence::Medium)
    };
    verdict.with([evidence]).with(cx.get(&keys::GPU_UTIL, &[gpu]).map(|k| k.evidence("")))
}

/// A board whose own highest speed is below that of the same model beside it was held back in the firmware set-up.
fn capped_against_twin(cx: &Ctx<'_>, gpu: usize, gpus: &[usize], device: Option<&Generation>) -> Option<Verdict> {
    let mine = device?;
    let best = gpus
        .iter()
        .filter(|g| **g != gpu && same_model(cx, gpu, **g))
        .filter_map(|g| {
            Generation::printed(cx.get(&keys::PCIE_GEN_DEVICE_MAX, &[*g]))
                .or_else(|| Generation::speed(cx.get(&keys::PCIE_SPEED_MAX, &[*g])))
                .map(|x| (*g, x))
        })
        .max_by_key(|(_, x)| x.value)?;
    if best.1.value <= mine.value {
        return None;
    }
    let text = format!(
        "The link is held at generation {}, while GPU {} of the same model offers generation {}: the slot's speed is limited, most often in the firmware set-up.",
        mine.value, best.0, best.1.value
    );
    let expected = Some(format!("generation {}", best.1.value));
    Some(Verdict::warn(text).with([Evidence { expected, ..mine.evidence.clone() }, best.1.evidence]))
}

fn same_model(cx: &Ctx<'_>, a: usize, b: usize) -> bool {
    let id = |g: usize| cx.value(&keys::GPU_DEVICE_ID, &[g]);
    match (id(a), id(b)) {
        (Some(x), Some(y)) => x == y,
        _ => !name(cx, a).is_empty() && name(cx, a) == name(cx, b),
    }
}

/// A board that can do more than its slot. An older desktop board is worth knowing; a data-centre board, or two
/// generations, points to a setting.
fn older_slot(cx: &Ctx<'_>, gpu: usize, device: Option<&Generation>, together: i64) -> Option<Verdict> {
    let mine = device.filter(|d| d.value > together)?;
    if is_guest(cx, gpu) || is_laptop(cx, gpu) {
        return None;
    }
    let text = format!(
        "The board can do generation {}, its slot only {together}: at most {} GB/s in each direction over x16.",
        mine.value,
        link_gb_s(together, 16).map_or_else(|| "?".into(), |r| format!("{r:.1}"))
    );
    let evidence = Evidence { expected: Some(format!("a slot of generation {}", mine.value)), ..mine.evidence.clone() };
    let by_setting = mine.value.saturating_sub(together) >= 2 || class(cx, gpu) == Some(Class::DataCentre);
    let verdict =
        if by_setting { Verdict::warn(text).confidence(Confidence::Medium) } else { Verdict::info(text) };
    Some(verdict.with([evidence]).with(cx.get(&keys::PCIE_GEN_MAX, &[gpu]).map(|k| k.evidence(""))))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd(
                "Read the generation again while the job runs.",
                "nvidia-smi --query-gpu=index,pcie.link.gen.current,pcie.link.gen.max,utilization.gpu --format=csv",
                &[],
            ),
            step("Set the speed of the slot to Auto, or to the board's generation, in the firmware set-up.", &[Tag::Bios, Tag::Reboot]),
            step("Check that riser, cable and retimer are made for that generation; try the board in another slot.", &[Tag::Hands, Tag::Reboot]),
            step("Update the system's firmware.", &[Tag::Bios, Tag::Reboot]),
        ],
        applicability: Applicability::NeedsMaintenance,
        verify: verify(
            "nvidia-smi --query-gpu=pcie.link.gen.current,pcie.link.gen.max --format=csv",
            "both columns show the same generation under load",
        ),
    }
}
