//! The body that the pages of a run, a report and a node share: verdict, notices, step and work, charts, findings, next,
//! inputs.

use checks::series::Lanes;
use checks::{Level, Report};
use leptos::prelude::*;

use crate::backend::{StoredReport, Subject};
use crate::format;
use crate::parts::findings::Findings;
use crate::parts::gauges::WorkCard;
use crate::parts::inputs::Inputs;
use crate::parts::lanes::LanesCard;
use crate::parts::next::Next;
use crate::parts::notices::{NotReady, Notices};
use crate::parts::stepbar::StepCard;
use crate::parts::verdict::{Gain, Verdict};
use crate::parts::words;

/// The report's sentence as the page's verdict. `heading` wraps it in the heading that the page needs.
pub(super) fn verdict(report: &Report, subject: &Subject, heading: impl Fn(String) -> AnyView) -> AnyView {
    let headline = &report.headline;
    let finding = headline.check.as_deref().and_then(|id| report.finding(id));
    let level = finding.map_or_else(
        || match report.worst() {
            Level::Info | Level::Pass => Level::Pass,
            other => other,
        },
        |f| f.verdict,
    );
    let (first, rest) = words::first_sentence(&headline.text);
    let rest = rest.to_owned();
    let below = finding.map(|f| {
        let start = report.start_here().filter(|l| *l != f.layer).map(|l| {
            view! {
                " Start with the lowest failing layer, "
                <a href=subject.checklist(l)>{words::layer(l)}</a>
                "."
            }
        });
        view! {
            {rest}
            " "
            <a href=format!("/catalogue/{}", f.id)>{f.title.clone()}</a>
            ", in layer "
            <a href=subject.checklist(f.layer)>{words::layer(f.layer)}</a>
            ". "
            {words::sentence(words::confidence(f.confidence))}
            {start}
        }
        .into_any()
    });
    let gain = headline.recoverable_share.filter(|s| *s > 0.0).map(|share| {
        let note = match report.step.as_ref().map(|s| s.mean_ms) {
            Some(mean) => format!(
                "if nothing of it were left: {} → {} per step. What else limits the step may allow less.",
                format::ms_fine(mean),
                format::ms_fine(mean * (1.0 - share))
            ),
            None => format!("{} of the time", format::pct(share * 100.0)),
        };
        view! { <Gain recoverable_share=share note=note.into_any() /> }.into_any()
    });
    let says = heading(first.to_owned());
    view! { <Verdict level says below gain /> }.into_any()
}

/// Everything below the title of a run or of a report.
pub(super) fn body(stored: StoredReport, subject: Subject, lanes: Lanes) -> AnyView {
    let StoredReport { id, report, ready, .. } = stored;
    let says = verdict(&report, &subject, |text| view! { <h1>{text}</h1> }.into_any());
    let timed = report.step.is_some() || report.work.is_some();
    view! {
        <div class="stack-y">
            <NotReady ready />
            {says}
            <Notices report=report.clone() />
            {timed
                .then(|| {
                    view! {
                        <div class="two">
                            <StepCard step=report.step.clone() />
                            <WorkCard work=report.work.clone() />
                        </div>
                    }
                })}
            <LanesCard lanes />
            <div class="main-side">
                <Findings report=report.clone() subject />
                <Next next=report.next_evidence.clone() />
            </div>
            <Inputs inputs=report.inputs.clone() report_id=id />
            <Made stored_ms=stored.made_ms catalogue=report.catalogue />
        </div>
    }
    .into_any()
}

/// When the report was made, and by which catalogue.
#[component]
pub(super) fn Made(stored_ms: i64, catalogue: String) -> impl IntoView {
    view! {
        <p class="small muted">
            "Report made " <time datetime=format::iso(stored_ms)>{format::moment(stored_ms)}</time> " with catalogue "
            {catalogue} "."
        </p>
    }
    .into_any()
}
