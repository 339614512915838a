//! A real `sextant-server` on a free loopback port with a data folder of its own.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tempfile::TempDir;

use crate::http::{self, Answer};
use crate::programs;

/// How long a server may take until it answers; a busy machine included.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// A running server; it is stopped and its folder removed when it goes out of scope.
#[derive(Debug)]
pub struct Server {
    child: Child,
    url: String,
    log: PathBuf,
    _dir: TempDir,
}

impl Server {
    /// Starts an empty server.
    ///
    /// # Errors
    /// It is not built, or does not get ready.
    pub fn start() -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let log = dir.path().join("server.log");
        let out = File::create(&log)?;
        let mut command = Command::new(programs::program("sextant-server")?);
        command.arg("--listen").arg(addr.to_string()).arg("--data").arg(dir.path().join("data"));
        command.arg("--site").arg(programs::site()?);
        command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out);
        let child = command.spawn().context("sextant-server could not be started")?;
        let mut server = Self { child, url: format!("http://{addr}"), log, _dir: dir };
        server.wait_ready()?;
        Ok(server)
    }

    /// Starts a server that holds the demo data, sent by the collector.
    ///
    /// # Errors
    /// As [`Self::start`], or the data is refused.
    pub fn with_demo() -> Result<Self> {
        let server = Self::start()?;
        server.push_demo()?;
        Ok(server)
    }

    /// Address, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What it has printed.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// GET of a path.
    ///
    /// # Errors
    /// No answer.
    pub fn get(&self, path: &str) -> Result<Answer> {
        http::get(&format!("{}{path}", self.url))
    }

    /// GET of a path that must answer 200 with JSON.
    ///
    /// # Errors
    /// It does not.
    pub fn json(&self, path: &str) -> Result<Value> {
        self.get(path)?.expect(&[200]).and_then(|a| a.json()).with_context(|| path.to_owned())
    }

    /// POST of raw bytes to a path.
    ///
    /// # Errors
    /// No answer.
    pub fn post(&self, path: &str, content_type: &str, body: &[u8]) -> Result<Answer> {
        http::post(&format!("{}{path}", self.url), content_type, body)
    }

    /// Sends the demo data with the collector and waits until every report of it is made.
    ///
    /// # Errors
    /// The collector fails, or a report cannot be made.
    pub fn push_demo(&self) -> Result<()> {
        let mut inputs = Vec::new();
        for dir in ["nodes", "runs"] {
            for entry in fs::read_dir(programs::demo(dir))? {
                inputs.push(entry?.path().display().to_string());
            }
        }
        inputs.sort();
        self.push(&inputs.iter().map(String::as_str).collect::<Vec<_>>())?;
        for list in ["/api/v1/nodes", "/api/v1/runs"] {
            let items = self.json(list)?;
            for id in items["items"].as_array().into_iter().flatten().filter_map(|i| i["report_id"].as_str()) {
                // The server answers this once the report is made.
                self.json(&format!("/api/v1/reports/{id}"))?;
            }
        }
        Ok(())
    }

    /// Sends files with the collector and returns what it printed.
    ///
    /// # Errors
    /// The collector fails.
    pub fn push(&self, files: &[&str]) -> Result<String> {
        let args = [&["push"], files, &["--server", &self.url]].concat();
        let out = programs::sextant(&args, &[0])?;
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    }
    fn wait_ready(&mut self) -> Result<()> {
        let deadline = Instant::now() + READY_TIMEOUT;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                bail!("the server ended at once ({status}):\n{}", self.log());
            }
            if self.get("/readyz").is_ok_and(|a| a.status == 200) {
                return Ok(());
            }
            sleep(Duration::from_millis(20));
        }
        bail!("the server did not get ready:\n{}", self.log())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
