//! The plain table of `nvidia-smi`, the lines that it prints instead of one, and the list of `nvidia-smi -L`.
//!
//! Columns move from driver to driver and with the width of the frame: rows are cut at `|`, and a cell is read by its
//! words. A cell without its closing `|` was cut off and is not read. The table rounds and cuts; it is trusted last.

use super::latest::{At, Latest};
use super::nvlink;
use super::value::{self, CELSIUS, MIB, PCT, WATT};
use crate::fact::{Trust, Value, bus_id};
use crate::intake::Part;
use crate::keys;

/// What nvidia-smi prints instead of a table: text, and NVML's code for it (nvml.h, `nvmlReturn_enum`).
const FAILURES: &[(&str, i64)] = &[
    ("couldn't communicate with the NVIDIA driver", 9),
    ("Driver Not Loaded", 9),
    ("Driver/library version mismatch", 18),
    ("GPU access blocked by the operating system", 17),
    ("Insufficient Permissions", 4),
    ("GPU is lost", 15),
    ("Unknown Error", 999),
];

/// GPUs that one table can list; a larger number is damage.
const GPUS_MAX: usize = 1024;

/// True for the table, for a part of it, and for the lines printed instead of it.
pub(in crate::intake) fn looks_like_table(head: &str) -> bool {
    head.lines().any(|line| {
        let line = line.trim();
        is_header(line)
            || failure(line).is_some()
            || unreachable(line).is_some()
            || is_board_row(line)
            || nvlink::heading(line).is_some_and(|h| h.2.is_some())
    })
}

/// The header of a table.
pub(in crate::intake) fn starts_table(line: &str) -> bool {
    line.starts_with('|') && is_header(line)
}

fn is_header(line: &str) -> bool {
    line.contains("NVIDIA-SMI") && (line.contains("Driver Version") || line.contains("KMD Version"))
}

/// `| 33%   49C    P2    43W / 180W |   7433MiB /  8116MiB |      0%      Default |`
fn is_board_row(line: &str) -> bool {
    let cells = cells(line);
    cells.len() == 3 && memory(cells[1]).is_some() && cells[0].split_whitespace().any(|w| w == "/")
}

/// The closed cells of a row.
fn cells(line: &str) -> Vec<&str> {
    let Some(row) = line.trim().strip_prefix('|') else { return Vec::new() };
    let mut cells: Vec<&str> = row.split('|').collect();
    cells.pop();
    cells
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    Boards,
    Mig,
    Processes,
}

/// Reads it.
pub(in crate::intake) fn table(text: &str, part: &mut Part) {
    let mut t = Table::default();
    let last = text.lines().count();
    for (line, raw) in (1u32..).zip(text.lines()) {
        t.cut = !text.ends_with('\n') && line as usize == last;
        t.line(raw, At { line, quote: raw });
    }
    t.finish(part);
}

struct Table<'t> {
    values: Latest,
    tables: usize,
    inside: Frame,
    /// The GPU whose first row was the line before, or whose second row was.
    board: Option<(usize, u8)>,
    /// The second column is the driver model, not the persistence mode.
    driver_model: bool,
    /// The process box has columns for MIG instances, and one for the type.
    columns: (bool, bool),
    migs: Vec<(usize, usize, At<'t>)>,
    processes: Vec<Process<'t>>,
    /// Where the process box ended with its lower edge, or says that there is none.
    processes_end: Option<At<'t>>,
    migs_whole: bool,
    /// Rows of a MIG device are missing.
    migs_broken: bool,
    /// What the line before was.
    before: Before,
    lost: Vec<(&'t str, At<'t>)>,
    /// The present line may be the beginning of a longer one.
    cut: bool,
}

/// What a line is, for the line after it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// An edge of a box.
    Edge,
    /// The first row of a MIG device.
    MigRow,
    Other,
}

struct Process<'t> {
    gpu: usize,
    pid: i64,
    kind: Option<&'t str>,
    name: String,
    memory: &'t str,
    instance: [Option<i64>; 2],
    at: At<'t>,
}

impl Default for Table<'_> {
    fn default() -> Self {
        Self {
            values: Latest::default(),
            tables: 0,
            inside: Frame::Boards,
            board: None,
            driver_model: false,
            columns: (true, true),
            migs: Vec::new(),
            processes: Vec::new(),
            processes_end: None,
            migs_whole: false,
            migs_broken: false,
            before: Before::Other,
            lost: Vec::new(),
            cut: false,
        }
    }
}

impl<'t> Table<'t> {
    fn line(&mut self, raw: &'t str, at: At<'t>) {
        let line = raw.trim();
        let before = std::mem::replace(&mut self.before, Before::Other);
        if is_header(line) {
            self.tables += 1;
            self.inside = Frame::Boards;
            self.board = None;
            self.migs.clear();
            self.processes.clear();
            self.processes_end = None;
            self.migs_whole = false;
            self.migs_broken = false;
            self.header(line, at);
        } else if line.starts_with('|') {
            self.row(line, before, at);
        } else if line.starts_with('+') {
            self.board = None;
            self.migs_broken |= self.inside == Frame::Mig && before == Before::Edge && !self.migs.is_empty();
            self.before = Before::Edge;
            // The lower edge of a box; the upper one and the one below the column names come before its rows.
            if self.inside == Frame::Processes && !self.processes.is_empty() {
                self.processes_end = Some(at);
            }
        } else if line.is_empty() {
            self.board = None;
            self.migs_whole |= self.inside == Frame::Mig && !self.migs.is_empty();
        } else {
            self.message(line, at);
        }
    }

    fn header(&mut self, line: &str, at: At<'_>) {
        let after = |label: &str| {
            let rest = &line[line.find(label)? + label.len()..];
            let word = rest.split_whitespace().next()?;
            // A word at the very end of the line may be cut.
            let whole = rest.trim_start().len() > word.len() && word != "|";
            whole.then(|| value::text(word)).flatten()
        };
        let tool = after("NVIDIA-SMI");
        let driver = after(" Driver Version:");
        let kmd = after("KMD Version:");
        let umd = after("CUDA UMD Version:");
        self.values.set(&keys::TOOL_VERSION, &[], tool, at);
        self.values.set(&keys::DRIVER, &[], driver.or(kmd), at);
        self.values.set(&keys::CUDA_VERSION, &[], after("CUDA Version:").or(umd), at);
        if kmd.is_some() {
            self.values.set(&keys::KMD_VERSION, &[], kmd, at);
        }
        if umd.is_some() {
            self.values.set(&keys::CUDA_UMD_VERSION, &[], umd, at);
        }
        if let (Some(tool), Some(driver)) = (tool, driver)
            && is_wsl2(tool, driver)
        {
            self.values.set(&keys::WSL2, &[], Some(true), at);
        }
    }

    fn row(&mut self, line: &'t str, before: Before, at: At<'t>) {
        if line.contains("MIG devices:") || line.contains(" GI ") && line.contains(" MIG ") {
            self.inside = Frame::Mig;
            return;
        }
        if line.contains("rocesses:") {
            self.migs_whole |= self.inside == Frame::Mig;
            self.inside = Frame::Processes;
            return;
        }
        if line.contains(" PID ") {
            self.inside = Frame::Processes;
        }
        let cells = cells(line);
        match self.inside {
            Frame::Boards => self.board_row(&cells, line, at),
            Frame::Mig => self.mig_row(&cells, line, before, at),
            Frame::Processes => self.process_row(&cells, line, at),
        }
    }

    fn board_row(&mut self, cells: &[&str], line: &str, at: At<'_>) {
        if line.contains("Bus-Id") {
            self.driver_model = line.contains("Driver-Model") || line.contains("TCC/WDDM");
            return;
        }
        let Some(first) = cells.first() else { return };
        // A row of the process box has one cell only.
        if let Some((g, name, mode)) = board(first).filter(|_| cells.len() > 1) {
            self.board = Some((g, 1));
            self.first_row(g, name, mode, &cells[1..], at);
            return;
        }
        // The second and third row belong to the first only where nothing stands between them.
        match self.board {
            Some((g, 1)) => {
                self.board = Some((g, 2));
                if cells.len() > 1 && cells[..2].iter().all(|c| c.trim().is_empty()) {
                    self.third_row(g, cells, at);
                } else {
                    self.second_row(g, cells, at);
                }
            }
            Some((g, 2)) => {
                self.board = None;
                self.third_row(g, cells, at);
            }
            _ => {}
        }
    }

    fn first_row(&mut self, g: usize, name: &str, mode: &str, rest: &[&str], at: At<'_>) {
        let v = &mut self.values;
        if name.ends_with("...") {
            v.set(&keys::GPU_NAME_TRUNCATED, &[g], Some(name), at);
        } else {
            v.set(&keys::GPU_NAME, &[g], value::text(name), at);
        }
        let models = ["WDDM", "TCC", "MCDM"];
        if self.driver_model || models.contains(&mode) {
            v.set(&keys::GPU_DRIVER_MODEL, &[g], value::text(mode), at);
        } else {
            v.set(&keys::GPU_PERSISTENCE, &[g], value::text(mode), at);
        }
        let mut words = rest.first().map(|c| c.split_whitespace()).into_iter().flatten();
        if let Some(bus) = words.next().filter(|b| bus_id(b).is_some()) {
            v.set(&keys::GPU_BUS_ID, &[g], Some(bus), at);
            v.set(&keys::GPU_DISPLAY_ACTIVE, &[g], words.next().and_then(value::text), at);
        }
        let Some(ecc) = rest.get(1) else { return };
        // MIG boards print "On" and boards with ECC switched off "Off": no number then.
        let count = value::whole(ecc, value::NONE).map(Value::from);
        let word = value::text(ecc).filter(|w| matches!(*w, "On" | "Off")).map(Value::from);
        v.set(&keys::ECC_UNCORR, &[g], count.or(word), at);
    }

    fn second_row(&mut self, g: usize, cells: &[&str], at: At<'_>) {
        let v = &mut self.values;
        let words: Vec<&str> = cells.first().map(|c| c.split_whitespace().collect()).unwrap_or_default();
        if let Some(slash) = words.iter().position(|w| *w == "/").filter(|s| *s >= 4) {
            let [fan, temperature, perf, draw] = [0, 1, 2, slash - 1].map(|i| words[i]);
            v.set(&keys::GPU_FAN, &[g], value::number(fan, PCT), at);
            v.set(&keys::GPU_TEMPERATURE, &[g], value::number(temperature, CELSIUS), at);
            v.set(&keys::GPU_PSTATE, &[g], value::pstate(perf), at);
            v.set(&keys::GPU_POWER, &[g], value::number(draw, WATT), at);
            let limit = words.get(slash + 1).and_then(|w| value::number(w, WATT));
            v.set(&keys::GPU_POWER_LIMIT, &[g], limit, at);
        }
        if let Some((used, total)) = cells.get(1).and_then(|c| memory(c)) {
            v.set(&keys::GPU_MEMORY_USED, &[g], Some(used), at);
            v.set(&keys::GPU_MEMORY_TOTAL, &[g], Some(total), at);
        }
        let Some(load) = cells.get(2) else { return };
        let (util, mode) = load.trim().split_once(char::is_whitespace).unwrap_or((load, ""));
        v.set(&keys::GPU_UTIL, &[g], value::number(util, PCT), at);
        v.set(&keys::GPU_COMPUTE_MODE, &[g], compute_mode(mode), at);
    }

    fn third_row(&mut self, g: usize, cells: &[&str], at: At<'_>) {
        if cells.len() != 3 || !cells[..2].iter().all(|c| c.trim().is_empty()) {
            return;
        }
        // A star says that the mode changes with the next reset.
        let mode = cells[2].trim().trim_end_matches('*');
        self.values.set(&keys::GPU_MIG_MODE, &[g], value::text(mode), at);
    }

    fn mig_row(&mut self, cells: &[&str], line: &str, before: Before, at: At<'t>) {
        if line.contains("No MIG devices found") {
            self.migs_whole = true;
            return;
        }
        let Some(first) = cells.first() else { return };
        let ids: Option<Vec<usize>> = first.split_whitespace().map(|w| w.parse().ok()).collect();
        let Some(&[g, gi, ci, m]) = ids.as_deref() else {
            // The second row of a device: its first one must stand above it.
            let second = first.trim().is_empty() && cells.get(1).is_some_and(|c| memory(c).is_some());
            self.migs_broken |= second && before != Before::MigRow;
            return;
        };
        self.before = Before::MigRow;
        if g >= GPUS_MAX || m >= GPUS_MAX {
            return;
        }
        self.migs.push((g, m, at));
        let v = &mut self.values;
        v.set(&keys::MIG_GI, &[g, m], Some(gi), at);
        v.set(&keys::MIG_CI, &[g, m], Some(ci), at);
        if let Some((used, total)) = cells.get(1).and_then(|c| memory(c)) {
            v.set(&keys::MIG_MEMORY_USED, &[g, m], Some(used), at);
            v.set(&keys::MIG_MEMORY_TOTAL, &[g, m], Some(total), at);
        }
        let sms = cells.get(2).and_then(|c| c.split_whitespace().next()).and_then(|w| value::whole(w, value::NONE));
        v.set(&keys::MIG_SM_COUNT, &[g, m], sms, at);
    }

    fn process_row(&mut self, cells: &[&'t str], line: &str, at: At<'t>) {
        if line.contains("PID") {
            self.columns = (line.contains("GI"), line.contains("Type"));
            return;
        }
        if line.contains("No running") {
            self.processes_end = Some(at);
            return;
        }
        let [cell] = cells else { return };
        let words: Vec<&'t str> = cell.split_whitespace().collect();
        let (instances, typed) = self.columns;
        let lead = 1 + if instances { 2 } else { 0 };
        let tail = lead + 1 + usize::from(typed);
        if words.len() <= tail {
            return;
        }
        let (Ok(gpu), Ok(pid)) = (words[0].parse::<usize>(), words[lead].parse::<i64>()) else { return };
        if gpu >= GPUS_MAX {
            return;
        }
        let instance = |i: usize| instances.then(|| value::whole(words[i], value::NONE)).flatten();
        self.processes.push(Process {
            gpu,
            pid,
            kind: typed.then(|| words[lead + 1]),
            name: words[tail..words.len() - 1].join(" "),
            memory: words[words.len() - 1],
            instance: [instance(1), instance(2)],
            at,
        });
    }

    /// A line outside of every box.
    fn message(&mut self, line: &'t str, at: At<'t>) {
        if let Some((bus, lost)) = unreachable(line) {
            if lost {
                self.lost.push((bus, at));
            }
            return;
        }
        if let Some((g, name, Some(uuid))) = nvlink::heading(line) {
            // `nvidia-smi -L`
            self.values.set(&keys::GPU_NAME, &[g], value::text(name), at);
            self.values.set(&keys::GPU_UUID, &[g], value::text(uuid), at);
        } else if let Some((code, text)) = failure(line) {
            self.values.set(&keys::NVML_ERROR, &[], Some(code), at);
            self.values.set(&keys::NVML_ERROR_TEXT, &[], Some(text).filter(|_| !self.cut), at);
        } else if let Some(version) = line.strip_prefix("NVML library version:") {
            self.values.set(&keys::NVML_LIBRARY, &[], value::text(version).filter(|_| !self.cut), at);
        } else if line == "No devices were found" {
            self.values.set(&keys::NVML_GPU_COUNT, &[], Some(0i64), at);
        }
    }

    fn finish(mut self, part: &mut Part) {
        self.mig_counts();
        self.process_facts();
        if let Some((_, at)) = self.lost.first() {
            let buses: Vec<&str> = self.lost.iter().map(|l| l.0).collect();
            self.values.set(&keys::LOST_GPUS, &[], Some(buses), *at);
        }
        if self.tables > 1 {
            let n = self.tables;
            part.note(None, format!("It holds {n} tables, one after the other; the latest of each value holds."));
        }
        if self.values.is_empty() {
            part.note(None, "No value was found in it.");
        }
        self.values.put(Trust::Table, part);
    }

    fn mig_counts(&mut self) {
        if !self.migs_whole || self.migs_broken {
            return;
        }
        for g in self.migs.iter().map(|m| m.0).collect::<std::collections::BTreeSet<_>>() {
            let of: Vec<_> = self.migs.iter().filter(|m| m.0 == g).collect();
            if of.iter().enumerate().all(|(i, m)| i == m.1) {
                self.values.set(&keys::GPU_MIG_DEVICES, &[g], Some(of.len()), of[0].2);
            }
        }
    }

    fn process_facts(&mut self) {
        let v = &mut self.values;
        let mut at_gpu = std::collections::BTreeMap::<usize, usize>::new();
        for p in &self.processes {
            let k = at_gpu.entry(p.gpu).or_default();
            let index = [p.gpu, *k];
            *k += 1;
            v.set(&keys::PROC_PID, &index, Some(p.pid), p.at);
            v.set(&keys::PROC_TYPE, &index, p.kind, p.at);
            v.set(&keys::PROC_NAME, &index, value::text(&p.name), p.at);
            let memory = value::number(p.memory, MIB);
            v.set(&keys::PROC_MEMORY, &index, memory, p.at);
            v.set(&keys::PROC_GI, &index, p.instance[0], p.at);
            v.set(&keys::PROC_CI, &index, p.instance[1], p.at);
            let Ok(pid) = usize::try_from(p.pid) else { continue };
            v.set(&keys::PID_TYPE, &[pid], p.kind, p.at);
            let on_one = self.processes.iter().filter(|q| q.pid == p.pid).count() == 1;
            v.set(&keys::PID_MEMORY, &[pid], memory.filter(|_| on_one), p.at);
        }
        if let Some(end) = self.processes_end {
            let at = self.processes.first().map_or(end, |p| p.at);
            v.set(&keys::PROCESSES, &[], Some(self.processes.len()), at);
        }
    }
}

/// Index, name and third column of a board's first cell.
fn board(cell: &str) -> Option<(usize, &str, &str)> {
    let cell = cell.trim();
    let (index, rest) = cell.split_once(char::is_whitespace)?;
    let g: usize = index.parse().ok().filter(|g| *g < GPUS_MAX)?;
    let (name, mode) = rest.trim().rsplit_once(char::is_whitespace)?;
    let known = ["On", "Off", "WDDM", "TCC", "MCDM", "N/A", "ERR!"];
    known.contains(&mode).then(|| (g, name.trim_end(), mode))
}

/// `7433MiB /  8116MiB`, with a share before it in old drivers.
fn memory(cell: &str) -> Option<(f64, f64)> {
    let (used, total) = cell.split_once('/')?;
    Some((value::number(used.split_whitespace().last()?, MIB)?, value::number(total.trim(), MIB)?))
}

/// The table's short form of the mode in the words of `nvidia-smi -q`.
fn compute_mode(printed: &str) -> Option<&str> {
    Some(match value::text(printed)? {
        "E. Process" => "Exclusive_Process",
        "E. Thread" => "Exclusive_Thread",
        other => other,
    })
}

/// Under WSL2 a Linux tool (three numbers) talks to a Windows driver (two). Up to 3xx the tool had a version of its own.
fn is_wsl2(tool: &str, driver: &str) -> bool {
    let numbers = |v: &str| v.split('.').map(|n| n.parse::<u32>().ok()).collect::<Option<Vec<_>>>();
    let (Some(tool), Some(driver)) = (numbers(tool), numbers(driver)) else { return false };
    // 465 is the first branch with CUDA on WSL2.
    tool.len() == 3 && driver.len() == 2 && tool[0] >= 465 && tool[..2] != driver[..]
}

/// The bus id in "Unable to determine the device handle for GPU 0000:43:00.0: GPU is lost", and whether that means that
/// the GPU does not answer.
fn unreachable(line: &str) -> Option<(&str, bool)> {
    let rest = &line[line.find("Unable to determine the device handle for")?..];
    let from = rest.char_indices().filter(|(_, c)| c.is_ascii_hexdigit()).map(|(i, _)| i);
    let bus = from.filter_map(|i| {
        let word = &rest[i..];
        let end = word.find(|c: char| !(c.is_ascii_hexdigit() || matches!(c, ':' | '.'))).unwrap_or(word.len());
        let word = word[..end].trim_end_matches(':');
        (word.matches(':').count() == 2 && word.contains('.') && bus_id(word).is_some()).then_some(word)
    });
    let bus = bus.max_by_key(|b| b.len())?;
    let lost = ["GPU is lost", "GPU requires reset", "Unknown Error"].iter().any(|m| rest.contains(m));
    Some((bus, lost))
}

/// NVML's code and words in a line that nvidia-smi prints instead of a table.
fn failure(line: &str) -> Option<(i64, &str)> {
    let at = line
        .find("Failed to initialize NVML:")
        .map(|at| (at, "Failed to initialize NVML:".len()))
        .or_else(|| line.find("NVIDIA-SMI has failed because it").map(|at| (at, 0)))?;
    let text = line[at.0 + at.1..].trim();
    let code = FAILURES.iter().find(|(t, _)| text.contains(t))?.1;
    Some((code, text))
}
