//! Samples and snapshots beside a running command.
//!
//! Everything here may fail without the command noticing: what cannot be written or read is said in the receipt.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use checks::intake::Kind;
use checks::recording::Receipt;
use checks::snapshot::{Raw, Snapshot};

use crate::probe::{self, Options, Root};
use crate::sample::{self, Sampler, Stats};

/// Samples reach the disk this often.
const FLUSH_EVERY: Duration = Duration::from_secs(1);
/// A second snapshot is taken this long after the start: links and clocks are at work then, which those of an idle GPU
/// are not.
const SNAPSHOT_AFTER: Duration = Duration::from_secs(10);

/// The recorder of one node.
#[derive(Debug)]
pub(crate) struct Recorder {
    stop: mpsc::Sender<()>,
    sampling: JoinHandle<(Stats, Vec<String>)>,
    snapshots: JoinHandle<Option<Snapshot>>,
    stop_snapshots: mpsc::Sender<()>,
}

impl Recorder {
    /// Starts sampling and takes a snapshot, both beside the command.
    pub(crate) fn start(root: &Root, folder: &Path, run: &str, hz: f64, pid: u32, environment: String) -> Self {
        let (stop, stopped) = mpsc::channel();
        let host = probe::host(root).unwrap_or_else(|| "node".to_owned());
        let (at, path, run) = (root.clone(), folder.join(format!("samples.{host}.jsonl")), run.to_owned());
        let sampling = thread::spawn(move || {
            let mut notes = Vec::new();
            let stats = take_samples(&at, &path, &run, hz, pid, &stopped, &mut notes);
            (stats, notes)
        });
        let (stop_snapshots, stopped) = mpsc::channel();
        let path = folder.join("snapshot.json");
        let snapshots = thread::spawn(move || snapshots(&path, &environment, &stopped));
        Self { stop, sampling, snapshots, stop_snapshots }
    }

    /// Ends sampling, brings the snapshot's kernel log up to the run's end, and says what recording has cost.
    pub(crate) fn stop(self, root: &Root, folder: &Path) -> Receipt {
        // A thread that has ended by itself has no ear any more; its result is there all the same.
        let _ = self.stop.send(());
        let _ = self.stop_snapshots.send(());
        let mut receipt = Receipt::default();
        match self.sampling.join() {
            Ok((stats, notes)) => {
                receipt.frames_shed = Some(stats.missed);
                receipt.unreadable = notes;
            }
            Err(_) => receipt.unreadable.push("The sampler broke off.".to_owned()),
        }
        match self.snapshots.join() {
            Ok(Some(snapshot)) => finish(snapshot, root, &folder.join("snapshot.json"), &mut receipt),
            _ => receipt.unreadable.push("No snapshot of the node was taken.".to_owned()),
        }
        let own = own_cost(root);
        Receipt { cpu_ms: own.0, peak_memory_mib: own.1, ..receipt }
    }
}

/// The kernel log of the run is complete only now: errors that came after the snapshot are in it.
fn finish(mut snapshot: Snapshot, root: &Root, path: &Path, receipt: &mut Receipt) {
    if let Some(log) = probe::kernel_log(root) {
        snapshot.raw.retain(|r| r.name != Kind::Dmesg.id());
        snapshot.raw.push(Raw { name: Kind::Dmesg.id().to_owned(), text: log });
    }
    if let Err(e) = write(path, &snapshot) {
        receipt.unreadable.push(format!("The snapshot could not be written: {e}."));
    }
}

/// A snapshot at the start, and one under load if the command runs that long. The last one holds.
fn snapshots(path: &Path, environment: &str, stopped: &mpsc::Receiver<()>) -> Option<Snapshot> {
    let take = || {
        let mut snapshot = probe::snapshot(Path::new("/"), Options { sample: Duration::ZERO, pid: None });
        // The command's own environment, not that of whoever else holds a GPU.
        snapshot.raw.retain(|r| r.name != Kind::Env.id());
        snapshot.raw.push(Raw { name: Kind::Env.id().to_owned(), text: environment.to_owned() });
        snapshot
    };
    let first = take();
    // What cannot be written now is tried again at the end, which says so.
    let _ = write(path, &first);
    match stopped.recv_timeout(SNAPSHOT_AFTER) {
        Err(mpsc::RecvTimeoutError::Timeout) => Some(take()),
        _ => Some(first),
    }
}

fn write(path: &Path, snapshot: &Snapshot) -> io::Result<()> {
    let partial = path.with_extension("json.partial");
    fs::write(&partial, serde_json::to_vec(snapshot)?)?;
    fs::rename(partial, path)
}

/// Samples until told to stop.
fn take_samples(
    root: &Root,
    path: &Path,
    run: &str,
    hz: f64,
    pid: u32,
    stopped: &mpsc::Receiver<()>,
    notes: &mut Vec<String>,
) -> Stats {
    let nvml = probe::open_nvml(root).unwrap_or_else(|e| {
        notes.push(format!("The GPUs were not sampled: {}.", e.text));
        None
    });
    let mut sampler = Sampler::new(root.clone(), nvml, hz);
    let mut out = match File::create(path) {
        Ok(file) => BufWriter::new(file),
        Err(e) => {
            notes.push(format!("Samples could not be written: {e}."));
            return Stats::default();
        }
    };
    let mut write = || -> io::Result<()> {
        sampler.meta(&mut out, Some(run))?;
        let mut flushed = Instant::now();
        loop {
            match stopped.recv_timeout(sampler.wait()) {
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                _ => return out.flush(),
            }
            sampler.take(&mut out, &|| sample::below(root, pid))?;
            if flushed.elapsed() >= FLUSH_EVERY {
                out.flush()?;
                flushed = Instant::now();
            }
        }
    };
    if let Err(e) = write() {
        notes.push(format!("Samples end early: {e}."));
    }
    sampler.stats()
}

/// CPU time and largest memory of this process, the command not counted in.
fn own_cost(root: &Root) -> (Option<f64>, Option<f64>) {
    let stat = root.text("/proc/self/stat").unwrap_or_default();
    let ticks = stat.rsplit(") ").next().and_then(|rest| {
        let words: Vec<&str> = rest.split_whitespace().collect();
        Some(words.get(11)?.parse::<f64>().ok()? + words.get(12)?.parse::<f64>().ok()?)
    });
    let status = root.text("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|l| l.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    // A tick is 1/100 s on every Linux that has NVIDIA drivers.
    (ticks.map(|t| t * 10.0), peak.map(|kib| (kib / 102.4).round() / 10.0))
}
