//! Snapshot v1: what the collector saw of a node at one time, as it is stored, sent and judged.
//!
//! Raw text is what is judged; facts carry only what has no text form. It does not know how either was read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fact::{Key, Value};
use crate::recording::Receipt;

/// A node at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// Format version.
    pub v: u32,
    /// Always `snapshot`.
    pub kind: String,
    /// Which node.
    pub node: Node,
    /// Epoch ms.
    pub taken_ms: i64,
    /// Who took it.
    pub collector: Collector,
    /// Texts as the node gave them.
    pub raw: Vec<Raw>,
    /// Values that have no text form.
    pub facts: Vec<LiveFact>,
}

/// Which node a snapshot is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Host name.
    pub name: Option<String>,
    /// Hash of the machine id, so that a renamed node is known again.
    pub machine: Option<String>,
    /// Labels that the administrator has given.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// Who took a snapshot, and what that cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Collector {
    /// Version of the collector.
    pub version: Option<String>,
    /// What taking it has cost and what could not be read.
    pub receipt: Option<Receipt>,
}

/// A text as the node gave it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Raw {
    /// Its kind, by the id that reports use (`dmesg`, `proc-modules`, …).
    pub name: String,
    /// The text.
    pub text: String,
}

/// A value that was read live.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveFact {
    /// Path, as in [`crate::keys`].
    pub path: String,
    /// Value.
    pub value: Value,
    /// Where it was read: a file or a call, for the quote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl LiveFact {
    /// A live value of a key.
    #[must_use]
    pub fn new<T>(key: &Key<T>, index: &[usize], value: impl Into<Value>, source: &str) -> Self {
        Self { path: key.at(index), value: value.into(), source: Some(source.to_owned()) }
    }
}

impl Snapshot {
    /// Version of this format.
    pub const VERSION: u32 = 1;
    /// The kind that a snapshot carries.
    pub const KIND: &'static str = "snapshot";

    /// The text of this name.
    #[must_use]
    pub fn raw_text(&self, name: &str) -> Option<&str> {
        self.raw.iter().find(|r| r.name == name).map(|r| r.text.as_str())
    }
}
