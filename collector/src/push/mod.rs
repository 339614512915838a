//! `sextant push`: sends files, recordings and a snapshot of this node to a server, and prints where they are shown.
//!
//! It decides which way each thing goes; [`client`] speaks HTTP, [`recording`] knows a recording's folder.

pub(crate) mod client;
pub(crate) mod recording;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use checks::recording::RunInfo;
use checks::snapshot::Snapshot;
use serde::Deserialize;
use serde_json::json;

use crate::check::{files, print};
use crate::cli::PushArgs;
use crate::probe;
use client::Client;

/// Bytes of a file that are looked at to tell a snapshot from other files.
const HEAD: u64 = 4096;

/// Answer to an upload.
#[derive(Deserialize)]
struct Uploaded {
    id: String,
}

/// Answer that names a page.
#[derive(Deserialize)]
struct Shown {
    url: String,
}

/// Runs the command.
pub(crate) fn run(args: &PushArgs) -> Result<ExitCode> {
    let client = Client::new(&args.to)?;
    if args.live {
        let snapshot = probe::snapshot(&args.root, probe::Options::default());
        show(&client, &send_snapshot(&client, &serde_json::to_vec(&snapshot)?)?)?;
    }
    let mut uploads = Vec::new();
    for path in &args.files {
        if path.is_dir() && path.join(RunInfo::FILE).is_file() {
            show(&client, &recording::send(&client, path)?)?;
        } else if path.is_dir() {
            let (found, notes) = files::list(path);
            for note in notes {
                eprintln!("sextant: {note}");
            }
            for file in found {
                send_file(&client, &file, Some(path), &mut uploads)?;
            }
        } else {
            send_file(&client, path, None, &mut uploads)?;
        }
    }
    if !uploads.is_empty() {
        let shown: Shown = client.post("/api/v1/reports", &json!({ "uploads": uploads }))?;
        show(&client, &shown.url)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Sends a snapshot; the answer is the address of its page.
pub(crate) fn send_snapshot(client: &Client, json: &[u8]) -> Result<String> {
    let shown: Shown = client.post_packed("/api/v1/snapshots", json)?;
    Ok(shown.url)
}

/// The address is the command's output: one line for each page.
fn show(client: &Client, path: &str) -> Result<()> {
    print(&format!("{}\n", client.address(path)))
}

fn send_file(client: &Client, path: &Path, folder: Option<&PathBuf>, uploads: &mut Vec<String>) -> Result<()> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).context("standard input could not be read")?;
        uploads.push(upload(client, "standard input", &mut bytes.as_slice())?);
        return Ok(());
    }
    let mut file = File::open(path).with_context(|| format!("{} could not be opened", path.display()))?;
    let mut head = Vec::new();
    let read = (&mut file).take(HEAD).read_to_end(&mut head);
    read.with_context(|| format!("{} could not be read", path.display()))?;
    if is_snapshot(&head) {
        let mut rest = Vec::new();
        file.read_to_end(&mut rest).with_context(|| format!("{} could not be read", path.display()))?;
        return show(client, &send_snapshot(client, &[head, rest].concat())?);
    }
    // The name is for people: within a folder that was named, where the file lies in it, else the file's own.
    let name = match folder {
        Some(folder) => path.strip_prefix(folder).unwrap_or(path).display().to_string(),
        None => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
    };
    uploads.push(upload(client, &name, &mut head.as_slice().chain(file))?);
    Ok(())
}

fn upload(client: &Client, name: &str, bytes: &mut dyn Read) -> Result<String> {
    let uploaded: Uploaded = client.stream("POST", "/api/v1/uploads", name, bytes)?;
    Ok(uploaded.id)
}

/// True for the beginning of a snapshot's JSON.
fn is_snapshot(head: &[u8]) -> bool {
    let text: String = String::from_utf8_lossy(head).chars().take(400).filter(|c| !c.is_whitespace()).collect();
    text.starts_with('{') && text.contains(&format!("\"kind\":\"{}\"", Snapshot::KIND))
}
