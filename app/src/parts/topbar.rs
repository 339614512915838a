//! The bar on top of every page: brand, sections, upload, theme.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::islands::keys::Keys;
use crate::islands::theme::ThemeSwitch;

/// Section name, where it leads, and the paths that belong to it.
const SECTIONS: [(&str, &str, &[&str]); 3] =
    [("Nodes", "/", &["/nodes"]), ("Runs", "/runs", &["/runs"]), ("Checks", "/catalogue", &["/catalogue"])];

/// The bar.
#[component]
pub(crate) fn Topbar() -> impl IntoView {
    let path = use_location().pathname.get_untracked();
    let link = |(name, href, under): (&'static str, &'static str, &[&str])| {
        let here = path == href || under.iter().any(|u| path.strip_prefix(u).is_some_and(|r| r.starts_with('/')));
        view! {
            <a href=href aria-current=here.then_some(if path == href { "page" } else { "true" })>
                {name}
            </a>
        }
    };
    view! {
        <header class="topbar">
            <a class="brand" href="/">
                <Mark />
                "Sextant"
            </a>
            <nav aria-label="Main">
                {SECTIONS.map(link).into_iter().collect_view()} <a class="only-narrow" href="/find">
                    "Find"
                </a>
            </nav>
            <form class="field jump" method="get" action="/find" role="search" aria-label="Everywhere">
                <label class="vh" for="jump">
                    "Go to a node, run or check"
                </label>
                <input id="jump" type="search" name="q" placeholder="Go to node, run, check" data-search="" />
                <kbd aria-hidden="true">"/"</kbd>
            </form>
            <a class="btn primary" href="/upload" aria-current=(path == "/upload").then_some("page")>
                "Upload"
            </a>
            <Keys />
            <ThemeSwitch />
        </header>
    }
    .into_any()
}

/// The brand's mark: a sextant's arc, arms and horizon.
#[component]
fn Mark() -> impl IntoView {
    view! {
        <svg viewBox="0 0 22 22" fill="none" stroke="currentColor" stroke-width="1.6" aria-hidden="true">
            <path d="M2.5 15.5A11.5 11.5 0 0 0 19.5 15.5" />
            <path d="M11 3 2.5 15.5M11 3l8.5 12.5M11 3v9" />
            <path d="M5.5 11.200h11" stroke="var(--accent)" />
            <circle cx="11" cy="3" r="1.6" fill="var(--surface)" />
        </svg>
    }
    .into_any()
}
