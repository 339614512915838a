//! `nvidia-smi -q` that has lost its indentation, as web forms and chats make it: the sections are known by name, so that
//! the tree can be put together again.
//!
//! Where two sections could hold a line, the innermost open one has it; a section that is not known hides its lines.

use super::field::{Form, find, is_section};

/// True if no line of a text of several is indented differently from the others.
pub(super) fn is_flat(text: &str) -> bool {
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

/// The path to the present line.
#[derive(Debug, Default)]
pub(super) struct Flat {
    /// Open sections, with the line that each began in.
    open: Vec<(String, usize)>,
    path: String,
}

impl Flat {
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.path.clear();
    }

    /// Enters a line; `name` is its key in the form of the table of fields.
    pub(super) fn push(&mut self, name: &str, has_value: bool, line: usize) {
        for depth in (0..=self.open.len()).rev() {
            let path = match depth.checked_sub(1).map(|d| self.open[d].0.as_str()) {
                Some(parent) => format!("{parent}/{name}"),
                None => name.to_owned(),
            };
            // "HW Slowdown" and "Process ID" have a value and are a section too.
            let section = is_section(&path);
            if section || has_value && find(Form::Q, &path).is_some() {
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

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Line of the heading that the present line stands under; 0 for none.
    pub(super) fn section(&self) -> usize {
        let above = self.open.iter().rev().find(|o| o.0 != self.path);
        above.map_or(0, |o| o.1)
    }
}
