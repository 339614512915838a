//! Training runs: begun, fed with chunks, finished; each step may be repeated.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use checks::Summary;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Page, PageQuery, bad_cursor, created, id_of};
use crate::body;
use crate::label;
use crate::problem::Problem;
use crate::reading;
use crate::state::App;
use crate::store::{Chunk, ChunkAck, NewRun, RunCursor, RunRecord};

/// Kinds of chunks.
const KINDS: [&str; 6] = ["steps", "samples", "events", "trace", "snapshot", "log"];

/// A run that begins.
#[derive(Debug, Deserialize)]
pub struct RunBody {
    #[serde(default)]
    id: Option<String>,
    name: String,
    #[serde(default)]
    node: Option<String>,
    started_ms: i64,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    world: Option<i64>,
    #[serde(default)]
    receipt: Option<Box<RawValue>>,
}

/// What a run became.
#[derive(Debug, Serialize)]
pub struct RunBegun {
    id: String,
    url: String,
}

/// Which file a chunk belongs to.
#[derive(Debug, Deserialize)]
pub struct ChunkQuery {
    #[serde(default)]
    name: String,
}

/// What a chunk became.
#[derive(Debug, Serialize)]
pub struct ChunkOut {
    kind: String,
    name: String,
    seq: i64,
    bytes: u64,
    hash: String,
}

/// The end of a run.
#[derive(Debug, Default, Deserialize)]
pub struct FinishBody {
    #[serde(default)]
    ended_ms: Option<i64>,
    #[serde(default)]
    exit_status: Option<i64>,
}

/// What a finished run became.
#[derive(Debug, Serialize)]
pub struct RunFinished {
    id: String,
    report_id: String,
    url: String,
}

/// A run.
#[derive(Debug, Serialize)]
pub struct RunOut {
    id: String,
    url: String,
    name: String,
    node: Option<String>,
    started_ms: i64,
    ended_ms: Option<i64>,
    exit_status: Option<i64>,
    state: &'static str,
    command: Option<String>,
    world: Option<i64>,
    receipt: Option<Box<RawValue>>,
    report_id: String,
    summary: Summary,
}

/// `POST /api/v1/runs`
pub async fn post(State(app): State<App>, body: Body) -> Result<Response, Problem> {
    let b: RunBody = body::json(&app, body).await?;
    let id = match &b.id {
        Some(id) => Some(crate::clock::parse_id(id).ok_or_else(|| {
            Problem::bad_request("The run's id is not a UUID.", "Leave the id out, or send a UUIDv7.")
        })?),
        None => None,
    };
    let (id, new) = app
        .store
        .put_run(NewRun {
            id,
            name: label::name(&b.name).unwrap_or_else(|| "unnamed".into()),
            node: b.node.as_deref().and_then(label::name),
            started_ms: b.started_ms,
            command: b.command,
            world: b.world,
            receipt: b.receipt.map(|r| r.get().to_owned()),
        })
        .await?;
    Ok((created(new), Json(RunBegun { url: url(&id), id })).into_response())
}

/// `PUT /api/v1/runs/{id}/chunks/{kind}/{seq}?name=FILE`
pub async fn put_chunk(
    State(app): State<App>,
    Path((id, kind, seq)): Path<(String, String, u32)>,
    Query(query): Query<ChunkQuery>,
    body: Body,
) -> Result<Response, Problem> {
    let run = id_of("run", &id)?;
    if !KINDS.contains(&kind.as_str()) {
        return Err(Problem::bad_request(
            format!("There is no chunk kind “{}”.", label::file(&kind)),
            format!("Use one of: {}.", KINDS.join(", ")),
        ));
    }
    // Before the body: it may be large.
    if app.store.run(&run).await?.is_none() {
        return Err(Problem::not_found("run", &run));
    }
    let name = if query.name.trim().is_empty() { kind.clone() } else { label::file(&query.name) };
    let received = body::receive(&app, body, app.max_upload()).await?;
    let out = ChunkOut {
        kind: kind.clone(),
        name: name.clone(),
        seq: seq.into(),
        bytes: received.blob.bytes,
        hash: received.blob.hash.clone(),
    };
    let chunk = Chunk { run: run.clone(), kind, seq: seq.into(), name, blob: received.blob };
    let new = match app.store.put_chunk(chunk).await? {
        ChunkAck::Created => true,
        ChunkAck::Known => false,
        ChunkAck::NoRun => return Err(Problem::not_found("run", &run)),
    };
    if new {
        app.metrics.chunk();
    }
    Ok((created(new), Json(out)).into_response())
}

/// `POST /api/v1/runs/{id}/finish`
pub async fn finish(State(app): State<App>, Path(id): Path<String>, body: Body) -> Result<Json<RunFinished>, Problem> {
    let id = id_of("run", &id)?;
    let bytes = body::collect(&app, body, 64 << 10).await?;
    let end: FinishBody = if bytes.iter().all(u8::is_ascii_whitespace) {
        FinishBody::default()
    } else {
        serde_json::from_slice(&bytes).map_err(|e| {
            Problem::bad_request(
                format!("The body is not the JSON that is expected here: {e}."),
                "Send {\"ended_ms\": …, \"exit_status\": …}, or nothing.",
            )
        })?
    };
    let report_id = app.store.finish_run(id.clone(), end.ended_ms, end.exit_status).await?;
    let report_id = report_id.ok_or_else(|| Problem::not_found("run", &id))?;
    app.judge.wake();
    Ok(Json(RunFinished { url: url(&id), id, report_id }))
}

/// `GET /api/v1/runs`
pub async fn list(State(app): State<App>, Query(page): Query<PageQuery>) -> Result<Json<Page<RunOut>>, Problem> {
    let after = page.cursor.as_deref().map(|c| read_cursor(c).ok_or_else(bad_cursor)).transpose()?;
    let limit = page.limit();
    let rows = app.store.runs(page.node.as_deref(), after.as_ref(), limit + 1).await?;
    let page = Page::of(rows, limit, |r: &RunRecord| format!("{}_{}", r.started_ms, r.id));
    Ok(Json(Page { items: page.items.into_iter().map(out).collect(), next: page.next }))
}

/// `GET /api/v1/runs/{id}`
pub async fn get(State(app): State<App>, Path(id): Path<String>) -> Result<Json<RunOut>, Problem> {
    let id = id_of("run", &id)?;
    let run = app.store.run(&id).await?.ok_or_else(|| Problem::not_found("run", &id))?;
    Ok(Json(out(run)))
}

fn read_cursor(text: &str) -> Option<RunCursor> {
    let (started, id) = text.split_once('_')?;
    Some(RunCursor { started_ms: started.parse().ok()?, id: crate::clock::parse_id(id)? })
}

fn out(r: RunRecord) -> RunOut {
    RunOut {
        url: url(&r.id),
        summary: reading::summary(&r.report),
        id: r.id,
        name: r.name,
        node: r.node,
        started_ms: r.started_ms,
        ended_ms: r.ended_ms,
        exit_status: r.exit_status,
        state: r.state.id(),
        command: r.command,
        world: r.world,
        receipt: r.receipt.and_then(|r| RawValue::from_string(r).ok()),
        report_id: r.report.id,
    }
}

fn url(id: &str) -> String {
    format!("/runs/{id}")
}
