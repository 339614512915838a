//! The demo data goes through the ordinary ingest: sent once or twice it is the same, and its raw bytes decide the report.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tests::programs;
use tests::server::Server;

/// What the repository may grow by for the demo.
const BUDGET_BYTES: u64 = 5_000_000;

#[test]
fn three_nodes_and_four_runs_are_stored_once_however_often_they_are_sent() -> Result<()> {
    let server = Server::with_demo()?;
    let first = ids(&server)?;
    server.push_demo()?;
    ensure!(ids(&server)? == first, "sending the demo again changed the lists");
    ensure!(first.0.len() == 3, "nodes: {:?}", first.0);
    ensure!(first.1.len() == 4, "runs: {:?}", first.1);
    Ok(())
}

#[test]
fn one_raw_byte_changes_the_report() -> Result<()> {
    let waits = |wait: &str| -> Result<Value> {
        let dir = tempfile::tempdir()?;
        let run = dir.path().join("loader-inline");
        fs::create_dir(&run)?;
        for entry in fs::read_dir(programs::demo("runs/loader-inline"))? {
            let entry = entry?;
            fs::copy(entry.path(), run.join(entry.file_name()))?;
        }
        let steps = run.join("steps.node-h200.0.jsonl");
        let text = fs::read_to_string(&steps)?;
        let changed = text.replacen("\"data_wait_ms\": 817.9933", &format!("\"data_wait_ms\": {wait}"), 1);
        ensure!(changed.len() == text.len(), "one byte is exchanged, none added");
        fs::write(&steps, changed)?;
        let server = Server::start()?;
        server.push(&[&run.display().to_string()])?;
        finding(&server, "loader-inline", "pipeline/loader-wait")
    };
    let before = waits("817.9933")?;
    let after = waits("117.9933")?;
    ensure!(before["verdict"] == "fail", "{before}");
    ensure!(before["cost_share"] != after["cost_share"], "a byte of the raw steps changed nothing: {before} {after}");
    Ok(())
}

#[test]
fn the_demo_stays_small() -> Result<()> {
    fn bytes(dir: &std::path::Path) -> Result<u64> {
        fs::read_dir(dir)?.try_fold(0, |sum, entry| {
            let entry = entry?;
            let more = if entry.file_type()?.is_dir() { bytes(&entry.path())? } else { entry.metadata()?.len() };
            Ok(sum + more)
        })
    }
    let size = bytes(&programs::root().join("demo"))?;
    ensure!(size <= BUDGET_BYTES, "the demo data has {size} bytes");
    Ok(())
}

fn ids(server: &Server) -> Result<(Vec<String>, Vec<String>)> {
    let list = |path: &str, field: &str| -> Result<Vec<String>> {
        let json = server.json(path)?;
        let items = json["items"].as_array().with_context(|| format!("{path} has no items: {json}"))?;
        let mut ids: Vec<String> = items.iter().map(|i| format!("{} {}", i[field], i["report_id"])).collect();
        ids.sort();
        Ok(ids)
    };
    Ok((list("/api/v1/nodes", "name")?, list("/api/v1/runs", "id")?))
}

/// A finding of the report of the run with this name.
fn finding(server: &Server, run: &str, check: &str) -> Result<Value> {
    let runs = server.json("/api/v1/runs")?;
    let found = runs["items"].as_array().and_then(|i| i.iter().find(|r| r["name"] == run)).cloned();
    let id = found.as_ref().and_then(|r| r["report_id"].as_str()).with_context(|| format!("no run {run} in {runs}"))?;
    let report = server.json(&format!("/api/v1/reports/{id}"))?;
    let findings = report["findings"].as_array().context("a report has findings")?;
    findings.iter().find(|f| f["id"] == check).cloned().with_context(|| format!("no {check} in {report}"))
}
