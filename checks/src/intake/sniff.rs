//! Recognises what an input is: one line a format, in [`FORMATS`] (text), [`STREAMED`] or [`CONTAINERS`].
//!
//! It knows the marks of each format, not its meaning, nor how a file is cut into parts.

use super::decode::{Decoded, HEAD};
use super::parts::Parts;
use super::read::Text;
use super::{Kind, Part};
use super::{bug_report, collect_env, display, driver_files, env, fabric, kernel, lspci, snapshot};
use super::{jsonl, recording, smi};

/// A text format: how it is recognised, and how it is read.
pub(super) struct Format {
    pub(super) kind: Kind,
    /// A line with which a document of this format begins; a paste of several outputs is split there. `never` if no
    /// line is unmistakable. It gets the line without white space around it. It must not hold inside documents of other
    /// formats.
    starts: fn(&str) -> bool,
    /// Recognises the format in a head of at most 64 KiB.
    looks: fn(&str) -> bool,
    /// Reads the whole text, lines counted from 1.
    pub(super) parse: fn(&str, &mut Part),
}

impl Format {
    /// True if a text looks like it.
    pub(super) fn fits(&self, text: &str) -> bool {
        (self.looks)(head(text))
    }
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
    Format { kind: Kind::Ncu, starts: super::ncu::starts, looks: super::ncu::looks, parse: super::ncu::parse },
    Format { kind: Kind::Nsys, starts: never, looks: super::nsys::looks_like_stats, parse: super::nsys::stats },
    Format { kind: Kind::Nccl, starts: never, looks: super::nccl::looks, parse: super::nccl::parse },
    Format { kind: Kind::Iostat, starts: never, looks: super::iostat::looks_like_iostat, parse: super::iostat::iostat },
    Format { kind: Kind::Top, starts: never, looks: super::iostat::looks_like_top, parse: super::iostat::top },
    Format { kind: Kind::Vmstat, starts: never, looks: super::iostat::looks_like_vmstat, parse: super::iostat::vmstat },
    Format { kind: Kind::SmiTable, starts: smi::starts_table, looks: smi::looks_like_table, parse: smi::table },
    Format { kind: Kind::TrainLog, starts: never, looks: super::train_log::looks, parse: super::train_log::parse },
    Format { kind: Kind::Env, starts: never, looks: env::looks, parse: env::parse },
];

/// A format that is read from the stream because it can be larger than memory, or is not text.
pub(super) struct Streamed {
    pub(super) kind: Kind,
    /// Recognises the format in the first bytes, at most 64 KiB.
    looks: fn(&[u8]) -> bool,
    /// Reads [`Decoded::stream`] from its start.
    pub(super) parse: fn(&mut Decoded<'_>, &mut Part),
}

/// Streamed formats, tried before the text formats.
#[rustfmt::skip]
const STREAMED: &[Streamed] = &[
    Streamed { kind: Kind::Nsys, looks: super::nsys::looks_like_sqlite, parse: super::nsys::sqlite },
    Streamed { kind: Kind::Kineto, looks: super::kineto::looks, parse: super::kineto::parse },
];

/// A text that holds other texts, or is read in chunks because it can be larger than memory.
pub(super) struct Container {
    /// Recognises it in a head of at most 64 KiB.
    looks: fn(&str) -> bool,
    /// Pushes a part for the container itself, then those of what it holds.
    pub(super) open: fn(&mut Text<'_>, &mut Parts),
}

/// Containers, tried before the text formats.
#[rustfmt::skip]
const CONTAINERS: &[Container] = &[
    Container { looks: snapshot::looks, open: snapshot::open },
    Container { looks: bug_report::looks, open: bug_report::open },
];

/// The format that reads a stream with this head.
pub(super) fn streamed(head: &[u8]) -> Option<&'static Streamed> {
    STREAMED.iter().find(|s| (s.looks)(head))
}

/// The container that a text is.
pub(super) fn container(text: &str) -> Option<&'static Container> {
    let head = head(text);
    CONTAINERS.iter().find(|c| (c.looks)(head))
}

/// The format that a text is of.
pub(super) fn format(text: &str) -> Option<&'static Format> {
    let head = head(text);
    FORMATS.iter().find(|f| (f.looks)(head))
}

/// The format of a kind.
pub(super) fn format_of(kind: Kind) -> Option<&'static Format> {
    FORMATS.iter().find(|f| f.kind == kind)
}

/// The kind that a line begins, if it is another one than that of the document it stands in.
pub(super) fn starts(line: &str, current: Option<Kind>) -> Option<Kind> {
    if current == Some(Kind::Dmesg) && kernel::goes_on(line) {
        return None;
    }
    FORMATS.iter().find(|f| Some(f.kind) != current && (f.starts)(line)).map(|f| f.kind)
}

fn never(_: &str) -> bool {
    false
}

/// The first 64 KiB, cut at a character.
fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(HEAD)]
}
