//! Every fact's name, unit and meaning, declared once. Parsers write and checks read through these, so that a misspelt
//! path does not compile instead of staying unknown for ever.
//!
//! Paths and units are a contract: stored reports, labels and the scorer use them.

use std::marker::PhantomData;

use crate::fact::Key;

macro_rules! keys {
    ($($(#[$m:meta])* $name:ident: $t:ty = $path:literal, $unit:literal, $what:literal;)*) => {
        $(#[doc = $what] pub const $name: Key<$t> = Key { path: $path, unit: $unit, what: $what, of: PhantomData };)*
        /// Path pattern, unit and meaning of every key.
        pub const ALL: &[(&str, &str, &str)] = &[$(($path, $unit, $what)),*];
        /// Path pattern and Rust type of every key, for readers of hand-written facts.
        pub const TYPES: &[(&str, &str)] = &[$(($path, stringify!($t))),*];
    };
}

keys! {
    // node
    DRIVER: String = "driver", "", "driver version";
    KMD_VERSION: String = "kmd_version", "", "kernel-mode driver version (610 and newer)";
    TOOL_VERSION: String = "tool_version", "", "version of nvidia-smi itself";
    CUDA_UMD_VERSION: String = "cuda_umd_version", "", "CUDA version of the user-mode driver (610 and newer)";
    TIMESTAMP: String = "timestamp", "", "time printed by the source, in its own time zone";
    FIELDS: i64 = "fields", "", "columns of a query";
    CUDA_VERSION: String = "cuda_version", "", "highest CUDA version of the driver";
    GPU_COUNT: i64 = "gpu_count", "", "GPUs listed";
    ATTACHED_GPUS: i64 = "attached_gpus", "", "GPUs that the driver says are attached";
    GPU_ELEMENTS: i64 = "gpu_elements", "", "gpu elements in the XML";
    PCI_GPU_COUNT: i64 = "pci_gpu_count", "", "NVIDIA display-class functions on the PCI bus";
    NVML_GPU_COUNT: i64 = "nvml_gpu_count", "", "GPUs that NVML enumerates";
    NVML_ERROR: i64 = "nvml.error_code", "", "NVML's error code at initialisation";
    NVML_ERROR_TEXT: String = "nvml.error", "", "NVML's error at initialisation, in words";
    NVML_LIBRARY: String = "nvml.library_version", "", "version of the NVML library in user space";
    LOST_GPUS: Vec<String> = "lost_gpus", "", "PCI bus ids of GPUs that the driver cannot reach";
    HOST: String = "host", "", "host name";
    OS: String = "os", "", "operating system";
    KERNEL: String = "kernel", "", "kernel release";
    CPU_COUNT: i64 = "cpu_count", "", "CPUs online";
    CPU_MODEL: String = "cpu_model", "", "CPU model";
    MEMORY_TOTAL: i64 = "memory_total_mib", "MiB", "main memory of the node";
    NUMA_NODES: i64 = "numa_nodes", "", "NUMA nodes";

    // platform
    WSL2: bool = "platform.wsl2", "", "runs under WSL2";
    CONTAINER: bool = "platform.container", "", "runs in a container";
    VIRTUAL_MACHINE: bool = "platform.vm", "", "runs in a virtual machine";
    DXG: bool = "platform.dev_dxg", "", "/dev/dxg exists";

    PLATFORM_KIND: String = "platform.kind", "", "container runtime or hypervisor, by name";

    // what this session may use
    CGROUP_CPU_QUOTA: f64 = "cgroup.cpu_quota_cores", "cores", "CPU quota of the cgroup";
    CGROUP_CPU_PERIODS: i64 = "cgroup.cpu_periods", "", "scheduling periods of the cgroup so far";
    CGROUP_CPU_THROTTLED: i64 = "cgroup.cpu_throttled_periods", "", "scheduling periods in which the cgroup was throttled";
    CGROUP_CPU_THROTTLED_MS: f64 = "cgroup.cpu_throttled_ms", "ms", "time that the cgroup was throttled";
    CGROUP_MEMORY_LIMIT: f64 = "cgroup.memory_limit_mib", "MiB", "memory limit of the cgroup";
    CGROUP_MEMORY_USED: f64 = "cgroup.memory_used_mib", "MiB", "memory used in the cgroup";
    CGROUP_OOM_KILLS: i64 = "cgroup.oom_kills", "", "processes of the cgroup that were killed for memory";
    CPUS_ALLOWED: i64 = "cpus_allowed", "", "CPUs that this session may run on";
    MEMLOCK_LIMIT: f64 = "limit.memlock_kib", "KiB", "locked-memory limit; absent when unlimited";
    MEMLOCK_UNLIMITED: bool = "limit.memlock_unlimited", "", "locked memory is not limited";
    SHM_TOTAL: f64 = "shm.total_mib", "MiB", "size of /dev/shm";
    SHM_USED: f64 = "shm.used_mib", "MiB", "used of /dev/shm";

    // the node's load
    MEMORY_AVAILABLE: f64 = "memory_available_mib", "MiB", "memory that can be used without swapping";
    SWAP_USED: f64 = "swap_used_mib", "MiB", "swap in use";
    LOAD_1: f64 = "load_1m", "", "load average over a minute";
    PSI_CPU_SOME: f64 = "psi.cpu_some_avg10_pct", "%", "time in which some task waited for a CPU, over 10 s";
    PSI_MEMORY_SOME: f64 = "psi.memory_some_avg10_pct", "%", "time in which some task waited for memory, over 10 s";
    PSI_MEMORY_FULL: f64 = "psi.memory_full_avg10_pct", "%", "time in which all tasks waited for memory, over 10 s";
    PSI_IO_SOME: f64 = "psi.io_some_avg10_pct", "%", "time in which some task waited for I/O, over 10 s";
    PSI_IO_FULL: f64 = "psi.io_full_avg10_pct", "%", "time in which all tasks waited for I/O, over 10 s";
    CPU_GOVERNOR: String = "cpu_governor", "", "frequency governor of the CPUs";
    NVSWITCHES: i64 = "nvswitch_count", "", "NVSwitch functions on the PCI bus";
    PCI_UNLISTED: Vec<String> = "pci_gpus_unlisted", "", "NVIDIA GPUs on the PCI bus that NVML does not list, with their kernel driver";
    NVML_VERSION: String = "nvml.version", "", "version of the NVML library";

    // kernel modules and device files
    MODULE_NVIDIA: bool = "module.nvidia", "", "nvidia.ko is loaded";
    MODULE_UVM: bool = "module.nvidia_uvm", "", "nvidia_uvm.ko is loaded";
    MODULE_NOUVEAU: bool = "module.nouveau", "", "nouveau is loaded";
    MODULE_PEERMEM: bool = "module.nvidia_peermem", "", "nvidia_peermem.ko is loaded";
    MODULE_FS: bool = "module.nvidia_fs", "", "nvidia_fs.ko (GPUDirect Storage) is loaded";
    PROFILING_ADMIN_ONLY: bool = "profiling_admin_only", "", "the driver keeps performance counters for root";
    PARAM_GSP: i64 = "driver_param.enable_gpu_firmware", "", "module parameter EnableGpuFirmware";
    MODULE_VERSION: String = "module.version", "", "version of the loaded kernel module";
    MODULE_OPEN: bool = "module.open", "", "the loaded kernel module is the open one";
    DEV_NVIDIACTL: bool = "dev.nvidiactl", "", "/dev/nvidiactl exists";
    DEV_UVM: bool = "dev.nvidia_uvm", "", "/dev/nvidia-uvm exists";
    DEV_GPUS: i64 = "dev.nvidia_gpus", "", "/dev/nvidiaN files";

    // GPU
    GPU_NAME: String = "gpu[].name", "", "product name";
    GPU_NAME_TRUNCATED: String = "gpu[].name_truncated", "", "product name, cut short by the table";
    GPU_UUID: String = "gpu[].uuid", "", "GPU UUID";
    GPU_MINOR: i64 = "gpu[].minor_number", "", "number of the device file /dev/nvidiaN";
    GPU_BRAND: String = "gpu[].brand", "", "product brand";
    GPU_ARCH: String = "gpu[].architecture", "", "architecture";
    GPU_BUS_ID: String = "gpu[].bus_id", "", "PCI bus id, as printed";
    GPU_SLOT: String = "gpu[].slot", "", "PCI slot, as lspci prints it";
    GPU_DEVICE_ID: String = "gpu[].device_id", "", "PCI vendor and device id";
    GPU_LOST: bool = "gpu[].lost", "", "the driver says that this GPU is lost or needs a reset";
    GPU_EXCLUDED: bool = "gpu[].excluded", "", "the driver was told to leave this GPU out";
    GPU_RESET_REQUIRED: bool = "gpu[].reset_required", "", "the driver says that this GPU must be reset";
    GPU_DRAIN_RESET: bool = "gpu[].drain_and_reset_recommended", "", "the driver recommends draining and resetting this GPU";
    GPU_PSTATE: String = "gpu[].pstate", "", "performance state";
    GPU_UTIL: f64 = "gpu[].util_gpu_pct", "%", "GPU utilisation";
    GPU_UTIL_MEM: f64 = "gpu[].util_mem_pct", "%", "memory controller utilisation";
    GPU_UTIL_MEAN: f64 = "gpu[].util_gpu_mean_pct", "%", "mean of the driver's own buffer of utilisation samples";
    GPU_UTIL_PEAK: f64 = "gpu[].util_gpu_peak_pct", "%", "highest of the driver's own buffer of utilisation samples";
    GPU_UTIL_ENCODER: f64 = "gpu[].util_encoder_pct", "%", "video encoder utilisation";
    GPU_UTIL_DECODER: f64 = "gpu[].util_decoder_pct", "%", "video decoder utilisation";
    GPU_TEMPERATURE: f64 = "gpu[].temperature_c", "°C", "GPU temperature";
    GPU_TLIMIT_MARGIN: f64 = "gpu[].tlimit_margin_c", "°C", "degrees left to the temperature limit";
    GPU_SLOWDOWN_TEMP: f64 = "gpu[].slowdown_temp_c", "°C", "slowdown temperature";
    GPU_SHUTDOWN_TEMP: f64 = "gpu[].shutdown_temp_c", "°C", "shutdown temperature";
    GPU_MAX_OPERATING_TEMP: f64 = "gpu[].max_operating_temp_c", "°C", "maximum operating temperature";
    GPU_SLOWDOWN_TLIMIT: f64 = "gpu[].slowdown_tlimit_c", "°C", "margin at which the GPU slows down";
    GPU_SHUTDOWN_TLIMIT: f64 = "gpu[].shutdown_tlimit_c", "°C", "margin at which the GPU shuts down";
    GPU_MAX_OPERATING_TLIMIT: f64 = "gpu[].max_operating_tlimit_c", "°C", "margin at the maximum operating temperature";
    GPU_TARGET_TEMP: f64 = "gpu[].target_temp_c", "°C", "temperature that the fan and clock control aim at";
    GPU_MEMORY_TEMP: f64 = "gpu[].memory_temp_c", "°C", "memory temperature";
    GPU_MEMORY_MAX_TEMP: f64 = "gpu[].memory_max_operating_temp_c", "°C", "maximum operating temperature of the memory";
    GPU_MEMORY_MAX_TLIMIT: f64 = "gpu[].memory_max_operating_tlimit_c", "°C", "margin at the maximum operating temperature of the memory";
    GPU_POWER: f64 = "gpu[].power_draw_w", "W", "power draw";
    GPU_POWER_AVG: f64 = "gpu[].power_draw_avg_w", "W", "average power draw";
    GPU_POWER_INSTANT: f64 = "gpu[].power_draw_instant_w", "W", "instantaneous power draw";
    GPU_POWER_MEAN: f64 = "gpu[].power_draw_mean_w", "W", "mean of the driver's own buffer of power samples";
    GPU_POWER_LIMIT: f64 = "gpu[].power_limit_w", "W", "power limit in force";
    GPU_POWER_LIMIT_REQUESTED: f64 = "gpu[].power_limit_requested_w", "W", "power limit that was asked for";
    GPU_POWER_LIMIT_DEFAULT: f64 = "gpu[].power_limit_default_w", "W", "default power limit of the board";
    GPU_POWER_LIMIT_MAX: f64 = "gpu[].power_limit_max_w", "W", "highest power limit of the board";
    GPU_POWER_LIMIT_MIN: f64 = "gpu[].power_limit_min_w", "W", "lowest power limit of the board";
    GPU_SM_CLOCK: f64 = "gpu[].sm_clock_mhz", "MHz", "SM clock";
    GPU_SM_CLOCK_MAX: f64 = "gpu[].sm_clock_max_mhz", "MHz", "highest SM clock";
    GPU_GRAPHICS_CLOCK: f64 = "gpu[].graphics_clock_mhz", "MHz", "graphics clock";
    GPU_GRAPHICS_CLOCK_MAX: f64 = "gpu[].graphics_clock_max_mhz", "MHz", "highest graphics clock";
    GPU_MEM_CLOCK: f64 = "gpu[].mem_clock_mhz", "MHz", "memory clock";
    GPU_MEM_CLOCK_MAX: f64 = "gpu[].mem_clock_max_mhz", "MHz", "highest memory clock";
    GPU_APP_CLOCK: f64 = "gpu[].app_clock_mhz", "MHz", "application clock (graphics)";
    GPU_APP_CLOCK_DEFAULT: f64 = "gpu[].app_clock_default_mhz", "MHz", "default application clock (graphics)";
    GPU_APP_MEM_CLOCK: f64 = "gpu[].app_mem_clock_mhz", "MHz", "application clock (memory)";
    GPU_APP_MEM_CLOCK_DEFAULT: f64 = "gpu[].app_mem_clock_default_mhz", "MHz", "default application clock (memory)";
    GPU_MEMORY_USED: f64 = "gpu[].memory_used_mib", "MiB", "memory used";
    GPU_MEMORY_TOTAL: f64 = "gpu[].memory_total_mib", "MiB", "memory of the board";
    GPU_MEMORY_RESERVED: f64 = "gpu[].memory_reserved_mib", "MiB", "memory reserved by the driver";
    GPU_MEMORY_FREE: f64 = "gpu[].memory_free_mib", "MiB", "memory free";
    GPU_BAR1_TOTAL: f64 = "gpu[].bar1_total_mib", "MiB", "BAR1 size";
    GPU_BAR1_USED: f64 = "gpu[].bar1_used_mib", "MiB", "BAR1 in use";
    GPU_FAN: f64 = "gpu[].fan_pct", "%", "fan speed";
    GPU_MIG_MODE: String = "gpu[].mig_mode", "", "MIG mode";
    GPU_MIG_PENDING: String = "gpu[].mig_mode_pending", "", "MIG mode after the next reset";
    GPU_MIG_DEVICES: i64 = "gpu[].mig_device_count", "", "MIG devices";
    GPU_MIG_LISTED: i64 = "gpu[].mig_devices", "", "MIG devices listed under the GPU";
    MIG_MEMORY_TOTAL: f64 = "gpu[].mig[].memory_total_mib", "MiB", "memory of a MIG device";
    MIG_MEMORY_USED: f64 = "gpu[].mig[].memory_used_mib", "MiB", "memory used in a MIG device";
    MIG_SM_COUNT: i64 = "gpu[].mig[].sm_count", "", "multiprocessors of a MIG device";
    MIG_GI: i64 = "gpu[].mig[].gpu_instance", "", "GPU instance of a MIG device";
    MIG_CI: i64 = "gpu[].mig[].compute_instance", "", "compute instance of a MIG device";
    GPU_PERSISTENCE: String = "gpu[].persistence_mode", "", "persistence mode";
    GPU_COMPUTE_MODE: String = "gpu[].compute_mode", "", "compute mode";
    GPU_ECC_MODE: String = "gpu[].ecc_mode", "", "ECC mode";
    GPU_ECC_PENDING: String = "gpu[].ecc_mode_pending", "", "ECC mode after the next reset";
    GPU_DRIVER_MODEL: String = "gpu[].driver_model", "", "Windows driver model";
    GPU_VBIOS: String = "gpu[].vbios", "", "VBIOS version";
    GPU_GSP_FIRMWARE: String = "gpu[].gsp_firmware", "", "GSP firmware version";
    GPU_RECOVERY_ACTION: String = "gpu[].recovery_action", "", "recovery action asked for by the driver";
    GPU_VIRTUALIZATION: String = "gpu[].virtualization_mode", "", "virtualisation mode";
    GPU_ADDRESSING_MODE: String = "gpu[].addressing_mode", "", "addressing mode";
    GPU_DISPLAY_ACTIVE: String = "gpu[].display_active", "", "display active";
    GPU_DISPLAY_ATTACHED: String = "gpu[].display_attached", "", "a display is attached";
    GPU_COMPUTE_CAP: String = "gpu[].compute_capability", "", "compute capability";
    GPU_VGPU_LICENSE: String = "gpu[].vgpu_license", "", "vGPU licence state";
    GPU_INFOROM: String = "gpu[].inforom_image", "", "InfoROM image version";
    GPU_C2C_MODE: String = "gpu[].c2c_mode", "", "chip-to-chip link mode";
    FABRIC_STATE: String = "gpu[].fabric.state", "", "state of the registration with the NVLink fabric";
    FABRIC_STATUS: String = "gpu[].fabric.status", "", "result of the registration with the NVLink fabric";
    FABRIC_HEALTH: String = "gpu[].fabric.health", "", "health of the NVLink fabric as a whole";
    GPU_THROTTLE: Vec<String> = "gpu[].throttle_active", "", "clock event reasons that are active now";
    GPU_REASON_MASK: String = "gpu[].clocks_event_reasons_active", "", "clock event reasons as NVML's bit mask";
    GPU_COUNTER_SW_POWER_CAP: f64 = "gpu[].counter_sw_power_cap_us", "µs", "time under the software power cap since the driver was loaded";
    GPU_COUNTER_SW_THERMAL: f64 = "gpu[].counter_sw_thermal_us", "µs", "time in software thermal slowdown since the driver was loaded";
    GPU_COUNTER_HW_THERMAL: f64 = "gpu[].counter_hw_thermal_us", "µs", "time in hardware thermal slowdown since the driver was loaded";
    GPU_COUNTER_HW_POWER_BRAKE: f64 = "gpu[].counter_hw_power_brake_us", "µs", "time in power-brake slowdown since the driver was loaded";
    GPU_COUNTER_SYNC_BOOST: f64 = "gpu[].counter_sync_boost_us", "µs", "time under sync boost since the driver was loaded";

    // PCIe
    PCIE_GEN_CURRENT: i64 = "gpu[].pcie.gen_current", "", "PCIe generation in use";
    PCIE_GEN_MAX: i64 = "gpu[].pcie.gen_max", "", "highest PCIe generation of GPU and slot together";
    PCIE_GEN_DEVICE_CURRENT: i64 = "gpu[].pcie.gen_device_current", "", "PCIe generation of the device in use";
    PCIE_GEN_DEVICE_MAX: i64 = "gpu[].pcie.gen_device_max", "", "highest PCIe generation of the GPU itself";
    PCIE_GEN_HOST_MAX: i64 = "gpu[].pcie.gen_host_max", "", "highest PCIe generation of the slot";
    PCIE_WIDTH_CURRENT: i64 = "gpu[].pcie.link_width_current", "lanes", "PCIe lanes in use";
    PCIE_WIDTH_MAX: i64 = "gpu[].pcie.link_width_max", "lanes", "PCIe lanes that GPU and slot have together";
    PCIE_WIDTH_DEVICE_MAX: i64 = "gpu[].pcie.link_width_device_max", "lanes", "PCIe lanes of the GPU itself";
    PCIE_WIDTH_PARENT_MAX: i64 = "gpu[].pcie.link_width_parent_max", "lanes", "PCIe lanes of the port above the GPU";
    PCIE_SPEED_CURRENT: f64 = "gpu[].pcie.speed_current_gts", "GT/s", "PCIe speed in use";
    PCIE_SPEED_MAX: f64 = "gpu[].pcie.speed_max_gts", "GT/s", "highest PCIe speed of the device";
    PCIE_SPEED_PARENT_MAX: f64 = "gpu[].pcie.speed_parent_max_gts", "GT/s", "highest PCIe speed of the port above the GPU";
    PCIE_REPLAYS: i64 = "gpu[].pcie.replays", "", "PCIe replays since reset";
    PCIE_REPLAY_ROLLOVERS: i64 = "gpu[].pcie.replay_rollovers", "", "overflows of the PCIe replay counter";
    PCIE_TX: f64 = "gpu[].pcie.tx_kib_s", "KiB/s", "PCIe rate to the host";
    PCIE_RX: f64 = "gpu[].pcie.rx_kib_s", "KiB/s", "PCIe rate to the GPU";
    GPU_NUMA: i64 = "gpu[].numa_node", "", "NUMA node of the GPU";
    GPU_BAR_UNASSIGNED: bool = "gpu[].bar_unassigned", "", "a memory region of the GPU has no address";
    PCIE_SPEED_SUPPORTED: f64 = "gpu[].pcie.speed_supported_gts", "GT/s", "highest PCIe speed that the device lists as supported";
    PCIE_AER_COR_BITS: Vec<String> = "gpu[].pcie.aer_correctable_bits", "", "correctable PCIe errors that were seen since the status was cleared";
    PCIE_AER_UNC_BITS: Vec<String> = "gpu[].pcie.aer_uncorrectable_bits", "", "uncorrectable PCIe errors that were seen since the status was cleared";
    BRIDGES_DOWNGRADED: i64 = "bridges_downgraded", "", "PCI bridges whose link runs below what it can do";
    ACS_BRIDGES: i64 = "acs_redirect_bridges", "", "PCI bridges that redirect peer-to-peer requests (ACS)";
    NVSWITCH_SLOT: String = "nvswitch[].slot", "", "PCI slot of an NVSwitch";
    NVSWITCH_WIDTH: i64 = "nvswitch[].pcie.link_width_current", "lanes", "PCIe lanes that an NVSwitch uses";
    PCIE_DRIVER: String = "gpu[].pci_driver", "", "kernel driver that holds the GPU";
    PCIE_PORT_ID: String = "gpu[].pcie.port[].bus_id", "", "PCI address of a port above the GPU, the nearest first";
    PCIE_PORT_WIDTH: i64 = "gpu[].pcie.port[].link_width_current", "lanes", "lanes that the port uses";
    PCIE_PORT_WIDTH_MAX: i64 = "gpu[].pcie.port[].link_width_max", "lanes", "lanes that the port has";
    PCIE_PORT_SPEED: f64 = "gpu[].pcie.port[].speed_current_gts", "GT/s", "speed that the port uses";
    PCIE_PORT_SPEED_MAX: f64 = "gpu[].pcie.port[].speed_max_gts", "GT/s", "highest speed of the port";

    PCIE_CPUS: String = "gpu[].local_cpus", "", "CPUs next to the GPU";
    PCIE_RUNTIME: String = "gpu[].runtime_status", "", "runtime power state of the GPU on the PCI bus";
    PCIE_AER_COR: i64 = "gpu[].pcie.aer_correctable", "", "correctable PCIe errors since boot";
    PCIE_AER_NONFATAL: i64 = "gpu[].pcie.aer_nonfatal", "", "uncorrectable non-fatal PCIe errors since boot";
    PCIE_AER_FATAL: i64 = "gpu[].pcie.aer_fatal", "", "fatal PCIe errors since boot";
    GPU_CAPABILITY: String = "gpu[].compute_capability", "", "compute capability";
    GPU_GPM: bool = "gpu[].gpm_supported", "", "the GPU has SM-level counters without a profiler";
    GPU_INFOROM_VALID: bool = "gpu[].inforom_valid", "", "the InfoROM's checksum is right";
    GPU_ERROR: i64 = "gpu[].nvml_error_code", "", "NVML's error code when the GPU was opened";

    // memory health
    ECC_AGG_SBE: i64 = "gpu[].ecc.aggregate.single_bit_total", "", "corrected errors over the board's life";
    ECC_AGG_DBE: i64 = "gpu[].ecc.aggregate.double_bit_total", "", "uncorrectable errors over the board's life";
    ECC_VOL_SBE: i64 = "gpu[].ecc.volatile.single_bit_total", "", "corrected errors since reset";
    ECC_VOL_DBE: i64 = "gpu[].ecc.volatile.double_bit_total", "", "uncorrectable errors since reset";
    ECC_VOL_SRAM_CORR: i64 = "gpu[].ecc.volatile.sram_correctable", "", "corrected SRAM errors since reset";
    ECC_VOL_SRAM_UNCORR: i64 = "gpu[].ecc.volatile.sram_uncorrectable", "", "uncorrectable SRAM errors since reset";
    ECC_VOL_SRAM_PARITY: i64 = "gpu[].ecc.volatile.sram_uncorrectable_parity", "", "uncorrectable SRAM parity errors since reset";
    ECC_VOL_SRAM_SECDED: i64 = "gpu[].ecc.volatile.sram_uncorrectable_secded", "", "uncorrectable SRAM SEC-DED errors since reset";
    ECC_VOL_DRAM_CORR: i64 = "gpu[].ecc.volatile.dram_correctable", "", "corrected DRAM errors since reset";
    ECC_VOL_DRAM_UNCORR: i64 = "gpu[].ecc.volatile.dram_uncorrectable", "", "uncorrectable DRAM errors since reset";
    ECC_AGG_SRAM_CORR: i64 = "gpu[].ecc.aggregate.sram_correctable", "", "corrected SRAM errors over the board's life";
    ECC_AGG_SRAM_UNCORR: i64 = "gpu[].ecc.aggregate.sram_uncorrectable", "", "uncorrectable SRAM errors over the board's life";
    ECC_AGG_SRAM_PARITY: i64 = "gpu[].ecc.aggregate.sram_uncorrectable_parity", "", "uncorrectable SRAM parity errors over the board's life";
    ECC_AGG_SRAM_SECDED: i64 = "gpu[].ecc.aggregate.sram_uncorrectable_secded", "", "uncorrectable SRAM SEC-DED errors over the board's life";
    ECC_AGG_DRAM_CORR: i64 = "gpu[].ecc.aggregate.dram_correctable", "", "corrected DRAM errors over the board's life";
    ECC_AGG_DRAM_UNCORR: i64 = "gpu[].ecc.aggregate.dram_uncorrectable", "", "uncorrectable DRAM errors over the board's life";
    ECC_SRAM_THRESHOLD: bool = "gpu[].ecc.sram_threshold_exceeded", "", "SRAM errors are above the replacement threshold";
    ECC_CHANNEL_REPAIR: bool = "gpu[].ecc.channel_repair_pending", "", "memory channel repair pending";
    ECC_TPC_REPAIR: bool = "gpu[].ecc.tpc_repair_pending", "", "TPC repair pending";
    ECC_UNREPAIRABLE: bool = "gpu[].ecc.unrepairable_memory", "", "memory that cannot be repaired";
    ECC_UNCORR: i64 = "gpu[].ecc_uncorr", "", "uncorrectable errors since reset, in the table";
    RETIRED_SBE: i64 = "gpu[].retired_pages.sbe", "", "pages retired for single-bit errors";
    RETIRED_DBE: i64 = "gpu[].retired_pages.dbe", "", "pages retired for double-bit errors";
    RETIRED_PENDING: bool = "gpu[].retired_pages.pending", "", "page retirement pending";
    REMAP_CORRECTABLE: i64 = "gpu[].remap_correctable", "", "rows remapped for correctable errors";
    REMAP_UNCORRECTABLE: i64 = "gpu[].remap_uncorrectable", "", "rows remapped for uncorrectable errors";
    REMAP_PENDING: bool = "gpu[].remap_pending", "", "row remapping pending";
    REMAP_FAILED: bool = "gpu[].remap_failed", "", "row remapping failed";
    REMAP_CORRECTABLE_INACTIVE: i64 = "gpu[].remap_correctable_inactive", "", "row remappings for correctable errors that are not in force";
    REMAP_UNCORRECTABLE_INACTIVE: i64 = "gpu[].remap_uncorrectable_inactive", "", "row remappings for uncorrectable errors that are not in force";
    REMAP_BANKS_MAX: i64 = "gpu[].remap_banks.max", "", "memory banks with all spare rows left";
    REMAP_BANKS_HIGH: i64 = "gpu[].remap_banks.high", "", "memory banks with most spare rows left";
    REMAP_BANKS_PARTIAL: i64 = "gpu[].remap_banks.partial", "", "memory banks with some spare rows left";
    REMAP_BANKS_LOW: i64 = "gpu[].remap_banks.low", "", "memory banks with few spare rows left";
    REMAP_BANKS_NONE: i64 = "gpu[].remap_banks.none", "", "memory banks without a spare row left";

    // processes on a GPU
    PROC_PID: i64 = "gpu[].process[].pid", "", "process id";
    PROC_TYPE: String = "gpu[].process[].type", "", "process type (C, G, C+G)";
    PROC_NAME: String = "gpu[].process[].name", "", "process name";
    PROC_MEMORY: f64 = "gpu[].process[].memory_mib", "MiB", "GPU memory of the process";
    PROC_GI: i64 = "gpu[].process[].gpu_instance", "", "GPU instance that the process runs in";
    PROC_CI: i64 = "gpu[].process[].compute_instance", "", "compute instance that the process runs in";
    PROCESSES: i64 = "processes", "", "processes listed, over all GPUs";
    PID_TYPE: String = "process[].type", "", "process type by process id";
    PID_MEMORY: f64 = "process[].memory_mib", "MiB", "GPU memory by process id, of a process on one GPU";
    PID_NAME: String = "process[].name", "", "process name by process id";

    // links between GPUs, and with network adapters
    NIC_COUNT: i64 = "nic_count", "", "network adapters in the topology matrix";
    NIC_NAME: String = "nic[].name", "", "device name of a network adapter";
    LINK: String = "link[][]", "", "kind of connection between two GPUs in the topology matrix";
    GPU_PIX_NICS: Vec<String> = "gpu[].pix_nics", "", "network adapters behind the same PCIe bridge as the GPU";
    GPU_CPU_AFFINITY: String = "gpu[].cpu_affinity", "", "CPUs near the GPU, as printed";
    GPU_NUMA_AFFINITY: String = "gpu[].numa_affinity", "", "NUMA nodes near the GPU, as printed (N/A where there is one node)";
    GPU_NUMA_ID: String = "gpu[].gpu_numa_id", "", "NUMA node that the GPU's own memory is, as printed";
    GPU_LINKS: i64 = "gpu[].links", "", "NVLinks listed";
    GPU_LINKS_ACTIVE: i64 = "gpu[].links_active", "", "NVLinks that are up";
    GPU_LINKS_INACTIVE: i64 = "gpu[].links_inactive", "", "NVLinks that are down";
    LINKS_TOTAL: i64 = "links_total", "", "NVLinks listed over all GPUs";
    LINKS_INACTIVE: i64 = "links_inactive", "", "NVLinks that are down over all GPUs";
    GPU_LINK_RATE: f64 = "gpu[].link[].gbps", "GB/s", "rate of an NVLink in one direction";
    GPU_LINK_REPLAYS: i64 = "gpu[].link[].replay_errors", "", "replay errors of an NVLink";
    GPU_LINK_RECOVERIES: i64 = "gpu[].link[].recovery_errors", "", "recovery errors of an NVLink";
    GPU_LINK_CRC: i64 = "gpu[].link[].crc_errors", "", "CRC errors of an NVLink";

    // tables of samples, in sum
    TABLE_COLUMNS: Vec<String> = "columns", "", "columns of a table of samples";
    TABLE_SAMPLES: i64 = "samples", "", "rows of a table of samples";
    TABLE_ROWS: i64 = "rows", "", "rows of a table of samples, under the name of the raw tool";
    PID_SM: f64 = "pid[].sm_pct", "%", "mean utilisation of a process, where any was printed";
    PID_COMMAND: String = "pid[].command", "", "command of a process";
    PID_KIND: String = "pid[].type", "", "process type (C, G, C+G)";
    PROC_SM: f64 = "gpu[].process[].sm_pct", "%", "mean utilisation of a process on the GPU";

    // dcgmi diag
    DIAG_VERSION: String = "version", "", "version that the diagnostic prints";
    DIAG_FAILURES: i64 = "failures", "", "results of the diagnostic that failed";
    DIAG_WARNINGS: i64 = "diag.warnings", "", "results of the diagnostic that warn";
    DIAG_PASSED: i64 = "diag.passed", "", "results of the diagnostic that passed";
    DIAG_SKIPPED: i64 = "diag.skipped", "", "results of the diagnostic that were skipped";
    DIAG_TESTS: i64 = "tests_named", "", "tests of the diagnostic that have a name";
    DIAG_NULLS: i64 = "null_entries", "", "empty entries among the tests of the diagnostic";
    DIAG_FAIL_TEST: String = "diag.fail[].test", "", "test that failed";
    DIAG_FAIL_ENTITY: String = "diag.fail[].entity", "", "what it failed on";
    DIAG_FAIL_TEXT: String = "diag.fail[].text", "", "what the diagnostic says about the failure";
    DIAG_FAIL_ERROR: i64 = "diag.fail[].error_id", "", "DCGM's error number of the failure";
    DIAG_WARN_TEST: String = "diag.warn[].test", "", "test that warns";
    DIAG_WARN_ENTITY: String = "diag.warn[].entity", "", "what it warns about";
    DIAG_WARN_TEXT: String = "diag.warn[].text", "", "what the diagnostic says in its warning";

    // framework
    TORCH: String = "torch", "", "PyTorch version";
    CUDA_BUILD: String = "cuda_build", "", "CUDA version that PyTorch was built with";
    CUDA_BUILD_NONE: bool = "cuda_build_none", "", "PyTorch was built without CUDA";
    CUDA_AVAILABLE: bool = "cuda_available", "", "torch.cuda.is_available()";
    CUDA_RUNTIME: String = "cuda_runtime", "", "CUDA toolkit on the path (nvcc)";
    CUDNN: String = "cudnn", "", "cuDNN version";
    ROCM_BUILD: String = "rocm_build", "", "ROCm version that PyTorch was built with";
    PYTHON: String = "python", "", "Python version";
    TRITON: String = "triton", "", "Triton version";
    NCCL_VERSION: String = "nccl_version", "", "NCCL version";

    // kernel log, in sum
    XIDS: Vec<i64> = "xids", "", "distinct Xid codes in the kernel log";
    KERNEL_LOG_LINES: i64 = "kernel_log.lines", "lines", "lines of the kernel log that were read";
    KERNEL_LOG_READABLE: bool = "kernel_log.readable", "", "the kernel log could be read";
    INIT_FAILED: i64 = "rminitadapter_failed", "", "failed initialisations of a GPU in the kernel log, earlier boots included";

    // bug report
    REPORT_DATE: String = "report_date", "", "date of the bug report, as printed";
    REPORT_DATE_RAW: String = "report_date_raw", "", "date of the bug report in another language, as printed";
    SMI_WORKS: bool = "nvidia_smi_works", "", "nvidia-smi could talk to the driver";
    KERNEL_CMDLINE: String = "kernel_cmdline", "", "options of the kernel command line that bear on the GPU";

    // display
    X_DRIVER: String = "nvidia_x_driver", "", "release of the NVIDIA driver for Xorg";
    X_GPU_PCI: String = "gpu[].pci", "", "PCI address as Xorg prints it";
    X_GPU_MEMORY: i64 = "gpu[].memory_kb", "KiB", "memory of the board, as Xorg prints it";
    X_COOLBITS: String = "coolbits", "", "Xorg option Coolbits";
    X_ERRORS: i64 = "ee_lines", "", "error lines of the Xorg log";
    X_NVIDIA_ERROR: String = "xorg.nvidia_error", "", "failure of the NVIDIA driver in the Xorg log";
    GLX_DIRECT: bool = "direct_rendering", "", "OpenGL renders directly";
    GLX_ACCELERATED: bool = "accelerated", "", "OpenGL is accelerated";
    GLX_RENDERER: String = "renderer", "", "OpenGL renderer";
    GLX_VENDOR: String = "vendor", "", "OpenGL vendor";
    GLX_DEVICE: String = "device", "", "OpenGL device";
    GLX_VERSION: String = "opengl_version", "", "OpenGL version";

    // fabric manager
    FM_VERSION: String = "fabricmanager.version", "", "version of the fabric manager";
    FM_CONFIGURED: bool = "fabricmanager.configured", "", "the fabric manager configured the NVSwitches";
    FM_ERRORS: i64 = "errors", "", "error lines of the fabric manager's log";
    FM_SWITCH_ERROR: i64 = "nvswitch_error", "", "NVSwitch error in the fabric manager's log";
    FM_SWITCH_PCI: String = "nvswitch_pci", "", "PCI address of the NVSwitch with an error";
    FM_SWITCH_PORT: i64 = "port", "", "port of the NVSwitch with an error";

    // runs, in sum
    STEPS: i64 = "steps", "", "training steps recorded";
    LOG_RECOMPILE_LIMIT: bool = "train_log.recompile_limit", "", "the training log says that the limit of recompilations was reached";
    NCCL_NETWORK: String = "network", "", "network that NCCL uses between nodes";
    NCCL_TRANSPORT: String = "transport", "", "transport of most NCCL channels";
    NCCL_RANKS: i64 = "nranks", "", "ranks of the largest NCCL communicator";
    NCCL_AVERAGE: f64 = "avg_busbw_gbps", "GB/s", "average bus bandwidth of nccl-tests, over all sizes";
    IOSTAT_REPORTS: i64 = "iostat.reports", "", "reports of iostat";
    IOSTAT_IOWAIT: f64 = "cpu.iowait_pct", "%", "CPU time that waits for disks, by iostat";
    IOSTAT_IDLE: f64 = "cpu.idle_pct", "%", "idle CPU time, by iostat";
    TOP_ITERATIONS: i64 = "iterations", "", "iterations of top";
    TOP_LOAD: f64 = "iter[].load1", "", "load average over one minute, by top";
    TOP_IDLE: f64 = "iter[].cpu.id", "%", "idle CPU time, by top";
    TOP_IOWAIT: f64 = "iter[].cpu.wa", "%", "CPU time that waits for disks, by top";
    TOP_MEMORY: i64 = "mem_total_kib", "KiB", "main memory, by top";
    VMSTAT_SWAP_IN: f64 = "vmstat.swap_in_kib_s", "KiB/s", "memory brought back from swap, by vmstat";
    VMSTAT_SWAP_OUT: f64 = "vmstat.swap_out_kib_s", "KiB/s", "memory put into swap, by vmstat";
    VMSTAT_IOWAIT: f64 = "vmstat.iowait_pct", "%", "CPU time that waits for disks, by vmstat";
    VMSTAT_IDLE: f64 = "vmstat.idle_pct", "%", "idle CPU time, by vmstat";
    LOG_WORKERS_MADE: i64 = "train_log.workers", "", "worker processes that PyTorch warned about";
    LOG_WORKERS_SUGGESTED: i64 = "train_log.suggested_workers", "", "most workers that PyTorch suggests on this node";
    LOG_FEW_WORKERS: bool = "train_log.few_workers", "", "Lightning warned that the loader has few workers";
    LOG_BUS_ERROR: bool = "train_log.bus_error", "", "a loader worker died of a bus error";
    LOG_UNUSED_PARAMETERS: bool = "train_log.no_unused_parameters", "", "DDP looked for unused parameters and found none";
    LOG_GRAD_STRIDES: bool = "train_log.grad_strides", "", "DDP warned that gradient strides do not match its buckets";
    LOG_CRASH: String = "train_log.crash", "", "line of the training log in which a process died";
    NCU_DURATION: f64 = "kernel[].duration_ns", "ns", "duration of a profiled kernel";
    NCU_SM: f64 = "kernel[].sm_throughput_pct", "%", "compute throughput of a profiled kernel";
    NCU_MEM: f64 = "kernel[].mem_throughput_pct", "%", "memory throughput of a profiled kernel";
    NCU_DRAM: f64 = "kernel[].dram_throughput_pct", "%", "DRAM throughput of a profiled kernel";
    NCU_OCCUPANCY: f64 = "kernel[].theoretical_occupancy_pct", "%", "occupancy that a profiled kernel's resources allow";
    NCU_OCCUPANCY_ACHIEVED: f64 = "kernel[].achieved_occupancy_pct", "%", "occupancy that a profiled kernel reached";
    NCU_WAVES: f64 = "kernel[].waves_per_sm", "", "waves per multiprocessor of a profiled kernel";
    NCU_GRID: String = "kernel[].grid", "", "grid of a profiled kernel";
    KERNELS: i64 = "kernels", "", "kernels in a profiler trace";
}
