//! What the system runs in: bare metal, a virtual machine, a container, WSL2.
//!
//! Each mark alone can mislead, so only unmistakable ones count, and where none is there nothing is said: absent means
//! that it could not be told.

use checks::keys;

use super::reading::Reading;
use super::root::Root;

/// Marks of a container runtime in the control groups or mounts of the first process.
const RUNTIMES: &[(&str, &str)] = &[
    ("kubepods", "Kubernetes"),
    ("docker", "Docker"),
    ("libpod", "Podman"),
    ("crio", "CRI-O"),
    ("containerd", "containerd"),
    ("lxc", "LXC"),
    ("garden", "Garden"),
];
/// DMI vendor or product texts of hypervisors.
const HYPERVISORS: &[(&str, &str)] = &[
    ("qemu", "QEMU/KVM"),
    ("kvm", "QEMU/KVM"),
    ("vmware", "VMware"),
    ("virtualbox", "VirtualBox"),
    ("innotek", "VirtualBox"),
    ("xen", "Xen"),
    ("bochs", "Bochs"),
    ("parallels", "Parallels"),
    ("virtual machine", "Hyper-V"),
    ("google compute engine", "Google Compute Engine"),
    ("amazon ec2", "Amazon EC2"),
    ("openstack", "OpenStack"),
    ("cloud hypervisor", "Cloud Hypervisor"),
    ("firecracker", "Firecracker"),
];

/// Reads what the system runs in.
pub(crate) fn read(root: &Root) -> Reading {
    let mut r = Reading::default();
    let version = root.line("/proc/version").unwrap_or_default();
    let wsl2 = version.to_ascii_lowercase().contains("microsoft");
    if !version.is_empty() {
        r.put(&keys::WSL2, &[], wsl2, "/proc/version");
    }
    r.put(&keys::DXG, &[], root.exists("/dev/dxg"), "/dev/dxg");
    let container = container(root);
    if let Some((kind, source)) = &container {
        r.put(&keys::CONTAINER, &[], true, source);
        r.put(&keys::PLATFORM_KIND, &[], kind.as_str(), source);
    } else if root.exists("/proc/1/cgroup") {
        r.put(&keys::CONTAINER, &[], false, "/proc/1/cgroup and the marks of container runtimes");
    }
    let hypervisor = hypervisor(root);
    if wsl2 {
        r.put(&keys::VIRTUAL_MACHINE, &[], true, "/proc/version");
    } else if let Some((kind, source)) = hypervisor {
        r.put(&keys::VIRTUAL_MACHINE, &[], true, &source);
        if container.is_none() {
            r.maybe(&keys::PLATFORM_KIND, &[], kind, &source);
        }
    } else if has_flags(root) {
        r.put(&keys::VIRTUAL_MACHINE, &[], false, "/proc/cpuinfo, no hypervisor flag");
    }
    r
}

/// Name of the container runtime and where it was seen.
fn container(root: &Root) -> Option<(String, String)> {
    for (file, kind) in [("/run/.containerenv", "Podman"), ("/.dockerenv", "Docker")] {
        // Images of virtual machines that were made from container images keep the file; their root is a disk.
        if root.exists(file) && !root_is_disk(root) {
            return Some((kind.into(), file.into()));
        }
    }
    if let Some(kind) = root.line("/run/systemd/container").filter(|k| k != "wsl") {
        return Some((kind, "/run/systemd/container".into()));
    }
    if root.is_live() && std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() {
        return Some(("Kubernetes".into(), "environment KUBERNETES_SERVICE_HOST".into()));
    }
    if root
        .text("/proc/version")
        .is_some_and(|v| v.starts_with("Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016"))
    {
        return Some(("gVisor".into(), "/proc/version".into()));
    }
    for file in ["/proc/1/cgroup", "/proc/1/mountinfo"] {
        let text = root.text(file).unwrap_or_default();
        // Of the mounts only the root's own line counts: a host with a container engine has overlays elsewhere.
        let is_root = |l: &&str| file.ends_with("cgroup") || l.split(' ').nth(4) == Some("/");
        let kind = text.lines().filter(is_root).find_map(|l| RUNTIMES.iter().find(|(mark, _)| l.contains(mark)));
        if let Some((_, kind)) = kind {
            return Some(((*kind).to_owned(), file.to_owned()));
        }
    }
    None
}

/// True if `/` is a file system on a block device that no container engine made.
fn root_is_disk(root: &Root) -> bool {
    let mounts = root.text("/proc/1/mountinfo").unwrap_or_default();
    let Some(line) = mounts.lines().find(|l| l.split(' ').nth(4) == Some("/")) else { return false };
    let source = line.split(" - ").nth(1).and_then(|tail| tail.split(' ').nth(1)).unwrap_or_default();
    source.starts_with("/dev/") && !RUNTIMES.iter().any(|(mark, _)| source.contains(mark))
}

/// Name of the hypervisor, where it can be told, and where it was seen.
fn hypervisor(root: &Root) -> Option<(Option<String>, String)> {
    let named = ["/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name", "/sys/hypervisor/type"]
        .into_iter()
        .find_map(|file| {
            let text = root.line(file)?.to_ascii_lowercase();
            let (_, name) = HYPERVISORS.iter().find(|(mark, _)| text.contains(mark))?;
            Some(((*name).to_owned(), file.to_owned()))
        });
    // Bare-metal instances of clouds carry the cloud's name in DMI but no hypervisor flag; the flag decides where there
    // are flags at all.
    if has_flags(root) && !flags(root).any(|f| f == "hypervisor") {
        return None;
    }
    match named {
        Some((name, file)) => Some((Some(name), file)),
        None if has_flags(root) => Some((None, "/proc/cpuinfo, flag hypervisor".into())),
        None => None,
    }
}

/// x86 lists the CPU's features as `flags`; other architectures have no flag for a hypervisor.
fn has_flags(root: &Root) -> bool {
    flags(root).next().is_some()
}

fn flags(root: &Root) -> impl Iterator<Item = String> {
    let text = root.text("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find_map(|l| super::system::field(l, "flags")).unwrap_or_default().to_owned();
    line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().into_iter()
}
