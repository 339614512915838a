//! Attribution of idle gaps: every instant at which the device does nothing gets exactly one cause (layers-4-6 §5.3).

use std::collections::HashMap;

use super::model::{Model, NONE, is_framework};
use super::names::{CallClass, HostClass};
use super::spans::{Span, subtract, union};

/// Below this a gap between two queued activities is the device's own latency (layers-4-6 §5.3).
const KERNEL_LATENCY_NS: i64 = 3_000;
/// A synchronisation that blocked for at least this long found the host ahead of the device (layers-4-6 §5.3, rule 5).
pub const SYNC_BLOCKED_NS: i64 = 20_000;
/// A kernel that waits this long after its launch call shows that the queue is filled again (same rule).
const QUEUE_FILLED_NS: i64 = 20_000;

/// Why the device is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The training thread stands in the data loader.
    DataWait,
    /// Memory is taken from or given back to the driver.
    Allocator,
    /// Code is compiled.
    Compile,
    /// A synchronisation returns although the device is done.
    SyncTail,
    /// The host catches up after a synchronisation that drained the queue.
    SyncRestart,
    /// The framework prepares the next launch.
    Framework,
    /// Python or anything else on the host.
    Python,
    /// The launch call and its way to the device.
    LaunchCall,
    /// The device's own pause between two queued activities.
    KernelLatency,
    /// Queued work waits for an event, another stream or a graph edge.
    DeviceDependency,
    /// The file does not tell what started the next activity.
    Unattributed,
}

/// A piece of idle time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) cause: Cause,
    /// The gap that it is part of, by number.
    pub(super) gap: u32,
}

/// An idle gap and what ended it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub(super) span: Span,
    /// Index of the device activity that ends it; [`NONE`] at the end of the window.
    pub(super) next: u32,
    /// Thread that ended it.
    pub(super) thread: u16,
}

/// Host time by cause on one thread.
#[derive(Debug, Default)]
struct Timeline(Vec<(i64, i64, Cause)>);

impl Timeline {
    /// Puts layers over each other; the first one wins where several cover an instant.
    fn new(layers: Vec<(Cause, Vec<Span>)>) -> Self {
        let mut covered: Vec<Span> = Vec::new();
        let mut all: Vec<(i64, i64, Cause)> = Vec::new();
        for (cause, spans) in layers {
            all.extend(subtract(&spans, &covered).into_iter().map(|s| (s.0, s.1, cause)));
            if !spans.is_empty() {
                covered.extend(spans);
                covered = union(covered);
            }
        }
        all.sort_unstable_by_key(|p| p.0);
        Self(all)
    }

    /// Cuts a span into pieces; what nothing covers is Python.
    fn cut(&self, span: Span, mut emit: impl FnMut(Span, Cause)) {
        let mut at = span.0;
        let first = self.0.partition_point(|p| p.1 <= span.0);
        for &(start, end, cause) in self.0[first..].iter().take_while(|p| p.0 < span.1) {
            if start > at {
                emit((at, start), Cause::Python);
            }
            let (from, to) = (start.max(at), end.min(span.1));
            if from < to {
                emit((from, to), cause);
                at = to;
            }
        }
        if at < span.1 {
            emit((at, span.1), Cause::Python);
        }
    }
}

/// All gaps of the device around a window, and their pieces clipped to it.
pub(super) fn attribute(model: &Model, window: Span, main: u16) -> (Vec<Gap>, Vec<Piece>) {
    let gaps = gaps(model, window, main);
    let shared = Shared::new(model, main);
    let mut timelines: HashMap<u16, Timeline> = HashMap::new();
    let mut pieces = Vec::new();
    for (n, gap) in gaps.iter().enumerate() {
        let number = u32::try_from(n).unwrap_or(NONE);
        let mut emit = |s: Span, cause: Cause| {
            let (start, end) = (s.0.max(window.0), s.1.min(window.1));
            if start < end {
                pieces.push(Piece { start, end, cause, gap: number });
            }
        };
        let (a, b) = gap.span;
        let call = (gap.next != NONE).then(|| model.call_of(gap.next as usize)).flatten();
        match call {
            None if gap.next != NONE => emit(gap.span, Cause::Unattributed),
            Some(r) if r.end <= a => {
                let latency = b - a < KERNEL_LATENCY_NS;
                emit(gap.span, if latency { Cause::KernelLatency } else { Cause::DeviceDependency });
            }
            // Launched late, or never within the window.
            _ => {
                let called = call.map_or(b, |r| r.start);
                let host = (a, b.min(called));
                if host.0 < host.1 {
                    let line = timelines.entry(gap.thread).or_insert_with(|| shared.timeline(model, gap.thread));
                    line.cut(host, &mut emit);
                }
                emit((a.max(called), b), Cause::LaunchCall);
            }
        }
    }
    pieces.sort_unstable_by_key(|p| p.start);
    (gaps, pieces)
}

/// Idle gaps that touch the window, each in its full length.
fn gaps(model: &Model, window: Span, main: u16) -> Vec<Gap> {
    let mut out = Vec::new();
    // Before the first activity nothing is known to have run.
    let mut busy_until = window.0;
    let mut seen = false;
    for (i, g) in model.on_device() {
        if g.start > busy_until || !seen {
            let a = if seen { busy_until } else { window.0.min(g.start) };
            if a < g.start && g.start > window.0 && a < window.1 {
                let next = u32::try_from(i).unwrap_or(NONE);
                let thread = model.call_of(i).map_or(main, |c| c.thread);
                out.push(Gap { span: (a, g.start), next, thread });
            }
            busy_until = if seen { busy_until } else { g.start };
            seen = true;
        }
        busy_until = busy_until.max(g.end);
        if busy_until >= window.1 {
            return out;
        }
    }
    if busy_until < window.1 {
        out.push(Gap { span: (busy_until, window.1), next: NONE, thread: main });
    }
    out
}

/// What all threads' timelines share.
struct Shared {
    main: u16,
    loader: Vec<Span>,
    /// By thread: allocator calls, synchronisations, graph launches.
    calls: HashMap<u16, Calls>,
    restarts: HashMap<u16, Vec<Span>>,
}

#[derive(Debug, Default)]
struct Calls {
    allocator: Vec<Span>,
    sync: Vec<Span>,
    graph: Vec<Span>,
}

impl Shared {
    fn new(model: &Model, main: u16) -> Self {
        let mut calls: HashMap<u16, Calls> = HashMap::new();
        for c in &model.rec.calls {
            let class = model.class(c);
            if !matches!(class, CallClass::Allocator | CallClass::Sync | CallClass::GraphLaunch) {
                continue;
            }
            let of = calls.entry(c.thread).or_default();
            match class {
                CallClass::Allocator => of.allocator.push((c.start, c.end)),
                CallClass::Sync => of.sync.push((c.start, c.end)),
                _ => of.graph.push((c.start, c.end)),
            }
        }
        let loader = loader_waits(model, main);
        let filled = filled(model);
        let restarts = calls.iter().map(|(t, c)| (*t, union(restarts(&c.sync, &filled, &loader)))).collect();
        for of in calls.values_mut() {
            for spans in [&mut of.allocator, &mut of.sync, &mut of.graph] {
                *spans = union(std::mem::take(spans));
            }
        }
        Self { main, loader, calls, restarts }
    }

    fn timeline(&self, model: &Model, thread: u16) -> Timeline {
        let both = |get: &dyn Fn(u16) -> Vec<Span>| {
            let mut spans = get(thread);
            if thread != self.main {
                // The training thread's waits hold up the backward pass's thread too.
                spans.extend(get(self.main));
            }
            union(spans)
        };
        let of = |t: u16, f: fn(&Calls) -> &Vec<Span>| self.calls.get(&t).map(|c| f(c).clone()).unwrap_or_default();
        let mut ops = model.host_union(Some(thread), |h| is_framework(model, h));
        ops.extend(of(thread, |c| &c.graph));
        Timeline::new(vec![
            (Cause::DataWait, self.loader.clone()),
            (Cause::Allocator, of(thread, |c| &c.allocator)),
            (Cause::Compile, model.host_union(Some(thread), |h| model.host(h) == HostClass::Compile)),
            (Cause::SyncTail, both(&|t| of(t, |c| &c.sync))),
            (Cause::SyncRestart, both(&|t| self.restarts.get(&t).cloned().unwrap_or_default())),
            (Cause::Framework, union(ops)),
        ])
    }
}

/// Time in the loader's `__next__` on the training thread.
pub(super) fn loader_waits(model: &Model, main: u16) -> Vec<Span> {
    model.host_union(Some(main), |h| model.host(h) == HostClass::LoaderNext)
}

/// Launch calls after which the device still had work queued, by start.
fn filled(model: &Model) -> Vec<Span> {
    let mut out: Vec<Span> = model
        .on_device()
        .filter_map(|(i, g)| model.call_of(i).map(|c| (c, g)))
        .filter(|(c, g)| g.start - c.end >= QUEUE_FILLED_NS)
        .map(|(c, _)| (c.start, c.end))
        .collect();
    out.sort_unstable();
    out
}

/// For each synchronisation that blocked: the time from its end until the queue is filled again or the loader is
/// entered, at most as long as it had blocked.
fn restarts(sync: &[Span], filled: &[Span], loader: &[Span]) -> Vec<Span> {
    let mut out = Vec::new();
    for &(start, end) in sync {
        let blocked = end - start;
        if blocked < SYNC_BLOCKED_NS {
            continue;
        }
        let mut until = end.saturating_add(blocked);
        if let Some(f) = filled.get(filled.partition_point(|f| f.0 < end)) {
            until = until.min(f.1);
        }
        if let Some(l) = loader.get(loader.partition_point(|l| l.0 < end)) {
            until = until.min(l.0);
        }
        if end < until {
            out.push((end, until));
        }
    }
    out
}
