//! One check of the checklist: a row that opens to evidence, why, confirmation, fix, verification, or to what is missing.

use checks::Level;
use checks::catalogue;
use checks::report::{Finding, Fix, Input, NextEvidence};
use leptos::prelude::*;

use crate::format;
use crate::parts::cmd::{Cmd, Tags};
use crate::parts::evidence::EvidenceTable;
use crate::parts::findings::slug;
use crate::parts::lamp::Lamp;
use crate::parts::next::One;
use crate::parts::{markdown, words};

/// What an open check needs besides its finding.
#[derive(Clone)]
pub(crate) struct Around {
    /// Report id, for links to raw lines.
    pub(crate) report_id: String,
    /// The report's inputs.
    pub(crate) inputs: Vec<Input>,
    /// Mean step, if one was measured.
    pub(crate) mean_ms: Option<f64>,
    /// What the report suggests to look at next.
    pub(crate) next: Vec<NextEvidence>,
}

/// The row. `open` unfolds it from the start.
#[component]
pub(crate) fn Check(finding: Finding, around: Around, open: bool) -> impl IntoView {
    let quiet = matches!(finding.verdict, Level::Pass | Level::NotApplicable);
    let anchor = slug(&finding.id);
    let end = end(&finding, around.mean_ms);
    let says = if finding.verdict == Level::Unknown {
        format!("missing: {}", missing(&finding).join(", "))
    } else {
        finding.message.clone()
    };
    let says = (quiet || finding.verdict != Level::Fail && finding.verdict != Level::Warn).then_some(says);
    view! {
        <details class="check" class:quiet-check=quiet open=open data-row="">
            <summary>
                <Lamp level=finding.verdict />
                <span class="what">
                    <b>{finding.title.clone()}</b>
                    <span class="mono small">{anchor.clone()}</span>
                    {says.map(|s| view! { <span>{s}</span> })}
                </span>
                <span class="end">
                    {end}
                    {finding.provisional.then(|| view! { <span class="tag opt">"provisional"</span> })}
                </span>
            </summary>
            <div class="inside" id=anchor>
                <Inside finding around />
            </div>
        </details>
    }
    .into_any()
}

/// What the row says at its end: the price where there is one.
fn end(f: &Finding, mean_ms: Option<f64>) -> Option<AnyView> {
    if !f.verdict.is_problem() {
        return None;
    }
    let share = f.recoverable_share.filter(|s| *s > 0.0)?;
    let class = if f.verdict == Level::Fail { "t-fail" } else { "t-warn" };
    let (bold, rest) = match mean_ms {
        Some(mean) => (format!("at most {}", format::ms(share * mean)), " per step"),
        None => (format!("at most {}", format::factor(share)), ""),
    };
    Some(view! { <span class="opt"><b class=class>{bold}</b> {rest}</span> }.into_any())
}

#[component]
fn Inside(finding: Finding, around: Around) -> impl IntoView {
    let docs = catalogue::entry(&finding.id).map(catalogue::Entry::docs).unwrap_or_default();
    let part = |heading: &str| markdown::to_html(docs.part(heading));
    let problem = finding.verdict.is_problem();
    let (why, confirm) = (part("Why it wastes the GPU"), part("Confirm by hand"));
    let look = part("What it looks for");
    view! {
        <p class="lead">{finding.message.clone()}</p>
        {(finding.verdict == Level::Unknown).then(|| view! { <Missing finding=finding.clone() around=around.clone() /> })}
        {(!finding.evidence.is_empty())
            .then(|| {
                view! {
                    <Section title="Evidence">
                        <EvidenceTable
                            evidence=finding.evidence.clone()
                            report_id=around.report_id.clone()
                            inputs=around.inputs.clone()
                        />
                        {problem.then(|| view! { <p class="small muted">{words::confidence(finding.confidence)}</p> })}
                    </Section>
                }
            })}
        {(!problem && !look.is_empty())
            .then(|| view! { <Section title="What it looks for"><div class="md" inner_html=look.clone()></div></Section> })}
        {(!why.is_empty())
            .then(|| view! { <Section title="Why it matters"><div class="md" inner_html=why.clone()></div></Section> })}
        {(problem && !confirm.is_empty())
            .then(|| view! { <Section title="Confirm by hand"><div class="md" inner_html=confirm.clone()></div></Section> })}
        {finding.fix.clone().map(|fix| view! { <FixSteps fix /> })}
        <p class="small">
            <a href=format!("/catalogue/{}", finding.id)>"About this check: limits, thresholds, examples"</a>
        </p>
    }
    .into_any()
}

#[component]
fn Section(title: &'static str, children: Children) -> impl IntoView {
    view! {
        <div class="sec">
            <h4>{title}</h4>
            <div>{children()}</div>
        </div>
    }
    .into_any()
}

/// The steps in order, the gentlest first, and how to see that they worked.
#[component]
pub(crate) fn FixSteps(fix: Fix) -> impl IntoView {
    let steps = fix.steps.into_iter().map(|s| {
        view! {
            <li>
                <div>
                    <div class="line">
                        <span>{s.text}</span>
                        <Tags tags=s.tags />
                    </div>
                    {s.command.map(|text| view! { <Cmd text /> })}
                </div>
            </li>
        }
    });
    view! {
        <Section title="Fix">
            <ol class="steps">{steps.collect_view()}</ol>
            <p class="small muted">{format!("As a whole it {}.", words::applicability(fix.applicability))}</p>
        </Section>
        <Section title="Verify">
            <Cmd text=fix.verify.command />
            <p class="expect">
                <b>"Expected: "</b>
                {fix.verify.expect}
            </p>
        </Section>
    }
    .into_any()
}

/// The facts that are missing and the command that would settle it.
#[component]
fn Missing(finding: Finding, around: Around) -> impl IntoView {
    let named = around.next.into_iter().find(|n| n.decides.contains(&finding.id));
    let command = named.is_none().then(|| {
        let evidence = catalogue::find(&finding.id).map(|c| c.evidence).unwrap_or_default();
        let names: Vec<&str> = evidence.iter().map(|e| e.source()).collect();
        let command = evidence.iter().find_map(|e| e.command());
        view! {
            {command.map(|text| view! { <Cmd text /> })}
            {(!names.is_empty())
                .then(|| view! { <p class="expect"><b>"Can be decided from: "</b> {names.join(", ")} "."</p> })}
        }
    });
    let paths = finding.missing.iter().map(|p| view! { <li><code>{p.clone()}</code></li> }).collect_view();
    view! {
        <Section title="What settles it">
            {named.map(|next| view! { <One next /> })}
            {command}
            {(!finding.missing.is_empty())
                .then(|| {
                    view! {
                        <details class="small">
                            <summary>"Missing facts"</summary>
                            <ul class="list bullets">{paths}</ul>
                        </details>
                    }
                })}
        </Section>
    }
    .into_any()
}

/// What is missing, in words: the meaning of each fact once, or what the check says it needs.
pub(crate) fn missing(f: &Finding) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for path in &f.missing {
        let what = words::fact(path).unwrap_or(path).to_owned();
        if !out.contains(&what) {
            out.push(what);
        }
    }
    if out.is_empty() {
        let said = f.message.trim_start_matches("Cannot say yet: needs ").trim_end_matches('.');
        out.push(said.to_owned());
    }
    out
}
