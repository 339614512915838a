//! The ladder: six layers drawn from the bottom up, with "start here" at the lowest failing one.

use checks::report::LayerState;
use checks::{Layer, Level, Report};
use leptos::prelude::*;

use crate::backend::Subject;
use crate::format;
use crate::parts::lamp::Lamp;
use crate::parts::words;

/// Where a report stands on each layer. With a subject each rung leads to its checklist; `open` is the one shown now.
#[component]
pub(crate) fn Ladder(report: Report, subject: Subject, #[prop(optional)] open: Option<Layer>) -> impl IntoView {
    let start = report.start_here();
    let gate = report.layers.iter().find(|l| matches!(l.status, Level::Fail | Level::Unknown)).map(|l| l.id);
    let provisional = report.layers.iter().any(|l| gate.is_some_and(|g| l.id > g));
    let rungs = report
        .layers
        .iter()
        .map(|state| {
            let above = gate.is_some_and(|g| state.id > g);
            let current = open == Some(state.id);
            view! {
                <li>
                    <a
                        class="rung"
                        class:above=above
                        href=subject.checklist(state.id)
                        aria-current=current.then_some("step")
                        data-layer=state.id.number().to_string()
                    >
                        <Lamp level=state.status big=true of=format!("layer {}", state.id.number()) />
                        <span>
                            <span class="name">
                                {words::layer(state.id)}
                                {(start == Some(state.id)).then(|| view! { <span class="here">"▸ start here"</span> })}
                                {measure(&report, state)}
                                {above.then(|| view! { <span class="tag">"provisional"</span> })}
                            </span>
                            <span class="sub">{counts(&report, state.id)}</span>
                        </span>
                    </a>
                </li>
            }
        })
        .collect_view();
    view! {
        <nav class="card ladder-card" aria-label="Layers, bottom-up">
            <header>
                <h2>"Six layers"</h2>
                <span class="muted">"read upwards"</span>
            </header>
            <ol class="ladder">{rungs}</ol>
            {provisional
                .then(|| {
                    view! {
                        <p class="small muted card-foot">
                            "Layers above an unmeasured or failing one are provisional: their findings hold, their order may change."
                        </p>
                    }
                })}
        </nav>
    }
    .into_any()
}

/// The ladder before anything is measured: each layer's question.
#[component]
pub(crate) fn EmptyLadder() -> impl IntoView {
    let rung = |layer: Layer| {
        view! {
            <li>
                <span class="rung" class:above=layer != Layer::Driver>
                    <Lamp level=Level::Unknown big=true />
                    <span>
                        <span class="name">{words::layer(layer)}</span>
                        <span class="sub">{layer.question()}</span>
                    </span>
                </span>
            </li>
        }
    };
    view! {
        <section class="card" aria-labelledby="how">
            <header>
                <h2 id="how">"How a node is read"</h2>
                <span class="muted">"from the bottom up"</span>
            </header>
            <ol class="ladder">{Layer::ALL.map(rung).collect_view()}</ol>
        </section>
    }
    .into_any()
}

/// A mark on a layer that could not be measured although a command would settle it.
fn measure(report: &Report, state: &LayerState) -> Option<AnyView> {
    if state.status != Level::Unknown {
        return None;
    }
    let prefix = format!("{}/", state.id.id());
    report.next_evidence.iter().find(|n| n.decides.iter().any(|d| d.starts_with(&prefix)))?;
    Some(view! { <span class="tag caution">"measure: 1 command"</span> }.into_any())
}

/// "2 fail · 10 pass · 8 unknown".
pub(crate) fn counts(report: &Report, layer: Layer) -> String {
    const ORDER: [(Level, &str); 6] = [
        (Level::Fail, "fail"),
        (Level::Warn, "warn"),
        (Level::Info, "to know"),
        (Level::Pass, "pass"),
        (Level::Unknown, "unknown"),
        (Level::NotApplicable, "not applicable"),
    ];
    let of = |level| report.findings.iter().filter(|f| f.layer == layer && f.verdict == level).count();
    let parts: Vec<String> = ORDER
        .iter()
        .map(|(level, word)| (of(*level), word))
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| format!("{} {word}", format::count(n)))
        .collect();
    if parts.is_empty() { "no checks".to_owned() } else { parts.join(" · ") }
}
