//! What would decide next: the one command that settles most of what cannot be said yet.

use checks::report::NextEvidence;
use leptos::prelude::*;

use crate::format;
use crate::parts::cmd::{Cmd, Tags};
use crate::parts::words;

/// At most this many checks are named; the rest is counted.
const NAMED: usize = 6;

/// The framed box. It appears once a page, with the first suggestion; others fold below it.
#[component]
pub(crate) fn Next(next: Vec<NextEvidence>) -> impl IntoView {
    let mut rest = next.into_iter();
    let Some(first) = rest.next() else { return ().into_any() };
    let others: Vec<NextEvidence> = rest.collect();
    view! {
        <aside class="next" aria-labelledby="next-h">
            <h2 id="next-h">"What would decide next"</h2>
            <One next=first />
            {(!others.is_empty())
                .then(|| {
                    view! {
                        <details class="small">
                            <summary>{format!("{} more", others.len())}</summary>
                            {others.into_iter().map(|n| view! { <div class="stack-y gap2 mt3"><One next=n /></div> }).collect_view()}
                        </details>
                    }
                })}
        </aside>
    }
    .into_any()
}

/// One suggestion: why, the command, what it decides and what it takes.
#[component]
pub(crate) fn One(next: NextEvidence) -> impl IntoView {
    let n = next.decides.len();
    let names = next.decides.iter().take(NAMED).map(|id| {
        view! {
            <a href=format!("/catalogue/{id}")>{id.split_once('/').map_or(id.clone(), |(_, s)| s.to_owned())}</a>
        }
    });
    let mut listed = Vec::new();
    for (i, name) in names.enumerate() {
        if i > 0 {
            listed.push(", ".into_any());
        }
        listed.push(name.into_any());
    }
    view! {
        <p class="small">{words::sentence(&next.why)}</p>
        <Cmd text=next.command />
        <p class="expect">
            <b>"Decides: "</b>
            {listed}
            {(n > NAMED).then(|| format!(" and {} more", n - NAMED))}
            ". "
            <b>"Takes "</b>
            {format!("about {}", format::seconds(next.seconds))}
            ". "
            <Tags tags=next.tags />
        </p>
    }
    .into_any()
}
