//! The report as Markdown, for an issue or a chat.
//!
//! It shows what the report says and nothing else.

use std::fmt::Write as _;

use checks::report::{Finding, Level, Report};

use super::words;

/// The Markdown of one report.
pub(crate) fn markdown(report: &Report) -> String {
    let mut out = String::new();
    let who = words::subject(report);
    let _ = writeln!(out, "# {}\n", escape(if who.is_empty() { "Report" } else { &who }));
    let _ = writeln!(out, "**{}**", escape(&report.headline.text));
    if let Some(gain) = words::at_most(report.headline.recoverable_share) {
        let _ = writeln!(out, "\nTime that can come back: {gain}.");
    }
    layers(report, &mut out);
    step(report, &mut out);
    let of = |level: fn(Level) -> bool| report.findings.iter().filter(move |f| level(f.verdict));
    if of(Level::is_problem).next().is_some() {
        let _ = writeln!(out, "\n## Findings");
    }
    for (n, f) in of(Level::is_problem).enumerate() {
        finding(report, n + 1, f, &mut out);
    }
    if of(|l| l == Level::Info).next().is_some() {
        let _ = writeln!(out, "\n## Worth knowing\n");
    }
    for f in of(|l| l == Level::Info) {
        let _ = writeln!(out, "- `{}` {}", f.id, escape(&f.message));
    }
    let unknown = words::missing(of(|l| l == Level::Unknown));
    if !unknown.is_empty() {
        let _ = writeln!(out, "\n## Cannot say yet\n");
        for (source, n, needs) in unknown {
            let _ = writeln!(out, "- {source} ({}): {}", words::plural(n, "check", "checks"), escape(&needs));
        }
    }
    if let Some(next) = report.next_evidence.first() {
        let _ = writeln!(out, "\n## What would decide next\n");
        let _ = writeln!(out, "{}\n{}", fence(&next.command, "sh"), escape(&next.why));
    }
    let _ = writeln!(out, "\n## Read\n");
    for input in &report.inputs {
        let _ = writeln!(out, "- {}: {}", input.kind, escape(&input.name));
        for note in &input.notes {
            let _ = writeln!(out, "  - {}", escape(&note.text));
        }
    }
    out
}

fn layers(report: &Report, out: &mut String) {
    let _ = writeln!(out, "\n| layer | | measured |\n| --- | --- | --- |");
    for l in &report.layers {
        let here = if report.start_here() == Some(l.id) { " ← start here" } else { "" };
        let letter = words::letter(l.status);
        let _ = writeln!(out, "| {} {}{here} | {letter} | {} of {} |", l.id.number(), l.id.name(), l.measured, l.total);
    }
}

fn step(report: &Report, out: &mut String) {
    let Some(step) = &report.step else { return };
    let steps = words::plural(step.steps, "step", "steps");
    let _ = writeln!(out, "\n## Where a step goes\n");
    let _ = writeln!(out, "{} on average over {steps}, {}.\n", words::ms(step.mean_ms), words::source(step.source));
    let _ = writeln!(out, "| part | time | share |\n| --- | ---: | ---: |");
    for (name, ms) in step.ms.bars() {
        let (time, share) = match ms {
            Some(ms) => (words::ms(ms), words::percent(ms / step.mean_ms)),
            None => ("not measured".to_owned(), String::new()),
        };
        let _ = writeln!(out, "| {name} | {time} | {share} |");
    }
}

fn finding(report: &Report, rank: usize, f: &Finding, out: &mut String) {
    let _ = writeln!(out, "\n### {rank}. {} {}\n", words::letter(f.verdict), escape(&f.title));
    let gain = words::at_most(f.recoverable_share).map(|g| format!(" ({g})")).unwrap_or_default();
    let _ = writeln!(out, "{}{gain} `{}`", escape(&f.message), f.id);
    if !f.evidence.is_empty() {
        out.push('\n');
    }
    for e in &f.evidence {
        let place = words::place(e, &report.inputs).map(|p| format!(" ({})", escape(&p))).unwrap_or_default();
        let _ = writeln!(out, "- {}{place}", escape(&words::observed(e)));
        if let Some(quote) = &e.quote {
            let _ = writeln!(out, "  {}", code(&words::plain(quote)));
        }
    }
    let Some(fix) = &f.fix else { return };
    let _ = writeln!(out, "\n**Fix** ({})\n", words::applicability(fix.applicability));
    for (n, step) in fix.steps.iter().enumerate() {
        let _ = writeln!(out, "{}. {} {}", n + 1, escape(&step.text), words::tags(&step.tags));
        if let Some(command) = &step.command {
            let indented = fence(command, "sh").replace('\n', "\n   ");
            let _ = writeln!(out, "   {}", indented.trim_end());
        }
    }
    let _ = writeln!(out, "\nThen {} shows {}.", code(&fix.verify.command), escape(&fix.verify.expect));
}

/// Text without effect as Markdown or HTML.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in words::plain(text).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Code in a line, with more backticks around it than stand in it.
fn code(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text) + 1);
    format!("{ticks} {text} {ticks}")
}

/// A block of code, with a longer fence than any in it.
fn fence(text: &str, language: &str) -> String {
    let ticks = "`".repeat((longest_run(text) + 1).max(3));
    format!("{ticks}{language}\n{}\n{ticks}\n", text.trim_end())
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_stays_text() {
        assert_eq!(escape("<script>a|b`c"), "\\<script\\>a\\|b\\`c");
        assert_eq!(code("a ``b`` c"), "``` a ``b`` c ```");
        assert!(fence("```\nx", "sh").starts_with("````sh\n"));
    }
}
