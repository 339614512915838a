//! A part: what one recognised piece of input yields. It does not know the other parts.

use super::Kind;
use crate::fact::{Facts, Key, Place, Trust, Value};
use crate::report::Note;

/// Facts and notes of one recognised piece of input.
#[derive(Debug)]
pub struct Part {
    /// Index of the input that this part will be.
    pub input: u32,
    /// What it was taken for.
    pub kind: Kind,
    /// Bytes after decompression.
    pub bytes: u64,
    /// First line within the file, from 1.
    pub first_line: u32,
    /// Host that it came from, where it says so.
    pub host: Option<String>,
    /// Run that it belongs to, where it says so.
    pub run: Option<String>,
    /// Epoch ms when it was taken, where it says so.
    pub taken_ms: Option<i64>,
    /// Facts.
    pub facts: Facts,
    /// Remarks.
    pub notes: Vec<Note>,
}

impl Part {
    /// An empty part.
    #[must_use]
    pub fn new(input: u32, kind: Kind) -> Self {
        Self {
            input,
            kind,
            bytes: 0,
            first_line: 1,
            host: None,
            run: None,
            taken_ms: None,
            facts: Facts::default(),
            notes: Vec::new(),
        }
    }

    /// A part that nothing recognised, with the reason.
    #[must_use]
    pub fn unknown(bytes: u64, note: impl Into<String>) -> Self {
        let mut part = Self::new(0, Kind::Unknown);
        part.bytes = bytes;
        part.note(None, note);
        part
    }

    /// Adds a remark.
    pub fn note(&mut self, line: Option<u32>, text: impl Into<String>) {
        self.notes.push(Note { line, text: text.into() });
    }

    /// Adds a fact that stands on a line. `line` counts from 1 within this part.
    pub fn put<T>(
        &mut self,
        key: &Key<T>,
        index: &[usize],
        value: impl Into<Value>,
        trust: Trust,
        line: u32,
        text: &str,
    ) {
        self.facts.put(key, index, value, trust, Place::line(self.input, line, text));
    }
}
