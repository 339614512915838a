//! # What it looks for
//! Whether the installed PyTorch was built with CUDA at all.
//!
//! # Why it wastes the GPU
//! A CPU-only build runs the whole job on the CPU, however many GPUs the node has and whatever driver is installed.
//!
//! # Confirm by hand
//! `python -c "import torch; print(torch.__version__, torch.version.cuda)"`: a version that ends in `+cpu`, or `None`,
//! is a build without CUDA.
//!
//! # Fix
//! Install the build for the CUDA family that the driver runs, from PyTorch's own index.
//!
//! # Limits
//! A CPU build prints "No CUDA" whatever the node has, so it says nothing about driver or GPU. Builds for ROCm and for
//! macOS are no CUDA builds by design. Whether the job uses the environment that was looked at, a person must know.
//!
//! # References
//! PyTorch, `torch/utils/collect_env.py` (prints None, or "Could not collect" in old versions, for a build without CUDA);
//! PyTorch installation selector (pytorch.org/get-started).

use crate::check::{Ctx, Missing, Verdict, cmd, verify};
use crate::keys;
use crate::report::{Applicability, Confidence, Evidence, Fix, Tag};

crate::check! {
    id: "runtime/framework-cuda-build", layer: Runtime, title: "PyTorch was built without CUDA",
    severity: Critical, core: true, minutes: 1, evidence: [CollectEnv, Live, Steps],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let torch = cx.get(&keys::TORCH, &[]);
    let version = torch.as_ref().map(|t| t.value.clone()).unwrap_or_default();
    if let Some(rocm) = cx.get(&keys::ROCM_BUILD, &[]) {
        return Ok(Verdict::not_applicable(format!("PyTorch was built for ROCm {}.", rocm.value)));
    }
    if version.contains("+rocm") || version.contains("+xpu") {
        return Ok(Verdict::not_applicable(format!("PyTorch {version} is built for another make of GPU.")));
    }
    let os = cx.value(&keys::OS, &[]).unwrap_or_default().to_ascii_lowercase();
    if ["macos", "mac os", "darwin"].iter().any(|m| os.contains(m)) {
        return Ok(Verdict::not_applicable("There is no CUDA on macOS."));
    }
    let cpu_wheel = version.ends_with("+cpu");
    let none = cx.get(&keys::CUDA_BUILD_NONE, &[]).filter(|n| n.value);
    if cpu_wheel || none.is_some() {
        if cx.value(&keys::PCI_GPU_COUNT, &[]) == Some(0) {
            return Ok(Verdict::info("PyTorch is a build without CUDA, and this node has no NVIDIA GPU."));
        }
        let named = if version.is_empty() { String::new() } else { format!(" {version}") };
        let mut evidence: Vec<Evidence> = torch.iter().map(|t| t.evidence("a build with CUDA")).collect();
        evidence.extend(none.map(|n| n.evidence("a CUDA version")));
        let gpu = !cx.facts.gpus().is_empty() || cx.value(&keys::PCI_GPU_COUNT, &[]).is_some_and(|n| n > 0);
        return Ok(if gpu {
            Verdict::fail(format!("PyTorch{named} was built without CUDA: jobs run on the CPU although there is a GPU."))
        } else {
            Verdict::warn(format!(
                "PyTorch{named} was built without CUDA: jobs run on the CPU. Whether the node has a GPU cannot be seen from here."
            ))
            .confidence(Confidence::Medium)
        }
        .with(evidence));
    }
    if let Some(build) = cx.get(&keys::CUDA_BUILD, &[]) {
        return Ok(Verdict::pass(format!("PyTorch{} was built for CUDA {}.", spaced(&version), build.value)).with([build.evidence("")]));
    }
    if let Some(tag) = version.split_once("+cu").map(|(_, tag)| tag) {
        return Ok(Verdict::pass(format!("PyTorch {version} was built with CUDA (cu{tag}).")));
    }
    Err(Missing::fact(keys::CUDA_BUILD.path.into(), keys::CUDA_BUILD.what))
}

fn spaced(version: &str) -> String {
    if version.is_empty() { String::new() } else { format!(" {version}") }
}

/// The wheel index for the driver's CUDA: the newest family that PyTorch builds for and the driver runs.
fn index(cx: &Ctx<'_>) -> &'static str {
    let cuda = cx.value(&keys::CUDA_VERSION, &[]).and_then(|v| {
        let (major, minor) = v.split_once('.')?;
        Some((major.trim().parse::<u32>().ok()?, minor.trim().parse::<u32>().ok()?))
    });
    match cuda {
        Some((13.., _)) => "cu130",
        Some((12, 8..)) => "cu128",
        _ => "cu126",
    }
}

fn fix(cx: &Ctx<'_>) -> Fix {
    let index = index(cx);
    Fix {
        steps: vec![
            cmd("See which Python and which PyTorch the job uses.", "python -c \"import sys, torch; print(sys.executable, torch.__version__, torch.version.cuda)\"", &[]),
            cmd(
                "Install a build with CUDA in that environment (the end of the address is the CUDA family; the driver must run it).",
                format!("pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/{index}"),
                &[Tag::RestartsJob],
            ),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("python -c \"import torch; print(torch.version.cuda, torch.cuda.is_available())\"", "a CUDA version and True"),
    }
}
