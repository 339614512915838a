//! Nodes, each with what its newest report says.

use axum::Json;
use axum::extract::{Path, Query, State};
use checks::Summary;
use serde::Serialize;

use super::{Page, PageQuery, segment};
use crate::problem::Problem;
use crate::reading;
use crate::state::App;
use crate::store::NodeRecord;

/// A node.
#[derive(Debug, Serialize)]
pub struct NodeOut {
    name: String,
    url: String,
    seen_ms: i64,
    snapshots: i64,
    gpus: Option<String>,
    driver: Option<String>,
    report_id: String,
    summary: Summary,
}

/// `GET /api/v1/nodes`
pub async fn list(State(app): State<App>, Query(page): Query<PageQuery>) -> Result<Json<Page<NodeOut>>, Problem> {
    let limit = page.limit();
    let rows = app.store.nodes_by_name(page.cursor.as_deref(), limit + 1).await?;
    let page = Page::of(rows, limit, |n: &NodeRecord| n.name.clone());
    Ok(Json(Page { items: page.items.into_iter().map(out).collect(), next: page.next }))
}

/// `GET /api/v1/nodes/{name}`
pub async fn get(State(app): State<App>, Path(name): Path<String>) -> Result<Json<NodeOut>, Problem> {
    let node = app.store.node(&name).await?.ok_or_else(|| Problem::not_found("node", &name))?;
    Ok(Json(out(node)))
}

fn out(n: NodeRecord) -> NodeOut {
    NodeOut {
        url: format!("/nodes/{}", segment(&n.name)),
        summary: reading::summary(&n.report),
        report_id: n.report.id,
        name: n.name,
        seen_ms: n.seen_ms,
        snapshots: n.snapshots,
        gpus: n.gpus,
        driver: n.driver,
    }
}
