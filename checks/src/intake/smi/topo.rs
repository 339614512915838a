//! `nvidia-smi topo -m`: the matrix of connections. Cells are cut at tabs, or at blanks after a paste from a web page.
//!
//! It does not know how fast a kind of connection is.

use super::latest::{At, Latest};
use crate::fact::Trust;
use crate::intake::Part;
use crate::keys;

/// GPUs and adapters of one matrix; a larger number is damage.
const DEVICES_MAX: usize = 1024;

/// True if there is a header of the matrix, or a row of it.
pub(in crate::intake) fn looks_like_topo(head: &str) -> bool {
    head.lines().any(|l| starts_topo(l) || Row::read(l).is_some_and(|r| r.cells.contains(&"X")))
}

/// The header of the matrix.
pub(in crate::intake) fn starts_topo(line: &str) -> bool {
    let Some(at) = line.find("CPU Affinity") else { return false };
    line[..at].split_whitespace().any(|w| gpu(w).is_some())
}

/// The index in `GPU3`.
fn gpu(word: &str) -> Option<usize> {
    word.strip_prefix("GPU")?.parse().ok().filter(|n| *n < DEVICES_MAX)
}

/// True for the name of a network adapter: `NIC0`, and `mlx5_0` before 510.
fn nic(word: &str) -> bool {
    let named = ["NIC", "mlx", "bnxt", "qedr", "irdma", "hfi", "ib"];
    word.ends_with(|c: char| c.is_ascii_digit()) && named.iter().any(|n| word.starts_with(n))
}

struct Row<'t> {
    gpu: usize,
    cells: Vec<&'t str>,
}

impl<'t> Row<'t> {
    fn read(line: &'t str) -> Option<Self> {
        // Only the end may be trimmed: the header's first cell is empty.
        let cells: Vec<&str> = if line.contains('\t') {
            line.trim_start().split('\t').map(str::trim).collect()
        } else {
            line.split_whitespace().collect()
        };
        let (first, cells) = cells.split_first()?;
        Some(Self { gpu: gpu(first)?, cells: cells.to_vec() })
    }
}

/// Reads it.
pub(in crate::intake) fn topo(text: &str, part: &mut Part) {
    let mut values = Latest::default();
    let mut columns: Vec<&str> = Vec::new();
    let mut tail: Vec<&str> = Vec::new();
    let last = text.lines().count();
    let open_end = !text.ends_with('\n');
    for (line, raw) in (1u32..).zip(text.lines()) {
        let at = At { line, quote: raw };
        if starts_topo(raw) {
            let cut = raw.find("CPU Affinity").unwrap_or(raw.len());
            columns = raw[..cut].split_whitespace().filter(|w| gpu(w).is_some() || nic(w)).collect();
            tail = ["CPU Affinity", "NUMA Affinity", "GPU NUMA ID"].into_iter().filter(|n| raw.contains(n)).collect();
            let nics = columns.iter().filter(|c| nic(c)).count();
            values.set(&keys::GPU_COUNT, &[], Some(columns.len() - nics), at);
            if nics > 0 {
                values.set(&keys::NIC_COUNT, &[], Some(nics), at);
            }
        } else if let Some((name, device)) = raw.trim().split_once(':').filter(|(n, _)| nic(n)) {
            let index = name.trim_start_matches("NIC").parse().ok().filter(|n: &usize| *n < DEVICES_MAX);
            if let Some(n) = index.filter(|_| !(open_end && line as usize == last)) {
                values.set(&keys::NIC_NAME, &[n], Some(device.trim()), at);
            }
        } else if let Some(mut row) = Row::read(raw) {
            if open_end && line as usize == last {
                row.cells.pop();
            }
            matrix_row(&row, &columns, &tail, at, &mut values);
        }
    }
    if columns.is_empty() {
        part.note(None, "The header of the matrix is missing; its columns cannot be told apart.");
    }
    values.put(Trust::Text, part);
}

fn matrix_row(row: &Row<'_>, columns: &[&str], tail: &[&str], at: At<'_>, values: &mut Latest) {
    for (name, kind) in columns.iter().zip(&row.cells) {
        if !is_connection(kind) {
            // The row has lost cells: what follows would stand in wrong columns.
            return;
        }
        if *kind == "X" {
            continue;
        }
        match gpu(name) {
            Some(other) => values.set(&keys::LINK, &[row.gpu, other], Some(*kind), at),
            None => values.set_path(format!("link[{}][{name}]", row.gpu), "", Some((*kind).into()), at),
        }
    }
    if row.cells.len() < columns.len() || columns.is_empty() {
        return;
    }
    let near: Vec<&str> =
        columns.iter().zip(&row.cells).filter(|(n, k)| nic(n) && **k == "PIX").map(|c| *c.0).collect();
    if columns.iter().any(|c| nic(c)) {
        values.set(&keys::GPU_PIX_NICS, &[row.gpu], Some(near), at);
    }
    // The data rows have one tab more than the header before the last column.
    let rest = &row.cells[columns.len()..];
    let last = rest.last().copied();
    for (i, name) in tail.iter().enumerate() {
        let (key, cell) = match *name {
            "CPU Affinity" => (&keys::GPU_CPU_AFFINITY, rest.first().copied().filter(|c| is_cpu_list(c))),
            "NUMA Affinity" => (&keys::GPU_NUMA_AFFINITY, rest.get(1).copied()),
            _ => (&keys::GPU_NUMA_ID, last.filter(|_| rest.len() > i)),
        };
        values.set(key, &[row.gpu], cell.filter(|c| !c.is_empty()), at);
    }
}

fn is_connection(cell: &str) -> bool {
    let kind = cell.trim_end_matches(|c: char| c.is_ascii_digit());
    !kind.is_empty() && kind.len() <= 5 && kind.bytes().all(|b| b.is_ascii_uppercase() || b == b'#')
}

fn is_cpu_list(cell: &str) -> bool {
    cell.bytes().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'-')) || cell.eq_ignore_ascii_case("n/a")
}
