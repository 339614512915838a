//! Every route of the server, in one function.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, Request};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post, put};
use tower_http::compression::CompressionLayer;
use tower_http::decompression::RequestDecompressionLayer;
use tower_http::request_id::{MakeRequestId, PropagateRequestIdLayer, RequestId, SetRequestIdLayer};
use tower_http::trace::TraceLayer;

use crate::api::{nodes, probes, reports, runs, snapshots, uploads};
use crate::problem::Problem;
use crate::state::App;
use crate::{access, body, form, logs, pages, site};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The server's routes with everything around them.
pub fn router(app: App) -> Router {
    let api = Router::new()
        .route("/uploads", post(uploads::post))
        .route("/uploads/{id}", get(uploads::get))
        .route("/uploads/{id}/raw", get(uploads::raw))
        .route("/reports", post(reports::post).get(reports::list))
        .route("/reports/{id}", get(reports::get))
        .route("/reports/{id}/inputs/{n}", get(reports::input))
        .route("/snapshots", post(snapshots::post))
        .route("/runs", post(runs::post).get(runs::list))
        .route("/runs/{id}", get(runs::get))
        .route("/runs/{id}/chunks/{kind}/{seq}", put(runs::put_chunk))
        .route("/runs/{id}/finish", post(runs::finish))
        .route("/nodes", get(nodes::list))
        .route("/nodes/{name}", get(nodes::get))
        .fallback(async |uri: axum::http::Uri| Problem::not_found("address", uri.path()))
        .layer(RequestDecompressionLayer::new().pass_through_unaccepted(true))
        .layer(from_fn(body::known_encoding));
    Router::new()
        .nest("/api/v1", api)
        .route("/healthz", get(probes::healthz))
        .route("/readyz", get(probes::readyz))
        .route("/metrics", get(probes::metrics))
        .route("/assets/sextant.css", get(site::style))
        .route("/pkg/{*file}", get(site::pkg))
        .merge(pages::router(&app))
        .route("/upload", post(form::post))
        .method_not_allowed_fallback(problem_for_method)
        // Bodies have limits of their own, counted while they stream.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(app.clone(), access::guard))
        .layer(from_fn(access::headers))
        .layer(CompressionLayer::new())
        .layer(from_fn_with_state(app.clone(), logs::count))
        .layer(TraceLayer::new_for_http().make_span_with(|r: &Request<_>| logs::span(r, &REQUEST_ID)))
        .layer(PropagateRequestIdLayer::new(REQUEST_ID))
        .layer(SetRequestIdLayer::new(REQUEST_ID, NewId))
        .with_state(app)
}

async fn problem_for_method(method: axum::http::Method) -> Problem {
    Problem::new(
        axum::http::StatusCode::METHOD_NOT_ALLOWED,
        "method",
        "The address does not take this method",
        format!("{method} is not understood here."),
        "See the API description for the methods of each address.",
    )
}

/// Gives each request an id of our own making.
#[derive(Clone, Copy, Debug)]
struct NewId;

impl MakeRequestId for NewId {
    fn make_request_id<B>(&mut self, _: &Request<B>) -> Option<RequestId> {
        crate::clock::new_id().parse().ok().map(RequestId::new)
    }
}
