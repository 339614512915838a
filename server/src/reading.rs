//! Stored reports as the contract's `Report`: the body with node, run and time from its row. Where nothing was made (yet)
//! the report is the one that no evidence at all gives, with a note that says why.

use std::sync::LazyLock;

use checks::report::{Note, SubjectId};
use checks::series::Lanes;
use checks::{Facts, Report, Settings, Summary};

use crate::packed;
use crate::store::{ReportRecord, ReportSummary, State};

static NOTHING: LazyLock<Report> = LazyLock::new(|| checks::evaluate(&Facts::default(), &Settings::default()));

/// The report of a record.
///
/// # Errors
/// The stored body cannot be read.
pub fn report(record: &ReportRecord) -> std::io::Result<Report> {
    let summary = &record.summary;
    let mut report = match &record.report {
        Some(packed) => packed::unpack(packed)?,
        None => NOTHING.clone(),
    };
    report.subject = SubjectId { node: summary.node.clone(), run: summary.run.clone(), taken_ms: summary.taken_ms };
    if let Some(text) = remark(summary) {
        if record.report.is_none() {
            report.headline.text.clone_from(&text);
        }
        report.notes.push(Note { line: None, text });
    }
    Ok(report)
}

/// The charts of a record; empty where nothing was recorded over time.
///
/// # Errors
/// The stored lanes cannot be read.
pub fn lanes(record: &ReportRecord) -> std::io::Result<Lanes> {
    record.lanes.as_deref().map_or_else(|| Ok(Lanes::default()), packed::unpack)
}

/// What a list says of a report.
#[must_use]
pub fn summary(summary: &ReportSummary) -> Summary {
    let stored = summary.brief.as_deref().and_then(|b| serde_json::from_str(b).ok());
    stored.unwrap_or_else(|| {
        let mut nothing = NOTHING.summary();
        if let Some(text) = remark(summary) {
            nothing.headline.text = text;
        }
        nothing
    })
}

/// What has to be said about the state of a report; `None` if it is ready.
fn remark(summary: &ReportSummary) -> Option<String> {
    match summary.state {
        State::Ready => None,
        State::Empty => Some("No data has come yet.".into()),
        State::Pending if summary.brief.is_some() => {
            Some("New data is being read; this is the report of before.".into())
        }
        State::Pending => Some("The report is being made.".into()),
        State::Failed => {
            let why = summary.problem.as_deref().unwrap_or("The cause is not known.");
            Some(format!("The report could not be made. {why}"))
        }
    }
}
