//! `nvidia-bug-report.log`: a file of many files and command outputs. It is cut at its rules of underscores; what has a
//! format of its own goes through the sniffer as a part, what describes the node is read here.
//!
//! Its kernel logs tell one story several times: `dmesg`, the journal of this boot, those of earlier boots, and files in
//! `/var/log`. Lines are counted once, and history is kept apart from the present boot. It does not judge.

use std::collections::BTreeMap;

use super::driver_files::DriverFiles;
use super::kernel::{self, KernelLog};
use super::parts::Parts;
use super::{Kind, Part};
use crate::fact::{Trust, bus_id};
use crate::keys;
use crate::record::{Boot, KernelEvent, KernelKind};

/// The rule between two sections: 44 underscores on a line of their own.
const RULE: &str = "____________________________________________";
/// Sections that are named in the note about what was not read.
const NAMED: usize = 8;

pub(super) fn looks(head: &str) -> bool {
    head.contains("Start of NVIDIA bug report log file")
}

/// Opens a whole report.
pub(super) fn open(text: &str, parts: &mut Parts) {
    let mut report = Report { part: parts.start(Kind::BugReport), ..Report::new() };
    report.part.bytes = text.len() as u64;
    let mut inner = Vec::new();
    for s in sections(text) {
        if !report.section(&s) {
            inner.push(s);
        }
    }
    let host = report.part.host.clone();
    parts.push("", report.finish());
    let (at, first) = (parts.len() - 1, parts.len());
    let mut unread: Vec<&str> = Vec::new();
    for s in &inner {
        let before = parts.len();
        parts.inner(s.title, s.body, s.kind(), s.first_line);
        if parts.len() == before && !s.body.trim().is_empty() {
            unread.push(s.title);
        }
    }
    for (_, part) in parts.since(first) {
        part.host = host.clone();
    }
    if let Some((_, part)) = parts.since(at).first_mut().filter(|_| !unread.is_empty()) {
        let more = unread.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        unread.truncate(NAMED);
        part.note(None, format!("Sections that are not read: {}{more}.", unread.join(", ")));
    }
}

/// A section: the path or command that it is of, and what it printed.
#[derive(Debug)]
struct Section<'t> {
    title: &'t str,
    body: &'t str,
    /// Line of the first one of `body`, from 1.
    first_line: u32,
}

impl Section<'_> {
    fn kind(&self) -> Option<Kind> {
        let name = self.title.split_whitespace().next().unwrap_or("").rsplit('/').next().unwrap_or("");
        match name {
            "lsmod" | "modules" => Some(Kind::ProcModules),
            _ => None,
        }
    }
}

/// Cuts a report at its rules. The title is the first line behind a rule, `*** ` taken off; an `ls` line follows a path.
fn sections(text: &str) -> Vec<Section<'_>> {
    let mut out = Vec::new();
    let (mut line, mut counted, mut from) = (1u32, 0, 0);
    let mut push = |from: usize, to: usize| {
        let body = &text[from..to];
        let start = body.len() - body.trim_start().len();
        line += lines(&text[counted..from + start]);
        counted = from + start;
        let body = &body[start..];
        let Some((title, rest)) = body.split_once('\n') else { return };
        let (rest, skipped) = match rest.strip_prefix("*** ls:").and_then(|r| r.split_once('\n')) {
            Some((_, r)) => (r, 2),
            None => (rest, 1),
        };
        out.push(Section { title: title.trim_start_matches("*** ").trim(), body: rest, first_line: line + skipped });
    };
    for at in memchr::memmem::find_iter(text.as_bytes(), RULE.as_bytes()) {
        // Only a rule that fills its line; a longer one is met at its start only.
        let begins = at == 0 || text.as_bytes()[at - 1] == b'\n';
        if !begins || at < from {
            continue;
        }
        push(from, at);
        from = at + text[at..].find('\n').map_or(text.len() - at, |n| n + 1);
    }
    push(from, text.len());
    out
}

fn lines(s: &str) -> u32 {
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
    files: DriverFiles,
    numa: BTreeMap<String, (i64, u32, String)>,
    logs: Vec<(View, KernelLog)>,
}

impl Report {
    fn new() -> Self {
        Self {
            part: Part::new(0, Kind::BugReport),
            files: DriverFiles::default(),
            numa: BTreeMap::new(),
            logs: Vec::new(),
        }
    }

    /// Reads a section that describes the node; false if it is for the sniffer.
    fn section(&mut self, s: &Section<'_>) -> bool {
        let title = s.title;
        if title.starts_with("Start of NVIDIA bug report") {
            self.each(s, Self::header);
        } else if title.starts_with("/proc/driver/nvidia/") {
            for (n, raw) in (s.first_line..).zip(s.body.lines()) {
                self.files.line(n, raw, &mut self.part);
            }
        } else if title.starts_with("/sys/bus/pci/devices/") && title.ends_with("/numa_node") {
            self.numa(s);
        } else if title.starts_with("Scanning kernel log files") {
            self.scan(s);
        } else if title == "dmesg:" || title.ends_with("/dmesg") || title.starts_with("dmesg ") {
            self.log(View::Present, s.first_line, s.body);
        } else if title.starts_with("journalctl") && (title.contains(" -k") || title.contains("_TRANSPORT=kernel")) {
            self.log(journal(title), s.first_line, s.body);
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

    /// `  /var/log/kern.log:` and `  journalctl -b -1:` head the logs that were searched.
    fn scan(&mut self, s: &Section<'_>) {
        let mut open: Option<(View, u32, usize)> = None;
        let (mut at, mut n) = (0, s.first_line);
        for raw in s.body.split_inclusive('\n') {
            let name =
                raw.trim_end().strip_suffix(':').and_then(|l| l.strip_prefix("  ")).filter(|l| !l.starts_with(' '));
            if let Some(name) = name.filter(|l| l.starts_with('/') || l.starts_with("journalctl")) {
                if let Some((view, line, from)) = open {
                    self.log(view, line, &s.body[from..at]);
                }
                let view = if name.starts_with('/') { View::File } else { journal(name) };
                open = Some((view, n + 1, at + raw.len()));
            }
            at += raw.len();
            n += 1;
        }
        if let Some((view, line, from)) = open {
            self.log(view, line, &s.body[from..]);
        }
    }

    fn log(&mut self, view: View, line: u32, text: &str) {
        let mut log = KernelLog::new(self.part.input).at_line(line);
        log.feed(text);
        self.logs.push((view, log));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_keep_their_lines() {
        let text = format!(
            "{RULE}\n\nStart of x\na\n\n{RULE}\n\n*** /proc/version\n*** ls: -r--r--r-- 1 root root\nLinux\n{RULE}\n*** /sys/x\n*** ls: y\n0\n\n{RULE}\n\ndmesg:\n\n[ 1.0] x\n"
        );
        let got: Vec<(&str, &str, u32)> =
            sections(&text).into_iter().map(|s| (s.title, s.body.trim_end(), s.first_line)).collect();
        assert_eq!(
            got,
            [("Start of x", "a", 4), ("/proc/version", "Linux", 10), ("/sys/x", "0", 14), ("dmesg:", "\n[ 1.0] x", 19)]
        );
        for s in sections(&text) {
            let line = text.lines().nth(s.first_line as usize - 1).unwrap_or("");
            assert_eq!(s.body.lines().next().unwrap_or(""), line);
        }
    }
}
