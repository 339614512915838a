//! The dense table of nodes and its pager.

use checks::{Layer, Level};
use leptos::prelude::*;

use super::query::{Query, ROWS, Row, STALE_MS, Sort};
use crate::backend::Subject;
use crate::format;
use crate::parts::duo::Duo;
use crate::parts::lamp::Lamps;
use crate::parts::words;

/// The rows of one page under a head that sorts.
#[component]
pub(super) fn Table(query: Query, rows: Vec<Row>, now_ms: i64) -> impl IntoView {
    let head = |sort: Sort, label: &'static str, class: &'static str| {
        let on = query.sort == sort;
        let to = query.with(|q| {
            q.reverse = on && !q.reverse;
            q.sort = sort;
        });
        let up_first = matches!(sort, Sort::Name | Sort::Gpus | Sort::Seen);
        let dir = if up_first == query.reverse { "descending" } else { "ascending" };
        view! {
            <th scope="col" class=class aria-sort=on.then_some(dir)>
                <a href=to.href()>{label}</a>
            </th>
        }
    };
    let six = Layer::ALL.map(|l| view! { <span title=words::layer(l)>{l.number()}</span> });
    view! {
        <div class="table-wrap page-scroll">
            <table class="dense fold">
                <caption class="vh">
                    "Nodes. Six lamps per node, from 1 Driver and firmware to 6 Framework and communication."
                </caption>
                <thead class="sticky">
                    <tr>
                        {head(Sort::Name, "Node", "")} {head(Sort::Seen, "Seen", "num")} <th scope="col">
                            <span class="vh">"Layers "</span>
                            <span class="six">{six.into_iter().collect_view()}</span>
                        </th> {head(Sort::Sm, "Util / SM active, %", "")}
                        {head(Sort::Verdict, "Verdict, worst first", "")} {head(Sort::Gpus, "GPUs", "hide-sm")}
                        {head(Sort::Gain, "At most", "num hide-sm")}
                    </tr>
                </thead>
                <tbody>{rows.into_iter().map(|r| view! { <OneNode row=r now_ms /> }).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

#[component]
fn OneNode(row: Row, now_ms: i64) -> impl IntoView {
    let liar = row.busy_but_empty();
    let gain = match (row.gain, row.worst) {
        (Some(share), _) => format::factor(share),
        (None, Level::Unknown) => "?".to_owned(),
        (None, _) => "–".to_owned(),
    };
    let run = row.run.map(|(id, name)| {
        view! {
            <a class="small" href=Subject::Run(id).path()>
                {name}
            </a>
            ": "
        }
    });
    let stale = now_ms - row.seen_ms > STALE_MS;
    view! {
        <tr class:stale=stale data-row="">
            <td class="c-node nowrap">
                <a href=Subject::Node(row.name.clone()).path() data-open="">
                    {row.name.clone()}
                </a>
            </td>
            <td class="c-last num small">
                <time datetime=format::iso(row.seen_ms) title=format::moment(row.seen_ms)>
                    {format::age(now_ms, row.seen_ms)}
                </time>
            </td>
            <td class="c-lamps">
                <Lamps levels=row.levels />
            </td>
            <td class="c-duo">
                <Duo util=row.util sm=row.sm liar />
            </td>
            <td class="fill" title=row.says.clone()>
                {run}
                {row.says.clone()}
            </td>
            <td class="c-gpu nowrap">{row.gpus}</td>
            <td class="num nowrap c-gain">{gain}</td>
        </tr>
    }
    .into_any()
}

/// "1–50 of 1,024", rows a page, and the pages.
#[component]
pub(super) fn Pager(query: Query, total: usize) -> impl IntoView {
    let pages = total.div_ceil(query.rows).max(1);
    let page = query.page.min(pages);
    let first = (page - 1) * query.rows + 1;
    let last = (page * query.rows).min(total);
    let to = |p: usize| Query { page: p, ..query.clone() }.href();
    let near: Vec<usize> = (1..=pages).filter(|p| *p == 1 || *p == pages || p.abs_diff(page) < 2).collect();
    let mut before = 0;
    let numbers = near
        .into_iter()
        .map(|p| {
            let gap = (p > before + 1).then(|| view! { <span>"…"</span> });
            before = p;
            view! {
                {gap}
                <a class="btn small" class:quiet=p != page href=to(p) aria-current=(p == page).then_some("page")>
                    {p}
                </a>
            }
        })
        .collect_view();
    let rows = ROWS.map(|n| {
        let href = query.with(|q| q.rows = n).href();
        view! {
            <a class="btn small" class:quiet=n != query.rows href=href aria-current=(n == query.rows).then_some("true")>
                {n}
            </a>
        }
    });
    view! {
        <nav class="pager" aria-label="Pages">
            <span>{format!("{}–{} of {}", format::count(first), format::count(last), format::count(total))}</span>
            {(total > ROWS[0])
                .then(|| view! { <span class="nowrap">"Rows " {rows.into_iter().collect_view()}</span> })}
            {(pages > 1)
                .then(|| {
                    view! {
                        <span class="end">
                            {(page > 1).then(|| view! { <a class="btn small" href=to(page - 1)>"‹ Previous"</a> })}
                            {numbers}
                            {(page < pages).then(|| view! { <a class="btn small" href=to(page + 1)>"Next ›"</a> })}
                        </span>
                    }
                })}
        </nav>
    }
    .into_any()
}
