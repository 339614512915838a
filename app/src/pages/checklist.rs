//! The walk-through: one layer's checks beside the ladder, for a node, a run or a report.

use checks::report::Finding;
use checks::{Layer, Level};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use crate::backend::{Problem, ReportPage, Subject};
use crate::format;
use crate::pages::load;
use crate::parts::check::{Around, Check};
use crate::parts::crumbs::Crumbs;
use crate::parts::ladder::Ladder;
use crate::parts::next::One;
use crate::parts::notices::NotReady;
use crate::parts::words;

/// The groups of a layer's checks, in order: heading, what it says beside it, the verdicts in it.
const GROUPS: [(&str, &str, &[Level]); 3] = [
    ("To fix", "ranked by time that can come back", &[Level::Fail, Level::Warn]),
    ("Worth knowing", "no time is lost by these", &[Level::Info]),
    ("Not decided", "each says what is missing", &[Level::Unknown]),
];

/// `/nodes/{name}/checklist/{layer}`.
#[component]
pub(crate) fn NodeChecklist() -> impl IntoView {
    page(Subject::Node)
}

/// `/runs/{id}/checklist/{layer}`.
#[component]
pub(crate) fn RunChecklist() -> impl IntoView {
    page(Subject::Run)
}

/// `/reports/{id}/checklist/{layer}`.
#[component]
pub(crate) fn ReportChecklist() -> impl IntoView {
    page(Subject::Report)
}

fn page(subject: fn(String) -> Subject) -> impl IntoView {
    let params = use_params_map().get_untracked();
    let of = subject(params.get("id").unwrap_or_default());
    let id = params.get("layer").unwrap_or_default();
    let layer = Layer::from_id(&id);
    load(
        move |b| async move {
            let layer = layer.ok_or(Problem::NotFound { what: "layer", id })?;
            Ok((b.report(of).await?, layer))
        },
        |(page, layer)| show(page, layer),
    )
}

fn show(page: ReportPage, layer: Layer) -> AnyView {
    let ReportPage { subject, title, stored, .. } = page;
    let report = stored.report;
    let state = report.layers.iter().find(|l| l.id == layer);
    let findings: Vec<Finding> = report.findings.iter().filter(|f| f.layer == layer).cloned().collect();
    let mean_ms = report.step.as_ref().map(|s| s.mean_ms);
    let around = Around {
        report_id: stored.id.clone(),
        inputs: report.inputs.clone(),
        mean_ms,
        next: report.next_evidence.clone(),
    };
    // Bounds of findings overlap and are never added: the largest one is said.
    let most = findings.iter().filter_map(|f| f.recoverable_share).fold(0.0, f64::max);
    let most = match mean_ms {
        Some(mean) if most > 0.0 => {
            format!("at most {} of {} per step can come back", format::ms(most * mean), format::ms_fine(mean))
        }
        _ => format!("about {} by hand", format::seconds(layer.minutes() * 60)),
    };
    let measured = state.map(|s| format!("{} of {} measured", s.measured, s.total));
    let settle = (state.is_some_and(|s| s.status == Level::Unknown))
        .then(|| {
            let prefix = format!("{}/", layer.id());
            report.next_evidence.iter().find(|n| n.decides.iter().any(|d| d.starts_with(&prefix))).cloned()
        })
        .flatten();
    view! {
        <Title text=format!("{}: {title}", words::layer(layer)) />
        <main id="main">
            <div class="page-head">
                <div class="grow">
                    <Crumbs steps=crumbs(&subject, &title) />
                    <h1>"Walk-through, from the bottom up"</h1>
                </div>
                <div class="actions">
                    <a class="btn" href=subject.path()>
                        {back(&subject)}
                    </a>
                </div>
            </div>
            <NotReady ready=stored.ready />
            <div class="split">
                <aside class="stack-y" aria-label="Layers">
                    <Ladder report=report.clone() subject=subject.clone() open=layer />
                    {settle
                        .map(|next| {
                            view! {
                                <section class="card" aria-labelledby="settle-h">
                                    <header>
                                        <h2 id="settle-h">{format!("Settle layer {}", layer.number())}</h2>
                                    </header>
                                    <div class="body stack-y gap2">
                                        <One next />
                                    </div>
                                </section>
                            }
                        })}
                </aside>
                <section class="card" aria-labelledby="layer-h">
                    <header class="pb3">
                        <h2 class="t-lg" id="layer-h">
                            {words::layer(layer)}
                        </h2>
                        <span class="muted">{layer.question()}</span>
                        <span class="end small muted">
                            {measured} " · " {most}
                        </span>
                    </header>
                    {GROUPS
                        .map(|(name, says, levels)| {
                            view! { <Group name says findings=of(&findings, levels) around=around.clone() /> }
                        })
                        .into_iter()
                        .collect_view()}
                    <Folded name="Passed" findings=of(&findings, &[Level::Pass]) around=around.clone() />
                    <Folded name="Does not apply here" findings=of(&findings, &[Level::NotApplicable]) around=around.clone() />
                    {findings.is_empty().then(|| view! { <p class="none">"This layer has no checks yet."</p> })}
                </section>
            </div>
            <LayerLinks subject layer />
        </main>
    }
    .into_any()
}

fn of(findings: &[Finding], levels: &[Level]) -> Vec<Finding> {
    findings.iter().filter(|f| levels.contains(&f.verdict)).cloned().collect()
}

/// A group that is shown; the first problem is unfolded.
#[component]
fn Group(name: &'static str, says: &'static str, findings: Vec<Finding>, around: Around) -> impl IntoView {
    if findings.is_empty() {
        return ().into_any();
    }
    let n = findings.len();
    let rows = findings
        .into_iter()
        .enumerate()
        .map(|(i, finding)| {
            let open = i == 0 && finding.verdict.is_problem();
            view! { <Check finding around=around.clone() open /> }
        })
        .collect_view();
    view! {
        <h3 class="group-h">{name} " " <span class="w400">{format!("{}, {says}", format::count(n))}</span></h3>
        {rows}
    }
    .into_any()
}

/// A group that is folded as a whole.
#[component]
fn Folded(name: &'static str, findings: Vec<Finding>, around: Around) -> impl IntoView {
    if findings.is_empty() {
        return ().into_any();
    }
    let n = findings.len();
    let rows =
        findings.into_iter().map(|finding| view! { <Check finding around=around.clone() open=false /> }).collect_view();
    view! {
        <details class="folded">
            <summary class="group-h">{name} " " <span class="w400">{format::count(n)}</span></summary>
            {rows}
        </details>
    }
    .into_any()
}

/// Down and up one layer.
#[component]
fn LayerLinks(subject: Subject, layer: Layer) -> impl IntoView {
    let at = |n: usize| Layer::ALL.get(n).copied();
    let below = layer.number().checked_sub(2).and_then(at);
    let above = at(layer.number());
    let link = |l: Layer, arrow: &str| {
        view! { <a class="btn" href=subject.checklist(l)>{format!("{arrow} {}", words::layer(l))}</a> }
    };
    view! {
        <nav class="actions mt4" aria-label="Neighbouring layers">
            {below.map(|l| link(l, "↓"))}
            {above.map(|l| link(l, "↑"))}
        </nav>
    }
    .into_any()
}

fn crumbs(subject: &Subject, title: &str) -> Vec<(String, Option<String>)> {
    let (section, href) = match subject {
        Subject::Node(_) => ("Nodes", "/"),
        Subject::Run(_) => ("Runs", "/runs"),
        Subject::Report(_) => ("Upload", "/upload"),
    };
    vec![
        (section.to_owned(), Some(href.to_owned())),
        (title.to_owned(), Some(subject.path())),
        ("Walk-through".to_owned(), None),
    ]
}

const fn back(subject: &Subject) -> &'static str {
    match subject {
        Subject::Node(_) => "Back to the node",
        Subject::Run(_) => "Back to the run",
        Subject::Report(_) => "Back to the report",
    }
}
