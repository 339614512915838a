//! What the server refuses over the wire and on disk, with clear words and nothing half done.

use std::io::Write as _;
use std::net::TcpStream;

use anyhow::{Result, ensure};
use tests::server::{Server, refused};

#[test]
fn a_second_server_on_the_same_folder_is_refused() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let data = dir.path().join("data");
    let first = Server::start_on(&data)?;
    let (status, said) = refused(&data)?;
    ensure!(!status.success(), "the second server ended with success");
    ensure!(said.contains(&data.display().to_string()), "the refusal does not name the folder: {said}");
    ensure!(said.to_lowercase().contains("another"), "the refusal does not say why: {said}");
    ensure!(first.get("/readyz")?.status == 200, "the first server was disturbed");
    Ok(())
}

#[test]
fn an_upload_that_is_cut_off_leaves_nothing() -> Result<()> {
    let server = Server::start()?;
    let whole = include_bytes!("../../../demo/runs/loader-inline/steps.node-h200.0.jsonl");
    let host = server.url().trim_start_matches("http://").to_owned();
    let before = files(server.data())?;
    let mut stream = TcpStream::connect(&host)?;
    let head = format!(
        "POST /api/v1/uploads?name=steps.jsonl HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n",
        whole.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&whole[..whole.len() / 2])?;
    stream.flush()?;
    std::thread::sleep(std::time::Duration::from_millis(300));
    drop(stream);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let after = files(server.data())?;
    ensure!(after == before, "the cut-off upload left files: {after:?}, before {before:?}");
    // The same bytes in full are then new to the server, not known.
    let answer = server.post("/api/v1/uploads?name=steps.jsonl", "application/octet-stream", whole)?;
    ensure!(answer.status == 201, "the whole upload answered {}: {}", answer.status, answer.body);
    Ok(())
}

/// Every file of a data folder but the database's own and the log, with its size.
fn files(dir: &std::path::Path) -> Result<Vec<(String, u64)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.path().display().to_string();
        if entry.file_type()?.is_dir() {
            found.extend(files(&entry.path())?);
        } else if ![".db", "-wal", "-shm", ".log", "lock"].iter().any(|end| name.ends_with(end)) {
            found.push((name, entry.metadata()?.len()));
        }
    }
    found.sort();
    Ok(found)
}
