//! The recording of a training run as it lies in its folder: `run.json` and the receipt of what recording cost.
//!
//! It holds the formats only; it neither writes nor judges them. Unknown keys are ignored, absent ones stay absent.

use serde::{Deserialize, Serialize};

/// What recording has cost and what it could not read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Receipt {
    /// Wall time.
    pub wall_ms: Option<f64>,
    /// CPU time of the collector itself.
    pub cpu_ms: Option<f64>,
    /// Largest resident memory of the collector.
    pub peak_memory_mib: Option<f64>,
    /// Bytes written to the recording.
    pub bytes_written: Option<u64>,
    /// Bytes sent to a server.
    pub bytes_sent: Option<u64>,
    /// Samples that were left out, because the schedule was missed or there was no room.
    pub frames_shed: Option<u64>,
    /// What the step timings cost the training process, in µs: the median over steps.
    pub shim_us_per_step: Option<f64>,
    /// What could not be read, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

/// `run.json`: what was run, where, when, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunInfo {
    /// Format version.
    pub v: u32,
    /// Always `run`.
    pub kind: String,
    /// Run id, a UUID; ranks of one run on several nodes share it.
    pub id: String,
    /// Name for people.
    pub name: Option<String>,
    /// Node that the recording was made on.
    pub node: Option<String>,
    /// The command, secrets replaced.
    pub command: Vec<String>,
    /// Epoch ms of the start.
    pub started_ms: Option<i64>,
    /// Epoch ms of the end; absent while it runs or when the recorder was killed.
    pub ended_ms: Option<i64>,
    /// Exit status of the command; 128 + n when a signal ended it.
    pub exit_status: Option<i32>,
    /// World size, where a rank told it.
    pub world: Option<i64>,
    /// What recording has cost.
    pub receipt: Option<Receipt>,
    /// Version of the collector.
    pub collector: Option<String>,
}

impl RunInfo {
    /// Version of this format.
    pub const VERSION: u32 = 1;
    /// The kind that `run.json` carries.
    pub const KIND: &'static str = "run";
    /// Name of the file in the recording's folder.
    pub const FILE: &'static str = "run.json";
}
