//! The documentation of a check, from the catalogue: what it looks for, why it matters, how to confirm and mend it.
//!
//! It writes none of these texts itself.

use checks::catalogue::Entry;
use owo_colors::Style;

use super::canvas::Canvas;

/// Widest page of prose.
const WIDTH_MAX: usize = 100;

/// The page for one check.
pub(crate) fn explain(entry: &Entry, width: usize) -> String {
    let (plain, bold, dim) = (Style::new(), Style::new().bold(), Style::new().dimmed());
    let mut page = Canvas::new(width.clamp(40, WIDTH_MAX));
    let check = entry.check;
    page.ends(&[(check.title, bold)], (check.id, dim));
    let about = format!("Layer {} {} · about {} min by hand", check.layer.number(), check.layer.name(), check.minutes);
    page.line(&[(&about, dim)]);
    for (heading, text) in &entry.docs().parts {
        page.heading(heading);
        for paragraph in text.split("\n\n") {
            block(paragraph, &mut page);
        }
    }
    if !check.limits.is_empty() {
        page.heading("Thresholds");
        for limit in check.limits {
            let unit = if limit.unit.is_empty() { String::new() } else { format!(" {}", limit.unit) };
            let text = format!("{}{unit}. {}.", limit.default, limit.source.trim_end_matches('.'));
            page.wrap(2, (&format!("{} = ", limit.name), plain), &text, dim);
        }
    }
    page.finish()
}

/// A paragraph, a list or code: only the first is wrapped as a whole.
fn block(paragraph: &str, page: &mut Canvas) {
    let mut lines = paragraph.lines().peekable();
    let mut prose = String::new();
    let mut fenced = false;
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            page.verbatim(4, line.trim(), Style::new().cyan());
        } else {
            let item = line.trim_start().strip_prefix("- ");
            if item.is_some() {
                flush(&mut prose, page);
            }
            if !prose.is_empty() {
                prose.push(' ');
            }
            prose.push_str(line.trim());
        }
        if lines.peek().is_none() || fenced {
            flush(&mut prose, page);
        }
    }
}

fn flush(prose: &mut String, page: &mut Canvas) {
    let text = std::mem::take(prose);
    match text.strip_prefix("- ") {
        Some(item) => page.wrap(2, ("- ", Style::new()), item, Style::new()),
        None if text.is_empty() => {}
        None => page.wrap(2, ("", Style::new()), &text, Style::new()),
    }
}
