//! `sextant run` around real commands: what passes through, what is recorded, and what happens when things go wrong.
//! Python is needed for the training scripts; they run against the stand-in for PyTorch in `python/tests/fake`.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// `sextant run` in a folder of its own, with the stand-in for PyTorch.
fn sextant(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sextant"));
    for name in ["SEXTANT_DIR", "SEXTANT_SERVER", "SEXTANT_RUN_ID", "RANK", "LOCAL_RANK", "SLURM_JOB_ID"] {
        command.env_remove(name);
    }
    let fake = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/tests/fake");
    command.current_dir(dir).env("PYTHONPATH", fake).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn run(dir: &Path, line: &[&str]) -> Output {
    sextant(dir).args(["run", "-o", "rec", "--"]).args(line).output().unwrap()
}

fn info(dir: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(dir.join("rec/run.json")).unwrap()).unwrap()
}

fn recorded(dir: &Path, start: &str) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(dir.join("rec")).unwrap().map(|e| e.unwrap().path()).collect();
    all.retain(|p| p.file_name().unwrap().to_string_lossy().starts_with(start));
    all
}

const TRAIN: &str = "
import time, torch
from torch.utils.data import DataLoader
class Slow:
    def __iter__(self):
        for i in range(45):
            time.sleep(0.02); yield i
opt = torch.optim.SGD()
for batch in DataLoader(Slow()): opt.step()
print('trained')
";

#[test]
fn a_training_loop_is_recorded_and_judged() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("train.py"), TRAIN).unwrap();
    let out = run(dir.path(), &["python3", "train.py", "--api-key", "s3cr3t-value"]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(String::from_utf8_lossy(&out.stdout), "trained\n", "standard output is the command's alone");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("waits for data") && said.contains("pipeline/loader-wait"), "{said}");
    assert!(!said.contains('\u{1b}'), "no colours without a terminal: {said}");

    let info = info(dir.path());
    assert_eq!(info["exit_status"], 0);
    assert_eq!(info["name"], "train");
    assert_eq!(info["command"][3], "REDACTED");
    assert!(info["ended_ms"].as_i64() >= info["started_ms"].as_i64());
    let receipt = &info["receipt"];
    for key in ["wall_ms", "cpu_ms", "peak_memory_mib", "bytes_written", "shim_us_per_step"] {
        assert!(receipt[key].as_f64().is_some_and(|v| v >= 0.0), "{key} in {receipt}");
    }
    assert_eq!(recorded(dir.path(), "steps.").len(), 1);
    assert_eq!(recorded(dir.path(), "snapshot.json").len(), 1);
    let samples = fs::read_to_string(&recorded(dir.path(), "samples.")[0]).unwrap();
    assert!(samples.lines().count() >= 3, "{samples}");
    assert!(samples.contains("\"procs\""), "{samples}");

    let json = sextant(dir.path()).args(["check", "--json", "--facts", "rec"]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(report["subject"]["run"], "train");
    assert_eq!(report["headline"]["check"], "pipeline/loader-wait");
    assert_eq!(report["step"]["source"], "live");
    assert!(report["facts"].as_array().unwrap().iter().any(|f| f["path"] == "pci_gpu_count"), "the snapshot was read");
    assert_eq!(json.status.code(), Some(2));
}

#[test]
fn status_output_and_input_pass_through() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = sextant(dir.path())
        .args(["run", "--quiet", "-o", "rec", "--", "sh", "-c", "cat; echo to-err >&2; exit 7"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"through\0binary\n").unwrap();
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(7));
    assert_eq!(out.stdout, b"through\0binary\n");
    assert_eq!(String::from_utf8_lossy(&out.stderr), "to-err\n", "--quiet adds nothing");
    assert_eq!(info(dir.path())["exit_status"], 7);
}

#[test]
fn a_signal_that_ends_the_command_ends_the_recorder_alike() {
    let dir = tempfile::tempdir().unwrap();
    let out = run(dir.path(), &["sh", "-c", "kill -KILL $$"]);
    assert_eq!(out.status.signal(), Some(9), "{:?}", out.status);
    assert_eq!(info(dir.path())["exit_status"], 137);
}

#[test]
fn a_signal_to_the_recorder_reaches_the_command_and_the_recording_is_finished() {
    let dir = tempfile::tempdir().unwrap();
    let script = "trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child = sextant(dir.path())
        .args(["run", "-o", "rec", "--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut ready = [0; 6];
    out.read_exact(&mut ready).unwrap();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "caught\n");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(info(dir.path())["exit_status"], 3);
}

#[test]
fn what_nohup_ignores_stays_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!(
        "trap '' HUP; exec {} run --quiet -o rec -- sh -c 'kill -HUP $$; echo alive'",
        env!("CARGO_BIN_EXE_sextant")
    );
    let out =
        Command::new("sh").args(["-c", &script]).current_dir(dir.path()).env_remove("SEXTANT_DIR").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "alive\n");
}

#[test]
fn commands_that_cannot_start_end_as_in_a_shell() {
    let dir = tempfile::tempdir().unwrap();
    let out = run(dir.path(), &["no-such-command-anywhere"]);
    assert_eq!(out.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&out.stderr).contains("there is no command"));
    assert!(!dir.path().join("rec").exists(), "nothing ran, nothing is left");
    fs::write(dir.path().join("plain"), "not a program").unwrap();
    let out = run(dir.path(), &["./plain"]);
    assert_eq!(out.status.code(), Some(126), "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn a_folder_that_cannot_be_written_is_said_before_anything_runs() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let line = ["run", "-o", "file/rec", "--", "touch", "ran"];
    let out = sextant(dir.path()).args(line).output().unwrap();
    assert!(!out.status.success());
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("could not be made") && said.contains("--output"), "{said}");
    assert!(!dir.path().join("ran").exists());
}

#[test]
fn a_recording_is_not_written_over() {
    let dir = tempfile::tempdir().unwrap();
    assert!(run(dir.path(), &["true"]).status.success());
    let again = run(dir.path(), &["true"]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("already holds a recording"));
}

#[test]
fn a_recorder_inside_a_recorder_only_runs_its_command() {
    let dir = tempfile::tempdir().unwrap();
    let inner = env!("CARGO_BIN_EXE_sextant");
    let out = run(dir.path(), &[inner, "run", "--quiet", "-o", "inner", "--", "echo", "once"]);
    assert_eq!(String::from_utf8_lossy(&out.stdout), "once\n");
    assert!(!dir.path().join("inner").exists());
}

#[test]
fn ranks_of_one_torchrun_share_a_folder_and_one_of_them_samples() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("train.py"), TRAIN).unwrap();
    let rank = |n: &str| {
        sextant(dir.path())
            .args(["run", "--quiet", "-o", "rec", "--", "python3", "train.py"])
            .env("TORCHELASTIC_RUN_ID", "none")
            .env("MASTER_ADDR", "10.0.0.1")
            .env("MASTER_PORT", "29500")
            .env("WORLD_SIZE", "2")
            .env("RANK", n)
            .env("LOCAL_RANK", n)
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let (mut a, mut b) = (rank("0"), rank("1"));
    assert!(a.wait().unwrap().success() && b.wait().unwrap().success());
    assert_eq!(recorded(dir.path(), "steps.").len(), 2);
    assert_eq!(recorded(dir.path(), "samples.").len(), 1);
    assert_eq!(info(dir.path())["world"], 2);
}

#[test]
fn a_python_that_ignores_its_environment_is_said_so() {
    let dir = tempfile::tempdir().unwrap();
    let out = run(dir.path(), &["python3", "-I", "-c", "print(1)"]);
    assert!(out.status.success());
    assert!(info(dir.path())["receipt"]["unreadable"].to_string().contains("No training step was seen"));
}

#[test]
fn a_server_that_is_away_does_not_change_the_status() {
    let dir = tempfile::tempdir().unwrap();
    let line = ["run", "--quiet", "-o", "rec", "--server", "http://127.0.0.1:1", "--", "sh", "-c", "exit 5"];
    let out = sextant(dir.path()).args(line).output().unwrap();
    assert_eq!(out.status.code(), Some(5));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("nothing listens") && said.contains("sextant push"), "{said}");
}

#[test]
fn much_output_is_not_held_back() {
    let dir = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let out = run(dir.path(), &["sh", "-c", "head -c 50000000 /dev/zero"]);
    assert_eq!(out.stdout.len(), 50_000_000);
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn samples_keep_their_schedule() {
    let dir = tempfile::tempdir().unwrap();
    assert!(run(dir.path(), &["sleep", "2"]).status.success());
    let text = fs::read_to_string(&recorded(dir.path(), "samples.")[0]).unwrap();
    let times: Vec<f64> = text
        .lines()
        .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap())
        .filter(|v| v["kind"] == "sample")
        .map(|v| v["t_ms"].as_f64().unwrap())
        .collect();
    let missed = info(dir.path())["receipt"]["frames_shed"].as_u64().unwrap();
    // 10 Hz over 2 s: 20 or 21 samples, less those that a busy machine missed, which are counted.
    let all = times.len() as u64 + missed;
    assert!((19..=23).contains(&all), "{} samples, {missed} missed", times.len());
}
