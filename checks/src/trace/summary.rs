//! What remains of a trace after analysis: small, complete for every check, and fit to be stored.
//!
//! Times are milliseconds unless a name says otherwise; they cover the window unless a name says otherwise.

use serde::{Deserialize, Serialize};

use super::decompose::Parts;
use super::gaps::Cause;
use super::names::Family;
use super::record::DeviceProps;
use super::window::StepMark;

/// One process's trace.
#[derive(Clone, Debug)]
pub struct TraceSummary {
    /// Input index.
    pub input: u32,
    /// Rank and ranks of the job.
    pub rank: Option<i64>,
    /// Ranks of the job.
    pub world: Option<i64>,
    /// Communication backend.
    pub backend: Option<String>,
    /// Events of any kind in the file.
    pub events: u64,
    /// Kernels in the file, on all devices.
    pub kernels: u64,
    /// Device activities of any kind in the file, on all devices.
    pub device_events: u64,
    /// Devices with activities.
    pub devices: usize,
    /// The device that the analysis is about.
    pub device: Option<DeviceProps>,
    /// ROCm instead of CUDA.
    pub rocm: bool,
    /// Part of the file was unreadable or missing.
    pub incomplete: bool,
    /// When things ran is known. Without it (a table of sums) only kernels and copies are.
    pub timeline: bool,
    /// The steps.
    pub steps: Steps,
    /// Length of the window.
    pub window_ms: f64,
    /// The window by label, in ns. They add up to the window.
    pub parts: Parts,
    /// Time in the loader, hidden or not.
    pub raw_data_wait_ms: f64,
    /// Calls of the loader in the window.
    pub loader_calls: usize,
    /// The loader's iterator class, as the mark names it.
    pub loader_iter: Option<String>,
    /// Communication.
    pub comm: Comm,
    /// Copies.
    pub copies: Copies,
    /// Launches.
    pub launch: Launch,
    /// Synchronisations.
    pub sync: Sync,
    /// Allocator calls.
    pub allocator: Allocator,
    /// Kernels by time, the longest first; the rest is in `families`.
    pub top: Vec<KernelRow>,
    /// Kernel time by family.
    pub families: Vec<(Family, u64, f64)>,
    /// Matrix products.
    pub products: Products,
    /// Grids.
    pub geometry: Geometry,
    /// The backward pass.
    pub autograd: Autograd,
    /// The optimiser.
    pub optimizer: Optimizer,
    /// Compilation.
    pub compile: Compile,
    /// The profiler's own work in the window while the device was idle, by name, the longest first.
    pub overheads: Vec<(String, f64)>,
    /// Longest idle gaps, the longest first.
    pub gaps: Vec<GapRow>,
    /// Streams with kernels that compute.
    pub compute_streams: usize,
    /// `nn.DataParallel` was used.
    pub data_parallel: bool,
    /// `DistributedDataParallel` was used.
    pub ddp: bool,
    /// Python stacks were recorded.
    pub with_stack: bool,
    /// Allocations were recorded.
    pub with_memory: bool,
}

/// The steps of a trace.
#[derive(Clone, Debug)]
pub struct Steps {
    /// What told them.
    pub mark: StepMark,
    /// Steps marked by the profiler in the file.
    pub recorded: usize,
    /// Steps in the window; 0 where nothing marks them.
    pub used: usize,
    /// First and last were dropped and enough are left: the numbers stand for a steady step.
    pub steady: bool,
    /// Length of each step in the window.
    pub each_ms: Vec<f64>,
    /// Distinct input shapes of the steps' first products, where shapes were recorded.
    pub distinct_shapes: Option<usize>,
}

/// Communication.
#[derive(Clone, Debug, Default)]
pub struct Comm {
    /// Communication kernels.
    pub count: u64,
    /// Their time, as a union.
    pub total_ms: f64,
    /// Of that, beside compute.
    pub overlap_ms: f64,
    /// Bytes sent by this rank, where the file tells.
    pub bytes: Option<u64>,
    /// Median bytes of a collective, where the file tells.
    pub median_bytes: Option<u64>,
    /// Bytes sent as 32-bit floats.
    pub fp32_bytes: u64,
    /// All-reduces (and reduce-scatters).
    pub reduces: u64,
    /// Broadcasts.
    pub broadcasts: u64,
    /// Collectives for comparison with other ranks, at most [`Comm::MAX_EVENTS`].
    pub each: Vec<CommEvent>,
}

impl Comm {
    /// Most collectives that are kept one by one.
    pub const MAX_EVENTS: usize = 4096;
}

/// One collective on one rank.
#[derive(Clone, Debug, PartialEq)]
pub struct CommEvent {
    /// Process group.
    pub group: String,
    /// Ranks of the group.
    pub group_size: Option<u32>,
    /// Sequence number in the group.
    pub seq: Option<i64>,
    /// Name.
    pub name: String,
    /// Start, ns on the wall clock if the file has one, else on its own.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
    /// Bytes sent by this rank.
    pub bytes: Option<u64>,
}

/// Copies between host and device.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    /// Host to device: count.
    pub h2d: u64,
    /// Bytes.
    pub h2d_bytes: u64,
    /// Time, summed.
    pub h2d_ms: f64,
    /// Of these, from pageable memory: count.
    pub pageable: u64,
    /// Bytes.
    pub pageable_bytes: u64,
    /// Time, summed.
    pub pageable_ms: f64,
    /// Of these, from pinned memory: count.
    pub pinned: u64,
    /// Bytes.
    pub pinned_bytes: u64,
    /// Exposed time of copies from pageable memory.
    pub exposed_pageable_ms: f64,
    /// Median rate of copies from pinned memory of at least 1 MiB, GB/s.
    pub pinned_gb_s: Option<f64>,
    /// How many such copies there are.
    pub pinned_large: u64,
    /// Median bytes of a host-to-device copy.
    pub median_bytes: Option<u64>,
    /// Host time in copy calls.
    pub call_ms: f64,
    /// Host-to-device time on a stream that also computes.
    pub on_compute_stream_ms: f64,
    /// Device to host: count.
    pub d2h: u64,
    /// Time, summed.
    pub d2h_ms: f64,
    /// Calls that page-lock host memory in the window, and their time.
    pub pin_calls: u64,
    /// Their time.
    pub pin_ms: f64,
}

/// Launches.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Kernels with a launch call of their own (not inside a graph).
    pub launched: u64,
    /// Of these, shorter than their own call and shorter than 10 µs.
    pub short: u64,
    /// Kernels started by a graph.
    pub in_graph: u64,
    /// Graph launches.
    pub graph_launches: u64,
    /// Kernels without any call in the file.
    pub orphans: u64,
    /// Median kernel, µs.
    pub kernel_median_us: Option<f64>,
    /// Median launch call, µs.
    pub call_median_us: Option<f64>,
    /// Median time from the call's end to the kernel's start, µs.
    pub delay_median_us: Option<f64>,
    /// Launch calls that end after their own kernel has ended.
    pub blocked: u64,
    /// Launch calls longer than 50 µs: count.
    pub slow: u64,
    /// Their time.
    pub slow_ms: f64,
    /// Of that, with a full queue, or while the device was busy all the time (it is the limit).
    pub slow_full_queue_ms: f64,
    /// Of that, while a module was loaded for its first use.
    pub slow_loading_ms: f64,
    /// Of that, where the call ended after its own kernel.
    pub slow_blocked_ms: f64,
}

/// Synchronisations in the window.
#[derive(Clone, Debug, Default)]
pub struct Sync {
    /// Calls.
    pub calls: u64,
    /// Calls that blocked for at least 20 µs.
    pub costly: u64,
    /// Host time in them.
    pub blocked_ms: f64,
    /// What asked for them: operator, count, host time; the longest first.
    pub parents: Vec<(String, u64, f64)>,
}

/// Allocator calls in the window.
#[derive(Clone, Debug, Default)]
pub struct Allocator {
    /// Calls that take memory.
    pub takes: u64,
    /// Calls that give it back.
    pub gives: u64,
    /// Host time in both.
    pub host_ms: f64,
}

/// One kernel, all its launches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelRow {
    /// Name, shortened.
    pub name: String,
    /// Launches.
    pub count: u64,
    /// Time.
    pub ms: f64,
    /// Share of all kernel time in the window.
    pub share: f64,
    /// Family, in words.
    pub family: String,
    /// Computes on Tensor Cores; `None` where the name does not tell.
    pub tensor: Option<bool>,
    /// Thread blocks of its largest launch, where the file tells.
    pub blocks: Option<u32>,
}

/// Matrix products by how they are computed.
#[derive(Clone, Debug, Default)]
pub struct Products {
    /// Time on Tensor Cores.
    pub tensor_ms: f64,
    /// Time beside them.
    pub plain_ms: f64,
    /// Time of which the name does not tell.
    pub unknown_ms: f64,
    /// Of the plain time, the name of the longest kernel.
    pub plain_top: Option<String>,
    /// Time whose inputs are known to be 32-bit floats.
    pub fp32_input_ms: f64,
    /// Of that, on Tensor Cores (TF32).
    pub fp32_on_tensor_ms: f64,
    /// Time whose inputs are known to be 64-bit floats.
    pub fp64_input_ms: f64,
    /// Time whose inputs are known at all.
    pub known_input_ms: f64,
    /// Time in kernels for misaligned operands, or of operators with misaligned shapes.
    pub misaligned_ms: f64,
    /// Shapes were recorded, or kernel names tell.
    pub shapes_known: bool,
    /// An attention that is not fused: softmax between batched products, its time.
    pub unfused_attention_ms: f64,
}

impl Products {
    /// All of it.
    #[must_use]
    pub fn total_ms(&self) -> f64 {
        self.tensor_ms + self.plain_ms + self.unknown_ms
    }
}

/// Grids of kernels of at least 5 µs that are not small by design.
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    /// Kernel time whose grid is known.
    pub known_ms: f64,
    /// Of that, with so few blocks that at least a fifth of the device's multiprocessors have none.
    pub small_ms: f64,
    /// Of that, with a block that wastes lanes.
    pub ragged_ms: f64,
    /// The kernel with most time in small grids: name, blocks.
    pub top: Option<(String, u32)>,
}

/// The backward pass.
#[derive(Clone, Debug, Default)]
pub struct Autograd {
    /// Nodes in the window.
    pub nodes: u64,
    /// Median host time of a node, µs.
    pub host_median_us: Option<f64>,
    /// Device time launched from nodes, divided by nodes, µs.
    pub gpu_mean_us: Option<f64>,
    /// Launch-bound idle within the backward windows.
    pub idle_ms: f64,
    /// The backward windows' length.
    pub window_ms: f64,
    /// Nodes of compiled backward passes.
    pub compiled: u64,
    /// Parameters whose gradient is accumulated, in one step.
    pub parameters: u64,
    /// Most frequent nodes with their counts.
    pub top: Vec<(String, u64)>,
    /// Device time of forward operators run again during backward.
    pub recompute_ms: f64,
}

/// The optimiser.
#[derive(Clone, Debug, Default)]
pub struct Optimizer {
    /// Classes, as the marks name them.
    pub classes: Vec<String>,
    /// Its steps in the window.
    pub steps: u64,
    /// Launches within them.
    pub launches: u64,
    /// Host time within them.
    pub host_ms: f64,
    /// Launch-bound idle within them.
    pub idle_ms: f64,
    /// Synchronisations within them.
    pub syncs: u64,
}

/// Compilation in the window.
#[derive(Clone, Debug, Default)]
pub struct Compile {
    /// Compilations.
    pub count: u64,
    /// Host time.
    pub host_ms: f64,
    /// Calls of compiled regions.
    pub regions: u64,
}

/// An idle gap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GapRow {
    /// Start, ms into the window.
    pub at_ms: f64,
    /// Length.
    pub ms: f64,
    /// The cause that takes most of it.
    pub cause: Cause,
    /// What the host did meanwhile, in words: operator, mark or function.
    pub host: Option<String>,
    /// What ended it.
    pub next: Option<String>,
}

impl TraceSummary {
    /// Milliseconds of a step from nanoseconds of the window; the window itself where no step is marked.
    #[must_use]
    pub fn per_step_ms(&self, ns: i64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
        let ms = ns as f64 / 1e6;
        ms / self.step_count()
    }

    /// Steps in the window, at least 1.
    #[must_use]
    pub fn step_count(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "step counts are small")]
        let n = self.steps.used.max(1) as f64;
        n
    }

    /// Share of the window.
    #[must_use]
    pub fn share(&self, ns: i64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
        let (ns, all) = (ns as f64, self.parts.sum() as f64);
        if all > 0.0 { ns / all } else { 0.0 }
    }

    /// Share of the window that a time takes.
    #[must_use]
    pub fn share_ms(&self, ms: f64) -> f64 {
        if self.window_ms > 0.0 { ms / self.window_ms } else { 0.0 }
    }

    /// Mean step, or the window where no step is marked.
    #[must_use]
    pub fn mean_step_ms(&self) -> f64 {
        self.window_ms / self.step_count()
    }

    /// Share of the window in which the device does anything.
    #[must_use]
    pub fn busy_share(&self) -> f64 {
        self.share(self.parts.busy())
    }

    /// Kernel time in the window over all launches, as a sum.
    #[must_use]
    pub fn kernel_ms(&self) -> f64 {
        self.families.iter().map(|f| f.2).sum()
    }

    /// Time and launches of kernel families.
    #[must_use]
    pub fn family(&self, want: impl Fn(Family) -> bool) -> (u64, f64) {
        self.families.iter().filter(|f| want(f.0)).fold((0, 0.0), |(n, ms), f| (n + f.1, ms + f.2))
    }

    /// Communication between ranks can occur here.
    #[must_use]
    pub fn can_communicate(&self) -> bool {
        self.comm.count > 0 || self.world.is_some_and(|w| w > 1)
    }
}
