//! Records: what comes in series and is judged as a series. Field names carry their units.
//!
//! `None` means that the source did not tell; it is never replaced by a number.

use serde::{Deserialize, Serialize};

use crate::fact::Place;

/// How old a kernel log line is, as far as the log tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boot {
    /// The boot that the log (or the node) is in, or the only one known.
    Present,
    /// An earlier boot in the same log: history, never a present fault.
    Earlier,
}

/// One line of a kernel log that matters to a check.
#[derive(Clone, Debug)]
pub struct KernelEvent {
    /// What it is.
    pub kind: KernelKind,
    /// Seconds since boot, where the line carries them.
    pub since_boot_s: Option<f64>,
    /// PCI address as printed, lower case, without function (`0000:3b:00`).
    pub pci: Option<String>,
    /// Which boot.
    pub boot: Boot,
    /// Message without prefix.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

/// The kinds of kernel log lines that are read.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelKind {
    /// `NVRM: Xid (...)`.
    Xid {
        /// The code after the closing bracket.
        code: u32,
        /// Process id, where printed.
        pid: Option<u32>,
        /// Process name, where printed.
        name: Option<String>,
        /// `Fatal` (true) or `Nonfatal` (false), where the text says so (codes 144-150, SXid).
        fatal: Option<bool>,
        /// The code in "caused by previous Xid N".
        caused_by: Option<u32>,
    },
    /// `nvidia-nvswitchN: SXid (...)`.
    SXid {
        /// The code.
        code: u32,
        /// Fatal or not, where the text says so.
        fatal: Option<bool>,
    },
    /// `GPU has fallen off the bus`, with or without an Xid 79.
    FallenOffBus,
    /// `RmInitAdapter failed` and its relatives, with the code in brackets.
    InitFailed {
        /// For example `0x62:0x1a:2631`.
        code: Option<String>,
    },
    /// `NVRM: loading NVIDIA UNIX … Kernel Module`.
    ModuleLoaded {
        /// Driver version.
        version: String,
        /// Open kernel module.
        open: bool,
    },
    /// `API mismatch: the client … has the version …`.
    ApiMismatch,
    /// The kernel refused `nvidia.ko`: `disagrees about version of symbol`, a key that was rejected.
    ModuleRejected,
    /// Any other line that a check wants:
    ///
    /// - `module-unsigned`: `nvidia: module verification failed … tainting kernel`; loaded all the same.
    /// - `module-rejected`: a module that is not named was refused for its signature.
    /// - `driver-conflict`: the probe routine was not called, or another driver owns the device.
    /// - `nouveau`: nouveau bound an NVIDIA GPU.
    /// - `not-supported-open`, `not-supported`: the GPU is too old for the open module, or for this release.
    /// - `power-cable`: the auxiliary power is not connected.
    /// - `gsp`: GSP firmware does not start or answer (Xid 119 and 120 come as [`KernelKind::Xid`]).
    /// - `bar-invalid`: an I/O region of an NVIDIA device is invalid; `bar-no-space`: no room for a BAR of a GPU;
    ///   `bar-no-space-other`: of a device that is not known to be one.
    /// - `pcie-bandwidth`: the link above a GPU limits it; `pcie-bandwidth-other`: of a device not known to be a GPU.
    /// - `aer-corrected`, `aer-nonfatal`, `aer-fatal`: `PCIe Bus Error` by severity; `aer-received`: reported without one.
    /// - `peermem-invalid-context`, `peermem`: nvidia-peermem errors.
    /// - `iommu-domain`: the default IOMMU domain type.
    /// - `segfault`, `trap`: a process crashed; `oom-kill`: the kernel killed one for memory; `oom-report`: the line that
    ///   says why.
    /// - `persistence-deprecated`.
    Other(&'static str),
}

/// Settings of one data loader, as the shim read them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Loader {
    /// Id within the process.
    pub id: Option<i64>,
    /// Class name.
    pub cls: Option<String>,
    /// Worker processes; 0 means that the training process loads by itself.
    pub num_workers: Option<i64>,
    /// Batches prefetched by each worker.
    pub prefetch_factor: Option<i64>,
    /// Workers survive the epoch.
    #[serde(alias = "persistent")]
    pub persistent_workers: Option<bool>,
    /// Batches are page-locked.
    pub pin_memory: Option<bool>,
    /// Samples a batch.
    #[serde(alias = "batch_size")]
    pub batch: Option<i64>,
}

/// One training step (step timings v1).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Step {
    /// Step number.
    pub i: Option<i64>,
    /// End of the step on the file's own clock.
    pub t_ns: Option<i64>,
    /// Time since the end of the step before.
    pub step_ms: f64,
    /// Time that the training thread stood in the loader.
    pub data_wait_ms: Option<f64>,
    /// Host time in backward.
    pub bwd_host_ms: Option<f64>,
    /// Host time in the optimiser.
    pub opt_host_ms: Option<f64>,
    /// Stream span between data return and optimiser end.
    pub gpu_span_ms: Option<f64>,
    /// Stream time between the optimiser's end and the next batch.
    pub boundary_idle_ms: Option<f64>,
    /// The GPU had run dry when the host came with the next batch.
    pub dry: Option<bool>,
    /// Micro batches.
    pub n_micro: Option<i64>,
    /// `train`, `eval`, …
    pub phase: Option<String>,
    /// The gradient scaler skipped the optimiser.
    pub skipped: Option<bool>,
    /// Garbage collector pauses.
    pub gc_ms: Option<f64>,
    /// Cost of recording this step.
    pub shim_us: Option<f64>,
    /// Items (samples, tokens) in the step.
    pub items: Option<f64>,
    /// Line in the file, from 1.
    #[serde(skip)]
    pub line: u32,
}

/// Step timings of one rank.
#[derive(Clone, Debug, Default)]
pub struct StepSeries {
    /// Input index.
    pub input: u32,
    /// Host name as recorded.
    pub host: Option<String>,
    /// Global rank.
    pub rank: Option<i64>,
    /// World size.
    pub world: Option<i64>,
    /// Process id.
    pub pid: Option<i64>,
    /// `perf_ns` and `wall_ns` of the meta line tie `t_ns` to wall time: wall = t_ns − perf_ns + wall_ns.
    pub anchor: Option<(i64, i64)>,
    /// Loader settings.
    pub loaders: Vec<Loader>,
    /// Settings of the training process (precision, sequence length, …) as the meta record has them.
    pub settings: std::collections::BTreeMap<String, crate::fact::Value>,
    /// Line of the meta record, from 1.
    pub meta_line: Option<u32>,
    /// The meta record's own text.
    pub meta_quote: Option<String>,
    /// Steps in file order.
    pub steps: Vec<Step>,
    /// Foreign logs: what was assumed (unit, column). `None` for our own format.
    pub assumed: Option<String>,
    /// Raw lines of the steps that a finding may quote, by line number.
    pub quotes: std::collections::BTreeMap<u32, std::sync::Arc<str>>,
}

impl StepSeries {
    /// The raw line of a step, where it was kept.
    #[must_use]
    pub fn quote(&self, step: &Step) -> Option<String> {
        self.quotes.get(&step.line).map(ToString::to_string)
    }

    /// Epoch ms of a step's end, where the file ties its clock to wall time.
    #[must_use]
    pub fn wall_ms(&self, step: &Step) -> Option<f64> {
        let (perf, wall) = self.anchor?;
        #[expect(clippy::cast_precision_loss, reason = "epoch ns/1e6 keeps sub-ms precision in f64")]
        Some((step.t_ns? - perf + wall) as f64 / 1e6)
    }
}

/// GPM counters over one window. A reading of zeros with NaN DRAM is no reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gpm {
    /// Graphics engine active.
    pub gr_pct: Option<f64>,
    /// SM active.
    pub sm_pct: Option<f64>,
    /// SM occupancy.
    pub occupancy_pct: Option<f64>,
    /// Any Tensor Core pipe active.
    pub tensor_pct: Option<f64>,
    /// DRAM bandwidth used.
    pub dram_pct: Option<f64>,
    /// FP32 pipe active.
    pub fp32_pct: Option<f64>,
    /// PCIe to the host.
    pub pcie_tx_mib_s: Option<f64>,
    /// PCIe to the GPU.
    pub pcie_rx_mib_s: Option<f64>,
}

/// One GPU in one sample.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuSample {
    /// GPU index.
    pub i: usize,
    /// Utilisation: share of the window with at least one kernel or copy.
    pub util_pct: Option<f64>,
    /// Memory controller utilisation.
    pub mem_util_pct: Option<f64>,
    /// Board power.
    pub power_w: Option<f64>,
    /// SM clock.
    pub sm_mhz: Option<f64>,
    /// Memory used.
    pub mem_used_mib: Option<f64>,
    /// Clock event reasons (NVML mask).
    pub reasons: Option<u64>,
    /// GPM counters.
    pub gpm: Option<Gpm>,
}

/// One sample of a node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// Epoch ms.
    pub t_ms: f64,
    /// GPUs.
    pub gpu: Vec<GpuSample>,
    /// user nice system idle iowait irq softirq steal of /proc/stat, 1/100 s.
    pub cpu_ticks: Option<Vec<u64>>,
    /// Time in which tasks waited for a resource, since boot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub psi: Option<Psi>,
    /// Whole disks; in about every tenth sample.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<DiskSample>,
    /// Network devices with traffic; in about every tenth sample.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub net: Vec<NetSample>,
    /// The control group of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<CgroupSample>,
    /// The run's processes; in about every tenth sample.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub procs: Vec<ProcSample>,
    /// Memory that can be used without swapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mem_available_mib: Option<f64>,
    /// Line in the file, from 1.
    #[serde(skip)]
    pub line: u32,
}

/// Pressure stall totals of `/proc/pressure`, µs since boot. "Some": at least one task waited; "full": all did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "resource and line of /proc/pressure")]
pub struct Psi {
    pub cpu_some_us: Option<u64>,
    pub memory_some_us: Option<u64>,
    pub memory_full_us: Option<u64>,
    pub io_some_us: Option<u64>,
    pub io_full_us: Option<u64>,
}

/// Counters of a whole disk since boot, from `/proc/diskstats`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DiskSample {
    /// Device name.
    pub name: String,
    /// Reads completed.
    pub reads: u64,
    /// KiB read.
    pub read_kib: u64,
    /// Time that reads took, summed over reads, ms.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    /// KiB written.
    pub write_kib: u64,
    /// Time that writes took, summed over writes, ms.
    pub write_ms: u64,
    /// Time in which the disk had work, ms.
    pub busy_ms: u64,
    /// Time that requests spent in the queue, summed, ms.
    pub queue_ms: u64,
}

/// Counters of a network device since boot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetSample {
    /// Device name.
    pub name: String,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
}

/// Counters of the run's control group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CgroupSample {
    /// CPU quota.
    pub quota_cores: Option<f64>,
    /// Scheduling periods.
    pub periods: Option<u64>,
    /// Periods in which it was throttled.
    pub throttled: Option<u64>,
    /// Time that it was throttled, µs.
    pub throttled_us: Option<u64>,
}

/// One process of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcSample {
    /// Process id.
    pub pid: i64,
    /// Parent's process id.
    pub ppid: i64,
    /// Name, at most 15 characters as the kernel keeps it.
    pub name: String,
    /// State letter: R running, S waiting, D waiting for a disk, …
    pub state: String,
    /// Threads.
    pub threads: Option<u64>,
    /// CPU time in user mode, 1/100 s.
    pub user_ticks: Option<u64>,
    /// CPU time in the kernel, 1/100 s.
    pub system_ticks: Option<u64>,
    /// Resident memory.
    pub rss_mib: Option<u64>,
    /// Bytes read from disks.
    pub read_bytes: Option<u64>,
    /// Bytes read by calls, from disks, page cache, pipes and sockets.
    pub read_chars: Option<u64>,
    /// Calls that read.
    pub read_calls: Option<u64>,
    /// Bytes written to disks.
    pub write_bytes: Option<u64>,
    /// It holds a context on a GPU.
    pub gpu: Option<bool>,
}

/// A GPU as the samples' meta line names it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SampledGpu {
    /// GPU index.
    pub i: usize,
    /// Product name.
    pub name: Option<String>,
    /// Power limit.
    pub power_limit_w: Option<f64>,
}

/// Samples of one node.
#[derive(Clone, Debug, Default)]
pub struct SampleSeries {
    /// Input index.
    pub input: u32,
    /// Host name as recorded.
    pub host: Option<String>,
    /// CPUs of the node.
    pub cpus: Option<i64>,
    /// Rate aimed at.
    pub hz: Option<f64>,
    /// GPUs.
    pub gpus: Vec<SampledGpu>,
    /// The source prints no time: `t_ms` is 0 in every sample, and the series cannot be put on an axis.
    pub untimed: bool,
    /// Samples in file order.
    pub samples: Vec<Sample>,
}
