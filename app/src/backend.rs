//! What the pages ask of the server: one read per page.
//!
//! The trait is implemented by the server over its store, and by tests over fixtures. It knows neither SQL nor HTTP.

use std::future::Future;
use std::pin::Pin;

use checks::Summary;
use checks::report::{Layer, Report};
use checks::series::Lanes;

/// A boxed answer, so that the trait can be used as an object.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, Problem>> + Send + 'a>>;

/// Why a page cannot be shown: what happened, what is safe, what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// There is no such thing.
    #[error("There is no {what} “{id}”.")]
    NotFound {
        /// "node", "run", …
        what: &'static str,
        /// What was asked for.
        id: String,
    },
    /// The server failed; nothing was changed.
    #[error("The server could not read this: {0}")]
    Internal(String),
}

/// Which thing a checklist walks through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A node's latest snapshot, by name.
    Node(String),
    /// A run, by id.
    Run(String),
    /// A report of uploaded files, by id.
    Report(String),
}

impl Subject {
    /// Path of the subject's own page.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Self::Node(n) => format!("/nodes/{}", segment(n)),
            Self::Run(id) => format!("/runs/{}", segment(id)),
            Self::Report(id) => format!("/reports/{}", segment(id)),
        }
    }

    /// Path of the checklist at a layer.
    #[must_use]
    pub fn checklist(&self, layer: Layer) -> String {
        format!("{}/checklist/{}", self.path(), layer.id())
    }
}

/// A name as one segment of a path: everything but letters, digits and `-._~` is percent-encoded.
fn segment(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for b in name.bytes() {
        if b.is_ascii_alphanumeric() || b"-._~".contains(&b) {
            out.push(char::from(b));
        } else {
            out.push_str(&format!("%{b:02X}"));
        }
    }
    out
}

/// A stored report and where it came from.
#[derive(Clone, Debug)]
pub struct StoredReport {
    /// Report id (for links to its raw inputs).
    pub id: String,
    /// The report, facts included.
    pub report: Report,
    /// Epoch ms when it was made.
    pub made_ms: i64,
    /// False while it is being made.
    pub ready: bool,
}

/// One row of the node list.
#[derive(Clone, Debug)]
pub struct NodeRow {
    /// Name.
    pub name: String,
    /// Epoch ms of the last snapshot.
    pub seen_ms: i64,
    /// "8 × NVIDIA H200", if known.
    pub gpus: Option<String>,
    /// Driver version, if known.
    pub driver: Option<String>,
    /// What the report of the last snapshot says.
    pub summary: Summary,
    /// Its report's id.
    pub report_id: String,
    /// The latest run on the node.
    pub run: Option<RunRow>,
}

/// One row of the run list.
#[derive(Clone, Debug)]
pub struct RunRow {
    /// Id.
    pub id: String,
    /// Name.
    pub name: String,
    /// Node, if known.
    pub node: Option<String>,
    /// Epoch ms of its start.
    pub started_ms: i64,
    /// `running`, `finished` or `lost`.
    pub state: String,
    /// What its report says.
    pub summary: Summary,
    /// Its report's id.
    pub report_id: String,
}

/// `/`.
#[derive(Clone, Debug, Default)]
pub struct NodesPage {
    /// Nodes, the one with most to win first.
    pub nodes: Vec<NodeRow>,
    /// Nodes in all.
    pub total: usize,
    /// Now, epoch ms, so that ages are the same in the page and in a test.
    pub now_ms: i64,
}

/// `/nodes/{name}`.
#[derive(Clone, Debug)]
pub struct NodePage {
    /// Name.
    pub name: String,
    /// Epoch ms of the last snapshot.
    pub seen_ms: i64,
    /// Snapshots kept.
    pub snapshots: usize,
    /// Report of the last snapshot.
    pub stored: StoredReport,
    /// Runs on the node, newest first.
    pub runs: Vec<RunRow>,
    /// Now, epoch ms.
    pub now_ms: i64,
}

/// `/runs`.
#[derive(Clone, Debug, Default)]
pub struct RunsPage {
    /// Runs, newest first.
    pub runs: Vec<RunRow>,
    /// Runs in all.
    pub total: usize,
    /// Now, epoch ms.
    pub now_ms: i64,
}

/// `/runs/{id}`.
#[derive(Clone, Debug)]
pub struct RunPage {
    /// The run.
    pub row: RunRow,
    /// Report.
    pub stored: StoredReport,
    /// Charts.
    pub lanes: Lanes,
    /// Now, epoch ms.
    pub now_ms: i64,
}

/// `/reports/{id}` and every checklist.
#[derive(Clone, Debug)]
pub struct ReportPage {
    /// What it is about.
    pub subject: Subject,
    /// Name for people.
    pub title: String,
    /// Report.
    pub stored: StoredReport,
    /// Charts, empty where nothing was recorded over time.
    pub lanes: Lanes,
    /// Now, epoch ms.
    pub now_ms: i64,
}

/// `/reports/{id}/inputs/{n}`: a window of lines of a raw input.
#[derive(Clone, Debug)]
pub struct InputPage {
    /// Report id.
    pub report_id: String,
    /// Input index.
    pub n: usize,
    /// The input as the report lists it.
    pub input: checks::report::Input,
    /// Number of the first line shown, from 1, counted within this input.
    pub first: usize,
    /// Lines shown.
    pub lines: Vec<String>,
    /// Lines in all.
    pub total: usize,
}

/// Where a check fires now.
#[derive(Clone, Debug)]
pub struct Firing {
    /// What it fires on.
    pub subject: Subject,
    /// Name for people.
    pub title: String,
    /// Verdict.
    pub verdict: checks::report::Level,
    /// Message.
    pub message: String,
}

/// What the pages read. Each method is one page.
pub trait Backend: Send + Sync + 'static {
    /// The node list.
    fn nodes(&self) -> Reply<'_, NodesPage>;
    /// One node.
    fn node(&self, name: String) -> Reply<'_, NodePage>;
    /// The run list.
    fn runs(&self) -> Reply<'_, RunsPage>;
    /// One run.
    fn run(&self, id: String) -> Reply<'_, RunPage>;
    /// A report of uploaded files, a run or a node, for its page or its checklist.
    fn report(&self, subject: Subject) -> Reply<'_, ReportPage>;
    /// A window of a raw input around a line.
    fn input(&self, report_id: String, n: usize, around: usize) -> Reply<'_, InputPage>;
    /// Where a check fires now, worst first.
    fn firing(&self, check: String) -> Reply<'_, Vec<Firing>>;
}
