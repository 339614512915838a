//! What one probe brings home, and the time limit under which it runs.
//!
//! It does not know what is probed.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use checks::fact::{Key, Value};
use checks::snapshot::{LiveFact, Raw};

/// Values, texts and remarks of one probe.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// Values that have no text form.
    pub facts: Vec<LiveFact>,
    /// Texts as the node gave them.
    pub raw: Vec<Raw>,
    /// What could not be read, and why.
    pub unreadable: Vec<String>,
}

impl Reading {
    /// Adds a value that was read at `source`.
    pub(crate) fn put<T>(&mut self, key: &Key<T>, index: &[usize], value: impl Into<Value>, source: &str) {
        self.facts.push(LiveFact::new(key, index, value, source));
    }

    /// Adds a value if it is there; absent stays absent.
    pub(crate) fn maybe<T>(&mut self, key: &Key<T>, index: &[usize], value: Option<impl Into<Value>>, source: &str) {
        if let Some(value) = value {
            self.put(key, index, value, source);
        }
    }

    /// Adds a text of a kind, if it says anything.
    pub(crate) fn text(&mut self, kind: checks::intake::Kind, text: String) {
        if !text.trim().is_empty() {
            self.raw.push(Raw { name: kind.id().to_owned(), text });
        }
    }

    /// Takes over what another probe brought.
    pub(crate) fn extend(&mut self, other: Self) {
        self.facts.extend(other.facts);
        self.raw.extend(other.raw);
        self.unreadable.extend(other.unreadable);
    }
}

/// A probe that runs beside the others.
#[derive(Debug)]
pub(crate) struct Running<T> {
    name: &'static str,
    started: Instant,
    limit: Duration,
    answer: mpsc::Receiver<T>,
}

/// Starts a probe in a thread of its own. A driver that hangs keeps that thread, never the program: a call into a
/// broken driver cannot be ended from outside, only left behind.
pub(crate) fn start<T: Send + 'static>(
    name: &'static str,
    limit: Duration,
    probe: impl FnOnce() -> T + Send + 'static,
) -> Running<T> {
    let (send, answer) = mpsc::channel();
    thread::spawn(move || {
        // Nobody listens any more when the limit has passed; the late answer is of no use then.
        let _ = send.send(probe());
    });
    Running { name, started: Instant::now(), limit, answer }
}

impl<T> Running<T> {
    /// The answer, or why there is none: it took longer than its limit, or it broke.
    pub(crate) fn finish(self) -> Result<T, String> {
        let left = self.limit.saturating_sub(self.started.elapsed());
        self.answer.recv_timeout(left).map_err(|e| match e {
            mpsc::RecvTimeoutError::Timeout => {
                format!("{} gave no answer within {:.1} s and was left out.", self.name, self.limit.as_secs_f64())
            }
            mpsc::RecvTimeoutError::Disconnected => format!("{} broke off and was left out.", self.name),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_that_hangs_is_left_behind() {
        let started = Instant::now();
        let slow = start("The slow probe", Duration::from_millis(30), || thread::sleep(Duration::from_secs(5)));
        let why = slow.finish().expect_err("it sleeps longer than its limit");
        assert_eq!(why, "The slow probe gave no answer within 0.0 s and was left out.");
        assert!(started.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn a_probe_that_breaks_is_named() {
        let broken = start("The broken probe", Duration::from_secs(5), || -> u32 { panic!("as a test asks for") });
        assert_eq!(broken.finish(), Err("The broken probe broke off and was left out.".to_owned()));
    }
}
