//! Counts over the host's side: launches, synchronisations, allocator, backward pass, optimiser, compilation, and what
//! the host did during the longest gaps.

use std::collections::HashMap;

use super::gaps::{Cause, Gap, Piece, SYNC_BLOCKED_NS};
use super::model::NONE;
use super::names::{CallClass, HostClass, NODE, base, is_compilation, short};
use super::record::{Call, GpuKind, HostKind, HostSpan};
use super::spans::{Span, clip, intersect, union, within};
use super::summary::{Allocator, Autograd, Compile, GapRow, Launch, Optimizer, Sync};
use super::{Cx, median_us, ms, total_ms};

/// A kernel from this length on is not short, whatever its call takes (layers-4-6, short-kernels).
const SHORT_KERNEL_NS: i64 = 10_000;
/// A launch call above this is slow (HolisticTraceAnalysis, runtime cutoff).
const SLOW_CALL_NS: i64 = 50_000;
/// Kernels in the queue from which on a launch call blocks because the queue is full; its depth is 1024.
const FULL_QUEUE: usize = 900;
/// Gaps that are listed.
const GAPS: usize = 10;
/// Names that lists of parents and nodes keep.
const NAMES: usize = 5;

/// Idle time that the host's launching explains, as spans.
pub(super) fn launch_idle(pieces: &[Piece]) -> Vec<Span> {
    let is_launch = |p: &&Piece| matches!(p.cause, Cause::Framework | Cause::Python | Cause::LaunchCall);
    union(pieces.iter().filter(is_launch).map(|p| (p.start, p.end)).collect())
}

/// Idle time of any cause.
pub(super) fn all_idle(pieces: &[Piece]) -> Vec<Span> {
    union(pieces.iter().map(|p| (p.start, p.end)).collect())
}

/// Launches of the window; `idle` is when the device did nothing.
pub(super) fn launches(cx: &Cx, idle: &[Span]) -> Launch {
    let mut out = Launch::default();
    let (mut kernels, mut calls, mut delays) = (Vec::new(), Vec::new(), Vec::new());
    let starts: Vec<i64> = cx.model.on_device().map(|(_, g)| g.start).collect();
    let mut launched: Vec<i64> =
        cx.model.on_device().filter_map(|(i, _)| cx.model.call_of(i)).map(|c| c.start).collect();
    launched.sort_unstable();
    let loading = union(
        cx.model
            .rec
            .host
            .iter()
            .filter(|h| h.kind == HostKind::Overhead && is_loading(cx.model.name(h.name)))
            .map(|h| (h.start, h.end))
            .collect(),
    );
    for (i, g) in cx.model.on_device().filter(|(_, g)| g.kind == GpuKind::Kernel && cx.holds(g.start)) {
        kernels.push(g.end - g.start);
        let Some(c) = cx.model.call_of(i) else {
            out.orphans += 1;
            continue;
        };
        if cx.model.class(c) == CallClass::GraphLaunch || g.in_graph {
            out.in_graph += 1;
            continue;
        }
        out.launched += 1;
        let took = c.end - c.start;
        calls.push(took);
        delays.push(g.start - c.end);
        out.short += u64::from(g.end - g.start < took && g.end - g.start < SHORT_KERNEL_NS);
        out.blocked += u64::from(c.end >= g.end);
        if took > SLOW_CALL_NS {
            out.slow += 1;
            out.slow_ms += ms(took);
            let ahead = launched.partition_point(|t| *t < c.start);
            let done = starts.partition_point(|t| *t < c.start);
            if ahead.saturating_sub(done) >= FULL_QUEUE || within(idle, (c.start, c.end)) * 10 < took {
                out.slow_full_queue_ms += ms(took);
            } else if within(&loading, (c.start, c.end)) > 0 {
                out.slow_loading_ms += ms(took);
            } else if c.end >= g.end {
                out.slow_blocked_ms += ms(took);
            }
        }
    }
    let graphs = |c: &&Call| cx.model.class(c) == CallClass::GraphLaunch && cx.holds(c.start);
    out.graph_launches = cx.model.rec.calls.iter().filter(graphs).count() as u64;
    out.kernel_median_us = median_us(&mut kernels);
    out.call_median_us = median_us(&mut calls);
    out.delay_median_us = median_us(&mut delays);
    out
}

fn is_loading(name: &str) -> bool {
    name.contains("Lazy Function Loading") || name.contains("Module Loading")
}

/// Synchronisations of the window, and who asked for them.
pub(super) fn syncs(cx: &Cx) -> Sync {
    let mut out = Sync::default();
    let mut parents: HashMap<String, (u64, i64)> = HashMap::new();
    for c in cx.model.rec.calls.iter().filter(|c| cx.model.class(c) == CallClass::Sync && cx.holds(c.start)) {
        let took = c.end - c.start;
        out.calls += 1;
        out.blocked_ms += ms(took);
        out.costly += u64::from(took >= SYNC_BLOCKED_NS);
        let parent = cx.model.innermost(c.thread, c.start, |h| h.kind == HostKind::Op);
        let name = parent.map_or_else(|| base(cx.model.name(c.name)).to_owned(), |h| cx.model.name(h.name).to_owned());
        let e = parents.entry(name).or_default();
        *e = (e.0 + 1, e.1 + took);
    }
    out.parents = parents.into_iter().map(|(n, (count, ns))| (n, count, ms(ns))).collect();
    out.parents.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
    out.parents.truncate(NAMES);
    out
}

/// Allocator calls of the window.
pub(super) fn allocator(cx: &Cx) -> Allocator {
    let mut out = Allocator::default();
    for c in cx.model.rec.calls.iter().filter(|c| cx.model.class(c) == CallClass::Allocator && cx.holds(c.start)) {
        let name = cx.model.name(c.name);
        if name.contains("Free") || name.contains("Unmap") || name.contains("Release") || name.contains("Unregister") {
            out.gives += 1;
        } else {
            out.takes += 1;
        }
        out.host_ms += ms(c.end - c.start);
    }
    out
}

/// The loader's iterator class: `enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__`.
pub(super) fn loader_iter(cx: &Cx) -> Option<String> {
    let span =
        cx.model.rec.host.iter().find(|h| h.kind == HostKind::Mark && cx.model.host(h) == HostClass::LoaderNext)?;
    let name = cx.model.name(span.name);
    let (_, iter) = name.split_once('#')?;
    Some(iter.split('.').next().unwrap_or(iter).to_owned())
}

/// The backward pass.
pub(super) fn autograd(cx: &Cx, idle: &[Span]) -> Autograd {
    let mut out = Autograd::default();
    let mut took = Vec::new();
    let mut kinds: HashMap<&str, u64> = HashMap::new();
    let mut nodes: HashMap<u16, Vec<Span>> = HashMap::new();
    for h in cx.model.rec.host.iter().filter(|h| cx.model.host(h) == HostClass::Node && cx.holds(h.start)) {
        out.nodes += 1;
        took.push(h.end - h.start);
        let kind = cx.model.name(h.name).strip_prefix(NODE).unwrap_or_default();
        *kinds.entry(kind).or_default() += 1;
        out.compiled += u64::from(kind.contains("CompiledFunctionBackward"));
        nodes.entry(h.thread).or_default().push((h.start, h.end));
    }
    if out.nodes == 0 {
        return out;
    }
    let accumulate = kinds.iter().filter(|(k, _)| k.contains("AccumulateGrad")).map(|(_, n)| *n).sum::<u64>();
    out.parameters = accumulate / cx.window.as_ref().map_or(1, |w| w.steps.len().max(1)) as u64;
    let mut top: Vec<(String, u64)> = kinds.into_iter().map(|(k, n)| (k.to_owned(), n)).collect();
    top.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    top.truncate(NAMES);
    out.top = top;
    for spans in nodes.values_mut() {
        *spans = union(std::mem::take(spans));
    }
    let backward = backward(cx, &nodes);
    out.window_ms = total_ms(&backward);
    out.idle_ms = total_ms(&intersect(idle, &backward));
    let mut gpu = 0;
    for (i, g) in cx.model.on_device() {
        let Some(c) = cx.model.call_of(i) else { continue };
        if cx.holds(c.start) && nodes.get(&c.thread).is_some_and(|n| covers(n, c.start)) {
            gpu += g.end - g.start;
        }
    }
    out.host_median_us = median_us(&mut took);
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let mean = gpu as f64 / 1e3 / out.nodes as f64;
    out.gpu_mean_us = Some(mean);
    out.recompute_ms = recompute(cx, &nodes);
    out
}

fn covers(spans: &[Span], t: i64) -> bool {
    spans.get(spans.partition_point(|s| s.1 <= t)).is_some_and(|s| s.0 <= t)
}

/// From the first to the last node in each step.
fn backward(cx: &Cx, nodes: &HashMap<u16, Vec<Span>>) -> Vec<Span> {
    let Some(w) = &cx.window else { return Vec::new() };
    let all = union(nodes.values().flatten().copied().collect());
    let whole = [w.span];
    let steps: &[Span] = if w.steps.is_empty() { &whole } else { &w.steps };
    let of = |s: &Span| {
        let inside = clip(&all, *s);
        Some((inside.first()?.0, inside.last()?.1))
    };
    union(steps.iter().filter_map(of).collect())
}

/// Device time of forward operators that run again inside backward: `CheckpointFunctionBackward` and its relatives.
fn recompute(cx: &Cx, nodes: &HashMap<u16, Vec<Span>>) -> f64 {
    let again: Vec<&HostSpan> = cx
        .model
        .rec
        .host
        .iter()
        .filter(|h| h.kind == HostKind::Op && cx.holds(h.start))
        .filter(|h| cx.model.name(h.name).contains("Checkpoint") && cx.model.host(h) != HostClass::Node)
        .filter(|h| nodes.get(&h.thread).is_some_and(|n| covers(n, h.start)))
        .collect();
    if again.is_empty() {
        return 0.0;
    }
    let mut by_thread: HashMap<u16, Vec<Span>> = HashMap::new();
    for h in again {
        by_thread.entry(h.thread).or_default().push((h.start, h.end));
    }
    for spans in by_thread.values_mut() {
        *spans = union(std::mem::take(spans));
    }
    let mut ns = 0;
    for (i, g) in cx.model.on_device().filter(|(_, g)| g.kind == GpuKind::Kernel) {
        let Some(c) = cx.model.call_of(i) else { continue };
        if by_thread.get(&c.thread).is_some_and(|s| covers(s, c.start)) {
            ns += g.end - g.start;
        }
    }
    ms(ns)
}

/// The optimiser.
pub(super) fn optimizer(cx: &Cx, idle: &[Span]) -> Optimizer {
    let mut out = Optimizer::default();
    let mut spans: HashMap<u16, Vec<Span>> = HashMap::new();
    for h in cx.model.rec.host.iter().filter(|h| cx.model.host(h) == HostClass::Optimizer && cx.holds(h.start)) {
        out.steps += 1;
        let name = cx.model.name(h.name);
        let class = name.split('#').nth(1).and_then(|n| n.split('.').next()).unwrap_or(name);
        if !out.classes.iter().any(|c| c == class) {
            out.classes.push(class.to_owned());
        }
        spans.entry(h.thread).or_default().push((h.start, h.end));
    }
    if out.steps == 0 {
        return out;
    }
    for s in spans.values_mut() {
        *s = union(std::mem::take(s));
    }
    let all = clip(&union(spans.values().flatten().copied().collect()), cx.span());
    out.host_ms = total_ms(&all);
    out.idle_ms = total_ms(&intersect(idle, &all));
    for (i, g) in cx.model.on_device() {
        let Some(c) = cx.model.call_of(i) else { continue };
        if g.kind == GpuKind::Kernel && spans.get(&c.thread).is_some_and(|s| covers(s, c.start)) {
            out.launches += 1;
        }
    }
    let within =
        |c: &&Call| cx.model.class(c) == CallClass::Sync && spans.get(&c.thread).is_some_and(|s| covers(s, c.start));
    out.syncs = cx.model.rec.calls.iter().filter(within).count() as u64;
    out
}

/// Compilation.
pub(super) fn compile(cx: &Cx) -> Compile {
    let mut out = Compile::default();
    let mut spans = Vec::new();
    let mut counted: HashMap<&str, u64> = HashMap::new();
    for h in cx.model.rec.host.iter().filter(|h| cx.holds(h.start) || cx.holds(h.end)) {
        match cx.model.host(h) {
            HostClass::Compile => {
                spans.push((h.start, h.end));
                let name = cx.model.name(h.name);
                if is_compilation(name) {
                    *counted.entry(name).or_default() += 1;
                }
            }
            HostClass::Compiled if cx.model.name(h.name).starts_with("Torch-Compiled") => out.regions += 1,
            _ => {}
        }
    }
    // The same compilation is marked under several names.
    out.count = counted.values().copied().max().unwrap_or(0);
    out.host_ms = total_ms(&clip(&union(spans), cx.span()));
    out
}

/// The profiler's own work while the device was idle: a command buffer that is full because the device is busy costs
/// nothing.
pub(super) fn overheads(cx: &Cx, idle: &[Span]) -> Vec<(String, f64)> {
    let mut by_name: HashMap<&str, Vec<Span>> = HashMap::new();
    for h in cx.model.rec.host.iter().filter(|h| h.kind == HostKind::Overhead) {
        by_name.entry(cx.model.name(h.name)).or_default().push((h.start, h.end));
    }
    let mut out: Vec<(String, f64)> =
        by_name.into_iter().map(|(n, s)| (n.to_owned(), total_ms(&intersect(&union(s), idle)))).collect();
    out.retain(|o| o.1 > 0.0);
    out.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    out
}

/// True if a mark of this class is anywhere in the file.
pub(super) fn uses(cx: &Cx, class: HostClass) -> bool {
    cx.model.rec.host.iter().any(|h| cx.model.host(h) == class)
}

/// The longest gaps.
pub(super) fn gap_rows(cx: &Cx, gaps: &[Gap], pieces: &[Piece]) -> Vec<GapRow> {
    let window = cx.span();
    let clipped = |g: &Gap| (g.span.0.max(window.0), g.span.1.min(window.1));
    let mut order: Vec<usize> = (0..gaps.len()).collect();
    let length = |i: usize| {
        let c = clipped(&gaps[i]);
        c.1 - c.0
    };
    if order.len() > GAPS {
        order.select_nth_unstable_by_key(GAPS, |i| std::cmp::Reverse(length(*i)));
        order.truncate(GAPS);
    }
    order.sort_by_key(|i| (std::cmp::Reverse(length(*i)), *i));
    order.into_iter().filter(|i| length(*i) > 0).map(|i| row(cx, i, &gaps[i], pieces, clipped(&gaps[i]))).collect()
}

fn row(cx: &Cx, number: usize, gap: &Gap, pieces: &[Piece], span: Span) -> GapRow {
    let from = pieces.partition_point(|p| p.start < span.0);
    let mut causes: Vec<(Cause, i64)> = Vec::new();
    for p in pieces[from..].iter().take_while(|p| p.start < span.1).filter(|p| p.gap as usize == number) {
        let ns = p.end - p.start;
        match causes.iter_mut().find(|c| c.0 == p.cause) {
            Some(c) => c.1 += ns,
            None => causes.push((p.cause, ns)),
        }
    }
    let cause = causes.iter().max_by_key(|c| c.1).map_or(Cause::Unattributed, |c| c.0);
    let longest = pieces[from..]
        .iter()
        .take_while(|p| p.start < span.1)
        .filter(|p| p.gap as usize == number && p.cause == cause)
        .max_by_key(|p| p.end - p.start);
    let middle = longest.map_or(span.0 + (span.1 - span.0) / 2, |p| p.start + (p.end - p.start) / 2);
    let next = (gap.next != NONE).then(|| short(cx.model.name(cx.model.rec.gpu[gap.next as usize].name)));
    GapRow {
        at_ms: ms(span.0 - cx.span().0),
        ms: ms(span.1 - span.0),
        cause,
        host: doing(cx, gap.thread, middle),
        next,
    }
}

/// What a thread did at an instant: the innermost thing that says something.
fn doing(cx: &Cx, thread: u16, t: i64) -> Option<String> {
    let says = |h: &HostSpan| h.kind != HostKind::Overhead && cx.model.host(h) != HostClass::Step;
    let span = cx.model.innermost(thread, t, says).or_else(|| cx.model.innermost(cx.thread(), t, says));
    let call = cx.model.rec.calls.iter().find(|c| c.thread == thread && c.start <= t && t < c.end);
    match (span, call) {
        (Some(s), Some(c)) => Some(format!("{} in {}", base(cx.model.name(c.name)), short(cx.model.name(s.name)))),
        (Some(s), None) => Some(short(cx.model.name(s.name))),
        (None, Some(c)) => Some(base(cx.model.name(c.name)).to_owned()),
        (None, None) => None,
    }
}
