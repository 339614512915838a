//! The way back: where a page stands among the others.

use leptos::prelude::*;

/// Name and address of each step; the last one is the page itself and has no address.
#[component]
pub(crate) fn Crumbs(steps: Vec<(String, Option<String>)>) -> impl IntoView {
    let one = |(name, href): (String, Option<String>)| match href {
        Some(href) => view! { <li><a href=href>{name}</a></li> }.into_any(),
        None => view! { <li aria-current="page">{name}</li> }.into_any(),
    };
    view! {
        <nav aria-label="Breadcrumbs">
            <ol class="crumbs">{steps.into_iter().map(one).collect_view()}</ol>
        </nav>
    }
    .into_any()
}
