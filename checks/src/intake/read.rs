//! From a stream to parts: an archive is opened, a container unpacked, a paste cut at its seams, and each piece handed to
//! its parser. What nothing recognises becomes a note.
//!
//! It knows no format.

use super::decode::{Decoded, TEXT_MAX};
use super::parts::Parts;
use super::paste::{self, Section};
use super::sniff::{self, Format};
use super::{Kind, Part, archive, env, kernel};

const ASK: &str = "Not recognised. Send the output of a command, for example nvidia-smi -q, dmesg or lspci -vv.";
/// Lines of prose around what was recognised that need no note.
const PROSE: u32 = 3;

/// A text in chunks of whole lines. Small ones come whole.
pub(super) struct Text<'c> {
    /// The first chunk.
    pub(super) first: &'c str,
    more: &'c mut dyn FnMut() -> Option<String>,
}

impl Text<'_> {
    /// The next chunk, if there is one.
    pub(super) fn more(&mut self) -> Option<String> {
        (self.more)()
    }
}

/// Reads a decompressed stream.
pub(super) fn stream(decoded: &mut Decoded<'_>, parts: &mut Parts) {
    let first = parts.len();
    if let Some(s) = sniff::streamed(&decoded.head) {
        let mut part = parts.start(s.kind);
        (s.parse)(decoded, &mut part);
        parts.push("", part);
    } else if let Some(open) = archive::opener(&decoded.head) {
        open(decoded, parts);
    } else if decoded.is_text() {
        let (text, cut) = decoded.text();
        if cut {
            large(&text, decoded, parts);
        } else {
            self::text(&text, None, parts);
        }
    } else if env::looks_like_environ(&decoded.head) {
        let (text, _) = decoded.text();
        self::text(&text.replace('\0', "\n"), Some(Kind::Env), parts);
    } else {
        parts.unknown("", 0, "Binary data that nothing here can read.");
    }
    let only = parts.len() == first + 1;
    if let Some((_, part)) = parts.since(first).first_mut() {
        if only {
            part.bytes = decoded.bytes();
        }
        if let Some(e) = &decoded.error {
            part.note(None, format!("The data breaks off ({e}); what came before was read."));
        }
    }
}

/// A text that does not fit into memory: logs are read in chunks, of other formats the front is read.
fn large(text: &str, decoded: &mut Decoded<'_>, parts: &mut Parts) {
    let front = paste::unwrap(text);
    let container = sniff::container(&front);
    let log = container.is_none() && sniff::format(&front).is_some_and(|f| f.kind == Kind::Dmesg);
    if container.is_none() && !log {
        let first = parts.len();
        self::text(text, None, parts);
        if let Some((_, part)) = parts.since(first).first_mut() {
            part.note(None, format!("Only the first {} MiB were read.", TEXT_MAX >> 20));
        }
        return;
    }
    let mut more = || Some(paste::unwrap(&decoded.more()?).into_owned());
    let mut text = Text { first: &front, more: &mut more };
    match container {
        Some(c) => (c.open)(&mut text, parts),
        None => kernel::open(&mut text, parts),
    }
}

/// Reads a text: a container, one format, or several formats pasted below each other. `hint` is what a text without marks
/// of its own is said to be.
pub(super) fn text(text: &str, hint: Option<Kind>, parts: &mut Parts) {
    let text = &*paste::unwrap(text);
    if let Some(c) = sniff::container(text) {
        (c.open)(&mut Text { first: text, more: &mut || None }, parts);
        return;
    }
    let mut found: Vec<(&Format, Section<'_>)> = Vec::new();
    let mut unread = Vec::new();
    for s in paste::sections(text, sniff::starts) {
        // A section that a line of a format begins is of that format; the others need not be asked.
        let begun = s.kind.filter(|_| s.begins).and_then(sniff::format_of).filter(|f| f.fits(&s.text));
        let format = begun
            .or_else(|| sniff::format(&s.text))
            .or_else(|| s.kind.and_then(sniff::format_of))
            .or_else(|| paste::kind_of(s.command).and_then(sniff::format_of));
        match format {
            Some(f) => found.push((f, s)),
            None => unread.push(s),
        }
    }
    match found.as_mut_slice() {
        [] if text.trim().is_empty() => return parts.unknown("", 0, "There is no text in it."),
        [] => {
            let Some(f) = hint.and_then(sniff::format_of) else { return parts.unknown("", text.len() as u64, ASK) };
            found.push((f, Section::whole(text)));
        }
        // The lines of the only part are those of the text.
        [(_, only)] => only.pad(),
        _ => {}
    }
    let first = parts.len();
    let single = found.len() == 1;
    for (f, s) in &found {
        section(f, s, single, parts);
    }
    if let Some((_, part)) =
        parts.since(first).first_mut().filter(|_| unread.iter().map(Section::lines).sum::<u32>() > PROSE)
    {
        let names: Vec<String> = unread.iter().map(Section::range).collect();
        part.note(None, format!("Not recognised and left out: {}.", names.join(", ")));
    }
}

fn section(f: &Format, s: &Section<'_>, single: bool, parts: &mut Parts) {
    let mut part: Part = parts.start(f.kind);
    part.first_line = s.first_line;
    part.bytes = s.text.len() as u64;
    parts.keep(parts.len(), &s.text);
    (f.parse)(&s.text, &mut part);
    let label = match s.command {
        _ if single => String::new(),
        "" => format!("line {}", s.first_line),
        command => command.chars().take(60).collect(),
    };
    parts.push(&label, part);
}
