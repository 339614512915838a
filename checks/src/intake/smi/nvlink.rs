//! `nvidia-smi nvlink`: the links of each GPU with their rates (`-s`) and error counters (`-e`).
//!
//! A GPU without NVLink and one whose links are all down print the same line; telling them apart is not its business.

use std::collections::BTreeMap;

use super::latest::{At, Latest};
use super::value;
use crate::fact::Trust;
use crate::intake::Part;
use crate::keys;

/// GPUs, and links of one GPU; a larger number is damage.
const MAX: usize = 1024;

/// True if links are listed, or said to be all inactive.
pub(in crate::intake) fn looks_like_nvlink(head: &str) -> bool {
    head.lines().any(|l| link(l).is_some() || all_inactive(l))
}

/// `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-…)`: index, name, UUID.
pub(super) fn heading(line: &str) -> Option<(usize, &str, Option<&str>)> {
    let (index, rest) = line.trim().strip_prefix("GPU ")?.split_once(": ")?;
    let index = index.parse().ok().filter(|n| *n < MAX)?;
    let (name, uuid) = rest.split_once(" (UUID: ")?;
    Some((index, name.trim(), uuid.strip_suffix(')')))
}

/// The line of the first GPU, here and in `nvidia-smi -L`.
pub(in crate::intake) fn starts_nvlink(line: &str) -> bool {
    line.starts_with("GPU 0: ") && heading(line).is_some()
}

/// `Link 3: 26.562 GB/s`: number and text.
fn link(line: &str) -> Option<(usize, &str)> {
    let (number, text) = line.trim().strip_prefix("Link ")?.split_once(": ")?;
    let text = text.trim();
    let known =
        text.contains("GB/s") || is_inactive(text) || text.contains("Errors:") || text.contains("Remote Device");
    Some((number.parse().ok().filter(|n| *n < MAX)?, text)).filter(|_| known)
}

fn is_inactive(text: &str) -> bool {
    text.trim_matches(['<', '>']).eq_ignore_ascii_case("inactive")
}

/// The capital letters of this line vary.
fn all_inactive(line: &str) -> bool {
    line.to_ascii_lowercase().contains("nvlink information as all links are inactive")
}

#[derive(Default)]
struct Links<'t> {
    /// Each link listed with a state, and whether it is up.
    up: BTreeMap<usize, bool>,
    /// The line says that all are down, without listing them.
    none: bool,
    at: Option<At<'t>>,
}

impl Links<'_> {
    fn all(&self) -> usize {
        self.up.len()
    }

    fn down(&self) -> usize {
        self.up.values().filter(|up| !**up).count()
    }

    /// The numbers listed leave none out.
    fn in_a_row(&self) -> bool {
        self.up.keys().copied().eq(0..self.up.len())
    }
}

/// Reads it.
pub(in crate::intake) fn nvlink(text: &str, part: &mut Part) {
    let mut values = Latest::default();
    let mut gpus: BTreeMap<usize, Links<'_>> = BTreeMap::new();
    let mut current: Option<usize> = None;
    let open_end = !text.ends_with('\n');
    let last = text.lines().count();
    for (line, raw) in (1u32..).zip(text.lines()) {
        let at = At { line, quote: raw };
        let cut = open_end && line as usize == last;
        if let Some((g, name, uuid)) = heading(raw) {
            current = Some(g);
            gpus.entry(g).or_default().at.get_or_insert(at);
            values.set(&keys::GPU_NAME, &[g], value::text(name), at);
            values.set(&keys::GPU_UUID, &[g], uuid.and_then(value::text), at);
            continue;
        }
        let Some(g) = current else { continue };
        if all_inactive(raw) {
            let links = gpus.entry(g).or_default();
            links.none = true;
            links.at = Some(at);
            continue;
        }
        let Some((l, text)) = link(raw) else { continue };
        let links = gpus.entry(g).or_default();
        if is_inactive(text) {
            links.up.insert(l, false);
        } else if let Some(rate) = text.strip_suffix("GB/s").and_then(|t| value::number(t.trim(), value::NONE)) {
            links.up.insert(l, true);
            values.set(&keys::GPU_LINK_RATE, &[g, l], Some(rate), at);
        } else if let Some((kind, n)) = text.split_once(" Errors:") {
            let n = value::whole(n.trim(), value::NONE).filter(|_| !cut);
            match kind {
                "Replay" => values.set(&keys::GPU_LINK_REPLAYS, &[g, l], n, at),
                "Recovery" => values.set(&keys::GPU_LINK_RECOVERIES, &[g, l], n, at),
                "CRC" => values.set(&keys::GPU_LINK_CRC, &[g, l], n, at),
                _ => {}
            }
        }
    }
    counts(&gpus, &mut values);
    if gpus.is_empty() {
        part.note(None, "The line that names the GPU is missing; its links cannot be placed.");
    }
    values.put(Trust::Text, part);
}

fn counts(gpus: &BTreeMap<usize, Links<'_>>, values: &mut Latest) {
    // A last GPU with fewer links than the others, of which none is left out in between, was cut off.
    let most = gpus.values().map(Links::all).max().unwrap_or(0);
    let cut = gpus.last_key_value().filter(|(_, l)| !l.none && l.all() < most && l.in_a_row()).map(|(g, _)| *g);
    for (g, links) in gpus {
        let Some(at) = links.at.filter(|_| Some(*g) != cut) else { continue };
        if links.none {
            values.set(&keys::GPU_LINKS_ACTIVE, &[*g], Some(0), at);
        } else if links.all() > 0 {
            values.set(&keys::GPU_LINKS, &[*g], Some(links.all()), at);
            values.set(&keys::GPU_LINKS_ACTIVE, &[*g], Some(links.all() - links.down()), at);
            values.set(&keys::GPU_LINKS_INACTIVE, &[*g], Some(links.down()), at);
        }
    }
    let Some(at) = gpus.values().find_map(|l| l.at).filter(|_| cut.is_none() && most > 0) else { return };
    if gpus.keys().copied().eq(0..gpus.len()) {
        values.set(&keys::GPU_COUNT, &[], Some(gpus.len()), at);
    }
    values.set(&keys::LINKS_TOTAL, &[], Some(gpus.values().map(Links::all).sum::<usize>()), at);
    values.set(&keys::LINKS_INACTIVE, &[], Some(gpus.values().map(Links::down).sum::<usize>()), at);
}
