//! Uploads: any file, kept as it came before anything reads it.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::{created, id_of};
use crate::blobs::{BlobError, Received};
use crate::body;
use crate::label;
use crate::problem::Problem;
use crate::state::App;
use crate::store::UploadAck;

/// How a file is named.
#[derive(Debug, Deserialize)]
pub struct UploadQuery {
    /// Its name.
    #[serde(default)]
    name: String,
}

/// What an upload became.
#[derive(Debug, Serialize)]
pub struct Uploaded {
    id: String,
    name: String,
    bytes: u64,
    hash: String,
}

/// An upload.
#[derive(Debug, Serialize)]
pub struct UploadOut {
    id: String,
    names: Vec<String>,
    bytes: u64,
    hash: String,
    created_ms: i64,
}

/// `POST /api/v1/uploads?name=F`
pub async fn post(State(app): State<App>, Query(query): Query<UploadQuery>, body: Body) -> Result<Response, Problem> {
    let name = label::file(&query.name);
    let received = body::receive(&app, body, app.max_upload()).await?;
    let (bytes, hash) = (received.blob.bytes, received.blob.hash.clone());
    let ack = store(&app, received, name.clone()).await?;
    Ok((created(ack.created), Json(Uploaded { id: ack.id, name, bytes, hash })).into_response())
}

/// Makes received bytes an upload.
///
/// # Errors
/// The write failed.
pub async fn store(app: &App, received: Received, name: String) -> Result<UploadAck, Problem> {
    let ack = app.store.put_upload(received.blob, name).await?;
    app.metrics.upload();
    Ok(ack)
}

/// `GET /api/v1/uploads/{id}`
pub async fn get(State(app): State<App>, Path(id): Path<String>) -> Result<Json<UploadOut>, Problem> {
    let id = id_of("upload", &id)?;
    let u = app.store.upload(&id).await?.ok_or_else(|| Problem::not_found("upload", &id))?;
    Ok(Json(UploadOut { id: u.id, names: u.names, bytes: u.bytes, hash: u.hash, created_ms: u.created_ms }))
}

/// `GET /api/v1/uploads/{id}/raw`: the bytes as they came, never shown as a page.
pub async fn raw(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Problem> {
    let id = id_of("upload", &id)?;
    let upload = app.store.upload(&id).await?.ok_or_else(|| Problem::not_found("upload", &id))?;
    let stream = app.blobs.stream(&upload.hash).await?;
    let mut response = Body::from_stream(stream).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(upload.bytes));
    headers.insert(header::CONTENT_DISPOSITION, attachment(upload.names.first().map_or("", String::as_str)));
    Ok(response)
}

/// A download under a name, in ASCII and, for those who read RFC 6266, as it is.
fn attachment(name: &str) -> HeaderValue {
    let leaf = name.rsplit('/').next().unwrap_or(name);
    let plain: String =
        leaf.chars().map(|c| if c.is_ascii_alphanumeric() || "._- ".contains(c) { c } else { '_' }).collect();
    let text = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{}", super::segment(leaf));
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("attachment"))
}

impl From<BlobError> for Problem {
    fn from(e: BlobError) -> Self {
        tracing::error!(error = %e, "raw data");
        match e {
            BlobError::Missing { .. } => Self::new(
                axum::http::StatusCode::GONE,
                "raw-missing",
                "The raw data is gone",
                "The server knows this upload, but its bytes are no longer in the data folder.",
                "Restore the data folder from a backup, or send the file again.",
            ),
            BlobError::Storage(_) => Self::internal("The raw data could not be read from the data folder."),
        }
    }
}
