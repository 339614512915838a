//! `sextant doctor`: what the collector itself can and cannot read here, and why.
//!
//! It reads the same probes as a snapshot and says what came of each; it does not judge the node.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use checks::fact::Value;
use checks::snapshot::Snapshot;
use checks::{Key, keys};
use serde::Serialize;

use crate::check::print;
use crate::cli::DoctorArgs;
use crate::probe::{self, Options};
use crate::push::client::Client;

/// Longest that the server may take to say that it is there.
const SERVER_LIMIT: Duration = Duration::from_secs(2);

/// One line of the answer. Ids are stable, for scripts.
#[derive(Debug, Serialize)]
struct Line {
    id: &'static str,
    ok: bool,
    says: String,
}

/// Runs the command: status 0 if everything that concerns this node can be read, else 1.
pub(crate) fn run(args: &DoctorArgs) -> Result<ExitCode> {
    let snapshot = probe::snapshot(Path::new("/"), Options { sample: Duration::from_millis(250), pid: None });
    let mut lines = node(&snapshot);
    lines.push(python());
    lines.push(server(args));
    let ok = lines.iter().all(|l| l.ok);
    if args.json {
        print(&format!("{}\n", serde_json::to_string(&lines)?))?;
    } else {
        let mut text = String::new();
        for l in &lines {
            text.push_str(&format!("{:<4} {:<13} {}\n", if l.ok { "ok" } else { "–" }, l.id, l.says));
        }
        print(&text)?;
    }
    Ok(ExitCode::from(u8::from(!ok)))
}

fn node(s: &Snapshot) -> Vec<Line> {
    let has = |path: &str| s.facts.iter().any(|f| f.path == path);
    let number = |key: &Key<i64>| value(s, key.path).and_then(Value::as_f64);
    let truth = |key: &Key<bool>| value(s, key.path) == Some(&Value::Bool(true));
    let line = |id, ok, says: String| Line { id, ok, says };
    let gpus = number(&keys::NVML_GPU_COUNT);
    let pci = number(&keys::PCI_GPU_COUNT);
    let none = gpus.unwrap_or(0.0) == 0.0 && pci.unwrap_or(0.0) == 0.0 && !truth(&keys::DXG);
    let error = value(s, keys::NVML_ERROR_TEXT.path).map(ToString::to_string);
    let gpm = s.facts.iter().any(|f| f.path.ends_with(".gpm_supported") && f.value == Value::Bool(true));
    let log = truth(&keys::KERNEL_LOG_READABLE);
    vec![
        match (gpus, error) {
            (Some(n), _) => line("nvml", true, format!("NVML answers; {n} GPUs")),
            (None, Some(e)) => line("nvml", none, format!("NVML: {e}")),
            (None, None) => line("nvml", false, "NVML gave no answer in time".into()),
        },
        line(
            "gpm",
            none || gpm,
            match gpm {
                true => "SM-level counters can be read".into(),
                false => "no SM-level counters: they need a Hopper or newer GPU; older ones have them in DCGM".into(),
            },
        ),
        line(
            "pci",
            pci.is_some(),
            match pci {
                Some(n) => format!("{n} NVIDIA GPUs on the PCI bus"),
                None => "/sys/bus/pci cannot be read: links are told by NVML alone".into(),
            },
        ),
        line(
            "driver-files",
            none || s.raw_text("proc-driver-nvidia").is_some(),
            match s.raw_text("proc-driver-nvidia") {
                Some(_) => "/proc/driver/nvidia can be read".into(),
                None if none => "no GPU, so no driver files".into(),
                None => "there is no /proc/driver/nvidia: the driver is not loaded, or this is WSL2".into(),
            },
        ),
        line(
            "kernel-log",
            log,
            match log {
                true => "the kernel log can be read".into(),
                false => "the kernel log cannot be read: run as root, or join the group adm or systemd-journal".into(),
            },
        ),
        line(
            "cgroup",
            true,
            match value(s, keys::CGROUP_CPU_QUOTA.path) {
                Some(quota) => format!("a CPU quota of {quota} cores holds for this session"),
                None => "no CPU quota holds for this session".into(),
            },
        ),
        line("platform", has(keys::CONTAINER.path), platform(s)),
    ]
}

fn platform(s: &Snapshot) -> String {
    let truth = |key: &Key<bool>| value(s, key.path) == Some(&Value::Bool(true));
    let name = value(s, keys::PLATFORM_KIND.path).map_or(String::new(), |k| format!(" ({k})"));
    match () {
        () if truth(&keys::WSL2) => "WSL2: links and kernel modules are Windows' and are not seen".into(),
        () if truth(&keys::CONTAINER) => format!("a container{name}: other containers' processes are not seen"),
        () if truth(&keys::VIRTUAL_MACHINE) => {
            format!("a virtual machine{name}: ports above the GPU are the hypervisor's")
        }
        () => "the machine itself".into(),
    }
}

fn value<'a>(s: &'a Snapshot, path: &str) -> Option<&'a Value> {
    s.facts.iter().find(|f| f.path == path).map(|f| &f.value)
}

/// Step timings need a Python that reads its environment.
fn python() -> Line {
    let says = probe::command_output(&["python3", "-c", "import sys; print(sys.version.split()[0])"], SERVER_LIMIT);
    match says {
        Ok(version) => Line { id: "python", ok: true, says: format!("python3 is {}", version.trim()) },
        Err(_) => {
            Line { id: "python", ok: true, says: "there is no python3 on the path; step timings need one".into() }
        }
    }
}

fn server(args: &DoctorArgs) -> Line {
    let Some(address) = &args.server else {
        return Line { id: "server", ok: true, says: "none is set; reports stay on this node".into() };
    };
    let to = crate::cli::ServerArgs { server: address.clone(), token_file: args.token_file.clone() };
    match Client::new(&to).and_then(|client| client.alive(SERVER_LIMIT)) {
        Ok(()) => Line { id: "server", ok: true, says: format!("{address} answers") },
        Err(e) => Line { id: "server", ok: false, says: format!("{e:#}") },
    }
}
