//! The path of each line of `nvidia-smi -q`, from its indentation or, where that is lost, from the names of its sections.
//!
//! It does not know what the values are.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::field::{is_foreign, is_section, is_value};

/// The path from the GPU (or the log) to the present line.
#[derive(Debug)]
pub(super) enum Tree {
    /// By indentation.
    Indented(Indented),
    /// By names: web forms and chats take the indentation away.
    Flat(Flat),
}

impl Tree {
    /// The tree for a text.
    pub(super) fn of(text: &str) -> Self {
        if is_flat(text) { Self::Flat(Flat::default()) } else { Self::Indented(Indented::default()) }
    }

    pub(super) fn is_flat(&self) -> bool {
        matches!(self, Self::Flat(_))
    }

    /// Leaves all sections.
    pub(super) fn clear(&mut self) {
        match self {
            Self::Indented(t) => *t = Indented::default(),
            Self::Flat(t) => *t = Flat::default(),
        }
    }

    /// Enters a line; `name` is its key in the form of the table of fields. False if it cannot stand where it stands: a
    /// heading before it is missing, and its section holds the values of two.
    pub(super) fn push(&mut self, name: &str, has_value: bool, indent: usize, line: usize) -> bool {
        match self {
            Self::Indented(t) => t.push(name, indent, line),
            Self::Flat(t) => {
                t.push(name, has_value, line);
                true
            }
        }
    }

    /// The path of the present line; empty if it is not known.
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Indented(t) => &t.path,
            Self::Flat(t) => &t.path,
        }
    }

    /// How many sections the present line stands under.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::Indented(t) => t.nodes.len().saturating_sub(1),
            Self::Flat(t) => t.open.len(),
        }
    }

    /// Line of the heading that the present line stands under; 0 for none.
    pub(super) fn section(&self) -> usize {
        match self {
            Self::Indented(t) => t.nodes.len().checked_sub(2).map_or(0, |i| t.nodes[i].line),
            Self::Flat(t) => t.open.iter().rev().find(|o| o.0 != t.path).map_or(0, |o| o.1),
        }
    }
}

/// Sections by indentation.
#[derive(Debug, Default)]
pub(super) struct Indented {
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
    /// It can stand where it stands, and so can what it stands under.
    sound: bool,
    /// Hashes of the children's names.
    names: Vec<u64>,
}

impl Indented {
    fn push(&mut self, name: &str, indent: usize, line: usize) -> bool {
        // A line left of the children of a node is not one of them, even where it is right of the node itself: the
        // first line of a paste often has lost its indentation.
        while self.nodes.last().is_some_and(|n| n.children.unwrap_or(n.indent + 1) > indent) {
            self.nodes.pop();
        }
        let above = self.nodes.last().map_or(0, |n| n.path);
        self.path.truncate(above);
        if above > 0 {
            self.path.push('/');
        }
        self.path.push_str(name);
        let mut sound = true;
        if let Some(parent) = self.nodes.last_mut() {
            parent.children.get_or_insert(indent);
            let mut hasher = DefaultHasher::new();
            name.hash(&mut hasher);
            let hash = hasher.finish();
            sound = parent.sound && !parent.names.contains(&hash) && !is_foreign(&self.path[..above], name, &self.path);
            if sound {
                parent.names.push(hash);
            }
        }
        self.nodes.push(Node { indent, children: None, path: self.path.len(), line, sound, names: Vec::new() });
        sound
    }
}

/// Sections by name. Where two open sections could hold a line, the innermost has it; a section that is not known hides
/// its lines.
#[derive(Debug, Default)]
pub(super) struct Flat {
    /// Open sections, with the line that each began in.
    open: Vec<(String, usize)>,
    path: String,
}

impl Flat {
    fn push(&mut self, name: &str, has_value: bool, line: usize) {
        for depth in (0..=self.open.len()).rev() {
            let path = match depth.checked_sub(1).map(|d| self.open[d].0.as_str()) {
                Some(parent) => format!("{parent}/{name}"),
                None => name.to_owned(),
            };
            // "HW Slowdown" and "Process ID" have a value and are a section too.
            let section = is_section(&path);
            if section || has_value && is_value(&path) {
                self.open.truncate(depth);
                if section {
                    self.open.push((path.clone(), line));
                }
                self.path = path;
                return;
            }
        }
        self.path.clear();
        if !has_value {
            self.open.clear();
        }
    }
}

/// True if no line of a text of several is indented differently from the others.
fn is_flat(text: &str) -> bool {
    let mut indents = text.lines().filter(|l| !l.trim().is_empty()).map(|l| l.len() - l.trim_start().len());
    let Some(first) = indents.next() else { return false };
    let mut lines = 1;
    for indent in indents {
        if indent != first {
            return false;
        }
        lines += 1;
    }
    lines > 2
}
