//! The partition of a window: each instant has exactly one label (layers-4-6 §5.2), in nanoseconds.

use serde::{Deserialize, Serialize};

use super::gaps::{Cause, Piece};
use super::model::Model;
use super::names::{CopyClass, Family, KernelClass, copy_class};
use super::record::{GpuKind, GpuSpan};
use super::spans::{Span, clip, intersect, subtract, total, union};

/// Nanoseconds of a window by label. The labels add up to the window exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the labels are those of the decomposition, in ns")]
pub struct Parts {
    pub compute: i64,
    pub comm: i64,
    pub h2d: i64,
    pub other_copy: i64,
    pub data_wait: i64,
    pub allocator: i64,
    pub compile: i64,
    pub sync_tail: i64,
    pub sync_restart: i64,
    pub framework: i64,
    pub python: i64,
    pub launch_call: i64,
    pub kernel_latency: i64,
    pub device_dependency: i64,
    pub unattributed: i64,
}

impl Parts {
    /// The sum of all labels.
    #[must_use]
    pub const fn sum(&self) -> i64 {
        self.busy() + self.idle()
    }

    /// Anything on the device.
    #[must_use]
    pub const fn busy(&self) -> i64 {
        self.compute + self.comm + self.h2d + self.other_copy
    }

    /// Nothing on the device.
    #[must_use]
    pub const fn idle(&self) -> i64 {
        self.data_wait
            + self.allocator
            + self.compile
            + self.sync()
            + self.launch()
            + self.kernel_latency
            + self.device_dependency
            + self.unattributed
    }

    /// The host did not launch in time: launch call and latency, framework, Python.
    #[must_use]
    pub const fn launch(&self) -> i64 {
        self.framework + self.python + self.launch_call
    }

    /// Synchronisations: wake-up and restart.
    #[must_use]
    pub const fn sync(&self) -> i64 {
        self.sync_tail + self.sync_restart
    }

    /// The part with a cause, for adding to it.
    pub(super) fn of(&mut self, cause: Cause) -> &mut i64 {
        match cause {
            Cause::DataWait => &mut self.data_wait,
            Cause::Allocator => &mut self.allocator,
            Cause::Compile => &mut self.compile,
            Cause::SyncTail => &mut self.sync_tail,
            Cause::SyncRestart => &mut self.sync_restart,
            Cause::Framework => &mut self.framework,
            Cause::Python => &mut self.python,
            Cause::LaunchCall => &mut self.launch_call,
            Cause::KernelLatency => &mut self.kernel_latency,
            Cause::DeviceDependency => &mut self.device_dependency,
            Cause::Unattributed => &mut self.unattributed,
        }
    }
}

/// The device's busy time by kind, clipped to the window.
#[derive(Debug)]
pub(super) struct Busy {
    pub(super) compute: Vec<Span>,
    pub(super) comm: Vec<Span>,
    /// Compute and communication together.
    pub(super) kernels: Vec<Span>,
    pub(super) exposed_comm: Vec<Span>,
    pub(super) exposed_h2d: Vec<Span>,
    pub(super) exposed_other: Vec<Span>,
}

impl Busy {
    pub(super) fn new(model: &Model, classes: &[KernelClass], window: Span) -> Self {
        let of = |want: &dyn Fn(&GpuSpan) -> bool| {
            let all = model.on_device().filter(|(_, g)| want(g)).map(|(_, g)| (g.start, g.end)).collect();
            clip(&union(all), window)
        };
        let is_comm = |g: &GpuSpan| g.kind == GpuKind::Kernel && classes[g.name as usize].family == Family::Comm;
        let is_h2d = |g: &GpuSpan| {
            g.kind == GpuKind::Copy && matches!(copy_class(model.name(g.name)), CopyClass::HostToDevice(_))
        };
        let compute = of(&|g| g.kind == GpuKind::Kernel && !is_comm(g));
        let comm = of(&is_comm);
        let h2d = of(&is_h2d);
        let other = of(&|g| g.kind != GpuKind::Kernel && !is_h2d(g));
        let kernels = union([compute.clone(), comm.clone()].concat());
        let with_h2d = union([kernels.clone(), h2d.clone()].concat());
        Self {
            exposed_comm: subtract(&comm, &compute),
            exposed_h2d: subtract(&h2d, &kernels),
            exposed_other: subtract(&other, &with_h2d),
            compute,
            comm,
            kernels,
        }
    }

    /// Time in which communication ran beside compute.
    pub(super) fn comm_overlap(&self) -> i64 {
        total(&intersect(&self.comm, &self.compute))
    }

    /// The labels of the window.
    pub(super) fn parts(&self, pieces: &[Piece]) -> Parts {
        let mut parts = Parts {
            compute: total(&self.compute),
            comm: total(&self.exposed_comm),
            h2d: total(&self.exposed_h2d),
            other_copy: total(&self.exposed_other),
            ..Parts::default()
        };
        for p in pieces {
            *parts.of(p.cause) += p.end - p.start;
        }
        parts
    }
}
