//! Plain HTTP against a test server: answers of every status are answers, not errors.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// An HTTP answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Where it redirects to.
    pub location: Option<String>,
    /// Body, as text.
    pub body: String,
}

impl Answer {
    /// The body as JSON.
    ///
    /// # Errors
    /// It is none.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.body).with_context(|| format!("not JSON (status {}): {}", self.status, self.body))
    }

    /// This answer, if it has the status.
    ///
    /// # Errors
    /// It has another one.
    pub fn expect(self, statuses: &[u16]) -> Result<Self> {
        ensure!(statuses.contains(&self.status), "answered {}, not one of {statuses:?}: {}", self.status, self.body);
        Ok(self)
    }
}

/// GET.
///
/// # Errors
/// No answer.
pub fn get(url: &str) -> Result<Answer> {
    read(agent().get(url).call().with_context(|| format!("GET {url}"))?)
}

/// POST of raw bytes.
///
/// # Errors
/// No answer.
pub fn post(url: &str, content_type: &str, body: &[u8]) -> Result<Answer> {
    read(agent().post(url).header("content-type", content_type).send(body).with_context(|| format!("POST {url}"))?)
}

/// POST of a form as a browser without script sends it: `multipart/form-data` with the files and the pasted text.
///
/// # Errors
/// No answer.
pub fn post_form(url: &str, files: &[(&str, &[u8])], paste: &str) -> Result<Answer> {
    const BOUNDARY: &str = "sextant-test-boundary";
    let mut body = Vec::new();
    for (name, bytes) in files {
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(b"Content-Type: application/octet-stream\r\n\r\n");
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    let tail =
        format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"paste\"\r\n\r\n{paste}\r\n--{BOUNDARY}--\r\n");
    body.extend_from_slice(tail.as_bytes());
    post(url, &format!("multipart/form-data; boundary={BOUNDARY}"), &body)
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(std::time::Duration::from_secs(30)))
        .build()
        .into()
}

fn read(mut answer: ureq::http::Response<ureq::Body>) -> Result<Answer> {
    let location = answer.headers().get("location").and_then(|l| l.to_str().ok()).map(str::to_owned);
    let bytes = answer.body_mut().with_config().limit(64 << 20).read_to_vec()?;
    Ok(Answer { status: answer.status().as_u16(), location, body: String::from_utf8_lossy(&bytes).into_owned() })
}
