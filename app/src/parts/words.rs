//! The words for the domain's values: verdicts, layers, tags, kinds of evidence.

use checks::check::Severity;
use checks::report::{Applicability, Confidence, Tag};
use checks::{Layer, Level};

/// A verdict.
pub(crate) const fn level(level: Level) -> &'static str {
    match level {
        Level::Pass => "pass",
        Level::Info => "worth knowing",
        Level::Warn => "warning",
        Level::Fail => "fail",
        Level::Unknown => "unknown",
        Level::NotApplicable => "does not apply",
    }
}

/// A layer with its number: `5 Data pipeline`.
pub(crate) fn layer(layer: Layer) -> String {
    format!("{} {}", layer.number(), layer.name())
}

/// What a fix step asks for, and how loud its tag is.
pub(crate) const fn tag(tag: Tag) -> (&'static str, &'static str) {
    match tag {
        Tag::Root => ("root", "tag danger"),
        Tag::Reboot => ("reboot", "tag danger"),
        Tag::Bios => ("firmware set-up", "tag danger"),
        Tag::RestartsJob => ("restarts job", "tag caution"),
        Tag::ChangesTraining => ("changes training", "tag danger"),
        Tag::Unsafe => ("can break running work", "tag danger"),
        Tag::Hands => ("at the machine", "tag danger"),
    }
}

/// How a fix can be applied.
pub(crate) const fn applicability(a: Applicability) -> &'static str {
    match a {
        Applicability::Safe => "can be applied while the job runs",
        Applicability::NeedsRestart => "takes a restart of the job",
        Applicability::NeedsMaintenance => "takes a reboot or work on the machine",
        Applicability::Manual => "a person must decide",
    }
}

/// How sure a finding is.
pub(crate) const fn confidence(c: Confidence) -> &'static str {
    match c {
        Confidence::Low => "low confidence: one weak signal",
        Confidence::Medium => "medium confidence: one good signal",
        Confidence::High => "high confidence",
    }
}

/// How grave a check's question is.
pub(crate) const fn severity(s: Severity) -> &'static str {
    match s {
        Severity::Critical => "critical",
        Severity::High => "high",
        Severity::Medium => "medium",
        Severity::Low => "low",
        Severity::Info => "for information",
    }
}

/// Order of verdicts from the lightest to the gravest; what is not known weighs less than what is.
pub(crate) const fn gravity(level: Level) -> u8 {
    match level {
        Level::NotApplicable => 0,
        Level::Unknown => 1,
        Level::Pass => 2,
        Level::Info => 3,
        Level::Warn => 4,
        Level::Fail => 5,
    }
}

/// First letter upper case, one full stop at the end.
pub(crate) fn sentence(text: &str) -> String {
    let mut chars = text.trim_end_matches('.').chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}
