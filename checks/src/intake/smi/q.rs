//! `nvidia-smi -q`: a tree by indentation. Keys such as `Current`, `Max` and `Total` come many times, so that each value
//! is addressed by its whole path. Sections (`-d`), fragments without a heading and several logs in a row are read too.
//!
//! It does not know which column the colon stands in: that moves from driver to driver.

use super::field::{Form, Scope, find};
use super::latest::At;
use super::reading::{Entry, Log, Readings};
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
    let mut readings = Readings::new(Form::Q);
    let mut log = Log::default();
    let mut tree = Tree::default();
    let mut mig_mode_depth = None;
    // Indentation of the heading of the present GPU.
    let mut gpu_indent: Option<usize> = None;
    let open_end = !text.ends_with('\n');
    let last = text.lines().count();

    for (i, raw) in text.lines().enumerate() {
        let at = At { line: u32::try_from(i + 1).unwrap_or(u32::MAX), quote: raw };
        let body = raw.trim();
        if body.is_empty() {
            continue;
        }
        if starts_q(body) {
            readings.add(&std::mem::take(&mut log), true, part);
            tree.clear();
            gpu_indent = None;
            continue;
        }
        let cut = open_end && i + 1 == last;
        if let Some(bus) = gpu_heading(body) {
            log.gpu((!cut).then_some((bus, at)));
            tree.clear();
            gpu_indent = Some(indent(raw));
            if body.to_ascii_lowercase().contains("gpu is lost") {
                log.lost(at);
            }
            continue;
        }
        let (key, text) = split(body);
        let indent = indent(raw);
        // Below the heading of a GPU everything is indented more than the heading. What is not belongs to the node, or
        // is a stray line such as a warning.
        if gpu_indent.is_some_and(|g| indent <= g) {
            let Some(found) = find(Form::Q, &name(key)).filter(|f| f.field().scope == Scope::Node) else { continue };
            if log.has(found) {
                readings.add(&std::mem::take(&mut log), true, part);
                tree.clear();
                gpu_indent = None;
            }
        }
        let depth = tree.push(indent, key, i + 1);
        let path = tree.path();
        if path == "mig device" && text.is_none() {
            log.slot(Scope::Mig);
        }
        // The MIG devices follow the MIG mode directly: whatever else comes at its level ends their list.
        // What else stands below the mode has lost its own heading.
        if let Some(at) = mig_mode_depth
            && (depth <= at && !path.starts_with("mig")
                || path.starts_with("mig mode/") && find(Form::Q, path).is_none())
        {
            if let Some(gpu) = log.gpus.last_mut() {
                gpu.migs_whole = depth <= at;
            }
            mig_mode_depth = None;
        } else if path == "mig mode" {
            mig_mode_depth = Some(depth);
        }
        let Some(text) = text else { continue };
        if let Some(found) = find(Form::Q, path) {
            if log.has(found) {
                readings.add(&std::mem::take(&mut log), true, part);
            }
            log.push(Entry { found, text: text.into(), at, section: tree.section(), cut });
        } else if value::is_lost(text) {
            log.lost(at);
        }
    }
    readings.add(&log, false, part);
    readings.put(part);
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

/// The path from the GPU to the present line.
#[derive(Debug, Default)]
struct Tree {
    nodes: Vec<Node>,
    path: String,
}

#[derive(Debug)]
struct Node {
    indent: usize,
    /// Indentation of the children, once the first one has come.
    children: Option<usize>,
    /// Length of the path up to here.
    path: usize,
    line: usize,
}

impl Tree {
    fn clear(&mut self) {
        self.nodes.clear();
        self.path.clear();
    }

    /// Enters a line and returns its depth, from 0.
    fn push(&mut self, indent: usize, key: &str, line: usize) -> usize {
        // A line left of the children of a node is not one of them, even where it is right of the node itself: the
        // first line of a paste often has lost its indentation.
        while self.nodes.last().is_some_and(|n| n.children.unwrap_or(n.indent + 1) > indent) {
            self.nodes.pop();
        }
        if let Some(parent) = self.nodes.last_mut() {
            parent.children.get_or_insert(indent);
        }
        self.path.truncate(self.nodes.last().map_or(0, |n| n.path));
        if !self.path.is_empty() {
            self.path.push('/');
        }
        self.path.push_str(&name(key));
        self.nodes.push(Node { indent, children: None, path: self.path.len(), line });
        self.nodes.len() - 1
    }

    fn path(&self) -> &str {
        &self.path
    }

    /// Line of the heading that the present line stands under; 0 for none.
    fn section(&self) -> usize {
        self.nodes.len().checked_sub(2).map_or(0, |i| self.nodes[i].line)
    }
}
