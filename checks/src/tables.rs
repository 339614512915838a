//! Reference tables: plain data in `checks/data`, each file with its source and date. A model or code that is not in a
//! table gives unknown, never a finding.
//!
//! A file is tab-separated: `# source:` and `# date:` lines, a line of column names, then rows. This module knows the
//! files' form and gives them types; it does not judge.

mod clock;
mod cuda;
mod env;
mod models;
mod pcie;
mod xid;

pub use clock::{ClockEvent, clock_event, clock_event_ids, clock_events};
pub use cuda::{Architecture, Toolkit, architecture, family_floor, toolkit};
pub use env::{Effect, EnvAdvice, all_env_advice, env_advice};
pub use models::{Class, Model, capability, class, is_laptop, model};
pub use pcie::{PcieRate, gen_of_gts, link_gb_s, pcie_rates};
pub use xid::{Grade, Xid, xid, xids};

/// One data file, split into rows.
#[derive(Debug)]
pub struct Table {
    /// Where its rows come from.
    pub source: &'static str,
    /// Day on which the source was read, as YYYY-MM-DD.
    pub date: &'static str,
    /// Column names.
    pub columns: Vec<&'static str>,
    /// Rows, one cell a column.
    pub rows: Vec<Vec<&'static str>>,
}

/// Every data file by name.
pub const FILES: &[(&str, &str)] = &[
    ("architectures.tsv", include_str!("../data/architectures.tsv")),
    ("clock-events.tsv", include_str!("../data/clock-events.tsv")),
    ("compute-capability.tsv", include_str!("../data/compute-capability.tsv")),
    ("cuda-drivers.tsv", include_str!("../data/cuda-drivers.tsv")),
    ("cuda-families.tsv", include_str!("../data/cuda-families.tsv")),
    ("env-advice.tsv", include_str!("../data/env-advice.tsv")),
    ("gpu-models.tsv", include_str!("../data/gpu-models.tsv")),
    ("pcie-rates.tsv", include_str!("../data/pcie-rates.tsv")),
    ("xid.tsv", include_str!("../data/xid.tsv")),
];

impl Table {
    /// Splits the text of a data file. Rows with too few cells are kept as they are; a test refuses them.
    #[must_use]
    pub fn read(text: &'static str) -> Self {
        let mut table = Self { source: "", date: "", columns: Vec::new(), rows: Vec::new() };
        for line in text.lines() {
            if let Some(comment) = line.strip_prefix('#') {
                let comment = comment.trim();
                if let Some(source) = comment.strip_prefix("source:") {
                    table.source = source.trim();
                } else if let Some(date) = comment.strip_prefix("date:") {
                    table.date = date.trim();
                }
                continue;
            }
            let cells: Vec<&'static str> = line.split('\t').map(str::trim).collect();
            if table.columns.is_empty() {
                table.columns = cells;
            } else {
                table.rows.push(cells);
            }
        }
        table
    }

    /// The table in the file of this name; an empty table if there is none.
    fn named(name: &str) -> Self {
        Self::read(FILES.iter().find(|(n, _)| *n == name).map_or("", |(_, text)| text))
    }

    /// A cell of a row by column name, empty if there is none.
    #[must_use]
    pub fn cell(&self, row: &[&'static str], column: &str) -> &'static str {
        let at = self.columns.iter().position(|c| *c == column);
        at.and_then(|i| row.get(i).copied()).unwrap_or("")
    }
}
