//! The pointer's line through all lanes of a chart, and the value of each lane at that time.
//!
//! It reads the points from the plots' `data-points` (`start,lowest,highest` in ms, joined by spaces) and draws nothing
//! else; the charts themselves are rendered on the server.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

/// Wraps the lanes. `span_ms` is the length of their axis.
#[island]
pub fn ChartCursor(span_ms: f64, children: Children) -> impl IntoView {
    let frame = NodeRef::<Div>::new();
    let moved = move |ev: leptos::ev::PointerEvent| {
        let Some(frame) = frame.get_untracked() else { return };
        show(&frame, f64::from(ev.client_x()), span_ms);
    };
    let left = move |_| {
        if let Some(frame) = frame.get_untracked() {
            hide(&frame);
        }
    };
    view! {
        <div class="cursor-frame" node_ref=frame on:pointermove=moved on:pointerleave=left>
            {children()}
        </div>
    }
}

fn plots(frame: &Element) -> Vec<HtmlElement> {
    let Ok(list) = frame.query_selector_all(".plot[data-points]") else { return Vec::new() };
    (0..list.length()).filter_map(|i| list.get(i)?.dyn_into().ok()).collect()
}

fn show(frame: &Element, client_x: f64, span_ms: f64) {
    let plots = plots(frame);
    let Some(first) = plots.first() else { return };
    let rect = first.get_bounding_client_rect();
    if rect.width() <= 0.0 || client_x < rect.left() || client_x > rect.right() {
        hide(frame);
        return;
    }
    let share = (client_x - rect.left()) / rect.width();
    let t_ms = share * span_ms;
    for (i, plot) in plots.iter().enumerate() {
        let Some(mark) = mark(plot) else { continue };
        let _ = mark.style().set_property("left", &format!("{:.2}%", share * 100.0));
        mark.set_class_name(if share > 0.8 { "cursor left" } else { "cursor" });
        let unit = plot.get_attribute("data-unit").unwrap_or_default();
        let value = plot.get_attribute("data-points").and_then(|p| value_at(&p, t_ms));
        let says = value.map_or_else(|| "–".to_owned(), |v| format!("{v}\u{a0}{unit}"));
        let at = if i == 0 { format!("{} · ", time(t_ms)) } else { String::new() };
        mark.set_text_content(Some(&format!("{at}{says}")));
    }
}

fn hide(frame: &Element) {
    for plot in plots(frame) {
        if let Ok(Some(mark)) = plot.query_selector(".cursor") {
            mark.remove();
        }
    }
}

/// The plot's mark, made when it is first needed. It is read by the eye only: the plot's name has the numbers in sum.
fn mark(plot: &HtmlElement) -> Option<HtmlElement> {
    if let Ok(Some(there)) = plot.query_selector(".cursor") {
        return there.dyn_into().ok();
    }
    let made = document().create_element("span").ok()?;
    let _ = made.set_attribute("aria-hidden", "true");
    plot.append_child(&made).ok()?;
    made.set_class_name("cursor");
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

fn time(ms: f64) -> String {
    match ms {
        v if v < 1_000.0 => format!("{v:.0}\u{a0}ms"),
        v if v < 180_000.0 => format!("{:.2}\u{a0}s", v / 1_000.0),
        v => format!("{:.1}\u{a0}min", v / 60_000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::value_at;

    #[test]
    fn the_value_is_that_of_the_last_point_before() {
        let points = "0,5 10,7,9 20,1";
        assert_eq!(value_at(points, 3.0).as_deref(), Some("5"));
        assert_eq!(value_at(points, 19.9).as_deref(), Some("7 to 9"));
        assert_eq!(value_at(points, 900.0).as_deref(), Some("1"));
        assert_eq!(value_at("5,1", 3.0), None);
    }
}
