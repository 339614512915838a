//! Recognises what an input is and hands it to its parser: one line a format, in [`FORMATS`] (text)
//! or [`STREAMED`].
//!
//! It knows the marks of each format, not its meaning.

use super::decode::Decoded;
use super::{Kind, Part, jsonl, smi};

/// A text format: how it is recognised, and how it is read.
struct Format {
    kind: Kind,
    /// A line with which a document of this format begins; a paste of several outputs is split there. `never` if no
    /// line is unmistakable. It gets the line without
    /// white space around it. It must not hold inside documents of other formats.
    starts: fn(&str) -> bool,
    /// Recognises the format in a head of at most 64 KiB.
    looks: fn(&str) -> bool,
    /// Reads the whole text, lines counted from 1.
    parse: fn(&str, &mut Part),
}

/// Text formats in the order in which they are tried: those with unmistakable marks first.
#[rustfmt::skip]
const FORMATS: &[Format] = &[
    Format { kind: Kind::StepTimings, starts: never, looks: jsonl::looks_like_steps, parse: jsonl::steps },
    Format { kind: Kind::Samples, starts: never, looks: jsonl::looks_like_samples, parse: jsonl::samples },
    Format { kind: Kind::SmiXml, starts: smi::starts_xml, looks: smi::looks_like_xml, parse: smi::xml },
    Format { kind: Kind::SmiQ, starts: smi::starts_q, looks: smi::looks_like_q, parse: smi::q },
];

/// A format that is read from the stream because it can be larger than memory, or is not text.
struct Streamed {
    kind: Kind,
    /// Recognises the format in the first bytes, at most 64 KiB.
    looks: fn(&[u8]) -> bool,
    /// Reads [`Decoded::stream`] from its start.
    parse: fn(&mut Decoded<'_>, &mut Part),
}

/// Streamed formats, tried before the text formats.
#[rustfmt::skip]
const STREAMED: &[Streamed] = &[
];

/// Reads a decompressed stream into parts, each with a label that tells it from its siblings ("" for the only one).
pub(super) fn read(_name: &str, input: u32, decoded: &mut Decoded<'_>) -> Vec<(String, Part)> {
    if let Some(s) = STREAMED.iter().find(|s| (s.looks)(&decoded.head)) {
        let mut part = Part::new(input, s.kind);
        (s.parse)(decoded, &mut part);
        part.bytes = decoded.bytes();
        broken(&mut part, decoded);
        return vec![(String::new(), part)];
    }
    if !decoded.is_text() {
        let mut part = Part::unknown(decoded.bytes(), "Binary data that nothing here can read.");
        broken(&mut part, decoded);
        return vec![(String::new(), part)];
    }
    let (text, cut) = decoded.text();
    let mut parts = read_text(&text, input);
    let whole = parts.len() == 1;
    if let Some((_, part)) = parts.last_mut() {
        if whole {
            part.bytes = decoded.bytes();
        }
        if cut {
            part.note(None, format!("Only the first {} MiB were read.", super::decode::TEXT_MAX >> 20));
        }
        broken(part, decoded);
    }
    parts
}

/// Reads a text: one format, or several pasted below each other.
fn read_text(text: &str, input: u32) -> Vec<(String, Part)> {
    let mut parts: Vec<(String, Part)> = Vec::new();
    for (first_line, text) in sections(text) {
        let Some(f) = recognise(text) else { continue };
        let mut part = Part::new(input.saturating_add(u32::try_from(parts.len()).unwrap_or(u32::MAX)), f.kind);
        part.first_line = first_line;
        part.bytes = text.len() as u64;
        (f.parse)(text, &mut part);
        parts.push((format!("line {first_line}"), part));
    }
    match parts.as_mut_slice() {
        [] if text.trim().is_empty() => vec![(String::new(), Part::unknown(0, "There is no text in it."))],
        [] => {
            let ask = "Not recognised. Send the output of a command, for example nvidia-smi -q, dmesg or lspci -vv.";
            vec![(String::new(), Part::unknown(0, ask))]
        }
        [(label, _)] => {
            label.clear();
            parts
        }
        _ => parts,
    }
}

fn recognise(text: &str) -> Option<&'static Format> {
    let head = head(text);
    FORMATS.iter().find(|f| (f.looks)(head))
}

/// Cuts a text where a line starts a document of another format; each section with its first line, from 1.
fn sections(text: &str) -> Vec<(u32, &str)> {
    let mut cuts: Vec<(u32, usize)> = vec![(1, 0)];
    let mut current: Option<Kind> = None;
    let mut at = 0;
    for (n, line) in (1u32..).zip(text.split_inclusive('\n')) {
        let starts = FORMATS.iter().find(|f| (f.starts)(line.trim())).map(|f| f.kind);
        if starts.is_some() && starts != current {
            if at > 0 {
                cuts.push((n, at));
            }
            current = starts;
        }
        at += line.len();
    }
    let ends = cuts.iter().skip(1).map(|c| c.1).chain([text.len()]).collect::<Vec<_>>();
    cuts.into_iter().zip(ends).map(|((n, from), to)| (n, &text[from..to])).collect()
}

fn never(_: &str) -> bool {
    false
}

fn broken(part: &mut Part, decoded: &Decoded<'_>) {
    if let Some(e) = &decoded.error {
        part.note(None, format!("The data breaks off ({e}); what came before was read."));
    }
}

/// The first 64 KiB, cut at a character.
fn head(text: &str) -> &str {
    let mut end = text.len().min(super::decode::HEAD);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
