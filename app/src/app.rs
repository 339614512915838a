//! The application: its routes. Every page is rendered whole on the server (`SsrMode::Async`), so that it reads without
//! JavaScript.

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::SsrMode::Async;
use leptos_router::components::{Route, Router, Routes};
use leptos_router::path;

use crate::format;
use crate::pages;
use crate::parts::topbar::Topbar;

/// Top bar and pages.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    view! {
        <Title formatter=title />
        <Router>
            <Topbar />
            <Routes fallback=pages::problem::NoSuchPage>
                <Route path=path!("/") view=pages::nodes::Nodes ssr=Async />
                <Route path=path!("/nodes/:id") view=pages::node::Node ssr=Async />
                <Route path=path!("/nodes/:id/checklist/:layer") view=pages::checklist::NodeChecklist ssr=Async />
                <Route path=path!("/runs") view=pages::runs::Runs ssr=Async />
                <Route path=path!("/runs/:id") view=pages::run::Run ssr=Async />
                <Route path=path!("/runs/:id/checklist/:layer") view=pages::checklist::RunChecklist ssr=Async />
                <Route path=path!("/reports/:id") view=pages::report::Report ssr=Async />
                <Route path=path!("/reports/:id/checklist/:layer") view=pages::checklist::ReportChecklist ssr=Async />
                <Route path=path!("/reports/:id/inputs/:n") view=pages::input::RawInput ssr=Async />
                <Route path=path!("/upload") view=pages::upload::Upload ssr=Async />
                <Route path=path!("/catalogue") view=pages::catalogue::Catalogue ssr=Async />
                <Route path=path!("/catalogue/:layer/:slug") view=pages::check::CheckPage ssr=Async />
                <Route path=path!("/find") view=pages::find::Find ssr=Async />
            </Routes>
        </Router>
    }
}

/// The document's title. leptos_meta writes it as it is, so a page's name (which may come from a file name) is escaped
/// here.
fn title(page: String) -> String {
    if page.is_empty() { "Sextant".to_owned() } else { format!("{} · Sextant", format::escaped(&page)) }
}
