//! Tables of samples with a `#` header: `nvidia-smi dmon` and `pmon`, and `dcgmi dmon`.
//!
//! The header names the columns; they differ per version and per option. `-` and `N/A` are "not available", never 0.
//! None of them prints a date, so that the rows make a series without a time axis.

use std::collections::BTreeMap;

use super::latest::{At, Latest};
use super::value;
use crate::fact::{Trust, Value};
use crate::intake::Part;
use crate::keys;
use crate::record::{Gpm, GpuSample, Sample, SampleSeries};
use crate::work::mean;

/// Rows whose cells become facts of their own; the rest is in the series.
const ROWS_KEPT: usize = 100;
/// GPUs of one table; a larger index is damage.
const GPUS_MAX: usize = 1024;

/// The tables that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    Dmon,
    Pmon,
    Dcgmi,
}

/// The columns that a header line names, and the tool that prints it.
fn header(line: &str) -> Option<(Tool, Vec<&str>)> {
    let columns: Vec<&str> = words(line.trim().strip_prefix('#')?);
    let has = |name: &str| columns.iter().any(|c| c.eq_ignore_ascii_case(name));
    let measured = ["pwr", "sm", "fb", "pclk", "mclk", "gtemp", "pviol", "sbecc", "rxpci"].iter().any(|n| has(n));
    if columns.first().is_some_and(|c| *c == "Entity") && columns.len() > 1 {
        Some((Tool::Dcgmi, columns))
    } else if has("gpu") && has("pid") && has("command") {
        Some((Tool::Pmon, columns))
    } else if has("gpu") && measured {
        Some((Tool::Dmon, columns))
    } else {
        None
    }
}

/// Blanks part the cells; with `--format csv` commas do too.
fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| c == ',' || c.is_whitespace()).filter(|w| !w.is_empty()).collect()
}

/// `-o DT` puts the date and the time before each row.
fn is_clock(column: &str) -> bool {
    column.eq_ignore_ascii_case("date") || column.eq_ignore_ascii_case("time")
}

fn begins(line: &str, tool: Tool) -> bool {
    line.trim_start().starts_with('#') && header(line).is_some_and(|h| h.0 == tool)
}

/// The header of `nvidia-smi dmon`.
pub(in crate::intake) fn starts_dmon(line: &str) -> bool {
    begins(line, Tool::Dmon)
}

/// The header of `nvidia-smi pmon`.
pub(in crate::intake) fn starts_pmon(line: &str) -> bool {
    begins(line, Tool::Pmon)
}

/// The header of `dcgmi dmon`.
pub(in crate::intake) fn starts_dcgmi_dmon(line: &str) -> bool {
    begins(line, Tool::Dcgmi)
}

/// True if there is a header of `nvidia-smi dmon`.
pub(in crate::intake) fn looks_like_dmon(head: &str) -> bool {
    head.lines().any(starts_dmon)
}

/// True if there is a header of `nvidia-smi pmon`.
pub(in crate::intake) fn looks_like_pmon(head: &str) -> bool {
    head.lines().any(starts_pmon)
}

/// True if there is a header of `dcgmi dmon`.
pub(in crate::intake) fn looks_like_dcgmi_dmon(head: &str) -> bool {
    head.lines().any(starts_dcgmi_dmon)
}

/// A row that fits the header above it.
struct Row<'t> {
    gpu: usize,
    /// Index into the headers.
    header: usize,
    /// Which table; tables are parted by other lines.
    table: usize,
    cells: Vec<&'t str>,
    at: At<'t>,
}

impl Row<'_> {
    fn number(&self, headers: &[Vec<&str>], column: &str) -> Option<f64> {
        let i = headers[self.header].iter().position(|c| c.eq_ignore_ascii_case(column))?;
        value::number(self.cells.get(i)?, value::NONE)
    }
}

struct Rows<'t> {
    headers: Vec<Vec<&'t str>>,
    first_header: Option<At<'t>>,
    /// Units by column, from the line below the header.
    units: BTreeMap<&'t str, &'t str>,
    rows: Vec<Row<'t>>,
    tables: usize,
    odd: Vec<u32>,
}

/// All rows of a tool.
fn rows(text: &str, tool: Tool) -> Rows<'_> {
    let mut out = Rows {
        headers: Vec::new(),
        first_header: None,
        units: BTreeMap::new(),
        rows: Vec::new(),
        tables: 0,
        odd: Vec::new(),
    };
    let open_end = !text.ends_with('\n');
    let last = text.lines().count();
    let mut parted = true;
    for (line, raw) in (1u32..).zip(text.lines()) {
        let at = At { line, quote: raw };
        if let Some((_, columns)) = header(raw).filter(|h| h.0 == tool) {
            out.tables += usize::from(parted);
            parted = false;
            out.first_header.get_or_insert(at);
            if out.headers.last() != Some(&columns) {
                out.headers.push(columns);
            }
            continue;
        }
        let Some(columns) = out.headers.last() else { continue };
        let mut words = words(raw);
        let Some(first) = words.first() else { continue };
        if let Some(units) = units(raw, tool, columns.len()) {
            out.units.extend(columns.iter().copied().zip(units));
            continue;
        }
        if tool == Tool::Dcgmi {
            // The entity is two words: "GPU 0".
            if *first != "GPU" || words.len() < 2 {
                parted |= !raw.trim().is_empty();
                continue;
            }
            words.remove(0);
        }
        let at_gpu = columns.iter().position(|c| c.eq_ignore_ascii_case("gpu") || *c == "Entity").unwrap_or(0);
        let gpu = words.get(at_gpu).and_then(|w| w.parse().ok()).filter(|g| *g < GPUS_MAX);
        let Some(gpu) = gpu else {
            parted = true;
            continue;
        };
        if open_end && line as usize == last {
            // Its last cell may be half a number, and the row is not whole.
            words.pop();
        } else if words.len() < columns.len() || words.len() > columns.len() && tool != Tool::Pmon {
            out.odd.push(line);
            continue;
        }
        // Where two programs write to one terminal, a row can hold pieces of the other's lines.
        let sound = |(column, cell): (&&str, &&str)| {
            is_clock(column) || value::is_absent(cell) || value::number(cell, value::NONE).is_some()
        };
        if tool != Tool::Pmon && !columns.iter().zip(&words).all(sound) {
            out.odd.push(line);
            continue;
        }
        out.rows.push(Row { gpu, header: out.headers.len() - 1, table: out.tables - 1, cells: words, at });
    }
    out
}

/// The cells of the units line: `# Idx W C …`, or `ID W C` with fewer cells than columns, which then cannot be matched.
fn units(raw: &str, tool: Tool, columns: usize) -> Option<Vec<&str>> {
    let line = if tool == Tool::Dcgmi { raw.trim() } else { raw.trim().strip_prefix('#')? };
    let words = words(line);
    let named = words.iter().any(|w| matches!(*w, "ID" | "Idx"));
    match named {
        true if words.len() == columns => Some(words),
        _ if named || tool != Tool::Dcgmi => Some(Vec::new()),
        _ => None,
    }
}

/// Units of the columns of `nvidia-smi dmon`, for a table whose units line is missing.
const UNITS: &[(&str, &str)] = &[
    ("pwr", "W"),
    ("gtemp", "C"),
    ("mtemp", "C"),
    ("temp", "C"),
    ("sm", "%"),
    ("mem", "%"),
    ("enc", "%"),
    ("dec", "%"),
    ("jpg", "%"),
    ("ofa", "%"),
    ("mclk", "MHz"),
    ("pclk", "MHz"),
    ("pviol", "%"),
    ("fb", "MB"),
    ("bar1", "MB"),
    ("ccpm", "MB"),
    ("rxpci", "MB/s"),
    ("txpci", "MB/s"),
    ("gract", "%"),
    ("smutil", "%"),
    ("smocc", "%"),
    ("intutil", "%"),
    ("mmaact", "%"),
    ("dfmat", "%"),
    ("hmmat", "%"),
    ("immat", "%"),
    ("dram", "%"),
    ("fp64", "%"),
    ("fp32", "%"),
    ("fp16", "%"),
    ("pcitx", "MiB/s"),
    ("pcirx", "MiB/s"),
];

/// The name of a column with its unit, as facts carry it.
fn with_unit(column: &str, printed: Option<&&str>) -> (String, &'static str) {
    let known = UNITS.iter().find(|(c, _)| c.eq_ignore_ascii_case(column)).map(|u| u.1);
    let unit = known.or(printed.copied()).unwrap_or_default();
    let (suffix, unit) = match unit.trim_start_matches("GPM:") {
        "W" => ("_w", "W"),
        "C" => ("_c", "°C"),
        "%" => ("_pct", "%"),
        "MHz" => ("_mhz", "MHz"),
        "MB" => ("_mib", "MiB"),
        "MB/s" | "MiB/s" => ("_mib_s", "MiB/s"),
        "GB/s" => ("_gb_s", "GB/s"),
        _ => ("", ""),
    };
    (format!("{}{suffix}", column.to_ascii_lowercase()), unit)
}

fn put_counts(table: &Rows<'_>, values: &mut Latest) {
    let (Some(at), Some(columns)) = (table.first_header, table.headers.first()) else { return };
    values.set(&keys::TABLE_COLUMNS, &[], Some(columns.clone()), at);
    values.set(&keys::TABLE_SAMPLES, &[], Some(table.rows.len()), at);
}

fn finish(table: &Rows<'_>, values: Latest, part: &mut Part) {
    if let Some(first) = table.odd.first() {
        part.note(Some(*first), format!("{} row(s) do not fit the header and were left out.", table.odd.len()));
    }
    if table.rows.len() > ROWS_KEPT {
        let n = table.rows.len();
        part.note(None, format!("{n} rows; the first {ROWS_KEPT} are listed as facts, all of them are judged."));
    }
    if table.rows.is_empty() {
        part.note(None, "There is no row in it.");
    }
    values.put(Trust::Text, part);
}

/// Reads `nvidia-smi dmon`.
pub(in crate::intake) fn dmon(text: &str, part: &mut Part) {
    let table = rows(text, Tool::Dmon);
    let mut values = Latest::default();
    put_counts(&table, &mut values);
    if let Some(at) = table.first_header {
        values.set(&keys::TABLE_ROWS, &[], Some(table.rows.len()), at);
    }
    let mut by_gpu: BTreeMap<usize, Vec<&Row<'_>>> = BTreeMap::new();
    for (k, row) in table.rows.iter().enumerate() {
        by_gpu.entry(row.gpu).or_default().push(row);
        if k >= ROWS_KEPT {
            continue;
        }
        for (column, cell) in table.headers[row.header].iter().zip(&row.cells) {
            if let Some(n) = value::number(cell, value::NONE).filter(|_| !is_clock(column)) {
                let (name, unit) = with_unit(column, table.units.get(column));
                values.set_path(format!("sample[{k}].{name}"), unit, Some(number(n)), row.at);
            }
        }
    }
    for (g, rows) in &by_gpu {
        values.set_path(format!("samples_gpu{g}"), "", Some(rows.len().into()), rows[0].at);
        for column in table.headers.iter().flatten().filter(|c| !c.eq_ignore_ascii_case("gpu") && !is_clock(c)) {
            let Some(mean) = mean(rows.iter().filter_map(|r| r.number(&table.headers, column))) else { continue };
            let (name, unit) = with_unit(column, table.units.get(column));
            values.set_path(format!("gpu[{g}].{name}"), unit, Some(number(mean)), rows[0].at);
        }
    }
    series(&table, None, part, |row| {
        let cell = |column: &str| row.number(&table.headers, column);
        GpuSample {
            i: row.gpu,
            // This "sm" is the utilisation that nvidia-smi prints elsewhere; SM activity is "smutil" of --gpm-metrics.
            util_pct: cell("sm"),
            mem_util_pct: cell("mem"),
            power_w: cell("pwr"),
            sm_mhz: cell("pclk"),
            mem_used_mib: cell("fb"),
            reasons: None,
            gpm: gpm(Gpm {
                gr_pct: cell("gract"),
                sm_pct: cell("smutil"),
                occupancy_pct: cell("smocc"),
                tensor_pct: cell("mmaact"),
                dram_pct: cell("dram"),
                fp32_pct: cell("fp32"),
                pcie_tx_mib_s: cell("pcitx"),
                pcie_rx_mib_s: cell("pcirx"),
            }),
        }
    });
    finish(&table, values, part);
}

/// The counters, if any was printed.
fn gpm(g: Gpm) -> Option<Gpm> {
    let cells = [g.gr_pct, g.sm_pct, g.occupancy_pct, g.tensor_pct, g.dram_pct, g.fp32_pct];
    (cells.iter().any(Option::is_some) || g.pcie_tx_mib_s.is_some() || g.pcie_rx_mib_s.is_some()).then_some(g)
}

/// Whole numbers stay whole.
fn number(n: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
    if n.fract() == 0.0 && n.abs() < 9e15 { Value::Int(n as i64) } else { Value::from(n) }
}

/// The rows of one table as a series: a sample ends where a GPU comes again.
fn series(table: &Rows<'_>, number: Option<usize>, part: &mut Part, read: impl Fn(&Row<'_>) -> GpuSample) {
    let mut series = SampleSeries { input: part.input, untimed: true, ..SampleSeries::default() };
    for row in table.rows.iter().filter(|r| number.is_none_or(|n| r.table == n)) {
        if series.samples.last().is_none_or(|s| s.gpu.iter().any(|g| g.i == row.gpu)) {
            series.samples.push(Sample { line: row.at.line, ..Sample::default() });
        }
        if let Some(sample) = series.samples.last_mut() {
            sample.gpu.push(read(row));
        }
    }
    if !series.samples.is_empty() {
        part.facts.samples.push(series);
    }
}

/// Reads `nvidia-smi pmon`.
pub(in crate::intake) fn pmon(text: &str, part: &mut Part) {
    let table = rows(text, Tool::Pmon);
    let mut values = Latest::default();
    put_counts(&table, &mut values);
    let mut seen: BTreeMap<(usize, usize), Vec<&Row<'_>>> = BTreeMap::new();
    let mut order: Vec<(usize, usize)> = Vec::new();
    for row in &table.rows {
        // An idle GPU has "-" in place of a process.
        let Some(pid) = cell(row, &table, "pid").and_then(|c| c.parse::<usize>().ok()) else { continue };
        let id = (row.gpu, pid);
        if !seen.contains_key(&id) {
            order.push(id);
        }
        seen.entry(id).or_default().push(row);
    }
    let mut on_gpu: BTreeMap<usize, usize> = BTreeMap::new();
    for id in order {
        let (g, pid) = id;
        let rows = &seen[&id];
        let at = rows[0].at;
        let k = on_gpu.entry(g).or_default();
        let index = [g, *k];
        *k += 1;
        let sm = mean(rows.iter().filter_map(|r| r.number(&table.headers, "sm")));
        let kind = rows.iter().find_map(|r| cell(r, &table, "type").and_then(value::text));
        let memory = rows.iter().rev().find_map(|r| r.number(&table.headers, "fb"));
        let command = rows.iter().find_map(|r| command(r, &table));
        values.set(&keys::PROC_PID, &index, Some(pid), at);
        values.set(&keys::PROC_TYPE, &index, kind, at);
        values.set(&keys::PROC_NAME, &index, command.as_deref(), at);
        values.set(&keys::PROC_MEMORY, &index, memory, at);
        values.set(&keys::PROC_SM, &index, sm, at);
        values.set(&keys::PID_SM, &[pid], sm, at);
        values.set(&keys::PID_KIND, &[pid], kind, at);
        values.set(&keys::PID_COMMAND, &[pid], command, at);
    }
    finish(&table, values, part);
}

fn cell<'t>(row: &Row<'t>, table: &Rows<'_>, column: &str) -> Option<&'t str> {
    let i = table.headers[row.header].iter().position(|c| c.eq_ignore_ascii_case(column))?;
    row.cells.get(i).copied()
}

/// The command is the last column and may hold blanks.
fn command(row: &Row<'_>, table: &Rows<'_>) -> Option<String> {
    let i = table.headers[row.header].iter().position(|c| c.eq_ignore_ascii_case("command"))?;
    let words = row.cells.get(i..)?.join(" ");
    value::text(&words).map(str::to_owned)
}

/// Reads `dcgmi dmon`.
pub(in crate::intake) fn dcgmi_dmon(text: &str, part: &mut Part) {
    let table = rows(text, Tool::Dcgmi);
    let mut values = Latest::default();
    put_counts(&table, &mut values);
    for (k, row) in table.rows.iter().enumerate().take(ROWS_KEPT) {
        for (column, cell) in table.headers[row.header].iter().zip(&row.cells).skip(1) {
            if let Some(n) = value::number(cell, value::NONE) {
                values.set_path(format!("sample[{k}].{column}"), "", Some(number(n)), row.at);
            }
        }
    }
    let names = ["first", "second", "third", "fourth", "fifth", "sixth"];
    for (n, name) in names.iter().enumerate().take(table.tables) {
        if table.tables > 1 {
            table_facts(&table, n, name, &mut values);
        }
        let h = &table.headers;
        series(&table, Some(n), part, |row| {
            let share = |column: &str| row.number(h, column).map(|v| v * 100.0);
            // Bytes a second.
            let rate = |column: &str| row.number(h, column).map(|v| v / f64::from(1 << 20));
            GpuSample {
                i: row.gpu,
                util_pct: row.number(h, "GPUTL"),
                mem_util_pct: row.number(h, "MCUTL"),
                power_w: row.number(h, "POWER"),
                sm_mhz: row.number(h, "SMCLK"),
                mem_used_mib: row.number(h, "FBUSD"),
                reasons: None,
                gpm: gpm(Gpm {
                    gr_pct: share("GRACT"),
                    sm_pct: share("SMACT"),
                    occupancy_pct: share("SMOCC"),
                    tensor_pct: share("TENSO"),
                    dram_pct: share("DRAMA"),
                    fp32_pct: share("FP32A"),
                    pcie_tx_mib_s: rate("PCITX"),
                    pcie_rx_mib_s: rate("PCIRX"),
                }),
            }
        });
    }
    finish(&table, values, part);
}

/// The columns of one of several tables as lists.
fn table_facts(table: &Rows<'_>, n: usize, name: &str, values: &mut Latest) {
    let rows: Vec<&Row<'_>> = table.rows.iter().filter(|r| r.table == n).collect();
    let Some(first) = rows.first() else { return };
    values.set_path(format!("samples_{name}_table"), "", Some(rows.len().into()), first.at);
    for column in table.headers[first.header].iter().skip(1) {
        let cells: Option<Vec<Value>> = rows.iter().map(|r| r.number(&table.headers, column).map(number)).collect();
        if let Some(cells) = cells.filter(|c| c.len() <= ROWS_KEPT) {
            let path = format!("{name}_table.{}", column.to_ascii_lowercase());
            values.set_path(path, "", Some(Value::List(cells)), first.at);
        }
    }
}
