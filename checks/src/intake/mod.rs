//! Intake: bytes of any kind → facts and notes. It never fails on bad data: what cannot be read becomes a note, and an
//! input that nothing recognises is of kind `unknown`.
//!
//! It reads from [`std::io::Read`], never from a path, and it does not judge. Memory is bounded: text is kept up to
//! [`decode::TEXT_MAX`]; formats that can be larger are read as a stream.

mod archive;
mod bug_report;
mod collect_env;
pub mod decode;
mod display;
mod driver_files;
mod env;
mod fabric;
mod iostat;
mod join;
mod jsonl;
mod kernel;
mod kind;
pub mod kineto;
mod lspci;
mod nccl;
mod ncu;
mod nsys;
mod part;
mod parts;
mod paste;
mod pci;
mod read;
mod recording;
mod smi;
mod snapshot;
mod sniff;
mod train_log;

use std::io::Read;

pub use env::wanted as wanted_variable;
pub use kind::Kind;
pub use part::Part;

use parts::Parts;

use crate::evaluate::evaluate;
use crate::fact::Facts;
use crate::report::{Input, Note, Report, ReportDoc, SubjectId};
use crate::settings::Settings;

/// Everything that is known about one host or run.
#[derive(Debug, Default)]
pub struct Subject {
    /// Node, run, time.
    pub id: SubjectId,
    /// Its facts.
    pub facts: Facts,
}

/// The text of one of the parts that a file gives, by its place among them: what its lines are counted in. `None` if it has
/// no text, or the file no such part.
#[must_use]
pub fn part_text(file: impl Read, nth: usize) -> Option<String> {
    let mut decoded = decode::open(file).ok()?;
    let mut parts = Parts::keeping(nth);
    read::stream(&mut decoded, &mut parts);
    parts.kept()
}

/// What the reader of a kind makes of a text, whether it looks like that kind or not; nothing for a kind that is no text of
/// its own. Fuzzing uses it: it goes past the marks.
#[must_use]
pub fn read_as(kind: Kind, text: &str) -> Part {
    let mut part = Part::new(0, kind);
    if let Some(format) = sniff::format_of(kind) {
        (format.parse)(text, &mut part);
    }
    part
}

/// Collects inputs and joins them into subjects.
#[derive(Debug, Default)]
pub struct Intake {
    inputs: Vec<Input>,
    parts: Vec<Part>,
    files: u32,
}

impl Intake {
    /// An intake without inputs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one file, paste or archive. `name` is for people and is never opened.
    pub fn add(&mut self, name: &str, read: impl Read) {
        let file = self.files;
        self.files += 1;
        let mut decoded = match decode::open(read) {
            Ok(d) => d,
            Err(note) => {
                self.push(file, name, Part::unknown(0, note));
                return;
            }
        };
        let mut parts = Parts::new(self.next());
        read::stream(&mut decoded, &mut parts);
        for (label, part) in parts.into_list() {
            let name = if label.is_empty() { name.to_owned() } else { format!("{name} → {label}") };
            self.push(file, &name, part);
        }
    }

    /// Adds facts that were not read from a file: live readings of the collector.
    pub fn add_part(&mut self, name: &str, part: Part) {
        let file = self.files;
        self.files += 1;
        self.push(file, name, part);
    }

    /// Index that the next input will have; a [`Part`] is made with it so that its facts know their input.
    #[must_use]
    pub fn next(&self) -> u32 {
        u32::try_from(self.inputs.len()).unwrap_or(u32::MAX)
    }

    /// What was read so far.
    #[must_use]
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// True if no input was recognised.
    #[must_use]
    pub fn nothing_read(&self) -> bool {
        self.inputs.iter().all(|i| i.kind == Kind::Unknown.id())
    }

    fn push(&mut self, file: u32, name: &str, mut part: Part) {
        self.inputs.push(Input {
            name: name.to_owned(),
            kind: part.kind.id().to_owned(),
            bytes: part.bytes,
            notes: std::mem::take(&mut part.notes),
            first_line: part.first_line,
            file,
        });
        self.parts.push(part);
    }

    /// Joins the inputs: one subject a host, the series of a run that goes over several hosts under one of their own;
    /// inputs that name neither go to the only subject there is, or to an anonymous one.
    #[must_use]
    pub fn finish(self) -> (Vec<Input>, Vec<Subject>) {
        (self.inputs, join::join(self.parts))
    }

    /// The report over everything that was read: one, or one per host.
    #[must_use]
    pub fn report(self, settings: &Settings) -> ReportDoc {
        let (inputs, subjects) = self.finish();
        let mut reports: Vec<Report> = subjects
            .into_iter()
            .map(|s| Report { subject: s.id, inputs: inputs.clone(), ..evaluate(&s.facts, settings) })
            .collect();
        if reports.len() == 1 {
            return ReportDoc::One(Box::new(reports.remove(0)));
        }
        let text = format!("The inputs are of {} hosts or runs; each has its own report.", reports.len());
        ReportDoc::Many { schema: crate::report::SCHEMA, subjects: reports, notes: vec![Note { line: None, text }] }
    }
}
