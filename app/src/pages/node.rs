//! `/nodes/{name}`: one node as its last snapshot shows it: verdict, GPUs, layers, runs, inputs.

mod gpus;

use checks::Level;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use self::gpus::GpuGrid;
use crate::backend::{NodePage, RunRow, Subject};
use crate::format;
use crate::pages::body::{self, Made};
use crate::pages::load;
use crate::pages::nodes::{STALE_MS, leading_run};
use crate::parts::crumbs::Crumbs;
use crate::parts::facts::FactLine;
use crate::parts::findings::Findings;
use crate::parts::inputs::Inputs;
use crate::parts::ladder::Ladder;
use crate::parts::next::Next;
use crate::parts::notices::{NotReady, Notices};
use crate::parts::runs::RunTable;
use crate::parts::verdict::{Gain, Verdict};
use crate::parts::words;

/// The page.
#[component]
pub(crate) fn Node() -> impl IntoView {
    let name = use_params_map().get_untracked().get("id").unwrap_or_default();
    load(|b| async move { b.node(name).await }, show)
}

fn show(page: NodePage) -> AnyView {
    let NodePage { name, seen_ms, snapshots, stored, runs, now_ms } = page;
    let subject = Subject::Node(name.clone());
    let report = stored.report;
    let walk = report.start_here().or(report.headline.layer).unwrap_or(checks::Layer::Driver);
    let own = report.summary();
    let says = match leading_run(seen_ms, &own, runs.first()) {
        Some(run) => by_run(run, &own.headline.text),
        None => body::verdict(&report, &subject, |text| view! { <h2 class="says">{text}</h2> }.into_any()),
    };
    let stale = now_ms - seen_ms > STALE_MS;
    let n_runs = runs.len();
    view! {
        <Title text=name.clone() />
        <main id="main">
            <div class="page-head">
                <div class="grow">
                    <Crumbs steps=vec![("Nodes".to_owned(), Some("/".to_owned())), (name.clone(), None)] />
                    <h1>{name.clone()}</h1>
                    <FactLine report=report.clone()>
                        <span>
                            "seen "
                            <time datetime=format::iso(seen_ms) title=format::moment(seen_ms)>
                                <b>{format::age(now_ms, seen_ms)}</b>
                            </time>
                            {(!stale).then_some(" ago")}
                        </span>
                        <span>{format::plural(snapshots, "snapshot", "snapshots")}</span>
                    </FactLine>
                </div>
                <div class="actions">
                    <a class="btn" href=subject.checklist(walk)>
                        "Walk through the layers"
                    </a>
                    <a class="btn" href="/upload">
                        "Upload"
                    </a>
                </div>
            </div>
            <div class="stack-y">
                <NotReady ready=stored.ready />
                {says}
                {stale
                    .then(|| {
                        view! {
                            <div class="notice mind">
                                <div>
                                    <b>{format!("The last snapshot is of {}. ", format::moment(seen_ms))}</b>
                                    "The facts below may have changed. On the node: "
                                    <code>"sextant push --live"</code>
                                </div>
                            </div>
                        }
                    })}
                <Notices report=report.clone() />
                <div class="two node-top">
                    <GpuGrid report=report.clone() />
                    <Ladder report=report.clone() subject=subject.clone() />
                </div>
                <section aria-labelledby="runs-h">
                    <div class="page-head my2">
                        <h2 id="runs-h" class="grow">
                            "Runs on this node"
                        </h2>
                        <span class="small muted">
                            {(n_runs > 0).then(|| format!("{}, newest first", format::plural(n_runs, "run", "runs")))}
                        </span>
                    </div>
                    {if n_runs == 0 {
                        view! {
                            <p class="card none">
                                "No run was recorded on this node. " <code>"sextant run -- python train.py"</code>
                                " records one."
                            </p>
                        }
                            .into_any()
                    } else {
                        view! { <RunTable runs now_ms with_node=false /> }.into_any()
                    }}
                </section>
                <div class="main-side">
                    <Findings report=report.clone() subject />
                    <Next next=report.next_evidence.clone() />
                </div>
                <Inputs inputs=report.inputs.clone() report_id=stored.id />
                <Made stored_ms=stored.made_ms catalogue=report.catalogue />
            </div>
        </main>
    }
    .into_any()
}

/// The verdict where the latest run says more than the node's own snapshot.
fn by_run(run: &RunRow, own: &str) -> AnyView {
    let href = Subject::Run(run.id.clone()).path();
    let headline = &run.summary.headline;
    let gain = headline.recoverable_share.filter(|s| *s > 0.0).map(|share| {
        let note = view! { "for the job, from " <a href=href.clone()>{run.name.clone()}</a> }.into_any();
        view! { <Gain recoverable_share=share note /> }.into_any()
    });
    let (first, rest) = words::first_sentence(&headline.text);
    let says = view! { <h2 class="says">{first.to_owned()}</h2> }.into_any();
    let rest = rest.to_owned();
    let level = if run.summary.worst == Level::Info { Level::Pass } else { run.summary.worst };
    let below = view! {
        {rest}
        " Seen in the run "
        <a href=href.clone()>{run.name.clone()}</a>
        ". The node itself: "
        {own.to_owned()}
    }
    .into_any();
    view! { <Verdict level says below=Some(below) gain /> }.into_any()
}
