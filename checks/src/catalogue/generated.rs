//! The list of checks, by layer and id. Written by `cargo xtask codegen`; a test fails when it is stale.

use super::Entry;
use crate::check::Check;

#[path = "driver/pcie_link_gen.rs"]
mod driver_pcie_link_gen;
#[path = "driver/pcie_link_width.rs"]
mod driver_pcie_link_width;
#[path = "pipeline/loader_wait.rs"]
mod pipeline_loader_wait;

/// Every check.
pub(super) static CHECKS: &[&Check] = &[
    &driver_pcie_link_gen::CHECK,
    &driver_pcie_link_width::CHECK,
    &pipeline_loader_wait::CHECK,
];

/// Every check with its texts.
pub(super) static ENTRIES: &[Entry] = &[
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
        check: &pipeline_loader_wait::CHECK,
        source: include_str!("pipeline/loader_wait.rs"),
        cases: include_str!("../../cases/pipeline/loader-wait.md"),
    },
];
