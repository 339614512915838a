//! `/runs/{id}`: one run: verdict, where a step goes, work, time, findings, what to look at next.

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use crate::backend::{RunPage, Subject};
use crate::format;
use crate::pages::{body, load};
use crate::parts::crumbs::Crumbs;
use crate::parts::facts::FactLine;
use crate::parts::runs::State;

/// The page.
#[component]
pub(crate) fn Run() -> impl IntoView {
    let id = use_params_map().get_untracked().get("id").unwrap_or_default();
    load(|b| async move { b.run(id).await }, show)
}

fn show(page: RunPage) -> AnyView {
    let RunPage { row, stored, lanes, .. } = page;
    let subject = Subject::Run(row.id.clone());
    let mut crumbs = vec![("Runs".to_owned(), Some("/runs".to_owned()))];
    if let Some(node) = &row.node {
        crumbs.push((node.clone(), Some(Subject::Node(node.clone()).path())));
    }
    crumbs.push((format!("Run {}", row.name), None));
    let walk = stored.report.start_here().or(stored.report.headline.layer).unwrap_or(checks::Layer::Driver);
    view! {
        <Title text=format!("Run {}", row.name) />
        <main id="main">
            <div class="page-head">
                <div class="grow">
                    <Crumbs steps=crumbs />
                    <FactLine report=stored.report.clone()>
                        <span>
                            "started " <time datetime=format::iso(row.started_ms)>{format::moment(row.started_ms)}</time>
                        </span>
                        <State state=row.state />
                    </FactLine>
                </div>
                <div class="actions">
                    <a class="btn" href=subject.checklist(walk)>
                        "Walk through the layers"
                    </a>
                </div>
            </div>
            {body::body(stored, subject, lanes)}
        </main>
    }
    .into_any()
}
