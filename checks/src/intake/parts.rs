//! The parts that one file gives, in order, and their indices. It does not know how a file is cut into them.

use super::{Kind, Part, sniff};

/// Texts inside texts that are opened: a bug report in a snapshot in an archive is three.
const DEPTH: u32 = 4;
/// Most parts of one file; what comes after is left out with a note.
const PARTS_MAX: usize = 4096;

/// Parts of one file, each with a label that tells it from its siblings ("" for the only one).
#[derive(Debug)]
pub(super) struct Parts {
    base: u32,
    list: Vec<(String, Part)>,
    depth: u32,
    /// The part whose text is asked for, and that text.
    wanted: Option<u32>,
    text: Option<String>,
}

impl Parts {
    /// No parts yet; the first will be the input of this index.
    pub(super) fn new(base: u32) -> Self {
        Self { base, list: Vec::new(), depth: 0, wanted: None, text: None }
    }

    /// No parts yet, counted from 0; the text of this one is kept.
    pub(super) fn wanting(part: u32) -> Self {
        Self { wanted: Some(part), ..Self::new(0) }
    }

    /// Offers the text that the lines of a part count in.
    pub(super) fn keep(&mut self, part: &Part, text: &str) {
        if self.wanted == Some(part.input) {
            self.text = Some(text.to_owned());
        }
    }

    /// The text that was asked for, if that part is text.
    pub(super) fn into_text(self) -> Option<String> {
        self.text
    }

    /// An empty part with the index that the next push gives it.
    pub(super) fn start(&self, kind: Kind) -> Part {
        Part::new(self.base.saturating_add(u32::try_from(self.list.len()).unwrap_or(u32::MAX)), kind)
    }

    /// A part that nothing recognised, with the reason.
    pub(super) fn unknown(&mut self, label: &str, bytes: u64, note: &str) {
        let mut part = self.start(Kind::Unknown);
        part.bytes = bytes;
        part.note(None, note);
        self.push(label, part);
    }

    /// Adds the part that was started last.
    pub(super) fn push(&mut self, label: &str, part: Part) {
        if self.list.len() < PARTS_MAX {
            self.list.push((label.to_owned(), part));
            return;
        }
        let text = format!("There are more than {PARTS_MAX} parts; the others were left out.");
        if let Some((_, last)) = self.list.last_mut()
            && last.notes.last().is_none_or(|n| n.text != text)
        {
            last.note(None, text);
        }
    }

    /// Reads a text that stands inside another one. `hint` is what it claims to be, for texts without marks of their own.
    pub(super) fn text(&mut self, label: &str, text: &str, hint: Option<Kind>) {
        if self.depth >= DEPTH {
            self.unknown(label, text.len() as u64, "Nested too deep; send it by itself.");
            return;
        }
        self.depth += 1;
        let first = self.list.len();
        sniff::read_text(text, hint, self);
        self.depth -= 1;
        let only = self.list.len() == first + 1;
        for (inner, _) in &mut self.list[first..] {
            *inner = match inner.as_str() {
                "" => label.to_owned(),
                _ if only => label.to_owned(),
                more => format!("{label}, {more}"),
            };
        }
    }

    /// Reads a stretch of a text that has parts of its own; what nothing recognises gives no part. Its lines are counted
    /// in that text.
    pub(super) fn inner(&mut self, label: &str, text: &str, hint: Option<Kind>, first_line: u32) {
        let first = self.list.len();
        self.text(label, text, hint);
        let kept: Vec<_> = self.list.drain(first..).filter(|(_, p)| p.kind != Kind::Unknown).collect();
        for (label, mut part) in kept {
            part.first_line += first_line - 1;
            self.list.push((label, part));
        }
    }

    /// Parts so far.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Parts from an index of [`Self::len`] on.
    pub(super) fn since(&mut self, first: usize) -> &mut [(String, Part)] {
        &mut self.list[first..]
    }

    /// All parts.
    pub(super) fn into_list(self) -> Vec<(String, Part)> {
        self.list
    }
}
