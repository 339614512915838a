//! Nsight Systems: the text of `nsys stats`, and (with the feature `sqlite`) the SQLite export.
//!
//! The text has sums and no timeline: what needs to know when something ran stays unknown.

use super::Part;
use super::decode::Decoded;
use crate::trace::record::GpuKind;
use crate::trace::{self, Sums};

pub(super) fn looks_like_stats(head: &str) -> bool {
    head.lines().any(|l| l.trim_start().starts_with("** ") && l.trim_end().ends_with("):") && section(l).is_some())
        || head.contains("Processing [") && head.contains("/reports/") && head.contains(".sqlite")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Kernels,
    CopiesByTime,
    CopiesBySize,
    Api,
    Other,
}

/// ` ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):`
fn section(line: &str) -> Option<Section> {
    let report = line.trim().strip_prefix("** ")?.strip_suffix(':')?;
    let name = report.rsplit_once('(')?.1.strip_suffix(')')?;
    Some(match name {
        "cuda_gpu_kern_sum" | "gpukernsum" => Section::Kernels,
        "cuda_gpu_mem_time_sum" | "gpumemtimesum" => Section::CopiesByTime,
        "cuda_gpu_mem_size_sum" | "gpumemsizesum" => Section::CopiesBySize,
        "cuda_api_sum" | "cudaapisum" => Section::Api,
        _ if name.ends_with("sum") => Section::Other,
        _ => return None,
    })
}

/// Reads the tables of `nsys stats`.
pub(super) fn stats(text: &str, part: &mut Part) {
    let mut at = Section::Other;
    let mut sums = Sums::default();
    for line in text.lines() {
        if let Some(s) = section(line) {
            at = s;
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |i: usize| words.get(i).and_then(|w| w.replace(',', "").parse::<f64>().ok());
        // Time (%), total, count, avg, med, min, max, stddev, name
        let name = |from: usize| words.get(from..).map(|w| w.join(" ")).unwrap_or_default();
        match (at, number(0), number(1), number(2)) {
            (Section::Kernels, Some(_), Some(total), Some(count)) if words.len() > 8 => {
                sums.activities.push((GpuKind::Kernel, name(8), total, whole(count), 0));
            }
            (Section::CopiesByTime, Some(_), Some(total), Some(count)) if words.len() > 8 => {
                let op = name(8);
                let kind = if op.contains("memset") { GpuKind::Fill } else { GpuKind::Copy };
                sums.activities.push((kind, op, total, whole(count), 0));
            }
            (Section::CopiesBySize, Some(mb), Some(_), Some(_)) if words.len() > 7 => {
                let op = name(7);
                if let Some(a) = sums.activities.iter_mut().find(|a| a.1 == op && a.0 != GpuKind::Kernel) {
                    a.4 = whole(mb * 1e6);
                }
            }
            (Section::Api, Some(_), Some(total), Some(count)) if words.len() > 8 => {
                sums.calls.push((name(8), total, whole(count)));
            }
            _ => {}
        }
    }
    if sums.activities.is_empty() {
        part.note(None, "There is no table of kernels or copies in it.");
        return;
    }
    if sums.calls.iter().any(|c| c.0.starts_with("cudaGraphLaunch")) {
        part.note(
            None,
            "CUDA graphs were launched; their kernels are not in these tables (nsys profile --cuda-graph-trace=node).",
        );
    }
    trace::file_sums(&sums, part);
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts and bytes of a table, checked to be positive"
)]
fn whole(v: f64) -> u64 {
    if v > 0.0 && v < 9.0e15 { v as u64 } else { 0 }
}

/// True for any SQLite file; whether it is an export is told by its tables.
pub(super) fn looks_like_sqlite(head: &[u8]) -> bool {
    head.starts_with(b"SQLite format 3\0")
}

/// Reads an export.
#[cfg(not(feature = "sqlite"))]
pub(super) fn sqlite(_decoded: &mut Decoded<'_>, part: &mut Part) {
    part.note(
        None,
        "An SQLite file. This build cannot read it; the command line tool can, or send the text of `nsys stats`.",
    );
}

/// Reads an export: copied to a file that SQLite opens read-only.
#[cfg(feature = "sqlite")]
pub(super) fn sqlite(decoded: &mut Decoded<'_>, part: &mut Part) {
    match export::read(decoded.stream()) {
        Ok(rec) if rec.gpu.is_empty() && rec.calls.is_empty() => {
            part.note(None, "An SQLite file without the tables of Nsight Systems' CUDA trace.");
        }
        Ok(rec) => trace::file(rec, part),
        Err(e) => part.note(None, format!("The SQLite file could not be read: {e}.")),
    }
}

#[cfg(feature = "sqlite")]
mod export {
    use std::collections::HashMap;
    use std::io::{Read, copy};

    use rusqlite::types::ValueRef;
    use rusqlite::{Connection, OpenFlags, Row};

    use crate::trace::record::{Call, GpuKind, GpuSpan, HostKind, HostSpan, NO_COLLECTIVE, NameId, Recording};

    /// Largest file that is read.
    const MAX_BYTES: u64 = 4 << 30;
    /// Rows of one table that are kept.
    const MAX_ROWS: usize = 3_000_000;

    /// Why an export could not be read.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum Error {
        #[error("{0}")]
        Io(#[from] std::io::Error),
        #[error("{0}")]
        Sql(#[from] rusqlite::Error),
    }

    pub(super) fn read(stream: impl Read) -> Result<Recording, Error> {
        let mut file = tempfile::NamedTempFile::new()?;
        copy(&mut stream.take(MAX_BYTES), &mut file)?;
        let db = Connection::open_with_flags(
            file.path(),
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        let mut e = Export { db, rec: Recording::default(), strings: HashMap::new(), threads: HashMap::new() };
        e.tables()?;
        Ok(e.rec)
    }

    /// Start, end, thread, text and text id of an NVTX range.
    type Range = (i64, i64, i64, Option<String>, Option<i64>);

    struct Export {
        db: Connection,
        rec: Recording,
        /// Ids of `StringIds` as names of the recording.
        strings: HashMap<i64, NameId>,
        threads: HashMap<i64, u16>,
    }

    impl Export {
        fn tables(&mut self) -> Result<(), Error> {
            if self.has("StringIds") {
                let rec = &mut self.rec;
                let strings = &mut self.strings;
                let mut q = self.db.prepare("select id, value from StringIds")?;
                let mut rows = q.query([])?;
                while let Some(r) = rows.next()? {
                    if let (Some(id), ValueRef::Text(t)) = (int(r, 0), r.get_ref(1)?) {
                        strings.insert(id, rec.names.intern(&String::from_utf8_lossy(t)));
                    }
                }
            }
            self.devices()?;
            self.calls()?;
            self.kernels()?;
            self.copies()?;
            self.marks()
        }

        fn has(&self, table: &str) -> bool {
            self.db
                .query_row("select 1 from sqlite_master where type in ('table', 'view') and name = ?1", [table], |_| {
                    Ok(())
                })
                .is_ok()
        }

        fn columns(&self, table: &str) -> Result<Vec<String>, Error> {
            let mut q = self.db.prepare(&format!("pragma table_info({table})"))?;
            let names = q.query_map([], |r| r.get::<_, String>(1))?.collect::<Result<Vec<_>, _>>()?;
            Ok(names)
        }

        /// Rows of a table: the wanted columns in order, `null` for those that this version does not have.
        fn rows(&self, table: &str, wanted: &[&str], mut each: impl FnMut(&Row<'_>)) -> Result<(), Error> {
            if !self.has(table) {
                return Ok(());
            }
            let have = self.columns(table)?;
            let list: Vec<String> = wanted
                .iter()
                .map(|c| if have.iter().any(|h| h == c) { format!("\"{c}\"") } else { "null".into() })
                .collect();
            let mut q = self.db.prepare(&format!("select {} from {table} limit {MAX_ROWS}", list.join(", ")))?;
            let mut rows = q.query([])?;
            while let Some(r) = rows.next()? {
                each(r);
            }
            Ok(())
        }

        fn devices(&mut self) -> Result<(), Error> {
            let mut found = Vec::new();
            self.rows(
                "TARGET_INFO_GPU",
                &["id", "name", "smCount", "totalMemory", "computeMajor", "computeMinor"],
                |r| {
                    let small = |i| int(r, i).and_then(|v| u32::try_from(v).ok());
                    found.push(crate::trace::record::DeviceProps {
                        id: int(r, 0).unwrap_or(0),
                        name: r.get(1).ok(),
                        sms: small(2).filter(|n| *n > 0),
                        compute: small(4).zip(small(5)),
                        memory_bytes: int(r, 3).and_then(|m| u64::try_from(m).ok()),
                        warp: None,
                    });
                },
            )?;
            self.rec.devices = found;
            Ok(())
        }

        fn calls(&mut self) -> Result<(), Error> {
            let mut found: Vec<(i64, i64, i64, i64, i64)> = Vec::new();
            self.rows("CUPTI_ACTIVITY_KIND_RUNTIME", &["start", "end", "correlationId", "globalTid", "nameId"], |r| {
                if let (Some(s), Some(e)) = (int(r, 0), int(r, 1)) {
                    found.push((s, e, int(r, 2).unwrap_or(0), int(r, 3).unwrap_or(0), int(r, 4).unwrap_or(-1)));
                }
            })?;
            for (start, end, correlation, tid, name) in found {
                let thread = self.thread(tid);
                let name = self.strings.get(&name).copied().unwrap_or(0);
                let correlation = joined(correlation, tid);
                self.rec.events += 1;
                self.rec.calls.push(Call { start, end, correlation, name, thread });
            }
            Ok(())
        }

        fn kernels(&mut self) -> Result<(), Error> {
            let mut found = Vec::new();
            let strings = &self.strings;
            let names = [
                "start",
                "end",
                "deviceId",
                "streamId",
                "correlationId",
                "globalPid",
                "demangledName",
                "shortName",
                "gridX",
                "gridY",
                "gridZ",
                "blockX",
                "blockY",
                "blockZ",
                "graphNodeId",
            ];
            self.rows("CUPTI_ACTIVITY_KIND_KERNEL", &names, |r| {
                let Some((start, end)) = int(r, 0).zip(int(r, 1)) else { return };
                let size = |from: usize| (from..from + 3).try_fold(1i64, |p, i| p.checked_mul(int(r, i)?));
                let name = int(r, 6).or(int(r, 7)).and_then(|n| strings.get(&n)).copied().unwrap_or(0);
                let graph = int(r, 14).is_some_and(|g| g > 0);
                found.push(span(start, end, r, name, GpuKind::Kernel, (size(8), size(11)), graph));
            })?;
            let graphs = ["start", "end", "deviceId", "streamId", "correlationId", "globalPid"];
            let name = self.rec.names.intern("CUDA graph");
            self.rows("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", &graphs, |r| {
                if let Some((start, end)) = int(r, 0).zip(int(r, 1)) {
                    found.push(span(start, end, r, name, GpuKind::Kernel, (None, None), true));
                }
            })?;
            self.rec.events += found.len() as u64;
            self.rec.gpu.extend(found);
            Ok(())
        }

        fn copies(&mut self) -> Result<(), Error> {
            let kinds = self.labels("ENUM_CUDA_MEMCPY_OPER")?;
            let places = self.labels("ENUM_CUDA_MEM_KIND")?;
            let mut found = Vec::new();
            let names = [
                "start",
                "end",
                "deviceId",
                "streamId",
                "correlationId",
                "globalPid",
                "copyKind",
                "srcKind",
                "dstKind",
                "bytes",
            ];
            self.rows("CUPTI_ACTIVITY_KIND_MEMCPY", &names, |r| {
                if let Some((start, end)) = int(r, 0).zip(int(r, 1)) {
                    let bytes = int(r, 9).and_then(|b| u64::try_from(b).ok()).unwrap_or(0);
                    found.push((
                        span(start, end, r, 0, GpuKind::Copy, (None, None), false),
                        int(r, 6),
                        int(r, 7),
                        int(r, 8),
                        bytes,
                    ));
                }
            })?;
            for (mut g, kind, from, to, bytes) in found {
                let word = |of: &HashMap<i64, String>, id: Option<i64>| {
                    id.and_then(|i| of.get(&i).cloned()).unwrap_or_default()
                };
                let direction = match word(&kinds, kind) {
                    k if k.contains("Host-to-Device") || k.contains("HTOD") => "HtoD",
                    k if k.contains("Device-to-Host") || k.contains("DTOH") => "DtoH",
                    k if k.contains("Device-to-Device") || k.contains("DTOD") => "DtoD",
                    k if k.contains("Peer") || k.contains("PTOP") => "PtoP",
                    // Without the table of words: CUPTI's own numbers.
                    _ => match kind {
                        Some(1) => "HtoD",
                        Some(2) => "DtoH",
                        Some(8) => "DtoD",
                        Some(10) => "PtoP",
                        _ => "other",
                    },
                };
                let name = format!("Memcpy {direction} ({} -> {})", word(&places, from), word(&places, to));
                g.name = self.rec.names.intern(&name);
                g.bytes = bytes;
                self.rec.gpu.push(g);
            }
            let fill = self.rec.names.intern("Memset (Device)");
            let mut fills = Vec::new();
            self.rows("CUPTI_ACTIVITY_KIND_MEMSET", &names[..6], |r| {
                if let Some((start, end)) = int(r, 0).zip(int(r, 1)) {
                    fills.push(span(start, end, r, fill, GpuKind::Fill, (None, None), false));
                }
            })?;
            self.rec.gpu.extend(fills);
            Ok(())
        }

        fn labels(&self, table: &str) -> Result<HashMap<i64, String>, Error> {
            let mut out = HashMap::new();
            self.rows(table, &["id", "label", "name"], |r| {
                if let (Some(id), Ok(label)) = (int(r, 0), r.get::<_, String>(1).or_else(|_| r.get(2))) {
                    out.insert(id, label);
                }
            })?;
            Ok(out)
        }

        /// NVTX ranges with a start and an end.
        fn marks(&mut self) -> Result<(), Error> {
            let mut found: Vec<Range> = Vec::new();
            self.rows("NVTX_EVENTS", &["start", "end", "globalTid", "text", "textId"], |r| {
                if let Some((start, end)) = int(r, 0).zip(int(r, 1)) {
                    found.push((start, end, int(r, 2).unwrap_or(0), r.get(3).ok(), int(r, 4)));
                }
            })?;
            for (start, end, tid, text, id) in found {
                let name = match (text, id.and_then(|i| self.strings.get(&i))) {
                    (Some(t), _) => self.rec.names.intern(operator(&t)),
                    (None, Some(n)) => *n,
                    (None, None) => continue,
                };
                let thread = self.thread(tid);
                // `emit_nvtx` writes operators and marks alike; marks are told by their names.
                let n = self.rec.names.get(name);
                let kind =
                    if n.starts_with("aten::") || n.contains("Backward") { HostKind::Op } else { HostKind::Mark };
                self.rec.events += 1;
                self.rec.host.push(HostSpan { start, end, name, thread, kind });
            }
            Ok(())
        }

        fn thread(&mut self, global: i64) -> u16 {
            let threads = &mut self.rec.threads;
            *self.threads.entry(global).or_insert_with(|| {
                let Ok(t) = u16::try_from(threads.len()) else { return u16::MAX };
                threads.push((global / 0x100_0000 % 0x100_0000, global % 0x100_0000));
                t
            })
        }
    }

    /// Correlation ids repeat across processes: the process goes in as well.
    fn joined(correlation: i64, global: i64) -> u64 {
        #[expect(clippy::cast_sign_loss, reason = "both parts are masked")]
        let (c, pid) = ((correlation & 0xffff_ffff) as u64, ((global / 0x100_0000) & 0xff_ffff) as u64);
        pid << 32 | c
    }

    fn span(
        start: i64,
        end: i64,
        r: &Row<'_>,
        name: NameId,
        kind: GpuKind,
        size: (Option<i64>, Option<i64>),
        in_graph: bool,
    ) -> GpuSpan {
        let small = |v: Option<i64>| v.and_then(|v| u32::try_from(v).ok()).unwrap_or(0);
        GpuSpan {
            start,
            end: end.max(start),
            correlation: int(r, 4).map(|c| joined(c, int(r, 5).unwrap_or(0))),
            bytes: 0,
            name,
            blocks: small(size.0),
            threads: small(size.1),
            collective: NO_COLLECTIVE,
            stream: small(int(r, 3)),
            device: int(r, 2).and_then(|d| u16::try_from(d).ok()).unwrap_or(0),
            kind,
            in_graph,
        }
    }

    /// `aten::view, op_id = 314290` without what makes it unique.
    fn operator(name: &str) -> &str {
        name.split([',']).next().unwrap_or(name).trim_end()
    }

    fn int(r: &Row<'_>, i: usize) -> Option<i64> {
        match r.get_ref(i).ok()? {
            ValueRef::Integer(v) => Some(v),
            _ => None,
        }
    }
}
