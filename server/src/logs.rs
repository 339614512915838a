//! Structured logs: one span a request, with its id.

use axum::extract::{Request, State};
use axum::http::{HeaderName, Request as HttpRequest};
use axum::middleware::Next;
use axum::response::Response;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::state::App;

/// Starts logging to the error stream; `RUST_LOG` chooses what. Does nothing if logging was started before.
pub fn start(json: bool) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn"));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    let registry = tracing_subscriber::registry().with(filter);
    // An error says that somebody set up logging already, which is as well.
    let _ = if json { registry.with(lines.json()).try_init() } else { registry.with(lines).try_init() };
}

/// The span of a request.
pub fn span<B>(request: &HttpRequest<B>, id: &HeaderName) -> tracing::Span {
    let id = request.headers().get(id).and_then(|v| v.to_str().ok()).unwrap_or_default();
    tracing::info_span!("request", id, method = %request.method(), path = request.uri().path())
}

/// Counts an answer, and logs the ones that are the server's fault.
pub async fn count(State(app): State<App>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let status = response.status();
    app.metrics.request(status.as_u16());
    if status.is_server_error() {
        tracing::warn!(status = status.as_u16(), "answered with an error");
    } else {
        tracing::debug!(status = status.as_u16(), "answered");
    }
    response
}
