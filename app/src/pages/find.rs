//! `/find?q=`: nodes, runs and checks by name. An exact name leads straight to its page.

use checks::catalogue;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use crate::backend::{NodesPage, RunsPage, Subject};
use crate::format;
use crate::pages::load;

/// At most this many of a kind are listed; the number of those left out is said.
const MAX: usize = 20;

/// Something that was found: its name, where it is, and a word about it.
struct Hit {
    name: String,
    href: String,
    about: String,
}

/// The page.
#[component]
pub(crate) fn Find() -> impl IntoView {
    let q = use_query_map().get_untracked().get("q").unwrap_or_default().trim().to_owned();
    load(|b| async move { Ok((b.nodes().await?, b.runs().await?)) }, move |(nodes, runs)| show(nodes, runs, q))
}

fn show(nodes: NodesPage, runs: RunsPage, q: String) -> AnyView {
    let has = |name: &str| name.to_lowercase().contains(&q.to_lowercase());
    let nodes: Vec<Hit> = nodes
        .nodes
        .into_iter()
        .filter(|n| has(&n.name))
        .map(|n| Hit { href: Subject::Node(n.name.clone()).path(), name: n.name, about: n.gpus.unwrap_or_default() })
        .collect();
    let runs: Vec<Hit> = runs
        .runs
        .into_iter()
        .filter(|r| has(&r.name) || r.id == q)
        .map(|r| Hit { href: Subject::Run(r.id).path(), name: r.name, about: format::moment(r.started_ms) })
        .collect();
    let checks: Vec<Hit> = catalogue::all()
        .iter()
        .filter(|c| has(c.id) || has(c.title))
        .map(|c| Hit { href: format!("/catalogue/{}", c.id), name: c.id.to_owned(), about: c.title.to_owned() })
        .collect();
    let exact = |h: &&Hit| h.name == q || h.name.split_once('/').is_some_and(|(_, slug)| slug == q);
    let mut same = nodes.iter().chain(&runs).chain(&checks).filter(exact);
    if let (Some(only), None) = (same.next(), same.next()) {
        leptos_axum::redirect(&only.href);
    }
    let nothing = nodes.is_empty() && runs.is_empty() && checks.is_empty();
    view! {
        <Title text="Find" />
        <main id="main" class="narrow">
            <div class="page-head">
                <div class="grow">
                    <h1>{if q.is_empty() { "Find".to_owned() } else { format!("Find “{q}”") }}</h1>
                </div>
                <form class="actions" method="get" action="/find" role="search" aria-label="Nodes, runs and checks">
                    <label class="field">
                        <span class="vh">"Name of a node, run or check"</span>
                        <input type="search" name="q" value=q.clone() placeholder="Node, run or check" />
                    </label>
                    <button class="btn" type="submit">
                        "Find"
                    </button>
                </form>
            </div>
            {nothing.then(|| view! { <p class="card none">"No node, run or check has this in its name."</p> })}
            <div class="stack-y">
                <Hits title="Nodes" hits=nodes /> <Hits title="Runs" hits=runs />
                <Hits title="Checks" hits=checks />
            </div>
        </main>
    }
    .into_any()
}

#[component]
fn Hits(title: &'static str, hits: Vec<Hit>) -> impl IntoView {
    if hits.is_empty() {
        return ().into_any();
    }
    let total = hits.len();
    let rows = hits.into_iter().take(MAX).map(|h| {
        view! {
            <li data-row="">
                <a href=h.href data-open="">
                    {h.name}
                </a>
                " "
                <span class="muted small">{h.about}</span>
            </li>
        }
    });
    let id = title.to_lowercase();
    view! {
        <section class="card" aria-labelledby=id>
            <header>
                <h2 id=id.clone()>{title}</h2>
                <span class="muted">{format::count(total)}</span>
            </header>
            <div class="body">
                <ul class="list">{rows.collect_view()}</ul>
                {(total > MAX).then(|| view! { <p class="small muted mt3">{format!("{} more; type more of the name", total - MAX)}</p> })}
            </div>
        </section>
    }
    .into_any()
}
