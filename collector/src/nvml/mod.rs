//! NVML readings as plain values in NVML's own units, behind a trait so that tests can use recorded ones.
//!
//! Each call may be missing (old driver), refused (container, vGPU) or unsupported (GeForce): then its value is absent.
//! It does not judge, and it never changes a setting of the GPU.

mod facts;
mod library;
mod recorded;

use checks::record::{GpuSample, SampledGpu};
use serde::{Deserialize, Serialize};

pub(crate) use facts::facts;
pub(crate) use library::Library;
pub(crate) use recorded::Recorded;

/// A source of NVML readings.
pub(crate) trait Nvml: Send {
    /// Everything about the node and its GPUs at this moment.
    fn inventory(&self) -> Inventory;
    /// The GPUs as the meta line of a sample file names them.
    fn sampled(&self) -> Vec<SampledGpu>;
    /// One sample of every GPU. It takes well under a millisecond a GPU, so nothing slow is in it.
    fn sample(&mut self) -> Vec<GpuSample>;
}

/// NVML's state and its GPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Inventory {
    /// Why NVML could not be used at all.
    pub error: Option<Failure>,
    /// Driver version.
    pub driver: Option<String>,
    /// Version of the library.
    pub nvml: Option<String>,
    /// Highest CUDA version, as 1000 × major + 10 × minor.
    pub cuda: Option<i64>,
    /// GPUs in NVML's order.
    pub gpus: Vec<Gpu>,
}

/// An error of NVML.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// `nvmlReturn_t`, where there is one.
    pub code: Option<i64>,
    /// In words.
    pub text: String,
}

/// One GPU. Each field is the NVML reading of that name, in NVML's own unit: mW, MHz, bytes, °C.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Gpu {
    pub index: usize,
    /// The GPU is listed but cannot be opened (lost, needs a reset, not permitted).
    pub error: Option<Failure>,
    pub name: Option<String>,
    pub uuid: Option<String>,
    pub bus_id: Option<String>,
    pub brand: Option<String>,
    pub architecture: Option<String>,
    pub compute_capability: Option<String>,
    pub pstate: Option<u32>,
    pub util_gpu_pct: Option<u32>,
    pub util_mem_pct: Option<u32>,
    pub temperature_c: Option<u32>,
    pub slowdown_temp_c: Option<u32>,
    pub shutdown_temp_c: Option<u32>,
    pub max_operating_temp_c: Option<u32>,
    pub memory_temp_c: Option<u64>,
    pub memory_max_operating_temp_c: Option<u32>,
    /// T.Limit at which the GPU slows down: degrees below the limit, signed.
    pub slowdown_tlimit_c: Option<i64>,
    pub power_mw: Option<u32>,
    pub power_average_mw: Option<u64>,
    pub power_instant_mw: Option<u64>,
    pub power_limit_mw: Option<u32>,
    pub power_limit_default_mw: Option<u32>,
    pub power_limit_min_mw: Option<u32>,
    pub power_limit_max_mw: Option<u32>,
    pub sm_mhz: Option<u32>,
    pub sm_max_mhz: Option<u32>,
    pub mem_mhz: Option<u32>,
    pub mem_max_mhz: Option<u32>,
    pub app_mhz: Option<u32>,
    pub app_default_mhz: Option<u32>,
    pub memory_used: Option<u64>,
    pub memory_total: Option<u64>,
    pub memory_reserved: Option<u64>,
    pub bar1_total: Option<u64>,
    pub fan_pct: Option<u32>,
    pub mig_current: Option<bool>,
    pub mig_pending: Option<bool>,
    /// Used and total bytes of each MIG device.
    pub mig: Vec<(u64, u64)>,
    pub persistence: Option<bool>,
    pub compute_mode: Option<String>,
    pub ecc_current: Option<bool>,
    pub ecc_pending: Option<bool>,
    pub vbios: Option<String>,
    pub gsp_firmware: Option<String>,
    pub inforom_valid: Option<bool>,
    /// Field 230: 0 none, 1 reset, 2 reboot, 3 drain P2P, 4 drain and reset.
    pub recovery_action: Option<u64>,
    pub virtualization: Option<String>,
    pub display_active: Option<bool>,
    /// Mask of the clock event reasons.
    pub reasons: Option<u64>,
    /// Times since the driver was loaded, in ns.
    pub sw_power_cap_ns: Option<u64>,
    pub sync_boost_ns: Option<u64>,
    pub sw_thermal_ns: Option<u64>,
    pub hw_thermal_ns: Option<u64>,
    pub hw_power_brake_ns: Option<u64>,
    pub pcie_gen: Option<u32>,
    pub pcie_gen_max: Option<u32>,
    pub pcie_width: Option<u32>,
    pub pcie_width_max: Option<u32>,
    pub pcie_replays: Option<u32>,
    pub numa_node: Option<u32>,
    pub ecc_aggregate_corrected: Option<u64>,
    pub ecc_aggregate_uncorrected: Option<u64>,
    pub ecc_volatile_corrected: Option<u64>,
    pub ecc_volatile_uncorrected: Option<u64>,
    pub retired_sbe: Option<u64>,
    pub retired_dbe: Option<u64>,
    pub retired_pending: Option<bool>,
    pub remapped_correctable: Option<u64>,
    pub remapped_uncorrectable: Option<u64>,
    pub remap_pending: Option<bool>,
    pub remap_failed: Option<bool>,
    pub gpm: Option<bool>,
    pub processes: Vec<Process>,
}

/// A process that holds a context on a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Process {
    /// Process id in NVML's view, which inside a container may not be the container's.
    pub pid: u32,
    /// It computes.
    pub compute: bool,
    /// It draws.
    pub graphics: bool,
    /// GPU memory in bytes, where the driver tells.
    pub memory: Option<u64>,
    /// Path or name.
    pub name: Option<String>,
}
