//! `/reports/{id}/inputs/{n}?line=`: raw lines of an input, a window around the line that a finding quotes.

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::{use_params_map, use_query_map};

use crate::backend::{InputPage, Problem};
use crate::format;
use crate::pages::load;
use crate::parts::crumbs::Crumbs;

/// Longest part of a line that is shown, in characters; the number of those left out is said.
const LINE_MAX: usize = 4_000;

/// The page.
#[component]
pub(crate) fn RawInput() -> impl IntoView {
    let params = use_params_map().get_untracked();
    let id = params.get("id").unwrap_or_default();
    let n = params.get("n").unwrap_or_default();
    let line: Option<usize> = use_query_map().get_untracked().get("line").and_then(|l| l.trim().parse().ok());
    load(
        move |b| async move {
            let n = n.parse().map_err(|_| Problem::NotFound { what: "input", id: n })?;
            b.input(id, n, line.unwrap_or(1)).await
        },
        move |page| show(page, line),
    )
}

fn show(page: InputPage, line: Option<usize>) -> AnyView {
    let path = format!("/reports/{}/inputs/{}", page.report_id, page.n);
    let (first, total, shown) = (page.first, page.total, page.lines.len());
    let last = first + shown.saturating_sub(1);
    let at = |l: usize| format!("{path}?line={l}#L{l}");
    // The window is made around a line, so the next one is asked for by the line in its middle.
    let before = (first > 1).then(|| at(first.saturating_sub(shown / 2).max(1)));
    let after = (last < total).then(|| at((last + shown / 2).min(total)));
    let offset = page.input.first_line as usize - 1;
    let rows = page.lines.into_iter().enumerate().map(|(i, text)| {
        let n = first + i;
        let hit = (line == Some(n)).then_some("");
        view! {
            <li id=format!("L{n}") data-hit=hit>
                <a href=at(n) aria-label=format!("line {n}")>
                    {n}
                </a>
                <code>{format::visible(&cut(text))}</code>
            </li>
        }
    });
    let name = format::visible(&page.input.name);
    let says = format!(
        "{}, lines {}–{} of {}",
        page.input.kind,
        format::count(first),
        format::count(last),
        format::count(total)
    );
    view! {
        <Title text=name.clone() />
        <main id="main">
            <div class="page-head">
                <div class="grow">
                    <Crumbs steps=vec![
                        ("Report".to_owned(), Some(format!("/reports/{}", page.report_id))),
                        ("Raw input".to_owned(), None),
                    ] />
                    <h1 class="any-break">{name}</h1>
                    <p class="muted">
                        {says} {(offset > 0).then(|| format!("; it begins at line {} of its file", format::count(offset + 1)))}
                    </p>
                </div>
                <form class="actions" method="get" action=path.clone()>
                    <label class="field">
                        "Line"
                        <input type="number" name="line" min="1" max=total value=line.map(|l| l.to_string()) />
                    </label>
                    <button class="btn" type="submit">
                        "Go"
                    </button>
                </form>
            </div>
            {if shown == 0 {
                view! { <p class="card none">"This input has no lines."</p> }.into_any()
            } else {
                view! { <ol class="raw">{rows.collect_view()}</ol> }.into_any()
            }}
            <nav class="actions mt3" aria-label="Lines">
                {before.map(|href| view! { <a class="btn" href=href>"‹ Lines before"</a> })}
                {after.map(|href| view! { <a class="btn" href=href>"Lines after ›"</a> })}
            </nav>
        </main>
    }
    .into_any()
}

/// A line cut to a length that a page can bear.
fn cut(line: String) -> String {
    match line.char_indices().nth(LINE_MAX) {
        Some((end, _)) => {
            let rest = line[end..].chars().count();
            format!("{} … {} more characters", &line[..end], format::count(rest))
        }
        None => line,
    }
}
