//! Static files: the stylesheet (compiled in) and the browser bundle (from the `--site` folder, or embedded). They change
//! only with a build, so browsers keep them and ask by `ETag`.

use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use axum::extract::{Path as UrlPath, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

use crate::problem::Problem;
use crate::state::App;

const STYLE: &str = include_str!("../../style/sextant.css");
static STYLE_TAG: LazyLock<HeaderValue> = LazyLock::new(|| tag(STYLE.as_bytes()));

/// The built browser files, `target/site/pkg`.
#[cfg(feature = "embed-site")]
#[derive(rust_embed::RustEmbed)]
#[folder = "../target/site/pkg"]
struct Embedded;

/// `GET /assets/sextant.css`
pub async fn style(headers: HeaderMap) -> Response {
    answer(&headers, &STYLE_TAG, "text/css; charset=utf-8", || Bytes::from_static(STYLE.as_bytes()))
}

/// `GET /pkg/{file}`
pub async fn pkg(
    State(app): State<App>,
    UrlPath(file): UrlPath<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let missing = || {
        Problem::new(
            StatusCode::NOT_FOUND,
            "no-site",
            "The browser files are not there",
            format!(
                "This server has no /pkg/{}. Pages work without it, as links and forms.",
                crate::label::file(&file)
            ),
            "Build it with `cargo xtask build`, and start the server with --site target/site.",
        )
    };
    let path = inside(&file).ok_or_else(missing)?;
    let bytes = match &app.config.site {
        Some(site) => tokio::fs::read(site.join("pkg").join(&path)).await.ok().map(Bytes::from),
        None => embedded(&path),
    };
    let bytes = bytes.ok_or_else(missing)?;
    let tag = tag(&bytes);
    Ok(answer(&headers, &tag, content_type(&path), || bytes))
}

#[cfg(feature = "embed-site")]
fn embedded(path: &Path) -> Option<Bytes> {
    let file = <Embedded as rust_embed::RustEmbed>::get(path.to_str()?)?;
    Some(Bytes::from(file.data.into_owned()))
}

#[cfg(not(feature = "embed-site"))]
fn embedded(_: &Path) -> Option<Bytes> {
    None
}

/// The path if it leads nowhere but down.
fn inside(file: &str) -> Option<PathBuf> {
    let path = PathBuf::from(file);
    path.components().all(|c| matches!(c, Component::Normal(_))).then_some(path)
}

fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(|e| e.to_str()) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}

fn tag(bytes: &[u8]) -> HeaderValue {
    let hash = blake3::hash(bytes).to_hex();
    // Hex digits between quotes are always a header value.
    HeaderValue::from_str(&format!("\"{}\"", &hash[..16])).unwrap_or(HeaderValue::from_static("\"\""))
}

fn answer(asked: &HeaderMap, tag: &HeaderValue, kind: &'static str, bytes: impl FnOnce() -> Bytes) -> Response {
    // Weak and strong forms count alike for GET (RFC 9110 §13.1.2); compression turns strong tags into weak ones.
    let known = asked
        .get(header::IF_NONE_MATCH)
        .and_then(|v| v.to_str().ok())
        .is_some_and(|list| list.split(',').any(|t| t.trim().trim_start_matches("W/").as_bytes() == tag.as_bytes()));
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let mut response = bytes().into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        response
    };
    let headers = response.headers_mut();
    headers.insert(header::ETAG, tag.clone());
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_only_down() {
        for (path, fine) in
            [("sextant.js", true), ("a/b.js", true), ("../x", false), ("/etc/passwd", false), ("a/../../x", false)]
        {
            assert_eq!(inside(path).is_some(), fine, "{path}");
        }
    }
}
