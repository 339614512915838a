//! A running `sextant-server`: start, wait until it answers, stop.
//!
//! It speaks just enough HTTP to ask `/readyz` and to time a page; what the pages say is for the end-to-end tests.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{bundle, native, sh};

/// How long a server may take to answer: migrations on a large folder included.
const READY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a server may take to end by itself before it is killed.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// A server that this program started; it ends with it.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    log: PathBuf,
    addr: SocketAddr,
}

impl Server {
    /// Starts the server on `addr` with `data` as its folder, its output in `data`'s sibling `server.log`.
    ///
    /// # Errors
    /// The port is taken, the folder cannot be written, or the server ends or stays silent.
    pub(crate) fn start(profile: native::Profile, addr: SocketAddr, data: &Path) -> Result<Self> {
        check_port(addr)?;
        check_folder(data)?;
        let log = data.join("server.log");
        let out = File::create(&log).with_context(|| format!("{} could not be written", sh::shown(&log)))?;
        let mut command = Command::new(native::program(profile, native::SERVER)?);
        command.arg("--listen").arg(addr.to_string()).arg("--data").arg(data).arg("--site").arg(bundle::site()?);
        command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out);
        let child = command.spawn().context("the server could not be started")?;
        let mut server = Self { child, log, addr };
        server.wait_ready()?;
        Ok(server)
    }

    /// Its address for a browser.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Where its output goes.
    pub(crate) fn log(&self) -> &Path {
        &self.log
    }

    /// Whether it has ended, and how.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// The last lines of its output.
    pub(crate) fn tail(&self) -> String {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(8)..].join("\n")
    }

    /// Asks it to end and waits; a server that does not end is killed.
    pub(crate) fn stop(&mut self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            // It may have ended by itself: Ctrl-C reaches the whole group.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let deadline = Instant::now() + STOP_TIMEOUT;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn wait_ready(&mut self) -> Result<()> {
        let deadline = Instant::now() + READY_TIMEOUT;
        while Instant::now() < deadline {
            if let Some(status) = self.ended()? {
                bail!("the server ended at once ({status}). It said:\n{}", self.tail());
            }
            if matches!(get(self.addr, "/readyz"), Ok((200, _))) {
                return Ok(());
            }
            sleep(Duration::from_millis(10));
        }
        bail!("the server did not get ready within {} s. It said:\n{}", READY_TIMEOUT.as_secs(), self.tail())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Refuses a port that something else listens on, before anything is built or started.
///
/// # Errors
/// The port cannot be bound.
pub(crate) fn check_port(addr: SocketAddr) -> Result<()> {
    match TcpListener::bind(addr) {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::AddrInUse => bail!(
            "port {} is in use: another program, perhaps an earlier Sextant, listens on {addr}. Stop it, or choose \
             another port with `--port N`",
            addr.port()
        ),
        Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
            bail!("listening on {addr} is not permitted ({e}). Choose a port above 1023 with `--port N`")
        }
        Err(e) => bail!("listening on {addr} is not possible: {e}"),
    }
}

/// Makes a data folder and proves that it can be written.
///
/// # Errors
/// It cannot.
pub(crate) fn check_folder(data: &Path) -> Result<()> {
    let probe = data.join(".write-test");
    let tried = fs::create_dir_all(data).and_then(|()| fs::write(&probe, b"")).and_then(|()| fs::remove_file(&probe));
    tried.with_context(|| {
        format!(
            "no write permission for the data folder {}. Give it to this user (`chown`), or remove it if another user left it",
            sh::shown(data)
        )
    })
}

/// One GET over plain HTTP/1.1: status and whole body. Only for our own server on this machine.
///
/// # Errors
/// No connection, or no HTTP answer.
pub(crate) fn get(addr: SocketAddr, path: &str) -> Result<(u16, String)> {
    let mut stream = TcpStream::connect_timeout(&addr, Duration::from_secs(1))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\nAccept: text/html\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").context("not an HTTP answer")?;
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).context("an HTTP answer without status")?;
    Ok((status, body.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_named_with_the_way_out() -> Result<()> {
        let taken = TcpListener::bind("127.0.0.1:0")?;
        let addr = taken.local_addr()?;
        let why = check_port(addr).map_err(|e| e.to_string());
        let told = |w: &String| w.contains(&addr.port().to_string()) && w.contains("in use") && w.contains("--port");
        assert!(why.as_ref().is_err_and(told), "{why:?}");
        drop(taken);
        check_port(addr)
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() -> Result<()> {
        // A file in the way holds for root too, whom no permission stops.
        let file = std::env::temp_dir().join(format!("sextant-xtask-{}", std::process::id()));
        fs::write(&file, b"")?;
        let why = check_folder(&file.join("data")).map_err(|e| format!("{e:#}"));
        fs::remove_file(&file)?;
        assert!(why.as_ref().is_err_and(|w| w.contains("no write permission") && w.contains("data")), "{why:?}");
        Ok(())
    }
}
