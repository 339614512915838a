//! Lamps: a verdict as shape, colour and letter, any one of which may be lost.

use checks::{Layer, Level};
use leptos::prelude::*;

use crate::parts::words;

/// One lamp. `of` names what it is about for screen readers, for example the layer.
#[component]
pub(crate) fn Lamp(level: Level, #[prop(optional)] big: bool, #[prop(optional, into)] of: String) -> impl IntoView {
    let word = words::level(level);
    let label = if of.is_empty() { word.to_owned() } else { format!("{of}: {word}") };
    view! {
        <span class="lamp" class:big=big data-v=data_v(level) role="img" aria-label=label>
            {letter(level)}
        </span>
    }
}

/// Six lamps in a row, from layer 1 to layer 6.
#[component]
pub(crate) fn Lamps(levels: [Level; 6]) -> impl IntoView {
    let lamps = Layer::ALL.into_iter().zip(levels);
    view! {
        <span class="lamps">
            {lamps.map(|(layer, level)| view! { <Lamp level of=words::layer(layer) /> }).collect_view()}
        </span>
    }
}

/// What each lamp means.
#[component]
pub(crate) fn LampKey() -> impl IntoView {
    const SHOWN: [Level; 6] =
        [Level::Pass, Level::Info, Level::Warn, Level::Fail, Level::Unknown, Level::NotApplicable];
    view! {
        <p class="lamp-key">
            {SHOWN
                .map(|level| {
                    view! {
                        <span>
                            <span class="lamp" data-v=data_v(level) aria-hidden="true">
                                {letter(level)}
                            </span>
                            {words::level(level)}
                        </span>
                    }
                })
                .collect_view()}
        </p>
    }
}

/// The verdict as the stylesheet spells it.
pub(crate) const fn data_v(level: Level) -> &'static str {
    match level {
        Level::NotApplicable => "na",
        other => other.id(),
    }
}

const fn letter(level: Level) -> &'static str {
    match level {
        Level::Pass => "P",
        Level::Info => "i",
        Level::Warn => "W",
        Level::Fail => "F",
        Level::Unknown => "?",
        Level::NotApplicable => "–",
    }
}
