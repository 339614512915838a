//! `/`: all nodes, the one with most to win first; before the first snapshot, three ways to start.

mod query;
mod table;

use checks::{Layer, Level};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use self::query::{OLD_MS, Query, Row, Sort};
pub(crate) use self::query::{STALE_MS, leading_run};
use self::table::{Pager, Table};
use crate::backend::NodesPage;
use crate::format;
use crate::pages::{load, start};
use crate::parts::lamp::{Lamp, LampKey};
use crate::parts::words;

/// The page.
#[component]
pub(crate) fn Nodes() -> impl IntoView {
    let query = Query::read(&use_query_map().get_untracked());
    load(|b| async move { b.nodes().await }, move |page| show(page, query))
}

fn show(page: NodesPage, query: Query) -> AnyView {
    if page.total == 0 {
        return start::show();
    }
    let (total, now_ms) = (page.total, page.now_ms);
    let rows: Vec<Row> = page.nodes.into_iter().map(Row::new).collect();
    let of = |level: Level| rows.iter().filter(|r| r.worst == level).count();
    let unmeasured = rows.iter().filter(|r| r.levels.contains(&Level::Unknown)).count();
    let facts = [
        (total, if total == 1 { "node" } else { "nodes" }),
        (of(Level::Fail), "fail"),
        (of(Level::Warn), "warn"),
        (unmeasured, "with an unmeasured layer"),
    ];
    let facts = facts.map(|(n, word)| view! { <span><b>{format::count(n)}</b> " " {word}</span> });
    let filters = view! { <Filters query=query.clone() counts=Counts::of(&rows, now_ms) /> };
    let found = query.apply(rows, now_ms);
    let matching = found.len();
    let body = if found.is_empty() {
        view! { <NoMatch query=query.clone() /> }.into_any()
    } else {
        let page = query.page.min(matching.div_ceil(query.rows));
        let shown = found.into_iter().skip((page - 1) * query.rows).take(query.rows).collect();
        view! { <Table query=query.clone() rows=shown now_ms /> <Pager query=query.clone() total=matching /> }
            .into_any()
    };
    view! {
        <Title text="Nodes" />
        <main id="main" class="wide">
            <div class="page-head">
                <div class="grow">
                    <h1>"Nodes"</h1>
                    <div class="facts">{facts.into_iter().collect_view()}</div>
                </div>
                <LampKey />
            </div>
            {filters}
            {body}
        </main>
    }
    .into_any()
}

/// How many nodes each filter would show.
struct Counts {
    verdicts: Vec<(Level, usize)>,
    layers: [usize; 6],
    empty: usize,
    old: usize,
}

impl Counts {
    fn of(rows: &[Row], now_ms: i64) -> Self {
        let verdicts = [Level::Fail, Level::Warn, Level::Info, Level::Unknown, Level::Pass];
        Self {
            verdicts: verdicts
                .map(|l| (l, rows.iter().filter(|r| r.worst == l).count()))
                .into_iter()
                .filter(|(_, n)| *n > 0)
                .collect(),
            layers: std::array::from_fn(|i| rows.iter().filter(|r| r.levels[i].is_problem()).count()),
            empty: rows.iter().filter(|r| r.busy_but_empty()).count(),
            old: rows.iter().filter(|r| now_ms - r.seen_ms > OLD_MS).count(),
        }
    }
}

/// Search and filters. Every filter is a link to the list with it switched on or off.
#[component]
fn Filters(query: Query, counts: Counts) -> impl IntoView {
    let chip = |on: bool, to: Query, inner: AnyView, n: usize, layer: Option<usize>| {
        view! {
            <a class="chip" href=to.href() aria-current=on.then_some("true") data-layer=layer.map(|l| l.to_string())>
                {inner}
                <b>{format::count(n)}</b>
            </a>
        }
    };
    let toggled = |list: &[String], item: &str| -> Vec<String> {
        if list.iter().any(|v| v == item) {
            list.iter().filter(|v| *v != item).cloned().collect()
        } else {
            list.iter().cloned().chain([item.to_owned()]).collect()
        }
    };
    let verdicts = counts.verdicts.into_iter().map(|(level, n)| {
        let on = query.verdicts.iter().any(|v| v == level.id());
        let to = query.with(|q| q.verdicts = toggled(&q.verdicts, level.id()));
        chip(on, to, view! { <Lamp level /> {words::level(level)} }.into_any(), n, None)
    });
    let layers = Layer::ALL.into_iter().map(|l| {
        let n = l.number();
        let on = query.layers.contains(&n);
        let to = query.with(|q| if on { q.layers.retain(|x| *x != n) } else { q.layers.push(n) });
        chip(on, to, words::layer(l).into_any(), counts.layers[n - 1], Some(n))
    });
    let empty = (counts.empty > 0 || query.empty).then(|| {
        chip(query.empty, query.with(|q| q.empty = !q.empty), "busy but empty ".into_any(), counts.empty, None)
    });
    let old = (counts.old > 0 || query.old)
        .then(|| chip(query.old, query.with(|q| q.old = !q.old), "not seen for 1 h ".into_any(), counts.old, None));
    let kept = query.with(|q| {
        q.q.clear();
        q.sort = Sort::default();
    });
    let hidden = kept.pairs().into_iter().map(|(k, v)| view! { <input type="hidden" name=k value=v /> });
    let sorts = Sort::ALL.map(|(s, id, label)| view! { <option value=id selected=s == query.sort>{label}</option> });
    view! {
        <div class="filters">
            <div class="toolbar">
                <form class="actions" method="get" action="/" role="search" aria-label="Nodes">
                    {hidden.collect_view()}
                    <label class="field">
                        <span class="vh">"Search nodes"</span>
                        <input type="search" name="q" value=query.q.clone() placeholder="Name, GPU, driver or verdict" />
                    </label>
                    <label class="field only-folded">
                        "Sort " <select name="sort">{sorts.into_iter().collect_view()}</select>
                    </label>
                    <button class="btn" type="submit">
                        "Show"
                    </button>
                </form>
                <div class="chips scroll" role="group" aria-label="Filter by verdict">
                    {verdicts.collect_view()}
                    {empty}
                    {old}
                </div>
            </div>
            <div class="chips scroll" role="group" aria-label="Filter by layer">
                <span class="lead">"Layer"</span>
                {layers.collect_view()}
                <span class="small muted">"counts are fail + warning"</span>
            </div>
        </div>
    }
    .into_any()
}

#[component]
fn NoMatch(query: Query) -> impl IntoView {
    let mut by: Vec<String> = Vec::new();
    if !query.q.is_empty() {
        by.push(format!("“{}”", query.q));
    }
    by.extend(query.verdicts.iter().cloned());
    by.extend(Layer::ALL.into_iter().filter(|l| query.layers.contains(&l.number())).map(words::layer));
    by.extend(query.empty.then(|| "busy but empty".to_owned()));
    by.extend(query.old.then(|| "not seen for 1 h".to_owned()));
    debug_assert!(query.narrows(), "a list that is not narrowed shows all nodes");
    view! {
        <div class="table-wrap none">
            <p>"No node matches " <b>{by.join(", ")}</b> "."</p>
            <a class="btn" href="/">
                "Clear the filters"
            </a>
        </div>
    }
    .into_any()
}
