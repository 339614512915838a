//! `sextant check` as a program: its exit status, its one JSON object, its pages.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// A run that waits for its loader, long enough to be sure.
fn waits() -> String {
    let mut text = String::from(
        r#"{"v":1,"kind":"meta","host":"n1","rank":0,"world":1,"pid":7,"loaders":[{"id":1,"num_workers":0}]}"#,
    );
    for i in 0..40 {
        let step = format!(r#"{{"v":1,"kind":"step","i":{i},"step_ms":800.0,"data_wait_ms":780.0,"phase":"train"}}"#);
        text.push('\n');
        text.push_str(&step);
    }
    text + "\n"
}

fn sextant(line: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sextant")).args(line).env_remove("SEXTANT_SERVER").output().unwrap()
}

fn report(out: &Output) -> serde_json::Value {
    let text = String::from_utf8(out.stdout.clone()).unwrap();
    assert_eq!(text.trim_end().lines().count(), 1, "one object on one line: {text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn wrong_usage_ends_with_64_and_help_with_0() {
    for line in [
        &["check", "--no-such-flag"][..],
        &["no-such-command"],
        &["check", "--live", "--no-live"],
        &["push"],
        &["bundle"],
        &["run"],
    ] {
        assert_eq!(sextant(line).status.code(), Some(64), "{line:?}");
    }
    for line in [&["--help"][..], &["check", "--help"], &["--version"]] {
        assert_eq!(sextant(line).status.code(), Some(0), "{line:?}");
    }
    let out = sextant(&["check", "--only", "pcie-link-width"]);
    assert_eq!(out.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&out.stderr).contains("did you mean driver/pcie-link-width?"));
}

#[test]
fn what_cannot_be_read_is_an_input_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let empty = dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    for path in [dir.path().join("not-there"), empty] {
        let out = sextant(&["check", "--json", path.to_str().unwrap()]);
        assert_eq!(out.status.code(), Some(3));
        let report = report(&out);
        assert_eq!(report["inputs"][0]["kind"], "unknown");
        assert!(report["inputs"][0]["notes"][0]["text"].as_str().is_some_and(|t| !t.is_empty()), "{report}");
    }
    let nothing = sextant(&["check", "--json", "--no-live"]);
    assert_eq!(nothing.status.code(), Some(3));
    report(&nothing);
}

#[test]
fn a_failure_a_folder_and_standard_input_agree() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("steps.jsonl"), waits()).unwrap();
    fs::write(dir.path().join(".hidden"), "nothing to see").unwrap();
    let folder = sextant(&["check", "--json", dir.path().to_str().unwrap()]);
    assert_eq!(folder.status.code(), Some(2));
    assert_eq!(report(&folder)["inputs"].as_array().unwrap().len(), 1);

    let mut child = Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(["check", "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(waits().as_bytes()).unwrap();
    let piped = child.wait_with_output().unwrap();
    assert_eq!(piped.status.code(), Some(2));
    assert_eq!(report(&piped)["headline"], report(&folder)["headline"]);
}

#[test]
fn facts_come_only_when_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("s.jsonl");
    fs::write(&file, waits()).unwrap();
    let path = file.to_str().unwrap();
    assert!(report(&sextant(&["check", "--json", path])).get("facts").is_none());
    let with = report(&sextant(&["check", "--json", "--facts", path]));
    assert!(with["facts"].as_array().unwrap().iter().any(|f| f["path"] == "steps" && f["value"] == 40), "{with}");
}

#[test]
fn only_and_layer_narrow_the_findings_and_the_status() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("s.jsonl");
    fs::write(&file, waits()).unwrap();
    let path = file.to_str().unwrap();
    let only = sextant(&["check", "--json", "--only", "pipeline/loader-wait", path]);
    assert_eq!(report(&only)["findings"].as_array().unwrap().len(), 1);
    assert_eq!(only.status.code(), Some(2));
    let other = sextant(&["check", "--json", "--layer", "1", path]);
    assert!(report(&other)["findings"].as_array().unwrap().iter().all(|f| f["layer"] == "driver"));
    assert_eq!(other.status.code(), Some(0));
}

#[test]
fn the_page_says_the_verdict_first_and_has_no_colours_in_a_pipe() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("s.jsonl");
    fs::write(&file, waits()).unwrap();
    let out = sextant(&["check", file.to_str().unwrap()]);
    let page = String::from_utf8(out.stdout).unwrap();
    assert!(!page.contains('\u{1b}'), "{page}");
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("“{text}” is not in {page}"));
    assert!(at("waits for data") < at("5 Data pipeline"));
    assert!(at("6 Framework") < at("1 Driver"), "the lowest layer stands at the bottom");
    assert!(page.contains("s.jsonl:"), "evidence has its place: {page}");
    let markdown = String::from_utf8(sextant(&["check", "--markdown", file.to_str().unwrap()]).stdout).unwrap();
    assert!(markdown.starts_with("# ") && markdown.contains("| 5 Data pipeline"), "{markdown}");
}

#[test]
fn a_check_is_explained_from_its_own_text() {
    let out = sextant(&["check", "--explain", "pipeline/loader-wait"]);
    let page = String::from_utf8(out.stdout).unwrap();
    for part in
        ["What it looks for", "Why it wastes the GPU", "Confirm by hand", "Fix", "Limits", "References", "Thresholds"]
    {
        assert!(page.contains(part), "{part} is not in {page}");
    }
}

#[test]
fn the_live_node_is_read_in_a_second_with_or_without_a_gpu() {
    let started = std::time::Instant::now();
    let out = sextant(&["check", "--json", "--facts"]);
    let took = started.elapsed();
    assert!(matches!(out.status.code(), Some(0..=2)), "{:?}", out.status);
    let report = report(&out);
    assert_eq!(report["inputs"][0]["kind"], "snapshot");
    assert!(report["facts"].as_array().unwrap().iter().any(|f| f["path"] == "cpu_count"));
    // A GPU without persistence mode takes seconds to wake; that is the driver's time.
    let gpus = report["facts"].as_array().unwrap().iter().any(|f| f["path"] == "nvml_gpu_count");
    assert!(gpus || took.as_secs_f64() < 2.0, "{took:?}");
}
