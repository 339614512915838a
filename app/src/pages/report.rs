//! `/reports/{id}`: the report of uploaded files that belong to no known node or run.

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use crate::backend::{ReportPage, Subject};
use crate::format;
use crate::pages::{body, load};
use crate::parts::crumbs::Crumbs;
use crate::parts::facts::FactLine;

/// The page.
#[component]
pub(crate) fn Report() -> impl IntoView {
    let id = use_params_map().get_untracked().get("id").unwrap_or_default();
    load(|b| async move { b.report(Subject::Report(id)).await }, show)
}

fn show(page: ReportPage) -> AnyView {
    let ReportPage { subject, title, stored, lanes, .. } = page;
    let walk = stored.report.start_here().or(stored.report.headline.layer).unwrap_or(checks::Layer::Driver);
    let node = stored.report.subject.node.clone();
    let taken = stored.report.subject.taken_ms;
    view! {
        <Title text=format!("Report: {title}") />
        <main id="main">
            <div class="page-head">
                <div class="grow">
                    <Crumbs steps=vec![("Upload".to_owned(), Some("/upload".to_owned())), (title, None)] />
                    <FactLine report=stored.report.clone()>
                        {node.map(|n| view! { <span>"from " <b>{n}</b></span> })}
                        {taken.map(|t| view! { <span>"taken " <time datetime=format::iso(t)>{format::moment(t)}</time></span> })}
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
