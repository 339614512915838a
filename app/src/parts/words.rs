//! The words for the domain's values: verdicts, layers, tags, kinds of evidence.

use checks::check::{Evid, Severity};
use checks::report::{Applicability, Confidence, Tag};
use checks::{Layer, Level};

/// A verdict.
pub(crate) const fn level(level: Level) -> &'static str {
    match level {
        Level::Pass => "pass",
        Level::Info => "worth knowing",
        Level::Warn => "warning",
        Level::Fail => "fail",
        Level::Unknown => "unknown",
        Level::NotApplicable => "does not apply",
    }
}

/// A layer with its number: `5 Data pipeline`.
pub(crate) fn layer(layer: Layer) -> String {
    format!("{} {}", layer.number(), layer.name())
}

/// What a fix step asks for, and how loud its tag is.
pub(crate) const fn tag(tag: Tag) -> (&'static str, &'static str) {
    match tag {
        Tag::Root => ("root", "tag danger"),
        Tag::Reboot => ("reboot", "tag danger"),
        Tag::Bios => ("firmware set-up", "tag danger"),
        Tag::RestartsJob => ("restarts job", "tag caution"),
        Tag::ChangesTraining => ("changes training", "tag danger"),
        Tag::Unsafe => ("can break running work", "tag danger"),
        Tag::Hands => ("at the machine", "tag danger"),
    }
}

/// How a fix can be applied.
pub(crate) const fn applicability(a: Applicability) -> &'static str {
    match a {
        Applicability::Safe => "can be applied while the job runs",
        Applicability::NeedsRestart => "takes a restart of the job",
        Applicability::NeedsMaintenance => "takes a reboot or work on the machine",
        Applicability::Manual => "a person must decide",
    }
}

/// How sure a finding is.
pub(crate) const fn confidence(c: Confidence) -> &'static str {
    match c {
        Confidence::Low => "low confidence: one weak signal",
        Confidence::Medium => "medium confidence: one good signal",
        Confidence::High => "high confidence",
    }
}

/// How grave a check's question is.
pub(crate) const fn severity(s: Severity) -> &'static str {
    match s {
        Severity::Critical => "critical",
        Severity::High => "high",
        Severity::Medium => "medium",
        Severity::Low => "low",
        Severity::Info => "for information",
    }
}

/// A kind of evidence.
pub(crate) const fn evid(e: Evid) -> &'static str {
    match e {
        Evid::Live => "the live node",
        Evid::SmiQ => "nvidia-smi -q",
        Evid::SmiTable => "the nvidia-smi table",
        Evid::Dmon => "nvidia-smi dmon",
        Evid::Pmon => "nvidia-smi pmon",
        Evid::Topo => "nvidia-smi topo -m",
        Evid::Nvlink => "nvidia-smi nvlink -s",
        Evid::KernelLog => "the kernel log",
        Evid::Lspci => "lspci -vv",
        Evid::BugReport => "nvidia-bug-report",
        Evid::CollectEnv => "torch collect_env",
        Evid::Env => "the environment of the job",
        Evid::FabricLog => "the fabric manager's log",
        Evid::Steps => "step timings",
        Evid::Samples => "samples",
        Evid::Trace => "a profiler trace",
        Evid::Ncu => "Nsight Compute",
        Evid::Nsys => "Nsight Systems",
        Evid::Dcgm => "DCGM",
        Evid::Iostat => "iostat",
        Evid::TrainLog => "a training log",
        Evid::Nccl => "an NCCL log",
        Evid::Glxinfo => "glxinfo",
        Evid::Xorg => "the Xorg log",
    }
}

/// Order of verdicts from the lightest to the gravest; what is not known weighs less than what is.
pub(crate) const fn gravity(level: Level) -> u8 {
    match level {
        Level::NotApplicable => 0,
        Level::Unknown => 1,
        Level::Pass => 2,
        Level::Info => 3,
        Level::Warn => 4,
        Level::Fail => 5,
    }
}

/// The command that supplies a kind of evidence, where one does.
pub(crate) const fn evid_command(e: Evid) -> Option<&'static str> {
    match e {
        Evid::Live => Some("sextant push --live"),
        Evid::SmiQ => Some("nvidia-smi -q"),
        Evid::SmiTable => Some("nvidia-smi"),
        Evid::Dmon => Some("nvidia-smi dmon -s pucvmet -c 20"),
        Evid::Pmon => Some("nvidia-smi pmon -c 10"),
        Evid::Topo => Some("nvidia-smi topo -m"),
        Evid::Nvlink => Some("nvidia-smi nvlink -s"),
        Evid::KernelLog => Some("sudo dmesg -T"),
        Evid::Lspci => Some("sudo lspci -vv"),
        Evid::BugReport => Some("sudo nvidia-bug-report.sh"),
        Evid::CollectEnv => Some("python -m torch.utils.collect_env"),
        Evid::Steps => Some("sextant run -- python train.py"),
        Evid::Samples => Some("sextant check --seconds 10"),
        Evid::Trace => Some("sextant run --trace-steps 5 -- python train.py"),
        Evid::Dcgm => Some("dcgmi dmon -e 1001,1002,1003,1004,1005 -c 20"),
        Evid::Iostat => Some("iostat -xz 1 10"),
        Evid::TrainLog => None,
        Evid::Nccl => Some("NCCL_DEBUG=INFO python train.py"),
        Evid::Ncu => Some("ncu --csv --set full python train.py"),
        Evid::Nsys => Some("nsys profile -o run --export sqlite python train.py"),
        Evid::Glxinfo => Some("glxinfo -B"),
        Evid::Xorg => Some("cat /var/log/Xorg.0.log"),
    }
}

/// First letter upper case, one full stop at the end.
pub(crate) fn sentence(text: &str) -> String {
    let mut chars = text.trim_end_matches('.').chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}
