//! `iostat -x`, `top -b` and `vmstat`: what the node's disks and CPUs did, across versions of sysstat and procps.
//!
//! Columns are found by their headings. The first report covers the time since boot; the checks leave it out.

use super::Part;
use crate::fact::{Fact, Place, Trust};
use crate::keys;
use crate::profile::DiskReport;

/// Reports and devices that are kept.
const MAX_ROWS: usize = 20_000;

pub(super) fn looks_like_iostat(head: &str) -> bool {
    head.lines().any(is_header)
}

fn is_header(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or("");
    matches!(first, "Device" | "Device:") && line.contains("%util")
}

pub(super) fn iostat(text: &str, part: &mut Part) {
    let mut header: Vec<&str> = Vec::new();
    let mut report = 0usize;
    let mut seen = false;
    let mut cpu: Option<Vec<&str>> = None;
    let mut rows = Vec::new();
    for (n, line) in (1u32..).zip(text.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with("avg-cpu") {
            cpu = Some(words[1..].to_vec());
        } else if let Some(names) = cpu.take().filter(|c| c.len() == words.len()) {
            for (name, value) in names.iter().zip(&words) {
                let key = match *name {
                    "%iowait" => &keys::IOSTAT_IOWAIT,
                    "%idle" => &keys::IOSTAT_IDLE,
                    _ => continue,
                };
                if let Some(v) = number(value) {
                    part.put(key, &[], v, Trust::Text, n, line);
                }
            }
        } else if is_header(line) {
            report += usize::from(seen);
            seen = true;
            header = words;
        } else if !header.is_empty() && words.len() >= 4 && rows.len() < MAX_ROWS {
            let cell =
                |names: &[&str]| names.iter().find_map(|h| number(words.get(header.iter().position(|x| x == h)?)?));
            let kib = cell(&["rareq-sz"]).or_else(|| cell(&["avgrq-sz"]).map(|sectors| sectors / 2.0));
            rows.push(DiskReport {
                report,
                device: words[0].trim_end_matches(':').to_owned(),
                reads_s: cell(&["r/s"]),
                read_mb_s: cell(&["rMB/s"]).or_else(|| cell(&["rkB/s"]).map(|k| k / 1024.0)),
                read_await_ms: cell(&["r_await", "await"]),
                read_kib: kib,
                queue: cell(&["aqu-sz", "avgqu-sz"]),
                util_pct: cell(&["%util"]),
                place: Place::line(part.input, n, line),
            });
        }
    }
    if rows.is_empty() {
        part.note(None, "There is no device in it.");
    }
    if report == 0 {
        part.note(None, "One report only: it covers the time since boot. Use iostat -x -y 1 10.");
    }
    part.put(
        &keys::IOSTAT_REPORTS,
        &[],
        if seen { report + 1 } else { 0 },
        Trust::Text,
        1,
        text.lines().next().unwrap_or(""),
    );
    part.facts.iostat.extend(rows);
}

/// A number with a point or, by locale, a comma.
fn number(text: &str) -> Option<f64> {
    text.replace(',', ".").parse::<f64>().ok().filter(|v| v.is_finite())
}

pub(super) fn looks_like_top(head: &str) -> bool {
    head.lines().any(|l| l.starts_with("top - ") && l.contains("load average"))
        || head.contains("%Cpu(s):") && head.contains("PID USER")
}

pub(super) fn top(text: &str, part: &mut Part) {
    let mut iteration: Option<usize> = None;
    for (n, line) in (1u32..).zip(text.lines()) {
        if line.starts_with("top - ") {
            let i = iteration.map_or(0, |i| i + 1);
            iteration = Some(i);
            if let Some(load) =
                line.split("load average:").nth(1).and_then(|l| number(l.trim().split([' ', ',']).next()?))
            {
                part.put(&keys::TOP_LOAD, &[i], load, Trust::Text, n, line);
            }
        } else if let (Some(i), Some(cells)) = (iteration, line.split_once("Cpu(s):").map(|c| c.1)) {
            for cell in cells.split(", ").map(str::trim) {
                let (value, name) = cell.split_once([' ', '%']).unwrap_or((cell, ""));
                let key = match name.trim() {
                    "id" => &keys::TOP_IDLE,
                    "wa" => &keys::TOP_IOWAIT,
                    _ => continue,
                };
                if let Some(v) = number(value) {
                    part.put(key, &[i], v, Trust::Text, n, line);
                }
            }
        } else if line.contains("Mem :") || line.starts_with("Mem:") {
            let total = line.split(':').nth(1).and_then(|l| number(l.split_whitespace().next()?));
            let unit = if line.contains("MiB") {
                1024.0
            } else if line.contains("GiB") {
                1_048_576.0
            } else {
                1.0
            };
            if let Some(t) = total.filter(|_| iteration == Some(0)) {
                #[expect(clippy::cast_possible_truncation, reason = "memory in KiB is far below 2^53")]
                part.put(&keys::TOP_MEMORY, &[], (t * unit) as i64, Trust::Text, n, line);
            }
        }
    }
    let iterations = iteration.map_or(0, |i| i + 1);
    part.put(&keys::TOP_ITERATIONS, &[], iterations, Trust::Text, 1, text.lines().next().unwrap_or(""));
    if iterations == 1 {
        part.note(None, "One iteration only: it covers the time since boot. Use top -b -n 3.");
    }
}

pub(super) fn looks_like_vmstat(head: &str) -> bool {
    head.lines().any(|l| {
        let w: Vec<&str> = l.split_whitespace().collect();
        w.starts_with(&["r", "b", "swpd"]) && w.contains(&"wa")
    })
}

pub(super) fn vmstat(text: &str, part: &mut Part) {
    let mut header: Vec<&str> = Vec::new();
    let mut rows = 0usize;
    let mut sums = [0.0f64; 4];
    let wanted = ["si", "so", "wa", "id"];
    let mut last = (1, "");
    for (n, line) in (1u32..).zip(text.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.starts_with(&["r", "b", "swpd"]) {
            header = words;
        } else if !header.is_empty() && words.len() == header.len() && words.iter().all(|w| number(w).is_some()) {
            rows += 1;
            last = (n, line);
            // The first row covers the time since boot.
            if rows > 1 {
                for (sum, name) in sums.iter_mut().zip(wanted) {
                    *sum += header.iter().position(|h| *h == name).and_then(|i| number(words[i])).unwrap_or(0.0);
                }
            }
        }
    }
    if rows < 2 {
        part.note(None, "One row only: it covers the time since boot. Use vmstat 1 10.");
        return;
    }
    #[expect(clippy::cast_precision_loss, reason = "row counts are small")]
    let n = (rows - 1) as f64;
    let names = [&keys::VMSTAT_SWAP_IN, &keys::VMSTAT_SWAP_OUT, &keys::VMSTAT_IOWAIT, &keys::VMSTAT_IDLE];
    for (key, sum) in names.into_iter().zip(sums) {
        let place = Place::line(part.input, last.0, last.1);
        let fact = Fact { value: (sum / n).into(), unit: key.unit, trust: Trust::Text, place };
        part.facts.insert(key.at(&[]), fact);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::Kind;

    #[test]
    fn columns_are_found_by_their_heading() {
        let mut part = Part::new(0, Kind::Iostat);
        iostat(
            "Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util\n\
             sda               0.00     0.02    0.13    0.11     5.27     1.10    52.53     0.00    0.88    0.53    1.29   0.52   0.01\n\n\
             Device            r/s     rMB/s   rrqm/s  %rrqm r_await rareq-sz     w/s  aqu-sz  %util\n\
             nvme0n1       100,00    10,00     0.00   0.00    0.07     4.00    0.00    1.53 100.00\n",
            &mut part,
        );
        let d = &part.facts.iostat;
        assert_eq!(
            (d[0].report, d[0].read_await_ms, d[0].read_kib, d[0].queue),
            (0, Some(0.53), Some(26.265), Some(0.0))
        );
        assert_eq!((d[1].report, d[1].reads_s, d[1].read_mb_s, d[1].queue), (1, Some(100.0), Some(10.0), Some(1.53)));
    }

    #[test]
    fn vmstat_leaves_out_the_row_since_boot() {
        let mut part = Part::new(0, Kind::Vmstat);
        vmstat(
            "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n\
             \x20r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n\
             \x201  0      0 100 10 10    9    9    53    14   41   63  0  0 99  1  0\n\
             \x201  0      0 100 10 10    4    0     0     0   30   60  0  0 90 10  0\n",
            &mut part,
        );
        assert_eq!(part.facts.get(&keys::VMSTAT_SWAP_IN, &[]).map(|k| k.value), Some(4.0));
        assert_eq!(part.facts.get(&keys::VMSTAT_IOWAIT, &[]).map(|k| k.value), Some(10.0));
    }
}
