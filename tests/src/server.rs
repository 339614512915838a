//! A real `sextant-server` on a free loopback port with a data folder of its own.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
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
    data: PathBuf,
    _own: Option<TempDir>,
}

impl Server {
    /// Starts an empty server.
    ///
    /// # Errors
    /// It is not built, or does not get ready.
    pub fn start() -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let mut server = Self::start_on(dir.path())?;
        server._own = Some(dir);
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

    /// Starts a server on a given data folder.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_on(data: &Path) -> Result<Self> {
        let (child, url, log) = launch(data)?;
        let mut server = Self { child, url, log, data: data.to_path_buf(), _own: None };
        let deadline = Instant::now() + READY_TIMEOUT;
        while Instant::now() < deadline {
            if let Some(status) = server.child.try_wait()? {
                bail!("the server ended at once ({status}):\n{}", server.log());
            }
            if http::get(&format!("{}/readyz", server.url)).is_ok_and(|a| a.status == 200) {
                return Ok(server);
            }
            sleep(Duration::from_millis(20));
        }
        bail!("the server did not get ready:\n{}", server.log())
    }

    /// Address, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its data folder.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
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

    /// Sends the demo data with the collector.
    ///
    /// # Errors
    /// The collector fails.
    pub fn push_demo(&self) -> Result<()> {
        let mut inputs = Vec::new();
        for dir in ["nodes", "runs"] {
            for entry in fs::read_dir(programs::demo(dir))? {
                inputs.push(entry?.path().display().to_string());
            }
        }
        inputs.sort();
        self.push(&inputs.iter().map(String::as_str).collect::<Vec<_>>()).map(drop)
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
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a server that is expected to refuse, and returns how it ended and what it said.
///
/// # Errors
/// It goes on running.
pub fn refused(data: &Path) -> Result<(ExitStatus, String)> {
    let (mut child, _, log) = launch(data)?;
    let deadline = Instant::now() + READY_TIMEOUT;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok((status, fs::read_to_string(log)?));
        }
        sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
    bail!("the server was expected to refuse and went on")
}

/// The log lies beside the data folder, where the server does not expect anything of its own.
fn launch(data: &Path) -> Result<(Child, String, PathBuf)> {
    let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let log = data.with_extension(format!("{}.log", addr.port()));
    let out = File::create(&log)?;
    let mut command = Command::new(programs::program("sextant-server")?);
    command.arg("--listen").arg(addr.to_string()).arg("--data").arg(data).arg("--site").arg(programs::site()?);
    command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out);
    let child = command.spawn().context("sextant-server could not be started")?;
    Ok((child, format!("http://{addr}"), log))
}
