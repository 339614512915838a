//! The parts that one file gives, in order, and their indices. It does not know how a file is cut into them.

use super::decode::TEXT_MAX;
use super::{Kind, Part, read};

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
    wanted: Option<usize>,
    kept: Option<String>,
}

impl Parts {
    /// No parts yet; the first will be the input of this index.
    pub(super) fn new(base: u32) -> Self {
        Self { base, list: Vec::new(), depth: 0, wanted: None, kept: None }
    }

    /// Parts that keep the text of one of them.
    pub(super) fn keeping(wanted: usize) -> Self {
        Self { wanted: Some(wanted), ..Self::new(0) }
    }

    /// The text of the part that was wanted.
    pub(super) fn kept(self) -> Option<String> {
        self.kept
    }

    /// Keeps (more of) the text of a part if it is the one that was wanted.
    pub(super) fn keep(&mut self, nth: usize, text: &str) {
        if self.wanted == Some(nth) {
            let kept = self.kept.get_or_insert_default();
            let room = TEXT_MAX.saturating_sub(kept.len());
            kept.push_str(&text[..text.floor_char_boundary(room)]);
        }
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
        self.deeper(label, |parts| read::text(text, hint, parts));
    }

    /// Reads something that stands inside something else; false, and no part, if nothing recognised it.
    pub(super) fn nested(&mut self, label: &str, read: impl FnOnce(&mut Self)) -> bool {
        let first = self.list.len();
        self.deeper(label, read);
        let known = self.list[first..].iter().any(|(_, p)| p.kind != Kind::Unknown);
        if !known {
            self.list.truncate(first);
        }
        known
    }

    fn deeper(&mut self, label: &str, read: impl FnOnce(&mut Self)) {
        if self.depth >= DEPTH {
            self.unknown(label, 0, "Nested too deep; send it by itself.");
            return;
        }
        self.depth += 1;
        let first = self.list.len();
        read(self);
        self.depth -= 1;
        for (inner, _) in &mut self.list[first..] {
            *inner = match inner.as_str() {
                "" => label.to_owned(),
                more => format!("{label}, {more}"),
            };
        }
    }

    /// Reads a stretch of a text that has parts of its own, whose lines are counted in that text; false, and no part, if
    /// nothing recognised it.
    pub(super) fn stretch(&mut self, label: &str, text: &str, hint: Option<Kind>, first_line: u32) -> bool {
        let first = self.list.len();
        let known = self.nested(label, |parts| read::text(text, hint, parts));
        for (_, part) in &mut self.list[first..] {
            part.first_line = part.first_line.saturating_add(first_line - 1);
        }
        known
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
