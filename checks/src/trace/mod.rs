//! Profiler traces: from records to where the time of a step went.
//!
//! [`analyse`] partitions a window of steady steps into labels that add up exactly, attributes every idle gap to one
//! cause, and counts what the checks of layers 3 to 6 ask about (knowledge: layers-4-6 §5). It does not know file
//! formats, and it does not judge.

mod decompose;
mod gaps;
mod host;
mod kernels;
mod model;
mod names;
pub mod record;
pub mod spans;
mod summary;
mod window;

pub use decompose::Parts;
pub use gaps::{Cause, SYNC_BLOCKED_NS};
pub use names::{Family, KernelClass, kernel_class, short as short_name};
pub use summary::{
    Allocator, Autograd, Comm, CommEvent, Compile, Copies, GapRow, Geometry, KernelRow, Launch, Optimizer, Products,
    Steps, Sync, TraceSummary,
};
pub use window::{MIN_STEPS, StepMark, WindowMode};

use crate::fact::{Place, Trust};
use crate::intake::Part;
use crate::keys;
use decompose::Busy;
use model::Model;
use record::{GpuKind, Recording};
use spans::{Span, total, within};

/// Analyses a recording. A recording without device activities has an empty window and no steps to speak of.
#[must_use]
pub fn analyse(rec: Recording, mode: WindowMode) -> TraceSummary {
    let cx = Cx::new(rec, mode);
    let (gaps, pieces) = match &cx.window {
        Some(w) => gaps::attribute(&cx.model, w.span, w.thread),
        None => (Vec::new(), Vec::new()),
    };
    let busy = Busy::new(&cx.model, &cx.classes, cx.span());
    let parts = busy.parts(&pieces);
    debug_assert_eq!(parts.sum(), cx.span().1 - cx.span().0, "the labels add up to the window");
    let model = &cx.model;
    let rec = &model.rec;
    let idle = host::launch_idle(&pieces);
    let all_idle = host::all_idle(&pieces);
    let loader = gaps::loader_waits(model, cx.thread());
    let kernels = kernels::Kernels::new(&cx);
    TraceSummary {
        input: 0,
        rank: rec.rank,
        world: rec.world,
        backend: rec.backend.clone(),
        events: rec.events,
        kernels: rec.gpu.iter().filter(|g| g.kind == GpuKind::Kernel).count() as u64,
        device_events: rec.gpu.len() as u64,
        devices: model.devices,
        device: model.props().cloned(),
        rocm: rec.calls.iter().any(|c| model.name(c.name).starts_with("hip")),
        incomplete: rec.dropped.over_limit > 0 || rec.dropped.broken > 0,
        timeline: true,
        steps: cx.steps(),
        window_ms: ms(parts.sum()),
        parts,
        raw_data_wait_ms: ms(within(&loader, cx.span())),
        loader_calls: loader.iter().filter(|s| cx.holds(s.0)).count(),
        loader_iter: host::loader_iter(&cx),
        comm: kernels::comm(&cx, &busy),
        copies: kernels::copies(&cx, &busy),
        launch: host::launches(&cx, &all_idle),
        sync: host::syncs(&cx),
        allocator: host::allocator(&cx),
        top: kernels.top,
        families: kernels.families,
        products: kernels.products,
        geometry: kernels.geometry,
        autograd: host::autograd(&cx, &idle),
        optimizer: host::optimizer(&cx, &idle),
        compile: host::compile(&cx),
        overheads: host::overheads(&cx, &all_idle),
        gaps: host::gap_rows(&cx, &gaps, &pieces),
        compute_streams: kernels.streams,
        data_parallel: host::uses(&cx, names::HostClass::DataParallel),
        ddp: host::uses(&cx, names::HostClass::Ddp),
        with_stack: rec.with_stack || rec.host.iter().any(|h| h.kind == record::HostKind::Python),
        with_memory: rec.with_memory,
    }
}

/// Sums over a recording whose timeline is not known: tables of kernels, copies and calls.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Kind, name, total ns, count, bytes.
    pub activities: Vec<(GpuKind, String, f64, u64, u64)>,
    /// Name, total ns, count.
    pub calls: Vec<(String, f64, u64)>,
}

/// Files what sums can tell: kernels by family, products, copies. Each row is laid end to end, so that shares of the
/// device's busy time are right and nothing is said about idle time.
pub fn file_sums(sums: &Sums, part: &mut Part) {
    let mut rec = Recording::default();
    let mut at = 0i64;
    let mut kernels = 0;
    for (kind, name, total, count, bytes) in &sums.activities {
        #[expect(clippy::cast_possible_truncation, reason = "tables hold seconds to hours")]
        let ns = (*total).clamp(0.0, 1e15) as i64;
        rec.gpu.push(record::GpuSpan {
            start: at,
            end: at + ns,
            correlation: None,
            bytes: *bytes,
            name: rec.names.intern(name),
            blocks: 0,
            threads: 0,
            collective: record::NO_COLLECTIVE,
            stream: 0,
            device: 0,
            kind: *kind,
            in_graph: false,
        });
        at += ns;
        kernels += if *kind == GpuKind::Kernel { *count } else { 0 };
    }
    let mut summary = analyse(rec, WindowMode::Steps);
    (summary.input, summary.timeline, summary.kernels) = (part.input, false, kernels);
    part.facts.put(&keys::KERNELS, &[], kernels, Trust::Text, Place::input(part.input));
    part.facts.traces.push(summary);
}

/// Analyses a recording and files its facts.
pub fn file(rec: Recording, part: &mut Part) {
    let place = || Place::input(part.input);
    let mut facts = std::mem::take(&mut part.facts);
    if let Some(v) = &rec.nccl {
        facts.put(&keys::NCCL_VERSION, &[], v.as_str(), Trust::Text, place());
    }
    for d in &rec.devices {
        if let (Ok(i), Some(name)) = (usize::try_from(d.id), &d.name) {
            facts.put(&keys::GPU_NAME, &[i], name.as_str(), Trust::Text, place());
        }
    }
    let mut summary = analyse(rec, WindowMode::Steps);
    summary.input = part.input;
    facts.put(&keys::STEPS, &[], summary.steps.recorded, Trust::Text, place());
    facts.put(&keys::KERNELS, &[], summary.kernels, Trust::Text, place());
    if summary.device_events == 0 {
        part.note(None, "No device activity was recorded: it says nothing about the GPU.");
    }
    facts.traces.push(summary);
    part.facts = facts;
}

/// What all counts share.
pub(crate) struct Cx {
    model: Model,
    classes: Vec<KernelClass>,
    window: Option<window::Window>,
}

impl Cx {
    fn new(rec: Recording, mode: WindowMode) -> Self {
        let model = Model::new(rec);
        let classes = kernel_classes(&model.rec);
        let window = window::find(&model, mode);
        Self { model, classes, window }
    }

    fn span(&self) -> Span {
        self.window.as_ref().map_or((0, 0), |w| w.span)
    }

    fn thread(&self) -> u16 {
        self.window.as_ref().map_or(0, |w| w.thread)
    }

    fn holds(&self, t: i64) -> bool {
        let w = self.span();
        w.0 <= t && t < w.1
    }

    fn steps(&self) -> Steps {
        let Some(w) = &self.window else {
            return Steps {
                mark: StepMark::None,
                recorded: window::recorded(&self.model),
                used: 0,
                steady: false,
                each_ms: Vec::new(),
                distinct_shapes: None,
            };
        };
        Steps {
            mark: w.mark,
            recorded: w.recorded,
            used: w.steps.len(),
            steady: w.steady,
            each_ms: w.steps.iter().map(|s| ms(s.1 - s.0)).collect(),
            distinct_shapes: kernels::distinct_shapes(self),
        }
    }
}

/// Classes of all names that kernels have; other names get a class that is never asked for.
fn kernel_classes(rec: &Recording) -> Vec<KernelClass> {
    let mut used = vec![false; rec.names.len()];
    for g in rec.gpu.iter().filter(|g| g.kind == GpuKind::Kernel) {
        used[g.name as usize] = true;
    }
    let none = KernelClass { family: Family::Other, tensor: None, small_grid_by_design: false, low_align: false };
    rec.names.iter().zip(used).map(|(n, used)| if used { kernel_class(n) } else { none }).collect()
}

/// Nanoseconds as milliseconds.
#[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
fn ms(ns: i64) -> f64 {
    ns as f64 / 1e6
}

/// The median of whole numbers, which are reordered.
fn median(values: &mut [i64]) -> Option<i64> {
    if values.is_empty() {
        return None;
    }
    let mid = values.len() / 2;
    Some(*values.select_nth_unstable(mid).1)
}

/// A median of nanoseconds in microseconds.
#[expect(clippy::cast_precision_loss, reason = "spans are far below 2^53 ns")]
fn median_us(values: &mut [i64]) -> Option<f64> {
    median(values).map(|v| v as f64 / 1e3)
}

/// Sum of a list of spans in ms.
fn total_ms(spans: &[Span]) -> f64 {
    ms(total(spans))
}
