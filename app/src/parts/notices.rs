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
    let few = report.step.as_ref().map(|s| s.steps).filter(|n| *n < FEW_STEPS);
    let overridden: Vec<String> = report.overridden.iter().map(|(k, v)| format!("{k} = {v}")).collect();
    view! {
        <Unread inputs=report.inputs.clone() />
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

/// Files that nothing recognised. Parts of a file that was understood are only remarked on in the list of inputs.
#[component]
fn Unread(inputs: Vec<Input>) -> impl IntoView {
    let unread: Vec<&Input> = inputs.iter().filter(|i| i.kind == UNKNOWN).collect();
    let alone = |i: &Input| inputs.iter().all(|o| o.file != i.file || o.kind == UNKNOWN);
    let files: Vec<String> = unread.iter().filter(|i| alone(i)).map(|i| format::visible(&i.name)).collect();
    if files.is_empty() {
        return ().into_any();
    }
    let none = unread.len() == inputs.len();
    let mut notes: Vec<String> =
        unread.iter().filter(|i| alone(i)).flat_map(|i| &i.notes).map(|n| n.text.clone()).collect();
    notes.dedup();
    view! {
        <div class="notice" class:bad=none class:mind=!none>
            <div>
                <b>{format!("Not understood: {}. ", files.join(", "))}</b>
                {notes.join(" ")}
                {if none { " Nothing else was sent." } else { " The rest of the report stands without it." }}
            </div>
            <a class="btn small" href="/upload">
                "Upload something else"
            </a>
        </div>
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
