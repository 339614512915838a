//! A page of styled lines: indents, wrapping and columns within a width.
//!
//! It does not know what it says. Colours are always in it; printing through `anstream` takes them out where they are not
//! wanted (no terminal, `NO_COLOR`).

use std::fmt::Write as _;

use owo_colors::{OwoColorize, Style};
use textwrap::core::display_width;

/// A page that is being written.
#[derive(Debug)]
pub(crate) struct Canvas {
    text: String,
    width: usize,
}

impl Canvas {
    /// An empty page of a width in columns.
    pub(crate) fn new(width: usize) -> Self {
        Self { text: String::new(), width }
    }

    /// Columns of the page.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The finished page.
    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// An empty line, unless the page starts or there is one already.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A heading of a part of the page.
    pub(crate) fn heading(&mut self, text: &str) {
        self.gap();
        self.line(&[(text, Style::new().bold())]);
    }

    /// One line of pieces that are not wrapped.
    pub(crate) fn line(&mut self, pieces: &[(&str, Style)]) {
        for (text, style) in pieces {
            let _ = write!(self.text, "{}", text.style(*style));
        }
        self.text.push('\n');
    }

    /// A line with something at its right end; the left part is cut where both do not fit.
    pub(crate) fn ends(&mut self, left: &[(&str, Style)], right: (&str, Style)) {
        let used: usize = left.iter().map(|(t, _)| display_width(t)).sum();
        let room = self.width.saturating_sub(display_width(right.0));
        if used + 1 >= room {
            self.line(left);
            return;
        }
        for (text, style) in left {
            let _ = write!(self.text, "{}", text.style(*style));
        }
        let _ = writeln!(self.text, "{:pad$}{}", "", right.0.style(right.1), pad = room - used);
    }

    /// A paragraph, wrapped. `mark` stands before its first line; the others are indented to match.
    pub(crate) fn wrap(&mut self, indent: usize, mark: (&str, Style), text: &str, style: Style) {
        let hang = indent + display_width(mark.0);
        // Options and paths have hyphens: a word that is split there cannot be copied.
        let options = textwrap::Options::new(self.width.saturating_sub(hang).max(20))
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        let lines = textwrap::wrap(text, options);
        for (n, line) in lines.iter().enumerate() {
            if n == 0 {
                let _ = write!(self.text, "{:indent$}{}", "", mark.0.style(mark.1));
            } else {
                let _ = write!(self.text, "{:hang$}", "");
            }
            let _ = writeln!(self.text, "{}", line.style(style));
        }
    }

    /// A line that is kept whole for copying: it is not wrapped, whatever its length.
    pub(crate) fn verbatim(&mut self, indent: usize, text: &str, style: Style) {
        for line in text.lines() {
            let _ = writeln!(self.text, "{:indent$}{}", "", line.style(style));
        }
    }

    /// A line that is cut at the page's edge.
    pub(crate) fn cut(&mut self, indent: usize, mark: (&str, Style), text: &str, style: Style) {
        let room = self.width.saturating_sub(indent + display_width(mark.0));
        let _ = writeln!(self.text, "{:indent$}{}{}", "", mark.0.style(mark.1), clip(text, room).style(style));
    }
}

/// The text, cut to a number of columns with an ellipsis.
pub(crate) fn clip(text: &str, columns: usize) -> String {
    if display_width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += display_width(c.encode_utf8(&mut [0; 4]));
        if used > columns {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// The text, cut to a number of columns at its front.
pub(crate) fn clip_front(text: &str, columns: usize) -> String {
    if display_width(text) <= columns {
        return text.to_owned();
    }
    let mut from = text.len();
    let mut used = 1;
    for (at, c) in text.char_indices().rev() {
        used += display_width(c.encode_utf8(&mut [0; 4]));
        if used > columns {
            break;
        }
        from = at;
    }
    format!("…{}", &text[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_columns_and_not_by_bytes() {
        assert_eq!(clip("日本語", 5), "日本…");
        assert_eq!(clip_front("日本語", 5), "…本語");
        assert_eq!(clip("abc", 3), "abc");
        assert_eq!(clip_front("abcd", 3), "…cd");
    }
}
