//! `/catalogue/{layer}/{slug}`: one check: what it looks for, thresholds with their source, fix, limits, its cases as
//! examples, and where it fires now.

mod cases;

use checks::catalogue::{self, Entry};
use checks::check::Check;
use checks::{Layer, Level};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use self::cases::Cases;
use crate::backend::{Firing, Problem};
use crate::format;
use crate::pages::load;
use crate::parts::crumbs::Crumbs;
use crate::parts::findings::slug;
use crate::parts::lamp::Lamp;
use crate::parts::{markdown, words};

/// Documentation parts of the main column, and of the one beside it.
const MAIN: [&str; 3] = ["Confirm by hand", "Fix", "Limits"];
const SIDE: [&str; 2] = ["Why it wastes the GPU", "References"];

/// The page.
#[component]
pub(crate) fn CheckPage() -> impl IntoView {
    let params = use_params_map().get_untracked();
    let id = format!("{}/{}", params.get("layer").unwrap_or_default(), params.get("slug").unwrap_or_default());
    load(
        |b| async move {
            let entry = catalogue::entry(&id).ok_or(Problem::NotFound { what: "check", id: id.clone() })?;
            Ok((entry, b.firing(id).await?))
        },
        |(entry, firing)| show(entry, firing),
    )
}

fn show(entry: &'static Entry, firing: Vec<Firing>) -> AnyView {
    let c = entry.check;
    let docs = entry.docs();
    let look = markdown::to_html(docs.part("What it looks for"));
    let needs: Vec<&str> = c.evidence.iter().map(|e| e.source()).collect();
    let part = |heading: &&'static str| {
        let html = markdown::to_html(docs.part(heading));
        let id = heading.to_lowercase().replace(' ', "-");
        (!html.is_empty()).then(|| {
            view! {
                <section class="card" aria-labelledby=id>
                    <header>
                        <h2 id=id.clone()>{*heading}</h2>
                    </header>
                    <div class="body md" inner_html=html.clone()></div>
                </section>
            }
        })
    };
    let crumbs = vec![
        ("Checks".to_owned(), Some("/catalogue".to_owned())),
        (words::layer(c.layer), Some(format!("/catalogue#{}", c.layer.id()))),
        (c.id.to_owned(), None),
    ];
    view! {
        <Title text=c.title />
        <main id="main">
            <div class="split" style="--cols:240px minmax(0,1fr)">
                <Side current=c />
                <article class="stack-y">
                    <div>
                        <Crumbs steps=crumbs />
                        <h1>{c.title}</h1>
                        <div class="facts mt1">
                            <span>"severity " <b>{words::severity(c.severity)}</b></span>
                            {c.core.then(|| view! { <span><b>"core"</b> " for its layer"</span> })}
                            <span>"decided from " <b>{needs.join(", ")}</b></span>
                            <span>"by hand " <b>{format::seconds(c.minutes * 60)}</b></span>
                        </div>
                    </div>
                    <section class="card" aria-label="What it looks for">
                        <div class="body pt4 md t-lg" inner_html=look></div>
                    </section>
                    <div class="main-side">
                        <div class="stack-y">
                            <Thresholds check=c /> {MAIN.iter().map(part).collect_view()}
                            <Cases cases=entry.cases() />
                        </div>
                        <div class="stack-y">
                            <Fires firing layer=c.layer id=c.id />
                            {SIDE.iter().map(part).collect_view()}
                            <p class="small muted">
                                "The id " <code>{c.id}</code> " never changes."
                            </p>
                        </div>
                    </div>
                </article>
            </div>
        </main>
    }
    .into_any()
}

/// All checks by layer, the present one marked.
#[component]
fn Side(current: &'static Check) -> impl IntoView {
    let all = catalogue::all();
    let layers = Layer::ALL.map(|layer| {
        let links = all.iter().filter(|c| c.layer == layer).map(|c| {
            let here = c.id == current.id;
            view! {
                <li>
                    <a href=format!("/catalogue/{}", c.id) aria-current=here.then_some("page")>
                        {c.slug()}
                    </a>
                </li>
            }
        });
        view! {
            <h3>{words::layer(layer)}</h3>
            <ul>{links.collect_view()}</ul>
        }
    });
    view! {
        <aside class="card hide-md" aria-label="All checks">
            <header>
                <h2>"All checks"</h2>
                <span class="muted">{format::count(all.len())}</span>
            </header>
            <form class="inset" method="get" action="/catalogue" role="search" aria-label="Checks">
                <label class="field">
                    <span class="vh">"Search checks"</span>
                    <input type="search" name="q" placeholder="Name or symptom" />
                </label>
            </form>
            <nav class="cat" aria-label="Catalogue">
                {layers.into_iter().collect_view()}
            </nav>
        </aside>
    }
    .into_any()
}

#[component]
fn Thresholds(check: &'static Check) -> impl IntoView {
    if check.limits.is_empty() {
        return ().into_any();
    }
    let rows = check.limits.iter().map(|l| {
        let value = crate::parts::evidence::value(&checks::Value::Num(l.default), l.unit);
        view! {
            <tr>
                <th scope="row" class="w400 t-ink">
                    <code>{l.name}</code>
                </th>
                <td class="num nowrap">{value}</td>
                <td class="small muted">{l.source}</td>
            </tr>
        }
    });
    view! {
        <section class="card" aria-labelledby="thresholds">
            <header>
                <h2 id="thresholds">"Thresholds"</h2>
                <span class="muted">"as shipped, with the source of each number"</span>
            </header>
            <div class="body tight">
                <table class="plain">
                    <thead>
                        <tr>
                            <th scope="col">"Name"</th>
                            <th scope="col" class="num">
                                "Value"
                            </th>
                            <th scope="col">"Source"</th>
                        </tr>
                    </thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        </section>
    }
    .into_any()
}

/// Where the check fires now, worst first.
#[component]
fn Fires(firing: Vec<Firing>, layer: Layer, id: &'static str) -> impl IntoView {
    let n = firing.len();
    let rows = firing.into_iter().map(|f| {
        let href = format!("{}#{}", f.subject.checklist(layer), slug(id));
        view! {
            <li class="fires">
                <Lamp level=f.verdict />
                <div>
                    <a href=href>{f.title}</a>
                    <p class="small muted">{f.message}</p>
                </div>
            </li>
        }
    });
    view! {
        <section class="card" aria-labelledby="fires-h">
            <header>
                <h2 id="fires-h">"Fires now"</h2>
                <span class="muted">{format::plural(n, "place", "places")}</span>
            </header>
            <div class="body tight">
                {if n == 0 {
                    view! { <p class="small muted">"Nowhere, in the reports that this server keeps."</p> }.into_any()
                } else {
                    view! { <ul class="list">{rows.collect_view()}</ul> }.into_any()
                }}
            </div>
        </section>
    }
    .into_any()
}

/// The verdict that a word of a case file names.
fn level(word: &str) -> Option<Level> {
    [Level::Pass, Level::Info, Level::Warn, Level::Fail, Level::Unknown, Level::NotApplicable]
        .into_iter()
        .find(|l| l.id() == word)
}
