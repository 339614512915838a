//! `nvidia-smi --query-gpu=… --format=csv`: columns by the names in the header, in any order and number, with or without
//! units. Without a header the columns cannot be told apart, and nothing is read.

use std::collections::BTreeMap;

use super::field::{Form, Found, Mark, Scope, Sink, find};
use super::latest::{At, Latest};
use super::reading::{REASONS, whole_reasons};
use super::value;
use crate::fact::{Trust, Value, bus_id, fill};
use crate::intake::Part;
use crate::keys;

/// GPUs that a query can list; a larger index is damage.
const GPUS_MAX: usize = 1024;

/// Rows of one query are printed within this time; a longer pause is that of `-l`.
const ROUND_MS: f64 = 50.0;

/// True if a line is a header with at least two known columns, or the only column is one that nothing else is called.
pub(in crate::intake) fn looks_like_csv(head: &str) -> bool {
    head.lines().take(200).any(starts_csv)
}

/// A header.
pub(in crate::intake) fn starts_csv(line: &str) -> bool {
    // Every line of every text is asked: the first cell of a header is one word, apart from its unit.
    let first = line.split(',').next().unwrap_or(line).trim();
    let word = first.split_once(" [").map_or(first, |(w, _)| w);
    if word.is_empty()
        || word.len() > 80
        || !word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'"'))
    {
        return false;
    }
    let mut columns = 0;
    let mut known = 0;
    for cell in line.split(',') {
        let name = column(cell);
        // "name", "index" and "count" head many a table, "pid" hardly one with other columns of ours.
        known += u32::from((name.contains(['.', '_']) || name == "pid") && find(Form::Csv, &name).is_some());
        columns += 1;
    }
    known >= 2 || known == 1 && columns <= 3
}

/// The name of a column in the form of the table of fields.
fn column(cell: &str) -> String {
    let name = cell.trim().trim_matches('"');
    let name = name.split_once(" [").map_or(name, |(n, _)| n);
    name.trim().to_ascii_lowercase()
}

/// Reads it.
pub(in crate::intake) fn csv(text: &str, part: &mut Part) {
    let mut columns: Vec<Option<Found>> = Vec::new();
    let mut values = Latest::default();
    let mut rows = Rows::default();
    let mut odd: Option<(u32, usize)> = None;
    let open_end = !text.ends_with('\n');
    let last = text.lines().count();
    for (line, raw) in (1u32..).zip(text.lines()) {
        let at = At { line, quote: raw };
        if raw.trim().is_empty() {
            continue;
        }
        let cut = open_end && line as usize == last;
        if starts_csv(raw) && !cut {
            columns = raw.split(',').map(|c| find(Form::Csv, &column(c))).collect();
            values.set(&keys::FIELDS, &[], Some(columns.len()), at);
            rows.header();
            continue;
        }
        let cells: Vec<&str> = raw.split(',').map(|c| c.trim().trim_matches('"')).collect();
        // More cells than columns: a comma inside of one, nobody knows which.
        if columns.is_empty() || cells.len() > columns.len() || cells.len() < 2 && columns.len() > 1 {
            let n = odd.map_or(0, |o| o.1);
            odd = odd.or(Some((line, 0))).map(|o| (o.0, n + 1));
            continue;
        }
        // The last cell of a short row, or of an input without a line end, may be half a value.
        let broken = cells.len() < columns.len() || cut;
        let end = cells.len() - 1;
        let cells: Vec<Cell<'_>> = columns
            .iter()
            .zip(&cells)
            .enumerate()
            .filter_map(|(i, (found, cell))| Some(((*found)?, *cell, broken && i == end)))
            .collect();
        // Where there is one column only, any line could be a row of it.
        let sound = |c: &Cell<'_>| value::is_absent(c.1) || c.0.field().sink.read_bare(c.1, false).is_some();
        if columns.iter().flatten().any(|c| c.field().scope == Scope::Process) {
            process(&cells, at, &mut values);
        } else if cells.len() > 1 || cells.iter().all(sound) {
            rows.add(&cells, at, &mut values);
        }
    }
    if let Some((line, n)) = odd {
        part.note(Some(line), format!("{n} line(s) do not fit the header and were left out."));
    }
    if rows.lost > 0 {
        let n = rows.lost;
        part.note(None, format!("{n} row(s) do not say of which GPU they are; query index or pci.bus_id too."));
    }
    if let [host] = rows.hosts.as_slice() {
        part.host.get_or_insert_with(|| host.clone());
    }
    if values.is_empty() {
        part.note(None, "No value was found in it.");
    }
    values.put(Trust::Csv, part);
}

/// A known column, its cell, and whether the cell may be half a value.
type Cell<'t> = (Found, &'t str, bool);

fn text_of<'t>(cells: &[Cell<'t>], path: &str) -> Option<&'t str> {
    let of = cells.iter().find(|(f, _, cut)| f.field().sink.key().is_some_and(|k| k.0 == path) && !cut);
    of.and_then(|(_, t, _)| value::text(t))
}

fn mark_of<'t>(cells: &[Cell<'t>], mark: Mark) -> Option<&'t str> {
    let of = cells.iter().find(|(f, _, cut)| matches!(f.field().sink, Sink::Mark(m) if m == mark) && !cut);
    of.map(|(_, t, _)| value::bare(t))
}

/// Gives each row its GPU.
#[derive(Default)]
struct Rows {
    by_bus: BTreeMap<String, usize>,
    by_uuid: BTreeMap<String, usize>,
    /// Rows without index, address or UUID since the header or the last pause, and the time of the last one.
    anonymous: usize,
    last_ms: Option<f64>,
    /// Rows whose GPU cannot be told.
    lost: u32,
    hosts: Vec<String>,
}

impl Rows {
    fn add(&mut self, cells: &[Cell<'_>], at: At<'_>, values: &mut Latest) {
        if let Some(host) = mark_of(cells, Mark::Host).and_then(value::text)
            && !self.hosts.iter().any(|h| h == host)
        {
            self.hosts.push(host.to_owned());
        }
        let Some(g) = self.place(cells) else {
            self.lost += 1;
            return;
        };
        for (found, cell, cut) in cells {
            take(*found, cell, *cut, g, at, values);
        }
        reasons(cells, g, at, values);
    }

    /// The GPU's index: as printed, else that of the same address or UUID, else its place within a round of rows.
    fn place(&mut self, cells: &[Cell<'_>]) -> Option<usize> {
        if let Some(index) = mark_of(cells, Mark::GpuIndex) {
            return index.parse().ok().filter(|g| *g < GPUS_MAX);
        }
        let next = |known: &mut BTreeMap<String, usize>, id: String| {
            let n = known.len();
            *known.entry(id).or_insert(n)
        };
        if let Some(bus) = text_of(cells, keys::GPU_BUS_ID.path).and_then(bus_id) {
            return Some(next(&mut self.by_bus, bus));
        }
        if let Some(uuid) = text_of(cells, keys::GPU_UUID.path) {
            return Some(next(&mut self.by_uuid, uuid.to_owned()));
        }
        let row = self.anonymous;
        self.anonymous += 1;
        let time = text_of(cells, keys::TIMESTAMP.path).and_then(time_ms);
        let count = text_of(cells, keys::ATTACHED_GPUS.path).and_then(|t| value::whole(t, value::NONE));
        if let Some(n) = count.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0) {
            return Some(row % n);
        }
        let Some(now) = time else {
            // Without a time nothing tells the next GPU from the next sample.
            return (row == 0).then_some(0);
        };
        let before = self.last_ms.replace(now);
        if before.is_some_and(|before| (now - before).abs() >= ROUND_MS) {
            self.anonymous = 1;
            return Some(0);
        }
        Some(row)
    }

    /// A header begins a new round.
    fn header(&mut self) {
        self.anonymous = 0;
        self.last_ms = None;
    }
}

/// Milliseconds since midnight in `2026/12/01 04:26:24.397`.
fn time_ms(stamp: &str) -> Option<f64> {
    let clock = stamp.split_whitespace().nth(1)?;
    let mut ms = 0.0;
    let mut parts = 0;
    for part in clock.split(':') {
        ms = ms * 60.0 + part.parse::<f64>().ok()?;
        parts += 1;
    }
    (parts == 3).then_some(ms * 1000.0)
}

/// A process of `--query-compute-apps`; its GPU is named, not numbered, and may be unknown here.
fn process(cells: &[Cell<'_>], at: At<'_>, values: &mut Latest) {
    let read = |path: &str| {
        let of = cells.iter().find(|(f, ..)| f.field().sink.key().is_some_and(|k| k.0 == path));
        of.and_then(|(f, text, cut)| f.field().sink.read_bare(text, *cut))
    };
    let Some(Value::Int(pid)) = read(keys::PROC_PID.path) else { return };
    let Ok(pid) = usize::try_from(pid) else { return };
    values.set(&keys::PID_NAME, &[pid], read(keys::PROC_NAME.path), at);
    values.set(&keys::PID_MEMORY, &[pid], read(keys::PROC_MEMORY.path), at);
}

fn take(found: Found, cell: &str, cut: bool, g: usize, at: At<'_>, values: &mut Latest) {
    let field = found.field();
    let Some((pattern, unit)) = field.sink.key() else { return };
    if value::is_lost(cell) {
        values.set(&keys::GPU_LOST, &[g], Some(true), at);
    }
    if matches!(field.sink, Sink::ReasonMask) {
        let mask = mask(cell).filter(|_| !cut);
        values.set(&keys::GPU_REASON_MASK, &[g], mask.map(|_| cell), at);
    }
    if pattern == keys::GPU_THROTTLE.path {
        return;
    }
    let value = field.sink.read_bare(cell, cut);
    if value.is_some() || !cut {
        let index: &[usize] = if field.scope == Scope::Node { &[] } else { &[g] };
        values.set_path(fill(pattern, index), unit, value, at);
    }
}

fn mask(cell: &str) -> Option<u64> {
    u64::from_str_radix(cell.strip_prefix("0x")?, 16).ok()
}

/// The active reasons from the mask, else from the single columns.
fn reasons(cells: &[Cell<'_>], g: usize, at: At<'_>, values: &mut Latest) {
    let column = cells.iter().find(|(f, _, cut)| matches!(f.field().sink, Sink::ReasonMask) && !cut);
    if let Some(bits) = column.and_then(|(_, cell, _)| mask(cell)) {
        let active: Vec<&str> = (0u32..).zip(REASONS).filter(|(i, _)| bits >> i & 1 == 1).map(|(_, r)| r).collect();
        values.set(&keys::GPU_THROTTLE, &[g], Some(active), at);
        return;
    }
    let seen: Vec<(&'static str, bool)> = cells
        .iter()
        .filter_map(|(f, cell, _)| match f.field().sink {
            Sink::Reason(name) => Some((name, value::yes_no(cell)?)),
            _ => None,
        })
        .collect();
    let active: Vec<&str> = REASONS.iter().copied().filter(|r| seen.contains(&(r, true))).collect();
    if !active.is_empty() || whole_reasons(&seen) {
        values.set(&keys::GPU_THROTTLE, &[g], Some(active), at);
    }
}
