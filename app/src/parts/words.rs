//! The words for the domain's values: verdicts, layers, tags, kinds of evidence.

use checks::check::Severity;
use checks::report::{Applicability, Confidence, Tag};
use checks::{Layer, Level, keys};

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

/// A message parted after its first sentence: what leads, and what supports it.
pub(crate) fn first_sentence(text: &str) -> (&str, &str) {
    let ends = |(at, _): &(usize, &str)| text[at + 2..].starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
    match text.match_indices(". ").find(ends) {
        Some((at, _)) => (&text[..=at], text[at + 2..].trim_start()),
        None => (text, ""),
    }
}

/// First letter upper case, one full stop at the end.
pub(crate) fn sentence(text: &str) -> String {
    let mut chars = text.trim_end_matches('.').chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

/// What a fact means, from its path; `None` for names of computed values.
pub(crate) fn fact(path: &str) -> Option<&'static str> {
    let pattern = pattern(path);
    keys::ALL.iter().find(|(p, ..)| *p == pattern).map(|(.., what)| *what)
}

/// `gpu[0].mig[1].x` → `gpu[].mig[].x`.
fn pattern(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut inside = false;
    for c in path.chars() {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            _ if inside => continue,
            _ => {}
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_taken_out_of_paths() {
        assert_eq!(pattern("gpu[0].pcie.gen_current"), "gpu[].pcie.gen_current");
        assert_eq!(pattern("gpu[12].mig[3].memory_used_mib"), "gpu[].mig[].memory_used_mib");
        assert_eq!(pattern("driver"), "driver");
        assert_eq!(fact("gpu[3].pcie.gen_current"), Some("PCIe generation in use"));
    }

    #[test]
    fn the_first_sentence_ends_at_its_full_stop_and_not_within_a_number() {
        let text = "It waits for 98.0 % of the step. The loader has no workers.";
        assert_eq!(first_sentence(text), ("It waits for 98.0 % of the step.", "The loader has no workers."));
        assert_eq!(first_sentence("Nothing to fix."), ("Nothing to fix.", ""));
        assert_eq!(first_sentence("See e.g. the log."), ("See e.g. the log.", ""));
    }
}
