//! The log of the fabric manager. Its NVSwitch errors are the ones that the kernel prints as SXid, and are given as such.
//!
//! It does not know which errors matter.

use super::{Part, pci};
use crate::fact::{Place, Trust};
use crate::keys;
use crate::record::{Boot, KernelEvent, KernelKind};

/// Errors that are kept one by one; the count has all of them.
const EVENTS_MAX: usize = 4096;

/// A line of the log: `[Feb 25 2025 13:59:45] [INFO] [tid 1803] …`.
pub(super) fn starts(line: &str) -> bool {
    line.starts_with('[') && level(line).is_some()
}

pub(super) fn looks(head: &str) -> bool {
    head.lines().any(|l| starts(l.trim()))
}

/// The level, of a line that names its thread behind it.
fn level(line: &str) -> Option<&str> {
    let (front, _) = line.split_once("] [tid ")?;
    let level = front.rsplit('[').next()?;
    (!level.is_empty() && level.bytes().all(|b| b.is_ascii_uppercase())).then_some(level)
}

/// Reads a whole log.
pub(super) fn parse(text: &str, part: &mut Part) {
    let mut errors = 0;
    let mut last = None;
    for (n, raw) in (1u32..).zip(text.lines()) {
        let line = raw.trim();
        if matches!(level(line), Some("ERROR" | "FATAL" | "CRITICAL")) {
            errors += 1;
            last = Some((n, raw));
        }
        if let Some((front, rest)) =
            line.split_once("NVSwitch fatal error ").or_else(|| line.split_once("NVSwitch non-fatal error "))
        {
            let fatal = line[front.len()..].starts_with("NVSwitch fatal");
            switch_error(rest, fatal, n, raw, part);
        } else if let Some((_, v)) = line.split_once("Fabric Manager version is") {
            let version = v.trim_start_matches([' ', ':']).split_whitespace().next().unwrap_or("");
            if super::kernel::is_version(version) {
                part.put(&keys::FM_VERSION, &[], version, Trust::Text, n, raw);
            }
        } else if line.contains("uccessfully configured all the available") {
            part.put(&keys::FM_CONFIGURED, &[], true, Trust::Text, n, raw);
        }
    }
    let (n, raw) = last.unwrap_or((1, text.lines().next().unwrap_or("")));
    part.put(&keys::FM_ERRORS, &[], errors, Trust::Text, n, raw);
}

/// `12028 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 physical id 3 port 61`
fn switch_error(rest: &str, fatal: bool, n: u32, raw: &str, part: &mut Part) {
    let Some(code) = rest.split_whitespace().next().and_then(|c| c.parse::<u32>().ok()) else { return };
    let after = |key: &str| rest.split_once(key).and_then(|(_, t)| t.split_whitespace().next());
    let address = after("bus id ").or_else(|| after("NVSwitch pci "));
    part.put(&keys::FM_SWITCH_ERROR, &[], code, Trust::Text, n, raw);
    if let Some(a) = address {
        part.put(&keys::FM_SWITCH_PCI, &[], a, Trust::Text, n, raw);
    }
    if let Some(port) = after(" port ").and_then(|p| p.parse::<i64>().ok()) {
        part.put(&keys::FM_SWITCH_PORT, &[], port, Trust::Text, n, raw);
    }
    if part.facts.kernel.len() < EVENTS_MAX {
        part.facts.kernel.push(KernelEvent {
            kind: KernelKind::SXid { code, fatal: Some(fatal) },
            since_boot_s: None,
            pci: address.and_then(pci::address),
            boot: Boot::Present,
            text: raw.trim().chars().take(512).collect(),
            place: Place::line(part.input, n, raw),
        });
    }
}
