//! The probes on made-up trees: the same program must say different things of bare metal, a container, WSL2, a virtual
//! machine, a node without GPU and one without a driver.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use checks::fact::{Facts, Key, Read};
use checks::report::{Level, Report, ReportDoc};
use checks::{Intake, Settings, keys as k};

use super::{Options, snapshot};

/// Lays a tree out of a text: `== /path` starts a file, `-> /path target` is a link.
fn lay(text: &str, root: &Path) {
    let mut open: Option<(String, String)> = None;
    let close = |open: &mut Option<(String, String)>| {
        let Some((path, content)) = open.take() else { return };
        let path = root.join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    for line in text.lines().skip(1) {
        if let Some(path) = line.strip_prefix("== ") {
            close(&mut open);
            open = Some((path.to_owned(), String::new()));
        } else if let Some(link) = line.strip_prefix("-> ") {
            close(&mut open);
            let (path, target) = link.split_once(' ').unwrap();
            let path = root.join(path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(target, path).unwrap();
        } else if let Some((_, content)) = &mut open {
            content.push_str(line);
            content.push('\n');
        }
    }
    close(&mut open);
}

struct Seen {
    facts: Facts,
    report: Report,
    kinds: Vec<String>,
    notes: String,
}

impl Seen {
    fn of(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        lay(text, dir.path());
        let shot = snapshot(dir.path(), Options { sample: Duration::from_millis(150), pid: None });
        let json = serde_json::to_vec(&shot).unwrap();
        let intake = || {
            let mut intake = Intake::new();
            intake.add("this node", json.as_slice());
            intake
        };
        let (inputs, mut subjects) = intake().finish();
        let ReportDoc::One(report) = intake().report(&Settings::default()) else { panic!("one node, one report") };
        Self {
            facts: subjects.remove(0).facts,
            report: *report,
            kinds: inputs.iter().map(|i| i.kind.clone()).collect(),
            notes: inputs.iter().flat_map(|i| &i.notes).map(|n| n.text.clone() + "\n").collect(),
        }
    }

    fn get<T: Read>(&self, key: &Key<T>, index: &[usize]) -> Option<T> {
        self.facts.get(key, index).map(|f| f.value)
    }
}

#[test]
fn bare_metal() {
    let s = Seen::of(include_str!("../../testdata/roots/bare-metal.txt"));
    assert_eq!(s.report.subject.node.as_deref(), Some("gpu-node-1"));
    assert_eq!(s.get(&k::CONTAINER, &[]), Some(false), "a container engine's mounts do not make the host a container");
    assert_eq!(s.get(&k::VIRTUAL_MACHINE, &[]), Some(false));
    assert_eq!(s.get(&k::WSL2, &[]), Some(false));
    assert_eq!(s.get(&k::PCI_GPU_COUNT, &[]), Some(2));
    assert_eq!(s.get(&k::NVML_GPU_COUNT, &[]), Some(2));
    assert_eq!(s.get(&k::CUDA_VERSION, &[]).as_deref(), Some("12.2"));
    assert_eq!(s.get(&k::GPU_POWER, &[0]), Some(287.54));
    assert_eq!(s.get(&k::GPU_MEMORY_TOTAL, &[0]), Some(81920.0));
    assert_eq!(s.get(&k::GPU_THROTTLE, &[0]), Some(vec!["sw_power_cap".to_owned()]));
    assert_eq!(s.get(&k::GPU_THROTTLE, &[1]), Some(vec![]), "no reason is active, which is known");
    assert_eq!(s.get(&k::GPU_COUNTER_SW_POWER_CAP, &[0]), Some(204_642_816.0));
    assert_eq!(s.get(&k::GPU_PSTATE, &[0]).as_deref(), Some("P0"));
    assert_eq!(s.get(&k::PROC_TYPE, &[0, 0]).as_deref(), Some("C"));
    assert_eq!(s.get(&k::PCIE_WIDTH_CURRENT, &[1]), Some(8));
    assert_eq!(s.get(&k::PCIE_WIDTH_DEVICE_MAX, &[1]), Some(16));
    assert_eq!(s.get(&k::PCIE_WIDTH_PARENT_MAX, &[1]), Some(16));
    assert_eq!(s.get(&k::PCIE_PORT_ID, &[1, 0]).as_deref(), Some("0000:c0:01.1"));
    assert_eq!(s.get(&k::PCIE_PORT_WIDTH, &[1, 0]), Some(8));
    assert_eq!(s.get(&k::PCIE_PORT_ID, &[1, 1]), None, "the root port is the last one");
    assert_eq!(s.get(&k::GPU_NUMA, &[1]), Some(1));
    assert_eq!(s.get(&k::PCIE_DRIVER, &[0]).as_deref(), Some("nvidia"));
    assert_eq!(s.get(&k::PCIE_AER_COR, &[0]), Some(0));
    assert_eq!(s.get(&k::PCIE_AER_COR, &[1]), None, "no such file is no count");
    assert_eq!(s.get(&k::DEV_GPUS, &[]), Some(2), "nvidia-caps and nvidiactl are no GPUs");
    assert_eq!(s.get(&k::NUMA_NODES, &[]), Some(2));
    assert_eq!(s.get(&k::MEMLOCK_UNLIMITED, &[]), Some(true));
    assert_eq!(s.get(&k::CGROUP_CPU_QUOTA, &[]), None);
    assert_eq!(s.get(&k::PSI_IO_FULL, &[]), Some(4.25));
    assert_eq!(s.get(&k::PROFILING_ADMIN_ONLY, &[]), Some(true));
    assert_eq!(s.get(&k::KERNEL_LOG_READABLE, &[]), Some(true));
    assert!(s.kinds.contains(&"samples".to_owned()), "{:?}", s.kinds);
    assert!(s.facts.samples.iter().any(|s| !s.samples.is_empty() && s.samples[0].gpu.len() == 2));
    let quote = s.facts.get(&k::PCIE_WIDTH_CURRENT, &[1]).unwrap().evidence("").quote.unwrap();
    assert!(quote.starts_with("nvmlDeviceGetCurrPcieLinkWidth") || quote.ends_with("current_link_width: 8"), "{quote}");
}

#[test]
fn container() {
    let s = Seen::of(include_str!("../../testdata/roots/container.txt"));
    assert_eq!(s.get(&k::CONTAINER, &[]), Some(true));
    assert_eq!(s.get(&k::PLATFORM_KIND, &[]).as_deref(), Some("containerd"));
    assert_eq!(s.get(&k::CGROUP_CPU_QUOTA, &[]), Some(4.0));
    assert_eq!(s.get(&k::CGROUP_CPU_THROTTLED, &[]), Some(250));
    assert_eq!(s.get(&k::CGROUP_CPU_THROTTLED_MS, &[]), Some(12345.678));
    assert_eq!(s.get(&k::CGROUP_MEMORY_LIMIT, &[]), Some(65536.0));
    assert_eq!(s.get(&k::CGROUP_OOM_KILLS, &[]), Some(1));
    assert_eq!(s.get(&k::MEMLOCK_LIMIT, &[]), Some(65536.0));
    assert_eq!(s.get(&k::PCI_GPU_COUNT, &[]), Some(2), "/sys shows the node");
    assert_eq!(s.get(&k::NVML_GPU_COUNT, &[]), Some(1), "NVML shows the container");
    assert_eq!(s.get(&k::PCI_UNLISTED, &[]), Some(vec!["0000:41:00.0 nvidia".to_owned()]));
    assert_eq!(s.get(&k::PCIE_DRIVER, &[0]).as_deref(), Some("nvidia"), "GPU 0 is the one that NVML lists");
    assert_eq!(s.get(&k::PCIE_WIDTH_CURRENT, &[0]), Some(16));
    assert_eq!(s.get(&k::KERNEL_LOG_READABLE, &[]), Some(false));
    assert!(s.notes.contains("The kernel log could not be read"), "{}", s.notes);
}

#[test]
fn wsl2() {
    let s = Seen::of(include_str!("../../testdata/roots/wsl2.txt"));
    assert_eq!(s.get(&k::WSL2, &[]), Some(true));
    assert_eq!(s.get(&k::DXG, &[]), Some(true));
    assert_eq!(s.get(&k::VIRTUAL_MACHINE, &[]), Some(true));
    assert_eq!(s.get(&k::CONTAINER, &[]), Some(false));
    assert_eq!(s.get(&k::MODULE_NVIDIA, &[]), Some(false));
    assert_eq!(s.get(&k::PCI_GPU_COUNT, &[]), Some(0));
    assert_eq!(s.get(&k::NVML_GPU_COUNT, &[]), Some(1));
    assert!(!s.report.headline.text.contains("no NVIDIA GPU"), "{}", s.report.headline.text);
    let wrong: Vec<&str> = problems(&s.report, Level::Fail);
    assert!(wrong.is_empty(), "a healthy WSL2 has no failure: {wrong:?}");
}

#[test]
fn virtual_machine() {
    let s = Seen::of(include_str!("../../testdata/roots/virtual-machine.txt"));
    assert_eq!(s.get(&k::VIRTUAL_MACHINE, &[]), Some(true));
    assert_eq!(s.get(&k::PLATFORM_KIND, &[]).as_deref(), Some("QEMU/KVM"));
    assert_eq!(s.get(&k::CONTAINER, &[]), Some(false));
    assert_eq!(s.get(&k::GPU_NUMA, &[0]), None, "-1 is no node");
    assert_eq!(s.get(&k::PCIE_PORT_ID, &[0, 0]), None, "there is no port above the GPU");
    assert_eq!(s.get(&k::PCIE_GEN_CURRENT, &[0]), Some(5));
    assert_eq!(s.get(&k::GPU_VIRTUALIZATION, &[0]).as_deref(), Some("Pass-Through"));
    assert_eq!(s.get(&k::GPU_RECOVERY_ACTION, &[0]).as_deref(), Some("None"));
    assert_eq!(s.get(&k::GPU_MEMORY_TEMP, &[0]), Some(38.0));
    let wrong: Vec<&str> = problems(&s.report, Level::Fail);
    assert!(wrong.is_empty(), "an idle GPU in a virtual machine has no failure: {wrong:?}");
}

#[test]
fn no_gpu() {
    let s = Seen::of(include_str!("../../testdata/roots/no-gpu.txt"));
    assert_eq!(s.get(&k::PCI_GPU_COUNT, &[]), Some(0), "a display adapter of another vendor is no GPU here");
    assert_eq!(s.get(&k::NVML_ERROR, &[]), Some(12));
    assert!(s.facts.gpus().is_empty());
    let wrong = [problems(&s.report, Level::Fail), problems(&s.report, Level::Warn)].concat();
    assert!(wrong.is_empty(), "there is nothing to complain about: {wrong:?}");
    assert!(s.report.headline.text.starts_with("This node has no NVIDIA GPU"), "{}", s.report.headline.text);
}

#[test]
fn driver_not_loaded() {
    let s = Seen::of(include_str!("../../testdata/roots/driver-not-loaded.txt"));
    assert_eq!(s.get(&k::NVML_ERROR, &[]), Some(9));
    assert_eq!(s.get(&k::MODULE_NVIDIA, &[]), Some(false));
    assert_eq!(s.get(&k::PCI_GPU_COUNT, &[]), Some(1));
    assert_eq!(s.get(&k::GPU_BUS_ID, &[0]).as_deref(), Some("0000:3b:00.0"));
    assert_eq!(s.get(&k::PCIE_DRIVER, &[0]).as_deref(), Some("nouveau"));
    assert_eq!(s.get(&k::GPU_DEVICE_ID, &[0]).as_deref(), Some("10de:2236"));
    assert_eq!(s.get(&k::PCIE_SPEED_CURRENT, &[0]), None, "Unknown is no speed");
    assert_eq!(s.get(&k::NVML_GPU_COUNT, &[]), None, "NVML could not count");
    assert!(s.notes.contains("NVIDIA driver is not loaded"), "{}", s.notes);
}

#[test]
fn an_empty_tree_says_nothing_and_breaks_nothing() {
    let s = Seen::of("nothing\n");
    assert_eq!(s.get(&k::CONTAINER, &[]), None);
    assert_eq!(s.get(&k::VIRTUAL_MACHINE, &[]), None);
    assert_eq!(s.get(&k::PCI_GPU_COUNT, &[]), None, "no folder of PCI devices is no count of them");
    assert_eq!(s.get(&k::DEV_NVIDIACTL, &[]), None);
    let wrong = [problems(&s.report, Level::Fail), problems(&s.report, Level::Warn)].concat();
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn problems(report: &Report, level: Level) -> Vec<&str> {
    report.findings.iter().filter(|f| f.verdict == level).map(|f| f.id.as_str()).collect()
}
