//! Samples v1: GPUs, CPUs and the run's processes at a fixed rate, as JSON lines.
//!
//! The schedule does not drift: sample n is due at start + n × period. One that is missed is counted, not made up for.
//! It does not judge.

mod system;
mod tree;

use std::io::{self, Write};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use checks::record::{ProcSample, Sample, SampledGpu};
use serde::Serialize;

use crate::nvml::Nvml;
use crate::probe::Root;

pub(crate) use tree::below;

/// Slow-moving counters (disks, network, processes) are read this often.
const SLOW_EVERY: Duration = Duration::from_secs(1);

/// Samples one node into a writer.
pub(crate) struct Sampler {
    root: Root,
    nvml: Option<Box<dyn Nvml>>,
    started: Instant,
    period: Duration,
    /// Number of the sample that is due next.
    due: u32,
    slow_at: Option<Instant>,
    stats: Stats,
}

/// What sampling has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stats {
    /// Samples written.
    pub samples: u64,
    /// Samples that were due while an earlier one still ran.
    pub missed: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Largest delay of a sample behind its schedule.
    pub worst_delay: Duration,
}

/// The first line of a sample file.
#[derive(Serialize)]
struct Meta<'a> {
    v: u32,
    kind: &'static str,
    host: Option<&'a str>,
    cpus: Option<usize>,
    hz: f64,
    gpus: Vec<SampledGpu>,
    wall_ns: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a str>,
}

/// A sample with the head that every line of ours has.
#[derive(Serialize)]
struct Line<'a> {
    v: u32,
    kind: &'static str,
    #[serde(flatten)]
    sample: &'a Sample,
}

impl Sampler {
    /// A sampler at `hz` samples a second, which starts its clock now.
    pub(crate) fn new(root: Root, nvml: Option<Box<dyn Nvml>>, hz: f64) -> Self {
        Self {
            root,
            nvml,
            started: Instant::now(),
            period: Duration::from_secs_f64(1.0 / hz),
            due: 0,
            slow_at: None,
            stats: Stats::default(),
        }
    }

    /// Writes the meta line.
    ///
    /// # Errors
    /// The writer's.
    pub(crate) fn meta(&mut self, out: &mut dyn Write, run: Option<&str>) -> io::Result<()> {
        let host = crate::probe::host(&self.root);
        let meta = Meta {
            v: 1,
            kind: "meta",
            host: host.as_deref(),
            cpus: system::cpus(&self.root),
            hz: 1.0 / self.period.as_secs_f64(),
            gpus: self.nvml.as_ref().map(|n| n.sampled()).unwrap_or_default(),
            wall_ns: epoch().as_nanos(),
            run,
        };
        self.write(out, &meta)
    }

    /// When the next sample is due, counted from now.
    pub(crate) fn wait(&self) -> Duration {
        (self.started + self.period * self.due).saturating_duration_since(Instant::now())
    }

    /// Takes the sample that is due and writes it. `pids` are the run's processes, asked for when they are read.
    ///
    /// # Errors
    /// The writer's.
    pub(crate) fn take(&mut self, out: &mut dyn Write, procs: &dyn Fn() -> Vec<ProcSample>) -> io::Result<Sample> {
        let now = Instant::now();
        let delay = now.saturating_duration_since(self.started + self.period * self.due);
        self.stats.worst_delay = self.stats.worst_delay.max(delay);
        let slow = self.slow_at.is_none_or(|at| now >= at);
        if slow {
            self.slow_at = Some(now + SLOW_EVERY);
        }
        let mut sample = Sample {
            t_ms: epoch().as_millis() as f64,
            gpu: self.nvml.as_mut().map(|n| n.sample()).unwrap_or_default(),
            cpu_ticks: system::cpu_ticks(&self.root),
            ..Sample::default()
        };
        if slow {
            sample.psi = system::psi(&self.root);
            sample.disks = system::disks(&self.root);
            sample.net = system::net(&self.root);
            sample.cgroup = system::cgroup(&self.root);
            sample.mem_available_mib = system::mem_available_mib(&self.root);
            sample.procs = procs();
        }
        self.write(out, &Line { v: 1, kind: "sample", sample: &sample })?;
        self.stats.samples += 1;
        self.schedule();
        Ok(sample)
    }

    /// What sampling has done so far.
    pub(crate) fn stats(&self) -> Stats {
        self.stats
    }

    /// Gives the GPUs back to whoever wants to read more of them.
    pub(crate) fn into_nvml(self) -> Option<Box<dyn Nvml>> {
        self.nvml
    }

    /// The next sample due in the future; those passed meanwhile are missed.
    fn schedule(&mut self) {
        self.due += 1;
        let behind = self.started.elapsed().as_secs_f64() / self.period.as_secs_f64();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "elapsed time is positive and short"
        )]
        let passed = behind as u32;
        if passed > self.due {
            self.stats.missed += u64::from(passed - self.due);
            self.due = passed;
        }
    }

    fn write(&mut self, out: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        out.write_all(&bytes)?;
        self.stats.bytes += bytes.len() as u64;
        Ok(())
    }
}

/// Time since the epoch.
pub(crate) fn epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
