//! NVIDIA GPUs on the PCI bus, and the links from each of them up to its root port, from sysfs. Needs no root and no
//! driver.
//!
//! It does not know NVML's order of GPUs; [`super::join`] gives each its index.

use checks::keys;

use super::reading::Reading;
use super::root::Root;

/// NVIDIA's PCI vendor id.
const NVIDIA: &str = "0x10de";
/// Longest way from a GPU to its root port that is walked; real ones have at most four ports.
const PORTS_MAX: usize = 16;

/// One NVIDIA display-class function.
#[derive(Clone, Debug)]
pub(crate) struct PciGpu {
    /// `0000:3b:00.0`.
    pub address: String,
    /// Kernel driver that holds it.
    pub driver: Option<String>,
    /// Path of its folder below the root, links resolved.
    folder: String,
}

/// All NVIDIA GPUs in order of their addresses, and the number of NVSwitch functions.
pub(crate) fn list(root: &Root) -> (Vec<PciGpu>, usize) {
    let mut gpus = Vec::new();
    let mut switches = 0;
    for address in root.names("/sys/bus/pci/devices") {
        let link = format!("/sys/bus/pci/devices/{address}");
        if root.line(&format!("{link}/vendor")).as_deref() != Some(NVIDIA) {
            continue;
        }
        let class = root.line(&format!("{link}/class")).unwrap_or_default();
        // 0300 VGA and 0302 3D controllers are GPUs, 0680 bridges are NVSwitches; audio and USB functions are neither.
        match class.get(..6) {
            Some("0x0300" | "0x0302") => {
                let driver = root.link_name(&format!("{link}/driver"));
                let folder = root.resolve(&link).unwrap_or(link);
                gpus.push(PciGpu { address, driver, folder });
            }
            Some("0x0680") => switches += 1,
            _ => {}
        }
    }
    (gpus, switches)
}

/// True if the folder of PCI devices is there at all: in some sandboxes and in WSL2 without GPU-PV it is not.
pub(crate) fn has_bus(root: &Root) -> bool {
    root.exists("/sys/bus/pci/devices")
}

/// What sysfs says of one GPU, under its index.
pub(crate) fn read(root: &Root, gpu: &PciGpu, index: usize, r: &mut Reading) {
    let i = &[index];
    let file = |name: &str| format!("{}/{name}", gpu.folder);
    let device = root.line(&file("device")).map(|d| format!("10de:{}", d.trim_start_matches("0x")));
    r.maybe(&keys::GPU_DEVICE_ID, i, device, &file("device"));
    r.maybe(&keys::PCIE_DRIVER, i, gpu.driver.as_deref(), &file("driver"));
    r.maybe(&keys::PCIE_RUNTIME, i, root.line(&file("power/runtime_status")), &file("power/runtime_status"));
    // -1 says that the platform does not tell, which is the same as not knowing.
    let numa = root.number(&file("numa_node")).filter(|n| *n >= 0);
    r.maybe(&keys::GPU_NUMA, i, numa, &file("numa_node"));
    r.maybe(&keys::PCIE_CPUS, i, root.line(&file("local_cpulist")), &file("local_cpulist"));
    let link = Link::read(root, &gpu.folder);
    r.maybe(&keys::PCIE_WIDTH_CURRENT, i, link.width, &file("current_link_width"));
    r.maybe(&keys::PCIE_WIDTH_DEVICE_MAX, i, link.width_max, &file("max_link_width"));
    r.maybe(&keys::PCIE_SPEED_CURRENT, i, link.speed_gts, &file("current_link_speed"));
    r.maybe(&keys::PCIE_SPEED_MAX, i, link.speed_max_gts, &file("max_link_speed"));
    r.maybe(&keys::PCIE_GEN_CURRENT, i, link.speed_gts.and_then(generation), &file("current_link_speed"));
    r.maybe(&keys::PCIE_GEN_DEVICE_MAX, i, link.speed_max_gts.and_then(generation), &file("max_link_speed"));
    for (key, name) in [
        (keys::PCIE_AER_COR, "aer_dev_correctable"),
        (keys::PCIE_AER_NONFATAL, "aer_dev_nonfatal"),
        (keys::PCIE_AER_FATAL, "aer_dev_fatal"),
    ] {
        r.maybe(&key, i, root.text(&file(name)).and_then(|t| aer_total(&t)), &file(name));
    }
    ports(root, gpu, index, r);
}

/// The ports above the GPU, the nearest first, up to the root port.
fn ports(root: &Root, gpu: &PciGpu, index: usize, r: &mut Reading) {
    let mut folder = gpu.folder.as_str();
    for port in 0..PORTS_MAX {
        let Some((above, _)) = folder.rsplit_once('/') else { return };
        folder = above;
        let address = folder.rsplit('/').next().unwrap_or_default();
        if !is_address(address) {
            return;
        }
        let i = &[index, port];
        let file = |name: &str| format!("{folder}/{name}");
        let link = Link::read(root, folder);
        r.put(&keys::PCIE_PORT_ID, i, address, folder);
        r.maybe(&keys::PCIE_PORT_WIDTH, i, link.width, &file("current_link_width"));
        r.maybe(&keys::PCIE_PORT_WIDTH_MAX, i, link.width_max, &file("max_link_width"));
        r.maybe(&keys::PCIE_PORT_SPEED, i, link.speed_gts, &file("current_link_speed"));
        r.maybe(&keys::PCIE_PORT_SPEED_MAX, i, link.speed_max_gts, &file("max_link_speed"));
        if port == 0 {
            r.maybe(&keys::PCIE_WIDTH_PARENT_MAX, &[index], link.width_max, &file("max_link_width"));
            r.maybe(&keys::PCIE_SPEED_PARENT_MAX, &[index], link.speed_max_gts, &file("max_link_speed"));
        }
    }
}

/// Width and speed of one end of a link.
struct Link {
    width: Option<i64>,
    width_max: Option<i64>,
    speed_gts: Option<f64>,
    speed_max_gts: Option<f64>,
}

impl Link {
    fn read(root: &Root, folder: &str) -> Self {
        // 0, 63 and 255 are what the registers of a link that is down or a device that is gone read as.
        let width = |name: &str| root.number(&format!("{folder}/{name}")).filter(|w| !matches!(w, 0 | 63 | 255));
        let speed = |name: &str| root.line(&format!("{folder}/{name}")).and_then(|l| gts(&l));
        Self {
            width: width("current_link_width"),
            width_max: width("max_link_width"),
            speed_gts: speed("current_link_speed"),
            speed_max_gts: speed("max_link_speed"),
        }
    }
}

/// `16.0 GT/s PCIe` or `8 GT/s` as a number; `Unknown` is none.
fn gts(text: &str) -> Option<f64> {
    text.split_once(" GT/s")?.0.trim().parse().ok()
}

/// The PCIe generation of a speed.
fn generation(gts: f64) -> Option<i64> {
    [(2.5, 1), (5.0, 2), (8.0, 3), (16.0, 4), (32.0, 5), (64.0, 6)]
        .into_iter()
        .find(|(speed, _)| (speed - gts).abs() < 0.1)
        .map(|(_, generation)| generation)
}

/// The total of an AER counter file.
fn aer_total(text: &str) -> Option<i64> {
    text.lines().find_map(|l| l.strip_prefix("TOTAL_ERR_")?.split_once(' ')?.1.trim().parse().ok())
}

/// `0000:3b:00.0`: a PCI function; `pci0000:3a` above the root port is not one.
fn is_address(name: &str) -> bool {
    let hex = |s: &str, n: usize| s.len() >= n && s.bytes().all(|b| b.is_ascii_hexdigit());
    let mut parts = name.split([':', '.']);
    let (Some(domain), Some(bus), Some(device), Some(function), None) =
        (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    hex(domain, 4) && hex(bus, 2) && hex(device, 2) && hex(function, 1)
}

/// A bus id as NVML (`00000000:3B:00.0`) or lspci (`3b:00.0`) prints it, in the form of sysfs.
pub(crate) fn normalise(bus_id: &str) -> String {
    let lower = bus_id.to_ascii_lowercase();
    let (domain, rest) = match lower.split(':').count() {
        3 => lower.split_once(':').unwrap_or(("0000", &lower)),
        _ => ("0000", lower.as_str()),
    };
    format!("{:0>4}:{rest}", domain.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_all_spellings_are_one() {
        for spelling in ["00000000:3B:00.0", "0000:3b:00.0", "3b:00.0"] {
            assert_eq!(normalise(spelling), "0000:3b:00.0");
        }
        assert_eq!(normalise("00000009:01:00.0"), "0009:01:00.0");
        assert_eq!(normalise("00010000:01:00.0"), "10000:01:00.0");
    }

    #[test]
    fn speeds_of_old_and_new_kernels_are_read() {
        assert_eq!(gts("32.0 GT/s PCIe"), Some(32.0));
        assert_eq!(gts("8 GT/s"), Some(8.0));
        assert_eq!(gts("Unknown"), None);
        assert_eq!(generation(16.0), Some(4));
        assert_eq!(generation(11.0), None);
    }

    #[test]
    fn only_pci_functions_are_ports() {
        assert!(is_address("0000:3b:00.0") && is_address("10000:01:00.0"));
        assert!(!is_address("pci0000:3a") && !is_address("LNXSYSTM:00") && !is_address("devices"));
    }

    #[test]
    fn aer_totals_are_read() {
        assert_eq!(aer_total("RxErr 3\nBadTLP 0\nTOTAL_ERR_COR 3\n"), Some(3));
        assert_eq!(aer_total(""), None);
    }
}
