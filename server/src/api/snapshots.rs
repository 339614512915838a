//! Snapshots: a node's raw evidence at one time, sent by the collector. The answer comes once it is durable; its report is
//! made afterwards.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{created, segment};
use crate::body;
use crate::label;
use crate::problem::Problem;
use crate::state::App;
use crate::store::NewSnapshot;

/// What has to be known to file a snapshot; the rest is for the evaluation.
#[derive(Debug, Deserialize)]
struct Envelope {
    v: u32,
    kind: String,
    node: NodeOf,
    #[serde(default)]
    taken_ms: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct NodeOf {
    name: String,
}

/// What a snapshot became.
#[derive(Debug, Serialize)]
pub struct Snapped {
    id: String,
    node: String,
    report_id: String,
    url: String,
}

/// `POST /api/v1/snapshots`
pub async fn post(State(app): State<App>, body: Body) -> Result<Response, Problem> {
    let raw: Bytes = body::collect(&app, body, app.max_snapshot()).await?;
    let envelope: Envelope = serde_json::from_slice(&raw).map_err(|e| not_one(&format!("{e}.")))?;
    if envelope.v != 1 || envelope.kind != "snapshot" {
        return Err(not_one(&format!("Its kind is “{}”, version {}.", label::file(&envelope.kind), envelope.v)));
    }
    let node = label::name(&envelope.node.name).ok_or_else(|| not_one("Its node has no name."))?;
    let once = futures::stream::once(std::future::ready(Ok::<_, std::convert::Infallible>(raw)));
    let received = app.blobs.receive(once, u64::MAX).await?;
    let new = NewSnapshot { blob: received.blob, node: node.clone(), taken_ms: envelope.taken_ms };
    let ack = app.store.put_snapshot(new).await?;
    if ack.created {
        app.metrics.snapshot();
        app.judge.wake();
    }
    let snapped = Snapped { id: ack.id, url: format!("/nodes/{}", segment(&node)), node, report_id: ack.report_id };
    Ok((created(ack.created), Json(snapped)).into_response())
}

fn not_one(why: &str) -> Problem {
    Problem::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "not-a-snapshot",
        "The body is not a snapshot",
        format!("A snapshot is a JSON object of kind “snapshot”, version 1, with a node name. {why}"),
        "Send it with `sextant push --live`; send other files to /api/v1/uploads.",
    )
}
