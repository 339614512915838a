//! What this session may use of the node: CPU quota and memory limit of its control groups, CPUs it may run on, locked
//! memory and `/dev/shm`.
//!
//! These are limits of the session that asks. A training job started elsewhere may have others.

use checks::keys;

use super::reading::Reading;
use super::root::Root;

/// A cgroup v1 limit at or above this is "none": the kernel prints the largest multiple of a page.
const V1_UNLIMITED: i64 = 1 << 60;

/// Reads the session's limits.
pub(crate) fn read(root: &Root) -> Reading {
    let mut r = Reading::default();
    cgroup(root, &mut r);
    let status = root.text("/proc/self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).and_then(|l| count_list(l.trim()));
    r.maybe(&keys::CPUS_ALLOWED, &[], allowed, "/proc/self/status Cpus_allowed_list");
    memlock(root, &mut r);
    shm(root, &mut r);
    r
}

/// The CPU quota that holds for this session, and how often it was throttled for it.
#[derive(Clone, Debug)]
pub(crate) struct CpuQuota {
    /// Quota in cores.
    pub cores: f64,
    /// Scheduling periods so far.
    pub periods: Option<i64>,
    /// Periods in which it was throttled.
    pub throttled: Option<i64>,
    /// Time that it was throttled.
    pub throttled_ms: Option<f64>,
    /// Folder of the group that has the quota.
    folder: String,
}

/// The tightest quota of the session's group and of every group above it; `None` if there is none.
pub(crate) fn cpu_quota(root: &Root) -> Option<CpuQuota> {
    let own = root.text("/proc/self/cgroup")?;
    let (cores, folder, ms) = match v2_path(root, &own) {
        Some(path) => {
            let quota = |f: &String| cpu_max(&root.line(&format!("{f}/cpu.max"))?);
            let all = upwards("/sys/fs/cgroup", path).into_iter().filter_map(|f| Some((quota(&f)?, f)));
            let (cores, folder) = all.min_by(|a, b| a.0.total_cmp(&b.0))?;
            (cores, folder, ("throttled_usec", 1e3))
        }
        None => {
            let folder = v1_folder(root, &own, "cpu", "cpu.cfs_quota_us")?;
            let quota = root.number(&format!("{folder}/cpu.cfs_quota_us")).filter(|q| *q > 0)?;
            let period = root.number(&format!("{folder}/cpu.cfs_period_us")).filter(|p| *p > 0)?;
            (float(quota) / float(period), folder, ("throttled_time", 1e6))
        }
    };
    let stat = root.text(&format!("{folder}/cpu.stat")).unwrap_or_default();
    Some(CpuQuota {
        cores,
        periods: entry(&stat, "nr_periods"),
        throttled: entry(&stat, "nr_throttled"),
        throttled_ms: entry(&stat, ms.0).map(|t| float(t) / ms.1),
        folder,
    })
}

/// The limits of the session's own group and of every group above it; the tightest holds.
fn cgroup(root: &Root, r: &mut Reading) {
    if let Some(q) = cpu_quota(root) {
        let stat = format!("{}/cpu.stat", q.folder);
        r.put(&keys::CGROUP_CPU_QUOTA, &[], q.cores, &q.folder);
        r.maybe(&keys::CGROUP_CPU_PERIODS, &[], q.periods, &stat);
        r.maybe(&keys::CGROUP_CPU_THROTTLED, &[], q.throttled, &stat);
        r.maybe(&keys::CGROUP_CPU_THROTTLED_MS, &[], q.throttled_ms, &stat);
    }
    memory(root, r);
}

fn memory(root: &Root, r: &mut Reading) {
    let Some(own) = root.text("/proc/self/cgroup") else { return };
    let (bytes, limit, used) = match v2_path(root, &own) {
        Some(path) => {
            let limit = |f: &String| root.number(&format!("{f}/memory.max"));
            let all = upwards("/sys/fs/cgroup", path).into_iter().filter_map(|f| Some((limit(&f)?, f)));
            let Some((bytes, folder)) = all.min_by_key(|(bytes, _)| *bytes) else { return };
            let events = format!("{folder}/memory.events");
            let kills = entry(&root.text(&events).unwrap_or_default(), "oom_kill");
            r.maybe(&keys::CGROUP_OOM_KILLS, &[], kills, &events);
            (bytes, format!("{folder}/memory.max"), format!("{folder}/memory.current"))
        }
        None => {
            let Some(folder) = v1_folder(root, &own, "memory", "memory.limit_in_bytes") else { return };
            let file = format!("{folder}/memory.limit_in_bytes");
            let Some(bytes) = root.number(&file).filter(|b| *b < V1_UNLIMITED) else { return };
            (bytes, file, format!("{folder}/memory.usage_in_bytes"))
        }
    };
    r.put(&keys::CGROUP_MEMORY_LIMIT, &[], mib(bytes), &limit);
    r.maybe(&keys::CGROUP_MEMORY_USED, &[], root.number(&used).map(mib), &used);
}

/// The session's path in the one hierarchy of cgroup v2, if that is what is mounted.
fn v2_path<'a>(root: &Root, own: &'a str) -> Option<&'a str> {
    root.exists("/sys/fs/cgroup/cgroup.controllers").then(|| own.lines().find_map(|l| l.strip_prefix("0::")))?
}

/// The folder of a v1 controller that has `file`: the session's own group, or the mount itself inside a container.
fn v1_folder(root: &Root, own: &str, controller: &str, file: &str) -> Option<String> {
    let line = own.lines().find(|l| l.split(':').nth(1).is_some_and(|c| c.split(',').any(|c| c == controller)))?;
    let mut parts = line.splitn(3, ':').skip(1);
    let (mount, path) = (parts.next()?, parts.next()?);
    let tries = [
        format!("/sys/fs/cgroup/{mount}{path}"),
        format!("/sys/fs/cgroup/{controller}{path}"),
        format!("/sys/fs/cgroup/{mount}"),
        format!("/sys/fs/cgroup/{controller}"),
    ];
    tries.into_iter().map(|t| t.trim_end_matches('/').to_owned()).find(|t| root.exists(&format!("{t}/{file}")))
}

/// A folder and all above it, down to the mount.
fn upwards(mount: &str, path: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = path.trim_matches('/');
    while !rest.is_empty() {
        all.push(format!("{mount}/{rest}"));
        rest = rest.rsplit_once('/').map_or("", |(above, _)| above);
    }
    all.push(mount.to_owned());
    all
}

/// `max 100000` is no quota; `150000 100000` is one and a half cores.
fn cpu_max(line: &str) -> Option<f64> {
    let (quota, period) = line.split_once(' ')?;
    let (quota, period) = (quota.parse::<f64>().ok()?, period.trim().parse::<f64>().ok()?);
    (period > 0.0).then_some(quota / period)
}

fn memlock(root: &Root, r: &mut Reading) {
    let limits = root.text("/proc/self/limits").unwrap_or_default();
    let Some(line) = limits.lines().find_map(|l| l.strip_prefix("Max locked memory")) else { return };
    match line.split_whitespace().next() {
        Some("unlimited") => r.put(&keys::MEMLOCK_UNLIMITED, &[], true, "/proc/self/limits"),
        Some(bytes) => {
            let kib = bytes.parse().ok().map(|b: i64| float(b) / 1024.0);
            r.maybe(&keys::MEMLOCK_LIMIT, &[], kib, "/proc/self/limits");
        }
        None => {}
    }
}

/// `/dev/shm`, if it is a mount of its own; sizes are those of the file system that lies there.
fn shm(root: &Root, r: &mut Reading) {
    let mounts = root.text("/proc/self/mounts").unwrap_or_default();
    if !root.is_live() || !mounts.lines().any(|l| l.split(' ').nth(1) == Some("/dev/shm")) {
        return;
    }
    let Ok(fs) = rustix::fs::statvfs("/dev/shm") else { return };
    let blocks = |n: u64| i64::try_from(n.saturating_mul(fs.f_frsize)).map(mib).ok();
    r.maybe(&keys::SHM_TOTAL, &[], blocks(fs.f_blocks), "/dev/shm");
    r.maybe(&keys::SHM_USED, &[], blocks(fs.f_blocks - fs.f_bfree), "/dev/shm");
}

/// The number after a name in a file of `name number` lines.
fn entry(text: &str, name: &str) -> Option<i64> {
    text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

/// How many numbers a list such as `0-3,8,10-11` names.
fn count_list(list: &str) -> Option<i64> {
    let mut n = 0;
    for part in list.split(',') {
        n += match part.split_once('-') {
            Some((a, b)) => b.trim().parse::<i64>().ok()? - a.trim().parse::<i64>().ok()? + 1,
            None => part.trim().parse::<i64>().ok().map(|_| 1)?,
        };
    }
    Some(n)
}

fn mib(bytes: i64) -> f64 {
    float(bytes) / 1024.0 / 1024.0
}

#[expect(clippy::cast_precision_loss, reason = "sizes and counters here are far below 2^53, or are rounded anyway")]
fn float(n: i64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_and_lists_are_read() {
        assert_eq!(cpu_max("150000 100000"), Some(1.5));
        assert_eq!(cpu_max("max 100000"), None);
        assert_eq!(count_list("0-3,8,10-11"), Some(7));
        assert_eq!(count_list(""), None);
        assert_eq!(upwards("/cg", "/a/b"), ["/cg/a/b", "/cg/a", "/cg"]);
    }
}
