//! The real NVML, through `nvml-wrapper`. The library is loaded by its runtime name: the bare one is in development
//! packages only.
//!
//! Calls that take long (the PCIe throughput call holds 20 ms) or change anything are not made.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::time::{Duration, Instant};

use checks::record::{Gpm, GpuSample, SampledGpu};
use nvml_wrapper::enum_wrappers::device::{
    Clock, EccCounter, MemoryError, TemperatureSensor, TemperatureThreshold as Threshold,
};
use nvml_wrapper::enums::device::{SampleValue, UsedGpuMemory};
use nvml_wrapper::enums::gpm::GpmMetricId;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::gpm::{GpmSample, gpm_metrics_get};
use nvml_wrapper::structs::device::FieldId;
use nvml_wrapper::sys_exports::field_id as id;
use nvml_wrapper::{Device, Nvml as Handle};

use super::{Failure, Gpu, Inventory, Nvml, Process};

/// Where the library lies when the loader does not know it: WSL2, NixOS, and images of container platforms.
const PATHS: &[&str] = &[
    "libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
    "/run/opengl-driver/lib/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
];
/// The counters of GPM are refreshed every 100 ms on an H200; a shorter window may hold no refresh and then reads as
/// zeros (seen), so none shorter is asked for.
const GPM_WINDOW: Duration = Duration::from_millis(100);
/// The GPM counters that a sample has, in the order in which they are asked for.
const GPM: [GpmMetricId; 8] = [
    GpmMetricId::GraphicsUtil,
    GpmMetricId::SmUtil,
    GpmMetricId::SmOccupancy,
    GpmMetricId::AnyTensorUtil,
    GpmMetricId::DramBwUtil,
    GpmMetricId::Fp32Util,
    GpmMetricId::PcieTxPerSec,
    GpmMetricId::PcieRxPerSec,
];

/// The loaded library and what is kept between samples.
pub(crate) struct Library {
    nvml: &'static Handle,
    /// GPUs that have GPM, with the start of their present window.
    windows: BTreeMap<usize, (Instant, GpmSample<'static>)>,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").field("windows", &self.windows.len()).finish_non_exhaustive()
    }
}

impl Library {
    /// Loads and initialises NVML, and starts a GPM window on every GPU that has GPM.
    ///
    /// # Errors
    /// With NVML's code: 9 the driver is not loaded, 12 there is no library, 18 its version is not the driver's, …
    pub(crate) fn open() -> Result<Self, Failure> {
        let mut first = None;
        for path in PATHS {
            match Handle::builder().lib_path(OsStr::new(path)).init() {
                Ok(handle) => {
                    // GPM samples borrow the handle and are kept across calls. One handle a process, which ends with it.
                    let nvml: &'static Handle = Box::leak(Box::new(handle));
                    let mut library = Self { nvml, windows: BTreeMap::new() };
                    library.open_windows();
                    return Ok(library);
                }
                // A library that is there but fails says more than one that is not there.
                Err(e @ NvmlError::LibloadingError(_)) => first = first.or(Some(failure(&e))),
                Err(e) => return Err(failure(&e)),
            }
        }
        Err(first.unwrap_or_default())
    }

    fn devices(&self) -> impl Iterator<Item = (usize, Result<Device<'static>, NvmlError>)> + use<> {
        let nvml = self.nvml;
        (0..nvml.device_count().unwrap_or(0)).map(move |i| (i as usize, nvml.device_by_index(i)))
    }

    fn open_windows(&mut self) {
        for (i, device) in self.devices() {
            if let Ok(device) = device
                && device.gpm_support().unwrap_or(false)
                && let Ok(sample) = device.gpm_sample()
            {
                self.windows.insert(i, (Instant::now(), sample));
            }
        }
    }

    /// GPM since the window's start, or nothing while the window is too short or the counters were not refreshed in it.
    fn gpm(&mut self, i: usize, device: &Device<'static>) -> Option<Gpm> {
        let (since, start) = self.windows.get(&i)?;
        if since.elapsed() < GPM_WINDOW {
            return None;
        }
        let end = device.gpm_sample().ok()?;
        let taken = Instant::now();
        let read = gpm_metrics_get(self.nvml, start, &end, &GPM).ok()?;
        let value = |n: usize| -> Option<f64> {
            let v = read.get(n)?.as_ref().ok()?.value;
            v.is_finite().then(|| (v * 100.0).round() / 100.0)
        };
        let gpm = Gpm {
            gr_pct: value(0),
            sm_pct: value(1),
            occupancy_pct: value(2),
            tensor_pct: value(3),
            dram_pct: value(4),
            fp32_pct: value(5),
            pcie_tx_mib_s: value(6),
            pcie_rx_mib_s: value(7),
        };
        // Without a DRAM reading the counters were not refreshed yet: the window goes on.
        gpm.dram_pct?;
        self.windows.insert(i, (taken, end));
        Some(gpm)
    }

    fn gpu(&self, index: usize, d: &Device<'static>) -> Gpu {
        let memory = d.memory_info().ok();
        let bar1 = d.bar1_memory_info().ok();
        let util = d.utilization_rates().ok();
        let limits = d.power_management_limit_constraints().ok();
        let ecc = d.is_ecc_enabled().ok();
        let mig = d.mig_mode().ok();
        let temperature = |t: Threshold| d.temperature_threshold(t).ok().filter(|c| *c > 0);
        let errors = |kind, counter| d.total_ecc_errors(kind, counter).ok();
        let f = Fields::read(d);
        // A GPU that was lost after NVML had listed it still has a handle, but answers nothing.
        let gone = |e: &NvmlError| matches!(e, NvmlError::GpuLost | NvmlError::ResetRequired);
        let lost = d.temperature(TemperatureSensor::Gpu).err().or(d.memory_info().err()).filter(gone);
        Gpu {
            index,
            error: lost.map(|e| failure(&e)),
            name: d.name().ok(),
            uuid: d.uuid().ok(),
            bus_id: d.pci_info().ok().map(|p| p.bus_id),
            brand: d.brand().ok().map(|b| format!("{b:?}")),
            architecture: d.architecture().ok().map(|a| a.to_string()),
            compute_capability: d.cuda_compute_capability().ok().map(|c| format!("{}.{}", c.major, c.minor)),
            // `PerformanceState` numbers the states in order from 0; 32 is "unknown" and has no place in that order.
            pstate: d.performance_state().ok().map(|p| p.as_c()).filter(|p| *p < 16),
            util_gpu_pct: util.as_ref().map(|u| u.gpu),
            util_mem_pct: util.as_ref().map(|u| u.memory),
            temperature_c: d.temperature(TemperatureSensor::Gpu).ok(),
            slowdown_temp_c: temperature(Threshold::Slowdown),
            shutdown_temp_c: temperature(Threshold::Shutdown),
            max_operating_temp_c: temperature(Threshold::GpuMax),
            memory_temp_c: f.get(id::NVML_FI_DEV_MEMORY_TEMP).filter(|c| *c > 0),
            memory_max_operating_temp_c: temperature(Threshold::MemoryMax),
            slowdown_tlimit_c: f.signed(id::NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT),
            power_mw: d.power_usage().ok(),
            power_average_mw: f.get(id::NVML_FI_DEV_POWER_AVERAGE),
            power_instant_mw: f.get(id::NVML_FI_DEV_POWER_INSTANT),
            power_limit_mw: d.enforced_power_limit().ok(),
            power_limit_default_mw: d.power_management_limit_default().ok(),
            power_limit_min_mw: limits.as_ref().map(|l| l.min_limit),
            power_limit_max_mw: limits.as_ref().map(|l| l.max_limit),
            sm_mhz: d.clock_info(Clock::SM).ok(),
            sm_max_mhz: d.max_clock_info(Clock::SM).ok(),
            mem_mhz: d.clock_info(Clock::Memory).ok(),
            mem_max_mhz: d.max_clock_info(Clock::Memory).ok(),
            app_mhz: d.applications_clock(Clock::Graphics).ok(),
            app_default_mhz: d.default_applications_clock(Clock::Graphics).ok(),
            memory_used: memory.as_ref().map(|m| m.used),
            memory_total: memory.as_ref().map(|m| m.total),
            memory_reserved: memory.as_ref().map(|m| m.reserved),
            bar1_total: bar1.map(|b| b.total),
            fan_pct: d.fan_speed(0).ok(),
            mig_current: mig.as_ref().map(|m| m.current == 1),
            mig_pending: mig.as_ref().map(|m| m.pending == 1),
            mig: mig.filter(|m| m.current == 1).map(|_| mig_devices(d)).unwrap_or_default(),
            persistence: d.is_in_persistent_mode().ok(),
            compute_mode: d.compute_mode().ok().map(|m| format!("{m:?}")),
            ecc_current: ecc.as_ref().map(|e| e.currently_enabled),
            ecc_pending: ecc.as_ref().map(|e| e.pending_enabled),
            vbios: d.vbios_version().ok(),
            gsp_firmware: d.gsp_firmware_version().ok(),
            inforom_valid: match d.validate_info_rom() {
                Ok(()) => Some(true),
                Err(NvmlError::CorruptedInfoROM) => Some(false),
                Err(_) => None,
            },
            recovery_action: f.get(id::NVML_FI_DEV_GET_GPU_RECOVERY_ACTION),
            virtualization: d.virtualization_mode().ok().map(|v| format!("{v:?}")),
            display_active: d.is_display_active().ok(),
            reasons: d.current_throttle_reasons().ok().map(|r| r.bits()),
            sw_power_cap_ns: f.get(id::NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP),
            sync_boost_ns: f.get(id::NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST),
            sw_thermal_ns: f.get(id::NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN),
            hw_thermal_ns: f.get(id::NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN),
            hw_power_brake_ns: f.get(id::NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN),
            pcie_gen: d.current_pcie_link_gen().ok(),
            pcie_gen_max: d.max_pcie_link_gen().ok(),
            pcie_width: d.current_pcie_link_width().ok(),
            pcie_width_max: d.max_pcie_link_width().ok(),
            pcie_replays: d.pcie_replay_counter().ok(),
            numa_node: d.numa_node_id().ok(),
            ecc_aggregate_corrected: errors(MemoryError::Corrected, EccCounter::Aggregate),
            ecc_aggregate_uncorrected: errors(MemoryError::Uncorrected, EccCounter::Aggregate),
            ecc_volatile_corrected: errors(MemoryError::Corrected, EccCounter::Volatile),
            ecc_volatile_uncorrected: errors(MemoryError::Uncorrected, EccCounter::Volatile),
            retired_sbe: f.get(id::NVML_FI_DEV_RETIRED_SBE),
            retired_dbe: f.get(id::NVML_FI_DEV_RETIRED_DBE),
            retired_pending: f.get(id::NVML_FI_DEV_RETIRED_PENDING).map(|p| p != 0),
            remapped_correctable: f.get(id::NVML_FI_DEV_REMAPPED_COR),
            remapped_uncorrectable: f.get(id::NVML_FI_DEV_REMAPPED_UNC),
            remap_pending: f.get(id::NVML_FI_DEV_REMAPPED_PENDING).map(|p| p != 0),
            remap_failed: f.get(id::NVML_FI_DEV_REMAPPED_FAILURE).map(|p| p != 0),
            gpm: Some(self.windows.contains_key(&index)),
            processes: processes(self.nvml, d),
        }
    }
}

impl Nvml for Library {
    fn inventory(&self) -> Inventory {
        let gpus = self.devices().map(|(index, device)| match device {
            Ok(d) => self.gpu(index, &d),
            Err(e) => Gpu { index, error: Some(failure(&e)), ..Gpu::default() },
        });
        Inventory {
            error: self.nvml.device_count().err().map(|e| failure(&e)),
            driver: self.nvml.sys_driver_version().ok(),
            nvml: self.nvml.sys_nvml_version().ok(),
            cuda: self.nvml.sys_cuda_driver_version().ok().map(i64::from),
            gpus: gpus.collect(),
        }
    }

    fn sampled(&self) -> Vec<SampledGpu> {
        self.devices()
            .filter_map(|(i, d)| {
                let d = d.ok()?;
                let power_limit_w = d.enforced_power_limit().ok().map(|mw| f64::from(mw) / 1e3);
                Some(SampledGpu { i, name: d.name().ok(), power_limit_w })
            })
            .collect()
    }

    fn sample(&mut self) -> Vec<GpuSample> {
        self.devices()
            .filter_map(|(i, d)| {
                let d = d.ok()?;
                let util = d.utilization_rates().ok();
                Some(GpuSample {
                    i,
                    util_pct: util.as_ref().map(|u| f64::from(u.gpu)),
                    mem_util_pct: util.as_ref().map(|u| f64::from(u.memory)),
                    power_w: d.power_usage().ok().map(|mw| f64::from(mw) / 1e3),
                    sm_mhz: d.clock_info(Clock::SM).ok().map(f64::from),
                    mem_used_mib: d.memory_info().ok().map(|m| (m.used / 1_048_576) as f64),
                    reasons: d.current_throttle_reasons().ok().map(|r| r.bits()),
                    gpm: self.gpm(i, &d),
                })
            })
            .collect()
    }
}

/// Values that are read by number, in one call.
struct Fields(BTreeMap<u32, i128>);

impl Fields {
    const IDS: [u32; 18] = [
        id::NVML_FI_DEV_MEMORY_TEMP,
        id::NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT,
        id::NVML_FI_DEV_POWER_AVERAGE,
        id::NVML_FI_DEV_POWER_INSTANT,
        id::NVML_FI_DEV_GET_GPU_RECOVERY_ACTION,
        id::NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP,
        id::NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST,
        id::NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN,
        id::NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN,
        id::NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN,
        id::NVML_FI_DEV_RETIRED_SBE,
        id::NVML_FI_DEV_RETIRED_DBE,
        id::NVML_FI_DEV_RETIRED_PENDING,
        id::NVML_FI_DEV_REMAPPED_COR,
        id::NVML_FI_DEV_REMAPPED_UNC,
        id::NVML_FI_DEV_REMAPPED_PENDING,
        id::NVML_FI_DEV_REMAPPED_FAILURE,
        id::NVML_FI_DEV_POWER_CURRENT_LIMIT,
    ];

    fn read(d: &Device<'_>) -> Self {
        let ids = Self::IDS.map(FieldId);
        let read = d.field_values_for(&ids).unwrap_or_default();
        let number = |v: SampleValue| match v {
            SampleValue::U32(n) => i128::from(n),
            SampleValue::U64(n) => i128::from(n),
            SampleValue::I64(n) => i128::from(n),
            #[expect(clippy::cast_possible_truncation, reason = "no field asked for is a fraction")]
            SampleValue::F64(n) => n as i128,
        };
        // The answers stand in the order of the questions; the ids in them may have been renumbered for the driver.
        let pairs = Self::IDS.into_iter().zip(read).filter_map(|(id, r)| Some((id, number(r.ok()?.value.ok()?))));
        Self(pairs.collect())
    }

    fn get(&self, id: u32) -> Option<u64> {
        self.0.get(&id).and_then(|n| u64::try_from(*n).ok())
    }

    /// A small signed number that NVML may hand over in an unsigned field.
    fn signed(&self, id: u32) -> Option<i64> {
        let n = i64::try_from(*self.0.get(&id)?).ok()?;
        let wrapped = u32::try_from(n).ok().map(u32::cast_signed).map(i64::from);
        Some(wrapped.filter(|w| w.abs() < 1000).unwrap_or(n)).filter(|n| n.abs() < 1000)
    }
}

fn mig_devices(d: &Device<'_>) -> Vec<(u64, u64)> {
    let count = d.mig_device_count().unwrap_or(0);
    (0..count).filter_map(|i| d.mig_device_by_index(i).ok()?.memory_info().ok()).map(|m| (m.used, m.total)).collect()
}

fn processes(nvml: &Handle, d: &Device<'_>) -> Vec<Process> {
    let mut all: BTreeMap<u32, Process> = BTreeMap::new();
    let memory = |m: &UsedGpuMemory| match m {
        UsedGpuMemory::Used(bytes) => Some(*bytes),
        UsedGpuMemory::Unavailable => None,
    };
    for (compute, list) in [(true, d.running_compute_processes()), (false, d.running_graphics_processes())] {
        for p in list.unwrap_or_default() {
            let entry = all.entry(p.pid).or_insert_with(|| Process {
                pid: p.pid,
                name: nvml.sys_process_name(p.pid, 256).ok().filter(|n| !n.is_empty()),
                ..Process::default()
            });
            entry.memory = entry.memory.max(memory(&p.used_gpu_memory));
            if compute {
                entry.compute = true;
            } else {
                entry.graphics = true;
            }
        }
    }
    all.into_values().collect()
}

/// NVML's number for an error; the wrapper keeps names only.
fn failure(e: &NvmlError) -> Failure {
    let code = match e {
        NvmlError::Uninitialized => Some(1),
        NvmlError::InvalidArg => Some(2),
        NvmlError::NotSupported => Some(3),
        NvmlError::NoPermission => Some(4),
        NvmlError::NotFound => Some(6),
        NvmlError::InsufficientPower => Some(8),
        NvmlError::DriverNotLoaded => Some(9),
        NvmlError::Timeout => Some(10),
        NvmlError::IrqIssue => Some(11),
        NvmlError::LibraryNotFound | NvmlError::LibloadingError(_) => Some(12),
        NvmlError::FunctionNotFound | NvmlError::FailedToLoadSymbol(_) => Some(13),
        NvmlError::CorruptedInfoROM => Some(14),
        NvmlError::GpuLost => Some(15),
        NvmlError::ResetRequired => Some(16),
        NvmlError::OperatingSystem => Some(17),
        NvmlError::LibRmVersionMismatch => Some(18),
        NvmlError::InUse => Some(19),
        NvmlError::Unknown => Some(999),
        _ => None,
    };
    let text = match e {
        NvmlError::LibloadingError(_) => {
            "libnvidia-ml.so.1 is not there, so no NVIDIA driver is installed here".to_owned()
        }
        e => e.to_string(),
    };
    Failure { code, text }
}
