//! A recording's folder through the run API. Every step may be repeated: the run has its id from `run.json`, a chunk its
//! kind and number, so that a broken transfer is simply sent again.
//!
//! It does not know how a recording is made.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result, bail};
use checks::recording::RunInfo;
use serde::Deserialize;
use serde_json::json;

use super::Shown;
use super::client::Client;

/// The server takes a chunk's answer as it is; nothing of it is needed here.
#[derive(Deserialize)]
struct Stored {}

/// Sends a recording; the answer is the address of its page.
pub(crate) fn send(client: &Client, folder: &Path) -> Result<String> {
    let run = read(folder)?;
    begin(client, &run)?;
    for (kind, seq, name) in chunks(folder)? {
        let path = folder.join(&name);
        let mut file = File::open(&path).with_context(|| format!("{} could not be opened", path.display()))?;
        let to = format!("/api/v1/runs/{}/chunks/{kind}/{seq}", run.id);
        let Stored {} = client.stream("PUT", &to, &name, &mut file)?;
    }
    let to = format!("/api/v1/runs/{}/finish", run.id);
    let shown: Shown = client.post(&to, &json!({ "ended_ms": run.ended_ms, "exit_status": run.exit_status }))?;
    Ok(shown.url)
}

/// `run.json` of a folder.
pub(crate) fn read(folder: &Path) -> Result<RunInfo> {
    let path = folder.join(RunInfo::FILE);
    let text = fs::read(&path).with_context(|| format!("{} could not be read", path.display()))?;
    let run: RunInfo = serde_json::from_slice(&text).with_context(|| format!("{} is not a run", path.display()))?;
    if run.kind != RunInfo::KIND || run.id.is_empty() {
        bail!("{} is not a run's description", path.display());
    }
    Ok(run)
}

fn begin(client: &Client, run: &RunInfo) -> Result<()> {
    let command = run.command.join(" ");
    let body = json!({
        "id": run.id,
        "name": run.name.as_deref().unwrap_or("unnamed"),
        "node": run.node,
        "started_ms": run.started_ms.unwrap_or_default(),
        "command": (!command.is_empty()).then_some(command),
        "world": run.world,
        "receipt": run.receipt,
    });
    let Stored {} = client.post("/api/v1/runs", &body)?;
    Ok(())
}

/// Kind, number and name of each file, in order of kind and name, so that a file has the same number in every attempt.
fn chunks(folder: &Path) -> Result<Vec<(&'static str, usize, String)>> {
    let entries = fs::read_dir(folder).with_context(|| format!("{} could not be opened", folder.display()))?;
    let mut files: Vec<(&'static str, String)> = entries
        .flatten()
        .filter(|e| e.file_type().is_ok_and(|t| t.is_file()))
        .filter_map(|e| {
            let name = e.file_name().to_string_lossy().into_owned();
            Some((kind(&name)?, name))
        })
        .collect();
    files.sort();
    let mut out: Vec<(&'static str, usize, String)> = Vec::new();
    for (kind, name) in files {
        let seq = out.iter().filter(|(k, ..)| *k == kind).count();
        out.push((kind, seq, name));
    }
    Ok(out)
}

/// Which kind of chunk a file of a recording is; `None` for files that are not part of it.
fn kind(name: &str) -> Option<&'static str> {
    if name.starts_with('.') || name == RunInfo::FILE {
        return None;
    }
    Some(match name.split('.').next().unwrap_or_default() {
        "steps" => "steps",
        "samples" => "samples",
        "events" => "events",
        "trace" => "trace",
        "snapshot" => "snapshot",
        "kernel" | "output" | "log" => "log",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_recording_have_kinds_and_steady_numbers() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for name in ["steps.n1.1.jsonl", "steps.n1.0.jsonl", "samples.n1.jsonl", "run.json", ".hidden", "notes.txt"] {
            fs::write(dir.path().join(name), "x").expect("it can be written to");
        }
        let all = chunks(dir.path()).expect("it can be listed");
        let all: Vec<String> = all.iter().map(|(k, n, f)| format!("{k} {n} {f}")).collect();
        assert_eq!(all, ["samples 0 samples.n1.jsonl", "steps 0 steps.n1.0.jsonl", "steps 1 steps.n1.1.jsonl"]);
    }
}
