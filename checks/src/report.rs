//! The report: the JSON contract that the collector prints, the server stores and the pages show.
//!
//! It holds results only: no thresholds, no catalogue texts beyond what a finding says.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fact::Value;

/// Version of this format.
pub const SCHEMA: u32 = 1;

/// The six layers, bottom-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// 1 Driver and firmware.
    Driver,
    /// 2 Runtime.
    Runtime,
    /// 3 Memory and transfers.
    Memory,
    /// 4 Compute.
    Compute,
    /// 5 Data pipeline.
    Pipeline,
    /// 6 Framework and communication.
    Framework,
}

impl Layer {
    /// All layers, bottom-up.
    pub const ALL: [Self; 6] =
        [Self::Driver, Self::Runtime, Self::Memory, Self::Compute, Self::Pipeline, Self::Framework];

    /// The id used in paths, ids and JSON.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Driver => "driver",
            Self::Runtime => "runtime",
            Self::Memory => "memory",
            Self::Compute => "compute",
            Self::Pipeline => "pipeline",
            Self::Framework => "framework",
        }
    }

    /// The layer with this id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|l| l.id() == id)
    }

    /// 1 to 6.
    #[must_use]
    pub const fn number(self) -> usize {
        self as usize + 1
    }

    /// Name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Driver => "Driver & firmware",
            Self::Runtime => "Runtime",
            Self::Memory => "Memory & transfers",
            Self::Compute => "Compute",
            Self::Pipeline => "Data pipeline",
            Self::Framework => "Framework & communication",
        }
    }

    /// The question that the layer answers.
    #[must_use]
    pub const fn question(self) -> &'static str {
        match self {
            Self::Driver => "is the GPU there, healthy, and linked at full width?",
            Self::Runtime => "does the job see the GPU, alone and in the right mode?",
            Self::Memory => "do batches reach the GPU without stopping it?",
            Self::Compute => "does a busy GPU do the right kind of work?",
            Self::Pipeline => "does data arrive in time?",
            Self::Framework => "do launches, waits and communication get in the way?",
        }
    }

    /// Minutes that walking through the layer should take, as the source checklist has them.
    #[must_use]
    pub const fn minutes(self) -> u32 {
        match self {
            Self::Driver | Self::Runtime | Self::Memory => 5,
            Self::Compute | Self::Pipeline => 10,
            Self::Framework => 15,
        }
    }
}

/// A check's verdict on its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Looked at and fine.
    Pass,
    /// Worth knowing.
    Info,
    /// Likely costs time; confirm.
    Warn,
    /// Broken, or 10-20 % of time and more are lost by this cause.
    Fail,
    /// The evidence is missing.
    Unknown,
    /// The question does not arise here.
    NotApplicable,
}

impl Level {
    /// The word used in JSON.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Unknown => "unknown",
            Self::NotApplicable => "not-applicable",
        }
    }

    /// Warn or fail.
    #[must_use]
    pub const fn is_problem(self) -> bool {
        matches!(self, Self::Warn | Self::Fail)
    }
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// One weak signal.
    Low,
    /// One good signal.
    Medium,
    /// A direct reading, or several signals that agree.
    High,
}

/// One fact that a finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Path of the fact, or a short name for a value computed from several.
    pub fact: String,
    /// Observed value.
    pub value: Option<Value>,
    /// Unit, empty if none.
    pub unit: String,
    /// What would have been expected, in words.
    pub expected: Option<String>,
    /// Index into the report's `inputs`.
    pub input: Option<u32>,
    /// Line in that input, from 1.
    pub line: Option<u32>,
    /// The line itself.
    pub quote: Option<String>,
}

/// What a fix step asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tag {
    /// Needs root.
    Root,
    /// Needs a reboot.
    Reboot,
    /// In the firmware set-up.
    Bios,
    /// Restarts the job.
    RestartsJob,
    /// Changes what is trained.
    ChangesTraining,
    /// Can break running work or hardware: never part of a copy-all.
    Unsafe,
    /// Somebody must go to the machine.
    Hands,
}

/// One step of a fix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixStep {
    /// What to do, and for unsafe steps what it would break.
    pub text: String,
    /// The command or code, where there is one.
    pub command: Option<String>,
    /// What it asks for.
    pub tags: Vec<Tag>,
}

/// How a fix can be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Applicability {
    /// While the job runs.
    Safe,
    /// Takes a restart of the job.
    NeedsRestart,
    /// Takes a reboot or hands on the hardware.
    NeedsMaintenance,
    /// A person must decide.
    Manual,
}

/// How to see that a fix has worked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    /// Command to run.
    pub command: String,
    /// What it shows when the fix holds.
    pub expect: String,
}

/// How to mend what a finding found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// Steps in order, the gentlest first.
    pub steps: Vec<FixStep>,
    /// How it can be applied.
    pub applicability: Applicability,
    /// How to see that it worked.
    pub verify: Verify,
}

/// A check's verdict on one subject, with all that supports it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// `layer/slug`.
    pub id: String,
    /// Layer.
    pub layer: Layer,
    /// Verdict.
    pub verdict: Level,
    /// A lower layer fails or is unmeasured: the finding holds, its rank may change.
    pub provisional: bool,
    /// How sure it is.
    pub confidence: Confidence,
    /// The check's title.
    pub title: String,
    /// What was seen here, one or two sentences.
    pub message: String,
    /// Share of the mean step that the part which this finding explains takes.
    pub cost_share: Option<f64>,
    /// 1 − T′/T: at most 1/(1 − share) times faster.
    pub recoverable_share: Option<f64>,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// How to mend it; only for warn and fail.
    pub fix: Option<Fix>,
    /// Facts that were missing; only for unknown.
    pub missing: Vec<String>,
}

/// One sentence about the whole subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// Layer of the finding it rests on.
    pub layer: Option<Layer>,
    /// Check it rests on.
    pub check: Option<String>,
    /// The sentence.
    pub text: String,
    /// That check's recoverable share.
    pub recoverable_share: Option<f64>,
}

/// State of one layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerState {
    /// Layer.
    pub id: Layer,
    /// Its worst finding; unknown if no core check could be measured.
    pub status: Level,
    /// Checks that could be measured.
    pub measured: usize,
    /// Checks that the layer has, without those that do not apply here.
    pub total: usize,
}

/// A remark on an input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Line, from 1.
    pub line: Option<u32>,
    /// Remark.
    pub text: String,
}

/// One input and what it was taken for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// File name, or `name → part` for a part of a paste, archive or bug report.
    pub name: String,
    /// Kind, as listed in the design.
    pub kind: String,
    /// Bytes after decompression that belong to this input.
    pub bytes: u64,
    /// Remarks.
    pub notes: Vec<Note>,
    /// First line of this part within the file it came from, from 1; 1 for a whole file.
    #[serde(default = "one")]
    pub first_line: u32,
    /// Index of the file among the files given (parts of one file share it).
    #[serde(default)]
    pub file: u32,
}

const fn one() -> u32 {
    1
}

/// What the report is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SubjectId {
    /// Node name.
    pub node: Option<String>,
    /// Run id or name.
    pub run: Option<String>,
    /// Epoch ms of the evidence.
    pub taken_ms: Option<i64>,
}

/// A fact as the report prints it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactOut {
    /// Path.
    pub path: String,
    /// Value.
    pub value: Value,
    /// Unit, empty if none.
    pub unit: String,
    /// Index into `inputs`.
    pub input: u32,
    /// Line, from 1.
    pub line: Option<u32>,
}

/// Milliseconds of the mean step by cause. `None`: not measured, or cannot occur here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the definitions of the decomposition, in ms")]
pub struct StepParts {
    pub compute: Option<f64>,
    pub exposed_comm: Option<f64>,
    pub exposed_h2d: Option<f64>,
    pub other_copy: Option<f64>,
    pub data_wait: Option<f64>,
    pub launch: Option<f64>,
    pub sync: Option<f64>,
    pub allocator: Option<f64>,
    pub compile: Option<f64>,
    pub kernel_latency: Option<f64>,
    pub device_dependency: Option<f64>,
    pub unattributed: Option<f64>,
}

impl StepParts {
    /// Name and value of each part, in the order of the contract.
    #[must_use]
    pub const fn list(&self) -> [(&'static str, Option<f64>); 12] {
        [
            ("compute", self.compute),
            ("exposed_comm", self.exposed_comm),
            ("exposed_h2d", self.exposed_h2d),
            ("other_copy", self.other_copy),
            ("data_wait", self.data_wait),
            ("launch", self.launch),
            ("sync", self.sync),
            ("allocator", self.allocator),
            ("compile", self.compile),
            ("kernel_latency", self.kernel_latency),
            ("device_dependency", self.device_dependency),
            ("unattributed", self.unattributed),
        ]
    }
}

impl StepParts {
    /// The seven bars in which a step is drawn: name and ms, `None` where no part of a bar is known.
    #[must_use]
    pub fn bars(&self) -> [(&'static str, Option<f64>); 7] {
        let sum = |parts: &[Option<f64>]| parts.iter().flatten().copied().reduce(|a, b| a + b);
        [
            ("data wait", self.data_wait),
            ("exposed H2D copy", self.exposed_h2d),
            ("GPU compute", self.compute),
            ("exposed communication", self.exposed_comm),
            (
                "launch-bound idle",
                sum(&[self.launch, self.kernel_latency, self.device_dependency, self.allocator, self.compile]),
            ),
            ("sync wait", self.sync),
            ("other", sum(&[self.other_copy, self.unattributed])),
        ]
    }
}

/// Where the step times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepSource {
    /// A profiler trace.
    Trace,
    /// Live step timings.
    Live,
    /// Both.
    Merged,
}

/// The mean step, divided by cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepBreakdown {
    /// Source.
    pub source: StepSource,
    /// Steps that the mean is over.
    pub steps: usize,
    /// Mean step.
    pub mean_ms: f64,
    /// Traced mean / live mean.
    pub traced_ratio: Option<f64>,
    /// Parts; those that are not null add up to the mean.
    pub ms: StepParts,
}

/// Utilisation against work over the same seconds. Means over the samples; absent counters are null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// Samples.
    pub samples: usize,
    /// Seconds they span.
    pub seconds: f64,
    /// Utilisation as nvidia-smi reports it.
    pub util_pct: Option<f64>,
    /// SM active.
    pub sm_pct: Option<f64>,
    /// SM occupancy.
    pub occupancy_pct: Option<f64>,
    /// Tensor Cores active.
    pub tensor_pct: Option<f64>,
    /// DRAM bandwidth.
    pub dram_pct: Option<f64>,
    /// Board power.
    pub power_w: Option<f64>,
    /// Power limit.
    pub power_limit_w: Option<f64>,
    /// One line that reads the numbers together.
    pub reading: String,
}

/// The one command or file that would decide most of what is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NextEvidence {
    /// Command.
    pub command: String,
    /// Why.
    pub why: String,
    /// Checks it decides.
    pub decides: Vec<String>,
    /// About how long it takes.
    pub seconds: u32,
    /// What it asks for.
    pub tags: Vec<Tag>,
}

/// All findings for one subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Format version.
    pub schema: u32,
    /// Catalogue version.
    pub catalogue: String,
    /// What it is about.
    pub subject: SubjectId,
    /// What was read.
    pub inputs: Vec<Input>,
    /// One sentence.
    pub headline: Headline,
    /// Six layers, bottom-up.
    pub layers: Vec<LayerState>,
    /// Findings in order.
    pub findings: Vec<Finding>,
    /// Step breakdown, where a run was recorded.
    pub step: Option<StepBreakdown>,
    /// Utilisation against work, where samples were recorded.
    #[serde(default)]
    pub work: Option<Work>,
    /// Facts, where asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub facts: Option<Vec<FactOut>>,
    /// What to look at next, best first.
    pub next_evidence: Vec<NextEvidence>,
    /// Thresholds that the team has overridden, by `check.name`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub overridden: BTreeMap<String, f64>,
    /// Remarks on the report as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<Note>,
}

impl Report {
    /// The finding of a check.
    #[must_use]
    pub fn finding(&self, id: &str) -> Option<&Finding> {
        self.findings.iter().find(|f| f.id == id)
    }

    /// The gravest verdict among the findings.
    #[must_use]
    pub fn worst(&self) -> Level {
        let has = |l| self.findings.iter().any(|f| f.verdict == l);
        [Level::Fail, Level::Warn, Level::Info, Level::Pass].into_iter().find(|l| has(*l)).unwrap_or(Level::Unknown)
    }

    /// "Start here": the lowest failing layer.
    #[must_use]
    pub fn start_here(&self) -> Option<Layer> {
        self.layers.iter().find(|l| l.status == Level::Fail).map(|l| l.id)
    }
}

/// What one call of `check` prints: one report, or one per host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ReportDoc {
    /// Several hosts.
    Many {
        /// Format version.
        schema: u32,
        /// One report a host.
        subjects: Vec<Report>,
        /// Says that there are several.
        notes: Vec<Note>,
    },
    /// One subject.
    One(Box<Report>),
}

impl ReportDoc {
    /// All reports.
    #[must_use]
    pub fn reports(&self) -> &[Report] {
        match self {
            Self::Many { subjects, .. } => subjects,
            Self::One(r) => std::slice::from_ref(r),
        }
    }
}
