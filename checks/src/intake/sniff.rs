//! Recognises what an input is and hands it to its parser: one line a format, in [`FORMATS`] (text)
//! or [`STREAMED`].
//!
//! It knows the marks of each format, not its meaning.

use super::decode::Decoded;
use super::parts::Parts;
use super::paste::{self, Section};
use super::{Kind, Part};
use super::{bug_report, collect_env, display, driver_files, env, fabric, kernel, lspci, snapshot};
use super::{jsonl, recording, smi};

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
    Format { kind: Kind::Recording, starts: never, looks: recording::looks, parse: recording::run },
    Format { kind: Kind::Samples, starts: never, looks: jsonl::looks_like_samples, parse: jsonl::samples },
    Format { kind: Kind::SmiXml, starts: smi::starts_xml, looks: smi::looks_like_xml, parse: smi::xml },
    Format { kind: Kind::SmiQ, starts: smi::starts_q, looks: smi::looks_like_q, parse: smi::q },
    Format { kind: Kind::CollectEnv, starts: collect_env::starts, looks: collect_env::looks, parse: collect_env::parse },
    Format { kind: Kind::Xorg, starts: never, looks: display::looks_like_xorg, parse: display::xorg },
    Format { kind: Kind::Glxinfo, starts: display::starts_glxinfo, looks: display::looks_like_glxinfo, parse: display::glxinfo },
    Format { kind: Kind::FabricManager, starts: fabric::starts, looks: fabric::looks, parse: fabric::parse },
    Format { kind: Kind::ProcDriverNvidia, starts: driver_files::starts, looks: driver_files::looks, parse: driver_files::parse },
    Format { kind: Kind::ProcModules, starts: driver_files::modules_start, looks: driver_files::looks_like_modules, parse: driver_files::modules },
    Format { kind: Kind::Lspci, starts: lspci::starts, looks: lspci::looks, parse: lspci::parse },
    Format { kind: Kind::Dmesg, starts: kernel::starts, looks: kernel::looks, parse: kernel::parse },
    Format { kind: Kind::DcgmiDiag, starts: never, looks: smi::looks_like_diag, parse: smi::diag },
    Format { kind: Kind::SmiTopo, starts: smi::starts_topo, looks: smi::looks_like_topo, parse: smi::topo },
    Format { kind: Kind::SmiDmon, starts: smi::starts_dmon, looks: smi::looks_like_dmon, parse: smi::dmon },
    Format { kind: Kind::SmiPmon, starts: smi::starts_pmon, looks: smi::looks_like_pmon, parse: smi::pmon },
    Format { kind: Kind::DcgmiDmon, starts: smi::starts_dcgmi_dmon, looks: smi::looks_like_dcgmi_dmon, parse: smi::dcgmi_dmon },
    Format { kind: Kind::SmiCsv, starts: smi::starts_csv, looks: smi::looks_like_csv, parse: smi::csv },
    Format { kind: Kind::SmiNvlink, starts: smi::starts_nvlink, looks: smi::looks_like_nvlink, parse: smi::nvlink },
    Format { kind: Kind::SmiTable, starts: smi::starts_table, looks: smi::looks_like_table, parse: smi::table },
    Format { kind: Kind::Env, starts: never, looks: env::looks, parse: env::parse },
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
    Streamed { kind: Kind::Kineto, looks: super::kineto::looks, parse: super::kineto::parse },
];

/// A text that holds other texts.
struct Container {
    /// Recognises it in a head of at most 64 KiB.
    looks: fn(&str) -> bool,
    /// Pushes a part for the container itself, then those of what it holds.
    open: fn(&str, &mut Parts),
}

/// Containers, tried before the text formats.
#[rustfmt::skip]
const CONTAINERS: &[Container] = &[
    Container { looks: snapshot::looks, open: snapshot::open },
    Container { looks: bug_report::looks, open: bug_report::open },
];

const ASK: &str = "Not recognised. Send the output of a command, for example nvidia-smi -q, dmesg or lspci -vv.";

/// Reads a decompressed stream into parts, each with a label that tells it from its siblings ("" for the only one).
pub(super) fn read(_name: &str, input: u32, decoded: &mut Decoded<'_>) -> Vec<(String, Part)> {
    let mut parts = Parts::new(input);
    read_into(&mut parts, decoded);
    parts.into_list()
}

/// The text of one part of a stream, parts counted from 0; `None` if there is no such part or it is not text.
pub(super) fn text_of(part: u32, decoded: &mut Decoded<'_>) -> Option<String> {
    let mut parts = Parts::wanting(part);
    read_into(&mut parts, decoded);
    parts.into_text()
}

fn read_into(parts: &mut Parts, decoded: &mut Decoded<'_>) {
    if let Some(s) = STREAMED.iter().find(|s| (s.looks)(&decoded.head)) {
        let mut part = parts.start(s.kind);
        (s.parse)(decoded, &mut part);
        parts.push("", part);
    } else if decoded.is_text() {
        let (text, cut) = decoded.text();
        read_text(&text, None, parts);
        if cut && let Some((_, part)) = parts.since(0).first_mut() {
            part.note(None, format!("Only the first {} MiB were read.", super::decode::TEXT_MAX >> 20));
        }
    } else if env::looks_like_environ(&decoded.head) {
        let (text, _) = decoded.text();
        read_text(&text.replace('\0', "\n"), Some(Kind::Env), parts);
    } else {
        parts.unknown("", 0, "Binary data that nothing here can read.");
    }
    let only = parts.len() == 1;
    if let Some((_, part)) = parts.since(0).first_mut() {
        if only {
            part.bytes = decoded.bytes();
        }
        broken(part, decoded);
    }
}

/// Reads a text: a container, one format, or several formats pasted below each other. `hint` is what a text without marks
/// of its own is said to be.
pub(super) fn read_text(text: &str, hint: Option<Kind>, parts: &mut Parts) {
    let text = &*paste::unwrap(text);
    if let Some(c) = CONTAINERS.iter().find(|c| (c.looks)(head(text))) {
        (c.open)(text, parts);
        return;
    }
    let first = parts.len();
    let mut unread = Vec::new();
    for s in paste::sections(text, starts) {
        let by_mark = |k: Kind| FORMATS.iter().find(|f| f.kind == k);
        let format = recognise(&s.text)
            .or_else(|| s.kind.and_then(by_mark))
            .or_else(|| paste::kind_of(s.command).and_then(by_mark));
        match format {
            Some(f) => read_as(f, &s, parts),
            None => unread.push(lines_of(&s)),
        }
    }
    if parts.len() == first {
        return match hint.and_then(|k| FORMATS.iter().find(|f| f.kind == k)) {
            _ if text.trim().is_empty() => parts.unknown("", 0, "There is no text in it."),
            Some(f) => {
                read_as(f, &Section { first_line: 1, command: "", kind: None, text: text.into() }, parts);
                parts.since(first).iter_mut().for_each(|(label, _)| label.clear());
            }
            None => {
                let next = parts.start(Kind::Unknown);
                parts.keep(&next, text);
                parts.unknown("", text.len() as u64, ASK);
            }
        };
    }
    let read = parts.since(first);
    if let [(label, _)] = read {
        label.clear();
    }
    if let Some((_, part)) = read.first_mut().filter(|_| !unread.is_empty()) {
        part.note(None, format!("Not recognised and left out: {}.", unread.join(", ")));
    }
}

/// The kind that a line begins, if it is another one than that of the document it stands in.
fn starts(line: &str, current: Option<Kind>) -> Option<Kind> {
    FORMATS.iter().find(|f| Some(f.kind) != current && (f.starts)(line)).map(|f| f.kind)
}

fn read_as(f: &Format, section: &Section<'_>, parts: &mut Parts) {
    let mut part = parts.start(f.kind);
    part.first_line = section.first_line;
    part.bytes = section.text.len() as u64;
    parts.keep(&part, &section.text);
    (f.parse)(&section.text, &mut part);
    match section.command {
        "" => parts.push(&format!("line {}", section.first_line), part),
        command => parts.push(&command.chars().take(60).collect::<String>(), part),
    }
}

/// "line 3" or "lines 3-9", for a note.
fn lines_of(s: &Section<'_>) -> String {
    let count = u32::try_from(s.text.trim_end().lines().count()).unwrap_or(u32::MAX);
    match count {
        0 | 1 => format!("line {}", s.first_line),
        n => format!("lines {}-{}", s.first_line, s.first_line.saturating_add(n - 1)),
    }
}

fn recognise(text: &str) -> Option<&'static Format> {
    let head = head(text);
    FORMATS.iter().find(|f| (f.looks)(head))
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
