//! What the pages read, from the store. One method a page; no HTML and no SQL.

use std::collections::HashMap;
use std::time::Duration;

use app::backend::{
    Backend, Firing, InputPage, NodePage, NodeRow, NodesPage, Problem, Reply, ReportPage, RunPage, RunRow, RunsPage,
    StoredReport, Subject,
};
use checks::Level;

use crate::blobs::Blobs;
use crate::clock::{now_ms, parse_id};
use crate::judge::{Judge, window};
use crate::reading;
use crate::store::{NodeRecord, ReportRecord, RunRecord, State, Store};

/// Rows of a list page.
const ROWS: u32 = 200;
/// Lines of the raw viewer above the one asked for.
const ABOVE: usize = 100;
/// Lines of the raw viewer.
const LINES: usize = 400;
/// How long a page waits for a report that is being made before it shows what is there.
const PATIENCE: Duration = Duration::from_secs(3);

/// The pages' view of the store.
#[derive(Clone, Debug)]
pub struct StoreBackend {
    store: Store,
    blobs: Blobs,
    judge: Judge,
}

impl StoreBackend {
    /// A backend over the server's parts.
    #[must_use]
    pub fn new(store: Store, blobs: Blobs, judge: Judge) -> Self {
        Self { store, blobs, judge }
    }

    async fn stored(&self, id: &str) -> Result<(StoredReport, ReportRecord), Problem> {
        self.judge.settled(id, PATIENCE).await.map_err(internal)?;
        let record = self.store.report(id).await.map_err(internal)?;
        let record = record.ok_or_else(|| not_found("report", id))?;
        let stored = StoredReport {
            id: record.summary.id.clone(),
            report: reading::report(&record).map_err(internal)?,
            made_ms: record.summary.made_ms.unwrap_or(record.summary.created_ms),
            ready: record.summary.state != State::Pending,
        };
        Ok((stored, record))
    }

    /// The node with the report to show: that of its last snapshot, or, while it is being made, the one before.
    async fn node_record(&self, name: &str) -> Result<NodeRecord, Problem> {
        let find = || async { self.store.node(name).await.map_err(internal)?.ok_or_else(|| not_found("node", name)) };
        let node = find().await?;
        if node.report.id == node.last_report_id {
            return Ok(node);
        }
        self.judge.settled(&node.last_report_id, PATIENCE).await.map_err(internal)?;
        find().await
    }

    async fn run_record(&self, id: &str) -> Result<RunRecord, Problem> {
        let missing = || not_found("run", id);
        let id = parse_id(id).ok_or_else(missing)?;
        self.store.run(&id).await.map_err(internal)?.ok_or_else(missing)
    }

    async fn nodes_page(&self) -> Result<NodesPage, Problem> {
        let records = self.store.nodes(ROWS).await.map_err(internal)?;
        let total = self.store.count_nodes().await.map_err(internal)?;
        let names: Vec<String> = records.iter().map(|n| n.name.clone()).collect();
        let newest = self.store.newest_runs(&names).await.map_err(internal)?;
        let mut runs: HashMap<String, RunRow> =
            newest.into_iter().filter_map(|r| Some((r.node.clone()?, run_row(r)))).collect();
        let nodes = records.into_iter().map(|n| NodeRow {
            run: runs.remove(&n.name),
            summary: reading::summary(&n.report),
            report_id: n.report.id,
            name: n.name,
            seen_ms: n.seen_ms,
            gpus: n.gpus,
            driver: n.driver,
        });
        Ok(NodesPage { nodes: nodes.collect(), total: count(total), now_ms: now_ms() })
    }

    async fn node_page(&self, name: &str) -> Result<NodePage, Problem> {
        let node = self.node_record(name).await?;
        let (stored, _) = self.stored(&node.report.id).await?;
        let runs = self.store.runs(Some(name), None, ROWS).await.map_err(internal)?;
        Ok(NodePage {
            seen_ms: node.seen_ms,
            snapshots: count(node.snapshots),
            stored: StoredReport { ready: stored.ready && node.report.id == node.last_report_id, ..stored },
            runs: runs.into_iter().map(run_row).collect(),
            name: node.name,
            now_ms: now_ms(),
        })
    }

    async fn runs_page(&self) -> Result<RunsPage, Problem> {
        let runs = self.store.runs(None, None, ROWS).await.map_err(internal)?;
        let total = self.store.count_runs().await.map_err(internal)?;
        Ok(RunsPage { runs: runs.into_iter().map(run_row).collect(), total: count(total), now_ms: now_ms() })
    }

    async fn run_page(&self, id: &str) -> Result<RunPage, Problem> {
        let run = self.run_record(id).await?;
        let (stored, record) = self.stored(&run.report.id).await?;
        let lanes = reading::lanes(&record).map_err(internal)?;
        // Read again: the summary in the row must be that of the report just read.
        let row = run_row(self.run_record(&run.id).await?);
        Ok(RunPage { row: RunRow { summary: stored.report.summary(), ..row }, stored, lanes, now_ms: now_ms() })
    }

    async fn report_page(&self, subject: Subject) -> Result<ReportPage, Problem> {
        let (id, title) = match &subject {
            Subject::Node(name) => (self.node_record(name).await?.report.id, name.clone()),
            Subject::Run(id) => {
                let run = self.run_record(id).await?;
                (run.report.id, run.name)
            }
            Subject::Report(id) => (parse_id(id).ok_or_else(|| not_found("report", id))?, String::new()),
        };
        let (stored, record) = self.stored(&id).await?;
        let title = if title.is_empty() { title_of(&record) } else { title };
        let lanes = reading::lanes(&record).map_err(internal)?;
        Ok(ReportPage { subject, title, stored, lanes, now_ms: now_ms() })
    }

    async fn input_page(&self, report_id: &str, n: usize, around: usize) -> Result<InputPage, Problem> {
        let id = parse_id(report_id).ok_or_else(|| not_found("report", report_id))?;
        let (stored, record) = self.stored(&id).await?;
        let input = stored.report.inputs.get(n).cloned().ok_or_else(|| not_found("input", &n.to_string()))?;
        let first = around.saturating_sub(ABOVE).max(1);
        let shown = window(&self.judge, &self.blobs, &record, &stored.report.inputs, n, (first, LINES)).await;
        let shown = shown.map_err(Problem::Internal)?;
        Ok(InputPage { report_id: id, n, input, first: shown.first, lines: shown.lines, total: shown.total })
    }

    async fn firing_list(&self, check: &str) -> Result<Vec<Firing>, Problem> {
        let rows = self.store.firing(check, ROWS).await.map_err(internal)?;
        let firing = rows.into_iter().map(|f| Firing {
            subject: match f.subject.as_str() {
                "node" => Subject::Node(f.id),
                "run" => Subject::Run(f.id),
                _ => Subject::Report(f.id),
            },
            title: f.title,
            verdict: if f.verdict == Level::Fail.id() { Level::Fail } else { Level::Warn },
            message: f.message,
        });
        Ok(firing.collect())
    }
}

impl Backend for StoreBackend {
    fn nodes(&self) -> Reply<'_, NodesPage> {
        Box::pin(self.nodes_page())
    }

    fn node(&self, name: String) -> Reply<'_, NodePage> {
        Box::pin(async move { self.node_page(&name).await })
    }

    fn runs(&self) -> Reply<'_, RunsPage> {
        Box::pin(self.runs_page())
    }

    fn run(&self, id: String) -> Reply<'_, RunPage> {
        Box::pin(async move { self.run_page(&id).await })
    }

    fn report(&self, subject: Subject) -> Reply<'_, ReportPage> {
        Box::pin(self.report_page(subject))
    }

    fn input(&self, report_id: String, n: usize, around: usize) -> Reply<'_, InputPage> {
        Box::pin(async move { self.input_page(&report_id, n, around).await })
    }

    fn firing(&self, check: String) -> Reply<'_, Vec<Firing>> {
        Box::pin(async move { self.firing_list(&check).await })
    }
}

fn run_row(run: RunRecord) -> RunRow {
    RunRow {
        summary: reading::summary(&run.report),
        report_id: run.report.id,
        id: run.id,
        name: run.name,
        node: run.node,
        started_ms: run.started_ms,
        state: run.state.id().to_owned(),
    }
}

/// The files that a report was made of, by name.
fn title_of(record: &ReportRecord) -> String {
    let mut names = record.sources.iter().map(|s| s.name.as_str());
    match (names.next(), names.count()) {
        (None, _) => "No files".into(),
        (Some(first), 0) => first.to_owned(),
        (Some(first), more) => format!("{first} and {more} more"),
    }
}

fn count(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}

fn not_found(what: &'static str, id: &str) -> Problem {
    Problem::NotFound { what, id: crate::label::file(id) }
}

fn internal(e: impl std::fmt::Display) -> Problem {
    tracing::error!(error = %e, "a page could not be read");
    Problem::Internal(e.to_string())
}
