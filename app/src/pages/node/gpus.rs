//! The GPUs of a node side by side, each fact as it was read, and what differs from GPUs of the same model.

use checks::{Level, Report};
use leptos::prelude::*;

use crate::format;
use crate::parts::facts::Known;
use crate::parts::lamp::Lamp;
use crate::parts::words::gravity;

/// Peers of the same model that it takes to call one GPU the odd one out.
const MIN_PEERS: usize = 3;

/// A fact of one GPU as it is shown.
struct Cell {
    label: &'static str,
    value: String,
    /// What most GPUs of the same model have, if this one differs.
    peers: Option<String>,
}

/// The card.
#[component]
pub(super) fn GpuGrid(report: Report) -> impl IntoView {
    let known = Known::of(&report);
    let gpus = known.gpus();
    if gpus.is_empty() {
        return view! {
            <section class="card" aria-labelledby="gpus-h">
                <header>
                    <h2 id="gpus-h">"GPUs"</h2>
                </header>
                <p class="none">"No GPU was read. The findings of layer 1 say why, as far as it is known."</p>
            </section>
        }
        .into_any();
    }
    let cards = gpus
        .iter()
        .map(|i| {
            let cells = cells(known, *i, &gpus);
            let odd = cells.iter().find(|c| c.peers.is_some());
            let odd = odd.map(|c| {
                let title = format!(
                    "GPU {i}: {}; most GPUs of this model here: {}",
                    c.value,
                    c.peers.clone().unwrap_or_default()
                );
                view! { <span class="odd" title=title>{c.label}</span> }
            });
            let name = known.text(&format!("gpu[{i}].name"));
            view! {
                <div class="gpu">
                    <h3 class="top">
                        {worst(&report, *i).map(|level| view! { <Lamp level of=format!("GPU {i}") /> })}
                        {format!("GPU {i}")}
                        {odd}
                    </h3>
                    {name.map(|n| view! { <span class="muted">{n}</span> })}
                    <dl>
                        {cells
                            .into_iter()
                            .map(|c| {
                                let differs = c.peers.is_some();
                                view! {
                                    <dt>{c.label}</dt>
                                    <dd class:diff=differs>{c.value}</dd>
                                }
                            })
                            .collect_view()}
                    </dl>
                </div>
            }
        })
        .collect_view();
    view! {
        <section class="card" aria-labelledby="gpus-h">
            <header>
                <h2 id="gpus-h">"GPUs"</h2>
                <span class="muted">"as the last snapshot read them"</span>
            </header>
            <div class="body flush">
                <div class="gpus">{cards}</div>
            </div>
        </section>
    }
    .into_any()
}

/// The gravest verdict among the findings that rest on this GPU's facts; none if none does.
fn worst(report: &Report, gpu: usize) -> Option<Level> {
    let prefix = format!("gpu[{gpu}].");
    let on = report.findings.iter().filter(|f| f.evidence.iter().any(|e| e.fact.starts_with(&prefix)));
    on.map(|f| f.verdict).max_by_key(|l| gravity(*l))
}

/// The facts that are known, in a fixed order.
fn cells(known: Known<'_>, gpu: usize, all: &[usize]) -> Vec<Cell> {
    let at = |g: usize, name: &str| format!("gpu[{g}].{name}");
    let num = |g: usize, name: &str| known.num(&at(g, name));
    let of = |value: Option<f64>, limit: Option<f64>, unit: &str| {
        let value = value?;
        Some(match limit {
            Some(l) => format!("{} of {}\u{a0}{unit}", format::num(value, 0), format::num(l, 0)),
            None => format!("{}\u{a0}{unit}", format::num(value, 0)),
        })
    };
    let gib = |g: usize, name: &str| num(g, name).map(|mib| mib / 1024.0);
    let link = |g: usize| {
        let (gen_now, width) = (num(g, "pcie.gen_current")?, num(g, "pcie.link_width_current")?);
        Some(format!("gen {} × {}", format::num(gen_now, 0), format::num(width, 0)))
    };
    let plain = |label, value: Option<String>| value.map(|value| Cell { label, value, peers: None });
    // Only what does not change from moment to moment can be odd.
    let fixed = |label, get: &dyn Fn(usize) -> Option<String>| {
        get(gpu).map(|value| Cell { label, peers: differs(known, gpu, all, get, &value), value })
    };
    let text = |name: &'static str| move |g: usize| known.text(&at(g, name));
    let limit = |g: usize| num(g, "power_limit_w").map(|w| format!("{}\u{a0}W", format::num(w, 0)));
    [
        plain("Utilisation", num(gpu, "util_gpu_pct").map(format::pct0)),
        plain("Memory", of(gib(gpu, "memory_used_mib"), gib(gpu, "memory_total_mib"), "GiB")),
        plain("Power", of(num(gpu, "power_draw_w"), None, "W")),
        fixed("Power limit", &limit),
        plain("Temperature", num(gpu, "temperature_c").map(|t| format!("{}\u{a0}°C", format::num(t, 0)))),
        plain("PCIe now", link(gpu)),
        fixed("VBIOS", &text("vbios")),
        fixed("ECC", &text("ecc_mode")),
        fixed("MIG", &text("mig_mode")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What most GPUs of the same model have, if that is not this value.
fn differs(
    known: Known<'_>,
    gpu: usize,
    all: &[usize],
    get: &dyn Fn(usize) -> Option<String>,
    value: &str,
) -> Option<String> {
    let model = |g: usize| known.text(&format!("gpu[{g}].name"));
    let mine = model(gpu)?;
    let peers: Vec<String> =
        all.iter().filter(|g| **g != gpu && model(**g).as_ref() == Some(&mine)).filter_map(|g| get(*g)).collect();
    if peers.len() < MIN_PEERS {
        return None;
    }
    let same = |v: &str| peers.iter().filter(|p| *p == v).count();
    let most = peers.iter().max_by_key(|p| same(p))?;
    (most != value && same(most) * 2 > peers.len() && same(value) * 2 < peers.len()).then(|| most.clone())
}
