//! Kernel logs: `dmesg`, `/dev/kmsg`, journald and syslog exports, in chunks of whole lines so that a log of any size is
//! read in bounded memory.
//!
//! Only lines that hold one of [`events::NEEDLES`] are looked at. It does not know what an event means for the GPU.

mod events;
mod phrases;
mod prefix;

pub(super) use events::is_version;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Input, MatchKind};

use super::parts::Parts;
use super::read::Text;
use super::{Kind, Part, pci};
use crate::fact::{Place, Trust};
use crate::keys;
use crate::record::{Boot, KernelEvent, KernelKind};
use phrases::{BOOT_MARK, Found, NAMED_GPU, REBOOT_MARK};

/// Events of one kind on one device that are kept of one boot; a storm of errors says no more with the thousandth line.
const SAME_MAX: u32 = 512;
/// Events kept in all. Earlier boots give way to the present one.
const EVENTS_MAX: usize = 50_000;
/// Longest message that is looked at, in bytes. Kernel messages end at about 1 KiB.
const MESSAGE_MAX: usize = 4096;
/// Lines after the first one that belong to an `API mismatch` message.
const MISMATCH_LINES: usize = 4;
/// Seconds after a boot within which a jump of the clock tells it. Later, the clock also jumps when a laptop wakes up.
const EARLY_S: f64 = 600.0;
/// By how much the clock is ahead of the seconds since boot when another boot lies between; syslog starts late, and gives
/// all lines before that the same time.
const BOOT_GAP_S: f64 = 30.0;
const DAY_S: f64 = 86_400.0;
/// How far behind the line that names a GPU its message may go on.
const NAMED_LINES: u32 = 4;

static SEARCH: LazyLock<AhoCorasick> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the patterns are constants; a test builds them")]
    AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(events::NEEDLES).expect("constant patterns")
});

/// A line with which a kernel log begins: it has a kernel prefix and is no Xorg line (those have the same brackets).
pub(super) fn starts(line: &str) -> bool {
    let Some(first) = line.as_bytes().first() else { return false };
    let possible = matches!(first, b'[' | b'<' | b'N' | b'k' | b'>') || first.is_ascii_digit();
    possible && (line.starts_with("NVRM: ") || is_kernel_line(line))
}

/// True for a line that cannot begin anything else in a kernel log: by far the most there, so that it has to be quick.
pub(super) fn goes_on(line: &str) -> bool {
    let b = line.as_bytes();
    if b.first() != Some(&b'[') {
        return b.starts_with(b"kern  :") || memchr::memmem::find(&b[..b.len().min(80)], b" kernel: ").is_some();
    }
    // `[Sun Feb 23 …]`; dates of other logs begin with the month or the year.
    if b.get(4) == Some(&b' ')
        && [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"].iter().any(|d| b[1..4] == d[..])
    {
        return true;
    }
    let mut rest = b[1..].iter().skip_while(|c| **c == b' ').skip_while(|c| c.is_ascii_digit());
    rest.next() == Some(&b'.') && rest.by_ref().take(6).all(u8::is_ascii_digit) && rest.next() == Some(&b']')
}

/// True if the head has kernel log lines, or says that there are none to be read.
pub(super) fn looks(head: &str) -> bool {
    let mut plain = 0;
    for line in head.lines().map(str::trim).filter(|l| !l.is_empty()).take(400) {
        if line.starts_with("NVRM: ") || line.contains(" NVRM: ") || line.contains(": SXid (") || is_kernel_line(line) {
            return true;
        }
        if unreadable(line) || line.contains("]: segfault at ") {
            return true;
        }
        // A system log of which this part has no kernel line.
        plain += u32::from(is_syslog(line));
    }
    plain >= 5
}

/// What `dmesg` and `journalctl` print when the kernel log may not be read.
fn unreadable(line: &str) -> bool {
    line.contains("read kernel buffer failed")
        || line.contains("klogctl: Operation not permitted")
        || line.starts_with("No journal files were opened due to insufficient permissions")
}

fn is_kernel_line(line: &str) -> bool {
    let l = prefix::parse(line);
    if !l.prefixed || is_xorg(l.message) {
        return false;
    }
    // Six decimals are the kernel's; Xorg and others write three.
    let micros = line.split_once(']').is_some_and(|(t, _)| t.rsplit_once('.').is_some_and(|(_, d)| d.len() == 6));
    let raw = l.since_boot_s.is_some() && !line.contains('[');
    let styled = line.starts_with("kern ") || line.starts_with("kern:") || line.starts_with('<');
    micros
        || raw
        || styled
        || l.host.is_some()
        || line.contains(" kernel: ")
        || (l.clock_s.is_some() || line.starts_with('[')) && known(l.message)
}

/// Starts as messages of the kernel do: for lines whose time alone does not tell where they come from.
fn known(message: &str) -> bool {
    [
        "NVRM",
        "nvidia",
        "pci ",
        "pcieport ",
        "usb ",
        "Linux version",
        "ACPI",
        "BIOS-",
        "Out of memory",
        "oom",
        "EDAC",
        "mce:",
    ]
    .iter()
    .any(|p| message.starts_with(p))
}

fn is_xorg(message: &str) -> bool {
    ["(II)", "(==)", "(--)", "(**)", "(WW)", "(EE)", "(NI)", "(++)", "(!!)", "(??)"]
        .iter()
        .any(|m| message.starts_with(m))
}

fn is_syslog(line: &str) -> bool {
    let l = prefix::parse(line);
    let program = l.message.split_once(' ').and_then(|(_, rest)| rest.split_once(": ")).map(|(p, _)| p);
    l.clock_s.is_some() && program.is_some_and(|p| !p.contains(' ') && p.ends_with(']'))
}

/// Reads a whole text.
pub(super) fn parse(text: &str, part: &mut Part) {
    let mut log = KernelLog::new(part.input);
    log.feed(text);
    log.finish(part);
}

/// Reads a log in chunks.
pub(super) fn open(text: &mut Text<'_>, parts: &mut Parts) {
    let mut part = parts.start(Kind::Dmesg);
    let mut log = KernelLog::new(part.input);
    parts.keep(parts.len(), text.first);
    log.feed(text.first);
    while let Some(chunk) = text.more() {
        parts.keep(parts.len(), &chunk);
        log.feed(&chunk);
    }
    log.finish(&mut part);
    parts.push("", part);
}

/// A kernel log that is being read.
#[derive(Debug)]
pub(super) struct KernelLog {
    input: u32,
    /// Line of the next byte, from 1.
    line: u32,
    lines: u64,
    events: Vec<KernelEvent>,
    /// Where the events of the boot begin that is being read.
    boot_from: usize,
    same: BTreeMap<u32, BTreeMap<Option<String>, u32>>,
    left_out: u64,
    /// Seconds since boot and clock of the last line that had the former.
    last: Option<(f64, Option<f64>)>,
    hosts: BTreeSet<String>,
    /// The last GPU that a message named, and its line: the next lines may speak of it.
    named: Option<(u32, String)>,
    /// Display functions of NVIDIA that the PCI core listed.
    on_bus: BTreeMap<String, Place>,
    /// The log begins with the boot.
    from_boot: bool,
    kernel: Option<(String, Place)>,
    hypervisor: Option<Place>,
    module: Option<(bool, Place)>,
    refused: Option<Place>,
}

impl KernelLog {
    pub(super) fn new(input: u32) -> Self {
        Self {
            input,
            line: 1,
            lines: 0,
            events: Vec::new(),
            boot_from: 0,
            same: BTreeMap::new(),
            left_out: 0,
            last: None,
            hosts: BTreeSet::new(),
            named: None,
            on_bus: BTreeMap::new(),
            from_boot: false,
            kernel: None,
            hypervisor: None,
            module: None,
            refused: None,
        }
    }

    /// Reads a chunk of whole lines of which the first is this line of the input.
    pub(super) fn feed_at(&mut self, text: &str, line: u32) {
        self.line = line;
        self.feed(text);
    }

    /// Reads a chunk of whole lines.
    pub(super) fn feed(&mut self, text: &str) {
        let bytes = text.as_bytes();
        if self.lines == 0
            && let Some((n, l)) = (self.line..).zip(text.lines().take(20)).find(|(_, l)| unreadable(l))
        {
            self.refused = Some(Place::line(self.input, n, l));
        }
        let (mut from, mut line) = (0, self.line);
        while let Some(hit) = SEARCH.find(Input::new(text).range(from..)) {
            let begin = memchr::memrchr(b'\n', &bytes[from..hit.start()]).map_or(from, |p| from + p + 1);
            let end = memchr::memchr(b'\n', &bytes[hit.end()..]).map_or(text.len(), |p| hit.end() + p);
            line += count_lines(&bytes[from..begin]);
            self.read(&text[begin..end], &text[end..], line);
            if end == text.len() {
                from = end;
                break;
            }
            from = end + 1;
            line += 1;
        }
        line += count_lines(&bytes[from..]);
        // Empty lines around a log stand for other things and are no lines of it.
        let body = text.trim_matches('\n');
        if !body.is_empty() {
            let front = bytes.iter().take_while(|b| **b == b'\n').count();
            let back = text.len() - front - body.len();
            self.lines += u64::from(line - self.line) + 1 - (front + back) as u64;
        }
        self.line = line;
    }

    /// Gives facts and events to a part.
    pub(super) fn finish(mut self, part: &mut Part) {
        if self.facts(part) {
            put_events(self.take_events(), part);
        }
    }

    /// Gives what the log says about the node; false if there is no log.
    pub(super) fn facts(&mut self, part: &mut Part) -> bool {
        if let Some(place) = &self.refused
            && self.events.is_empty()
        {
            part.facts.put(&keys::KERNEL_LOG_READABLE, &[], false, Trust::Text, place.clone());
            part.note(place.line, "The kernel log could not be read without more rights.");
            return false;
        }
        if self.lines == 0 {
            return false;
        }
        let whole = Place::input(part.input);
        part.facts.put(&keys::KERNEL_LOG_READABLE, &[], true, Trust::Text, whole.clone());
        part.facts.put(&keys::KERNEL_LOG_LINES, &[], self.lines, Trust::Text, whole);
        self.node_facts(part);
        if self.left_out > 0 {
            part.note(None, format!("{} further lines like those before them were counted out.", self.left_out));
        }
        true
    }

    /// The events, with lines of devices that are no GPU marked as such.
    pub(super) fn take_events(&mut self) -> Vec<KernelEvent> {
        let mut gpus: BTreeSet<String> = self.on_bus.keys().cloned().collect();
        gpus.extend(self.events.iter().filter(|e| of_gpu(e)).filter_map(|e| e.pci.clone()));
        let mut events = std::mem::take(&mut self.events);
        for e in &mut events {
            let KernelKind::Other(name) = &mut e.kind else { continue };
            let gpu = e.pci.as_ref().is_some_and(|p| gpus.contains(p));
            match *name {
                "pcie-bandwidth" if !gpu => *name = "pcie-bandwidth-other",
                "bar-no-space" if !gpu => *name = "bar-no-space-other",
                _ => {}
            }
        }
        events
    }

    fn node_facts(&mut self, part: &mut Part) {
        let loaded = self.events.iter().rev().find_map(|e| match &e.kind {
            KernelKind::ModuleLoaded { version, open } if e.boot == Boot::Present => {
                Some((version.clone(), *open, e.place.clone()))
            }
            _ => None,
        });
        if let Some((version, open, place)) = loaded {
            part.facts.put(&keys::MODULE_VERSION, &[], version, Trust::Table, place.clone());
            part.facts.put(&keys::MODULE_OPEN, &[], open, Trust::Table, place);
        }
        if let Some((true, place)) = self.module.take() {
            part.facts.put(&keys::MODULE_NVIDIA, &[], true, Trust::Table, place);
        }
        let wsl = self.kernel.as_ref().is_some_and(|(k, _)| k.contains("microsoft"));
        if let Some((release, place)) = self.kernel.take() {
            if wsl {
                part.facts.put(&keys::WSL2, &[], true, Trust::Text, place.clone());
            }
            part.facts.put(&keys::KERNEL, &[], release, Trust::Text, place);
        }
        if let Some(place) = self.hypervisor.take().filter(|_| !wsl) {
            part.facts.put(&keys::VIRTUAL_MACHINE, &[], true, Trust::Text, place);
        }
        // A ring buffer that has wrapped may have lost some of them.
        if self.from_boot
            && let Some(place) = self.on_bus.values().next()
        {
            part.facts.put(&keys::PCI_GPU_COUNT, &[], self.on_bus.len(), Trust::Table, place.clone());
        }
        if self.hosts.len() > 1 {
            part.note(None, "The lines come from several hosts; they are judged as one.");
        } else {
            part.host = part.host.take().or(self.hosts.pop_first());
        }
    }

    fn read(&mut self, raw: &str, after: &str, n: u32) {
        let front = cut(raw, MESSAGE_MAX);
        let found = Found::of(front);
        if !found.is_telling() {
            return;
        }
        let line = prefix::parse(front);
        let new_boot = found.any(BOOT_MARK | REBOOT_MARK) || line.message.starts_with("Linux version ");
        if new_boot || self.restarted(&line) {
            self.boot();
        }
        if let Some(s) = line.since_boot_s {
            self.last = Some((s, line.clock_s));
        }
        if let Some(h) = line.host.filter(|_| self.hosts.len() < 2) {
            self.hosts.insert(h.to_owned());
        }
        let Some((kind, pci)) = events::classify(line.message, found) else {
            if found.any(NAMED_GPU) {
                self.remember(line.message, n);
            }
            return;
        };
        if self.is_stormy(&kind, &pci) {
            return;
        }
        let place = Place::line(self.input, n, raw);
        match kind {
            KernelKind::Other("gpu-on-bus") => {
                if let Some(p) = pci {
                    self.on_bus.entry(p).or_insert(place);
                }
                return;
            }
            KernelKind::Other("linux-version") => {
                self.from_boot = true;
                let release = line.message["Linux version ".len()..].split_whitespace().next().unwrap_or("");
                self.kernel = (!release.is_empty()).then(|| (release.to_owned(), place));
                return;
            }
            KernelKind::Other("hypervisor") => {
                self.hypervisor = Some(place);
                return;
            }
            KernelKind::Other("module-unloaded") => {
                self.module = Some((false, place));
                return;
            }
            _ => {}
        }
        let mut text = cut(line.message, 512).to_owned();
        let mut pci = pci;
        match &kind {
            KernelKind::ModuleLoaded { .. } => self.module = Some((true, place.clone())),
            KernelKind::ApiMismatch => {
                for next in after.lines().skip(1).take(MISMATCH_LINES) {
                    let Some(more) = prefix::parse(cut(next, MESSAGE_MAX)).message.strip_prefix("NVRM:") else { break };
                    text = format!("{} {}", text.trim_end(), cut(more.trim(), 512));
                }
            }
            KernelKind::Other("bar-invalid") if pci.is_none() => {
                pci = after.lines().skip(1).take(2).find_map(|l| pci::find(cut(l, MESSAGE_MAX)));
            }
            _ => {}
        }
        let of_named = matches!(
            kind,
            KernelKind::FallenOffBus | KernelKind::Other("not-supported" | "not-supported-open" | "power-cable")
        );
        if pci.is_none() && of_named {
            pci = self.named.as_ref().filter(|(at, _)| n.saturating_sub(*at) <= NAMED_LINES).map(|(_, p)| p.clone());
        }
        self.push(KernelEvent { kind, since_boot_s: line.since_boot_s, pci, boot: Boot::Present, text, place });
    }

    /// True if the seconds since boot start anew. Only a log with dates can go over boots; a ring buffer holds one. A boot
    /// shows by time that goes back, or soon after it by a clock that went on much further than the seconds did.
    fn restarted(&self, line: &prefix::Line<'_>) -> bool {
        let (Some(now), Some(clock), Some((last, before))) = (line.since_boot_s, line.clock_s, self.last) else {
            return false;
        };
        // Lines of several CPUs can be out of order by microseconds.
        if now + 0.01 < last {
            return true;
        }
        let Some(before) = before.filter(|_| now < EARLY_S) else { return false };
        let passed = (clock - before).rem_euclid(DAY_S);
        let ahead = passed - (now - last);
        ahead > BOOT_GAP_S && passed < DAY_S - BOOT_GAP_S
    }

    /// `NVRM: The NVIDIA GPU 0000:3b:00.0 (PCI ID: …)` begins a message of several lines.
    fn remember(&mut self, message: &str, n: u32) {
        if let Some(pci) = pci::find(message) {
            self.named = Some((n, pci));
        }
    }

    /// What came before was an earlier boot.
    fn boot(&mut self) {
        // Those before it are marked: a log of many boots stays linear.
        for e in &mut self.events[self.boot_from..] {
            e.boot = Boot::Earlier;
        }
        self.boot_from = self.events.len();
        self.same.clear();
        self.on_bus.clear();
        self.module = None;
        self.last = None;
    }

    /// True, and counted, if enough of the like was seen in this boot.
    fn is_stormy(&mut self, kind: &KernelKind, pci: &Option<String>) -> bool {
        let of_kind = self.same.entry(signature(kind)).or_default();
        let Some(seen) = of_kind.get_mut(pci) else {
            of_kind.insert(pci.clone(), 1);
            return false;
        };
        *seen += 1;
        let stormy = *seen > SAME_MAX;
        self.left_out += u64::from(stormy);
        stormy
    }

    fn push(&mut self, event: KernelEvent) {
        if self.events.len() >= EVENTS_MAX {
            let before = self.events.len();
            self.events.retain(|e| e.boot == Boot::Present);
            self.boot_from = 0;
            self.left_out += (before - self.events.len()) as u64;
            if self.events.len() >= EVENTS_MAX {
                self.left_out += 1;
                return;
            }
        }
        self.events.push(event);
    }
}

/// Gives events to a part, and the codes among them.
pub(super) fn put_events(mut events: Vec<KernelEvent>, part: &mut Part) {
    let of = |e: &KernelEvent| if let KernelKind::Xid { code, .. } = e.kind { Some(i64::from(code)) } else { None };
    let codes: BTreeSet<i64> = events.iter().filter_map(of).collect();
    let place = events.iter().find(|e| of(e).is_some()).map_or(Place::input(part.input), |e| e.place.clone());
    part.facts.put(&keys::XIDS, &[], codes.into_iter().collect::<Vec<i64>>(), Trust::Text, place);
    let failed: Vec<&KernelEvent> =
        events.iter().filter(|e| matches!(&e.kind, KernelKind::InitFailed { code: Some(_) })).collect();
    if let Some(last) = failed.last() {
        part.facts.put(&keys::INIT_FAILED, &[], failed.len(), Trust::Text, last.place.clone());
    }
    part.facts.kernel.append(&mut events);
}

/// True for lines of the NVIDIA driver that name its own device.
fn of_gpu(e: &KernelEvent) -> bool {
    match e.kind {
        KernelKind::Xid { .. } | KernelKind::FallenOffBus | KernelKind::InitFailed { .. } => true,
        KernelKind::Other(_) => e.text.starts_with("nvidia ") || e.text.starts_with("NVRM"),
        _ => false,
    }
}

/// A number that is the same for events that say the same.
fn signature(kind: &KernelKind) -> u32 {
    match kind {
        KernelKind::Xid { code, .. } => *code,
        KernelKind::SXid { code, .. } => 1_000_000 + *code,
        KernelKind::FallenOffBus => 1,
        KernelKind::InitFailed { .. } => 2,
        KernelKind::ModuleLoaded { .. } => 3,
        KernelKind::ApiMismatch => 4,
        KernelKind::ModuleRejected => 5,
        KernelKind::Other(name) => {
            10_000_000 + name.bytes().fold(0, |h: u32, b| h.wrapping_mul(31).wrapping_add(u32::from(b))) % 1_000_000
        }
    }
}

fn count_lines(bytes: &[u8]) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(u32::MAX)
}

/// At most `max` bytes, cut at a character.
fn cut(s: &str, max: usize) -> &str {
    &s[..s.floor_char_boundary(max)]
}
