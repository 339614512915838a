//! A recording in order: device activities by time, each with the call that started it; host spans nested by thread.
//!
//! It does not judge; it answers "which call", "inside which operator", "on which thread".

use super::names::{CallClass, HostClass, call_class, host_class};
use super::record::{Call, DeviceProps, GpuKind, GpuSpan, HostKind, HostSpan, NameId, Recording};
use super::spans::{Span, union};

/// No such index.
pub(super) const NONE: u32 = u32::MAX;

/// An ordered recording.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) rec: Recording,
    /// Class of each call name.
    pub(super) call_class: Vec<CallClass>,
    /// Class of each host name.
    pub(super) host_class: Vec<HostClass>,
    /// For each device activity the call that started it, or [`NONE`].
    pub(super) launch: Vec<u32>,
    /// For each host span the span around it, or [`NONE`].
    parent: Vec<u32>,
    /// For each thread its range of host spans.
    ranges: Vec<(usize, usize)>,
    /// The device that the analysis is about.
    pub(super) device: u16,
    /// Devices with activities.
    pub(super) devices: usize,
}

impl Model {
    pub(super) fn new(mut rec: Recording) -> Self {
        let call_class: Vec<CallClass> = rec.names.iter().map(call_class).collect();
        let host_class: Vec<HostClass> = rec.names.iter().map(host_class).collect();
        rec.gpu.sort_by_key(|g| (g.start, g.end));
        rec.calls.sort_by_key(|c| (c.correlation, c.start));
        rec.host.sort_by_key(|h| (h.thread, h.start, std::cmp::Reverse(h.end)));
        rec.products.sort_by_key(|p| (p.thread, p.start));
        let launch = rec.gpu.iter().map(|g| find_call(&rec.calls, g)).collect();
        let (parent, ranges) = nest(&rec.host, rec.threads.len());
        let (device, devices) = busiest(&rec.gpu);
        Self { rec, call_class, host_class, launch, parent, ranges, device, devices }
    }

    /// The call that started a device activity.
    pub(super) fn call_of(&self, gpu: usize) -> Option<&Call> {
        self.rec.calls.get(self.launch[gpu] as usize)
    }

    /// Activities of the device that the analysis is about, with their index.
    pub(super) fn on_device(&self) -> impl Iterator<Item = (usize, &GpuSpan)> {
        self.rec.gpu.iter().enumerate().filter(|(_, g)| g.device == self.device)
    }

    /// Class of a call.
    pub(super) fn class(&self, call: &Call) -> CallClass {
        self.call_class.get(call.name as usize).copied().unwrap_or(CallClass::Other)
    }

    /// Class of a host span.
    pub(super) fn host(&self, span: &HostSpan) -> HostClass {
        self.host_class.get(span.name as usize).copied().unwrap_or(HostClass::Other)
    }

    /// A name.
    pub(super) fn name(&self, id: NameId) -> &str {
        self.rec.names.get(id)
    }

    /// Host spans of one thread, by start; outer before inner.
    pub(super) fn thread(&self, thread: u16) -> &[HostSpan] {
        let (from, to) = self.ranges.get(usize::from(thread)).copied().unwrap_or((0, 0));
        &self.rec.host[from..to]
    }

    /// The innermost host span of one thread that covers an instant and satisfies a condition.
    pub(super) fn innermost(&self, thread: u16, t: i64, want: impl Fn(&HostSpan) -> bool) -> Option<&HostSpan> {
        let (from, to) = *self.ranges.get(usize::from(thread))?;
        let after = self.rec.host[from..to].partition_point(|h| h.start <= t);
        let mut at = u32::try_from((from + after).checked_sub(1)?).ok().filter(|_| after > 0)?;
        loop {
            let span = self.rec.host.get(at as usize)?;
            if span.end >= t && want(span) {
                return Some(span);
            }
            at = self.parent[at as usize];
            if at == NONE {
                return None;
            }
        }
    }

    /// The union of host spans that satisfy a condition, on one thread or on all.
    pub(super) fn host_union(&self, thread: Option<u16>, want: impl Fn(&HostSpan) -> bool) -> Vec<Span> {
        let spans = thread.map_or(&self.rec.host[..], |t| self.thread(t));
        union(spans.iter().filter(|h| want(h)).map(|h| (h.start, h.end)).collect())
    }

    /// The device's description, where the file has one.
    pub(super) fn props(&self) -> Option<&DeviceProps> {
        self.rec.devices.iter().find(|d| d.id == i64::from(self.device))
    }
}

/// The call with the activity's correlation id. Ids are used once in a sound file; where one comes twice, the last call
/// that began before the activity did is meant.
fn find_call(calls: &[Call], gpu: &GpuSpan) -> u32 {
    let Some(id) = gpu.correlation else { return NONE };
    let after = calls.partition_point(|c| (c.correlation, c.start) <= (id, gpu.start));
    let index = |i: usize| u32::try_from(i).unwrap_or(NONE);
    if let Some(before) = after.checked_sub(1)
        && calls[before].correlation == id
    {
        return index(before);
    }
    // Clocks of host and device may disagree by a little: the call then seems to begin after its activity.
    if calls.get(after).is_some_and(|c| c.correlation == id) { index(after) } else { NONE }
}

fn nest(host: &[HostSpan], threads: usize) -> (Vec<u32>, Vec<(usize, usize)>) {
    let mut parent = vec![NONE; host.len()];
    let mut ranges = vec![(0, 0); threads.max(1)];
    let mut stack: Vec<u32> = Vec::new();
    let mut thread = None;
    for (i, h) in host.iter().enumerate() {
        let t = usize::from(h.thread);
        if thread != Some(t) {
            stack.clear();
            thread = Some(t);
            if t >= ranges.len() {
                ranges.resize(t + 1, (0, 0));
            }
            ranges[t] = (i, i);
        }
        ranges[t].1 = i + 1;
        // Spans of one thread nest; one that only overlaps its predecessor is taken as its sibling.
        while stack.last().is_some_and(|top| host[*top as usize].end < h.end) {
            stack.pop();
        }
        parent[i] = stack.last().copied().unwrap_or(NONE);
        stack.push(u32::try_from(i).unwrap_or(NONE));
    }
    (parent, ranges)
}

/// The device with the most kernel time, and how many devices did anything.
fn busiest(gpu: &[GpuSpan]) -> (u16, usize) {
    let mut time: Vec<(u16, i64)> = Vec::new();
    for g in gpu {
        let busy = if g.kind == GpuKind::Kernel { g.end - g.start } else { 0 };
        match time.iter_mut().find(|t| t.0 == g.device) {
            Some(t) => t.1 += busy,
            None => time.push((g.device, busy)),
        }
    }
    let devices = time.len();
    let best = time.iter().max_by_key(|t| (t.1, std::cmp::Reverse(t.0))).map_or(0, |t| t.0);
    (best, devices)
}

/// True for host spans in which the framework works: operators and the optimiser.
pub(super) fn is_framework(model: &Model, h: &HostSpan) -> bool {
    h.kind == HostKind::Op || (h.kind == HostKind::Mark && model.name(h.name).starts_with("Optimizer."))
}
