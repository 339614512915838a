//! # What it looks for
//! Whether the CUDA that PyTorch was built with has code for the GPU's architecture.
//!
//! # Why it wastes the GPU
//! Without code for it the first kernel fails ("no kernel image is available"), or every kernel is compiled at the start of
//! each job.
//!
//! # Confirm by hand
//! `python -c "import torch; print(torch.cuda.get_arch_list(), torch.cuda.get_device_capability())"`.
//!
//! # Fix
//! Install a build of a CUDA family that knows the architecture.
//!
//! # Limits
//! What a wheel holds can differ from what its CUDA could compile for; the list above is the proof. A model that is not known
//! is not judged.
//!
//! # References
//! NVIDIA, "CUDA Toolkit, Driver, and Architecture Matrix"; PyTorch `.ci/manywheel/build_cuda.sh` (architectures of the
//! wheels) and issue 157517.

use crate::catalogue::common::{capability, name, per_gpu, two_parts, version};
use crate::check::{Ctx, Missing, Verdict, cmd, verify};
use crate::keys;
use crate::report::{Applicability, Confidence, Fix, Tag};
use crate::tables::architecture;

crate::check! {
    id: "driver/gpu-arch-supported", layer: Driver, title: "PyTorch's CUDA has no code for this GPU",
    severity: High, core: true, minutes: 1, evidence: [CollectEnv, Live],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    if let Some(rocm) = cx.get(&keys::ROCM_BUILD, &[]) {
        return Ok(Verdict::not_applicable(format!("PyTorch was built for ROCm {}.", rocm.value)));
    }
    let build = cx.need(&keys::CUDA_BUILD, &[])?;
    let cuda = two_parts(&build.value)
        .ok_or_else(|| Missing::fact(keys::CUDA_BUILD.path.into(), "a CUDA version that can be read"))?;
    per_gpu(cx, |gpu| {
        let cc = capability(cx, gpu).ok_or_else(|| Missing::fact(keys::GPU_COMPUTE_CAP.at(&[gpu]), keys::GPU_COMPUTE_CAP.what))?;
        let arch = architecture(cc)
            .ok_or_else(|| Missing::other(format!("a table entry for compute capability {}.{}", cc.0, cc.1)))?;
        let gpu_evidence = cx.get(&keys::GPU_NAME, &[gpu]).map(|n| n.evidence(""));
        let named = format!("{} ({}, {}.{})", name(cx, gpu), arch.name, cc.0, cc.1);
        // Code for the first chip of a major number runs on the later ones (8.6 on 8.9).
        let family_first = architecture((cc.0, 0)).map_or(arch.first_cuda, |a| a.first_cuda);
        if cuda < family_first {
            let text = format!(
                "CUDA {} is older than {}.{}, the first that knows {named}.",
                build.value, family_first.0, family_first.1
            );
            let works = cx.value(&keys::CUDA_AVAILABLE, &[]) == Some(true);
            return Ok(Verdict::fail(text)
                .confidence(if works { Confidence::Medium } else { Confidence::High })
                .with([build.evidence(&format!(">= {}.{}", family_first.0, family_first.1))])
                .with(gpu_evidence));
        }
        if let Some(last) = arch.last_cuda.filter(|l| cuda > *l) {
            return Ok(Verdict::fail(format!("CUDA {} no longer has code for {named}; {}.x was the last.", build.value, last.0))
                .with([build.evidence(&format!("<= {}.{}", last.0, last.1))])
                .with(gpu_evidence));
        }
        let driver = cx.get(&keys::DRIVER, &[]);
        let branch = driver.as_ref().and_then(|d| version(&d.value).first().copied());
        if let (Some(last), Some(d), Some(b)) = (arch.last_driver, driver, branch)
            && b > last
        {
            return Ok(Verdict::fail(format!("Driver branch {b} no longer runs {named}; {last} was the last."))
                .with([d.evidence(&format!("<= {last}"))])
                .with(gpu_evidence));
        }
        Ok(Verdict::pass(format!("CUDA {} knows {named}.", build.value)))
    })
}

fn fix(cx: &Ctx<'_>) -> Fix {
    let old = cx.facts.gpus().iter().filter_map(|g| capability(cx, *g)).any(|cc| cc < (7, 5));
    let index = if old { "cu126" } else { "cu130" };
    Fix {
        steps: vec![
            cmd("See for which architectures the installed build has code.", "python -c \"import torch; print(torch.cuda.get_arch_list())\"", &[]),
            cmd(
                "Install a build whose CUDA knows the GPU (the end of the address names it; the driver must run it).",
                format!("pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/{index}"),
                &[Tag::RestartsJob],
            ),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("python -c \"import torch; print(torch.ones(1, device='cuda') + 1)\"", "prints a tensor without warning"),
    }
}
