//! Counts over device activities: kernels by name and family, matrix products, grids, copies, communication.

use std::collections::{BTreeSet, HashMap};

use super::decompose::Busy;
use super::names::{CallClass, CopyClass, Family, copy_class, short};
use super::record::{Format, GpuKind, GpuSpan, NO_COLLECTIVE, NameId, Product};
use super::spans::{Span, clip, subtract, union};
use super::summary::{Comm, CommEvent, Copies, Geometry, KernelRow, Products};
use super::{Cx, median, ms, total_ms};

/// Kernels that the table names.
const TOP: usize = 20;
/// Kernels shorter than this belong to launch-bound, not to geometry (layers-4-6 §2).
const GEOMETRY_MIN_NS: i64 = 5_000;
/// A block below this many threads cannot fill a multiprocessor (layers-4-6, launch-geometry).
const SMALL_BLOCK: u32 = 64;
/// Copies from this size on show the link's rate (catalogue, memory/h2d-bandwidth).
const LARGE_COPY: u64 = 1 << 20;

/// Everything that is counted over kernels of the window.
#[derive(Debug, Default)]
pub(super) struct Kernels {
    pub(super) top: Vec<KernelRow>,
    pub(super) families: Vec<(Family, u64, f64)>,
    pub(super) products: Products,
    pub(super) geometry: Geometry,
    pub(super) streams: usize,
}

#[derive(Clone, Copy, Default)]
struct Row {
    count: u64,
    ns: i64,
    blocks: u32,
}

impl Kernels {
    pub(super) fn new(cx: &Cx) -> Self {
        let mut rows: HashMap<NameId, Row> = HashMap::new();
        let mut out = Self::default();
        let mut streams = BTreeSet::new();
        let sms = cx.model.props().and_then(|d| d.sms);
        let warp = cx.model.props().and_then(|d| d.warp).unwrap_or(32);
        let mut small: HashMap<NameId, (i64, u32)> = HashMap::new();
        let mut plain: HashMap<NameId, i64> = HashMap::new();
        for (i, g) in cx.model.on_device().filter(|(_, g)| g.kind == GpuKind::Kernel && cx.holds(g.start)) {
            let class = cx.classes[g.name as usize];
            let ns = g.end - g.start;
            let row = rows.entry(g.name).or_default();
            row.count += 1;
            row.ns += ns;
            row.blocks = row.blocks.max(g.blocks);
            match out.families.iter_mut().find(|f| f.0 == class.family) {
                Some(f) => (f.1, f.2) = (f.1 + 1, f.2 + ms(ns)),
                None => out.families.push((class.family, 1, ms(ns))),
            }
            if class.family != Family::Comm {
                streams.insert(g.stream);
            }
            if class.family.is_product() {
                out.products.add(cx, i, g, &mut plain);
            }
            if ns >= GEOMETRY_MIN_NS && g.blocks > 0 && class.family != Family::Comm {
                let t = ms(ns);
                out.geometry.known_ms += t;
                if sms.is_some_and(|s| leaves_dark(g.blocks, s)) && !class.small_grid_by_design {
                    out.geometry.small_ms += t;
                    let e = small.entry(g.name).or_default();
                    *e = (e.0 + ns, e.1.max(g.blocks));
                }
                let ragged = !g.threads.is_multiple_of(warp) || g.threads < SMALL_BLOCK;
                if g.threads > 0 && ragged && sms.is_none_or(|s| g.blocks > s) && !class.family.is_product() {
                    out.geometry.ragged_ms += t;
                }
            }
        }
        out.products.plain_top = top_of(plain.into_iter()).map(|n| short(cx.model.name(n)));
        out.products.unfused_attention_ms = unfused_attention(cx);
        out.products.shapes_known = !cx.model.rec.products.is_empty();
        let worst = small.iter().max_by_key(|(n, e)| (e.0, std::cmp::Reverse(**n)));
        out.geometry.top = worst.map(|(n, e)| (short(cx.model.name(*n)), e.1));
        out.streams = streams.len();
        out.families.sort_by(|a, b| b.2.total_cmp(&a.2));
        out.top = table(cx, &rows);
        out
    }
}

/// A grid that leaves at least a fifth of the multiprocessors without a block: 128 blocks on 132 are no waste.
fn leaves_dark(blocks: u32, sms: u32) -> bool {
    u64::from(blocks) * 5 <= u64::from(sms) * 4
}

fn top_of(times: impl Iterator<Item = (NameId, i64)>) -> Option<NameId> {
    times.max_by_key(|(n, ns)| (*ns, std::cmp::Reverse(*n))).map(|t| t.0)
}

fn table(cx: &Cx, rows: &HashMap<NameId, Row>) -> Vec<KernelRow> {
    let all: i64 = rows.values().map(|r| r.ns).sum();
    let mut by_time: Vec<(&NameId, &Row)> = rows.iter().collect();
    by_time.sort_by_key(|(n, r)| (std::cmp::Reverse(r.ns), **n));
    by_time
        .into_iter()
        .take(TOP)
        .map(|(n, r)| {
            let class = cx.classes[*n as usize];
            KernelRow {
                name: short(cx.model.name(*n)),
                count: r.count,
                ms: ms(r.ns),
                share: if all > 0 { ms(r.ns) / ms(all) } else { 0.0 },
                family: format!("{:?}", class.family).to_lowercase(),
                tensor: class.tensor,
                blocks: (r.blocks > 0).then_some(r.blocks),
            }
        })
        .collect()
}

impl Products {
    fn add(&mut self, cx: &Cx, gpu: usize, g: &GpuSpan, plain: &mut HashMap<NameId, i64>) {
        let class = cx.classes[g.name as usize];
        let t = ms(g.end - g.start);
        match class.tensor {
            Some(true) => self.tensor_ms += t,
            Some(false) => {
                self.plain_ms += t;
                *plain.entry(g.name).or_default() += g.end - g.start;
            }
            None => self.unknown_ms += t,
        }
        let op = operator(cx, gpu);
        match op.and_then(|o| o.format) {
            None => {}
            Some(format) => {
                self.known_input_ms += t;
                if format == Format::Fp32 {
                    self.fp32_input_ms += t;
                    if class.tensor == Some(true) {
                        self.fp32_on_tensor_ms += t;
                    }
                } else if format == Format::Fp64 {
                    self.fp64_input_ms += t;
                }
            }
        }
        if class.low_align || op.and_then(|o| o.aligned) == Some(false) {
            self.misaligned_ms += t;
        }
    }
}

/// The recorded operator inside which a device activity was launched.
fn operator(cx: &Cx, gpu: usize) -> Option<&Product> {
    let call = cx.model.call_of(gpu)?;
    let products = &cx.model.rec.products;
    let after = products.partition_point(|p| (p.thread, p.start) <= (call.thread, call.start));
    // Products nest two deep at most (convolution → cudnn_convolution).
    products[..after].iter().rev().take(3).find(|p| p.thread == call.thread && p.end >= call.start)
}

/// Time of softmax kernels that stand between two batched products in the order of one stream, with those products.
fn unfused_attention(cx: &Cx) -> f64 {
    let mut last: HashMap<u32, Vec<(Family, i64)>> = HashMap::new();
    let mut found = 0;
    for (_, g) in cx.model.on_device().filter(|(_, g)| g.kind == GpuKind::Kernel && cx.holds(g.start)) {
        let family = cx.classes[g.name as usize].family;
        // Scaling, masking and dropout stand between them and do not matter.
        if !matches!(family, Family::Gemm | Family::Softmax | Family::Attention) {
            continue;
        }
        let chain = last.entry(g.stream).or_default();
        chain.push((family, g.end - g.start));
        if let [.., (Family::Gemm, a), (Family::Softmax, s), (Family::Gemm, b)] = chain[..] {
            found += a + s + b;
        }
        if chain.len() > 8 {
            chain.drain(..5);
        }
    }
    ms(found)
}

/// Distinct input shapes of the first product of each step.
pub(super) fn distinct_shapes(cx: &Cx) -> Option<usize> {
    let w = cx.window.as_ref()?;
    let of_thread: Vec<&Product> =
        cx.model.rec.products.iter().filter(|p| p.thread == w.thread && p.shape != 0).collect();
    if of_thread.is_empty() || w.steps.is_empty() {
        return None;
    }
    let first = |s: &Span| of_thread.get(of_thread.partition_point(|p| p.start < s.0)).filter(|p| p.start < s.1);
    let shapes: BTreeSet<u64> = w.steps.iter().filter_map(first).map(|p| p.shape).collect();
    (!shapes.is_empty()).then_some(shapes.len())
}

/// Copies in the window.
pub(super) fn copies(cx: &Cx, busy: &Busy) -> Copies {
    let mut out = Copies::default();
    let mut sizes = Vec::new();
    let mut rates = Vec::new();
    let mut pageable = Vec::new();
    let mut h2d: Vec<(Span, u32)> = Vec::new();
    for (_, g) in cx.model.on_device().filter(|(_, g)| g.kind == GpuKind::Copy && cx.holds(g.start)) {
        let t = ms(g.end - g.start);
        match copy_class(cx.model.name(g.name)) {
            CopyClass::HostToDevice(source) => {
                out.h2d += 1;
                out.h2d_bytes += g.bytes;
                out.h2d_ms += t;
                h2d.push(((g.start, g.end), g.stream));
                sizes.push(i64::try_from(g.bytes).unwrap_or(i64::MAX));
                match source {
                    Some(true) => {
                        out.pageable += 1;
                        out.pageable_bytes += g.bytes;
                        out.pageable_ms += t;
                        pageable.push((g.start, g.end));
                    }
                    Some(false) => {
                        out.pinned += 1;
                        out.pinned_bytes += g.bytes;
                        if g.bytes >= LARGE_COPY && g.end > g.start {
                            // bytes/ns = GB/s; kept in thousandths for the median.
                            rates.push(
                                i64::try_from(g.bytes).unwrap_or(i64::MAX) / (g.end - g.start).max(1) * 1000
                                    + (i64::try_from(g.bytes).unwrap_or(0) % (g.end - g.start).max(1)) * 1000
                                        / (g.end - g.start).max(1),
                            );
                        }
                    }
                    None => {}
                }
            }
            CopyClass::DeviceToHost(_) => {
                out.d2h += 1;
                out.d2h_ms += t;
            }
            CopyClass::Other => {}
        }
    }
    let compute: BTreeSet<u32> = cx
        .model
        .on_device()
        .filter(|(_, g)| g.kind == GpuKind::Kernel && cx.classes[g.name as usize].family != Family::Comm)
        .map(|(_, g)| g.stream)
        .collect();
    out.on_compute_stream_ms = h2d.iter().filter(|(_, s)| compute.contains(s)).map(|(s, _)| ms(s.1 - s.0)).sum();
    out.exposed_pageable_ms = total_ms(&subtract(&clip(&union(pageable), cx.span()), &busy.kernels));
    out.pinned_large = rates.len() as u64;
    #[expect(clippy::cast_precision_loss, reason = "rates are small")]
    let gb_s = median(&mut rates).map(|r| r as f64 / 1000.0);
    out.pinned_gb_s = gb_s;
    out.median_bytes = median(&mut sizes).and_then(|b| u64::try_from(b).ok());
    for c in cx.model.rec.calls.iter().filter(|c| cx.holds(c.start)) {
        let name = cx.model.name(c.name);
        if cx.model.class(c) == CallClass::Copy {
            out.call_ms += ms(c.end - c.start);
        } else if ["HostAlloc", "HostRegister", "MallocHost", "hipHostMalloc"].iter().any(|n| name.contains(n)) {
            out.pin_calls += 1;
            out.pin_ms += ms(c.end - c.start);
        }
    }
    out
}

/// Communication in the window.
pub(super) fn comm(cx: &Cx, busy: &Busy) -> Comm {
    let mut out = Comm { total_ms: total_ms(&busy.comm), overlap_ms: ms(busy.comm_overlap()), ..Comm::default() };
    let rec = &cx.model.rec;
    let mut hosted: Vec<usize> = (0..rec.collectives.len()).filter(|i| rec.collectives[*i].host.is_some()).collect();
    hosted.sort_by_key(|i| rec.collectives[*i].host.map(|h| (h.2, h.0)));
    let mut sizes = Vec::new();
    for (i, g) in cx.model.on_device() {
        if g.kind != GpuKind::Kernel || cx.classes[g.name as usize].family != Family::Comm || !cx.holds(g.start) {
            continue;
        }
        out.count += 1;
        let own = (g.collective != NO_COLLECTIVE).then(|| rec.collectives.get(g.collective as usize)).flatten();
        // Older writers describe the collective only at the operator that asked for it.
        let record = own.or_else(|| {
            let c = cx.model.call_of(i)?;
            let after =
                hosted.partition_point(|h| rec.collectives[*h].host.is_some_and(|h| (h.2, h.0) <= (c.thread, c.start)));
            let at = *hosted.get(after.checked_sub(1)?)?;
            Some(&rec.collectives[at]).filter(|r| r.host.is_some_and(|h| h.2 == c.thread && h.1 >= c.start))
        });
        let bytes = record.and_then(|r| Some(r.elements? * u64::from(r.element_bytes?)));
        let asked = record.map_or("", |r| cx.model.name(r.name));
        let name = if asked.is_empty() || asked == "(other)" { cx.model.name(g.name) } else { asked };
        let lower = name.to_ascii_lowercase();
        let reduces = lower.contains("allreduce") || lower.contains("all_reduce") || lower.contains("reduce_scatter");
        out.reduces += u64::from(reduces || lower.contains("reducescatter"));
        out.broadcasts += u64::from(lower.contains("broadcast"));
        if let Some(b) = bytes {
            sizes.push(i64::try_from(b).unwrap_or(i64::MAX));
            *out.bytes.get_or_insert(0) += b;
            if record.and_then(|r| r.element_bytes) == Some(4) {
                out.fp32_bytes += b;
            }
        }
        if out.each.len() < Comm::MAX_EVENTS {
            let base = rec.base_ns.unwrap_or(0);
            out.each.push(CommEvent {
                group: record.map(|r| cx.model.name(r.group).to_owned()).unwrap_or_default(),
                group_size: record.and_then(|r| r.group_size),
                seq: record.and_then(|r| r.seq),
                name: short(name),
                start_ns: g.start.saturating_add(base),
                end_ns: g.end.saturating_add(base),
                bytes,
            });
        }
    }
    out.median_bytes = median(&mut sizes).and_then(|b| u64::try_from(b).ok());
    out
}
