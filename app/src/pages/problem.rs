//! What is shown in place of a page that cannot be shown: what happened, what is safe, what to do.

use http::StatusCode;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_location;

use crate::backend::Problem;

/// No route matches.
#[component]
pub(crate) fn NoSuchPage() -> impl IntoView {
    let path = use_location().pathname.get_untracked();
    show(Problem::NotFound { what: "page", id: path })
}

/// A page in place of the one that was asked for, with the matching status.
pub(crate) fn show(problem: Problem) -> AnyView {
    let (status, title, does) = match &problem {
        Problem::NotFound { what, .. } => {
            (StatusCode::NOT_FOUND, "Not found", format!("Check the address, or look for the {what} in the lists."))
        }
        Problem::Internal(_) => (
            StatusCode::INTERNAL_SERVER_ERROR,
            "This page could not be made",
            "Nothing is lost. Try again in a few seconds; if it stays, the server’s log has the details.".to_owned(),
        ),
    };
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.set_status(status);
    }
    let bad = status.is_server_error();
    view! {
        <Title text=title />
        <main id="main" class="narrow">
            <div class="page-head">
                <div class="grow">
                    <h1>{title}</h1>
                </div>
            </div>
            <div class="notice" class:bad=bad class:mind=!bad role="alert">
                <div>
                    <b>{problem.to_string()}</b>
                    " "
                    {does}
                </div>
            </div>
            <p class="actions mt4">
                <a class="btn" href="/">
                    "Nodes"
                </a>
                <a class="btn" href="/runs">
                    "Runs"
                </a>
                <a class="btn" href="/catalogue">
                    "Checks"
                </a>
            </p>
        </main>
    }
    .into_any()
}
