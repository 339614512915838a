//! A server on a temporary folder, and calls to its routes.

use std::io::Write;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use server::config::Config;
use server::routes;
use server::serve::Server;
use tempfile::TempDir;
use tower::ServiceExt;

/// A running server without a listener.
pub(crate) struct Fixture {
    _server: Server,
    pub(crate) router: Router,
    pub(crate) dir: TempDir,
}

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |v| v.to_str().unwrap())
    }

    /// Asserts the status and returns the JSON.
    #[track_caller]
    pub(crate) fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        self.json()
    }

    /// Asserts that this is problem JSON of a kind, complete.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, kind: &str) {
        let body = self.ok(status);
        assert_eq!(self.header("content-type"), "application/problem+json");
        assert_eq!(body["type"], format!("urn:sextant:problem:{kind}"), "{body}");
        assert_eq!(body["status"], status);
        for field in ["title", "detail", "fix"] {
            assert!(body[field].as_str().is_some_and(|t| t.len() > 5), "{field} of {body}");
        }
    }
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::for_data(dir.path().to_owned());
        change(&mut config);
        let server = Server::open(config).await.unwrap();
        let router = routes::router(server.app().clone());
        Self { _server: server, router, dir }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let (parts, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    pub(crate) async fn call(
        &self,
        method: Method,
        uri: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(uri);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "127.0.0.1:8077");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(body.into()).unwrap()).await
    }

    pub(crate) async fn get(&self, uri: &str) -> Answer {
        self.call(Method::GET, uri, &[], Body::empty()).await
    }

    pub(crate) async fn post(&self, uri: &str, body: impl Into<Body>) -> Answer {
        self.call(Method::POST, uri, &[], body).await
    }

    /// Uploads bytes; the upload's id.
    pub(crate) async fn upload(&self, name: &str, bytes: &[u8]) -> String {
        let answer = self.post(&format!("/api/v1/uploads?name={name}"), bytes.to_vec()).await;
        assert!(answer.status.is_success(), "{}", answer.text());
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// Uploads bytes and asks for their report; the report's id and JSON, facts included.
    pub(crate) async fn report(&self, name: &str, bytes: &[u8]) -> (String, Value) {
        let upload = self.upload(name, bytes).await;
        let body = serde_json::json!({ "uploads": [upload] }).to_string();
        let made = self.post("/api/v1/reports", body).await.ok(201);
        let id = made["id"].as_str().unwrap().to_owned();
        let mut report = self.get(&format!("/api/v1/reports/{id}?facts=true")).await;
        // Each request waits for a while; large files take longer in a debug build.
        while report.status == StatusCode::ACCEPTED {
            report = self.get(&format!("/api/v1/reports/{id}?facts=true")).await;
        }
        (id, report.ok(200))
    }

    /// Files below the data folder's blobs.
    pub(crate) fn blob_files(&self) -> Vec<std::path::PathBuf> {
        files(&self.dir.path().join("blobs"))
    }

    /// Rows of a table.
    pub(crate) async fn rows(&self, table: &str) -> i64 {
        let answer = self.get("/metrics").await;
        assert_eq!(answer.status, StatusCode::OK);
        let path = self.dir.path().join("sextant.db");
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).read_only(true);
        let pool = sqlx::sqlite::SqlitePool::connect_with(options).await.unwrap();
        let sql = format!("select count(*) from {table}");
        let n = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(&pool).await.unwrap();
        pool.close().await;
        n
    }
}

fn files(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { out.extend(files(&path)) } else { out.push(path) }
    }
    out
}

/// Step timings in which the loop waits for data during most of each step.
pub(crate) fn starved_steps(steps: u32) -> String {
    let mut out = String::from(
        "{\"v\":1,\"kind\":\"meta\",\"host\":\"node-a\",\"rank\":0,\"world\":1,\"pid\":7,\"perf_ns\":0,\"wall_ns\":1796090885792071424,\"loaders\":[{\"id\":0,\"num_workers\":0}]}\n",
    );
    for i in 1..=steps {
        let t = u64::from(i) * 850_000_000;
        out.push_str(&format!(
            "{{\"v\":1,\"kind\":\"step\",\"i\":{i},\"t_ns\":{t},\"step_ms\":850.0,\"data_wait_ms\":{}.5,\"gpu_span_ms\":20.0,\"dry\":true}}\n",
            810 + i % 7
        ));
    }
    out
}

/// A snapshot of a node with one raw text.
pub(crate) fn snapshot(node: &str, taken_ms: i64, text: &str) -> String {
    serde_json::json!({
        "v": 1, "kind": "snapshot", "node": {"name": node}, "taken_ms": taken_ms, "collector": {"version": "0.1.0"},
        "raw": [{"name": "nvidia-smi-q", "text": text}], "facts": [],
    })
    .to_string()
}

pub(crate) fn gzip(data: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(data).unwrap();
    gz.finish().unwrap()
}
