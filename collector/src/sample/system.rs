//! Counters of the node from `/proc` and of the session's control group. Cumulative counters are written as they are;
//! rates are for the reader to make.
//!
//! It does not know about GPUs or the run's processes.

use checks::record::{CgroupSample, DiskSample, NetSample, Psi};

use crate::probe::Root;

/// Columns of the `cpu` line that samples carry: user nice system idle iowait irq softirq steal.
const CPU_COLUMNS: usize = 8;

/// CPUs of the node.
pub(crate) fn cpus(root: &Root) -> Option<usize> {
    let text = root.text("/proc/stat")?;
    let n = text.lines().filter(|l| l.strip_prefix("cpu").is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit())));
    Some(n.count()).filter(|n| *n > 0)
}

/// Time of all CPUs by kind, 1/100 s.
pub(crate) fn cpu_ticks(root: &Root) -> Option<Vec<u64>> {
    let text = root.text("/proc/stat")?;
    let line = text.lines().find_map(|l| l.strip_prefix("cpu "))?;
    line.split_whitespace().take(CPU_COLUMNS).map(|n| n.parse().ok()).collect()
}

/// Pressure stall totals; `None` on a kernel without them.
pub(crate) fn psi(root: &Root) -> Option<Psi> {
    let total = |file: &str, kind: &str| -> Option<u64> {
        let text = root.text(&format!("/proc/pressure/{file}"))?;
        let line = text.lines().find(|l| l.starts_with(kind))?;
        line.split_whitespace().find_map(|w| w.strip_prefix("total="))?.parse().ok()
    };
    let psi = Psi {
        cpu_some_us: total("cpu", "some"),
        memory_some_us: total("memory", "some"),
        memory_full_us: total("memory", "full"),
        io_some_us: total("io", "some"),
        io_full_us: total("io", "full"),
    };
    (psi != Psi::default()).then_some(psi)
}

/// Whole disks that have done something. Partitions, loop devices and RAM disks are left out: their work is in the disk
/// below, or is none.
pub(crate) fn disks(root: &Root) -> Vec<DiskSample> {
    let text = root.text("/proc/diskstats").unwrap_or_default();
    let of = |line: &str| -> Option<DiskSample> {
        let mut words = line.split_whitespace().skip(2);
        let name = words.next()?.to_owned();
        let virtual_device = ["loop", "ram", "zram", "sr", "fd"].iter().any(|p| name.starts_with(p));
        if virtual_device || !root.exists(&format!("/sys/block/{name}")) {
            return None;
        }
        let n: Vec<u64> = words.map_while(|w| w.parse().ok()).collect();
        let at = |i: usize| n.get(i).copied();
        // A sector in /proc/diskstats is 512 bytes, whatever the disk's own is.
        let disk = DiskSample {
            name,
            reads: at(0)?,
            read_kib: at(2)? / 2,
            read_ms: at(3)?,
            writes: at(4)?,
            write_kib: at(6)? / 2,
            write_ms: at(7)?,
            busy_ms: at(9)?,
            queue_ms: at(10)?,
        };
        (disk.reads + disk.writes > 0).then_some(disk)
    };
    text.lines().filter_map(of).collect()
}

/// Network devices that have carried something, but for the loopback.
pub(crate) fn net(root: &Root) -> Vec<NetSample> {
    let text = root.text("/proc/net/dev").unwrap_or_default();
    let of = |line: &str| -> Option<NetSample> {
        let (name, counters) = line.split_once(':')?;
        let n: Vec<u64> = counters.split_whitespace().map_while(|w| w.parse().ok()).collect();
        let (rx_bytes, tx_bytes) = (*n.first()?, *n.get(8)?);
        let name = name.trim().to_owned();
        (name != "lo" && rx_bytes + tx_bytes > 0).then_some(NetSample { name, rx_bytes, tx_bytes })
    };
    text.lines().filter_map(of).collect()
}

/// Quota and throttling of the session's control group; `None` without a quota.
pub(crate) fn cgroup(root: &Root) -> Option<CgroupSample> {
    let quota = crate::probe::cpu_quota(root)?;
    let count = |n: i64| u64::try_from(n).ok();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time since boot in µs")]
    Some(CgroupSample {
        quota_cores: Some(quota.cores),
        periods: quota.periods.and_then(count),
        throttled: quota.throttled.and_then(count),
        throttled_us: quota.throttled_ms.map(|ms| (ms * 1e3) as u64),
    })
}

/// Memory that can be used without swapping.
pub(crate) fn mem_available_mib(root: &Root) -> Option<f64> {
    let text = root.text("/proc/meminfo")?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kib: f64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some((kib / 1024.0).round())
}
