//! A team's overrides of thresholds. It does not know which thresholds exist; the catalogue does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Overrides by `layer/slug.name`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Threshold overrides.
    pub limits: BTreeMap<String, f64>,
    /// Put the facts into the report.
    pub with_facts: bool,
}

impl Settings {
    /// The override of a check's threshold, if there is one.
    #[must_use]
    pub fn limit(&self, check: &str, name: &str) -> Option<f64> {
        if self.limits.is_empty() {
            return None;
        }
        self.limits.get(&format!("{check}.{name}")).copied()
    }
}
