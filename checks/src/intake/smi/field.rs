//! Which fact stands where in `nvidia-smi -q`, `-q -x` and `--query-gpu`: one row a fact, with its names in the order in
//! which they are preferred. Drivers rename freely (the DTD number does not tell which names are used), so that a row
//! lists every name seen.
//!
//! It does not read anything itself.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::value::{self, Units};
use crate::fact::{Key, Value};
use crate::keys;

/// How a value is read, and under which key it is kept.
#[derive(Debug)]
pub(super) enum Sink {
    /// A measured number.
    Num(&'static Key<f64>, Units),
    /// A whole number.
    Int(&'static Key<i64>, Units),
    /// Text.
    Text(&'static Key<String>),
    /// `P0`.
    Pstate(&'static Key<String>),
    /// Yes or no.
    Flag(&'static Key<bool>),
    /// A clock event reason, by its name in `throttle_active`.
    Reason(&'static str),
    /// All clock event reasons as a bit mask.
    ReasonMask,
    /// Only for our own bookkeeping.
    Mark(Mark),
}

/// Values that place others rather than being facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Index of a MIG device.
    MigIndex,
    /// Index of the GPU.
    GpuIndex,
    /// Host name.
    Host,
}

impl Sink {
    /// Path pattern and unit of the fact, where it is one.
    pub(super) const fn key(&self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Self::Num(k, _) => (k.path, k.unit),
            Self::Int(k, _) => (k.path, k.unit),
            Self::Text(k) | Self::Pstate(k) => (k.path, k.unit),
            Self::Flag(k) => (k.path, k.unit),
            Self::Reason(_) | Self::ReasonMask => (keys::GPU_THROTTLE.path, ""),
            Self::Mark(_) => return None,
        })
    }

    /// The value, if the text holds one. `cut` says that the text may be the beginning of a longer one: then only what
    /// ends in a unit or is a whole word is believed.
    pub(super) fn read(&self, text: &str, cut: bool) -> Option<Value> {
        let open = |units: Units| cut && units.iter().any(|(u, _)| u.is_empty());
        match self {
            Self::Num(_, units) if !open(units) => value::number(text, units).map(Value::from),
            Self::Int(_, units) if !open(units) => value::whole(text, units).map(Value::from),
            Self::Text(_) if !cut => value::text(text).map(Value::from),
            Self::Pstate(_) if !cut => value::pstate(text).map(Value::from),
            Self::Flag(_) => value::yes_no(text).map(Value::from),
            _ => None,
        }
    }

    /// As [`Self::read`], where the unit stands in a header and may be missing in the value.
    pub(super) fn read_bare(&self, text: &str, cut: bool) -> Option<Value> {
        match self {
            Self::Num(..) if !cut => self.read(text, cut).or_else(|| value::number(text, NONE).map(Value::from)),
            _ => self.read(text, cut),
        }
    }
}

/// To what a field belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The node.
    Node,
    /// A GPU.
    Gpu,
    /// A MIG device of a GPU.
    Mig,
    /// A process on a GPU.
    Process,
}

/// One row.
pub(super) struct Field {
    pub(super) sink: Sink,
    pub(super) scope: Scope,
    /// Paths in the text, below the GPU, in lower case.
    q: &'static [&'static str],
    /// Element paths, below `gpu`.
    xml: &'static [&'static str],
    /// Names of `--query-gpu`, without the unit.
    csv: &'static [&'static str],
}

/// The three forms that share the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `nvidia-smi -q`.
    Q,
    /// `nvidia-smi -q -x`.
    Xml,
    /// `nvidia-smi --query-gpu`.
    Csv,
}

/// A field and the rank of the name it was found under; 0 is preferred.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) field: u16,
    pub(super) rank: u8,
}

impl Found {
    pub(super) fn field(self) -> &'static Field {
        &FIELDS[usize::from(self.field)]
    }
}

type Names = HashMap<&'static str, Found>;

fn names(of: fn(&Field) -> &'static [&'static str]) -> Names {
    let mut map = Names::new();
    for (field, f) in (0u16..).zip(FIELDS) {
        for (rank, name) in (0u8..).zip(of(f)) {
            map.insert(name, Found { field, rank });
        }
    }
    map
}

static Q: LazyLock<Names> = LazyLock::new(|| names(|f| f.q));
static XML: LazyLock<Names> = LazyLock::new(|| names(|f| f.xml));
static CSV: LazyLock<Names> = LazyLock::new(|| names(|f| f.csv));

/// The field that has this name in this form.
pub(super) fn find(form: Form, name: &str) -> Option<Found> {
    let map = match form {
        Form::Q => &Q,
        Form::Xml => &XML,
        Form::Csv => &CSV,
    };
    map.get(name).copied()
}

/// Sections of `-q` that hold values of no interest under names that others use too.
const OTHER_SECTIONS: &[&str] = &["pci/bridge chip", "mig device/ecc errors", "mig device/ecc errors/volatile"];

/// Values of no interest under names that others use too.
const OTHER_VALUES: &[&str] = &[
    "vgpu software licensed product/product name",
    "vgpu software licensed products/product name",
    "grid licensed product/product name",
];

static SECTIONS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let named = FIELDS.iter().flat_map(|f| f.q);
    let above = named.flat_map(|n| n.match_indices('/').map(|(end, _)| &n[..end]));
    above.chain(OTHER_SECTIONS.iter().copied()).collect()
});

/// True if the path is that of a section of `-q`.
pub(super) fn is_section(path: &str) -> bool {
    SECTIONS.contains(path)
}

static LEAVES: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| FIELDS.iter().flat_map(|f| f.q).filter_map(|n| Some(n.rsplit_once('/')?.1)).collect());

/// True if the name of a value is one that another section has, and this one has not. Names of one word (`Total`,
/// `Max`) are too common to tell.
pub(super) fn is_foreign(section: &str, name: &str, path: &str) -> bool {
    is_section(section) && name.contains(' ') && LEAVES.contains(name) && !is_value(path) && !is_section(path)
}

/// True if the path is that of a value of `-q`, wanted or not.
pub(super) fn is_value(path: &str) -> bool {
    find(Form::Q, path).is_some() || OTHER_VALUES.contains(&path)
}

const fn row(
    scope: Scope,
    sink: Sink,
    q: &'static [&'static str],
    xml: &'static [&'static str],
    csv: &'static [&'static str],
) -> Field {
    Field { sink, scope, q, xml, csv }
}

use Scope::{Gpu, Mig, Node, Process};
use Sink::{Flag, Int, Num, Pstate, Reason, Text};
use value::{BANKS, CELSIUS, KIB_S, LANES, MHZ, MIB, MICROSECONDS, NONE, PCT, WATT};

#[rustfmt::skip]
static FIELDS: &[Field] = &[
    row(Node, Text(&keys::TIMESTAMP), &["timestamp"], &["timestamp"], &["timestamp"]),
    row(Node, Text(&keys::DRIVER), &["driver version", "kmd version"], &["driver_version", "kmd_version"], &["driver_version", "kmd_version"]),
    row(Node, Text(&keys::KMD_VERSION), &["kmd version"], &["kmd_version"], &["kmd_version"]),
    row(Node, Text(&keys::CUDA_VERSION), &["cuda version", "cuda umd version"], &["cuda_version", "cuda_umd_version"], &["cuda_version", "cuda_umd_version"]),
    row(Node, Text(&keys::CUDA_UMD_VERSION), &["cuda umd version"], &["cuda_umd_version"], &["cuda_umd_version"]),
    row(Node, Int(&keys::ATTACHED_GPUS, NONE), &["attached gpus"], &["attached_gpus"], &["count"]),
    row(Node, Sink::Mark(Mark::Host), &[], &[], &["hostname"]),

    row(Gpu, Sink::Mark(Mark::GpuIndex), &[], &[], &["index"]),
    row(Gpu, Text(&keys::GPU_NAME), &["product name"], &["product_name"], &["name", "gpu_name"]),
    row(Gpu, Text(&keys::GPU_BRAND), &["product brand"], &["product_brand"], &["gpu_brand"]),
    row(Gpu, Text(&keys::GPU_ARCH), &["product architecture"], &["product_architecture"], &[]),
    row(Gpu, Text(&keys::GPU_UUID), &["gpu uuid"], &["uuid"], &["uuid", "gpu_uuid"]),
    row(Gpu, Int(&keys::GPU_MINOR, NONE), &["minor number"], &["minor_number"], &[]),
    row(Gpu, Text(&keys::GPU_BUS_ID), &["pci/bus id"], &["pci/pci_bus_id"], &["pci.bus_id", "gpu_bus_id"]),
    row(Gpu, Text(&keys::GPU_DEVICE_ID), &["pci/device id"], &["pci/pci_device_id"], &["pci.device_id"]),
    row(Gpu, Text(&keys::GPU_COMPUTE_CAP), &[], &[], &["compute_cap"]),
    row(Gpu, Text(&keys::GPU_VBIOS), &["vbios version"], &["vbios_version"], &["vbios_version"]),
    row(Gpu, Text(&keys::GPU_INFOROM), &["inforom version/image version"], &["inforom_version/img_version"], &["inforom.img", "inforom.image"]),
    row(Gpu, Text(&keys::GPU_GSP_FIRMWARE), &["gsp firmware version"], &["gsp_firmware_version"], &[]),
    row(Gpu, Text(&keys::GPU_DISPLAY_ACTIVE), &["display active"], &["display_active"], &["display_active"]),
    row(Gpu, Text(&keys::GPU_DISPLAY_ATTACHED), &["display attached"], &["display_attached"], &["display_attached"]),
    row(Gpu, Text(&keys::GPU_PERSISTENCE), &["persistence mode"], &["persistence_mode"], &["persistence_mode"]),
    row(Gpu, Text(&keys::GPU_ADDRESSING_MODE), &["addressing mode"], &["addressing_mode"], &["addressing_mode"]),
    row(Gpu, Text(&keys::GPU_MIG_MODE), &["mig mode/current"], &["mig_mode/current_mig"], &["mig.mode.current"]),
    row(Gpu, Text(&keys::GPU_MIG_PENDING), &["mig mode/pending"], &["mig_mode/pending_mig"], &["mig.mode.pending"]),
    row(Gpu, Text(&keys::GPU_DRIVER_MODEL), &["driver model/current"], &["driver_model/current_dm"], &["driver_model.current"]),
    row(Gpu, Text(&keys::GPU_C2C_MODE), &["gpu c2c mode"], &["c2c_mode"], &["c2c.mode"]),
    row(Gpu, Text(&keys::GPU_VIRTUALIZATION), &["gpu virtualization mode/virtualization mode"], &["gpu_virtualization_mode/virtualization_mode"], &[]),
    row(Gpu, Text(&keys::GPU_VGPU_LICENSE), &["vgpu software licensed product/license status", "vgpu software licensed products/license status", "grid licensed product/license status"], &["vgpu_software_licensed_product/license_status", "vgpu_license_info/license_status"], &[]),
    row(Gpu, Text(&keys::GPU_RECOVERY_ACTION), &["gpu recovery action"], &["gpu_recovery_action"], &["gpu_recovery_action"]),
    row(Gpu, Flag(&keys::GPU_RESET_REQUIRED), &["gpu reset status/reset required"], &["gpu_reset_status/reset_required"], &["reset_status.reset_required"]),
    row(Gpu, Flag(&keys::GPU_DRAIN_RESET), &["gpu reset status/drain and reset recommended"], &["gpu_reset_status/drain_and_reset_recommended"], &["reset_status.drain_and_reset_recommended"]),

    row(Gpu, Int(&keys::PCIE_GEN_CURRENT, NONE), &["pci/gpu link info/pcie generation/current"], &["pci/pci_gpu_link_info/pcie_gen/current_link_gen"], &["pcie.link.gen.current"]),
    row(Gpu, Int(&keys::PCIE_GEN_MAX, NONE), &["pci/gpu link info/pcie generation/max"], &["pci/pci_gpu_link_info/pcie_gen/max_link_gen"], &["pcie.link.gen.max"]),
    row(Gpu, Int(&keys::PCIE_GEN_DEVICE_CURRENT, NONE), &["pci/gpu link info/pcie generation/device current"], &["pci/pci_gpu_link_info/pcie_gen/device_current_link_gen"], &["pcie.link.gen.gpucurrent"]),
    row(Gpu, Int(&keys::PCIE_GEN_DEVICE_MAX, NONE), &["pci/gpu link info/pcie generation/device max"], &["pci/pci_gpu_link_info/pcie_gen/max_device_link_gen"], &["pcie.link.gen.gpumax"]),
    row(Gpu, Int(&keys::PCIE_GEN_HOST_MAX, NONE), &["pci/gpu link info/pcie generation/host max"], &["pci/pci_gpu_link_info/pcie_gen/max_host_link_gen"], &["pcie.link.gen.hostmax"]),
    row(Gpu, Int(&keys::PCIE_WIDTH_CURRENT, LANES), &["pci/gpu link info/link width/current"], &["pci/pci_gpu_link_info/link_widths/current_link_width"], &["pcie.link.width.current"]),
    row(Gpu, Int(&keys::PCIE_WIDTH_MAX, LANES), &["pci/gpu link info/link width/max"], &["pci/pci_gpu_link_info/link_widths/max_link_width"], &["pcie.link.width.max"]),
    row(Gpu, Int(&keys::PCIE_REPLAYS, NONE), &["pci/replays since reset", "pci/replay counter"], &["pci/replay_counter"], &["pcie.replay_counter"]),
    row(Gpu, Int(&keys::PCIE_REPLAY_ROLLOVERS, NONE), &["pci/replay number rollovers"], &["pci/replay_rollover_counter"], &[]),
    row(Gpu, Num(&keys::PCIE_TX, KIB_S), &["pci/tx throughput"], &["pci/tx_util"], &[]),
    row(Gpu, Num(&keys::PCIE_RX, KIB_S), &["pci/rx throughput"], &["pci/rx_util"], &[]),

    row(Gpu, Num(&keys::GPU_FAN, PCT), &["fan speed"], &["fan_speed"], &["fan.speed"]),
    row(Gpu, Pstate(&keys::GPU_PSTATE), &["performance state"], &["performance_state"], &["pstate"]),

    row(Gpu, Reason("idle"), &["clocks event reasons/idle", "clocks throttle reasons/idle"], &["clocks_event_reasons/clocks_event_reason_gpu_idle", "clocks_throttle_reasons/clocks_throttle_reason_gpu_idle"], &["clocks_event_reasons.gpu_idle", "clocks_throttle_reasons.gpu_idle"]),
    row(Gpu, Reason("app_clock_setting"), &["clocks event reasons/applications clocks setting", "clocks throttle reasons/applications clocks setting"], &["clocks_event_reasons/clocks_event_reason_applications_clocks_setting", "clocks_throttle_reasons/clocks_throttle_reason_applications_clocks_setting"], &["clocks_event_reasons.applications_clocks_setting", "clocks_throttle_reasons.applications_clocks_setting"]),
    row(Gpu, Reason("sw_power_cap"), &["clocks event reasons/sw power cap", "clocks throttle reasons/sw power cap"], &["clocks_event_reasons/clocks_event_reason_sw_power_cap", "clocks_throttle_reasons/clocks_throttle_reason_sw_power_cap"], &["clocks_event_reasons.sw_power_cap", "clocks_throttle_reasons.sw_power_cap"]),
    row(Gpu, Reason("hw_slowdown"), &["clocks event reasons/hw slowdown", "clocks throttle reasons/hw slowdown"], &["clocks_event_reasons/clocks_event_reason_hw_slowdown", "clocks_throttle_reasons/clocks_throttle_reason_hw_slowdown"], &["clocks_event_reasons.hw_slowdown", "clocks_throttle_reasons.hw_slowdown"]),
    row(Gpu, Reason("hw_thermal_slowdown"), &["clocks event reasons/hw slowdown/hw thermal slowdown", "clocks throttle reasons/hw slowdown/hw thermal slowdown", "clocks event reasons/hw thermal slowdown", "clocks throttle reasons/hw thermal slowdown"], &["clocks_event_reasons/clocks_event_reason_hw_thermal_slowdown", "clocks_throttle_reasons/clocks_throttle_reason_hw_thermal_slowdown"], &["clocks_event_reasons.hw_thermal_slowdown", "clocks_throttle_reasons.hw_thermal_slowdown"]),
    row(Gpu, Reason("hw_power_brake_slowdown"), &["clocks event reasons/hw slowdown/hw power brake slowdown", "clocks throttle reasons/hw slowdown/hw power brake slowdown", "clocks event reasons/hw power brake slowdown", "clocks throttle reasons/hw power brake slowdown"], &["clocks_event_reasons/clocks_event_reason_hw_power_brake_slowdown", "clocks_throttle_reasons/clocks_throttle_reason_hw_power_brake_slowdown"], &["clocks_event_reasons.hw_power_brake_slowdown", "clocks_throttle_reasons.hw_power_brake_slowdown"]),
    row(Gpu, Reason("sync_boost"), &["clocks event reasons/sync boost", "clocks throttle reasons/sync boost"], &["clocks_event_reasons/clocks_event_reason_sync_boost", "clocks_throttle_reasons/clocks_throttle_reason_sync_boost"], &["clocks_event_reasons.sync_boost", "clocks_throttle_reasons.sync_boost"]),
    row(Gpu, Reason("sw_thermal_slowdown"), &["clocks event reasons/sw thermal slowdown", "clocks throttle reasons/sw thermal slowdown"], &["clocks_event_reasons/clocks_event_reason_sw_thermal_slowdown", "clocks_throttle_reasons/clocks_throttle_reason_sw_thermal_slowdown"], &["clocks_event_reasons.sw_thermal_slowdown", "clocks_throttle_reasons.sw_thermal_slowdown"]),
    row(Gpu, Reason("display_clock_setting"), &["clocks event reasons/display clock setting", "clocks throttle reasons/display clock setting"], &["clocks_event_reasons/clocks_event_reason_display_clocks_setting", "clocks_throttle_reasons/clocks_throttle_reason_display_clocks_setting"], &["clocks_event_reasons.display_clocks_setting", "clocks_throttle_reasons.display_clocks_setting"]),
    row(Gpu, Sink::ReasonMask, &[], &[], &["clocks_event_reasons.active", "clocks_throttle_reasons.active"]),
    row(Gpu, Num(&keys::GPU_COUNTER_SW_POWER_CAP, MICROSECONDS), &["clocks event reasons counters/sw power capping", "clocks event reasons counters/sw power cap"], &["clocks_event_reasons_counters/clocks_event_reasons_counters_sw_power_cap"], &["clocks_event_reasons_counters.sw_power_cap"]),
    row(Gpu, Num(&keys::GPU_COUNTER_SYNC_BOOST, MICROSECONDS), &["clocks event reasons counters/sync boost"], &["clocks_event_reasons_counters/clocks_event_reasons_counters_sync_boost"], &["clocks_event_reasons_counters.sync_boost"]),
    row(Gpu, Num(&keys::GPU_COUNTER_SW_THERMAL, MICROSECONDS), &["clocks event reasons counters/sw thermal slowdown"], &["clocks_event_reasons_counters/clocks_event_reasons_counters_sw_therm_slowdown", "clocks_event_reasons_counters/clocks_event_reasons_counters_sw_thermal_slowdown"], &["clocks_event_reasons_counters.sw_thermal_slowdown"]),
    row(Gpu, Num(&keys::GPU_COUNTER_HW_THERMAL, MICROSECONDS), &["clocks event reasons counters/hw thermal slowdown"], &["clocks_event_reasons_counters/clocks_event_reasons_counters_hw_therm_slowdown", "clocks_event_reasons_counters/clocks_event_reasons_counters_hw_thermal_slowdown"], &["clocks_event_reasons_counters.hw_thermal_slowdown"]),
    row(Gpu, Num(&keys::GPU_COUNTER_HW_POWER_BRAKE, MICROSECONDS), &["clocks event reasons counters/hw power braking", "clocks event reasons counters/hw power brake slowdown"], &["clocks_event_reasons_counters/clocks_event_reasons_counters_hw_power_brake", "clocks_event_reasons_counters/clocks_event_reasons_counters_hw_power_brake_slowdown"], &["clocks_event_reasons_counters.hw_power_brake_slowdown"]),

    row(Gpu, Num(&keys::GPU_MEMORY_TOTAL, MIB), &["fb memory usage/total", "memory usage/total"], &["fb_memory_usage/total", "memory_usage/total"], &["memory.total"]),
    row(Gpu, Num(&keys::GPU_MEMORY_RESERVED, MIB), &["fb memory usage/reserved"], &["fb_memory_usage/reserved"], &["memory.reserved"]),
    row(Gpu, Num(&keys::GPU_MEMORY_USED, MIB), &["fb memory usage/used", "memory usage/used"], &["fb_memory_usage/used", "memory_usage/used"], &["memory.used"]),
    row(Gpu, Num(&keys::GPU_MEMORY_FREE, MIB), &["fb memory usage/free", "memory usage/free"], &["fb_memory_usage/free", "memory_usage/free"], &["memory.free"]),
    row(Gpu, Num(&keys::GPU_BAR1_TOTAL, MIB), &["bar1 memory usage/total"], &["bar1_memory_usage/total"], &[]),
    row(Gpu, Num(&keys::GPU_BAR1_USED, MIB), &["bar1 memory usage/used"], &["bar1_memory_usage/used"], &[]),
    row(Gpu, Text(&keys::GPU_COMPUTE_MODE), &["compute mode"], &["compute_mode"], &["compute_mode"]),
    row(Gpu, Num(&keys::GPU_UTIL, PCT), &["utilization/gpu"], &["utilization/gpu_util"], &["utilization.gpu"]),
    row(Gpu, Num(&keys::GPU_UTIL_MEM, PCT), &["utilization/memory"], &["utilization/memory_util"], &["utilization.memory"]),
    row(Gpu, Num(&keys::GPU_UTIL_MEAN, PCT), &["gpu utilization samples/avg"], &[], &[]),
    row(Gpu, Num(&keys::GPU_UTIL_PEAK, PCT), &["gpu utilization samples/max"], &[], &[]),
    row(Gpu, Num(&keys::GPU_POWER_MEAN, WATT), &["power samples/avg", "gpu power readings/power samples/avg"], &[], &[]),
    row(Gpu, Num(&keys::GPU_UTIL_ENCODER, PCT), &["utilization/encoder"], &["utilization/encoder_util"], &["utilization.encoder"]),
    row(Gpu, Num(&keys::GPU_UTIL_DECODER, PCT), &["utilization/decoder"], &["utilization/decoder_util"], &["utilization.decoder"]),

    row(Gpu, Text(&keys::GPU_ECC_MODE), &["ecc mode/current"], &["ecc_mode/current_ecc"], &["ecc.mode.current"]),
    row(Gpu, Text(&keys::GPU_ECC_PENDING), &["ecc mode/pending"], &["ecc_mode/pending_ecc"], &["ecc.mode.pending"]),
    row(Gpu, Int(&keys::ECC_VOL_SBE, NONE), &["ecc errors/volatile/single bit/total"], &["ecc_errors/volatile/single_bit/total"], &["ecc.errors.corrected.volatile.total"]),
    row(Gpu, Int(&keys::ECC_VOL_DBE, NONE), &["ecc errors/volatile/double bit/total"], &["ecc_errors/volatile/double_bit/total"], &["ecc.errors.uncorrected.volatile.total"]),
    row(Gpu, Int(&keys::ECC_AGG_SBE, NONE), &["ecc errors/aggregate/single bit/total"], &["ecc_errors/aggregate/single_bit/total"], &["ecc.errors.corrected.aggregate.total"]),
    row(Gpu, Int(&keys::ECC_AGG_DBE, NONE), &["ecc errors/aggregate/double bit/total"], &["ecc_errors/aggregate/double_bit/total"], &["ecc.errors.uncorrected.aggregate.total"]),
    row(Gpu, Int(&keys::ECC_VOL_SRAM_CORR, NONE), &["ecc errors/volatile/sram correctable"], &["ecc_errors/volatile/sram_correctable"], &["ecc.errors.corrected.volatile.sram"]),
    row(Gpu, Int(&keys::ECC_VOL_SRAM_UNCORR, NONE), &["ecc errors/volatile/sram uncorrectable"], &["ecc_errors/volatile/sram_uncorrectable"], &["ecc.errors.uncorrected.volatile.sram"]),
    row(Gpu, Int(&keys::ECC_VOL_SRAM_PARITY, NONE), &["ecc errors/volatile/sram uncorrectable parity"], &["ecc_errors/volatile/sram_uncorrectable_parity"], &["ecc.errors.uncorrected.volatile.sram.parity"]),
    row(Gpu, Int(&keys::ECC_VOL_SRAM_SECDED, NONE), &["ecc errors/volatile/sram uncorrectable sec-ded"], &["ecc_errors/volatile/sram_uncorrectable_secded"], &["ecc.errors.uncorrected.volatile.sram.secded"]),
    row(Gpu, Int(&keys::ECC_VOL_DRAM_CORR, NONE), &["ecc errors/volatile/dram correctable"], &["ecc_errors/volatile/dram_correctable"], &["ecc.errors.corrected.volatile.dram"]),
    row(Gpu, Int(&keys::ECC_VOL_DRAM_UNCORR, NONE), &["ecc errors/volatile/dram uncorrectable"], &["ecc_errors/volatile/dram_uncorrectable"], &["ecc.errors.uncorrected.volatile.dram"]),
    row(Gpu, Int(&keys::ECC_AGG_SRAM_CORR, NONE), &["ecc errors/aggregate/sram correctable"], &["ecc_errors/aggregate/sram_correctable"], &["ecc.errors.corrected.aggregate.sram"]),
    row(Gpu, Int(&keys::ECC_AGG_SRAM_UNCORR, NONE), &["ecc errors/aggregate/sram uncorrectable"], &["ecc_errors/aggregate/sram_uncorrectable"], &["ecc.errors.uncorrected.aggregate.sram"]),
    row(Gpu, Int(&keys::ECC_AGG_SRAM_PARITY, NONE), &["ecc errors/aggregate/sram uncorrectable parity"], &["ecc_errors/aggregate/sram_uncorrectable_parity"], &["ecc.errors.uncorrected.aggregate.sram.parity"]),
    row(Gpu, Int(&keys::ECC_AGG_SRAM_SECDED, NONE), &["ecc errors/aggregate/sram uncorrectable sec-ded"], &["ecc_errors/aggregate/sram_uncorrectable_secded"], &["ecc.errors.uncorrected.aggregate.sram.secded"]),
    row(Gpu, Int(&keys::ECC_AGG_DRAM_CORR, NONE), &["ecc errors/aggregate/dram correctable"], &["ecc_errors/aggregate/dram_correctable"], &["ecc.errors.corrected.aggregate.dram"]),
    row(Gpu, Int(&keys::ECC_AGG_DRAM_UNCORR, NONE), &["ecc errors/aggregate/dram uncorrectable"], &["ecc_errors/aggregate/dram_uncorrectable"], &["ecc.errors.uncorrected.aggregate.dram"]),
    row(Gpu, Flag(&keys::ECC_SRAM_THRESHOLD), &["ecc errors/aggregate/sram threshold exceeded"], &["ecc_errors/aggregate/sram_threshold_exceeded"], &["ecc.errors.uncorrected.aggregate.sram.thresholdexceeded"]),
    row(Gpu, Flag(&keys::ECC_CHANNEL_REPAIR), &["ecc errors/channel repair pending"], &["ecc_errors/channel_repair_pending"], &[]),
    row(Gpu, Flag(&keys::ECC_TPC_REPAIR), &["ecc errors/tpc repair pending"], &["ecc_errors/tpc_repair_pending"], &[]),
    row(Gpu, Flag(&keys::ECC_UNREPAIRABLE), &["ecc errors/unrepairable memory"], &["ecc_errors/unrepairable_memory"], &[]),
    row(Gpu, Int(&keys::RETIRED_SBE, NONE), &["retired pages/single bit ecc"], &["retired_pages/multiple_single_bit_retirement/retired_count"], &["retired_pages.single_bit_ecc.count", "retired_pages.sbe"]),
    row(Gpu, Int(&keys::RETIRED_DBE, NONE), &["retired pages/double bit ecc"], &["retired_pages/double_bit_retirement/retired_count"], &["retired_pages.double_bit.count", "retired_pages.dbe"]),
    row(Gpu, Flag(&keys::RETIRED_PENDING), &["retired pages/pending page blacklist", "retired pages/pending page denylist", "retired pages/pending retirement", "retired pages/pending"], &["retired_pages/pending_retirement", "retired_pages/pending_blacklist"], &["retired_pages.pending"]),
    row(Gpu, Int(&keys::REMAP_CORRECTABLE, NONE), &["remapped rows/correctable error"], &["remapped_rows/remapped_row_corr"], &["remapped_rows.correctable", "remapped_rows.sbe"]),
    row(Gpu, Int(&keys::REMAP_UNCORRECTABLE, NONE), &["remapped rows/uncorrectable error"], &["remapped_rows/remapped_row_unc"], &["remapped_rows.uncorrectable", "remapped_rows.dbe"]),
    row(Gpu, Int(&keys::REMAP_CORRECTABLE_INACTIVE, NONE), &["remapped rows/inactive correctable error"], &["remapped_rows/remapped_row_corr_inactive"], &["remapped_rows.correctable_inactive"]),
    row(Gpu, Int(&keys::REMAP_UNCORRECTABLE_INACTIVE, NONE), &["remapped rows/inactive uncorrectable error"], &["remapped_rows/remapped_row_unc_inactive"], &["remapped_rows.uncorrectable_inactive"]),
    row(Gpu, Flag(&keys::REMAP_PENDING), &["remapped rows/pending"], &["remapped_rows/remapped_row_pending"], &["remapped_rows.pending"]),
    row(Gpu, Flag(&keys::REMAP_FAILED), &["remapped rows/remapping failure occurred"], &["remapped_rows/remapped_row_failure"], &["remapped_rows.failure"]),
    row(Gpu, Int(&keys::REMAP_BANKS_MAX, BANKS), &["remapped rows/bank remap availability histogram/max"], &["remapped_rows/row_remapper_histogram/row_remapper_histogram_max"], &["remapped_rows.histogram.max"]),
    row(Gpu, Int(&keys::REMAP_BANKS_HIGH, BANKS), &["remapped rows/bank remap availability histogram/high"], &["remapped_rows/row_remapper_histogram/row_remapper_histogram_high"], &["remapped_rows.histogram.high"]),
    row(Gpu, Int(&keys::REMAP_BANKS_PARTIAL, BANKS), &["remapped rows/bank remap availability histogram/partial"], &["remapped_rows/row_remapper_histogram/row_remapper_histogram_partial"], &["remapped_rows.histogram.partial"]),
    row(Gpu, Int(&keys::REMAP_BANKS_LOW, BANKS), &["remapped rows/bank remap availability histogram/low"], &["remapped_rows/row_remapper_histogram/row_remapper_histogram_low"], &["remapped_rows.histogram.low"]),
    row(Gpu, Int(&keys::REMAP_BANKS_NONE, BANKS), &["remapped rows/bank remap availability histogram/none"], &["remapped_rows/row_remapper_histogram/row_remapper_histogram_none"], &["remapped_rows.histogram.none"]),

    // "GPU T.Limit Temp" is a margin in degrees, not a temperature; its thresholds are zero or negative.
    row(Gpu, Num(&keys::GPU_TEMPERATURE, CELSIUS), &["temperature/gpu current temp", "temperature/gpu"], &["temperature/gpu_temp"], &["temperature.gpu"]),
    row(Gpu, Num(&keys::GPU_TLIMIT_MARGIN, CELSIUS), &["temperature/gpu t.limit temp", "temperature/gpu current t.limit temp"], &["temperature/gpu_temp_tlimit", "temperature/gpu_current_temp_tlimit"], &["temperature.gpu.tlimit"]),
    row(Gpu, Num(&keys::GPU_SHUTDOWN_TEMP, CELSIUS), &["temperature/gpu shutdown temp"], &["temperature/gpu_temp_max_threshold"], &[]),
    row(Gpu, Num(&keys::GPU_SLOWDOWN_TEMP, CELSIUS), &["temperature/gpu slowdown temp"], &["temperature/gpu_temp_slow_threshold"], &[]),
    row(Gpu, Num(&keys::GPU_MAX_OPERATING_TEMP, CELSIUS), &["temperature/gpu max operating temp"], &["temperature/gpu_temp_max_gpu_threshold"], &[]),
    row(Gpu, Num(&keys::GPU_SHUTDOWN_TLIMIT, CELSIUS), &["temperature/gpu shutdown t.limit temp"], &["temperature/gpu_temp_max_tlimit_threshold"], &[]),
    row(Gpu, Num(&keys::GPU_SLOWDOWN_TLIMIT, CELSIUS), &["temperature/gpu slowdown t.limit temp"], &["temperature/gpu_temp_slow_tlimit_threshold"], &[]),
    row(Gpu, Num(&keys::GPU_MAX_OPERATING_TLIMIT, CELSIUS), &["temperature/gpu max operating t.limit temp"], &["temperature/gpu_temp_max_gpu_tlimit_threshold"], &[]),
    row(Gpu, Num(&keys::GPU_TARGET_TEMP, CELSIUS), &["temperature/gpu target temperature", "temperature/gpu target temperature specification"], &["temperature/gpu_target_temperature"], &[]),
    row(Gpu, Num(&keys::GPU_MEMORY_TEMP, CELSIUS), &["temperature/memory current temp"], &["temperature/memory_temp"], &["temperature.memory"]),
    row(Gpu, Num(&keys::GPU_MEMORY_MAX_TEMP, CELSIUS), &["temperature/memory max operating temp"], &["temperature/gpu_temp_max_mem_threshold"], &[]),
    row(Gpu, Num(&keys::GPU_MEMORY_MAX_TLIMIT, CELSIUS), &["temperature/memory max operating t.limit temp"], &["temperature/gpu_temp_max_mem_tlimit_threshold"], &[]),

    row(Gpu, Num(&keys::GPU_POWER, WATT), &["gpu power readings/power draw", "power readings/power draw"], &["gpu_power_readings/power_draw", "power_readings/power_draw"], &["power.draw"]),
    row(Gpu, Num(&keys::GPU_POWER_AVG, WATT), &["gpu power readings/average power draw"], &["gpu_power_readings/average_power_draw"], &["power.draw.average", "gpu.power.draw.average"]),
    row(Gpu, Num(&keys::GPU_POWER_INSTANT, WATT), &["gpu power readings/instantaneous power draw"], &["gpu_power_readings/instant_power_draw", "gpu_power_readings/instantaneous_power_draw"], &["power.draw.instant", "gpu.power.draw.instant"]),
    // "Enforced" (before 535) and "current" (from 535) are what holds; the plain limit is what was asked for.
    row(Gpu, Num(&keys::GPU_POWER_LIMIT, WATT),
        &["gpu power readings/gpu ceiling power limit/current power limit", "gpu power readings/current power limit", "power readings/enforced power limit", "gpu power readings/enforced power limit", "gpu power readings/power limit", "power readings/power limit"],
        &["gpu_power_readings/gpu_ceiling_power_limit/current_power_limit", "gpu_power_readings/current_power_limit", "power_readings/enforced_power_limit", "gpu_power_readings/enforced_power_limit", "gpu_power_readings/power_limit", "power_readings/power_limit"],
        &["enforced.power.limit", "gpu.power.current_limit", "power.limit"]),
    row(Gpu, Num(&keys::GPU_POWER_LIMIT_REQUESTED, WATT),
        &["gpu power readings/gpu ceiling power limit/requested power limit", "gpu power readings/requested power limit"],
        &["gpu_power_readings/gpu_ceiling_power_limit/requested_power_limit", "gpu_power_readings/requested_power_limit"], &["gpu.power.requested_limit"]),
    row(Gpu, Num(&keys::GPU_POWER_LIMIT_DEFAULT, WATT),
        &["gpu power readings/gpu ceiling power limit/default power limit", "gpu power readings/default power limit", "power readings/default power limit"],
        &["gpu_power_readings/gpu_ceiling_power_limit/default_power_limit", "gpu_power_readings/default_power_limit", "power_readings/default_power_limit"], &["power.default_limit", "gpu.power.default_limit"]),
    row(Gpu, Num(&keys::GPU_POWER_LIMIT_MIN, WATT), &["gpu power readings/min power limit", "power readings/min power limit", "gpu power readings/gpu ceiling power limit/min power limit"], &["gpu_power_readings/min_power_limit", "power_readings/min_power_limit", "gpu_power_readings/gpu_ceiling_power_limit/min_power_limit"], &["power.min_limit", "gpu.power.min_limit"]),
    row(Gpu, Num(&keys::GPU_POWER_LIMIT_MAX, WATT), &["gpu power readings/max power limit", "power readings/max power limit", "gpu power readings/gpu ceiling power limit/max power limit"], &["gpu_power_readings/max_power_limit", "power_readings/max_power_limit", "gpu_power_readings/gpu_ceiling_power_limit/max_power_limit"], &["power.max_limit", "gpu.power.max_limit"]),

    row(Gpu, Num(&keys::GPU_GRAPHICS_CLOCK, MHZ), &["clocks/graphics"], &["clocks/graphics_clock"], &["clocks.current.graphics", "clocks.gr"]),
    row(Gpu, Num(&keys::GPU_SM_CLOCK, MHZ), &["clocks/sm"], &["clocks/sm_clock"], &["clocks.current.sm", "clocks.sm"]),
    row(Gpu, Num(&keys::GPU_MEM_CLOCK, MHZ), &["clocks/memory"], &["clocks/mem_clock"], &["clocks.current.memory", "clocks.mem"]),
    row(Gpu, Num(&keys::GPU_APP_CLOCK, MHZ), &["applications clocks/graphics"], &["applications_clocks/graphics_clock"], &["clocks.applications.graphics", "clocks.applications.gr"]),
    row(Gpu, Num(&keys::GPU_APP_MEM_CLOCK, MHZ), &["applications clocks/memory"], &["applications_clocks/mem_clock"], &["clocks.applications.memory", "clocks.applications.mem"]),
    row(Gpu, Num(&keys::GPU_APP_CLOCK_DEFAULT, MHZ), &["default applications clocks/graphics"], &["default_applications_clocks/graphics_clock"], &["clocks.default_applications.graphics", "clocks.default_applications.gr"]),
    row(Gpu, Num(&keys::GPU_APP_MEM_CLOCK_DEFAULT, MHZ), &["default applications clocks/memory"], &["default_applications_clocks/mem_clock"], &["clocks.default_applications.memory", "clocks.default_applications.mem"]),
    row(Gpu, Num(&keys::GPU_GRAPHICS_CLOCK_MAX, MHZ), &["max clocks/graphics"], &["max_clocks/graphics_clock"], &["clocks.max.graphics", "clocks.max.gr"]),
    row(Gpu, Num(&keys::GPU_SM_CLOCK_MAX, MHZ), &["max clocks/sm"], &["max_clocks/sm_clock"], &["clocks.max.sm"]),
    row(Gpu, Num(&keys::GPU_MEM_CLOCK_MAX, MHZ), &["max clocks/memory"], &["max_clocks/mem_clock"], &["clocks.max.memory", "clocks.max.mem"]),

    row(Gpu, Text(&keys::FABRIC_STATE), &["fabric/state"], &["fabric/state"], &["fabric.state"]),
    row(Gpu, Text(&keys::FABRIC_STATUS), &["fabric/status"], &["fabric/status"], &["fabric.status"]),
    row(Gpu, Text(&keys::FABRIC_HEALTH), &["fabric/health/summary"], &["fabric/health/summary"], &["fabric.health.summary"]),

    row(Mig, Sink::Mark(Mark::MigIndex), &["mig device/index"], &["mig_devices/mig_device/index"], &[]),
    row(Mig, Int(&keys::MIG_GI, NONE), &["mig device/gpu instance id"], &["mig_devices/mig_device/gpu_instance_id"], &[]),
    row(Mig, Int(&keys::MIG_CI, NONE), &["mig device/compute instance id"], &["mig_devices/mig_device/compute_instance_id"], &[]),
    row(Mig, Int(&keys::MIG_SM_COUNT, NONE), &["mig device/device attributes/shared/multiprocessor count"], &["mig_devices/mig_device/device_attributes/shared/multiprocessor_count"], &[]),
    row(Mig, Num(&keys::MIG_MEMORY_TOTAL, MIB), &["mig device/shared fb memory usage/total", "mig device/fb memory usage/total"], &["mig_devices/mig_device/fb_memory_usage/total", "mig_devices/mig_device/shared_fb_memory_usage/total"], &[]),
    row(Mig, Num(&keys::MIG_MEMORY_USED, MIB), &["mig device/shared fb memory usage/used", "mig device/fb memory usage/used"], &["mig_devices/mig_device/fb_memory_usage/used", "mig_devices/mig_device/shared_fb_memory_usage/used"], &[]),

    row(Process, Int(&keys::PROC_GI, NONE), &["processes/gpu instance id"], &["processes/process_info/gpu_instance_id"], &[]),
    row(Process, Int(&keys::PROC_CI, NONE), &["processes/compute instance id"], &["processes/process_info/compute_instance_id"], &[]),
    row(Process, Int(&keys::PROC_PID, NONE), &["processes/process id", "compute processes/process id"], &["processes/process_info/pid", "compute_processes/process_info/pid"], &["pid"]),
    row(Process, Text(&keys::PROC_TYPE), &["processes/process id/type", "processes/type"], &["processes/process_info/type"], &[]),
    row(Process, Text(&keys::PROC_NAME), &["processes/process id/name", "processes/name", "compute processes/process id/name", "compute processes/name"], &["processes/process_info/process_name", "compute_processes/process_info/process_name"], &["process_name"]),
    row(Process, Num(&keys::PROC_MEMORY, MIB), &["processes/process id/used gpu memory", "processes/used gpu memory", "compute processes/process id/used gpu memory", "compute processes/used gpu memory"], &["processes/process_info/used_memory", "compute_processes/process_info/used_memory"], &["used_gpu_memory", "used_memory"]),
];
