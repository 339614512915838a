//! `nvidia-bug-report.log`: a file of many files and command outputs. It is cut at its rules of underscores; what has a
//! format of its own goes through the sniffer as a part, what describes the node is read here.
//!
//! Its kernel logs tell one story several times: `dmesg`, the journal of this boot, those of earlier boots, and files in
//! `/var/log`. Lines are counted once, and history is kept apart from the present boot. It does not judge.

use std::collections::BTreeMap;

use super::driver_files::DriverFiles;
use super::kernel::{self, KernelLog};
use super::parts::Parts;
use super::read::Text;
use super::{Kind, Part};
use crate::fact::{Trust, bus_id};
use crate::keys;
use crate::record::{Boot, KernelEvent, KernelKind};

/// The rule between two sections: 44 underscores on a line of their own.
const RULE: &str = "____________________________________________";
/// Most of a section that is kept; kernel logs are read as they come and have no limit.
const SECTION_MAX: usize = 32 << 20;
/// Sections that are named in the note about what was not read.
const NAMED: usize = 8;

pub(super) fn looks(head: &str) -> bool {
    head.contains("Start of NVIDIA bug report log file")
}

/// Opens a report, in chunks of whole lines.
pub(super) fn open(text: &mut Text<'_>, parts: &mut Parts) {
    let mut report = Report::new(parts.start(Kind::BugReport));
    let at = parts.len();
    parts.push("", parts.start(Kind::BugReport));
    parts.keep(at, text.first);
    report.feed(text.first, parts);
    while let Some(chunk) = text.more() {
        parts.keep(at, &chunk);
        report.feed(&chunk, parts);
    }
    report.end_section(parts);
    let part = report.finish();
    for (_, child) in parts.since(at) {
        child.host.clone_from(&part.host);
    }
    if let Some((_, parent)) = parts.since(at).first_mut() {
        *parent = part;
    }
}

/// A section as it is read.
#[derive(Debug)]
struct Open {
    title: String,
    /// Line of the first one of the body, from 1.
    first_line: u32,
    body: Body,
}

/// Where the lines of a section go.
#[derive(Debug)]
enum Body {
    /// Kept until the section ends.
    Kept(String),
    /// A kernel log, which can be large.
    Log(View, Box<KernelLog>),
    /// The logs that were searched; the last one that was headed.
    Scan(Option<(View, Box<KernelLog>)>),
}

/// A section that was kept: the path or command that it is of, and what it printed.
#[derive(Debug)]
struct Section<'t> {
    title: &'t str,
    body: &'t str,
    first_line: u32,
}

impl Section<'_> {
    /// What the command prints, for outputs without marks of their own.
    fn kind(&self) -> Option<Kind> {
        let name = self.title.split_whitespace().next()?.rsplit('/').next()?;
        matches!(name, "lsmod" | "modules").then_some(Kind::ProcModules)
    }
}

fn count(s: &str) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', s.as_bytes()).count()).unwrap_or(u32::MAX)
}

/// Which boot a kernel log is of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum View {
    Present,
    /// A file that goes over boots.
    File,
    Earlier,
}

struct Report {
    part: Part,
    /// Line of the next byte, from 1.
    line: u32,
    open: Option<Open>,
    files: DriverFiles,
    numa: BTreeMap<String, (i64, u32, String)>,
    logs: Vec<(View, KernelLog)>,
    unread: Vec<String>,
}

impl Report {
    fn new(part: Part) -> Self {
        Self {
            part,
            line: 1,
            open: None,
            files: DriverFiles::default(),
            numa: BTreeMap::new(),
            logs: Vec::new(),
            unread: Vec::new(),
        }
    }

    fn feed(&mut self, text: &str, parts: &mut Parts) {
        self.part.bytes += text.len() as u64;
        let mut from = 0;
        for at in memchr::memmem::find_iter(text.as_bytes(), RULE.as_bytes()) {
            // Only a rule that begins its line; a longer one is met once.
            let begins = at == 0 || text.as_bytes()[at - 1] == b'\n';
            if !begins || at < from {
                continue;
            }
            self.lines(&text[from..at]);
            self.end_section(parts);
            from = at + text[at..].find('\n').map_or(text.len() - at, |n| n + 1);
            self.line += 1;
        }
        self.lines(&text[from..]);
    }

    /// Lines between two rules. The first one that is not empty is the title.
    fn lines(&mut self, mut text: &str) {
        while self.open.is_none() && !text.is_empty() {
            let (raw, rest) = text.split_once('\n').unwrap_or((text, ""));
            self.line += 1;
            text = rest;
            let title = raw.trim_start_matches("*** ").trim();
            if !title.is_empty() {
                self.open = Some(Open {
                    title: title.to_owned(),
                    first_line: self.line,
                    body: Body::of(title, self.part.input),
                });
            }
        }
        let Some(open) = &mut self.open else { return };
        // A path is followed by what `ls` says about it.
        if open.first_line == self.line
            && let Some((_, rest)) = text.strip_prefix("*** ls:").and_then(|t| t.split_once('\n'))
        {
            self.line += 1;
            open.first_line = self.line;
            text = rest;
        }
        if text.is_empty() {
            return;
        }
        match &mut open.body {
            Body::Kept(kept) => {
                let room = SECTION_MAX.saturating_sub(kept.len());
                kept.push_str(&text[..text.floor_char_boundary(room)]);
            }
            Body::Log(_, log) => {
                // An empty one learns its first line here.
                log.feed_at(text, self.line);
            }
            Body::Scan(current) => scan(text, self.line, current, &mut self.logs, self.part.input),
        }
        self.line += count(text);
    }

    fn end_section(&mut self, parts: &mut Parts) {
        let Some(open) = self.open.take() else { return };
        match open.body {
            Body::Log(view, log) => self.logs.push((view, *log)),
            Body::Scan(current) => self.logs.extend(current.map(|(view, log)| (view, *log))),
            Body::Kept(body) => {
                if body.len() >= SECTION_MAX {
                    let text = format!("Only the first {} MiB of “{}” were read.", SECTION_MAX >> 20, open.title);
                    self.part.note(Some(open.first_line), text);
                }
                let s = Section { title: &open.title, body: &body, first_line: open.first_line };
                if !self.section(&s)
                    && !parts.stretch(s.title, s.body, s.kind(), s.first_line)
                    && !body.trim().is_empty()
                {
                    self.unread.push(open.title);
                }
            }
        }
    }

    /// Reads a section that describes the node; false if it is for the sniffer.
    fn section(&mut self, s: &Section<'_>) -> bool {
        let title = s.title;
        if title.starts_with("Start of NVIDIA bug report") {
            self.each(s, Self::header);
        } else if title.starts_with("/proc/driver/nvidia/") {
            self.files.next_file();
            for (n, raw) in (s.first_line..).zip(s.body.lines()) {
                self.files.line(n, raw, &mut self.part);
            }
        } else if title.starts_with("/sys/bus/pci/devices/") && title.ends_with("/numa_node") {
            self.numa(s);
        } else if title == "/proc/meminfo" {
            self.each(s, Self::meminfo);
        } else if title == "/proc/version" {
            self.each(s, Self::kernel_version);
        } else if title == "/proc/cmdline" {
            self.each(s, Self::cmdline);
        } else if title == "/etc/issue" || title == "/etc/os-release" {
            self.each(s, Self::os);
        } else if title.contains("nvidia-smi") && title.ends_with("--query") {
            self.smi_works(s);
            return false;
        } else {
            let silent = ["Skipping ", "End of NVIDIA", "journalctl", "ldd "].iter().any(|p| title.starts_with(p));
            return silent || title.ends_with(".old");
        }
        true
    }

    fn each(&mut self, s: &Section<'_>, read: fn(&mut Self, u32, &str)) {
        for (n, raw) in (s.first_line..).zip(s.body.lines()) {
            read(self, n, raw);
        }
    }

    fn header(&mut self, n: u32, raw: &str) {
        if let Some(date) = raw.strip_prefix("Date: ").map(str::trim).filter(|d| !d.is_empty()) {
            // A date in another language is kept under a name of its own: it may not be read as a time.
            let key = if date.is_ascii() { &keys::REPORT_DATE } else { &keys::REPORT_DATE_RAW };
            self.part.put(key, &[], date, Trust::Text, n, raw);
        } else if let Some(uname) = raw.strip_prefix("uname: ") {
            let mut words = uname.split_whitespace().skip(1);
            self.part.host = words.next().map(str::to_owned);
            if let Some(release) = words.next() {
                self.part.put(&keys::KERNEL, &[], release, Trust::Text, n, raw);
            }
        }
    }

    fn numa(&mut self, s: &Section<'_>) {
        let address = s.title.split('/').nth(5).and_then(bus_id);
        if let (Some(a), Some(raw)) = (address, s.body.lines().next())
            && let Ok(node) = raw.trim().parse::<i64>()
        {
            self.numa.insert(a, (node, s.first_line, raw.to_owned()));
        }
    }

    fn meminfo(&mut self, n: u32, raw: &str) {
        let kib = raw.strip_prefix("MemTotal:").and_then(|v| v.trim().strip_suffix(" kB")?.trim().parse::<i64>().ok());
        if let Some(kib) = kib {
            self.part.put(&keys::MEMORY_TOTAL, &[], kib / 1024, Trust::Text, n, raw);
        }
    }

    fn kernel_version(&mut self, n: u32, raw: &str) {
        if raw.starts_with("Linux version ") && raw.contains("microsoft") {
            self.part.put(&keys::WSL2, &[], true, Trust::Text, n, raw);
        }
    }

    fn cmdline(&mut self, n: u32, raw: &str) {
        // Only what bears on the GPU: a command line can hold secrets.
        const FRONTS: &[&str] = &[
            "iommu",
            "intel_iommu",
            "amd_iommu",
            "pci=",
            "pcie_",
            "nouveau",
            "nvidia",
            "rd.driver.blacklist",
            "modprobe.blacklist",
            "nomodeset",
            "numa",
            "isolcpus",
            "mitigations",
        ];
        let words: Vec<&str> = raw.split_whitespace().filter(|w| FRONTS.iter().any(|f| w.starts_with(f))).collect();
        if !words.is_empty() {
            let text = words.join(" ");
            self.part.put(&keys::KERNEL_CMDLINE, &[], text.as_str(), Trust::Text, n, &text);
        }
    }

    fn os(&mut self, n: u32, raw: &str) {
        let name = raw.strip_prefix("PRETTY_NAME=").map_or(raw, |v| v.trim_matches('"'));
        let name = name.replace("\\n", "").replace("\\l", "").replace("\\r", "");
        let name = name.trim();
        let plain =
            !name.is_empty() && !name.contains('=') && !name.contains('\\') && name.bytes().any(|b| b.is_ascii_digit());
        if plain && self.part.facts.get(&keys::OS, &[]).is_none() {
            self.part.put(&keys::OS, &[], name, Trust::Text, n, raw);
        }
    }

    fn smi_works(&mut self, s: &Section<'_>) {
        let line = |mark: &str| (s.first_line..).zip(s.body.lines()).find(|(_, l)| l.contains(mark));
        if let Some((n, raw)) = line("NVSMI LOG") {
            self.part.put(&keys::SMI_WORKS, &[], true, Trust::Text, n, raw);
            return;
        }
        let said =
            ["couldn't find libnvidia-ml", "has failed because", "Failed to initialize NVML", "No devices were found"];
        if let Some((n, raw)) = said.iter().find_map(|m| line(m)) {
            self.part.put(&keys::SMI_WORKS, &[], false, Trust::Text, n, raw);
        }
    }

    fn finish(mut self) -> Part {
        if !self.unread.is_empty() {
            let more = self.unread.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            self.unread.truncate(NAMED);
            self.part.note(None, format!("Sections that are not read: {}{more}.", self.unread.join(", ")));
        }
        for (i, (node, n, raw)) in self.numa.values().enumerate() {
            self.part.put(&keys::GPU_NUMA, &[i], *node, Trust::Text, *n, raw);
        }
        self.files.finish(&mut self.part);
        for (_, log) in self.logs.iter_mut().filter(|(v, _)| *v == View::Present) {
            log.facts(&mut self.part);
        }
        let running = self.part.facts.get(&keys::MODULE_VERSION, &[]).map(|v| v.value);
        if !self.logs.is_empty() {
            let events = merge(self.logs, running.as_deref());
            kernel::put_events(events, &mut self.part);
        }
        self.part
    }
}

impl Body {
    fn of(title: &str, input: u32) -> Self {
        let log = |view| Self::Log(view, Box::new(KernelLog::new(input)));
        if title.starts_with("Scanning kernel log files") {
            Self::Scan(None)
        } else if title == "dmesg:" || title.ends_with("/dmesg") || title.starts_with("dmesg ") {
            log(View::Present)
        } else if title.starts_with("journalctl") && (title.contains(" -k") || title.contains("_TRANSPORT=kernel")) {
            log(journal(title))
        } else {
            Self::Kept(String::new())
        }
    }
}

/// `  /var/log/kern.log:` and `  journalctl -b -1:` head the logs that were searched.
fn scan(
    text: &str,
    line: u32,
    open: &mut Option<(View, Box<KernelLog>)>,
    logs: &mut Vec<(View, KernelLog)>,
    input: u32,
) {
    let feed = |open: &mut Option<(View, Box<KernelLog>)>, from: usize, to: usize, line: u32| {
        if let Some((_, log)) = open.as_mut().filter(|_| from < to) {
            log.feed_at(&text[from..to], line);
        }
    };
    let (mut from, mut from_line) = (0, line);
    let (mut at, mut n) = (0, line);
    for raw in text.split_inclusive('\n') {
        let next = at + raw.len();
        n += 1;
        let heads = raw.starts_with("  /") || raw.starts_with("  journalctl");
        if let Some(name) = raw.trim().strip_suffix(':').filter(|_| heads) {
            feed(open, from, at, from_line);
            logs.extend(open.take().map(|(view, log)| (view, *log)));
            let view = if name.starts_with('/') { View::File } else { journal(name) };
            *open = Some((view, Box::new(KernelLog::new(input))));
            (from, from_line) = (next, n);
        }
        at = next;
    }
    feed(open, from, text.len(), from_line);
}

/// `journalctl -b -0` is this boot, `-b -1` the one before.
fn journal(title: &str) -> View {
    let back = title.split_once("-b ").and_then(|(_, b)| b.split([' ', ':']).next()).unwrap_or("0");
    if matches!(back, "0" | "-0") || back.starts_with("_") { View::Present } else { View::Earlier }
}

/// Joins the views of the log. A text that stands n times in one view and m times in another of the same boot was logged
/// max(n, m) times: the same line has other time stamps in each.
fn merge(logs: Vec<(View, KernelLog)>, running: Option<&str>) -> Vec<KernelEvent> {
    let mut views: Vec<(View, Vec<KernelEvent>)> = logs.into_iter().map(|(v, mut l)| (v, l.take_events())).collect();
    // The ring buffer first: it has the exact times, and is what people look at.
    views.sort_by_key(|(v, e)| (*v as u8, e.iter().all(|e| e.since_boot_s.is_none())));
    let mut out: Vec<KernelEvent> = Vec::new();
    let mut present: BTreeMap<String, usize> = BTreeMap::new();
    let mut earlier: BTreeMap<String, usize> = BTreeMap::new();
    for (view, events) in views {
        let same_boot = match view {
            View::Present => true,
            View::Earlier => false,
            View::File => ends_in_present_boot(&events, &out, running),
        };
        let (mut here, mut past) = (BTreeMap::new(), BTreeMap::new());
        for mut e in events {
            let last_boot = e.boot == Boot::Present && view != View::Earlier;
            // The last boot of a file may be this one even where that cannot be shown: what is known of it is not new.
            if last_boot && again(&mut here, &mut present, &e.text, same_boot) {
                continue;
            }
            if !(last_boot && same_boot) {
                if again(&mut past, &mut earlier, &e.text, true) {
                    continue;
                }
                e.boot = Boot::Earlier;
            }
            out.push(e);
        }
    }
    out
}

/// True if this text was counted as often in another view; counts it if `count`.
fn again(seen: &mut BTreeMap<String, usize>, known: &mut BTreeMap<String, usize>, text: &str, count: bool) -> bool {
    let n = seen.entry(text.to_owned()).or_insert(0);
    *n += 1;
    let k = known.get(text).copied().unwrap_or(0);
    if k >= *n {
        return true;
    }
    if count {
        known.insert(text.to_owned(), *n);
    }
    false
}

/// The end of a log file is of the present boot if it shares a line, time included, with the ring buffer; or, where
/// nothing is known of the present boot, if the driver that it last saw loaded is the one that runs.
fn ends_in_present_boot(file: &[KernelEvent], known: &[KernelEvent], running: Option<&str>) -> bool {
    let last: Vec<&KernelEvent> = file.iter().filter(|e| e.boot == Boot::Present).collect();
    let mut present = known.iter().filter(|e| e.boot == Boot::Present).peekable();
    if present.peek().is_none() {
        let loaded = last.iter().rev().find_map(|e| match &e.kind {
            KernelKind::ModuleLoaded { version, .. } => Some(version.as_str()),
            _ => None,
        });
        return loaded.is_some() && loaded == running;
    }
    let same_time = |a: f64, b: f64| (a - b).abs() < 1e-6;
    present.any(|p| {
        last.iter()
            .any(|e| e.text == p.text && e.since_boot_s.zip(p.since_boot_s).is_some_and(|(a, b)| same_time(a, b)))
    })
}
