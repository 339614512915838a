//! Numbers, words and places as people read them, the same on the terminal and in Markdown.
//!
//! It knows no layout.

use std::collections::BTreeMap;

use checks::check::Evid;
use checks::report::{Applicability, Evidence, Finding, Input, Level, Report, StepSource, Tag};

/// Beyond this a factor says only that nearly all of the time can come back.
const FACTOR_MAX: f64 = 1000.0;

/// The letter of a verdict.
pub(crate) fn letter(level: Level) -> &'static str {
    match level {
        Level::Pass => "P",
        Level::Info => "i",
        Level::Warn => "W",
        Level::Fail => "F",
        Level::Unknown => "?",
        Level::NotApplicable => "–",
    }
}

/// Number with thousands separated.
pub(crate) fn number(v: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", v.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::with_capacity(text.len() + 4);
    if v < 0.0 {
        out.push('-');
    }
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out + rest
}

/// Milliseconds: two decimals below 20, where one would hide a difference.
pub(crate) fn ms(v: f64) -> String {
    format!("{} ms", number(v, if v < 20.0 { 2 } else { 1 }))
}

/// A share as percent; what is above nothing but rounds to nothing reads `< 0.1 %`.
pub(crate) fn percent(share: f64) -> String {
    let v = share * 100.0;
    if v > 0.0 && v < 0.05 { "< 0.1 %".to_owned() } else { format!("{} %", number(v, 1)) }
}

/// How many times faster at most; two decimals below 3, one below 10. `None` where it rounds to nothing.
pub(crate) fn at_most(recoverable_share: Option<f64>) -> Option<String> {
    let factor = 1.0 / (1.0 - recoverable_share?.clamp(0.0, 1.0));
    if factor > FACTOR_MAX {
        return Some(format!("at most over {}×", number(FACTOR_MAX, 0)));
    }
    let decimals = if factor < 3.0 {
        2
    } else if factor < 10.0 {
        1
    } else {
        0
    };
    (factor >= 1.005).then(|| format!("at most {}×", number(factor, decimals)))
}

/// "1 check", "2 checks".
pub(crate) fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// What a fix step asks for.
pub(crate) fn tag(tag: Tag) -> &'static str {
    match tag {
        Tag::Root => "root",
        Tag::Reboot => "reboot",
        Tag::Bios => "firmware set-up",
        Tag::RestartsJob => "restarts the job",
        Tag::ChangesTraining => "changes the training",
        Tag::Unsafe => "unsafe",
        Tag::Hands => "hands on the machine",
    }
}

/// Tags in brackets, "" without any.
pub(crate) fn tags(all: &[Tag]) -> String {
    let words: Vec<&str> = all.iter().map(|t| tag(*t)).collect();
    if words.is_empty() { String::new() } else { format!("[{}]", words.join(", ")) }
}

/// When a fix can be applied.
pub(crate) fn applicability(a: Applicability) -> &'static str {
    match a {
        Applicability::Safe => "can be done while the job runs",
        Applicability::NeedsRestart => "takes a restart of the job",
        Applicability::NeedsMaintenance => "takes a maintenance window",
        Applicability::Manual => "a person must decide",
    }
}

/// Where the step times come from.
pub(crate) fn source(s: StepSource) -> &'static str {
    match s {
        StepSource::Trace => "from a trace",
        StepSource::Live => "from live timing",
        StepSource::Merged => "from live timing and a trace",
    }
}

/// `fact = value unit, expected …`.
pub(crate) fn observed(e: &Evidence) -> String {
    let mut out = e.fact.clone();
    if let Some(v) = &e.value {
        out.push_str(" = ");
        out.push_str(&plain(&v.to_string()));
        if !e.unit.is_empty() {
            out.push(' ');
            out.push_str(&e.unit);
        }
    }
    if let Some(x) = &e.expected {
        out.push_str(", expected ");
        out.push_str(&plain(x));
    }
    out
}

/// `file:line`, with the line counted in the file that was given, so that an editor can open it. A file whose own name
/// no other input has goes without its folder.
pub(crate) fn place(e: &Evidence, inputs: &[Input]) -> Option<String> {
    let input = inputs.get(usize::try_from(e.input?).ok()?)?;
    // A part of a file is named by its file; the line within the part becomes the line within the file.
    let name = match input.name.split_once(" → ") {
        Some((file, label)) if label.starts_with("line ") => short(file, inputs),
        Some((file, label)) => format!("{} → {label}", short(file, inputs)),
        None => short(&input.name, inputs),
    };
    Some(match e.line {
        Some(line) => format!("{}:{}", plain(&name), line + input.first_line - 1),
        None => plain(&name),
    })
}

fn short(path: &str, inputs: &[Input]) -> String {
    let base = |p: &str| p.rsplit('/').next().unwrap_or(p).to_owned();
    let file = |i: &Input| i.name.split(" → ").next().unwrap_or(&i.name).to_owned();
    let mine = base(path);
    let shared = inputs.iter().any(|i| file(i) != path && base(&file(i)) == mine);
    if shared || mine.is_empty() { path.to_owned() } else { mine }
}

/// What is missing, by what would supply it: the source, how many checks wait for it, and the facts in words. The source
/// that most checks wait for comes first.
pub(crate) fn missing<'a>(unknown: impl Iterator<Item = &'a Finding>) -> Vec<(&'static str, usize, String)> {
    let mut by_source: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    for f in unknown {
        let said = f.message.strip_prefix("Cannot say yet: needs ").unwrap_or(&f.message);
        // A node that was read live has given what it could: the file or command is what can still be had.
        let evidence = checks::catalogue::find(&f.id).map(|c| c.evidence).unwrap_or_default();
        let source = evidence.iter().find(|e| **e != Evid::Live).map_or("this node, read live", |e| e.source());
        by_source.entry(source).or_default().push(plain(said.trim_end_matches('.')));
    }
    let mut all: Vec<_> = by_source
        .into_iter()
        .map(|(source, mut needs)| {
            let n = needs.len();
            needs.sort_unstable();
            needs.dedup();
            (source, n, needs.join("; "))
        })
        .collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    all
}

/// Who the report is about: run, node, and when the evidence was taken.
pub(crate) fn subject(report: &Report) -> String {
    let id = &report.subject;
    let taken = id.taken_ms.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let taken = taken.map(|t| t.strftime("%Y-%m-%d %H:%M UTC").to_string());
    let run = id.run.as_ref().map(|r| format!("run {}", plain(r)));
    [run, id.node.as_deref().map(plain), taken].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Text of foreign origin without control characters: a line of a log must not move the cursor, ring the bell or turn
/// the reading direction.
pub(crate) fn plain(text: &str) -> String {
    let bad = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars()
        .map(|c| if c == '\t' || c == '\n' { ' ' } else { c })
        .map(|c| if bad(c) { '\u{fffd}' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_lose_decimals_as_they_grow_and_small_ones_are_left_out() {
        assert_eq!(at_most(Some(0.966)).as_deref(), Some("at most 29×"));
        assert_eq!(at_most(Some(0.6875)).as_deref(), Some("at most 3.2×"));
        assert_eq!(at_most(Some(0.02)).as_deref(), Some("at most 1.02×"));
        assert_eq!(at_most(Some(1.0)).as_deref(), Some("at most over 1,000×"));
        assert_eq!(at_most(Some(0.001)), None);
        assert_eq!(at_most(None), None);
    }

    #[test]
    fn a_quoted_line_cannot_steer_the_terminal() {
        assert_eq!(plain("a\u{1b}[31mb\u{7}\u{9b}2J\u{202e}c\td"), "a\u{fffd}[31mb\u{fffd}\u{fffd}2J\u{fffd}c d");
    }

    #[test]
    fn lines_of_a_part_are_counted_in_its_file() {
        let input = |name: &str, first_line| Input {
            name: name.into(),
            kind: "dmesg".into(),
            bytes: 1,
            notes: Vec::new(),
            first_line,
            file: 0,
        };
        let e = Evidence {
            fact: "xids".into(),
            value: None,
            unit: String::new(),
            expected: None,
            input: Some(0),
            line: Some(3),
            quote: None,
        };
        assert_eq!(place(&e, &[input("log.txt", 1)]).as_deref(), Some("log.txt:3"));
        assert_eq!(place(&e, &[input("paste.txt → line 40", 40)]).as_deref(), Some("paste.txt:42"));
        assert_eq!(place(&e, &[input("bug.log.gz → dmesg", 900)]).as_deref(), Some("bug.log.gz → dmesg:902"));
        assert_eq!(place(&e, &[input("/var/log/kern.log", 1)]).as_deref(), Some("kern.log:3"));
        assert_eq!(place(&e, &[input("a/kern.log", 1), input("b/kern.log", 1)]).as_deref(), Some("a/kern.log:3"));
    }
}
