//! The processes of a run: the command, its children and theirs, with their CPU time, memory and I/O from `/proc`.
//!
//! It does not know which of them trains.

use checks::record::ProcSample;

use crate::probe::Root;

/// Most processes that are read: beyond that a run is not told by its processes one by one.
const PROCS_MAX: usize = 256;

/// The command and everything below it, parents before children.
pub(crate) fn below(root: &Root, pid: u32) -> Vec<ProcSample> {
    let mut found = Vec::new();
    let mut open = vec![pid];
    while let Some(pid) = open.pop() {
        if found.len() >= PROCS_MAX {
            break;
        }
        let Some(sample) = read(root, pid) else { continue };
        found.push(sample);
        // Each thread has its own list of children.
        for thread in root.names(&format!("/proc/{pid}/task")) {
            let children = root.text(&format!("/proc/{pid}/task/{thread}/children")).unwrap_or_default();
            open.extend(children.split_whitespace().filter_map(|c| c.parse::<u32>().ok()));
        }
    }
    found
}

fn read(root: &Root, pid: u32) -> Option<ProcSample> {
    let stat = root.text(&format!("/proc/{pid}/stat"))?;
    let mut sample = parse_stat(&stat)?;
    sample.pid = i64::from(pid);
    let io = root.text(&format!("/proc/{pid}/io")).unwrap_or_default();
    let counter = |name: &str| io.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(": ")?.parse().ok());
    sample.read_bytes = counter("read_bytes");
    sample.write_bytes = counter("write_bytes");
    sample.read_chars = counter("rchar");
    sample.read_calls = counter("syscr");
    Some(sample)
}

/// A line of `/proc/PID/stat`. The name stands in brackets and may hold anything, brackets and spaces too.
fn parse_stat(stat: &str) -> Option<ProcSample> {
    let (name, rest) = (stat.get(stat.find('(')? + 1..stat.rfind(')')?)?, stat.get(stat.rfind(')')? + 2..)?);
    let words: Vec<&str> = rest.split_whitespace().collect();
    let number = |i: usize| words.get(i)?.parse::<u64>().ok();
    // Field n of proc(5) is word n - 3 here. Resident memory counts pages, 4 KiB wherever GPUs are.
    Some(ProcSample {
        name: name.to_owned(),
        state: (*words.first()?).to_owned(),
        ppid: words.get(1)?.parse().ok()?,
        user_ticks: number(11),
        system_ticks: number(12),
        threads: number(17),
        rss_mib: number(21).map(|pages| pages * page_kib() / 1024),
        ..ProcSample::default()
    })
}

/// KiB of a page of memory.
fn page_kib() -> u64 {
    (rustix::param::page_size() / 1024) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let stat =
            "42 (a) b (c) R 7 42 42 0 -1 4194304 100 0 0 0 150 25 0 0 20 0 9 0 1000 123456 5120 18446744073709551615";
        let p = parse_stat(stat).expect("it is a stat line");
        assert_eq!((p.name.as_str(), p.state.as_str(), p.ppid), ("a) b (c", "R", 7));
        assert_eq!((p.user_ticks, p.system_ticks, p.threads), (Some(150), Some(25), Some(9)));
        assert_eq!(p.rss_mib, Some(5120 * page_kib() / 1024));
    }

    #[test]
    fn a_child_is_found_below_its_parent() {
        let root = Root::new(std::path::Path::new("/"));
        let mut child = std::process::Command::new("sleep").arg("30").spawn().expect("sleep is everywhere");
        let all = below(&root, std::process::id());
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
        assert_eq!(all.first().map(|p| p.pid), Some(i64::from(std::process::id())));
        // Kernels without CONFIG_PROC_CHILDREN do not list children; then only the command itself is seen.
        if root.exists("/proc/self/task")
            && std::fs::read_dir("/proc/self/task")
                .is_ok_and(|mut d| d.next().is_some_and(|t| t.is_ok_and(|t| t.path().join("children").exists())))
        {
            assert!(all.iter().any(|p| p.pid == i64::from(child.id())), "{all:?}");
        }
    }
}
