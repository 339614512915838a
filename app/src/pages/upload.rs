//! `/upload`: files and pasted text. The form works without JavaScript; with it, files can be dropped, each shows its
//! progress and what it was recognised as.

use leptos::prelude::*;
use leptos_meta::Title;

use crate::islands::upload::UploadForm;

/// The page.
#[component]
pub(crate) fn Upload() -> impl IntoView {
    view! {
        <Title text="Upload" />
        <main id="main" class="narrow">
            <div class="page-head">
                <div class="grow">
                    <h1>"Upload"</h1>
                    <p class="muted">
                        "Anything that describes a node or a run. Sextant recognises what it is; nothing is sent before you press “Send”."
                    </p>
                </div>
            </div>
            <UploadForm low=false />
        </main>
    }
    .into_any()
}
