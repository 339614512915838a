//! `/runs`: all runs, newest first.

use leptos::prelude::*;
use leptos_meta::Title;

use crate::backend::RunsPage;
use crate::format;
use crate::pages::load;
use crate::parts::cmd::Cmd;
use crate::parts::runs::RunTable;

/// The page.
#[component]
pub(crate) fn Runs() -> impl IntoView {
    load(|b| async move { b.runs().await }, show)
}

fn show(page: RunsPage) -> AnyView {
    let shown = page.runs.len();
    let count = if shown < page.total {
        format!("{} of {}, newest first", format::count(shown), format::plural(page.total, "run", "runs"))
    } else {
        format!("{}, newest first", format::plural(page.total, "run", "runs"))
    };
    view! {
        <Title text="Runs" />
        <main id="main" class="wide">
            <div class="page-head">
                <div class="grow">
                    <h1>"Runs"</h1>
                    <p class="muted">{(page.total > 0).then_some(count)}</p>
                </div>
            </div>
            {if page.runs.is_empty() {
                view! {
                    <section class="card way" aria-labelledby="none-h">
                        <h2 id="none-h">"No run was recorded yet."</h2>
                        <p class="muted">
                            "Put this before the training command; the script stays as it is. Then send the recording."
                        </p>
                        <div class="stack-y gap2">
                            <Cmd text="sextant run -- python train.py" />
                            <p class="small muted">
                                "A recording that exists already can be sent on the page " <a href="/upload">"Upload"</a> "."
                            </p>
                        </div>
                    </section>
                }
                    .into_any()
            } else {
                view! { <RunTable runs=page.runs now_ms=page.now_ms with_node=true /> }.into_any()
            }}
        </main>
    }
    .into_any()
}
