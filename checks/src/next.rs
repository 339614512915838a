//! What to look at next: from the checks that cannot be decided, the commands or files that would decide most.
//!
//! It knows which command supplies which kind of evidence on which platform, and what has been supplied already. It knows
//! nothing about single checks.

use crate::check::{Check, Evid};
use crate::fact::{Facts, Trust};
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
    let at = Platform::of(facts);
    let open: Vec<&&Check> =
        checks.iter().filter(|c| findings.iter().any(|f| f.id == c.id && f.verdict == Level::Unknown)).collect();
    let mut all: Vec<(usize, NextEvidence)> = Vec::new();
    for source in SOURCES {
        if !(source.possible)(&at) || (source.given)(facts) {
            continue;
        }
        let of = || open.iter().filter(|c| c.evidence.contains(&source.evid));
        let weight = of().map(|c| if c.core { 3 } else { 1 }).sum();
        if weight > 0 {
            all.push((weight, source.next(&at, of().map(|c| c.id.to_owned()).collect())));
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

/// Where the commands would be typed.
struct Platform {
    windows: bool,
    wsl2: bool,
    container: bool,
    /// The kernel log was there and could not be read.
    log_refused: bool,
}

impl Platform {
    fn of(facts: &Facts) -> Self {
        let os = facts.get(&keys::OS, &[]).map(|o| o.value.to_ascii_lowercase()).unwrap_or_default();
        let yes = |key| facts.get(key, &[]).is_some_and(|k| k.value);
        let model = |g: &usize| facts.get(&keys::GPU_DRIVER_MODEL, &[*g]).map(|m| m.value).unwrap_or_default();
        let wddm = facts.gpus().iter().map(model).any(|m| ["WDDM", "TCC", "MCDM"].iter().any(|w| m.starts_with(w)));
        let wsl2 = yes(&keys::WSL2);
        Self {
            windows: !wsl2 && (os.contains("windows") || wddm),
            wsl2,
            container: yes(&keys::CONTAINER),
            log_refused: facts.get(&keys::KERNEL_LOG_READABLE, &[]).is_some_and(|k| !k.value),
        }
    }
}

/// A command and the kind of evidence that it supplies.
struct Source {
    evid: Evid,
    command: &'static str,
    why: &'static str,
    seconds: u32,
    tags: &'static [Tag],
    possible: fn(&Platform) -> bool,
    /// True if this evidence is there already: asking for it again decides nothing.
    given: fn(&Facts) -> bool,
}

impl Source {
    fn next(&self, at: &Platform, decides: Vec<String>) -> NextEvidence {
        let mut command = self.command.to_owned();
        let mut why = self.why.to_owned();
        if self.evid == Evid::KernelLog && at.container {
            why.push_str("; on the host, since a container may not read it");
        } else if self.evid == Evid::KernelLog && at.log_refused {
            command = format!("sudo {command}");
            why.push_str("; reading it needs root here");
        }
        NextEvidence { command, why, decides, seconds: self.seconds, tags: self.tags.to_vec() }
    }
}

const SOURCES: &[Source] = &[
    Source {
        evid: Evid::SmiQ,
        command: "nvidia-smi -q",
        why: "link, clocks, temperatures, power, ECC and MIG of every GPU",
        seconds: 2,
        tags: &[],
        possible: |_| true,
        // Read in full, or read live by the collector.
        given: |f| f.gpus().iter().any(|g| f.get(&keys::PCIE_GEN_MAX, &[*g]).is_some() && read_modes(f, *g)),
    },
    Source {
        evid: Evid::KernelLog,
        command: "dmesg -T",
        why: "only the kernel log keeps the driver's own errors (Xid, lost GPUs, module faults)",
        seconds: 1,
        tags: &[Tag::Root],
        possible: |p| !p.windows && !p.wsl2,
        given: |f| f.get(&keys::KERNEL_LOG_LINES, &[]).is_some_and(|k| k.value >= 100),
    },
    Source {
        evid: Evid::Lspci,
        command: "lspci -vv",
        why: "what the link trained at, and every port above the GPU",
        seconds: 1,
        tags: &[Tag::Root],
        possible: |p| !p.windows && !p.wsl2,
        given: |f| {
            let seen = |g: &usize| f.get(&keys::PCIE_SPEED_PARENT_MAX, &[*g]).is_some();
            f.gpus().iter().any(seen)
        },
    },
    Source {
        evid: Evid::CollectEnv,
        command: "python -m torch.utils.collect_env",
        why: "which PyTorch build the job uses, and whether it sees CUDA",
        seconds: 10,
        tags: &[],
        possible: |_| true,
        given: |f| f.get(&keys::CUDA_AVAILABLE, &[]).is_some(),
    },
    Source {
        evid: Evid::Env,
        command: "tr '\\0' '\\n' < /proc/PID/environ",
        why: "the variables that the training process (its PID) was started with",
        seconds: 1,
        tags: &[],
        possible: |p| !p.windows,
        given: |_| false,
    },
    Source {
        evid: Evid::Topo,
        command: "nvidia-smi topo -m",
        why: "how GPUs, CPUs and network cards hang together",
        seconds: 2,
        tags: &[],
        possible: |p| !p.wsl2,
        given: |_| false,
    },
    Source {
        evid: Evid::Samples,
        command: "sextant check --seconds 10",
        why: "utilisation, SM activity, power and clocks over the same seconds, while the job runs",
        seconds: 10,
        tags: &[],
        possible: |p| !p.windows,
        given: |f| f.samples.iter().any(|s| !s.samples.is_empty()),
    },
    Source {
        evid: Evid::Steps,
        command: "sextant run -- python train.py",
        why: "how long each step takes, and how much of it waits for data",
        seconds: 60,
        tags: &[Tag::RestartsJob],
        possible: |p| !p.windows,
        given: |f| !f.steps.is_empty(),
    },
    Source {
        evid: Evid::Trace,
        command: "sextant run --trace-steps 5 -- python train.py",
        why: "what the GPU did in each microsecond of a few steps",
        seconds: 60,
        tags: &[Tag::RestartsJob],
        possible: |p| !p.windows,
        given: |_| false,
    },
];

/// The modes of a GPU were read, from a text in full or live.
fn read_modes(f: &Facts, gpu: usize) -> bool {
    let live = f.readings(&keys::GPU_PSTATE.at(&[gpu])).iter().any(|r| r.trust == Trust::Live);
    live || f.get(&keys::GPU_THROTTLE, &[gpu]).is_some()
}
