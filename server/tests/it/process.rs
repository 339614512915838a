//! The real program: what it refuses at start, and what becomes of connections that break.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

fn command(data: &Path, listen: &str) -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_sextant-server"));
    c.args(["--listen", listen, "--data"])
        .arg(data)
        .env("RUST_LOG", "warn")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    c
}

/// The program, killed at the end.
struct Running {
    child: Child,
    addr: String,
}

impl Running {
    fn start(data: &Path) -> Self {
        let mut child = command(data, "127.0.0.1:0").spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let addr = line.trim().rsplit("http://").next().unwrap().to_owned();
        assert!(addr.starts_with("127.0.0.1:"), "{line}");
        Self { child, addr }
    }

    fn connect(&self) -> TcpStream {
        let s = TcpStream::connect(&self.addr).unwrap();
        s.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        s
    }

    fn ask(&self, request: &str) -> String {
        let mut s = self.connect();
        s.write_all(request.as_bytes()).unwrap();
        let mut out = String::new();
        s.read_to_string(&mut out).unwrap();
        out
    }

    fn get(&self, path: &str) -> String {
        self.ask(&format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Runs a start that must be refused; what it said.
fn refused(data: &Path, listen: &str) -> String {
    let began = Instant::now();
    let out = command(data, listen).output().unwrap();
    assert!(!out.status.success() && began.elapsed() < Duration::from_secs(20));
    String::from_utf8(out.stderr).unwrap()
}

fn files(dir: &Path) -> Vec<String> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { out.extend(files(&path)) } else { out.push(path.display().to_string()) }
    }
    out
}

#[test]
fn a_second_server_a_taken_port_and_a_public_address_are_refused_in_words() {
    let dir = TempDir::new().unwrap();
    let first = Running::start(dir.path());
    let second = refused(dir.path(), "127.0.0.1:0");
    assert!(second.contains("another sextant-server") && second.contains(&first.child.id().to_string()), "{second}");
    let other = TempDir::new().unwrap();
    let taken = refused(other.path(), &first.addr);
    assert!(taken.contains("is in use") && taken.contains("--listen"), "{taken}");
    assert!(files(other.path()).is_empty(), "a refused start leaves nothing");
    let public = refused(other.path(), "0.0.0.0:0");
    assert!(public.contains("not a loopback address") && public.contains("accounts"), "{public}");
    assert!(first.get("/readyz").starts_with("HTTP/1.1 200"));
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_in_words() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, b"x").unwrap();
    let text = refused(&file.join("data"), "127.0.0.1:0");
    assert!(text.contains("cannot be used") && text.contains("--data"), "{text}");
}

#[tokio::test]
async fn a_newer_altered_or_foreign_database_is_refused_untouched() {
    let dir = TempDir::new().unwrap();
    drop(Running::start(dir.path()));
    let path = dir.path().join("sextant.db");
    let change = async |sql: &'static str| {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path).create_if_missing(true);
        let pool = sqlx::sqlite::SqlitePool::connect_with(options).await.unwrap();
        sqlx::query(sql).execute(&pool).await.unwrap();
        pool.close().await;
    };
    let untouched = |says: &str| {
        let before = std::fs::read(&path).unwrap();
        let text = refused(dir.path(), "127.0.0.1:0");
        assert!(text.contains(says) && text.contains("not touched"), "{text}");
        assert!(std::fs::read(&path).unwrap() == before, "the database was changed");
    };
    change("insert into _sqlx_migrations values (999, 'later', current_timestamp, 1, x'00', 1)").await;
    untouched("newer");
    change("delete from _sqlx_migrations where version = 999").await;
    change("update _sqlx_migrations set checksum = x'00' where version = 1").await;
    untouched("migration 1");
    for file in ["sextant.db", "sextant.db-wal", "sextant.db-shm"] {
        let _ = std::fs::remove_file(dir.path().join(file));
    }
    change("create table other (x)").await;
    untouched("other tables");
    std::fs::write(&path, b"this is no database, but a text of some length that stands in its place").unwrap();
    untouched("not an SQLite database");
}

#[test]
fn an_upload_cut_off_half_way_leaves_nothing() {
    let dir = TempDir::new().unwrap();
    let server = Running::start(dir.path());
    for head in ["content-length: 9000000", "transfer-encoding: chunked"] {
        let mut s = server.connect();
        let request = format!("POST /api/v1/uploads?name=a HTTP/1.1\r\nhost: localhost\r\n{head}\r\n\r\n");
        s.write_all(request.as_bytes()).unwrap();
        if head.starts_with("transfer") {
            s.write_all(b"400000\r\n").unwrap();
        }
        s.write_all(&vec![b'x'; 4 << 20]).unwrap();
        s.shutdown(Shutdown::Write).unwrap();
        let mut out = String::new();
        let _ = s.read_to_string(&mut out);
        assert!(!out.contains(" 201 ") && !out.contains(" 200 "), "{out}");
    }
    let deadline = Instant::now() + Duration::from_secs(10);
    while !files(&dir.path().join("blobs")).is_empty() {
        assert!(Instant::now() < deadline, "{:?}", files(&dir.path().join("blobs")));
        std::thread::sleep(Duration::from_millis(50));
    }
    let metrics = server.get("/metrics");
    assert!(metrics.contains("sextant_uploads_total 0"), "{metrics}");
}

#[test]
fn a_stop_finishes_and_the_next_start_finds_everything() {
    let dir = TempDir::new().unwrap();
    let mut server = Running::start(dir.path());
    let answer = server.ask(
        "POST /api/v1/uploads?name=a HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello",
    );
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let status = Command::new("kill").args(["-TERM", &server.child.id().to_string()]).status().unwrap();
    assert!(status.success());
    assert!(server.child.wait().unwrap().success());
    let body = answer.split("\r\n\r\n").nth(1).unwrap();
    let id = serde_json::from_str::<serde_json::Value>(body).unwrap()["id"].as_str().unwrap().to_owned();
    let again = Running::start(dir.path());
    assert!(again.get(&format!("/api/v1/uploads/{id}/raw")).ends_with("\r\n\r\nhello"));
    // The first server has ended already; dropping it would kill a process that is not there.
    std::mem::forget(server);
}
