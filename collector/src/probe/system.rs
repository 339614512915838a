//! Host, kernel, CPUs, memory and their pressure, from `/proc`, `/sys` and `/etc`.
//!
//! It does not know what this session may use of them; that is [`super::session`].

use checks::keys;

use super::reading::Reading;
use super::root::Root;

/// Reads the node's own properties.
pub(crate) fn read(root: &Root) -> Reading {
    let mut r = Reading::default();
    r.maybe(&keys::HOST, &[], host(root), "/proc/sys/kernel/hostname");
    r.maybe(&keys::KERNEL, &[], root.line("/proc/sys/kernel/osrelease"), "/proc/sys/kernel/osrelease");
    r.maybe(&keys::OS, &[], os(root), "/etc/os-release PRETTY_NAME");
    cpus(root, &mut r);
    memory(root, &mut r);
    pressure(root, &mut r);
    r
}

/// Host name, as the kernel has it.
pub(crate) fn host(root: &Root) -> Option<String> {
    root.line("/proc/sys/kernel/hostname").filter(|h| h != "(none)")
}

fn os(root: &Root) -> Option<String> {
    let text = root.text("/etc/os-release")?;
    let value = text.lines().find_map(|l| l.strip_prefix("PRETTY_NAME="))?.trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}

fn cpus(root: &Root, r: &mut Reading) {
    let info = root.text("/proc/cpuinfo").unwrap_or_default();
    let count = info.lines().filter(|l| field(l, "processor").is_some()).count();
    r.maybe(&keys::CPU_COUNT, &[], (count > 0).then_some(count), "/proc/cpuinfo, processors");
    let model = info.lines().find_map(|l| field(l, "model name"));
    r.maybe(&keys::CPU_MODEL, &[], model, "/proc/cpuinfo, model name");
    let governor = root.line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    r.maybe(&keys::CPU_GOVERNOR, &[], governor, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    let numa = root.names("/sys/devices/system/node").iter().filter(|n| is_numbered(n, "node")).count();
    r.maybe(&keys::NUMA_NODES, &[], (numa > 0).then_some(numa), "/sys/devices/system/node");
    let load = root.line("/proc/loadavg").and_then(|l| l.split(' ').next()?.parse::<f64>().ok());
    r.maybe(&keys::LOAD_1, &[], load, "/proc/loadavg");
}

fn memory(root: &Root, r: &mut Reading) {
    let Some(text) = root.text("/proc/meminfo") else { return };
    let kib = |name: &str| -> Option<i64> {
        let rest = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':'))?;
        rest.trim().strip_suffix(" kB")?.trim().parse().ok()
    };
    r.maybe(&keys::MEMORY_TOTAL, &[], kib("MemTotal").map(|k| k / 1024), "/proc/meminfo MemTotal");
    r.maybe(&keys::MEMORY_AVAILABLE, &[], kib("MemAvailable").map(mib), "/proc/meminfo MemAvailable");
    let swap = kib("SwapTotal").zip(kib("SwapFree")).map(|(total, free)| mib(total - free));
    r.maybe(&keys::SWAP_USED, &[], swap, "/proc/meminfo SwapTotal - SwapFree");
}

#[expect(clippy::cast_precision_loss, reason = "KiB of a node are far below 2^53")]
fn mib(kib: i64) -> f64 {
    kib as f64 / 1024.0
}

/// Pressure stall information, averages over 10 s.
fn pressure(root: &Root, r: &mut Reading) {
    for (file, kind, key) in [
        ("/proc/pressure/cpu", "some", keys::PSI_CPU_SOME),
        ("/proc/pressure/memory", "some", keys::PSI_MEMORY_SOME),
        ("/proc/pressure/memory", "full", keys::PSI_MEMORY_FULL),
        ("/proc/pressure/io", "some", keys::PSI_IO_SOME),
        ("/proc/pressure/io", "full", keys::PSI_IO_FULL),
    ] {
        let value = root.text(file).and_then(|t| psi_avg10(&t, kind));
        r.maybe(&key, &[], value, &format!("{file}, {kind} avg10"));
    }
}

/// `avg10` of the `some` or `full` line of a pressure file.
pub(crate) fn psi_avg10(text: &str, kind: &str) -> Option<f64> {
    let line = text.lines().find(|l| l.starts_with(kind))?;
    line.split_whitespace().find_map(|w| w.strip_prefix("avg10="))?.parse().ok()
}

/// The value of a `name : value` line of `/proc/cpuinfo`.
pub(crate) fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (key, value) = line.split_once(':')?;
    (key.trim_end() == name).then(|| value.trim())
}

/// True for a name such as `node12` with the prefix `node`.
pub(crate) fn is_numbered(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}
