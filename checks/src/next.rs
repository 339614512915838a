//! What to look at next: from the checks that cannot be decided, the commands or files that would decide most.
//!
//! It knows which command supplies which kind of evidence on which platform, and nothing about single checks.

use crate::check::{Check, Evid};
use crate::fact::Facts;
use crate::keys;
use crate::report::{Finding, Level, NextEvidence, Tag};

/// At most this many suggestions.
const MAX: usize = 3;

/// Suggestions, the one that decides most core checks first.
pub(crate) fn evidence(facts: &Facts, checks: &[&'static Check], findings: &[Finding]) -> Vec<NextEvidence> {
    // Where there is no GPU, no command on this node can decide anything about one.
    if crate::evaluate::no_gpu(facts) {
        return Vec::new();
    }
    let mut all: Vec<(usize, NextEvidence)> = Vec::new();
    for evid in SUPPLIED {
        let Some(mut next) = supply(*evid, facts) else { continue };
        let mut weight = 0;
        for c in checks {
            let open = findings.iter().any(|f| f.id == c.id && f.verdict == Level::Unknown);
            if open && c.evidence.contains(evid) {
                next.decides.push(c.id.to_owned());
                weight += if c.core { 3 } else { 1 };
            }
        }
        if !next.decides.is_empty() {
            all.push((weight, next));
        }
    }
    all.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.seconds.cmp(&b.1.seconds)));
    let mut out: Vec<NextEvidence> = Vec::new();
    for (_, n) in all {
        let new = n.decides.iter().any(|d| !out.iter().any(|o| o.decides.contains(d)));
        if new && out.len() < MAX {
            out.push(n);
        }
    }
    out
}

const SUPPLIED: &[Evid] =
    &[Evid::SmiQ, Evid::KernelLog, Evid::Lspci, Evid::CollectEnv, Evid::Steps, Evid::Samples, Evid::Trace];

fn supply(evid: Evid, facts: &Facts) -> Option<NextEvidence> {
    let windows = facts.get(&keys::OS, &[]).is_some_and(|o| o.value.to_ascii_lowercase().contains("windows"));
    let wsl2 = facts.get(&keys::WSL2, &[]).is_some_and(|k| k.value);
    let (command, why, seconds, tags): (&str, &str, u32, &[Tag]) = match evid {
        Evid::SmiQ => ("nvidia-smi -q", "link, clocks, temperatures, power, ECC and MIG of every GPU", 2, &[]),
        Evid::KernelLog if windows || wsl2 => return None,
        Evid::KernelLog => (
            "dmesg -T",
            "only the kernel log keeps the driver's own errors (Xid, lost GPUs, module faults)",
            1,
            &[Tag::Root],
        ),
        Evid::Lspci if windows || wsl2 => return None,
        Evid::Lspci => ("lspci -vv", "what the link trained at, and every port above the GPU", 1, &[Tag::Root]),
        Evid::CollectEnv => {
            ("python -m torch.utils.collect_env", "which PyTorch build the job uses, and whether it sees CUDA", 10, &[])
        }
        Evid::Steps => (
            "sextant run -- python train.py",
            "how long each step takes, and how much of it waits for data",
            60,
            &[Tag::RestartsJob],
        ),
        Evid::Samples => {
            ("sextant check --seconds 10", "utilisation, SM activity, power and clocks over the same seconds", 10, &[])
        }
        Evid::Trace => (
            "sextant run --trace-steps 5 -- python train.py",
            "what the GPU did in each microsecond of a few steps",
            60,
            &[Tag::RestartsJob],
        ),
        _ => return None,
    };
    Some(NextEvidence { command: command.into(), why: why.into(), decides: Vec::new(), seconds, tags: tags.to_vec() })
}
