//! The report on a terminal: the verdict first, then the layers, then what to do.
//!
//! It shows what the report says and nothing else.

use checks::report::{Finding, Layer, Level, Report, StepBreakdown, Work};
use owo_colors::Style;

use super::canvas::{Canvas, clip, clip_front};
use super::words;

/// Narrowest page: below it lines break wherever they must.
const WIDTH_MIN: usize = 40;
/// Widest page: longer lines are hard to read.
const WIDTH_MAX: usize = 120;
/// Evidence lines of one finding.
const EVIDENCE_MAX: usize = 4;
/// Findings on the short page.
const BRIEF_MAX: usize = 5;
/// Notes on one input.
const NOTES_MAX: usize = 3;

/// How the page looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Columns.
    pub width: usize,
    /// The terminal can show block characters.
    pub unicode: bool,
    /// Show every finding in full, also those that passed.
    pub all: bool,
}

/// The page for one report.
pub(crate) fn terminal(report: &Report, look: Look) -> String {
    let mut page = Canvas::new(look.width.clamp(WIDTH_MIN, WIDTH_MAX));
    verdict(report, &mut page);
    layers(report, &mut page);
    if let Some(step) = &report.step {
        breakdown(step, look, &mut page);
    }
    if let Some(work) = &report.work {
        activity(work, &mut page);
    }
    findings(report, look, &mut page);
    unknown(report, look, &mut page);
    next(report, &mut page);
    inputs(report, &mut page);
    page.finish()
}

/// The short page for the end of a run: the verdict, where a step goes, and the findings by name.
pub(crate) fn brief(report: &Report, look: Look) -> String {
    let mut page = Canvas::new(look.width.clamp(WIDTH_MIN, WIDTH_MAX));
    verdict(report, &mut page);
    if let Some(step) = &report.step {
        breakdown(step, look, &mut page);
    }
    let problems = report.findings.iter().filter(|f| f.verdict.is_problem()).take(BRIEF_MAX);
    for (n, f) in problems.enumerate() {
        if n == 0 {
            page.heading("Findings, by time that can come back");
        }
        let letter = format!("{} ", words::letter(f.verdict));
        let gain = words::at_most(f.recoverable_share).unwrap_or_default();
        let left =
            [(letter.as_str(), colour(f.verdict)), (f.title.as_str(), none()), ("   ", none()), (gain.as_str(), dim())];
        page.ends(&left, (&f.id, dim()));
        if let Some(step) = f.fix.as_ref().and_then(|fix| fix.steps.first()) {
            page.wrap(2, ("Fix: ", dim()), &words::plain(&step.text), dim());
        }
    }
    page.finish()
}

fn bold() -> Style {
    Style::new().bold()
}
fn dim() -> Style {
    Style::new().dimmed()
}
fn none() -> Style {
    Style::new()
}

/// Colour of a verdict; the letter says the same.
fn colour(level: Level) -> Style {
    match level {
        Level::Pass => Style::new().green(),
        Level::Info => Style::new().cyan(),
        Level::Warn => Style::new().yellow().bold(),
        Level::Fail => Style::new().red().bold(),
        Level::Unknown | Level::NotApplicable => dim(),
    }
}

fn verdict(report: &Report, page: &mut Canvas) {
    let who = words::subject(report);
    if !who.is_empty() {
        page.line(&[(&who, dim())]);
        page.gap();
    }
    let head = &report.headline;
    let level = head.check.as_deref().and_then(|id| report.finding(id)).map(|f| f.verdict);
    let style = level.map_or_else(bold, colour);
    page.wrap(0, ("", none()), &words::plain(&head.text), style);
    let gain = words::at_most(head.recoverable_share).map(|g| format!("{g} faster without it"));
    if let Some(check) = &head.check {
        page.line(&[
            (gain.as_deref().unwrap_or(""), bold()),
            (if gain.is_some() { "   " } else { "" }, none()),
            (check, dim()),
        ]);
    }
    for note in &report.notes {
        page.wrap(0, ("", none()), &words::plain(&note.text), dim());
    }
}

/// The six layers, the lowest at the bottom as in the walk-through.
fn layers(report: &Report, page: &mut Canvas) {
    page.gap();
    for state in report.layers.iter().rev() {
        let count = match state.status {
            Level::NotApplicable => "does not apply here".to_owned(),
            _ if state.measured == 0 => "nothing measured".to_owned(),
            _ => format!("{} of {} measured", state.measured, state.total),
        };
        let worst: Vec<&str> = report
            .findings
            .iter()
            .filter(|f| f.layer == state.id && f.verdict == state.status && f.verdict.is_problem())
            .map(|f| f.id.split_once('/').map_or(f.id.as_str(), |(_, slug)| slug))
            .collect();
        let name = format!(" {} {:<26} ", state.id.number(), state.id.name());
        let room = page.width().saturating_sub(name.len() + 2 + 19);
        let worst = clip(&worst.join(", "), room);
        let letter = words::letter(state.status);
        page.line(&[
            (letter, colour(state.status)),
            (&name, none()),
            (&format!("{count:<18} "), dim()),
            (&worst, colour(state.status)),
        ]);
    }
    if let Some(start) = report.start_here() {
        page.line(&[("Start here: ", bold()), (&named(start), bold())]);
        page.wrap(0, ("", none()), &format!("It asks: {}", start.question()), dim());
    }
}

fn named(layer: Layer) -> String {
    format!("{} {}", layer.number(), layer.name())
}

fn breakdown(step: &StepBreakdown, look: Look, page: &mut Canvas) {
    page.heading("Where a step goes");
    let ratio = step.traced_ratio.map(|r| format!(", traced steps are {r:.2}× as long")).unwrap_or_default();
    let steps = words::plural(step.steps, "step", "steps");
    let text = format!("{} on average over {steps}, {}{ratio}", words::ms(step.mean_ms), words::source(step.source));
    page.wrap(0, ("", none()), &text, dim());
    for (name, ms) in step.ms.bars() {
        let Some(ms) = ms else {
            page.line(&[(&format!("  {name:<22}"), none()), ("not measured", dim())]);
            continue;
        };
        let share = if step.mean_ms > 0.0 { ms / step.mean_ms } else { 0.0 };
        let numbers = format!("{:>12} {:>8}  ", words::ms(ms), words::percent(share));
        let room = page.width().saturating_sub(24 + numbers.len());
        let bar = bar(share, room, look.unicode);
        page.line(&[(&format!("  {name:<22}"), none()), (&numbers, none()), (&bar, bar_style(name))]);
    }
}

/// Parts in which the GPU works are cyan; those in which it waits are magenta. Verdict colours stay for verdicts.
fn bar_style(name: &str) -> Style {
    if name == "GPU compute" { Style::new().cyan() } else { Style::new().magenta() }
}

/// A bar of a share of the room; what is above nothing shows at least a sliver.
fn bar(share: f64, room: usize, unicode: bool) -> String {
    let eighths = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of some tens of columns")]
    let parts = (share.clamp(0.0, 1.0) * (room * 8) as f64).round() as usize;
    if !unicode {
        return "#".repeat(parts.div_ceil(8).min(room));
    }
    let mut bar = "█".repeat(parts / 8);
    match parts % 8 {
        0 if parts == 0 && share > 0.0 => bar.push('▏'),
        0 => {}
        n => bar.push(eighths[n - 1]),
    }
    bar
}

fn activity(work: &Work, page: &mut Canvas) {
    page.heading("Utilisation against work");
    let pct = |name: &str, v: Option<f64>| v.map(|v| format!("{name} {} %", words::number(v, 1)));
    let power = work.power_w.map(|w| match work.power_limit_w {
        Some(limit) => format!("power {w:.0} of {limit:.0} W"),
        None => format!("power {w:.0} W"),
    });
    let all = [
        pct("GPU utilisation", work.util_pct),
        pct("SM active", work.sm_pct),
        pct("occupancy", work.occupancy_pct),
        pct("Tensor Cores", work.tensor_pct),
        pct("DRAM", work.dram_pct),
        power,
    ];
    let said = all.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    page.wrap(2, ("", none()), &said, none());
    let samples = words::plural(work.samples, "sample", "samples");
    let over = if work.seconds > 0.0 { format!("{:.1} s, {samples}", work.seconds) } else { samples };
    let span = format!("{} Means over {over}.", work.reading);
    page.wrap(2, ("", none()), &span, dim());
}

fn findings(report: &Report, look: Look, page: &mut Canvas) {
    let problems: Vec<&Finding> = report.findings.iter().filter(|f| f.verdict.is_problem()).collect();
    if !problems.is_empty() {
        page.heading("Findings, by time that can come back");
        for (n, f) in problems.iter().enumerate() {
            if n > 0 {
                page.gap();
            }
            finding(report, f, &format!("{} ", n + 1), page);
        }
    }
    let of = |level: Level| report.findings.iter().filter(move |f| f.verdict == level);
    if of(Level::Info).next().is_some() {
        page.heading("Worth knowing");
        for f in of(Level::Info) {
            if look.all {
                finding(report, f, "", page);
            } else {
                page.wrap(0, ("i ", colour(Level::Info)), &words::plain(&f.message), none());
            }
        }
    }
    if look.all {
        for level in [Level::Pass, Level::NotApplicable] {
            for f in of(level) {
                page.gap();
                finding(report, f, "", page);
            }
        }
    } else {
        let (passed, rest) = (of(Level::Pass).count(), of(Level::NotApplicable).count());
        page.gap();
        let apply = match rest {
            0 => String::new(),
            1 => ", 1 does not apply here".to_owned(),
            n => format!(", {n} do not apply here"),
        };
        page.line(&[(&format!("Passed: {}{apply}.", words::plural(passed, "check", "checks")), dim())]);
    }
}

fn finding(report: &Report, f: &Finding, rank: &str, page: &mut Canvas) {
    let letter = format!("{} ", words::letter(f.verdict));
    let left = [(rank, none()), (letter.as_str(), colour(f.verdict)), (f.title.as_str(), bold())];
    page.ends(&left, (&f.id, dim()));
    let indent = rank.len() + 2;
    page.wrap(indent, ("", none()), &words::plain(&f.message), none());
    let mut numbers = Vec::new();
    numbers.extend(words::at_most(f.recoverable_share));
    numbers.extend(f.cost_share.map(|c| format!("{} of the step", words::percent(c))));
    if f.provisional {
        numbers.push("provisional: a lower layer fails or is not measured".to_owned());
    }
    if !numbers.is_empty() {
        page.wrap(indent, ("", none()), &numbers.join(" · "), Style::new().italic());
    }
    for e in f.evidence.iter().take(EVIDENCE_MAX) {
        let place = words::place(e, &report.inputs).unwrap_or_default();
        let Some(quote) = &e.quote else {
            let place = if place.is_empty() { place } else { format!(" ({place})") };
            page.wrap(indent, ("· ", dim()), &format!("{}{place}", words::observed(e)), dim());
            continue;
        };
        page.wrap(indent, ("· ", dim()), &words::observed(e), dim());
        page.cut(indent + 2, (&format!("{place}  "), Style::new().underline()), &words::plain(quote), dim());
    }
    if let Some(more) = f.evidence.len().checked_sub(EVIDENCE_MAX).filter(|n| *n > 0) {
        page.line(&[(&format!("{:indent$}and {more} more in --json", ""), dim())]);
    }
    let Some(fix) = &f.fix else { return };
    page.line(&[
        (&" ".repeat(indent), none()),
        ("Fix", bold()),
        (&format!(" ({})", words::applicability(fix.applicability)), dim()),
    ]);
    for (n, step) in fix.steps.iter().enumerate() {
        let tags = words::tags(&step.tags);
        let text =
            if tags.is_empty() { words::plain(&step.text) } else { format!("{} {tags}", words::plain(&step.text)) };
        page.wrap(indent, (&format!("{}. ", n + 1), none()), &text, none());
        if let Some(command) = &step.command {
            page.verbatim(indent + 5, &lines(command), Style::new().cyan());
        }
    }
    page.wrap(indent, ("Then: ", bold()), &format!("{}  shows {}", fix.verify.command, fix.verify.expect), none());
}

/// A command may have several lines; control characters have no place in it.
fn lines(command: &str) -> String {
    command.lines().map(words::plain).collect::<Vec<_>>().join("\n")
}

/// What cannot be said, folded to what is missing.
fn unknown(report: &Report, look: Look, page: &mut Canvas) {
    let all: Vec<&Finding> = report.findings.iter().filter(|f| f.verdict == Level::Unknown).collect();
    if all.is_empty() {
        return;
    }
    page.heading(&format!("Cannot say yet: {}", words::plural(all.len(), "check", "checks")));
    for (source, n, needs) in words::missing(all.iter().copied()) {
        let mark = format!("{n:>3}  {source}: ");
        if look.all {
            page.wrap(0, (&mark, none()), &needs, dim());
        } else {
            page.cut(0, (&mark, none()), &needs, dim());
        }
    }
}

/// The one thing to look at next.
fn next(report: &Report, page: &mut Canvas) {
    let Some(n) = report.next_evidence.first() else { return };
    page.heading("What would decide next");
    page.verbatim(2, &lines(&n.command), Style::new().cyan().bold());
    let tags = words::tags(&n.tags);
    let tags = if tags.is_empty() { String::new() } else { format!(" {tags}") };
    let decides = words::plural(n.decides.len(), "check", "checks");
    page.wrap(
        2,
        ("", none()),
        &format!("{}. Decides {decides}, takes about {} s.{tags}", capital(&n.why), n.seconds),
        none(),
    );
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// What was read, and what was not.
fn inputs(report: &Report, page: &mut Canvas) {
    if report.inputs.is_empty() {
        return;
    }
    page.heading("Read");
    for input in &report.inputs {
        let style = if input.kind == "unknown" { colour(Level::Warn) } else { dim() };
        let kind = format!("  {:<20}", input.kind);
        // The end of a long name says more than its beginning.
        let name = clip_front(&words::plain(&input.name), page.width().saturating_sub(kind.len()));
        page.line(&[(&kind, style), (&name, none())]);
        for note in input.notes.iter().take(NOTES_MAX) {
            let line = note.line.map(|l| format!("line {l}: ")).unwrap_or_default();
            page.wrap(22, ("", none()), &format!("{line}{}", words::plain(&note.text)), dim());
        }
        if let Some(more) = input.notes.len().checked_sub(NOTES_MAX).filter(|n| *n > 0) {
            page.line(&[(&format!("{:22}and {}", "", words::plural(more, "more note", "more notes")), dim())]);
        }
    }
}
