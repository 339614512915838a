//! Utilisation over SM active on one scale; the gap between the two is the message.

use leptos::prelude::*;

use crate::format;

/// Two bars and two numbers in percent. `liar` marks a utilisation that hides idle SMs.
#[component]
pub(crate) fn Duo(util: Option<f64>, sm: Option<f64>, liar: bool) -> impl IntoView {
    let word = |v: Option<f64>| v.map_or_else(|| "not measured".to_owned(), format::pct0);
    let short = |v: Option<f64>| v.map_or_else(|| "–".to_owned(), |v| format::num(v, 0));
    let title = format!("GPU utilisation {}, SM active {}", word(util), word(sm));
    let spoken = title.clone();
    let bar = |v: Option<f64>| view! { <i style=format!("--w:{:.1}%", v.unwrap_or(0.0).clamp(0.0, 100.0))></i> };
    view! {
        <span class="duo" title=title>
            <span class="bars" aria-hidden="true">
                {bar(util)}
                {bar(sm)}
            </span>
            <span class:liar=liar aria-hidden="true">
                {format!("{} / {}", short(util), short(sm))}
            </span>
            <span class="vh">{spoken}</span>
        </span>
    }
}
