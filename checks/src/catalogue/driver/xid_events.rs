//! # What it looks for
//! The driver's own error reports (Xid) in the kernel log, each judged by NVIDIA's catalogue: broken hardware, something to
//! look at soon, or a fault of the application.
//!
//! # Why it wastes the GPU
//! A job that hangs, dies or crawls often has its reason here and nowhere else. Falling utilisation is only the symptom.
//!
//! # Confirm by hand
//! `dmesg -T | grep -i xid`, or `journalctl -k -b | grep -i xid`. The number after the closing bracket is the code.
//!
//! # Fix
//! What the code asks for: the application first for its own faults (13, 31, 32), a reset or drain for hardware codes.
//! Collect a bug report before a reset, since the reset takes the evidence with it.
//!
//! # Limits
//! Only the present boot counts; earlier boots are history. Codes that merely follow another error (43, 45) never count by
//! themselves. The log is a ring: an old error may have left it, so silence is weak evidence. A code that the catalogue
//! does not have is shown and not judged.
//!
//! # References
//! NVIDIA, "Analyzing Xid Errors with the Xid Catalog" (docs.nvidia.com/deploy/xid-errors); open-gpu-kernel-modules
//! 595.45.04, nverror.h.

use std::collections::BTreeMap;

use crate::catalogue::common::{events, logged, silent_log, times};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::record::{Boot, KernelEvent, KernelKind};
use crate::report::{Applicability, Confidence, Evidence, Fix, Level, Tag};
use crate::tables::{Grade, Xid, xid};

crate::check! {
    id: "driver/xid-events", layer: Driver, title: "The driver has reported errors (Xid)",
    severity: Critical, core: true, minutes: 2, evidence: [KernelLog, BugReport, Live],
    limits: {
        repeat = 2.0, "lines", "catalogue, rule for driver/xid-events: application codes are a warning when repeated";
        incident_s = 60.0, "s", "43 and 45 come once a channel; reports a minute apart are incidents of their own";
    },
}

/// All lines of one code in the present boot.
struct Code<'a> {
    code: u32,
    entry: Option<&'static Xid>,
    level: Level,
    lines: Vec<&'a KernelEvent>,
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let codes = codes(cx);
    let Some(lead) = codes.first() else {
        if let Some(v) = history(cx) {
            return Ok(v);
        }
        let lines = silent_log(cx)?;
        return Ok(Verdict::pass(format!("No Xid in {lines} lines of kernel log.")).confidence(Confidence::Medium));
    };
    let evidence: Vec<Evidence> =
        codes.iter().filter_map(|c| Some(logged(c.lines.first()?, "xids", Some(c.code.into())))).collect();
    let by_application = lead.entry.is_some_and(|x| x.origin == "application");
    let confidence = if by_application { Confidence::Medium } else { Confidence::High };
    Ok(Verdict::new(lead.level, message(&codes, lead)).confidence(confidence).with(evidence))
}

/// The codes of the present boot, gravest first.
fn codes<'a>(cx: &Ctx<'a>) -> Vec<Code<'a>> {
    let mut by_code: BTreeMap<u32, Vec<&KernelEvent>> = BTreeMap::new();
    for e in events(cx) {
        match e.kind {
            KernelKind::Xid { code, .. } => by_code.entry(code).or_default().push(e),
            // The line without a code says what Xid 79 says.
            KernelKind::FallenOffBus => by_code.entry(79).or_default().push(e),
            _ => {}
        }
    }
    let stopped = by_code.contains_key(&43);
    let mut out: Vec<Code<'a>> = by_code
        .into_iter()
        .map(|(code, lines)| {
            let entry = xid(code);
            Code { code, entry, level: level(cx, entry, &lines, stopped), lines }
        })
        .collect();
    let gravity = |c: &Code<'_>| match c.level {
        Level::Fail => 0,
        Level::Warn => 1,
        _ => 2 + u8::from(c.entry.is_some_and(|x| x.follows)),
    };
    out.sort_by_key(|c| (gravity(c), c.code));
    out
}

fn level(cx: &Ctx<'_>, entry: Option<&Xid>, lines: &[&KernelEvent], stopped: bool) -> Level {
    let Some(entry) = entry else { return Level::Info };
    #[expect(clippy::cast_precision_loss, reason = "line counts are small")]
    let repeated = |n: usize| n as f64 >= cx.limit(&repeat);
    if entry.follows && entry.grade == Grade::Info {
        return if repeated(incidents(cx, lines)) { Level::Warn } else { Level::Info };
    }
    match entry.grade {
        Grade::Fail => Level::Fail,
        Grade::Warn => Level::Warn,
        // A channel that was stopped (43) means that the process died of it.
        Grade::Repeat if repeated(lines.len()) || stopped => Level::Warn,
        Grade::Repeat | Grade::Info => Level::Info,
        Grade::Text => lines.iter().map(|e| by_text(e)).max_by_key(|l| rank(*l)).unwrap_or(Level::Info),
    }
}

const fn rank(level: Level) -> u8 {
    match level {
        Level::Fail => 2,
        Level::Warn => 1,
        _ => 0,
    }
}

/// Codes whose line itself says how grave it is: 144-150 by the word Fatal or Nonfatal, 154 by the action it names.
fn by_text(e: &KernelEvent) -> Level {
    let KernelKind::Xid { code, fatal, .. } = e.kind else { return Level::Info };
    if code == 154 {
        let action = e.text.rsplit_once(" to ").map_or(e.text.as_str(), |(_, a)| a);
        return if action.contains("(None)") { Level::Info } else { Level::Fail };
    }
    if fatal == Some(true) { Level::Fail } else { Level::Warn }
}

/// Reports that lie further apart than one incident's. Lines without a time count as one.
fn incidents(cx: &Ctx<'_>, lines: &[&KernelEvent]) -> usize {
    let mut at: Vec<f64> = lines.iter().filter_map(|e| e.since_boot_s).collect();
    at.sort_by(f64::total_cmp);
    1 + at.windows(2).filter(|w| w[1] - w[0] > cx.limit(&incident_s)).count()
}

fn message(codes: &[Code<'_>], lead: &Code<'_>) -> String {
    let on = match lead.lines.iter().filter_map(|e| e.pci.as_deref()).collect::<std::collections::BTreeSet<_>>() {
        gpus if gpus.is_empty() => String::new(),
        gpus if gpus.len() <= 3 => format!(" on {}", gpus.into_iter().collect::<Vec<_>>().join(", ")),
        gpus => format!(" on {} GPUs", gpus.len()),
    };
    let count = times(lead.lines.len());
    let mut text = match lead.entry {
        Some(x) => {
            let hint = if x.origin == "application" { " Look at the application first." } else { "" };
            format!("Xid {} ({}){on}, {count}: {}{hint}", lead.code, x.name, lower(x.meaning))
        }
        None => format!("Xid {}{on}, {count}: NVIDIA's catalogue does not have this code.", lead.code),
    };
    let others: Vec<String> = codes
        .iter()
        .filter(|c| c.code != lead.code)
        .map(|c| {
            let name = c.entry.map_or_else(String::new, |x| format!(" ({})", x.name));
            format!("{}{name} {}", c.code, times(c.lines.len()))
        })
        .collect();
    if !others.is_empty() {
        text.push_str(&format!(" Also: {}.", others.join(", ")));
    }
    text
}

/// The first letter in lower case, unless the word is an abbreviation.
fn lower(s: &str) -> String {
    let mut chars = s.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(a), Some(b)) if a.is_uppercase() && !b.is_uppercase() => a.to_lowercase().chain(chars).collect(),
        _ => s.to_owned(),
    }
}

/// Errors of earlier boots only.
fn history(cx: &Ctx<'_>) -> Option<Verdict> {
    let old: Vec<(u32, &KernelEvent)> = cx
        .facts
        .kernel
        .iter()
        .filter(|e| e.boot == Boot::Earlier)
        .filter_map(|e| if let KernelKind::Xid { code, .. } = e.kind { Some((code, e)) } else { None })
        .collect();
    let mut codes: Vec<u32> = old.iter().map(|o| o.0).collect();
    codes.sort_unstable();
    codes.dedup();
    let list = codes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let (code, last) = old.last()?;
    Some(
        Verdict::info(format!("Xid {list} in an earlier boot, none in the present one."))
            .confidence(Confidence::Medium)
            .with([logged(last, "xids", Some((*code).into()))]),
    )
}

fn fix(cx: &Ctx<'_>) -> Fix {
    let codes = codes(cx);
    let mut steps = vec![cmd(
        "Keep the evidence before anything is reset.",
        "nvidia-bug-report.sh",
        &[Tag::Root],
    )];
    for c in codes.iter().filter(|c| c.level.is_problem()).take(3) {
        let Some(x) = c.entry else { continue };
        let tags: &[Tag] = match x.origin {
            "application" => &[Tag::RestartsJob],
            _ if x.action.contains("eset") || x.action.contains("witch") => &[Tag::Root, Tag::RestartsJob, Tag::Unsafe],
            _ => &[],
        };
        let ends = if tags.contains(&Tag::Unsafe) { " It ends every job on that GPU." } else { "" };
        steps.push(step(format!("Xid {}: {}{ends}", c.code, x.action), tags));
    }
    let by_application = codes.first().and_then(|c| c.entry).is_some_and(|x| x.origin == "application");
    Fix {
        steps,
        applicability: if by_application { Applicability::NeedsRestart } else { Applicability::NeedsMaintenance },
        verify: verify("dmesg -T | grep -i xid", "no new line after 24 hours of load"),
    }
}
