//! `lspci` in all its verbosities: plain, `-nn`, `-n`, `-D`, `-v` to `-vvv`, with hex dumps and trees in between, and
//! several listings of one machine below each other.
//!
//! Link speeds and widths are compared as numbers: the words in brackets behind them differ between versions of pciutils.
//! It does not judge a link, and it does not know which devices are busy.

use std::collections::{BTreeMap, BTreeSet};

use super::{Part, pci};
use crate::fact::{Key, Trust, Value};
use crate::keys;

/// Ports between a device and the root that are followed.
const HOPS: usize = 8;

pub(super) fn starts(line: &str) -> bool {
    line.as_bytes().first().is_some_and(u8::is_ascii_hexdigit) && header(line).is_some()
}

pub(super) fn looks(head: &str) -> bool {
    head.lines().any(|l| starts(l.trim()) || is_tree(l))
}

/// The root of `lspci -t`.
fn is_tree(line: &str) -> bool {
    let bus = line.trim_start().trim_start_matches(['-', '+', '|', '\\', ' ']);
    line.trim_start().starts_with('-') && bus.starts_with('[') && bus.get(5..6) == Some(":") && bus.contains("]-")
}

/// Reads a whole text.
pub(super) fn parse(text: &str, part: &mut Part) {
    let mut devices: BTreeMap<String, Device> = BTreeMap::new();
    let mut current: Option<String> = None;
    let mut denied = None;
    for (n, raw) in (1u32..).zip(text.lines()) {
        let line = raw.trim();
        if let Some(h) = header(line) {
            let device = devices.entry(h.address.clone()).or_default();
            device.meet(&h, n, raw);
            current = Some(h.address);
            continue;
        }
        let Some(device) = current.as_ref().and_then(|a| devices.get_mut(a)) else { continue };
        if line.is_empty() {
            current = None;
        } else {
            if line.contains("Capabilities: <access denied>") {
                denied = denied.or(Some(n));
            }
            device.line(line, n, raw);
        }
    }
    if devices.is_empty() {
        let tree = text.lines().any(is_tree);
        part.note(None, if tree { "The tree alone shows no links; lspci -vv does." } else { "No device is listed." });
    }
    if denied.is_some() {
        part.note(denied, "The capabilities were hidden; lspci needs root to show links and errors.");
    }
    put(&devices, part);
}

/// A value and the line it was read from.
#[derive(Clone, Debug)]
struct At<T> {
    value: T,
    line: u32,
    text: String,
}

/// Speed in GT/s and lanes; either may be unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Link {
    speed_gts: Option<f64>,
    lanes: Option<i64>,
}

#[derive(Debug, Default)]
struct Device {
    slot: String,
    class: Class,
    class_name: String,
    name: String,
    nvidia: bool,
    id: Option<String>,
    line: u32,
    text: String,
    rev_ff: bool,
    unknown_header: bool,
    numa: Option<At<i64>>,
    bar1_mib: Option<At<f64>>,
    unassigned: Option<At<bool>>,
    capability: Option<At<Link>>,
    status: Option<At<Link>>,
    supported: Option<At<f64>>,
    corrected: Option<At<Vec<String>>>,
    uncorrected: Option<At<Vec<String>>>,
    driver: Option<At<String>>,
    buses: Option<(u8, u8)>,
    redirects: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Class {
    Display,
    Bridge,
    OtherBridge,
    #[default]
    Other,
}

struct Header<'t> {
    /// `dddd:bb:dd.f`
    address: String,
    slot: &'t str,
    class: Class,
    class_name: &'t str,
    name: &'t str,
    /// `vvvv:dddd`
    id: Option<&'t str>,
    rev_ff: bool,
}

/// `01:00.0 VGA compatible controller [0300]: NVIDIA Corporation AD102 [GeForce RTX 4090] [10de:2684] (rev a1)`.
fn header(line: &str) -> Option<Header<'_>> {
    let (slot, rest) = line.split_once(' ')?;
    let address = pci::full_address(slot)?;
    let (class_text, rest) = rest.split_once(": ")?;
    let (class_name, code) = match class_text.rsplit_once(" [") {
        Some((name, code)) => (name, code.strip_suffix(']')),
        None if is_hex(class_text, 4) => ("", Some(class_text)),
        None => (class_text, None),
    };
    let code = code.filter(|c| is_hex(c, 4));
    // A class is a short phrase of letters; `00:00.0 something else: x` of another tool is not.
    if code.is_none() && !class_name.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit()) {
        return None;
    }
    let rest = rest.split_once(" (prog-if").map_or(rest, |(a, _)| a);
    let (body, rev) = rest.rsplit_once(" (rev ").unwrap_or((rest, ""));
    let id = body.rsplit(['[', ' ']).map(|w| w.trim_end_matches(']')).find(|w| is_id(w));
    let name =
        body.strip_suffix(']').and_then(|b| b.rsplit_once(" [")).filter(|(_, i)| is_id(i)).map_or(body, |(n, _)| n);
    let class = match (code, class_name) {
        (Some("0300" | "0302"), _) | (None, "VGA compatible controller" | "3D controller") => Class::Display,
        (Some("0604"), _) | (None, "PCI bridge") => Class::Bridge,
        (Some("0680"), _) | (None, "Bridge") => Class::OtherBridge,
        _ => Class::Other,
    };
    Some(Header { address, slot, class, class_name, name, id, rev_ff: rev.starts_with("ff") })
}

fn is_hex(s: &str, len: usize) -> bool {
    s.len() == len && s.bytes().all(|b| b.is_ascii_hexdigit())
}

fn is_id(s: &str) -> bool {
    s.len() == 9 && s.split_once(':').is_some_and(|(v, d)| is_hex(v, 4) && is_hex(d, 4))
}

impl Device {
    /// Another listing may show the device again, with more or less of it.
    fn meet(&mut self, h: &Header<'_>, n: u32, raw: &str) {
        let new = self.slot.is_empty();
        if new {
            h.slot.clone_into(&mut self.slot);
            self.line = n;
            self.text = raw.to_owned();
        }
        if self.class == Class::Other {
            self.class = h.class;
        }
        if self.class_name.is_empty() {
            h.class_name.clone_into(&mut self.class_name);
        }
        let vendor = h.name.starts_with("NVIDIA Corporation") || h.name.starts_with("nVidia Corporation");
        self.nvidia |= vendor || h.id.is_some_and(|i| i.starts_with("10de:"));
        if vendor && self.name.is_empty() {
            h.name.clone_into(&mut self.name);
        }
        // A device without a name in the local list is printed as `Device 2330`.
        let unnamed = h.name.rsplit_once(" Device ").map(|(_, d)| d).filter(|d| vendor && is_hex(d, 4));
        self.id = self.id.take().or_else(|| h.id.map(str::to_owned)).or_else(|| unnamed.map(|d| format!("10de:{d}")));
        self.rev_ff |= h.rev_ff;
    }

    fn line(&mut self, line: &str, n: u32, raw: &str) {
        if line.starts_with("!!! Unknown header type") {
            self.unknown_header = true;
            return;
        }
        if let Some((key, value)) = line.split_once(':') {
            let value = value.trim();
            match key {
                // The first one counts: a header that got lost must not give this device the lines of the next.
                "LnkCap" => first(&mut self.capability, link(value), n, raw),
                "LnkSta" => first(&mut self.status, link(value), n, raw),
                "LnkCap2" => first(&mut self.supported, highest(value), n, raw),
                "CESta" => first(&mut self.corrected, Some(set_bits(value)), n, raw),
                "UESta" => first(&mut self.uncorrected, Some(set_bits(value)), n, raw),
                "NUMA node" => first(&mut self.numa, value.parse().ok(), n, raw),
                "Kernel driver in use" => {
                    first(&mut self.driver, (!value.is_empty()).then(|| value.to_owned()), n, raw);
                }
                "Bus" => self.buses = self.buses.or(buses(value)),
                "ACSCtl" => self.redirects |= value.contains("ReqRedir+"),
                "Flags" => {
                    let numa = value.split("NUMA node ").nth(1).and_then(|t| t.split(',').next()?.trim().parse().ok());
                    first(&mut self.numa, numa, n, raw);
                }
                "00" => self.hex(value),
                _ => {}
            }
        }
        self.memory(line, n, raw);
    }

    /// `Region 1: Memory at 21000000000 (64-bit, prefetchable) [size=64G]`, and the same without `Region 1` under `-v`.
    fn memory(&mut self, line: &str, n: u32, raw: &str) {
        let region = line.strip_prefix("Region ");
        let (number, rest) = match region.and_then(|r| r.split_once(": ")) {
            Some((number, rest)) => (Some(number), rest),
            None => (None, line),
        };
        let Some(rest) = rest.strip_prefix("Memory at ") else { return };
        if rest.starts_with("<unassigned>") || rest.starts_with("<invalid") {
            self.unassigned = at(Some(true), n, raw);
            return;
        }
        // Without numbers, BAR1 is the larger one of the prefetchable regions.
        let bar1 = number.map_or(rest.contains("64-bit, prefetchable"), |i| i == "1");
        let size = rest.split_once("[size=").and_then(|(_, s)| size_mib(s.split(']').next()?));
        if let Some(size) = size.filter(|s| bar1 && self.bar1_mib.as_ref().is_none_or(|b| b.value < *s)) {
            self.bar1_mib = at(Some(size), n, raw);
        }
    }

    /// The first row of a hex dump begins with vendor and device id.
    fn hex(&mut self, row: &str) {
        let bytes: Vec<u8> = row.split_whitespace().map_while(|b| u8::from_str_radix(b, 16).ok()).collect();
        if bytes.len() == 16 && self.id.is_none() && bytes[..4] != [0xff; 4] {
            let word = |i: usize| u16::from_le_bytes([bytes[i], bytes[i + 1]]);
            self.id = Some(format!("{:04x}:{:04x}", word(0), word(2)));
            self.nvidia |= word(0) == 0x10de;
        }
    }

    fn is_gpu(&self) -> bool {
        self.nvidia && self.class == Class::Display
    }

    /// NVIDIA's other devices of this class are parts of old chipsets.
    fn is_nvswitch(&self) -> bool {
        let chipset = ["MCP", "nForce", "Ethernet", "CK804"].iter().any(|w| self.name.contains(w));
        self.nvidia && self.class == Class::OtherBridge && !chipset
    }

    fn is_downgraded(&self) -> bool {
        let (Some(cap), Some(now)) = (&self.capability, &self.status) else { return false };
        let slower = cap.value.speed_gts.zip(now.value.speed_gts).is_some_and(|(c, n)| n < c);
        let narrower = cap.value.lanes.zip(now.value.lanes).is_some_and(|(c, n)| n < c && n > 0);
        slower || narrower
    }
}

fn first<T>(slot: &mut Option<At<T>>, value: Option<T>, line: u32, raw: &str) {
    if slot.is_none() {
        *slot = at(value, line, raw);
    }
}

fn at<T>(value: Option<T>, line: u32, raw: &str) -> Option<At<T>> {
    value.map(|value| At { value, line, text: raw.to_owned() })
}

/// `Port #0, Speed 16GT/s (ok), Width x8 (downgraded), …`
fn link(value: &str) -> Option<Link> {
    let after = |word: &str| value.split_once(word).map(|(_, t)| t);
    let speed = after("Speed ").and_then(|t| t.split_once("GT/s")).and_then(|(s, _)| s.trim().parse().ok());
    let lanes = after("Width x").and_then(|t| {
        let end = t.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(t.len());
        t[..end].parse().ok()
    });
    // A link that is down shows no lanes; 63 and 255 are all-ones of the register.
    let lanes = lanes.filter(|l| (1..=32).contains(l));
    let link = Link { speed_gts: speed.filter(|s: &f64| *s > 0.0 && *s <= 128.0), lanes };
    (link != Link::default()).then_some(link)
}

/// The upper end of `Supported Link Speeds: 2.5-16GT/s`.
fn highest(value: &str) -> Option<f64> {
    let range = value.split_once("Supported Link Speeds:")?.1.split_once("GT/s")?.0;
    range.rsplit('-').next()?.trim().parse().ok()
}

/// Names that carry a `+`.
fn set_bits(value: &str) -> Vec<String> {
    value.split_whitespace().filter_map(|w| w.strip_suffix('+')).map(str::to_owned).collect()
}

fn size_mib(s: &str) -> Option<f64> {
    let (number, unit) = s.split_at(s.len().checked_sub(1)?);
    let scale = match unit {
        "K" => 1.0 / 1024.0,
        "M" => 1.0,
        "G" => 1024.0,
        "T" => 1024.0 * 1024.0,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * scale)
}

/// Secondary and subordinate bus of a bridge.
fn buses(value: &str) -> Option<(u8, u8)> {
    let bus = |key: &str| u8::from_str_radix(value.split_once(key)?.1.get(..2)?, 16).ok();
    Some((bus("secondary=")?, bus("subordinate=")?))
}

fn put(devices: &BTreeMap<String, Device>, part: &mut Part) {
    let gpus: Vec<(&String, &Device)> = devices.iter().filter(|(_, d)| d.is_gpu()).collect();
    for (i, (address, gpu)) in gpus.iter().enumerate() {
        put_gpu(&[i], gpu, part);
        put_ports(i, &ports(devices, address), part);
    }
    if let Some((_, first)) = gpus.first() {
        part.put(&keys::PCI_GPU_COUNT, &[], gpus.len(), Trust::Text, first.line, &first.text);
        part.put(&keys::GPU_COUNT, &[], gpus.len(), Trust::Table, first.line, &first.text);
    }
    let switches: Vec<&Device> = devices.values().filter(|d| d.is_nvswitch()).collect();
    for (i, s) in switches.iter().enumerate() {
        part.put(&keys::NVSWITCH_SLOT, &[i], s.slot.as_str(), Trust::Text, s.line, &s.text);
        put_at(&keys::NVSWITCH_WIDTH, &[i], s.status.as_ref(), |l| l.lanes, part);
    }
    if let Some(first) = switches.first() {
        part.put(&keys::NVSWITCHES, &[], switches.len(), Trust::Text, first.line, &first.text);
    }
    let bridges: Vec<&Device> = devices.values().filter(|d| d.class == Class::Bridge && d.status.is_some()).collect();
    if let Some(first) = bridges.iter().find(|d| d.is_downgraded()).or(bridges.first()) {
        let count = bridges.iter().filter(|d| d.is_downgraded()).count();
        part.put(&keys::BRIDGES_DOWNGRADED, &[], count, Trust::Text, first.line, &first.text);
        let redirecting = bridges.iter().filter(|d| d.redirects).count();
        part.put(&keys::ACS_BRIDGES, &[], redirecting, Trust::Text, first.line, &first.text);
    }
}

fn put_gpu(i: &[usize], d: &Device, part: &mut Part) {
    part.put(&keys::GPU_SLOT, i, d.slot.as_str(), Trust::Text, d.line, &d.text);
    if let Some(id) = &d.id {
        part.put(&keys::GPU_DEVICE_ID, i, id.as_str(), Trust::Text, d.line, &d.text);
    }
    if let Some(name) = product(&d.name) {
        part.put(&keys::GPU_NAME, i, name, Trust::Table, d.line, &d.text);
    }
    // A laptop's GPU that is switched off reads the same, but then no driver holds it.
    if (d.rev_ff || d.unknown_header) && d.driver.as_ref().is_some_and(|v| v.value == "nvidia") {
        part.put(&keys::GPU_LOST, i, true, Trust::Text, d.line, &d.text);
    }
    put_at(&keys::GPU_NUMA, i, d.numa.as_ref(), |v| Some(*v), part);
    put_at(&keys::GPU_BAR1_TOTAL, i, d.bar1_mib.as_ref(), |v| Some(*v), part);
    put_at(&keys::GPU_BAR_UNASSIGNED, i, d.unassigned.as_ref(), |v| Some(*v), part);
    put_at(&keys::PCIE_DRIVER, i, d.driver.as_ref(), |v| Some(v.as_str()), part);
    put_at(&keys::PCIE_SPEED_CURRENT, i, d.status.as_ref(), |l| l.speed_gts, part);
    put_at(&keys::PCIE_WIDTH_CURRENT, i, d.status.as_ref(), |l| l.lanes, part);
    put_at(&keys::PCIE_SPEED_MAX, i, d.capability.as_ref(), |l| l.speed_gts, part);
    put_at(&keys::PCIE_WIDTH_MAX, i, d.capability.as_ref(), |l| l.lanes, part);
    put_at(&keys::PCIE_WIDTH_DEVICE_MAX, i, d.capability.as_ref(), |l| l.lanes, part);
    put_at(&keys::PCIE_SPEED_SUPPORTED, i, d.supported.as_ref(), |v| Some(*v), part);
    put_at(&keys::PCIE_AER_COR_BITS, i, d.corrected.as_ref(), |v| Some(v.clone()), part);
    put_at(&keys::PCIE_AER_UNC_BITS, i, d.uncorrected.as_ref(), |v| Some(v.clone()), part);
}

/// The ports above a device, the nearest first, as far as the listing has them.
fn ports<'d>(devices: &'d BTreeMap<String, Device>, address: &str) -> Vec<&'d Device> {
    let mut out = Vec::new();
    let mut seen = BTreeSet::new();
    let mut below = address.to_owned();
    while out.len() < HOPS {
        let (domain, rest) = below.split_at(4);
        let Ok(bus) = u8::from_str_radix(&rest[1..3], 16) else { break };
        let above = devices.iter().find(|(a, d)| {
            d.class == Class::Bridge && a.starts_with(domain) && d.buses.is_some_and(|(secondary, _)| secondary == bus)
        });
        let Some((address, port)) = above.filter(|(a, _)| seen.insert((*a).clone())) else { break };
        out.push(port);
        below.clone_from(address);
    }
    out
}

fn put_ports(gpu: usize, ports: &[&Device], part: &mut Part) {
    for (i, p) in ports.iter().enumerate() {
        let at = &[gpu, i];
        part.put(&keys::PCIE_PORT_ID, at, p.slot.as_str(), Trust::Text, p.line, &p.text);
        put_at(&keys::PCIE_PORT_SPEED, at, p.status.as_ref(), |l| l.speed_gts, part);
        put_at(&keys::PCIE_PORT_WIDTH, at, p.status.as_ref(), |l| l.lanes, part);
        put_at(&keys::PCIE_PORT_SPEED_MAX, at, p.capability.as_ref(), |l| l.speed_gts, part);
        put_at(&keys::PCIE_PORT_WIDTH_MAX, at, p.capability.as_ref(), |l| l.lanes, part);
    }
    if let Some(parent) = ports.first() {
        put_at(&keys::PCIE_SPEED_PARENT_MAX, &[gpu], parent.capability.as_ref(), |l| l.speed_gts, part);
        put_at(&keys::PCIE_WIDTH_PARENT_MAX, &[gpu], parent.capability.as_ref(), |l| l.lanes, part);
    }
}

fn put_at<'d, T, K, V: Into<Value>>(
    key: &Key<K>,
    index: &[usize],
    from: Option<&'d At<T>>,
    value: impl FnOnce(&'d T) -> Option<V>,
    part: &mut Part,
) {
    if let Some(from) = from
        && let Some(v) = value(&from.value)
    {
        part.put(key, index, v, Trust::Text, from.line, &from.text);
    }
}

/// `NVIDIA GeForce RTX 4090` of `NVIDIA Corporation AD102 [GeForce RTX 4090]`: the words that nvidia-smi uses, nearly.
fn product(name: &str) -> Option<String> {
    let inside = name.rsplit_once('[')?.1.strip_suffix(']')?;
    (!inside.is_empty()).then(|| format!("NVIDIA {inside}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_every_option() {
        for (line, address, class, id) in [
            (
                "3b:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)",
                "0000:3b:00.0",
                Class::Display,
                None,
            ),
            (
                "0001:3b:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2330] (rev a1)",
                "0001:3b:00.0",
                Class::Display,
                Some("10de:2330"),
            ),
            ("01:00.0 0300: 10de:2684 (rev a1)", "0000:01:00.0", Class::Display, Some("10de:2684")),
            (
                "00:1c.0 PCI bridge [0604]: Intel Corporation Device [8086:1bbe] (rev 11) (prog-if 00 [Normal decode])",
                "0000:00:1c.0",
                Class::Bridge,
                Some("8086:1bbe"),
            ),
            ("83:00.0 Bridge: NVIDIA Corporation Device 22a3 (rev a1)", "0000:83:00.0", Class::OtherBridge, None),
        ] {
            let h = header(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((h.address.as_str(), h.class, h.id), (address, class, id), "{line}");
        }
        for line in ["12:30.5 seconds: fast", "de:ad:be: x", "00: 22 10 83 14", "3b:00.0", "10:00.0 and then: nothing"]
        {
            assert!(header(line).is_none(), "{line}");
        }
    }

    #[test]
    fn links_of_every_version() {
        let l = |s, w| Some(Link { speed_gts: s, lanes: w });
        for (text, want) in [
            ("Port #0, Speed 16GT/s, Width x16, ASPM not supported", l(Some(16.0), Some(16))),
            ("Speed 2.5GT/s (downgraded), Width x8 (downgraded)", l(Some(2.5), Some(8))),
            ("Speed 16GT/s (ok), Width x16 (ok)", l(Some(16.0), Some(16))),
            ("Speed unknown, Width x0, TrErr- Train-", None),
            ("Speed 64GT/s, Width x63", l(Some(64.0), None)),
        ] {
            assert_eq!(link(text), want, "{text}");
        }
    }
}
