//! Reports of uploads, and every stored report by its id.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use checks::Summary;
use serde::{Deserialize, Serialize};

use super::{Page, PageQuery, bad_cursor, created, id_of};
use crate::body;
use crate::judge::window;
use crate::problem::Problem;
use crate::reading;
use crate::state::App;
use crate::store::{NewReport, ReportRecord, ReportSummary, Source, State as Progress};

/// How long a request waits for a report that is being made.
const PATIENCE: Duration = Duration::from_secs(25);
/// Most uploads in one report.
const UPLOADS_MAX: usize = 1000;
/// Lines of an input where the request does not say.
const LINES: usize = 200;

/// Which uploads to judge together.
#[derive(Debug, Deserialize)]
pub struct ReportBody {
    uploads: Vec<String>,
}

/// What a report became.
#[derive(Debug, Serialize)]
pub struct Reported {
    id: String,
    url: String,
    ids: Vec<String>,
}

impl Reported {
    /// The page of the report.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// How much of a report.
#[derive(Debug, Default, Deserialize)]
pub struct ReportQuery {
    /// With the facts.
    #[serde(default)]
    facts: bool,
}

/// Which lines of an input.
#[derive(Debug, Default, Deserialize)]
pub struct LinesQuery {
    first: Option<usize>,
    count: Option<usize>,
}

/// Lines of an input.
#[derive(Debug, Serialize)]
pub struct LinesOut {
    name: String,
    kind: String,
    first: usize,
    total: usize,
    lines: Vec<String>,
}

/// A report in a list.
#[derive(Debug, Serialize)]
pub struct ReportItem {
    id: String,
    url: String,
    node: Option<String>,
    run: Option<String>,
    taken_ms: Option<i64>,
    created_ms: i64,
    made_ms: Option<i64>,
    ready: bool,
    summary: Summary,
}

/// A report that is not there yet.
#[derive(Debug, Serialize)]
struct PendingOut {
    id: String,
    state: &'static str,
}

/// `POST /api/v1/reports`
pub async fn post(State(app): State<App>, body: Body) -> Result<Response, Problem> {
    let wanted: ReportBody = body::json(&app, body).await?;
    if wanted.uploads.len() > UPLOADS_MAX {
        return Err(Problem::bad_request(
            format!("A report is made of at most {UPLOADS_MAX} uploads."),
            "Split them up.",
        ));
    }
    let mut uploads = Vec::with_capacity(wanted.uploads.len());
    for id in &wanted.uploads {
        uploads.push((id_of("upload", id)?, None));
    }
    let (reported, new) = of_uploads(&app, uploads).await?;
    Ok((created(new), Json(reported)).into_response())
}

/// The report over a set of uploads, each with the name to show if it is not its first. Waits until it is made.
///
/// # Errors
/// There is no upload, or one does not exist, or the write failed.
pub async fn of_uploads(app: &App, uploads: Vec<(String, Option<String>)>) -> Result<(Reported, bool), Problem> {
    let mut ids: Vec<&str> = uploads.iter().map(|u| u.0.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Err(Problem::bad_request("A report needs at least one upload.", "Send a file first."));
    }
    let mut key = blake3::Hasher::new();
    for id in &ids {
        key.update(id.as_bytes());
    }
    let mut sources: Vec<(String, Source)> = Vec::with_capacity(ids.len());
    for (id, name) in &uploads {
        if sources.iter().any(|(known, _)| known == id) {
            continue;
        }
        let upload = app.store.upload(id).await?.ok_or_else(|| Problem::not_found("upload", id))?;
        let name = name.clone().or_else(|| upload.names.first().cloned()).unwrap_or_default();
        sources.push((id.clone(), Source { name, lines: false, blobs: vec![upload.hash] }));
    }
    let sources = sources.into_iter().map(|(_, s)| s).collect();
    let ack = app.store.put_report(NewReport { key: key.finalize().to_hex().to_string(), sources }).await?;
    app.judge.settled(&ack.id, PATIENCE).await?;
    let ids = app.store.report_group(&ack.id).await?;
    Ok((Reported { url: format!("/reports/{}", ack.id), id: ack.id, ids }, ack.created))
}

/// `GET /api/v1/reports/{id}`
pub async fn get(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<ReportQuery>,
) -> Result<Response, Problem> {
    let record = settled(&app, &id).await?;
    if record.summary.state == Progress::Pending && record.report.is_none() {
        let pending = PendingOut { id: record.summary.id, state: "pending" };
        return Ok((StatusCode::ACCEPTED, [("retry-after", "2")], Json(pending)).into_response());
    }
    let mut report = reading::report(&record).map_err(unreadable)?;
    if !query.facts {
        report.facts = None;
    }
    Ok(Json(report).into_response())
}

/// `GET /api/v1/reports`
pub async fn list(State(app): State<App>, Query(page): Query<PageQuery>) -> Result<Json<Page<ReportItem>>, Problem> {
    let before = page.cursor.as_deref().map(|c| crate::clock::parse_id(c).ok_or_else(bad_cursor)).transpose()?;
    let limit = page.limit();
    let rows = app.store.reports(before.as_deref(), limit + 1).await?;
    let page = Page::of(rows, limit, |r: &ReportSummary| r.id.clone());
    Ok(Json(Page { items: page.items.into_iter().map(item).collect(), next: page.next }))
}

/// `GET /api/v1/reports/{id}/inputs/{n}`
pub async fn input(
    State(app): State<App>,
    Path((id, n)): Path<(String, usize)>,
    Query(query): Query<LinesQuery>,
) -> Result<Json<LinesOut>, Problem> {
    let record = settled(&app, &id).await?;
    let report = reading::report(&record).map_err(unreadable)?;
    let input = report.inputs.get(n).ok_or_else(|| Problem::not_found("input", &n.to_string()))?;
    let lines = (query.first.unwrap_or(1), query.count.unwrap_or(LINES));
    let w = window(&app.judge, &app.blobs, &record, &report.inputs, n, lines).await.map_err(|e| {
        Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "not-text",
            "The input cannot be shown as lines",
            e,
            "Download the upload as it came instead.",
        )
    })?;
    Ok(Json(LinesOut {
        name: input.name.clone(),
        kind: input.kind.clone(),
        first: w.first,
        total: w.total,
        lines: w.lines,
    }))
}

async fn settled(app: &App, id: &str) -> Result<ReportRecord, Problem> {
    let id = id_of("report", id)?;
    app.judge.settled(&id, PATIENCE).await?;
    app.store.report(&id).await?.ok_or_else(|| Problem::not_found("report", &id))
}

fn item(r: ReportSummary) -> ReportItem {
    ReportItem {
        summary: reading::summary(&r),
        url: format!("/reports/{}", r.id),
        ready: r.state == Progress::Ready,
        id: r.id,
        node: r.node,
        run: r.run,
        taken_ms: r.taken_ms,
        created_ms: r.created_ms,
        made_ms: r.made_ms,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn unreadable(e: std::io::Error) -> Problem {
    tracing::error!(error = %e, "a stored report cannot be read");
    Problem::internal("The stored report cannot be read.")
}
