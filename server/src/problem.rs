//! What went wrong, for programs (RFC 9457 problem JSON) and for people (a plain page after a form). It says what
//! happened, and what to do.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use serde::Serialize;

use crate::store::StoreError;

/// An answer other than success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What kind of problem, as a stable identifier.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind in words; the same for every problem of this kind.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// What happened this time.
    pub detail: String,
    /// What to do.
    pub fix: String,
}

impl Problem {
    /// A problem of a kind (`too-large` becomes `urn:sextant:problem:too-large`).
    #[must_use]
    pub fn new(status: StatusCode, kind: &str, title: &str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:sextant:problem:{kind}"),
            title: title.to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            fix: fix.into(),
        }
    }

    /// 400: the request cannot be understood.
    #[must_use]
    pub fn bad_request(detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", "The request cannot be understood", detail, fix)
    }

    /// 404: there is no such thing.
    #[must_use]
    pub fn not_found(what: &str, id: &str) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "not-found",
            "There is no such thing",
            format!("There is no {what} “{}”.", crate::label::file(id)),
            "Check the id; it may belong to another server or have been removed.",
        )
    }

    /// 413: larger than the server takes.
    #[must_use]
    pub fn too_large(limit: u64) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-large",
            "The data is too large",
            format!("At most {} MiB are taken here, counted after decompression. Nothing was stored.", limit >> 20),
            "Send a smaller part, send the file compressed as it is (without Content-Encoding), or start the server with a higher limit.",
        )
    }

    /// 507: no room on the disk.
    #[must_use]
    pub fn full() -> Self {
        Self::new(
            StatusCode::INSUFFICIENT_STORAGE,
            "disk-full",
            "The server's disk is full",
            "Nothing was stored. What is there can still be read.",
            "Make room on the disk of the data folder, then send it again.",
        )
    }

    /// 500: the server failed.
    #[must_use]
    pub fn internal(detail: impl Into<String>) -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "The server failed",
            detail,
            "Try again; if it happens again, the server's log has the cause under the request id.",
        )
    }

    /// As a page for somebody who sent a form.
    #[must_use]
    pub fn page(&self) -> Response {
        let page = format!(
            "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
             content=\"width=device-width\"><title>{title} · Sextant</title><link rel=\"stylesheet\" \
             href=\"/assets/sextant.css\"></head><body><main class=\"wrap\"><h1>{title}</h1><p>{detail}</p><p>{fix}</p>\
             <p><a href=\"/upload\">Back to the upload</a></p></main></body></html>",
            title = escape(&self.title),
            detail = escape(&self.detail),
            fix = escape(&self.fix),
        );
        (self.code(), Html(page)).into_response()
    }

    fn code(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.code(), Json(&self)).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        response
    }
}

impl From<StoreError> for Problem {
    fn from(e: StoreError) -> Self {
        match e {
            StoreError::Full => Self::full(),
            StoreError::Conflict(detail) => Self::new(
                StatusCode::CONFLICT,
                "conflict",
                "Something else is stored there",
                detail,
                "Send it under another number, or keep what is stored.",
            ),
            StoreError::Closed => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "stopping",
                "The server is stopping",
                "The server was told to stop. Nothing was stored.",
                "Send it again when the server is back.",
            ),
            e => {
                tracing::error!(error = %e, "store");
                Self::internal("The database could not be read or written.")
            }
        }
    }
}

/// Text for HTML, in element content and quoted attributes.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
