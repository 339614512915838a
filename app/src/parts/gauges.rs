//! Utilisation against work: what nvidia-smi calls busy, drawn in grey, beside what the counters say.

use checks::report::Work;
use leptos::prelude::*;

use crate::format;

/// The card.
#[component]
pub(crate) fn WorkCard(work: Option<Work>) -> impl IntoView {
    let Some(work) = work else {
        return view! {
            <section class="card" aria-labelledby="work-h">
                <header>
                    <h2 id="work-h">"Utilisation against work"</h2>
                </header>
                <div class="none">
                    <p>"Not measured: no samples were recorded here."</p>
                </div>
            </section>
        }
        .into_any();
    };
    let row = |name: &'static str, class: &'static str, pct: Option<f64>| {
        let value = pct.map_or_else(|| "not measured".to_owned(), format::pct);
        view! { <Gauge name class pct value=value.into_any() /> }
    };
    let power = match (work.power_w, work.power_limit_w) {
        (Some(w), Some(limit)) if limit > 0.0 => {
            let of = format!("of {}\u{a0}W", format::num(limit, 0));
            (Some(w / limit * 100.0), view! { {format::num(w, 0)} " " <small>{of}</small> }.into_any())
        }
        (Some(w), _) => (None, format!("{}\u{a0}W", format::num(w, 0)).into_any()),
        (None, _) => (None, "not measured".into_any()),
    };
    view! {
        <section class="card" aria-labelledby="work-h">
            <header>
                <h2 id="work-h">"Utilisation against work"</h2>
                <span class="muted">
                    {format!(
                        "means over {}\u{a0}s, {}",
                        format::num(work.seconds, 1),
                        format::plural(work.samples, "sample", "samples"),
                    )}
                </span>
            </header>
            <div class="body">
                <div class="gauges" role="group" aria-label="Utilisation against work">
                    {row("GPU utilisation", "track claim", work.util_pct)} {row("SM active", "track", work.sm_pct)}
                    {row("Tensor active", "track", work.tensor_pct)} {row("DRAM active", "track", work.dram_pct)}
                    <Gauge name="Power" class="track" pct=power.0 value=power.1 />
                </div>
                {(!work.reading.is_empty()).then(|| view! { <p class="reading">{work.reading.clone()}</p> })}
            </div>
        </section>
    }
    .into_any()
}

/// One row. A quantity that was not measured has an empty track and says so.
#[component]
fn Gauge(name: &'static str, class: &'static str, pct: Option<f64>, value: AnyView) -> impl IntoView {
    view! {
        <span>{name}</span>
        <span class=class>
            {pct.map(|p| view! { <i style=format!("--w:{:.1}%", p.clamp(0.0, 100.0))></i> })}
        </span>
        <span class="val">{value}</span>
    }
    .into_any()
}
