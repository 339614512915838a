//! `nvidia-smi -q`: a tree by indentation. Keys such as `Current`, `Max` and `Total` come many times, so that each value
//! is addressed by its whole path. Sections (`-d`), fragments without a heading and several logs in a row are read too.
//!
//! It does not know which column the colon stands in: that moves from driver to driver.

use super::field::{Form, Scope, find};
use super::latest::At;
use super::reading::{Entry, Log, Readings};
use super::tree::Tree;
use super::value;
use crate::intake::Part;

/// Headings that hardly anything else prints; two of them are enough for a fragment.
const MARKS: &[&str] = &[
    "clocks throttle reasons",
    "clocks event reasons",
    "fb memory usage",
    "bar1 memory usage",
    "gpu link info",
    "pcie generation",
    "gpu power readings",
    "power readings",
    "applications clocks",
    "max customer boost clocks",
    "retired pages",
    "remapped rows",
    "gpu virtualization mode",
    "inforom version",
    "gpu operation mode",
    "ecc errors",
    "max clocks",
    "gpu current temp",
    "gpu t.limit temp",
    "pending page blacklist",
    "hw thermal slowdown",
    "hw power brake slowdown",
    "gpu shutdown temp",
    "enforced power limit",
    "current power limit",
    "product name",
    "gpu uuid",
    "vbios version",
    "performance state",
];

/// True for the text of `nvidia-smi -q`, whole or in part.
pub(in crate::intake) fn looks_like_q(head: &str) -> bool {
    if head.lines().any(starts_q) {
        return true;
    }
    let mut marks = 0u64;
    let mut heading = false;
    for line in head.lines() {
        let (key, _) = split(line.trim());
        let key = name(key);
        if let Some(i) = MARKS.iter().position(|m| *m == key) {
            marks |= 1 << i;
        }
        heading |= gpu_heading(line.trim()).is_some();
    }
    marks.count_ones() >= 2 || heading && marks != 0
}

/// Reads it.
pub(in crate::intake) fn q(text: &str, part: &mut Part) {
    let mut reader = Reader {
        readings: Readings::new(Form::Q),
        log: Log::default(),
        tree: Tree::of(text),
        gpu_indent: None,
        mig_mode: None,
    };
    let open_end = !text.ends_with('\n');
    let last = text.lines().count();
    for (i, raw) in text.lines().enumerate() {
        let at = At { line: u32::try_from(i + 1).unwrap_or(u32::MAX), quote: raw };
        if !raw.trim().is_empty() {
            reader.line(raw, at, open_end && i + 1 == last, part);
        }
    }
    reader.readings.add(&reader.log, false, part);
    reader.readings.put(part);
}

struct Reader<'t> {
    readings: Readings,
    log: Log<'t>,
    tree: Tree,
    /// Indentation of the heading of the present GPU.
    gpu_indent: Option<usize>,
    /// Depth of the section "MIG Mode" while the list of MIG devices may follow.
    mig_mode: Option<usize>,
}

impl<'t> Reader<'t> {
    fn line(&mut self, raw: &'t str, at: At<'t>, cut: bool, part: &mut Part) {
        let body = raw.trim();
        if starts_q(body) {
            self.next_log(part);
            return;
        }
        if let Some(bus) = gpu_heading(body) {
            self.log.gpu((!cut).then_some((bus, at)));
            self.tree.clear();
            self.gpu_indent = Some(indent(raw));
            self.mig_mode = None;
            if body.to_ascii_lowercase().contains("gpu is lost") {
                self.log.lost(at);
            }
            return;
        }
        let (key, text) = split(body);
        let name = name(key);
        let indent = indent(raw);
        // Below the heading of a GPU everything is indented more than the heading. What is not belongs to the node, or
        // is a stray line such as a warning.
        if !self.tree.is_flat() && self.gpu_indent.is_some_and(|g| indent <= g) {
            let Some(found) = find(Form::Q, &name).filter(|f| f.field().scope == Scope::Node) else { return };
            if self.log.has(found) {
                self.next_log(part);
            }
            self.tree.clear();
        }
        let sound = self.tree.push(&name, text.is_some(), indent, at.line as usize);
        if !sound {
            self.log.mixed(self.tree.section());
        }
        if self.tree.path() == "mig device" && text.is_none() {
            self.log.slot(Scope::Mig);
        }
        self.watch_migs();
        let Some(text) = text else { return };
        if let Some(found) = find(Form::Q, self.tree.path()) {
            if self.log.has(found) {
                self.readings.add(&std::mem::take(&mut self.log), true, part);
            }
            let section = self.tree.section();
            self.log.push(Entry { found, text: text.into(), at, section, cut });
            if found.field().scope == Scope::Node {
                // Nothing stands below a value of the node: what follows deeper is a GPU whose heading is missing.
                self.tree.clear();
            }
        } else if value::is_lost(text) {
            self.log.lost(at);
        }
    }

    fn next_log(&mut self, part: &mut Part) {
        self.readings.add(&std::mem::take(&mut self.log), true, part);
        self.tree.clear();
        self.gpu_indent = None;
        self.mig_mode = None;
    }

    /// The MIG devices follow the MIG mode directly: whatever else comes at its level ends their list. What stands below
    /// the mode and is not known has lost its own heading, so that the list is not whole.
    fn watch_migs(&mut self) {
        let path = self.tree.path();
        let depth = self.tree.depth();
        let Some(at) = self.mig_mode else {
            if path == "mig mode" && !self.tree.is_flat() {
                self.mig_mode = Some(depth);
            }
            return;
        };
        let ended = depth <= at && !path.starts_with("mig");
        if ended || path.starts_with("mig mode/") && find(Form::Q, path).is_none() {
            if let Some(gpu) = self.log.gpus.last_mut() {
                gpu.migs_whole = ended;
            }
            self.mig_mode = None;
        }
    }
}

/// The heading `==============NVSMI LOG==============`.
pub(in crate::intake) fn starts_q(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("==") && line.contains("NVSMI LOG")
}

/// The bus id of `GPU 00000000:3B:00.0`, also with a domain of four digits.
fn gpu_heading(body: &str) -> Option<&str> {
    let bus = body.strip_prefix("GPU ")?.trim_start();
    let end = bus.find(|c: char| !(c.is_ascii_hexdigit() || matches!(c, ':' | '.'))).unwrap_or(bus.len());
    let (bus, rest) = bus.split_at(end);
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let bus = bus.trim_end_matches(':');
    crate::fact::bus_id(bus).filter(|_| bus.matches(':').count() == 2).map(|_| bus)
}

/// Splits `Key   : value`. The first colon that stands alone counts: bus ids and dates hold colons too.
fn split(body: &str) -> (&str, Option<&str>) {
    let at = body.find(" : ").map(|at| (at, at + 3)).or_else(|| {
        let key = body.strip_suffix(':').filter(|k| k.ends_with(char::is_whitespace));
        key.map(|k| (k.len(), body.len())).or_else(|| body.find(": ").map(|at| (at, at + 2)))
    });
    match at {
        Some((end, begin)) => (body[..end].trim_end(), Some(body[begin..].trim())),
        None => (body, None),
    }
}

/// A key in the form of the table: lower case, single blanks.
fn name(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    for word in key.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out.make_ascii_lowercase();
    out
}

/// Columns before the first character; a tab goes to the next multiple of eight.
fn indent(raw: &str) -> usize {
    let mut column = 0;
    for c in raw.chars() {
        match c {
            '\t' => column = (column / 8 + 1) * 8,
            c if c.is_whitespace() => column += 1,
            _ => break,
        }
    }
    column
}
