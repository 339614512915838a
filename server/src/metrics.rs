//! Counters, and their text for Prometheus. It reads nothing by itself.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counters since the start.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Answers by hundreds of the status: index 0 is 1xx.
    requests: [AtomicU64; 5],
    uploads: AtomicU64,
    snapshots: AtomicU64,
    chunks: AtomicU64,
    reports: AtomicU64,
    report_us: AtomicU64,
}

/// What is read at the moment of asking.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gauges {
    /// Evaluations that wait.
    pub pending: i64,
    /// Commits of the writer.
    pub commits: u64,
    /// Writes in those commits.
    pub writes: u64,
}

impl Metrics {
    /// An answer was given.
    pub fn request(&self, status: u16) {
        if let Some(n) = self.requests.get(usize::from(status / 100).wrapping_sub(1)) {
            n.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// An upload was stored.
    pub fn upload(&self) {
        self.uploads.fetch_add(1, Ordering::Relaxed);
    }

    /// A snapshot was stored.
    pub fn snapshot(&self) {
        self.snapshots.fetch_add(1, Ordering::Relaxed);
    }

    /// A run's chunk was stored.
    pub fn chunk(&self) {
        self.chunks.fetch_add(1, Ordering::Relaxed);
    }

    /// A report was made.
    pub fn report(&self, took: Duration) {
        self.reports.fetch_add(1, Ordering::Relaxed);
        self.report_us.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// The text that Prometheus reads.
    #[must_use]
    pub fn text(&self, now: Gauges) -> String {
        let mut out = String::new();
        let mut family = |name: &str, kind: &str, help: &str, samples: &[(String, String)]| {
            // Writing to a string does not fail.
            let _ = write!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
            for (labels, value) in samples {
                let _ = writeln!(out, "{name}{labels} {value}");
            }
        };
        let get = |n: &AtomicU64| n.load(Ordering::Relaxed);
        let one = |v: String| [(String::new(), v)];
        let requests: Vec<(String, String)> = (1..)
            .zip(&self.requests)
            .map(|(class, n)| (format!("{{status=\"{class}xx\"}}"), get(n).to_string()))
            .collect();
        family("sextant_http_requests_total", "counter", "Answers by class of status.", &requests);
        for (name, help, n) in [
            ("sextant_uploads_total", "Uploads stored.", &self.uploads),
            ("sextant_snapshots_total", "Snapshots stored.", &self.snapshots),
            ("sextant_run_chunks_total", "Chunks of runs stored.", &self.chunks),
            ("sextant_reports_total", "Reports made.", &self.reports),
        ] {
            family(name, "counter", help, &one(get(n).to_string()));
        }
        let seconds = Duration::from_micros(get(&self.report_us)).as_secs_f64();
        family("sextant_report_seconds_total", "counter", "Time spent on making reports.", &one(seconds.to_string()));
        family("sextant_reports_pending", "gauge", "Reports that wait.", &one(now.pending.to_string()));
        family("sextant_store_commits_total", "counter", "Commits.", &one(now.commits.to_string()));
        family("sextant_store_writes_total", "counter", "Writes in those commits.", &one(now.writes.to_string()));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_counted_and_written_down() {
        let m = Metrics::default();
        m.request(200);
        m.request(204);
        m.request(404);
        m.request(999);
        m.report(Duration::from_millis(1500));
        let text = m.text(Gauges { pending: 3, commits: 2, writes: 9 });
        for line in [
            "sextant_http_requests_total{status=\"2xx\"} 2",
            "sextant_http_requests_total{status=\"4xx\"} 1",
            "sextant_report_seconds_total 1.5",
            "sextant_reports_pending 3",
            "# TYPE sextant_store_writes_total counter",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
    }
}
