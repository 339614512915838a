//! Dumps of an environment: `env`, `export -p`, `/proc/PID/environ`.
//!
//! An environment holds secrets. Only variables that bear on GPUs and training are taken up, none whose name hints at a
//! credential; the others are not even counted.

use super::Part;
use crate::fact::{Fact, Place, Trust, Value};

/// Lines that make a text an environment, of those that are not empty.
const MIN_VARIABLES: usize = 4;

/// Fronts of names that are taken up.
const PREFIXES: &[&str] = &[
    "CUDA_",
    "NVIDIA_",
    "NCCL_",
    "NVSHMEM_",
    "CUBLAS",
    "CUDNN_",
    "PYTORCH_",
    "TORCH_",
    "TORCHINDUCTOR_",
    "TORCHDYNAMO_",
    "TRITON_",
    "XLA_",
    "TF_",
    "JAX_",
    "OMP_",
    "MKL_",
    "OPENBLAS_",
    "NUMEXPR_",
    "KMP_",
    "GOMP_",
    "MALLOC_",
    "UCX_",
    "GLOO_",
    "OMPI_MCA_",
    "NSYS_",
    "TOKENIZERS_PARALLELISM",
    "RAYON_NUM_THREADS",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "WORLD_SIZE",
    "RANK",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "GPU_DEVICE_ORDINAL",
    "SLURM_JOB_GPUS",
    "SLURM_GPUS",
    "SLURM_CPUS_PER_TASK",
    "SLURM_STEP_GPUS",
    "HSA_",
    "KUBERNETES_SERVICE_HOST",
    "WSL_DISTRO_NAME",
    "ACCELERATE_",
    "DEEPSPEED_",
    "MASTER_PORT",
    "SEXTANT_RUN_ID",
    "ROCR_",
    "HIP_",
];

/// Parts of names that hint at a credential.
const SECRET: &[&str] = &["TOKEN", "SECRET", "PASSW", "CREDENTIAL", "API_KEY", "ACCESS_KEY", "PRIVATE"];

pub(super) fn looks(head: &str) -> bool {
    let lines: Vec<&str> = head.lines().map(str::trim).filter(|l| !l.is_empty()).take(200).collect();
    let variables = lines.iter().filter(|l| variable(l).is_some()).count();
    let known = lines
        .iter()
        .any(|l| variable(l).is_some_and(|(name, _)| wanted(name) || matches!(name, "PATH" | "HOME" | "PWD")));
    known && variables >= MIN_VARIABLES && variables * 10 >= lines.len() * 6
}

/// True for the NUL-separated environment of a process.
pub(super) fn looks_like_environ(head: &[u8]) -> bool {
    let mut entries = head.split(|b| *b == 0).filter(|e| !e.is_empty()).take(64);
    let mut seen = 0;
    let sound = entries.all(|e| {
        seen += 1;
        std::str::from_utf8(e).is_ok_and(|e| variable(e.lines().next().unwrap_or("")).is_some())
    });
    sound && seen >= MIN_VARIABLES
}

/// Reads a whole text.
pub(super) fn parse(text: &str, part: &mut Part) {
    for (n, raw) in (1u32..).zip(text.lines()) {
        if let Some((name, value)) = variable(raw.trim()).filter(|(name, _)| wanted(name)) {
            let fact = Fact {
                value: Value::Text(value.to_owned()),
                unit: "",
                trust: Trust::Text,
                place: Place::line(part.input, n, raw),
            };
            part.facts.insert(format!("env.{name}"), fact);
        }
    }
}

/// True for a variable that bears on GPUs and training and does not look like a credential.
#[must_use]
pub fn wanted(name: &str) -> bool {
    PREFIXES.iter().any(|p| {
        if p.ends_with('_') { name.starts_with(p) } else { name == *p || name.starts_with(p) && *p == "CUBLAS" }
    }) && !SECRET.iter().any(|s| name.contains(s))
}

/// Name and value of `NAME=value`, `export NAME=value`, `declare -x NAME="value"`.
fn variable(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("export ").or_else(|| line.strip_prefix("declare -x ")).unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let sound = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let quoted = value
        .strip_prefix('"')
        .and_then(|v| v.strip_suffix('"'))
        .or_else(|| value.strip_prefix('\'').and_then(|v| v.strip_suffix('\'')));
    (sound && name.len() <= 128).then_some((name, quoted.unwrap_or(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_bears_on_gpus_and_no_secrets() {
        assert!(
            wanted("CUDA_VISIBLE_DEVICES")
                && wanted("NCCL_IB_DISABLE")
                && wanted("RANK")
                && wanted("CUBLAS_WORKSPACE_CONFIG")
        );
        for name in
            ["PATH", "HOME", "AWS_SECRET_ACCESS_KEY", "NVIDIA_API_KEY", "TORCH_HUB_TOKEN", "RANKING", "HOSTNAME"]
        {
            assert!(!wanted(name), "{name}");
        }
        assert_eq!(variable("declare -x NCCL_DEBUG=\"INFO\""), Some(("NCCL_DEBUG", "INFO")));
        assert_eq!(variable("a b=c"), None);
    }
}
