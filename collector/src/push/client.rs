//! The HTTP side of the collector: requests to one server, and errors that say what to do.
//!
//! It does not know what is sent.

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use ureq::http::Response;
use ureq::{Agent, Body, SendBody};

use crate::cli::ServerArgs;

/// Until a connection stands; a server on the other side of the world answers within a second.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Until the answer to a request that was sent in full. A server that makes a large file durable takes its time.
const ANSWER_LIMIT: Duration = Duration::from_secs(120);
/// Most of an answer that is read.
const ANSWER_MAX: u64 = 16 << 20;
/// zstd level for JSON that is sent: 3 costs little CPU and takes a snapshot to about a sixth.
const ZSTD_LEVEL: i32 = 3;

/// One server.
#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    base: String,
    token: Option<String>,
}

/// What a server says when it refuses (RFC 9457).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    title: String,
    detail: String,
    fix: String,
}

impl Client {
    /// A client for the server that the arguments or the stored login name.
    ///
    /// # Errors
    /// The address is not one, or the token's file cannot be read or is open to others.
    pub(crate) fn new(to: &ServerArgs) -> Result<Self> {
        let base = to.server.trim_end_matches('/').to_owned();
        if !(base.starts_with("http://") || base.starts_with("https://")) {
            bail!("the server's address must start with http:// or https://, “{base}” does not");
        }
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("sextant/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT_LIMIT))
            .timeout_recv_response(Some(ANSWER_LIMIT))
            .build()
            .into();
        Ok(Self { agent, base, token: to.token_file.as_ref().map(read_token).transpose()? })
    }

    /// The full address of a path that the server named.
    pub(crate) fn address(&self, path: &str) -> String {
        if path.starts_with("http://") || path.starts_with("https://") {
            return path.to_owned();
        }
        format!("{}{path}", self.base)
    }

    /// Asks whether the server is there.
    ///
    /// # Errors
    /// It is not, or something else answers at its address.
    pub(crate) fn alive(&self, limit: Duration) -> Result<()> {
        let url = format!("{}/healthz", self.base);
        let request = self.agent.get(&url).config().timeout_global(Some(limit)).build();
        let response = request.call().map_err(|e| self.unreachable(&e))?;
        if !response.status().is_success() {
            bail!("{} answers {}; check that the address is a Sextant server's", self.base, response.status());
        }
        Ok(())
    }

    /// Sends JSON, takes JSON.
    ///
    /// # Errors
    /// The server cannot be reached, refuses, or answers something else than JSON.
    pub(crate) fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T> {
        let json = serde_json::to_vec(body)?;
        self.send(
            "POST",
            path,
            &[("Content-Type", "application/json")],
            SendBody::from_owned_reader(std::io::Cursor::new(json)),
        )
    }

    /// Sends JSON that may be large, compressed.
    ///
    /// # Errors
    /// As [`Self::post`].
    pub(crate) fn post_packed<T: DeserializeOwned>(&self, path: &str, json: &[u8]) -> Result<T> {
        let packed = zstd::bulk::compress(json, ZSTD_LEVEL).context("the data could not be compressed")?;
        let headers = [("Content-Type", "application/json"), ("Content-Encoding", "zstd")];
        self.send("POST", path, &headers, SendBody::from_owned_reader(std::io::Cursor::new(packed)))
    }

    /// Streams bytes as they are, under a name for people.
    ///
    /// # Errors
    /// As [`Self::post`], or the bytes cannot be read.
    pub(crate) fn stream<T: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        name: &str,
        bytes: &mut dyn Read,
    ) -> Result<T> {
        let path = format!("{path}?name={}", encode(name));
        let mut bytes = bytes;
        let headers = [("Content-Type", "application/octet-stream")];
        self.send(method, &path, &headers, SendBody::from_reader(&mut bytes))
            .with_context(|| format!("“{name}” was not stored"))
    }

    fn send<T: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: SendBody<'_>,
    ) -> Result<T> {
        let url = format!("{}{path}", self.base);
        let mut request = ureq::http::Request::builder().method(method).uri(&url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let request = request.body(body).with_context(|| format!("“{url}” is not an address"))?;
        let response = self.agent.run(request).map_err(|e| self.unreachable(&e))?;
        self.answer(response)
    }

    fn answer<T: DeserializeOwned>(&self, mut response: Response<Body>) -> Result<T> {
        let status = response.status();
        let text = response.body_mut().with_config().limit(ANSWER_MAX).read_to_string().unwrap_or_default();
        if status.is_success() {
            return serde_json::from_str(&text).map_err(|_| {
                anyhow!("{} answered something that is not from a Sextant server; check the address", self.base)
            });
        }
        let problem: Problem = serde_json::from_str(&text).unwrap_or_default();
        if problem.title.is_empty() {
            bail!("{} answered {status}; check that the address is a Sextant server's", self.base);
        }
        let Problem { title, detail, fix } = problem;
        let detail = if detail.is_empty() { title } else { format!("{title}: {detail}") };
        bail!("the server refused. {detail} {fix}")
    }

    fn unreachable(&self, e: &ureq::Error) -> anyhow::Error {
        let base = &self.base;
        match e {
            ureq::Error::HostNotFound => anyhow!("there is no host of the name in {base}; check the address"),
            ureq::Error::Io(io) if io.kind() == std::io::ErrorKind::ConnectionRefused => anyhow!(
                "nothing listens at {base}. Start a server there with “sextant-server --data DIR”, or name another with \
                 --server URL or SEXTANT_SERVER"
            ),
            ureq::Error::Io(io) => anyhow!("{base} cannot be reached: {io}"),
            ureq::Error::Timeout(_) => {
                anyhow!("{base} gave no answer in time; nothing may have been stored, so send it again")
            }
            e => anyhow!("{base} cannot be reached: {e}"),
        }
    }
}

/// A token lies in a file that only its owner may read, as with ssh keys.
fn read_token(path: &PathBuf) -> Result<String> {
    use std::os::unix::fs::MetadataExt;
    let meta =
        std::fs::metadata(path).with_context(|| format!("the token's file {} could not be opened", path.display()))?;
    if meta.mode() & 0o077 != 0 {
        bail!("the token's file {p} is open to others; run “chmod 600 {p}”", p = path.display());
    }
    let token = std::fs::read_to_string(path).with_context(|| format!("{} could not be read", path.display()))?;
    let token = token.trim();
    if token.is_empty() || token.contains(|c: char| c.is_whitespace() || c.is_control()) {
        bail!("{} does not hold one token", path.display());
    }
    Ok(token.to_owned())
}

/// A name for the query part of an address.
fn encode(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for b in name.bytes() {
        if b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~' | b'/') {
            out.push(char::from(b));
        } else {
            out.push_str(&format!("%{b:02X}"));
        }
    }
    out
}
