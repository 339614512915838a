//! The list of checks, by layer and id. Written by `cargo xtask codegen`; a test fails when it is stale.

use super::Entry;
use crate::check::Check;

#[path = "driver/bar_resources.rs"]
mod driver_bar_resources;
#[path = "driver/clocks_restricted.rs"]
mod driver_clocks_restricted;
#[path = "driver/cuda_driver_compat.rs"]
mod driver_cuda_driver_compat;
#[path = "driver/driver_conflict.rs"]
mod driver_driver_conflict;
#[path = "driver/ecc_mode.rs"]
mod driver_ecc_mode;
#[path = "driver/gpu_arch_supported.rs"]
mod driver_gpu_arch_supported;
#[path = "driver/gpu_count.rs"]
mod driver_gpu_count;
#[path = "driver/gpu_lost.rs"]
mod driver_gpu_lost;
#[path = "driver/gsp_firmware.rs"]
mod driver_gsp_firmware;
#[path = "driver/inforom_valid.rs"]
mod driver_inforom_valid;
#[path = "driver/kernel_module_loaded.rs"]
mod driver_kernel_module_loaded;
#[path = "driver/module_flavour.rs"]
mod driver_module_flavour;
#[path = "driver/pcie_link_gen.rs"]
mod driver_pcie_link_gen;
#[path = "driver/pcie_link_width.rs"]
mod driver_pcie_link_width;
#[path = "driver/pcie_replays.rs"]
mod driver_pcie_replays;
#[path = "driver/pcie_upstream_bottleneck.rs"]
mod driver_pcie_upstream_bottleneck;
#[path = "driver/power_brake.rs"]
mod driver_power_brake;
#[path = "driver/power_cap.rs"]
mod driver_power_cap;
#[path = "driver/recovery_action.rs"]
mod driver_recovery_action;
#[path = "driver/rm_init_failed.rs"]
mod driver_rm_init_failed;
#[path = "driver/thermal_throttle.rs"]
mod driver_thermal_throttle;
#[path = "driver/util_vs_sm_activity.rs"]
mod driver_util_vs_sm_activity;
#[path = "driver/vbios_present.rs"]
mod driver_vbios_present;
#[path = "driver/version_mismatch.rs"]
mod driver_version_mismatch;
#[path = "driver/xid_events.rs"]
mod driver_xid_events;
#[path = "runtime/debug_env.rs"]
mod runtime_debug_env;
#[path = "runtime/framework_cuda_build.rs"]
mod runtime_framework_cuda_build;
#[path = "runtime/mig.rs"]
mod runtime_mig;
#[path = "memory/allocator_churn.rs"]
mod memory_allocator_churn;
#[path = "memory/h2d_exposed.rs"]
mod memory_h2d_exposed;
#[path = "memory/pageable_copies.rs"]
mod memory_pageable_copies;
#[path = "compute/activity_truth.rs"]
mod compute_activity_truth;
#[path = "compute/launch_api_stall.rs"]
mod compute_launch_api_stall;
#[path = "compute/launch_bound.rs"]
mod compute_launch_bound;
#[path = "compute/launch_geometry.rs"]
mod compute_launch_geometry;
#[path = "compute/occupancy.rs"]
mod compute_occupancy;
#[path = "compute/precision_policy.rs"]
mod compute_precision_policy;
#[path = "compute/register_spill.rs"]
mod compute_register_spill;
#[path = "compute/short_kernels.rs"]
mod compute_short_kernels;
#[path = "compute/sol_class.rs"]
mod compute_sol_class;
#[path = "compute/tensor_core_use.rs"]
mod compute_tensor_core_use;
#[path = "compute/trace_validity.rs"]
mod compute_trace_validity;
#[path = "compute/uncoalesced_global.rs"]
mod compute_uncoalesced_global;
#[path = "compute/warp_divergence.rs"]
mod compute_warp_divergence;
#[path = "compute/wave_tail.rs"]
mod compute_wave_tail;
#[path = "pipeline/loader_wait.rs"]
mod pipeline_loader_wait;
#[path = "framework/autograd_overhead.rs"]
mod framework_autograd_overhead;
#[path = "framework/compile_churn.rs"]
mod framework_compile_churn;
#[path = "framework/cuda_graphs.rs"]
mod framework_cuda_graphs;
#[path = "framework/debug_modes.rs"]
mod framework_debug_modes;
#[path = "framework/optimizer_impl.rs"]
mod framework_optimizer_impl;
#[path = "framework/sync_calls.rs"]
mod framework_sync_calls;

/// Every check.
pub(super) static CHECKS: &[&Check] = &[
    &driver_bar_resources::CHECK,
    &driver_clocks_restricted::CHECK,
    &driver_cuda_driver_compat::CHECK,
    &driver_driver_conflict::CHECK,
    &driver_ecc_mode::CHECK,
    &driver_gpu_arch_supported::CHECK,
    &driver_gpu_count::CHECK,
    &driver_gpu_lost::CHECK,
    &driver_gsp_firmware::CHECK,
    &driver_inforom_valid::CHECK,
    &driver_kernel_module_loaded::CHECK,
    &driver_module_flavour::CHECK,
    &driver_pcie_link_gen::CHECK,
    &driver_pcie_link_width::CHECK,
    &driver_pcie_replays::CHECK,
    &driver_pcie_upstream_bottleneck::CHECK,
    &driver_power_brake::CHECK,
    &driver_power_cap::CHECK,
    &driver_recovery_action::CHECK,
    &driver_rm_init_failed::CHECK,
    &driver_thermal_throttle::CHECK,
    &driver_util_vs_sm_activity::CHECK,
    &driver_vbios_present::CHECK,
    &driver_version_mismatch::CHECK,
    &driver_xid_events::CHECK,
    &runtime_debug_env::CHECK,
    &runtime_framework_cuda_build::CHECK,
    &runtime_mig::CHECK,
    &memory_allocator_churn::CHECK,
    &memory_h2d_exposed::CHECK,
    &memory_pageable_copies::CHECK,
    &compute_activity_truth::CHECK,
    &compute_launch_api_stall::CHECK,
    &compute_launch_bound::CHECK,
    &compute_launch_geometry::CHECK,
    &compute_occupancy::CHECK,
    &compute_precision_policy::CHECK,
    &compute_register_spill::CHECK,
    &compute_short_kernels::CHECK,
    &compute_sol_class::CHECK,
    &compute_tensor_core_use::CHECK,
    &compute_trace_validity::CHECK,
    &compute_uncoalesced_global::CHECK,
    &compute_warp_divergence::CHECK,
    &compute_wave_tail::CHECK,
    &pipeline_loader_wait::CHECK,
    &framework_autograd_overhead::CHECK,
    &framework_compile_churn::CHECK,
    &framework_cuda_graphs::CHECK,
    &framework_debug_modes::CHECK,
    &framework_optimizer_impl::CHECK,
    &framework_sync_calls::CHECK,
];

/// Every check with its texts.
pub(super) static ENTRIES: &[Entry] = &[
    Entry {
        check: &driver_bar_resources::CHECK,
        source: include_str!("driver/bar_resources.rs"),
        cases: include_str!("../../cases/driver/bar-resources.md"),
    },
    Entry {
        check: &driver_clocks_restricted::CHECK,
        source: include_str!("driver/clocks_restricted.rs"),
        cases: include_str!("../../cases/driver/clocks-restricted.md"),
    },
    Entry {
        check: &driver_cuda_driver_compat::CHECK,
        source: include_str!("driver/cuda_driver_compat.rs"),
        cases: include_str!("../../cases/driver/cuda-driver-compat.md"),
    },
    Entry {
        check: &driver_driver_conflict::CHECK,
        source: include_str!("driver/driver_conflict.rs"),
        cases: include_str!("../../cases/driver/driver-conflict.md"),
    },
    Entry {
        check: &driver_ecc_mode::CHECK,
        source: include_str!("driver/ecc_mode.rs"),
        cases: include_str!("../../cases/driver/ecc-mode.md"),
    },
    Entry {
        check: &driver_gpu_arch_supported::CHECK,
        source: include_str!("driver/gpu_arch_supported.rs"),
        cases: include_str!("../../cases/driver/gpu-arch-supported.md"),
    },
    Entry {
        check: &driver_gpu_count::CHECK,
        source: include_str!("driver/gpu_count.rs"),
        cases: include_str!("../../cases/driver/gpu-count.md"),
    },
    Entry {
        check: &driver_gpu_lost::CHECK,
        source: include_str!("driver/gpu_lost.rs"),
        cases: include_str!("../../cases/driver/gpu-lost.md"),
    },
    Entry {
        check: &driver_gsp_firmware::CHECK,
        source: include_str!("driver/gsp_firmware.rs"),
        cases: include_str!("../../cases/driver/gsp-firmware.md"),
    },
    Entry {
        check: &driver_inforom_valid::CHECK,
        source: include_str!("driver/inforom_valid.rs"),
        cases: include_str!("../../cases/driver/inforom-valid.md"),
    },
    Entry {
        check: &driver_kernel_module_loaded::CHECK,
        source: include_str!("driver/kernel_module_loaded.rs"),
        cases: include_str!("../../cases/driver/kernel-module-loaded.md"),
    },
    Entry {
        check: &driver_module_flavour::CHECK,
        source: include_str!("driver/module_flavour.rs"),
        cases: include_str!("../../cases/driver/module-flavour.md"),
    },
    Entry {
        check: &driver_pcie_link_gen::CHECK,
        source: include_str!("driver/pcie_link_gen.rs"),
        cases: include_str!("../../cases/driver/pcie-link-gen.md"),
    },
    Entry {
        check: &driver_pcie_link_width::CHECK,
        source: include_str!("driver/pcie_link_width.rs"),
        cases: include_str!("../../cases/driver/pcie-link-width.md"),
    },
    Entry {
        check: &driver_pcie_replays::CHECK,
        source: include_str!("driver/pcie_replays.rs"),
        cases: include_str!("../../cases/driver/pcie-replays.md"),
    },
    Entry {
        check: &driver_pcie_upstream_bottleneck::CHECK,
        source: include_str!("driver/pcie_upstream_bottleneck.rs"),
        cases: include_str!("../../cases/driver/pcie-upstream-bottleneck.md"),
    },
    Entry {
        check: &driver_power_brake::CHECK,
        source: include_str!("driver/power_brake.rs"),
        cases: include_str!("../../cases/driver/power-brake.md"),
    },
    Entry {
        check: &driver_power_cap::CHECK,
        source: include_str!("driver/power_cap.rs"),
        cases: include_str!("../../cases/driver/power-cap.md"),
    },
    Entry {
        check: &driver_recovery_action::CHECK,
        source: include_str!("driver/recovery_action.rs"),
        cases: include_str!("../../cases/driver/recovery-action.md"),
    },
    Entry {
        check: &driver_rm_init_failed::CHECK,
        source: include_str!("driver/rm_init_failed.rs"),
        cases: include_str!("../../cases/driver/rm-init-failed.md"),
    },
    Entry {
        check: &driver_thermal_throttle::CHECK,
        source: include_str!("driver/thermal_throttle.rs"),
        cases: include_str!("../../cases/driver/thermal-throttle.md"),
    },
    Entry {
        check: &driver_util_vs_sm_activity::CHECK,
        source: include_str!("driver/util_vs_sm_activity.rs"),
        cases: include_str!("../../cases/driver/util-vs-sm-activity.md"),
    },
    Entry {
        check: &driver_vbios_present::CHECK,
        source: include_str!("driver/vbios_present.rs"),
        cases: include_str!("../../cases/driver/vbios-present.md"),
    },
    Entry {
        check: &driver_version_mismatch::CHECK,
        source: include_str!("driver/version_mismatch.rs"),
        cases: include_str!("../../cases/driver/version-mismatch.md"),
    },
    Entry {
        check: &driver_xid_events::CHECK,
        source: include_str!("driver/xid_events.rs"),
        cases: include_str!("../../cases/driver/xid-events.md"),
    },
    Entry {
        check: &runtime_debug_env::CHECK,
        source: include_str!("runtime/debug_env.rs"),
        cases: include_str!("../../cases/runtime/debug-env.md"),
    },
    Entry {
        check: &runtime_framework_cuda_build::CHECK,
        source: include_str!("runtime/framework_cuda_build.rs"),
        cases: include_str!("../../cases/runtime/framework-cuda-build.md"),
    },
    Entry {
        check: &runtime_mig::CHECK,
        source: include_str!("runtime/mig.rs"),
        cases: include_str!("../../cases/runtime/mig.md"),
    },
    Entry {
        check: &memory_allocator_churn::CHECK,
        source: include_str!("memory/allocator_churn.rs"),
        cases: include_str!("../../cases/memory/allocator-churn.md"),
    },
    Entry {
        check: &memory_h2d_exposed::CHECK,
        source: include_str!("memory/h2d_exposed.rs"),
        cases: include_str!("../../cases/memory/h2d-exposed.md"),
    },
    Entry {
        check: &memory_pageable_copies::CHECK,
        source: include_str!("memory/pageable_copies.rs"),
        cases: include_str!("../../cases/memory/pageable-copies.md"),
    },
    Entry {
        check: &compute_activity_truth::CHECK,
        source: include_str!("compute/activity_truth.rs"),
        cases: include_str!("../../cases/compute/activity-truth.md"),
    },
    Entry {
        check: &compute_launch_api_stall::CHECK,
        source: include_str!("compute/launch_api_stall.rs"),
        cases: include_str!("../../cases/compute/launch-api-stall.md"),
    },
    Entry {
        check: &compute_launch_bound::CHECK,
        source: include_str!("compute/launch_bound.rs"),
        cases: include_str!("../../cases/compute/launch-bound.md"),
    },
    Entry {
        check: &compute_launch_geometry::CHECK,
        source: include_str!("compute/launch_geometry.rs"),
        cases: include_str!("../../cases/compute/launch-geometry.md"),
    },
    Entry {
        check: &compute_occupancy::CHECK,
        source: include_str!("compute/occupancy.rs"),
        cases: include_str!("../../cases/compute/occupancy.md"),
    },
    Entry {
        check: &compute_precision_policy::CHECK,
        source: include_str!("compute/precision_policy.rs"),
        cases: include_str!("../../cases/compute/precision-policy.md"),
    },
    Entry {
        check: &compute_register_spill::CHECK,
        source: include_str!("compute/register_spill.rs"),
        cases: include_str!("../../cases/compute/register-spill.md"),
    },
    Entry {
        check: &compute_short_kernels::CHECK,
        source: include_str!("compute/short_kernels.rs"),
        cases: include_str!("../../cases/compute/short-kernels.md"),
    },
    Entry {
        check: &compute_sol_class::CHECK,
        source: include_str!("compute/sol_class.rs"),
        cases: include_str!("../../cases/compute/sol-class.md"),
    },
    Entry {
        check: &compute_tensor_core_use::CHECK,
        source: include_str!("compute/tensor_core_use.rs"),
        cases: include_str!("../../cases/compute/tensor-core-use.md"),
    },
    Entry {
        check: &compute_trace_validity::CHECK,
        source: include_str!("compute/trace_validity.rs"),
        cases: include_str!("../../cases/compute/trace-validity.md"),
    },
    Entry {
        check: &compute_uncoalesced_global::CHECK,
        source: include_str!("compute/uncoalesced_global.rs"),
        cases: include_str!("../../cases/compute/uncoalesced-global.md"),
    },
    Entry {
        check: &compute_warp_divergence::CHECK,
        source: include_str!("compute/warp_divergence.rs"),
        cases: include_str!("../../cases/compute/warp-divergence.md"),
    },
    Entry {
        check: &compute_wave_tail::CHECK,
        source: include_str!("compute/wave_tail.rs"),
        cases: include_str!("../../cases/compute/wave-tail.md"),
    },
    Entry {
        check: &pipeline_loader_wait::CHECK,
        source: include_str!("pipeline/loader_wait.rs"),
        cases: include_str!("../../cases/pipeline/loader-wait.md"),
    },
    Entry {
        check: &framework_autograd_overhead::CHECK,
        source: include_str!("framework/autograd_overhead.rs"),
        cases: include_str!("../../cases/framework/autograd-overhead.md"),
    },
    Entry {
        check: &framework_compile_churn::CHECK,
        source: include_str!("framework/compile_churn.rs"),
        cases: include_str!("../../cases/framework/compile-churn.md"),
    },
    Entry {
        check: &framework_cuda_graphs::CHECK,
        source: include_str!("framework/cuda_graphs.rs"),
        cases: include_str!("../../cases/framework/cuda-graphs.md"),
    },
    Entry {
        check: &framework_debug_modes::CHECK,
        source: include_str!("framework/debug_modes.rs"),
        cases: include_str!("../../cases/framework/debug-modes.md"),
    },
    Entry {
        check: &framework_optimizer_impl::CHECK,
        source: include_str!("framework/optimizer_impl.rs"),
        cases: include_str!("../../cases/framework/optimizer-impl.md"),
    },
    Entry {
        check: &framework_sync_calls::CHECK,
        source: include_str!("framework/sync_calls.rs"),
        cases: include_str!("../../cases/framework/sync-calls.md"),
    },
];
