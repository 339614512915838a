//! Recognises what an input is and hands it to its parser. One line a format: [`FORMATS`].
//!
//! It knows the marks of each format, not its meaning.

use super::decode::Decoded;
use super::{Kind, Part, jsonl};

/// A text format: how it is recognised in a head of at most 64 KiB, and how it is read.
struct Format {
    kind: Kind,
    looks: fn(&str) -> bool,
    parse: fn(&str, &mut Part),
}

/// Text formats in the order in which they are tried: those with unmistakable marks first.
const FORMATS: &[Format] = &[
    Format { kind: Kind::StepTimings, looks: jsonl::looks_like_steps, parse: jsonl::steps },
    Format { kind: Kind::Samples, looks: jsonl::looks_like_samples, parse: jsonl::samples },
];

/// Reads a decompressed stream into parts, each with a label that tells it from its siblings ("" for the only one).
pub(super) fn read(_name: &str, input: u32, decoded: &mut Decoded<'_>) -> Vec<(String, Part)> {
    if !decoded.is_text() {
        let mut part = Part::unknown(decoded.bytes(), "Binary data that nothing here can read.");
        broken(&mut part, decoded);
        return vec![(String::new(), part)];
    }
    let (text, cut) = decoded.text();
    let head = head(&text);
    let mut part = match FORMATS.iter().find(|f| (f.looks)(head)) {
        Some(f) => {
            let mut part = Part::new(input, f.kind);
            (f.parse)(&text, &mut part);
            part
        }
        None if text.trim().is_empty() => Part::unknown(0, "There is no text in it."),
        None => Part::unknown(
            0,
            "Not recognised. Send the output of a command, for example nvidia-smi -q, dmesg or lspci -vv.",
        ),
    };
    part.bytes = decoded.bytes();
    if cut {
        part.note(None, format!("Only the first {} MiB were read.", super::decode::TEXT_MAX >> 20));
    }
    broken(&mut part, decoded);
    vec![(String::new(), part)]
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
