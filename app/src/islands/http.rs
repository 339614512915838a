//! Calls to the HTTP API from the browser. It knows problem JSON and progress, and nothing of what is sent.

use leptos::prelude::window;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, ProgressEvent, XmlHttpRequest};

/// Why a call failed: what happened, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) what: String,
    pub(super) fix: String,
}

/// RFC 9457 problem JSON, as far as it is shown.
#[derive(Deserialize)]
struct ProblemJson {
    title: Option<String>,
    detail: Option<String>,
    fix: Option<String>,
}

/// What is sent.
pub(super) enum Body<'a> {
    /// Nothing: a GET.
    None,
    /// Raw bytes.
    Raw(&'a Blob),
    /// JSON text.
    Json(&'a str),
}

/// Calls `url` and reads the JSON answer. `started` gets the request, so that it can be aborted; `progress` the share
/// that was sent, 0 to 1.
pub(super) async fn call<T: DeserializeOwned>(
    url: &str,
    body: Body<'_>,
    started: impl FnOnce(&XmlHttpRequest),
    progress: impl Fn(f64) + 'static,
) -> Result<T, Failure> {
    let xhr = XmlHttpRequest::new().map_err(|_| lost())?;
    let method = if matches!(body, Body::None) { "GET" } else { "POST" };
    xhr.open_with_async(method, url, true).map_err(|_| lost())?;
    let on_progress = Closure::<dyn Fn(ProgressEvent)>::new(move |e: ProgressEvent| {
        if e.length_computable() && e.total() > 0.0 {
            progress(e.loaded() / e.total());
        }
    });
    if let Ok(up) = xhr.upload() {
        up.set_onprogress(Some(on_progress.as_ref().unchecked_ref()));
    }
    let done = js_sys::Promise::new(&mut |resolve, _| xhr.set_onloadend(Some(&resolve)));
    started(&xhr);
    let sent = match body {
        Body::None => xhr.send(),
        Body::Raw(blob) => xhr.send_with_opt_blob(Some(blob)),
        Body::Json(text) => {
            let _ = xhr.set_request_header("Content-Type", "application/json");
            xhr.send_with_opt_str(Some(text))
        }
    };
    sent.map_err(|_| lost())?;
    let _: Result<JsValue, JsValue> = JsFuture::from(done).await;
    let status = xhr.status().unwrap_or(0);
    let text = xhr.response_text().ok().flatten().unwrap_or_default();
    if (200..300).contains(&status) {
        return serde_json::from_str(&text).map_err(|_| lost());
    }
    let problem: Option<ProblemJson> = serde_json::from_str(&text).ok();
    Err(match (status, problem) {
        (_, Some(ProblemJson { title, detail, fix })) => Failure {
            what: detail.or(title).unwrap_or_else(|| format!("The server answered with status {status}.")),
            fix: fix.unwrap_or_default(),
        },
        (0, None) => lost(),
        (_, None) => Failure { what: format!("The server answered with status {status}."), fix: AGAIN.into() },
    })
}

const AGAIN: &str = "Try again; if it stays, the server’s log has the details.";

fn lost() -> Failure {
    Failure { what: "The connection broke.".into(), fix: "The file is still here: press Send to go on.".into() }
}

/// Leaves for another page of this server.
pub(super) fn go(url: &str) {
    let _ = window().location().assign(url);
}
