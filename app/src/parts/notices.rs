//! Notices above a report: what was cut, could not be read or is not ready, and what to do.

use checks::Report;
use checks::report::Input;
use leptos::prelude::*;

use crate::format;
use crate::parts::cmd::Cmd;

/// Steps below which a comparison has no interval (the means are still shown).
const FEW_STEPS: usize = 30;
/// Kind of an input that nothing recognised.
const UNKNOWN: &str = "unknown";

/// All notices that a report calls for.
#[component]
pub(crate) fn Notices(report: Report) -> impl IntoView {
    let unread: Vec<&Input> = report.inputs.iter().filter(|i| i.kind == UNKNOWN).collect();
    let few = report.step.as_ref().map(|s| s.steps).filter(|n| *n < FEW_STEPS);
    let overridden: Vec<String> = report.overridden.iter().map(|(k, v)| format!("{k} = {v}")).collect();
    view! {
        {unread
            .into_iter()
            .map(|i| {
                let notes: Vec<String> = i.notes.iter().map(|n| n.text.clone()).collect();
                view! {
                    <div class="notice bad">
                        <div>
                            <b>{format!("{} could not be read. ", i.name)}</b>
                            {notes.join(" ")}
                            " The rest of the report stands without it."
                        </div>
                        <a class="btn small" href="/upload">
                            "Upload again"
                        </a>
                    </div>
                }
            })
            .collect_view()}
        {few
            .map(|n| {
                view! {
                    <div class="notice mind">
                        <div>
                            <b>{format!("Only {}. ", format::plural(n, "step", "steps"))}</b>
                            "Enough to name a cause, too few for an interval or a comparison. Record 30 or more:"
                        </div>
                        <Cmd text="sextant run -- python train.py" />
                    </div>
                }
            })}
        {(!report.notes.is_empty())
            .then(|| {
                report.notes.iter().map(|n| view! { <p class="notice info">{n.text.clone()}</p> }).collect_view()
            })}
        {(!overridden.is_empty())
            .then(|| {
                view! {
                    <p class="notice info">
                        {format!("Thresholds changed by the team: {}.", overridden.join(", "))}
                    </p>
                }
            })}
    }
    .into_any()
}

/// The report is still being made; the page asks again by itself, without JavaScript too.
#[component]
pub(crate) fn NotReady(ready: bool) -> impl IntoView {
    (!ready).then(|| {
        view! {
            <leptos_meta::Meta http_equiv="refresh" content="3" />
            <div class="notice info" role="status">
                <div>
                    <b>"The report is being made. "</b>
                    "What is shown is what was known before; this page loads again every 3 s until it is there."
                </div>
            </div>
        }
    })
}
