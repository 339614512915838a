//! Geometry of a lane: from points to SVG paths. Pure; it knows no markup.

use checks::series::Point;

/// Width and height of the plot in SVG units; the browser stretches it to the space there is.
pub(super) const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;
/// Above so many values separate bars would be hairs; a stepped line is drawn instead.
pub(super) const MAX_BARS: usize = 60;
/// Two points further apart than this many usual distances have nothing recorded between them.
const GAP: f64 = 3.0;

/// A scale from time and value to the plot.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    pub(super) span_ms: f64,
    pub(super) y_max: f64,
}

impl Scale {
    pub(super) fn x(self, t_ms: f64) -> f64 {
        round(t_ms / self.span_ms.max(f64::MIN_POSITIVE) * WIDTH)
    }

    pub(super) fn y(self, v: f64) -> f64 {
        round(HEIGHT - (v / self.y_max).clamp(0.0, 1.0) * HEIGHT)
    }
}

fn round(v: f64) -> f64 {
    (v * 10.0).round() / 10.0
}

/// Line and area of a stepped lane. `lower` is the line of the smallest values where a bucket holds several.
pub(super) struct Paths {
    pub(super) line: String,
    pub(super) area: String,
    pub(super) lower: Option<String>,
}

/// Draws the points as steps: each value holds until the next one, and nothing is drawn where nothing was recorded.
pub(super) fn paths(points: &[Point], scale: Scale) -> Paths {
    let ends = ends(points);
    let ranged = points.iter().any(|p| p.hi > p.lo);
    let mut line = String::new();
    let mut area = String::new();
    let mut lower = String::new();
    let mut pen_down = false;
    for (i, p) in points.iter().enumerate() {
        let (x0, x1) = (scale.x(p.t_ms), scale.x(ends[i]));
        let (hi, lo) = (scale.y(p.hi), scale.y(p.lo));
        if pen_down {
            line.push_str(&format!("V{hi}H{x1}"));
            area.push_str(&format!("V{hi}H{x1}"));
            lower.push_str(&format!("V{lo}H{x1}"));
        } else {
            line.push_str(&format!("M{x0},{hi}H{x1}"));
            area.push_str(&format!("M{x0},{HEIGHT}V{hi}H{x1}"));
            lower.push_str(&format!("M{x0},{lo}H{x1}"));
        }
        let next = points.get(i + 1).map(|n| n.t_ms);
        pen_down = next.is_some_and(|t| t <= ends[i] + 1e-6);
        if !pen_down {
            area.push_str(&format!("V{HEIGHT}Z"));
        }
    }
    Paths { line, area, lower: ranged.then_some(lower) }
}

/// Until when each point's value holds: to the next point, unless that one is far away.
fn ends(points: &[Point]) -> Vec<f64> {
    let mut steps: Vec<f64> = points.windows(2).map(|w| w[1].t_ms - w[0].t_ms).collect();
    steps.sort_by(f64::total_cmp);
    let usual = steps.get(steps.len() / 2).copied().unwrap_or(0.0);
    let hold = |(i, p): (usize, &Point)| {
        let own = p.t_ms + p.dt_ms;
        match points.get(i + 1) {
            Some(n) if n.t_ms - p.t_ms <= GAP * usual => n.t_ms,
            Some(n) => own.min(n.t_ms),
            None => own,
        }
    };
    points.iter().enumerate().map(hold).collect()
}

/// Points as text for the pointer's read-out: `start,lowest,highest` joined by spaces.
pub(super) fn packed(points: &[Point]) -> String {
    let short = |v: f64| {
        let text = format!("{v:.2}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    };
    let one = |p: &Point| {
        if p.hi > p.lo {
            format!("{},{},{}", short(p.t_ms), short(p.lo), short(p.hi))
        } else {
            format!("{},{}", short(p.t_ms), short(p.lo))
        }
    };
    points.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Lowest and highest value that begins within a stretch of time.
pub(super) fn range(points: &[Point], from_ms: f64, to_ms: f64) -> Option<(f64, f64)> {
    let within = points.iter().filter(|p| p.t_ms < to_ms && p.t_ms + p.dt_ms.max(f64::MIN_POSITIVE) > from_ms);
    within.fold(None, |acc, p| Some(acc.map_or((p.lo, p.hi), |(lo, hi): (f64, f64)| (lo.min(p.lo), hi.max(p.hi)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(t_ms: f64, v: f64) -> Point {
        Point { t_ms, dt_ms: 10.0, lo: v, hi: v }
    }

    #[test]
    fn a_gap_in_the_recording_is_a_gap_in_the_line() {
        let points = [at(0.0, 50.0), at(10.0, 100.0), at(20.0, 0.0), at(500.0, 50.0)];
        let drawn = paths(&points, Scale { span_ms: 1000.0, y_max: 100.0 });
        assert_eq!(drawn.line, "M0,50H10V0H20V100H30M500,50H510");
        assert!(drawn.lower.is_none());
    }

    #[test]
    fn a_range_covers_what_lies_in_it() {
        let points = [at(0.0, 5.0), at(10.0, 9.0), at(20.0, 1.0)];
        assert_eq!(range(&points, 0.0, 20.0), Some((5.0, 9.0)));
        assert_eq!(range(&points, 40.0, 50.0), None);
    }
}
