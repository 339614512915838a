//! Nsight Compute's CSV: the details page (a row for each metric or rule) and the raw page (a row for each kernel, with a
//! row of units).
//!
//! It knows names of metrics across versions and pages; a metric that is not there is absent, never 0.

use super::Part;
use crate::fact::{Place, Trust};
use crate::keys;
use crate::profile::NcuKernel;

/// Kernels that are kept, the first ones.
const MAX_KERNELS: usize = 4096;
/// Kernels that get facts of their own.
const MAX_FACTS: usize = 20;

/// A row whose first cell is `"ID"` starts the table.
pub(super) fn starts(line: &str) -> bool {
    line.starts_with("\"ID\",\"Process ID\",")
}

pub(super) fn looks(head: &str) -> bool {
    head.lines().any(starts) || head.contains("ERR_NVGPUCTRPERM")
}

pub(super) fn parse(text: &str, part: &mut Part) {
    if let Some((n, _)) = (1u32..).zip(text.lines()).find(|(_, l)| l.contains("ERR_NVGPUCTRPERM")) {
        part.note(
            Some(n),
            "Nsight Compute was not allowed to read the counters: run it as root, or let the administrator permit it.",
        );
    }
    let mut lines = (1u32..).zip(text.lines()).skip_while(|(_, l)| !starts(l));
    let Some((_, header)) = lines.next() else {
        part.note(None, "There is no table of kernels in it.");
        return;
    };
    let header = cells(header);
    let rows: Vec<(u32, Vec<String>)> = lines
        .filter(|(_, l)| l.starts_with('"') && !starts(l))
        .map(|(n, l)| (n, cells(l)))
        .filter(|(_, r)| r.len() > 10)
        .collect();
    let column = |name: &str| header.iter().position(|h| h == name);
    let numbers = Numbers::of(rows.iter().flat_map(|(_, r)| r.iter().skip(11)));
    let kernels = match (column("Metric Name"), column("Metric Unit"), column("Metric Value")) {
        (Some(name), Some(unit), Some(value)) => details(&header, &rows, (name, unit, value), numbers, part.input),
        _ => raw(&header, &rows, numbers, part),
    };
    if kernels.is_empty() {
        part.note(None, "The table holds no kernel.");
    }
    facts(&kernels, part);
    part.facts.ncu.extend(kernels);
}

fn facts(kernels: &[NcuKernel], part: &mut Part) {
    let input = Place::input(part.input);
    let facts = &mut part.facts;
    facts.put(&keys::KERNELS, &[], kernels.len(), Trust::Csv, input);
    for (i, k) in kernels.iter().take(MAX_FACTS).enumerate() {
        let numbers = [
            (&keys::NCU_DURATION, k.duration_ns),
            (&keys::NCU_SM, k.sm_pct),
            (&keys::NCU_MEM, k.mem_pct),
            (&keys::NCU_DRAM, k.dram_pct),
            (&keys::NCU_OCCUPANCY, k.occupancy_theoretical_pct),
            (&keys::NCU_OCCUPANCY_ACHIEVED, k.occupancy_achieved_pct),
            (&keys::NCU_WAVES, k.waves),
        ];
        for (key, value) in numbers {
            if let Some(v) = value {
                facts.put(key, &[i], v, Trust::Csv, k.place.clone());
            }
        }
        if let Some(g) = &k.grid {
            facts.put(&keys::NCU_GRID, &[i], g.as_str(), Trust::Csv, k.place.clone());
        }
    }
}

type Row = (u32, Vec<String>);

fn details(
    header: &[String],
    rows: &[Row],
    (name, unit, value): (usize, usize, usize),
    numbers: Numbers,
    input: u32,
) -> Vec<NcuKernel> {
    let mut out: Vec<(String, NcuKernel)> = Vec::new();
    for (n, row) in rows {
        let id = format!("{}/{}", row[0], row.get(1).map_or("", |p| p));
        if out.last().is_none_or(|(last, _)| *last != id) {
            if out.len() == MAX_KERNELS {
                break;
            }
            out.push((id, start(header, row, *n, input)));
        }
        let Some((_, k)) = out.last_mut() else { continue };
        let cell = |i: usize| row.get(i).map_or("", |c| c.as_str());
        if let Some(v) = numbers.read(cell(value)) {
            set(k, cell(name), cell(unit), v);
        }
    }
    out.into_iter().map(|(_, k)| k).collect()
}

fn raw(header: &[String], rows: &[Row], numbers: Numbers, part: &mut Part) -> Vec<NcuKernel> {
    let (units, rows) = match rows.split_first() {
        // The row of units has no id.
        Some((first, rest)) if first.1[0].is_empty() => (Some(&first.1), rest),
        _ => (None, rows),
    };
    if units.is_none() {
        part.note(None, "There is no row of units; durations were taken as nanoseconds.");
    }
    rows.iter()
        .take(MAX_KERNELS)
        .map(|(n, row)| {
            let mut k = start(header, row, *n, part.input);
            for (i, name) in header.iter().enumerate().skip(11) {
                let unit = units.and_then(|u| u.get(i)).map_or("", |u| u.as_str());
                if let Some(v) = row.get(i).and_then(|c| numbers.read(c)) {
                    set(&mut k, name, unit, v);
                }
            }
            k
        })
        .collect()
}

fn start(header: &[String], row: &[String], line: u32, input: u32) -> NcuKernel {
    let cell = |name: &str| {
        header.iter().position(|h| h == name).and_then(|i| row.get(i)).map(String::as_str).filter(|c| !c.is_empty())
    };
    let name = cell("Kernel Name").unwrap_or("").to_owned();
    NcuKernel {
        place: Place::line(input, line, &format!("{name}, grid {}", cell("Grid Size").unwrap_or("unknown"))),
        device: cell("Device").and_then(|d| d.parse().ok()),
        compute: cell("CC").and_then(|c| c.split_once('.')).and_then(|(a, b)| a.parse().ok().zip(b.parse().ok())),
        grid: cell("Grid Size").map(str::to_owned),
        blocks: cell("Grid Size").and_then(volume),
        threads: cell("Block Size").and_then(volume),
        name,
        ..NcuKernel::default()
    }
}

/// `(9, 32, 1)` → 288.
fn volume(text: &str) -> Option<u64> {
    text.trim_matches(['(', ')'])
        .split(',')
        .map(|n| n.trim().parse::<u64>().ok())
        .try_fold(1u64, |p, n| p.checked_mul(n?))
}

/// Files a metric under its raw name or its display name.
fn set(k: &mut NcuKernel, name: &str, unit: &str, v: f64) {
    let pct = unit.is_empty() || unit.starts_with('%');
    let field = match name {
        "gpu__time_duration.sum" | "Duration" => {
            k.duration_ns = nanoseconds(v, unit);
            return;
        }
        "sm__throughput.avg.pct_of_peak_sustained_elapsed" | "Compute (SM) Throughput" | "SM [%]" => &mut k.sm_pct,
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed" | "Memory [%]" => &mut k.mem_pct,
        // The memory section has a throughput of the same name in bytes.
        "Memory Throughput" if pct => &mut k.mem_pct,
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
        | "dram__throughput.avg.pct_of_peak_sustained_elapsed"
        | "DRAM Throughput"
            if pct =>
        {
            &mut k.dram_pct
        }
        "sm__warps_active.avg.pct_of_peak_sustained_active" | "Achieved Occupancy" => &mut k.occupancy_achieved_pct,
        "sm__maximum_warps_per_active_cycle_pct" | "Theoretical Occupancy" => &mut k.occupancy_theoretical_pct,
        "launch__waves_per_multiprocessor" | "Waves Per SM" => &mut k.waves,
        "launch__sm_count" | "# SMs" | "device__attribute_multiprocessor_count" => &mut k.sms,
        "launch__registers_per_thread" | "Registers Per Thread" => &mut k.registers,
        "smsp__thread_inst_executed_per_inst_executed.ratio" | "Avg. Active Threads Per Warp" => &mut k.threads_active,
        "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio" | "Avg. Not Predicated Off Threads Per Warp" => {
            &mut k.threads_on
        }
        "smsp__sass_average_branch_targets_threads_uniform.pct" | "Branch Efficiency" => &mut k.branch_uniform_pct,
        "derived__local_spilling_requests_pct" | "Local Memory Spilling Request Overhead" => &mut k.spill_pct,
        "derived__local_spilling_requests" | "Local Memory Spilling Requests" => &mut k.spills,
        "smsp__sass_inst_executed_op_local_ld.sum" | "smsp__sass_inst_executed_op_local_st.sum" => {
            k.local_instructions = Some(k.local_instructions.unwrap_or(0.0) + v);
            return;
        }
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio" => &mut k.load_bytes_per_sector,
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio" => &mut k.store_bytes_per_sector,
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct" => {
            k.load_bytes_per_sector.get_or_insert(v * 0.32);
            return;
        }
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct" => {
            k.store_bytes_per_sector.get_or_insert(v * 0.32);
            return;
        }
        "derived__memory_l2_theoretical_sectors_global_excessive" => &mut k.excess_sectors,
        "memory_l2_theoretical_sectors_global" => &mut k.sectors,
        _ if name.starts_with("launch__occupancy_limit_") || name.starts_with("Block Limit ") => {
            if let Some(limit) = limit(name) {
                k.occupancy_limits.push((limit, v));
            }
            return;
        }
        _ if pct && is_tensor(name) => {
            k.tensor_pct = Some(k.tensor_pct.unwrap_or(0.0).max(v));
            return;
        }
        _ => return,
    };
    *field = Some(v);
}

/// Cycles in which a Tensor Core pipe was active; names differ by architecture. Counts of instructions do not tell.
fn is_tensor(name: &str) -> bool {
    (name.contains("sm__pipe_tensor_cycles_active")
        || name.contains("sm__pipe_tensor_op_hmma_cycles_active")
        || name.contains("sm__pipe_tensor_op_imma_cycles_active")
        || name.contains("sm__pipe_tensor_subpipe_hmma_cycles_active"))
        && name.contains("pct_of_peak")
        && !name.contains(".max")
}

fn limit(name: &str) -> Option<&'static str> {
    Some(match name.trim_start_matches("launch__occupancy_limit_").trim_start_matches("Block Limit ") {
        "registers" | "Registers" => "registers",
        "shared_mem" | "Shared Mem" => "shared memory",
        "warps" | "Warps" => "block size",
        "blocks" | "SM" => "blocks",
        "barriers" | "Barriers" => "barriers",
        _ => return None,
    })
}

fn nanoseconds(v: f64, unit: &str) -> Option<f64> {
    Some(match unit {
        "" | "ns" | "nsecond" => v,
        "us" | "usecond" | "µs" => v * 1e3,
        "ms" | "msecond" => v * 1e6,
        "s" | "second" => v * 1e9,
        _ => return None,
    })
}

/// Splits a row: quoted cells with commas in them, doubled quotes.
fn cells(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut cell = String::new();
    let mut quoted = false;
    let mut chars = line.trim_end().chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                cell.push('"');
                chars.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => out.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    out.push(cell);
    out
}

/// How a file writes numbers: `1,234.5` or `1.234,5`. Decided once for the whole file, from values that allow only one
/// reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    Point,
    Comma,
}

impl Numbers {
    fn of<'a>(cells: impl Iterator<Item = &'a String>) -> Self {
        let (mut point, mut comma) = (0usize, 0usize);
        for c in cells.filter(|c| c.starts_with(|c: char| c.is_ascii_digit() || c == '-') && c.len() < 32) {
            if !c.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',' | b'-')) {
                continue;
            }
            let last = |of: char| c.rfind(of).map(|p| c.len() - p - 1);
            let count = |of: char| c.matches(of).count();
            match (count('.'), count(','), last('.'), last(',')) {
                // Both signs: the last one is the decimal sign.
                (1.., 1.., Some(p), Some(k)) => *(if p < k { &mut point } else { &mut comma }) += 1,
                // One sign twice separates thousands.
                (0, 2.., ..) => point += 1,
                (2.., 0, ..) => comma += 1,
                // One sign with other than three digits behind it is the decimal sign.
                (1, 0, Some(p), _) if p != 3 => point += 1,
                (0, 1, _, Some(k)) if k != 3 => comma += 1,
                _ => {}
            }
        }
        if comma > point { Self::Comma } else { Self::Point }
    }

    fn read(self, cell: &str) -> Option<f64> {
        if !cell.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return None;
        }
        let plain = match self {
            Self::Point => cell.replace(',', ""),
            Self::Comma => cell.replace('.', "").replace(',', "."),
        };
        plain.parse::<f64>().ok().filter(|v| v.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_by_one_rule_for_the_whole_file() {
        let of = |cells: &[&str]| {
            let owned: Vec<String> = cells.iter().map(|c| (*c).to_owned()).collect();
            Numbers::of(owned.iter())
        };
        let us = of(&["2,677,056", "0.97", "117,344"]);
        assert_eq!((us.read("117,344"), us.read("0.97")), (Some(117_344.0), Some(0.97)));
        let eu = of(&["117.344", "65,77", "2.677.056"]);
        assert_eq!((eu.read("117.344"), eu.read("65,77")), (Some(117_344.0), Some(65.77)));
        assert_eq!(us.read("nan"), None);
        assert_eq!(us.read("PolicySpread"), None);
    }

    #[test]
    fn rows_keep_their_commas_and_quotes() {
        assert_eq!(cells(r#""3","f(a, b)","say ""x""",7,"#), ["3", "f(a, b)", "say \"x\"", "7", ""]);
        assert_eq!(volume("(9, 32, 1)"), Some(288));
    }
}
