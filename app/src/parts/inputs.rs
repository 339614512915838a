//! What was read: each input, what it was taken for, and remarks, with the way to its raw lines.

use checks::report::Input;
use leptos::prelude::*;

use crate::format;

/// Remarks of one input that are open; the rest folds.
const OPEN_NOTES: usize = 3;

/// The card.
#[component]
pub(crate) fn Inputs(inputs: Vec<Input>, report_id: String) -> impl IntoView {
    if inputs.is_empty() {
        return ().into_any();
    }
    let n = inputs.len();
    let rows = inputs
        .into_iter()
        .enumerate()
        .map(|(i, input)| {
            let understood = input.kind != "unknown";
            view! {
                <tr>
                    <th scope="row" class="w400 t-ink">
                        <a href=format!("/reports/{report_id}/inputs/{i}")>{format::visible(&input.name)}</a>
                    </th>
                    <td class="mono small" class:t-fail=!understood>
                        {if understood { input.kind.clone() } else { "not understood".to_owned() }}
                    </td>
                    <td class="num small">{format::bytes(input.bytes)}</td>
                    <td class="small">
                        <Remarks input />
                    </td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <section class="card" aria-labelledby="inputs-h">
            <header>
                <h2 id="inputs-h">"What was read"</h2>
                <span class="muted">{format::plural(n, "input", "inputs")}</span>
            </header>
            <div class="body tight scroll-x" tabindex="0" role="group" aria-labelledby="inputs-h">
                <table class="plain">
                    <thead>
                        <tr>
                            <th scope="col">"Input"</th>
                            <th scope="col">"Kind"</th>
                            <th scope="col" class="num">
                                "Size"
                            </th>
                            <th scope="col">"Remarks"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
    .into_any()
}

#[component]
fn Remarks(input: Input) -> impl IntoView {
    let line = |n: &checks::report::Note| match n.line {
        Some(l) => format!("line {}: {}", format::count(l as usize), n.text),
        None => n.text.clone(),
    };
    let mut notes: Vec<String> = input.notes.iter().map(line).collect();
    let more = notes.split_off(notes.len().min(OPEN_NOTES));
    let list = |all: Vec<String>| all.into_iter().map(|n| view! { <p>{n}</p> }).collect_view();
    view! {
        {list(notes)}
        {(!more.is_empty())
            .then(|| {
                view! {
                    <details>
                        <summary>{format!("{} more", more.len())}</summary>
                        {list(more)}
                    </details>
                }
            })}
    }
    .into_any()
}
