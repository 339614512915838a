//! Where a step goes: one bar of up to seven parts, solid where the GPU works and striped where it waits, and the
//! numbers under it.

use checks::report::{StepBreakdown, StepParts, StepSource};
use leptos::prelude::*;

use crate::format;

/// One of the seven parts that are drawn.
struct Part {
    class: &'static str,
    name: &'static str,
    ms: Option<f64>,
    /// Why there is no number.
    absent: &'static str,
}

/// The card.
#[component]
pub(crate) fn StepCard(step: Option<StepBreakdown>) -> impl IntoView {
    let Some(step) = step else {
        return view! {
            <section class="card" aria-labelledby="step-h">
                <header>
                    <h2 id="step-h">"Where a step goes"</h2>
                </header>
                <div class="none">
                    <p>"Not measured: there are no step timings and no trace here."</p>
                    <p class="small">"An empty bar would look like zero; nothing is drawn instead."</p>
                </div>
            </section>
        }
        .into_any();
    };
    let parts = parts(&step);
    let mean = step.mean_ms;
    let share = |ms: f64| if mean > 0.0 { ms / mean * 100.0 } else { 0.0 };
    let widest = parts.iter().filter_map(|p| p.ms).fold(0.0, f64::max);
    let said: Vec<String> = parts.iter().filter_map(|p| Some(format!("{} {}", p.name, format::ms(p.ms?)))).collect();
    let bar = parts
        .iter()
        .filter_map(|p| p.ms.filter(|ms| *ms > 0.0).map(|ms| (p, ms)))
        .map(|(p, ms)| {
            let wide = share(ms) >= 14.0;
            view! {
                <span
                    class=p.class
                    style=format!("--w:{:.3}", share(ms))
                    title=format!("{} {}, {}", p.name, format::ms(ms), format::pct(share(ms)))
                >
                    {wide.then(|| view! { <em>{p.name}</em> })}
                </span>
            }
        })
        .collect_view();
    let legend = parts
        .iter()
        .map(|p| {
            let value = match p.ms {
                Some(ms) => view! { {format::ms(ms)} " " <small>{format::pct(share(ms))}</small> }.into_any(),
                None => view! { "– " <small>{p.absent}</small> }.into_any(),
            };
            view! {
                <div class:zero=p.ms.is_none_or(|v| v <= 0.0) class:top=p.ms.is_some_and(|v| v > 0.0 && v >= widest)>
                    <dt>
                        <span class=format!("sw {}", p.class)></span>
                        {p.name}
                    </dt>
                    <dd>{value}</dd>
                </div>
            }
        })
        .collect_view();
    view! {
        <section class="card" aria-labelledby="step-h">
            <header>
                <h2 id="step-h">"Where a step goes"</h2>
                <span class="muted">
                    {format!("{} on average · solid: the GPU works · striped: the GPU waits", format::ms_fine(mean))}
                </span>
            </header>
            <div class="body">
                <div class="stepbar" role="img" aria-label=format!("One step: {}", said.join("; "))>
                    {bar}
                </div>
                <dl class="legend">{legend}</dl>
                <p class="small muted mt3 any-width">{source(&step)}</p>
            </div>
        </section>
    }
    .into_any()
}

/// The seven parts, or two where live timings alone cannot divide the rest.
fn parts(step: &StepBreakdown) -> Vec<Part> {
    let p = &step.ms;
    let part = |class, name, ms, absent| Part { class, name, ms, absent };
    if step.source == StepSource::Live {
        return vec![
            part("part-data", "Data wait", p.data_wait, "not recorded"),
            part("part-other", "Everything else, not divided", p.unattributed, ""),
        ];
    }
    let launch = sum(&[p.launch, p.kernel_latency, p.device_dependency, p.allocator, p.compile]);
    vec![
        part("part-data", "Data wait", p.data_wait, "not measured"),
        part("part-h2d", "Exposed H2D copy", p.exposed_h2d, "not measured"),
        part("part-compute", "GPU compute", p.compute, "not measured"),
        part("part-comm", "Exposed communication", p.exposed_comm, "none here"),
        part("part-launch", "Launch-bound idle", launch, "not measured"),
        part("part-sync", "Sync wait", p.sync, "not measured"),
        part("part-other", "Other", sum(&[p.other_copy, p.unattributed]), "not measured"),
    ]
}

/// The sum of what is known, `None` if nothing is.
fn sum(values: &[Option<f64>]) -> Option<f64> {
    values.iter().flatten().copied().reduce(|a, b| a + b)
}

fn source(step: &StepBreakdown) -> String {
    let steps = format::plural(step.steps, "step", "steps");
    let detail = detail(&step.ms);
    match step.source {
        StepSource::Live => format!(
            "Step time and data wait: live timing, {steps}. What the rest of the step does takes a trace to tell."
        ),
        StepSource::Trace => format!("All parts: trace, {steps}.{detail}"),
        StepSource::Merged => {
            let ratio = step
                .traced_ratio
                .map(|r| format!(" A traced step takes {}× a step without the profiler.", format::num(r, 2)))
                .unwrap_or_default();
            format!("Step time and data wait: live timing, {steps}. GPU and launch parts: trace.{ratio}{detail}")
        }
    }
}

/// What the launch-bound idle and the rest are made of, where more than one thing is in them.
fn detail(p: &StepParts) -> String {
    let named = [
        ("launch", p.launch),
        ("kernel latency", p.kernel_latency),
        ("device dependency", p.device_dependency),
        ("allocator", p.allocator),
        ("compilation", p.compile),
    ];
    let some: Vec<String> =
        named.iter().filter_map(|(n, v)| v.filter(|v| *v >= 0.05).map(|v| format!("{n} {}", format::ms(v)))).collect();
    if some.len() > 1 { format!(" Launch-bound idle: {}.", some.join(", ")) } else { String::new() }
}
