//! Request bodies: size limits, silence, broken compression, and what is told about each. The bytes have been through
//! the `Content-Encoding` decoder already, so limits count decompressed bytes.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use serde::de::DeserializeOwned;

use crate::blobs::{Received, SpoolError};
use crate::problem::Problem;
use crate::state::App;

/// Largest JSON body of a request that is not itself data.
const JSON_MAX: u64 = 4 << 20;

/// Takes a body to the blobs.
///
/// # Errors
/// It is too large, breaks off or falls silent, or the disk fails; then nothing is left of it.
pub async fn receive(app: &App, body: Body, limit: u64) -> Result<Received, Problem> {
    Ok(app.blobs.receive(body.into_data_stream(), limit).await?)
}

/// Reads a small JSON body.
///
/// # Errors
/// It is too large, breaks off, or is not what is expected.
pub async fn json<T: DeserializeOwned>(app: &App, body: Body) -> Result<T, Problem> {
    let bytes = collect(app, body, JSON_MAX).await?;
    serde_json::from_slice(&bytes).map_err(|e| {
        Problem::bad_request(
            format!("The body is not the JSON that is expected here: {e}."),
            "Send a JSON object with the fields that the API description names.",
        )
    })
}

/// Reads a body into memory.
///
/// # Errors
/// It is too large, breaks off or falls silent.
pub async fn collect(app: &App, body: Body, limit: u64) -> Result<Bytes, Problem> {
    let idle = app.idle();
    let mut stream = body.into_data_stream();
    let mut bytes = BytesMut::new();
    loop {
        let next = tokio::time::timeout(idle, stream.next()).await.map_err(|_| SpoolError::Idle(idle))?;
        let Some(chunk) = next else { return Ok(bytes.freeze()) };
        let chunk = chunk.map_err(|e| SpoolError::Broken(e.to_string()))?;
        if (bytes.len() + chunk.len()) as u64 > limit {
            return Err(SpoolError::TooLarge { limit }.into());
        }
        bytes.extend_from_slice(&chunk);
    }
}

/// Refuses a `Content-Encoding` that is not decoded here, before anything is stored under a wrong reading.
pub async fn known_encoding(request: Request, next: Next) -> Response {
    let known = request.headers().get_all(header::CONTENT_ENCODING).iter().all(|v| {
        v.to_str().is_ok_and(|v| v.split(',').all(|e| matches!(e.trim(), "" | "identity" | "gzip" | "x-gzip" | "zstd")))
    });
    if known {
        return next.run(request).await;
    }
    Problem::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "encoding",
        "The content encoding is not known",
        "The body has a Content-Encoding other than gzip or zstd.",
        "Send it with gzip or zstd, or without Content-Encoding; a compressed file can be sent as it is.",
    )
    .into_response()
}

impl From<SpoolError> for Problem {
    fn from(e: SpoolError) -> Self {
        match e {
            SpoolError::TooLarge { limit } => Self::too_large(limit),
            SpoolError::Full => Self::full(),
            SpoolError::Idle(idle) => Self::new(
                StatusCode::REQUEST_TIMEOUT,
                "idle",
                "The body stopped coming",
                format!("No byte came for {} s. Nothing was stored.", idle.as_secs()),
                "Send it again.",
            ),
            SpoolError::Broken(e) => {
                tracing::info!(error = %e, "broken body");
                Self::new(
                    StatusCode::BAD_REQUEST,
                    "broken-body",
                    "The body broke off",
                    "The body ended before it was complete, or its Content-Encoding could not be decoded. Nothing was stored.",
                    "Send it again.",
                )
            }
            SpoolError::Storage(e) => {
                tracing::error!(error = %e, "blob store");
                Self::internal("The data could not be written to the data folder. Nothing was stored.")
            }
        }
    }
}
