//! What machines ask about the server itself.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;

use crate::metrics::Gauges;
use crate::problem::Problem;
use crate::state::App;

/// `GET /healthz`: the process answers.
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: the database answers too.
pub async fn readyz(State(app): State<App>) -> impl IntoResponse {
    if app.store.is_ready().await {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
    }
}

/// `GET /metrics`, for Prometheus.
pub async fn metrics(State(app): State<App>) -> Result<impl IntoResponse, Problem> {
    let pending = app.store.pending().await?;
    let (commits, writes) = app.store.commits();
    let text = app.metrics.text(Gauges { pending, commits, writes });
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text))
}
