//! A command with a copy button, and the tags beside it.

use checks::report::Tag;
use leptos::prelude::*;

use crate::parts::words;

/// A command or a piece of code, copied by one button. Without JavaScript it is selected by hand.
#[component]
pub(crate) fn Cmd(#[prop(into)] text: String) -> impl IntoView {
    view! {
        <div class="cmd">
            <pre>
                <code>{text}</code>
            </pre>
            <button class="btn small needs-live" type="button" data-copy="" aria-label="Copy command">
                "Copy"
            </button>
        </div>
    }
    .into_any()
}

/// What a step asks for.
#[component]
pub(crate) fn Tags(tags: Vec<Tag>) -> impl IntoView {
    (!tags.is_empty()).then(|| {
        let one = |t| {
            let (word, class) = words::tag(t);
            view! { <span class=class>{word}</span> }
        };
        view! { <span class="tags">{tags.into_iter().map(one).collect_view()}</span> }
    })
}
