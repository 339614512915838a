//! The verdict: the page's first sentence, and beside it how much time can come back.

use checks::Level;
use leptos::prelude::*;

use crate::format;
use crate::parts::lamp::{Lamp, data_v};

/// The verdict's frame. `gain` is the box on the right.
#[component]
pub(crate) fn Verdict(
    level: Level,
    /// The sentence, as a heading of the level that the page needs.
    says: AnyView,
    /// What supports it, in a line.
    below: Option<AnyView>,
    /// The box on the right.
    gain: Option<AnyView>,
) -> impl IntoView {
    view! {
        <section class="verdict" data-v=data_v(level) aria-label="Verdict">
            <Lamp level big=true />
            <div>{says} {below.map(|b| view! { <p>{b}</p> })}</div>
            {gain.map(|g| view! { <div class="gain">{g}</div> })}
        </section>
    }
    .into_any()
}

/// How much time can come back at most, and what the number rests on.
#[component]
pub(crate) fn Gain(recoverable_share: f64, note: AnyView) -> impl IntoView {
    view! {
        <small>"time that can come back"</small>
        <strong>
            <i>"at most "</i>
            {format::factor(recoverable_share)}
        </strong>
        <small>{note}</small>
    }
    .into_any()
}
