//! Records of profilers and system tools that come in rows: kernels of Nsight Compute, NCCL's log and tests, disks of
//! iostat. `None` means that the source did not tell.

use crate::fact::Place;

/// One kernel launch that Nsight Compute profiled.
#[derive(Clone, Debug, Default)]
pub struct NcuKernel {
    /// Where its first row stands.
    pub place: Place,
    /// Name, demangled.
    pub name: String,
    /// Device index.
    pub device: Option<i64>,
    /// Compute capability.
    pub compute: Option<(u32, u32)>,
    /// Grid as printed.
    pub grid: Option<String>,
    /// Thread blocks.
    pub blocks: Option<u64>,
    /// Threads a block.
    pub threads: Option<u64>,
    /// Duration under the profiler.
    pub duration_ns: Option<f64>,
    /// Compute throughput, % of peak.
    pub sm_pct: Option<f64>,
    /// Memory throughput, % of peak.
    pub mem_pct: Option<f64>,
    /// DRAM throughput, % of peak.
    pub dram_pct: Option<f64>,
    /// Occupancy that its resources allow.
    pub occupancy_theoretical_pct: Option<f64>,
    /// Occupancy reached.
    pub occupancy_achieved_pct: Option<f64>,
    /// What limits occupancy: name and blocks per multiprocessor.
    pub occupancy_limits: Vec<(&'static str, f64)>,
    /// Waves per multiprocessor.
    pub waves: Option<f64>,
    /// Multiprocessors of the device.
    pub sms: Option<f64>,
    /// Registers a thread.
    pub registers: Option<f64>,
    /// Active threads per executed warp instruction, of 32.
    pub threads_active: Option<f64>,
    /// Of these, threads that no predicate switched off.
    pub threads_on: Option<f64>,
    /// Branches with all threads on one side.
    pub branch_uniform_pct: Option<f64>,
    /// Share of local-memory requests that come from register spilling.
    pub spill_pct: Option<f64>,
    /// Requests that come from register spilling.
    pub spills: Option<f64>,
    /// Instructions that touch local memory.
    pub local_instructions: Option<f64>,
    /// Useful bytes of each 32-byte sector read from global memory.
    pub load_bytes_per_sector: Option<f64>,
    /// Useful bytes of each 32-byte sector written to global memory.
    pub store_bytes_per_sector: Option<f64>,
    /// Sectors beyond what the accesses need.
    pub excess_sectors: Option<f64>,
    /// Sectors in all, as far as the profile has them.
    pub sectors: Option<f64>,
    /// Tensor Core pipe active, % of peak.
    pub tensor_pct: Option<f64>,
}

/// What an NCCL log says of its set-up.
#[derive(Clone, Debug, Default)]
pub struct NcclLog {
    /// Input index.
    pub input: u32,
    /// NCCL (or RCCL) version.
    pub version: Option<(String, Place)>,
    /// `Using network X`.
    pub network: Vec<(String, Place)>,
    /// Devices of the network plugin.
    pub devices: Vec<String>,
    /// `NET/IB : No device found`.
    pub no_device: Option<Place>,
    /// Interface of the socket transport.
    pub interface: Option<String>,
    /// Channel transports by how often they stand there: `P2P/CUMEM`, `SHM/direct`, `NET/IB/0/GDRDMA`.
    pub transports: Vec<(String, usize, Place)>,
    /// Variables set by the environment or a file: name, value.
    pub env: Vec<(String, String, Place)>,
    /// Ranks of the largest communicator.
    pub ranks: Option<i64>,
    /// Nodes, where told.
    pub nodes: Option<i64>,
    /// Rank of this process, where one is told.
    pub rank: Option<i64>,
    /// Channels of the communicator.
    pub channels: Option<i64>,
    /// `WARN` lines, the first ones.
    pub warnings: Vec<(String, Place)>,
    /// Host names, as prefixes of lines; never shown.
    pub hosts: usize,
}

/// One size of an nccl-tests run.
#[derive(Clone, Debug)]
pub struct NcclTest {
    /// Bytes.
    pub bytes: u64,
    /// Bus bandwidth, the better of out of place and in place.
    pub bus_gb_s: f64,
    /// Where it stands.
    pub place: Place,
}

/// A run of nccl-tests.
#[derive(Clone, Debug, Default)]
pub struct NcclBench {
    /// Input index.
    pub input: u32,
    /// `all_reduce_perf`, … where told.
    pub operation: Option<String>,
    /// Ranks.
    pub ranks: Option<i64>,
    /// Device names as printed.
    pub devices: Vec<String>,
    /// Nodes.
    pub nodes: Option<i64>,
    /// Sizes, ascending.
    pub sizes: Vec<NcclTest>,
    /// `Avg bus bandwidth`.
    pub average_gb_s: Option<f64>,
}

/// One report of `iostat -x` on one device.
#[derive(Clone, Debug, Default)]
pub struct DiskReport {
    /// Report number, from 0; the first covers the time since boot unless it was left out.
    pub report: usize,
    /// Device.
    pub device: String,
    /// Reads a second.
    pub reads_s: Option<f64>,
    /// MB read a second.
    pub read_mb_s: Option<f64>,
    /// Time that a read takes, ms.
    pub read_await_ms: Option<f64>,
    /// Size of a read, KiB.
    pub read_kib: Option<f64>,
    /// Requests in the queue.
    pub queue: Option<f64>,
    /// Time with at least one request.
    pub util_pct: Option<f64>,
    /// Where it stands.
    pub place: Place,
}
