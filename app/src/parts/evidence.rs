//! The evidence of a finding: what, observed, expected, and the quoted line with the way to it in the raw input.

use checks::Value;
use checks::report::{Evidence, Input};
use leptos::prelude::*;

use crate::format;
use crate::parts::words;

/// At most this many rows are open; the rest folds.
const OPEN: usize = 8;

/// The table. `report_id` and `inputs` lead to the raw lines.
#[component]
pub(crate) fn EvidenceTable(evidence: Vec<Evidence>, report_id: String, inputs: Vec<Input>) -> impl IntoView {
    let rest = evidence.len().saturating_sub(OPEN);
    let mut rows: Vec<AnyView> = evidence
        .into_iter()
        .map(|e| view! { <Row e report_id=report_id.clone() inputs=inputs.clone() /> }.into_any())
        .collect();
    let more = rows.split_off(rows.len() - rest);
    let table = |rows: Vec<AnyView>| {
        view! {
            <table class="plain evidence">
                <thead>
                    <tr>
                        <th scope="col">"What"</th>
                        <th scope="col">"Observed"</th>
                        <th scope="col">"Expected"</th>
                        <th scope="col">"Source, quoted"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        }
    };
    view! {
        {table(rows)}
        {(rest > 0)
            .then(|| {
                view! {
                    <details>
                        <summary class="small">{format!("{rest} more")}</summary>
                        {table(more)}
                    </details>
                }
            })}
    }
    .into_any()
}

#[component]
fn Row(e: Evidence, report_id: String, inputs: Vec<Input>) -> impl IntoView {
    let observed = e.value.as_ref().map_or_else(|| "–".to_owned(), |v| value(v, &e.unit));
    let expected = e.expected.clone().unwrap_or_else(|| "–".to_owned());
    let source = e.input.map(|n| {
        let name = inputs.get(n as usize).map_or_else(|| format!("input {n}"), |i| format::visible(&i.name));
        let (text, href) = match e.line {
            Some(line) => (
                format!("{name}, line {}", format::count(line as usize)),
                format!("/reports/{report_id}/inputs/{n}?line={line}#L{line}"),
            ),
            None => (name, format!("/reports/{report_id}/inputs/{n}")),
        };
        view! { <a class="src" href=href>{text}</a> }
    });
    let none = e.quote.is_none() && source.is_none();
    view! {
        <tr>
            <td>
                <Fact path=e.fact />
            </td>
            <td data-l="Observed">{observed}</td>
            <td data-l="Expected">{expected}</td>
            <td data-l="Source">
                {e.quote.map(|q| view! { <q>{format::visible(&q)}</q> })}
                {source}
                {none.then(|| view! { <span class="src">"computed from several readings"</span> })}
            </td>
        </tr>
    }
    .into_any()
}

/// A fact by its meaning, with its path below; a short name of a computed value stands alone.
#[component]
fn Fact(path: String) -> impl IntoView {
    let what = words::fact(&path);
    view! {
        {what}
        <code class:src=what.is_some() class:small=what.is_some()>
            {path}
        </code>
    }
}

/// A value with its unit. Numbers keep at most three decimals; texts stand as the source printed them.
pub(crate) fn value(v: &Value, unit: &str) -> String {
    let text = match v {
        Value::Int(i) if unit.is_empty() => i.to_string(),
        #[expect(clippy::cast_precision_loss, reason = "facts are far below 2^53")]
        Value::Int(i) => format::num(*i as f64, 0),
        Value::Num(n) => {
            let decimals = match n.abs() {
                a if a >= 100.0 => 1,
                a if a >= 1.0 => 2,
                _ => 3,
            };
            let text = format::num(*n, decimals);
            if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
        }
        other => other.to_string(),
    };
    if unit.is_empty() { text } else { format!("{text}\u{a0}{unit}") }
}
