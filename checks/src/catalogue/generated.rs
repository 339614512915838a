//! The list of checks, by layer and id. Written by `cargo xtask codegen`; a test fails when it is stale.

use super::Entry;
use crate::check::Check;

#[path = "pipeline/loader_wait.rs"]
mod pipeline_loader_wait;

/// Every check.
pub(super) static CHECKS: &[&Check] = &[
    &pipeline_loader_wait::CHECK,
];

/// Every check with its texts.
pub(super) static ENTRIES: &[Entry] = &[
    Entry {
        check: &pipeline_loader_wait::CHECK,
        source: include_str!("pipeline/loader_wait.rs"),
        cases: include_str!("../../cases/pipeline/loader-wait.md"),
    },
];
