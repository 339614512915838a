//! `python -m torch.utils.collect_env`, its edited copies, and the variant that vLLM prints: keys and values, a GPU list
//! and a block about the CPU.
//!
//! `None`, `N/A`, `No CUDA` and `Could not collect` are no values. It does not know which versions fit each other.

use super::Part;
use crate::fact::Trust;
use crate::keys;

pub(super) fn starts(line: &str) -> bool {
    line.starts_with("Collecting environment information...") || key(line).is_some_and(|(k, _)| k == "PyTorch version")
}

pub(super) fn looks(head: &str) -> bool {
    head.lines().any(|l| starts(l.trim()))
}

/// Reads a whole text.
pub(super) fn parse(text: &str, part: &mut Part) {
    let mut state = State::default();
    for (n, raw) in (1u32..).zip(text.lines()) {
        state.line(n, raw, part);
    }
}

#[derive(Default, PartialEq)]
enum Block {
    #[default]
    None,
    Gpus,
    Cudnn,
}

#[derive(Default)]
struct State {
    block: Block,
    gpus: Vec<Gpu>,
    wsl: bool,
}

struct Gpu {
    index: usize,
    mig: usize,
    line: u32,
    text: String,
}

impl State {
    fn line(&mut self, n: u32, raw: &str, part: &mut Part) {
        let line = raw.trim();
        if self.block == Block::Gpus {
            if self.gpu(n, line, part) {
                return;
            }
            self.end_gpus(part);
        } else if self.block == Block::Cudnn {
            self.block = Block::None;
            if let Some(v) = library_version(line) {
                part.put(&keys::CUDNN, &[], v, Trust::Text, n, raw);
            }
        }
        if let Some(package) = line.strip_prefix("[pip3] ").or_else(|| line.strip_prefix("[pip] ")) {
            self.package(n, raw, package, part);
        } else if let Some((k, v)) = key(line) {
            self.value(n, raw, k, v, part);
        }
    }

    fn value(&mut self, n: u32, raw: &str, key: &str, text: &str, part: &mut Part) {
        let value = known(text);
        let first = value.and_then(|v| v.split_whitespace().next());
        let put = |part: &mut Part, key: &_, v: Option<&str>| {
            if let Some(v) = v {
                part.put::<String>(key, &[], v, Trust::Text, n, raw);
            }
        };
        match key {
            "PyTorch version" => put(part, &keys::TORCH, first),
            "CUDA used to build PyTorch" => match first {
                Some(v) => part.put(&keys::CUDA_BUILD, &[], v, Trust::Text, n, raw),
                // Old versions print the missing value as `Could not collect`. `N/A` means that there is no PyTorch.
                None if matches!(text, "None" | "Could not collect") => {
                    part.put(&keys::CUDA_BUILD_NONE, &[], true, Trust::Text, n, raw);
                }
                None => {}
            },
            "ROCM used to build PyTorch" => put(part, &keys::ROCM_BUILD, first),
            "Is CUDA available" => {
                if let Some(yes) = yes_no(text) {
                    part.put(&keys::CUDA_AVAILABLE, &[], yes, Trust::Text, n, raw);
                }
            }
            "CUDA runtime version" => put(part, &keys::CUDA_RUNTIME, first.filter(|v| is_version(v))),
            "Nvidia driver version" => put(part, &keys::DRIVER, first.filter(|v| is_version(v))),
            "cuDNN version" => self.cudnn(n, raw, text, part),
            "Python version" => put(part, &keys::PYTHON, first),
            "OS" => put(part, &keys::OS, value.map(|v| v.trim_end_matches(" (x86_64)"))),
            "Python platform" => self.wsl = platform(n, raw, text, part),
            "GPU models and configuration" => {
                self.block = Block::Gpus;
                if value.is_some() {
                    self.gpu(n, text, part);
                }
            }
            "CPU(s)" => count(n, raw, value, part, &keys::CPU_COUNT),
            "NUMA node(s)" => count(n, raw, value, part, &keys::NUMA_NODES),
            "Model name" | "Name" => put(part, &keys::CPU_MODEL, value),
            "Hypervisor vendor" if value.is_some() && !self.wsl => {
                part.put(&keys::VIRTUAL_MACHINE, &[], true, Trust::Text, n, raw);
            }
            _ => {}
        }
    }

    /// A line of the GPU list; false if the list is over.
    fn gpu(&mut self, n: u32, line: &str, part: &mut Part) -> bool {
        if line.is_empty() && self.gpus.is_empty() {
            return true;
        }
        if let Some(gpu) = self.gpus.last_mut().filter(|_| line.starts_with("MIG ")) {
            gpu.mig += 1;
            return true;
        }
        let named = line.strip_prefix("GPU ").and_then(|t| t.split_once(": "));
        let Some((index, name)) = named.and_then(|(i, name)| Some((i.parse::<usize>().ok()?, name.trim()))) else {
            return false;
        };
        let name = name.split_once(" (UUID").map_or(name, |(n, _)| n);
        if !name.is_empty() {
            part.put(&keys::GPU_NAME, &[index], name, Trust::Text, n, line);
        }
        self.gpus.push(Gpu { index, mig: 0, line: n, text: line.to_owned() });
        true
    }

    /// Counts are facts only if the list is seen to end: a text that is cut within it has a shorter one.
    fn end_gpus(&mut self, part: &mut Part) {
        self.block = Block::None;
        let complete = self.gpus.iter().enumerate().all(|(i, g)| g.index == i);
        if let Some(last) = self.gpus.last().filter(|_| complete) {
            part.put(&keys::GPU_COUNT, &[], self.gpus.len(), Trust::Text, last.line, &last.text);
        }
        for g in self.gpus.drain(..).filter(|g| g.mig > 0) {
            part.put(&keys::GPU_MIG_LISTED, &[g.index], g.mig, Trust::Text, g.line, &g.text);
        }
    }

    fn cudnn(&mut self, n: u32, raw: &str, text: &str, part: &mut Part) {
        if text.starts_with("Probably one of") {
            self.block = Block::Cudnn;
            return;
        }
        let plain = known(text)
            .and_then(|v| v.split_whitespace().next())
            .filter(|v| v.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
        if let Some(v) = library_version(text).or_else(|| plain.map(str::to_owned)) {
            part.put(&keys::CUDNN, &[], v, Trust::Text, n, raw);
        }
    }

    fn package(&self, n: u32, raw: &str, package: &str, part: &mut Part) {
        let Some((name, version)) = package.split_once("==") else { return };
        match name {
            "triton" | "pytorch-triton" => part.put(&keys::TRITON, &[], version, Trust::Text, n, raw),
            // The wheel's version: a log that names the version in use is trusted more.
            _ if name.starts_with("nvidia-nccl-cu") => {
                part.put(&keys::NCCL_VERSION, &[], version, Trust::Table, n, raw);
            }
            _ => {}
        }
    }
}

/// `Key: value`, `Key   : value`, or `Key=value` of the Windows block. Keys are short; paths and prose have none.
fn key(line: &str) -> Option<(&str, &str)> {
    let (k, v) = line.split_once(':').or_else(|| line.split_once('='))?;
    let k = k.trim();
    (!k.is_empty() && k.len() <= 40).then(|| (k, v.trim()))
}

fn known(v: &str) -> Option<&str> {
    let none = ["", "None", "N/A", "No CUDA", "Could not collect", "none", "[N/A]"];
    (!none.contains(&v)).then_some(v)
}

fn yes_no(v: &str) -> Option<bool> {
    match v {
        "True" | "Yes" => Some(true),
        "False" | "No" => Some(false),
        _ => None,
    }
}

fn count(n: u32, raw: &str, value: Option<&str>, part: &mut Part, key: &crate::fact::Key<i64>) {
    if let Some(c) = value.and_then(|v| v.parse::<i64>().ok()) {
        part.put(key, &[], c, Trust::Text, n, raw);
    }
}

/// Starts as a version: `570.172.08`, `13.0.88`.
fn is_version(v: &str) -> bool {
    v.starts_with(|c: char| c.is_ascii_digit()) && v.contains('.')
}

/// `9.13.0` of `/usr/lib/x86_64-linux-gnu/libcudnn.so.9.13.0`.
fn library_version(path: &str) -> Option<String> {
    let v = path.rsplit_once("libcudnn.so.")?.1;
    is_version(v).then(|| v.to_owned())
}

/// The kernel release in `Linux-6.5.13-cloud-x86_64-with-glibc2.35`; true if it is that of WSL2.
fn platform(n: u32, raw: &str, text: &str, part: &mut Part) -> bool {
    let Some(rest) = text.strip_prefix("Linux-") else { return false };
    let release =
        ["-x86_64-with", "-aarch64-with", "-ppc64le-with"].iter().find_map(|arch| Some(rest.split_once(arch)?.0));
    let Some(release) = release else { return false };
    part.put(&keys::KERNEL, &[], release, Trust::Text, n, raw);
    let wsl = release.to_ascii_lowercase().contains("microsoft");
    if wsl {
        part.put(&keys::WSL2, &[], true, Trust::Text, n, raw);
    }
    wsl
}
