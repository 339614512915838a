//! `/catalogue`: every check by layer, searched by name or words of its texts.

use checks::Layer;
use checks::catalogue::{self, Entry};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use crate::format;
use crate::parts::words;

/// The page.
#[component]
pub(crate) fn Catalogue() -> impl IntoView {
    let query = use_query_map().get_untracked().get("q").unwrap_or_default();
    let found: Vec<&'static Entry> = catalogue::entries().iter().filter(|e| matches(e, &query)).collect();
    let all = catalogue::entries().len();
    let shown = if query.trim().is_empty() {
        format!("{} in six layers", format::plural(all, "check", "checks"))
    } else {
        format!("{} of {} match “{}”", format::count(found.len()), format::count(all), query.trim())
    };
    let layers = Layer::ALL.map(|layer| {
        let of: Vec<_> = found.iter().copied().filter(|e| e.check.layer == layer).collect();
        (!of.is_empty()).then(|| view! { <OfLayer layer entries=of /> })
    });
    view! {
        <Title text="Checks" />
        <main id="main" class="narrow">
            <div class="page-head">
                <div class="grow">
                    <h1>"Checks"</h1>
                    <p class="muted" role="status">
                        {shown}
                    </p>
                </div>
                <form class="actions" method="get" action="/catalogue" role="search" aria-label="Checks">
                    <label class="field">
                        <span class="vh">"Search checks"</span>
                        <input type="search" name="q" value=query placeholder="Name or symptom" />
                    </label>
                    <button class="btn" type="submit">
                        "Search"
                    </button>
                </form>
            </div>
            {found
                .is_empty()
                .then(|| {
                    view! {
                        <div class="card none">
                            <p>"No check has these words in its name or text."</p>
                            <a class="btn" href="/catalogue">
                                "Show all checks"
                            </a>
                        </div>
                    }
                })}
            <div class="stack-y">{layers.into_iter().collect_view()}</div>
        </main>
    }
    .into_any()
}

/// One layer's checks.
#[component]
fn OfLayer(layer: Layer, entries: Vec<&'static Entry>) -> impl IntoView {
    let id = layer.id();
    let n = entries.len();
    let rows = entries.into_iter().map(|e| {
        let c = e.check;
        view! {
            <tr>
                <td>
                    <a href=format!("/catalogue/{}", c.id)>{c.title}</a>
                    <span class="mono small muted slug">{c.slug()}</span>
                </td>
                <td class="small muted">{c.evidence.iter().map(|e| e.source()).collect::<Vec<_>>().join(", ")}</td>
                <td class="hide-sm small">{c.core.then_some("core")}</td>
                <td class="num hide-sm small">{format!("{}\u{a0}min", c.minutes)}</td>
            </tr>
        }
    });
    view! {
        <section class="card" id=id aria-labelledby=format!("{id}-h")>
            <header>
                <h2 id=format!("{id}-h")>{words::layer(layer)}</h2>
                <span class="muted">{layer.question()}</span>
                <span class="end small muted">{format::plural(n, "check", "checks")}</span>
            </header>
            <div class="body tight">
                <table class="plain cat-list">
                    <thead>
                        <tr>
                            <th scope="col">"Check"</th>
                            <th scope="col">"Decided from"</th>
                            <th scope="col" class="hide-sm">
                                <span class="vh">"Core"</span>
                            </th>
                            <th scope="col" class="num hide-sm">
                                "By hand"
                            </th>
                        </tr>
                    </thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        </section>
    }
    .into_any()
}

/// Every word of the query stands in the id, the title or the documentation.
fn matches(entry: &Entry, query: &str) -> bool {
    let mut text = format!("{} {}", entry.check.id, entry.check.title).to_lowercase();
    for (_, body) in entry.docs().parts {
        text.push(' ');
        text.push_str(&body.to_lowercase());
    }
    query.to_lowercase().split_whitespace().all(|w| text.contains(w))
}
