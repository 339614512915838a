//! From NVML's readings to facts: units and words become those of the catalogue. Words follow what `nvidia-smi -q`
//! prints, so that a live node and its printed page give the same facts.
//!
//! It reads nothing itself.

use checks::keys as k;

use super::{Gpu, Inventory, Process};
use crate::probe::Reading;

/// Names of the clock event reasons by bit, as facts have them.
const REASONS: &[(u64, &str)] = &[
    (0x1, "idle"),
    (0x2, "app_clock_setting"),
    (0x4, "sw_power_cap"),
    (0x8, "hw_slowdown"),
    (0x10, "sync_boost"),
    (0x20, "sw_thermal_slowdown"),
    (0x40, "hw_thermal_slowdown"),
    (0x80, "hw_power_brake_slowdown"),
    (0x100, "display_clock_setting"),
];
/// NVML's codes for a GPU that has to be reset or is gone.
const LOST: &[i64] = &[15, 16];

/// The facts of an inventory.
pub(crate) fn facts(inventory: &Inventory) -> Reading {
    let mut r = Reading::default();
    if let Some(e) = &inventory.error {
        r.maybe(&k::NVML_ERROR, &[], e.code, "nvmlInit");
        r.put(&k::NVML_ERROR_TEXT, &[], e.text.as_str(), "nvmlInit");
    }
    r.maybe(&k::DRIVER, &[], inventory.driver.as_deref(), "nvmlSystemGetDriverVersion");
    r.maybe(&k::NVML_VERSION, &[], inventory.nvml.as_deref(), "nvmlSystemGetNVMLVersion");
    let cuda = inventory.cuda.map(|v| format!("{}.{}", v / 1000, v % 1000 / 10));
    r.maybe(&k::CUDA_VERSION, &[], cuda, "nvmlSystemGetCudaDriverVersion");
    if inventory.error.is_none() {
        r.put(&k::NVML_GPU_COUNT, &[], inventory.gpus.len(), "nvmlDeviceGetCount");
        r.put(&k::GPU_COUNT, &[], inventory.gpus.len(), "nvmlDeviceGetCount");
    }
    for gpu in &inventory.gpus {
        identity(gpu, &mut r);
        load(gpu, &mut r);
        power_and_clocks(gpu, &mut r);
        modes(gpu, &mut r);
        link(gpu, &mut r);
        memory_health(gpu, &mut r);
        for (n, p) in gpu.processes.iter().enumerate() {
            process(gpu.index, n, p, &mut r);
        }
    }
    r
}

fn identity(g: &Gpu, r: &mut Reading) {
    let i = &[g.index];
    if let Some(e) = &g.error {
        r.maybe(&k::GPU_ERROR, i, e.code, "nvmlDeviceGetHandleByIndex");
        if e.code.is_some_and(|c| LOST.contains(&c)) {
            r.put(&k::GPU_LOST, i, true, "nvmlDeviceGetHandleByIndex");
        }
    } else {
        r.put(&k::GPU_LOST, i, false, "nvmlDeviceGetHandleByIndex");
    }
    r.maybe(&k::GPU_NAME, i, g.name.as_deref(), "nvmlDeviceGetName");
    r.maybe(&k::GPU_UUID, i, g.uuid.as_deref(), "nvmlDeviceGetUUID");
    r.maybe(&k::GPU_BUS_ID, i, g.bus_id.as_deref(), "nvmlDeviceGetPciInfo");
    r.maybe(&k::GPU_BRAND, i, g.brand.as_deref(), "nvmlDeviceGetBrand");
    r.maybe(&k::GPU_ARCH, i, g.architecture.as_deref(), "nvmlDeviceGetArchitecture");
    r.maybe(&k::GPU_CAPABILITY, i, g.compute_capability.as_deref(), "nvmlDeviceGetCudaComputeCapability");
    r.maybe(&k::GPU_VBIOS, i, g.vbios.as_deref(), "nvmlDeviceGetVbiosVersion");
    r.maybe(&k::GPU_GSP_FIRMWARE, i, g.gsp_firmware.as_deref(), "nvmlDeviceGetGspFirmwareVersion");
    r.maybe(&k::GPU_INFOROM_VALID, i, g.inforom_valid, "nvmlDeviceValidateInforom");
    r.maybe(&k::GPU_GPM, i, g.gpm, "nvmlGpmQueryDeviceSupport");
    let action = g.recovery_action.and_then(|a| {
        ["None", "Reset", "Reboot", "Drain P2P", "Drain and Reset"].get(usize::try_from(a).ok()?).copied()
    });
    r.maybe(&k::GPU_RECOVERY_ACTION, i, action, "nvmlDeviceGetFieldValues 230");
}

fn load(g: &Gpu, r: &mut Reading) {
    let i = &[g.index];
    let pstate = g.pstate.map(|p| format!("P{p}"));
    r.maybe(&k::GPU_PSTATE, i, pstate, "nvmlDeviceGetPerformanceState");
    r.maybe(&k::GPU_UTIL, i, g.util_gpu_pct.map(f64::from), "nvmlDeviceGetUtilizationRates");
    r.maybe(&k::GPU_UTIL_MEM, i, g.util_mem_pct.map(f64::from), "nvmlDeviceGetUtilizationRates");
    r.maybe(&k::GPU_MEMORY_USED, i, g.memory_used.map(mib), "nvmlDeviceGetMemoryInfo_v2");
    r.maybe(&k::GPU_MEMORY_TOTAL, i, g.memory_total.map(mib), "nvmlDeviceGetMemoryInfo_v2");
    r.maybe(&k::GPU_MEMORY_RESERVED, i, g.memory_reserved.map(mib), "nvmlDeviceGetMemoryInfo_v2");
    r.maybe(&k::GPU_BAR1_TOTAL, i, g.bar1_total.map(mib), "nvmlDeviceGetBAR1MemoryInfo");
    r.maybe(&k::GPU_TEMPERATURE, i, g.temperature_c.map(f64::from), "nvmlDeviceGetTemperature");
    for (key, value) in [
        (k::GPU_SLOWDOWN_TEMP, g.slowdown_temp_c),
        (k::GPU_SHUTDOWN_TEMP, g.shutdown_temp_c),
        (k::GPU_MAX_OPERATING_TEMP, g.max_operating_temp_c),
        (k::GPU_MEMORY_MAX_TEMP, g.memory_max_operating_temp_c),
    ] {
        r.maybe(&key, i, value.map(f64::from), "nvmlDeviceGetTemperatureThreshold");
    }
    r.maybe(&k::GPU_MEMORY_TEMP, i, g.memory_temp_c.map(float), "nvmlDeviceGetFieldValues 82");
    let tlimit = g.slowdown_tlimit_c.and_then(|c| i32::try_from(c).ok()).map(f64::from);
    r.maybe(&k::GPU_SLOWDOWN_TLIMIT, i, tlimit, "nvmlDeviceGetFieldValues 194");
    r.maybe(&k::GPU_FAN, i, g.fan_pct.map(f64::from), "nvmlDeviceGetFanSpeed");
}

fn power_and_clocks(g: &Gpu, r: &mut Reading) {
    let i = &[g.index];
    let watts = |mw: Option<u32>| mw.map(|mw| f64::from(mw) / 1e3);
    let field = |mw: Option<u64>| mw.filter(|mw| *mw > 0).map(|mw| float(mw) / 1e3);
    r.maybe(&k::GPU_POWER, i, watts(g.power_mw), "nvmlDeviceGetPowerUsage");
    r.maybe(&k::GPU_POWER_AVG, i, field(g.power_average_mw), "nvmlDeviceGetFieldValues 185");
    r.maybe(&k::GPU_POWER_INSTANT, i, field(g.power_instant_mw), "nvmlDeviceGetFieldValues 186");
    r.maybe(&k::GPU_POWER_LIMIT, i, watts(g.power_limit_mw), "nvmlDeviceGetEnforcedPowerLimit");
    r.maybe(
        &k::GPU_POWER_LIMIT_DEFAULT,
        i,
        watts(g.power_limit_default_mw),
        "nvmlDeviceGetPowerManagementDefaultLimit",
    );
    let constraints = "nvmlDeviceGetPowerManagementLimitConstraints";
    r.maybe(&k::GPU_POWER_LIMIT_MIN, i, watts(g.power_limit_min_mw), constraints);
    r.maybe(&k::GPU_POWER_LIMIT_MAX, i, watts(g.power_limit_max_mw), constraints);
    for (key, value, call) in [
        (k::GPU_SM_CLOCK, g.sm_mhz, "nvmlDeviceGetClockInfo"),
        (k::GPU_SM_CLOCK_MAX, g.sm_max_mhz, "nvmlDeviceGetMaxClockInfo"),
        (k::GPU_MEM_CLOCK, g.mem_mhz, "nvmlDeviceGetClockInfo"),
        (k::GPU_MEM_CLOCK_MAX, g.mem_max_mhz, "nvmlDeviceGetMaxClockInfo"),
        (k::GPU_APP_CLOCK, g.app_mhz, "nvmlDeviceGetApplicationsClock"),
        (k::GPU_APP_CLOCK_DEFAULT, g.app_default_mhz, "nvmlDeviceGetDefaultApplicationsClock"),
    ] {
        r.maybe(&key, i, value.map(f64::from), call);
    }
    let active = g
        .reasons
        .map(|mask| REASONS.iter().filter(|(bit, _)| mask & bit != 0).map(|(_, name)| *name).collect::<Vec<_>>());
    r.maybe(&k::GPU_THROTTLE, i, active, "nvmlDeviceGetCurrentClocksEventReasons");
    for (key, ns) in [
        (k::GPU_COUNTER_SW_POWER_CAP, g.sw_power_cap_ns),
        (k::GPU_COUNTER_SYNC_BOOST, g.sync_boost_ns),
        (k::GPU_COUNTER_SW_THERMAL, g.sw_thermal_ns),
        (k::GPU_COUNTER_HW_THERMAL, g.hw_thermal_ns),
        (k::GPU_COUNTER_HW_POWER_BRAKE, g.hw_power_brake_ns),
    ] {
        r.maybe(&key, i, ns.map(|ns| float(ns / 1000)), "nvmlDeviceGetFieldValues, clock event reason counters");
    }
}

fn modes(g: &Gpu, r: &mut Reading) {
    let i = &[g.index];
    for (key, on, call) in [
        (k::GPU_PERSISTENCE, g.persistence, "nvmlDeviceGetPersistenceMode"),
        (k::GPU_ECC_MODE, g.ecc_current, "nvmlDeviceGetEccMode"),
        (k::GPU_ECC_PENDING, g.ecc_pending, "nvmlDeviceGetEccMode"),
        (k::GPU_MIG_MODE, g.mig_current, "nvmlDeviceGetMigMode"),
        (k::GPU_MIG_PENDING, g.mig_pending, "nvmlDeviceGetMigMode"),
        (k::GPU_DISPLAY_ACTIVE, g.display_active, "nvmlDeviceGetDisplayActive"),
    ] {
        r.maybe(&key, i, on.map(|on| if on { "Enabled" } else { "Disabled" }), call);
    }
    if g.mig_current == Some(true) {
        r.put(&k::GPU_MIG_DEVICES, i, g.mig.len(), "nvmlDeviceGetMigDeviceHandleByIndex");
        for (n, (used, total)) in g.mig.iter().enumerate() {
            r.put(&k::MIG_MEMORY_USED, &[g.index, n], mib(*used), "nvmlDeviceGetMemoryInfo_v2");
            r.put(&k::MIG_MEMORY_TOTAL, &[g.index, n], mib(*total), "nvmlDeviceGetMemoryInfo_v2");
        }
    }
    let compute = g.compute_mode.as_deref().map(|m| match m {
        "ExclusiveProcess" => "Exclusive_Process",
        "ExclusiveThread" => "Exclusive_Thread",
        other => other,
    });
    r.maybe(&k::GPU_COMPUTE_MODE, i, compute, "nvmlDeviceGetComputeMode");
    let virtualization = g.virtualization.as_deref().map(|v| match v {
        "Bare" => "None",
        "PassThrough" => "Pass-Through",
        "Vgpu" => "VGPU",
        "HostVgpu" => "Host VGPU",
        "HostVsga" => "Host VSGA",
        other => other,
    });
    r.maybe(&k::GPU_VIRTUALIZATION, i, virtualization, "nvmlDeviceGetVirtualizationMode");
}

fn link(g: &Gpu, r: &mut Reading) {
    let i = &[g.index];
    for (key, value, call) in [
        (k::PCIE_GEN_CURRENT, g.pcie_gen, "nvmlDeviceGetCurrPcieLinkGeneration"),
        (k::PCIE_GEN_MAX, g.pcie_gen_max, "nvmlDeviceGetMaxPcieLinkGeneration"),
        (k::PCIE_WIDTH_CURRENT, g.pcie_width, "nvmlDeviceGetCurrPcieLinkWidth"),
        (k::PCIE_WIDTH_MAX, g.pcie_width_max, "nvmlDeviceGetMaxPcieLinkWidth"),
    ] {
        // 0 is what a link that is down or hidden by a hypervisor reads as.
        r.maybe(&key, i, value.filter(|v| !matches!(v, 0 | 63 | 255)), call);
    }
    r.maybe(&k::PCIE_REPLAYS, i, g.pcie_replays, "nvmlDeviceGetPcieReplayCounter");
    let numa = g.numa_node.filter(|n| *n < 0xffff);
    r.maybe(&k::GPU_NUMA, i, numa, "nvmlDeviceGetNumaNodeId");
}

fn memory_health(g: &Gpu, r: &mut Reading) {
    let i = &[g.index];
    for (key, value, call) in [
        (k::ECC_AGG_SBE, g.ecc_aggregate_corrected, "nvmlDeviceGetTotalEccErrors"),
        (k::ECC_AGG_DBE, g.ecc_aggregate_uncorrected, "nvmlDeviceGetTotalEccErrors"),
        (k::ECC_VOL_SBE, g.ecc_volatile_corrected, "nvmlDeviceGetTotalEccErrors"),
        (k::ECC_VOL_DBE, g.ecc_volatile_uncorrected, "nvmlDeviceGetTotalEccErrors"),
        (k::RETIRED_SBE, g.retired_sbe, "nvmlDeviceGetFieldValues 29"),
        (k::RETIRED_DBE, g.retired_dbe, "nvmlDeviceGetFieldValues 30"),
        (k::REMAP_CORRECTABLE, g.remapped_correctable, "nvmlDeviceGetFieldValues 142"),
        (k::REMAP_UNCORRECTABLE, g.remapped_uncorrectable, "nvmlDeviceGetFieldValues 143"),
    ] {
        r.maybe(&key, i, value, call);
    }
    r.maybe(&k::RETIRED_PENDING, i, g.retired_pending, "nvmlDeviceGetFieldValues 31");
    r.maybe(&k::REMAP_PENDING, i, g.remap_pending, "nvmlDeviceGetFieldValues 144");
    r.maybe(&k::REMAP_FAILED, i, g.remap_failed, "nvmlDeviceGetFieldValues 145");
}

fn process(gpu: usize, n: usize, p: &Process, r: &mut Reading) {
    let i = &[gpu, n];
    let kind = match (p.compute, p.graphics) {
        (true, true) => "C+G",
        (false, true) => "G",
        _ => "C",
    };
    r.put(&k::PROC_PID, i, p.pid, "nvmlDeviceGetComputeRunningProcesses");
    r.put(&k::PROC_TYPE, i, kind, "nvmlDeviceGetComputeRunningProcesses");
    r.maybe(&k::PROC_NAME, i, p.name.as_deref(), "nvmlSystemGetProcessName");
    r.maybe(&k::PROC_MEMORY, i, p.memory.map(mib), "nvmlDeviceGetComputeRunningProcesses");
}

/// Whole MiB, as `nvidia-smi` prints them.
fn mib(bytes: u64) -> f64 {
    float(bytes >> 20)
}

#[expect(clippy::cast_precision_loss, reason = "readings are far below 2^53")]
fn float(n: u64) -> f64 {
    n as f64
}
