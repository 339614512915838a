//! The pointer's line through all lanes of a chart with the value of each lane there, and zooming into a part of the axis.
//!
//! It reads the points from the plots' `data-points` (`start,lowest,highest` in ms, joined by spaces) and moves the view
//! of the drawings that the server made; it draws no data itself.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use crate::axis;

/// A drag shorter than this share of the plot is a click.
const MIN_DRAG: f64 = 0.01;
/// The shortest part of the axis that can be shown, as a share of all.
const MIN_SPAN: f64 = 0.002;

/// The part of the axis that is shown, ms.
#[derive(Clone, Copy, PartialEq)]
struct View {
    from: f64,
    to: f64,
}

/// Wraps the lanes. `span_ms` is the length of their axis.
#[island]
pub fn ChartCursor(span_ms: f64, children: Children) -> impl IntoView {
    let frame = NodeRef::<Div>::new();
    let whole = View { from: 0.0, to: span_ms };
    let view = RwSignal::new(whole);
    let drag = StoredValue::new(None::<f64>);
    Effect::new(move |before: Option<View>| {
        let now = view.get();
        if let Some(frame) = frame.get_untracked()
            && before.is_some_and(|b| b != now)
        {
            apply(&frame, now, span_ms);
        }
        now
    });
    let share =
        move |ev: &web_sys::PointerEvent| frame.get_untracked().and_then(|f| share_at(&f, f64::from(ev.client_x())));
    let down = move |ev: web_sys::PointerEvent| drag.set_value(share(&ev));
    let moved = move |ev: web_sys::PointerEvent| {
        let Some(frame) = frame.get_untracked() else { return };
        match share_at(&frame, f64::from(ev.client_x())) {
            Some(at) => show(&frame, at, drag.get_value(), view.get_untracked(), span_ms),
            None => hide(&frame),
        }
    };
    let up = move |ev: web_sys::PointerEvent| {
        let (Some(a), Some(b)) = (drag.get_value(), share(&ev)) else { return };
        drag.set_value(None);
        if (a - b).abs() >= MIN_DRAG {
            let v = view.get_untracked();
            let at = |share: f64| v.from + share * (v.to - v.from);
            view.set(clamp(View { from: at(a.min(b)), to: at(a.max(b)) }, span_ms));
        }
    };
    let left = move |_| {
        drag.set_value(None);
        if let Some(frame) = frame.get_untracked() {
            hide(&frame);
        }
    };
    let scale = move |by: f64| {
        let v = view.get_untracked();
        let (middle, half) = ((v.from + v.to) / 2.0, (v.to - v.from) / 2.0 * by);
        view.set(clamp(View { from: middle - half, to: middle + half }, span_ms));
    };
    let shift = move |by: f64| {
        let v = view.get_untracked();
        let step = (v.to - v.from) * by;
        view.set(clamp(View { from: v.from + step, to: v.to + step }, span_ms));
    };
    let zoomed = move || view.get() != whole;
    let says = move || {
        let v = view.get();
        format!("{} to {}", axis::moment(v.from, span_ms), axis::moment(v.to, span_ms))
    };
    view! {
        <div class="zoom only-live" role="group" aria-label="Part of the time that is shown">
            <span class="small muted grow" role="status">
                {move || if zoomed() { says() } else { "Drag over a chart to see a part of the time.".to_owned() }}
            </span>
            <button class="btn small" type="button" aria-label="Earlier" disabled=move || !zoomed() on:click=move |_| shift(-0.5)>
                "←"
            </button>
            <button class="btn small" type="button" aria-label="Later" disabled=move || !zoomed() on:click=move |_| shift(0.5)>
                "→"
            </button>
            <button class="btn small" type="button" aria-label="Zoom in" on:click=move |_| scale(0.5)>
                "+"
            </button>
            <button class="btn small" type="button" aria-label="Zoom out" disabled=move || !zoomed() on:click=move |_| scale(2.0)>
                "−"
            </button>
            <button class="btn small" type="button" disabled=move || !zoomed() on:click=move |_| view.set(whole)>
                "Whole"
            </button>
        </div>
        <div
            class="cursor-frame"
            node_ref=frame
            on:pointerdown=down
            on:pointermove=moved
            on:pointerup=up
            on:pointerleave=left
        >
            {children()}
        </div>
    }
}

/// A part of the axis that lies on it and is not too short.
fn clamp(v: View, span_ms: f64) -> View {
    let len = (v.to - v.from).clamp(span_ms * MIN_SPAN, span_ms);
    let middle = (v.from + v.to) / 2.0;
    let from = (middle - len / 2.0).clamp(0.0, span_ms - len);
    View { from, to: from + len }
}

/// Moves the drawings, the grid and the axis to a part of the time.
fn apply(frame: &Element, v: View, span_ms: f64) {
    let x = |ms: f64| ms / span_ms * 1000.0;
    let ticks = axis::ticks(v.from, v.to);
    let grid: String = ticks.iter().map(|(t, _)| format!("M{:.3},0V100", x(*t))).collect();
    for svg in find::<Element>(frame, ".lane svg") {
        let _ = svg.set_attribute("viewBox", &format!("{:.4} 0 {:.4} 100", x(v.from), x(v.to - v.from)));
        if let Ok(Some(path)) = svg.query_selector(".grid") {
            let _ = path.set_attribute("d", &grid);
        }
    }
    if let Ok(Some(axis)) = frame.query_selector(".axis > div") {
        axis.set_text_content(None);
        for (t, label) in ticks {
            let Ok(mark) = document().create_element("span") else { return };
            mark.set_text_content(Some(&label));
            let left = (t - v.from) / (v.to - v.from) * 100.0;
            if let Some(mark) = mark.dyn_ref::<HtmlElement>() {
                let _ = mark.style().set_property("left", &format!("{left:.2}%"));
            }
            let _ = axis.append_child(&mark);
        }
    }
}

fn find<T: JsCast>(frame: &Element, selector: &str) -> Vec<T> {
    let Ok(list) = frame.query_selector_all(selector) else { return Vec::new() };
    (0..list.length()).filter_map(|i| list.get(i)?.dyn_into().ok()).collect()
}

fn plots(frame: &Element) -> Vec<HtmlElement> {
    find(frame, ".plot[data-points]")
}

/// Where the pointer is on the plots, 0 to 1; `None` beside them.
fn share_at(frame: &Element, client_x: f64) -> Option<f64> {
    let rect = plots(frame).first()?.get_bounding_client_rect();
    let share = (client_x - rect.left()) / rect.width();
    (rect.width() > 0.0 && (0.0..=1.0).contains(&share)).then_some(share)
}

/// Puts the pointer's line, the values there and, while dragging, the chosen part into every plot.
fn show(frame: &Element, at: f64, from: Option<f64>, v: View, span_ms: f64) {
    let t_ms = v.from + at * (v.to - v.from);
    for (i, plot) in plots(frame).iter().enumerate() {
        let unit = plot.get_attribute("data-unit").unwrap_or_default();
        let value = plot.get_attribute("data-points").and_then(|p| value_at(&p, t_ms));
        let says = value.map_or_else(|| "–".to_owned(), |v| format!("{v}\u{a0}{unit}"));
        let time = if i == 0 { format!("{} · ", axis::moment(t_ms, span_ms)) } else { String::new() };
        if let Some(mark) = mark(plot, if at > 0.8 { "cursor left" } else { "cursor" }) {
            let _ = mark.style().set_property("left", &format!("{:.2}%", at * 100.0));
            mark.set_text_content(Some(&format!("{time}{says}")));
        }
        if let Some(from) = from
            && let Some(part) = mark(plot, "chosen")
        {
            let _ = part.style().set_property("left", &format!("{:.2}%", from.min(at) * 100.0));
            let _ = part.style().set_property("width", &format!("{:.2}%", (from - at).abs() * 100.0));
        }
        if from.is_none() {
            remove(plot, ".chosen");
        }
    }
}

fn hide(frame: &Element) {
    for plot in plots(frame) {
        remove(&plot, ".cursor");
        remove(&plot, ".chosen");
    }
}

fn remove(plot: &Element, selector: &str) {
    if let Ok(Some(there)) = plot.query_selector(selector) {
        there.remove();
    }
}

/// A mark in a plot, made when it is first needed. It is for the eye only: the plot's name has the numbers in sum.
fn mark(plot: &Element, class: &str) -> Option<HtmlElement> {
    let name = class.split(' ').next().unwrap_or(class);
    let there = plot.query_selector(&format!(".{name}")).ok()?;
    let made = match there {
        Some(e) => e,
        None => {
            let made = document().create_element("span").ok()?;
            let _ = made.set_attribute("aria-hidden", "true");
            plot.append_child(&made).ok()?;
            made
        }
    };
    made.set_class_name(class);
    made.dyn_into().ok()
}

/// The value of the last point that began before `t_ms`: one number, or lowest and highest of its bucket.
fn value_at(points: &str, t_ms: f64) -> Option<String> {
    let mut best = None;
    for point in points.split(' ') {
        let mut parts = point.split(',');
        let start: f64 = parts.next()?.parse().ok()?;
        if start > t_ms {
            break;
        }
        best = Some((parts.next()?, parts.next()));
    }
    let (lo, hi) = best?;
    Some(hi.map_or_else(|| lo.to_owned(), |hi| format!("{lo} to {hi}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_is_that_of_the_last_point_before() {
        let points = "0,5 10,7,9 20,1";
        assert_eq!(value_at(points, 3.0).as_deref(), Some("5"));
        assert_eq!(value_at(points, 19.9).as_deref(), Some("7 to 9"));
        assert_eq!(value_at(points, 900.0).as_deref(), Some("1"));
        assert_eq!(value_at("5,1", 3.0), None);
    }

    #[test]
    fn a_view_stays_on_the_axis() {
        let kept = |from, to| {
            let v = clamp(View { from, to }, 1000.0);
            (v.from, v.to)
        };
        assert_eq!(kept(-200.0, 300.0), (0.0, 500.0));
        assert_eq!(kept(900.0, 1400.0), (500.0, 1000.0));
        assert_eq!(kept(-500.0, 2500.0), (0.0, 1000.0));
        assert_eq!(kept(500.0, 500.0), (499.0, 501.0));
    }
}
