//! # What it looks for
//! Whether the driver is new enough for the CUDA that PyTorch was built with.
//!
//! # Why it wastes the GPU
//! Below the least driver of a CUDA family, CUDA does not start: the job runs on the CPU or ends.
//!
//! # Confirm by hand
//! `python -c "import torch; print(torch.version.cuda, torch.cuda.is_available())"` and the driver version of nvidia-smi.
//!
//! # Fix
//! Update the driver to a supported branch, or install a build for an older CUDA family.
//!
//! # Limits
//! A driver is never too new. "CUDA Version" in nvidia-smi is the highest that the driver runs, not an installed toolkit. On
//! data-centre boards the compatibility package can run a newer CUDA on an older driver; where CUDA is seen to work, that is
//! worth knowing and no fault. A toolkit on the path (nvcc) matters only for building extensions.
//!
//! # References
//! NVIDIA, "CUDA Compatibility" (minor version and forward compatibility); CUDA Toolkit release notes; drivers of the official
//! runfiles (table cuda-drivers.tsv).

use crate::catalogue::common::{class, is_windows, two_parts, version};
use crate::check::{Ctx, Missing, Verdict, cmd, verify};
use crate::keys;
use crate::report::{Applicability, Confidence, Fix, Tag};
use crate::tables::{Class, family_floor, toolkit};

crate::check! {
    id: "driver/cuda-driver-compat", layer: Driver, title: "The driver is too old for PyTorch's CUDA",
    severity: High, core: true, minutes: 2, evidence: [CollectEnv, Live],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    if let Some(rocm) = cx.get(&keys::ROCM_BUILD, &[]) {
        return Ok(Verdict::not_applicable(format!("PyTorch was built for ROCm {}.", rocm.value)));
    }
    let build = cx.need(&keys::CUDA_BUILD, &[])?;
    let driver = cx
        .get(&keys::DRIVER, &[])
        .or_else(|| cx.get(&keys::MODULE_VERSION, &[]))
        .ok_or_else(|| Missing::fact(keys::DRIVER.path.into(), keys::DRIVER.what))?;
    let Some(cuda) = two_parts(&build.value) else {
        return Err(Missing::fact(keys::CUDA_BUILD.path.into(), "a CUDA version that can be read"));
    };
    let windows = is_windows(cx) || cx.is(&keys::WSL2);
    let bundled = toolkit(cuda).map(|t| t.bundled);
    // Before CUDA 11 there was no compatibility within a family: the toolkit's own driver was the least one.
    let Some(floor) = (if cuda.0 >= 11 { family_floor(cuda.0, windows) } else { bundled.filter(|_| !windows) }) else {
        return Err(Missing::other(format!("a table entry for CUDA {}", build.value)));
    };
    let have = version(&driver.value);
    let evidence = || [driver.evidence(&format!(">= {floor}")), build.evidence("")];
    if have < version(floor) {
        let text = format!("Driver {} is older than {floor}, the least for CUDA {}.", driver.value, build.value);
        let works = cx.get(&keys::CUDA_AVAILABLE, &[]);
        return Ok(match works {
            Some(w) if w.value => Verdict::info(format!("{text} CUDA works all the same, so a compatibility package is in use."))
                .with(evidence())
                .with([w.evidence("")]),
            Some(w) => Verdict::fail(format!("{text} CUDA is not available.")).with(evidence()).with([w.evidence("yes")]),
            None if may_be_compatible(cx) => Verdict::warn(format!("{text} Only a compatibility package could run it."))
                .confidence(Confidence::Medium)
                .with(evidence()),
            None => Verdict::fail(text).with(evidence()),
        });
    }
    if !windows
        && let Some(b) = bundled.filter(|b| have < version(b))
    {
        return Ok(Verdict::info(format!(
            "Driver {} runs CUDA {} by minor version compatibility; what needs {b} (new features, code compiled at run time) does not work.",
            driver.value, build.value
        ))
        .with(evidence()));
    }
    Ok(Verdict::pass(format!("Driver {} runs CUDA {}.", driver.value, build.value)))
}

/// Forward compatibility exists for data-centre boards only; without a known board it cannot be ruled out.
fn may_be_compatible(cx: &Ctx<'_>) -> bool {
    let gpus = cx.facts.gpus();
    gpus.is_empty() || gpus.iter().any(|g| !matches!(class(cx, *g), Some(Class::GeForce)))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd(
                "Without root: install a build of an older CUDA family that this driver runs (the end of the address names it).",
                "pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu126",
                &[Tag::RestartsJob],
            ),
            cmd("Update the driver to a branch that is supported; package names differ between distributions.", "apt install nvidia-driver-580", &[Tag::Root, Tag::Reboot]),
            cmd("On data-centre boards only: the compatibility package of that CUDA.", "apt install cuda-compat-13-0", &[Tag::Root, Tag::RestartsJob]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("python -c \"import torch; print(torch.cuda.is_available(), torch.version.cuda)\"", "True and the CUDA version"),
    }
}
