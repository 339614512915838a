//! The cases of a check as examples: the same file that its tests run.

use checks::catalogue::Case;
use leptos::prelude::*;

use super::level;
use crate::format;
use crate::parts::lamp::Lamp;

/// Longest input text that is shown, in characters; the number of those left out is said.
const INPUT_MAX: usize = 6_000;

/// The card, folded case by case.
#[component]
pub(super) fn Cases(cases: Vec<Case>) -> impl IntoView {
    let n = cases.len();
    view! {
        <section class="card" aria-labelledby="cases-h">
            <header>
                <h2 id="cases-h">"Examples"</h2>
                <span class="muted">{format!("{}; each is also a test of the check", format::plural(n, "case", "cases"))}</span>
            </header>
            <div class="body flush">{cases.into_iter().map(|case| view! { <One case /> }).collect_view()}</div>
        </section>
    }
    .into_any()
}

#[component]
fn One(case: Case) -> impl IntoView {
    let Case { title, why, facts, inputs, traces, mut expect } = case;
    let verdict = if expect.is_empty() { None } else { level(expect.remove(0).trim()) };
    let named = |what: &'static str| move |(name, text): (String, String)| (format!("{what} {name}"), text);
    let texts =
        inputs.into_iter().map(named("Input")).chain(traces.into_iter().map(named("Trace"))).map(|(name, text)| {
            view! {
                <h3 class="sec-h">{name}</h3>
                <pre class="redact">{cut(&text)}</pre>
            }
        });
    view! {
        <details class="check" data-row="">
            <summary>
                {verdict.map(|level| view! { <Lamp level /> })}
                <span class="what">
                    <b>{title}</b>
                    <span>{why}</span>
                </span>
                <span class="end"></span>
            </summary>
            <div class="inside gap2">
                {(!facts.is_empty())
                    .then(|| {
                        view! {
                            <h3 class="sec-h">"Facts"</h3>
                            <pre class="redact">{facts.join("\n")}</pre>
                        }
                    })}
                {texts.collect_view()}
                {(!expect.is_empty())
                    .then(|| {
                        view! {
                            <h3 class="sec-h">"What the finding must say"</h3>
                            <pre class="redact">{expect.join("\n")}</pre>
                        }
                    })}
            </div>
        </details>
    }
    .into_any()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(INPUT_MAX) {
        Some((end, _)) => {
            let rest = text[end..].chars().count();
            format!("{}\n… {} more characters", &text[..end], format::count(rest))
        }
        None => text.to_owned(),
    }
}
