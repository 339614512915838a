//! A table of runs.

use checks::Level;
use leptos::prelude::*;

use crate::backend::{RunRow, Subject};
use crate::format;
use crate::parts::duo::Duo;
use crate::parts::lamp::Lamp;

/// Utilisation above SM active by more than this many points is "busy but empty".
const EMPTY_GAP_PCT: f64 = 40.0;

/// Runs, in the order given. `with_node` adds the node's column.
#[component]
pub(crate) fn RunTable(runs: Vec<RunRow>, now_ms: i64, with_node: bool) -> impl IntoView {
    view! {
        <div class="table-wrap">
            <table class="dense fold">
                <caption class="vh">"Runs, newest first"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Run"</th>
                        <th scope="col" class="num">
                            "Started"
                        </th>
                        <th scope="col">"Util / SM active, %"</th>
                        <th scope="col">"Verdict"</th>
                        {with_node.then(|| view! { <th scope="col">"Node"</th> })}
                        <th scope="col" class="num hide-sm">
                            "Steps"
                        </th>
                        <th scope="col" class="num hide-sm">
                            "Mean step"
                        </th>
                        <th scope="col" class="num">
                            "At most"
                        </th>
                    </tr>
                </thead>
                <tbody>{runs.into_iter().map(|run| view! { <OneRun run now_ms with_node /> }).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

#[component]
fn OneRun(run: RunRow, now_ms: i64, with_node: bool) -> impl IntoView {
    let s = run.summary;
    let work = s.work.unwrap_or_default();
    let liar = matches!((work.util_pct, work.sm_pct), (Some(u), Some(m)) if u - m > EMPTY_GAP_PCT);
    let gain = match (s.headline.recoverable_share.filter(|v| *v > 0.0), s.worst) {
        (Some(share), _) => format::factor(share),
        (None, Level::Unknown) => "?".to_owned(),
        (None, _) => "–".to_owned(),
    };
    let node = run.node.map(|n| {
        let href = Subject::Node(n.clone()).path();
        view! { <a href=href>{n}</a> }
    });
    view! {
        <tr data-row="">
            <td class="c-node nowrap">
                <Lamp level=s.worst />
                <a class="ml" href=Subject::Run(run.id).path() data-open="">
                    {run.name}
                </a>
                <State state=run.state />
            </td>
            <td class="c-last num small nowrap">
                <time datetime=format::iso(run.started_ms) title=format::moment(run.started_ms)>
                    {format::age(now_ms, run.started_ms)}
                </time>
            </td>
            <td class="c-duo">
                <Duo util=work.util_pct sm=work.sm_pct liar />
            </td>
            <td class="fill" title=s.headline.text.clone()>
                {s.headline.text.clone()}
            </td>
            {with_node
                .then(|| {
                    view! {
                        <td class="nowrap c-gpu">
                            {node}
                        </td>
                    }
                })}
            <td class="num nowrap hide-sm">{s.steps.map_or_else(|| "–".to_owned(), format::count)}</td>
            <td class="num nowrap hide-sm">{s.mean_step_ms.map_or_else(|| "–".to_owned(), format::ms_fine)}</td>
            <td class="num nowrap c-gain">{gain}</td>
        </tr>
    }
    .into_any()
}

/// A tag for a run that is not simply finished.
#[component]
pub(crate) fn State(#[prop(into)] state: String) -> impl IntoView {
    let (class, word, title) = match state.as_str() {
        "running" => ("tag accent ml", "running", "Chunks still arrive."),
        "lost" => ("tag caution ml", "cut off", "The collector stopped sending before the run was finished."),
        _ => return ().into_any(),
    };
    view! { <span class=class title=title>{word}</span> }.into_any()
}
