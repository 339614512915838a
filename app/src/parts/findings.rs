//! Findings ranked by the time that can come back.

use checks::report::Finding;
use checks::{Level, Report};
use leptos::prelude::*;

use crate::backend::Subject;
use crate::format;
use crate::parts::lamp::Lamp;
use crate::parts::words;

/// The card: what fails or warns, then what is worth knowing, then counts of the rest.
#[component]
pub(crate) fn Findings(report: Report, subject: Subject) -> impl IntoView {
    let mean_ms = report.step.as_ref().map(|s| s.mean_ms);
    let of = |level: Level| report.findings.iter().filter(|f| f.verdict == level).count();
    let shown: Vec<&Finding> =
        report.findings.iter().filter(|f| f.verdict.is_problem() || f.verdict == Level::Info).collect();
    let start = report
        .start_here()
        .or(report.headline.layer)
        .or_else(|| report.layers.first().map(|l| l.id))
        .map(|l| subject.checklist(l));
    let rows = shown
        .iter()
        .enumerate()
        .map(|(i, f)| view! { <Row rank=i + 1 finding=(*f).clone() subject=subject.clone() mean_ms /> })
        .collect_view();
    let counts = format!(
        "Passed: {}. Not measured: {}. Not applicable: {}.",
        format::plural(of(Level::Pass), "check", "checks"),
        format::plural(of(Level::Unknown), "check", "checks"),
        format::count(of(Level::NotApplicable)),
    );
    view! {
        <section class="card" aria-labelledby="findings-h">
            <header>
                <h2 id="findings-h">"Findings, by time that can come back"</h2>
                {start.map(|href| view! { <a class="end small" href=href>"Open the walk-through"</a> })}
            </header>
            <div class="body flush">
                {if shown.is_empty() {
                    view! {
                        <div class="none">
                            <p>"No check found anything to fix."</p>
                        </div>
                    }
                        .into_any()
                } else {
                    view! { <ol>{rows}</ol> }.into_any()
                }}
            </div>
            <p class="small muted card-foot">{counts}</p>
        </section>
    }
    .into_any()
}

#[component]
fn Row(rank: usize, finding: Finding, subject: Subject, mean_ms: Option<f64>) -> impl IntoView {
    let href = format!("{}#{}", subject.checklist(finding.layer), slug(&finding.id));
    view! {
        <li class="finding" data-row="">
            <span class="rank">{rank}</span>
            <Lamp level=finding.verdict />
            <div>
                <h3>
                    <a href=href data-open="">
                        {finding.title.clone()}
                    </a>
                    <span class="tag layer">{words::layer(finding.layer)}</span>
                    {finding.provisional.then(|| view! { <span class="tag">"provisional"</span> })}
                </h3>
                <p>{finding.message.clone()}</p>
            </div>
            <Back finding mean_ms />
        </li>
    }
    .into_any()
}

/// How much time can come back: milliseconds of the step where a step was measured, the share, or that it has no price.
#[component]
pub(crate) fn Back(finding: Finding, mean_ms: Option<f64>) -> impl IntoView {
    let share = finding.recoverable_share;
    let (says, below) = match (share, mean_ms) {
        (Some(s), Some(mean)) if s > 0.0 => {
            (format!("at most {} per step", format::ms(s * mean)), format!("{} of the step", format::pct(s * 100.0)))
        }
        (Some(s), _) if s > 0.0 => {
            (format!("at most {}", format::factor(s)), format!("{} of the time", format::pct(s * 100.0)))
        }
        (Some(_), _) => ("nothing".to_owned(), "costs no time here".to_owned()),
        (None, _) => match finding.cost_share {
            Some(c) => (
                format!("takes {} of the step", format::pct(c * 100.0)),
                "what can come back is not measured".to_owned(),
            ),
            None => ("no time measured".to_owned(), String::new()),
        },
    };
    view! {
        <div class="back">
            <b>{says}</b>
            {(!below.is_empty()).then(|| view! { <small>{below}</small> })}
            {share.map(|s| view! { <i style=format!("--w:{:.2}%", s.clamp(0.0, 1.0) * 100.0)></i> })}
        </div>
    }
    .into_any()
}

/// The part of a check's id after the layer; it serves as the anchor in the checklist.
pub(crate) fn slug(id: &str) -> String {
    id.split_once('/').map_or(id, |(_, s)| s).to_owned()
}
