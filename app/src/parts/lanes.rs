//! Charts over time: several lanes on one axis. Only lines are SVG; all text is HTML, so nothing is stretched. The numbers
//! stand in a table behind the chart.

mod draw;

use checks::series::{Lane, Lanes};
use leptos::prelude::*;

use self::draw::{MAX_BARS, Paths, Scale, WIDTH};
use crate::axis;
use crate::format;
use crate::islands::chart::ChartCursor;

/// Lanes that a run can have: id, name, what it says, colour of the line, colour of the area ("" for none).
const KNOWN: [(&str, &str, &str, &str, &str); 5] = [
    ("step_ms", "Step time", "", "--ink-2", "--ink-3"),
    ("data_wait_ms", "Data wait", "inside the loader", "--p-data", "--p-data"),
    ("util_pct", "GPU utilisation", "“a kernel was running”", "--ink-2", "--ink-3"),
    ("sm_pct", "SM active", "“SMs had work”", "--accent", "--accent"),
    ("power_w", "Power", "", "--accent", ""),
];
/// Rows of the table behind the chart.
const TABLE_ROWS: u32 = 24;

/// The card; nothing where nothing was recorded over time.
#[component]
pub(crate) fn LanesCard(lanes: Lanes) -> impl IntoView {
    if lanes.lanes.is_empty() {
        return ().into_any();
    }
    let span_ms = lanes.span_ms;
    let find = |id: &str| lanes.lanes.iter().find(|l| l.id == id);
    // Step time and data wait share one scale, so that the bars can be compared.
    let ms_max = axis::nice_max(find("step_ms").map_or(0.0, |l| l.max));
    let rows = KNOWN.map(|known| match find(known.0) {
        Some(lane) => {
            let y_max = match lane.unit.as_str() {
                "%" => 100.0,
                "ms" if ms_max > 1e-9 && find("step_ms").is_some() => ms_max,
                _ => axis::nice_max(lane.max.max(lane.limit.unwrap_or(0.0))),
            };
            view! { <OneLane lane=lane.clone() known scale=Scale { span_ms, y_max } /> }.into_any()
        }
        None => view! { <NotRecorded name=known.1 /> }.into_any(),
    });
    let ticks = axis::ticks(0.0, span_ms).into_iter().map(move |(t, label)| {
        view! { <span style=format!("left:{:.1}%", t / span_ms.max(f64::MIN_POSITIVE) * 100.0)>{label}</span> }
    });
    let clock = if lanes.own_clocks { "each lane from its own start" } else { "one time axis" };
    #[expect(clippy::cast_possible_truncation, reason = "epoch milliseconds fit into 53 bits")]
    let from = lanes.start_ms.map(|ms| format!(", from {}", format::moment(ms as i64))).unwrap_or_default();
    view! {
        <section class="card" aria-labelledby="time-h">
            <header>
                <h2 id="time-h">"Over time"</h2>
                <span class="muted">{format!("{clock}, {}{from}", length(span_ms))}</span>
            </header>
            <div class="body">
                {lanes
                    .own_clocks
                    .then(|| {
                        view! {
                            <p class="small muted mb2">
                                "Steps and samples carry no common clock here, so moments of different lanes must not be compared."
                            </p>
                        }
                    })}
                <ChartCursor span_ms>
                    <div class="lanes">
                        {rows.into_iter().collect_view()} <div class="axis" aria-hidden="true">
                            <div>{ticks.collect_view()}</div>
                        </div>
                    </div>
                </ChartCursor>
                <Table lanes=lanes.clone() />
            </div>
        </section>
    }
    .into_any()
}

#[component]
fn OneLane(
    lane: Lane,
    known: (&'static str, &'static str, &'static str, &'static str, &'static str),
    scale: Scale,
) -> impl IntoView {
    let (id, name, says, line, area) = known;
    let below = match id {
        "step_ms" => format::plural(lane.n, "step", "steps"),
        "power_w" => lane.limit.map(|l| format!("limit {}\u{a0}W dashed", format::num(l, 0))).unwrap_or_default(),
        _ => says.to_owned(),
    };
    let unit = lane.unit.clone();
    let shown = |v: f64| {
        if unit == "ms" { format::ms_fine(v) } else { format!("{}\u{a0}{unit}", format::num(v, usize::from(v < 10.0))) }
    };
    let spoken =
        format!("{name}: mean {}, highest {}, {} values", shown(lane.mean), shown(lane.max), format::count(lane.n));
    let limit = lane.limit.map(|l| format!("M0,{y}H{WIDTH}", y = scale.y(l)));
    let bars = unit == "ms" && lane.points.len() <= MAX_BARS;
    let grid: String =
        axis::ticks(0.0, scale.span_ms).iter().skip(1).map(|(t, _)| format!("M{},0V100", scale.x(*t))).collect();
    let marks = if bars {
        let gap = WIDTH / 800.0;
        lane.points
            .iter()
            .map(|p| {
                let (x, y) = (scale.x(p.t_ms), scale.y(p.hi));
                let w = (scale.x(p.t_ms + p.dt_ms) - x - gap).max(0.5);
                let class = if id == "step_ms" { "bar" } else { "bar2" };
                view! { <rect class=class style=format!("--c:var({line})") x=x y=y width=w height=100.0 - y /> }
            })
            .collect_view()
            .into_any()
    } else {
        let Paths { line: d, area: a, lower } = draw::paths(&lane.points, scale);
        view! {
            {(!area.is_empty()).then(|| view! { <path class="ar" style=format!("--c:var({area})") d=a /> })}
            {lower.map(|d| view! { <path class="ln lo" style=format!("--c:var({line})") d=d /> })}
            <path class="ln" style=format!("--c:var({line})") d=d />
        }
        .into_any()
    };
    view! {
        <div class="lane" class:tall=id == "step_ms">
            <div class="lab">{name} {(!below.is_empty()).then(|| view! { <small>{below}</small> })}</div>
            <div class="plot" role="img" aria-label=spoken data-points=draw::packed(&lane.points) data-unit=unit.clone()>
                <span class="ymax">{format!("{}\u{a0}{unit}", format::num(scale.y_max, usize::from(scale.y_max < 10.0)))}</span>
                <svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">
                    <path class="grid" d=grid />
                    {limit.map(|d| view! { <path class="lim" d=d /> })}
                    {marks}
                </svg>
            </div>
            <div class="stat">{shown(lane.mean)} <small>{format!("mean · max {}", shown(lane.max).trim_end_matches("\u{a0}ms"))}</small></div>
        </div>
    }
    .into_any()
}

#[component]
fn NotRecorded(name: &'static str) -> impl IntoView {
    view! {
        <div class="lane events">
            <div class="lab">{name}</div>
            <div class="plot">
                <span class="ev from at-start muted">"not recorded"</span>
            </div>
            <div class="stat">
                <small>"–"</small>
            </div>
        </div>
    }
    .into_any()
}

/// The numbers behind the chart: lowest and highest value of each lane in equal stretches of time.
#[component]
fn Table(lanes: Lanes) -> impl IntoView {
    let width = lanes.span_ms / f64::from(TABLE_ROWS);
    let head: Vec<String> = lanes
        .lanes
        .iter()
        .map(|l| {
            let name = KNOWN.iter().find(|k| k.0 == l.id).map_or(l.id.as_str(), |k| k.1);
            format!("{name}, {}", l.unit)
        })
        .collect();
    let cell = |l: &Lane, from: f64| match draw::range(&l.points, from, from + width) {
        None => "–".to_owned(),
        Some((lo, hi)) if (hi - lo).abs() < 0.05 => format::num(hi, 1),
        Some((lo, hi)) => format!("{} to {}", format::num(lo, 1), format::num(hi, 1)),
    };
    let rows = (0..TABLE_ROWS).map(|i| {
        let from = f64::from(i) * width;
        view! {
            <tr>
                <th scope="row" class="w400">
                    {length(from)}
                </th>
                {lanes.lanes.iter().map(|l| view! { <td class="num">{cell(l, from)}</td> }).collect_view()}
            </tr>
        }
    });
    view! {
        <details class="mt3">
            <summary class="small">"The numbers behind the chart"</summary>
            <div class="scroll-x" tabindex="0" role="group" aria-label="Numbers behind the chart">
                <table class="plain small">
                    <caption class="small muted cap">
                        {format!("Lowest and highest value in each stretch of {}", length(width))}
                    </caption>
                    <thead>
                        <tr>
                            <th scope="col">"From"</th>
                            {head
                                .into_iter()
                                .map(|h| {
                                    view! {
                                        <th scope="col" class="num">
                                            {h}
                                        </th>
                                    }
                                })
                                .collect_view()}
                        </tr>
                    </thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        </details>
    }
    .into_any()
}

/// A stretch of time with a fitting unit.
fn length(ms: f64) -> String {
    match ms {
        v if v < 1_000.0 => format!("{}\u{a0}ms", format::num(v, 0)),
        v if v < 180_000.0 => format!("{}\u{a0}s", format::num(v / 1_000.0, 2)),
        v => format!("{}\u{a0}min", format::num(v / 60_000.0, 1)),
    }
}
