//! Time series for charts: one lane a quantity, cut to a number of buckets with minimum and maximum kept.
//!
//! It does not know how a chart looks.

use serde::{Deserialize, Serialize};

use crate::fact::Facts;
use crate::record::{GpuSample, SampleSeries};

/// Most points a lane has.
pub const MAX_POINTS: usize = 400;

/// One point: the extremes of a bucket of time. `lo == hi` where the bucket holds one value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Start, ms since the start of the axis.
    pub t_ms: f64,
    /// Width, ms.
    pub dt_ms: f64,
    /// Smallest value.
    pub lo: f64,
    /// Largest value.
    pub hi: f64,
}

/// One lane of the chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// `step_ms`, `data_wait_ms`, `util_pct`, `sm_pct` or `power_w`.
    pub id: String,
    /// Unit.
    pub unit: String,
    /// Values recorded (before cutting).
    pub n: usize,
    /// Mean of the recorded values.
    pub mean: f64,
    /// Largest recorded value.
    pub max: f64,
    /// A line to draw, for example the power limit.
    pub limit: Option<f64>,
    /// Points in order of time.
    pub points: Vec<Point>,
}

/// All lanes on one time axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lanes {
    /// Epoch ms of the axis' zero, where known.
    pub start_ms: Option<f64>,
    /// Length of the axis.
    pub span_ms: f64,
    /// True if steps and samples could not be put on one clock: then each lane starts at its own zero.
    pub own_clocks: bool,
    /// Lanes, those that were recorded.
    pub lanes: Vec<Lane>,
}

struct Raw {
    id: &'static str,
    unit: &'static str,
    limit: Option<f64>,
    /// start, width, value
    values: Vec<(f64, f64, f64)>,
}

/// The lanes of a run: the first rank's steps and the first node's samples.
#[must_use]
pub fn lanes(facts: &Facts) -> Lanes {
    let mut raw: Vec<Raw> = Vec::new();
    let mut anchored = true;
    if let Some(s) = facts.steps.first() {
        let mut clock = 0.0;
        let mut step = Raw { id: "step_ms", unit: "ms", limit: None, values: Vec::new() };
        let mut wait = Raw { id: "data_wait_ms", unit: "ms", limit: None, values: Vec::new() };
        for st in &s.steps {
            clock += st.step_ms;
            let end = s.wall_ms(st).unwrap_or(clock);
            anchored &= s.wall_ms(st).is_some();
            step.values.push((end - st.step_ms, st.step_ms, st.step_ms));
            if let Some(w) = st.data_wait_ms {
                wait.values.push((end - st.step_ms, st.step_ms, w));
            }
        }
        raw.extend([step, wait]);
    }
    if let Some(s) = facts.samples.iter().find(|s| !s.untimed) {
        let limit = crate::work::mean(s.gpus.iter().filter_map(|g| g.power_limit_w));
        raw.push(sampled(s, "util_pct", "%", None, |g| g.util_pct));
        raw.push(sampled(s, "sm_pct", "%", None, |g| g.gpm.and_then(|m| m.sm_pct)));
        raw.push(sampled(s, "power_w", "W", limit, |g| g.power_w));
    }
    raw.retain(|r| !r.values.is_empty());
    let both = !facts.steps.is_empty() && facts.samples.iter().any(|s| !s.untimed);
    let own_clocks = both && !anchored;
    let zero = |r: &Raw| r.values.iter().map(|v| v.0).fold(f64::INFINITY, f64::min);
    let start = raw.iter().map(zero).fold(f64::INFINITY, f64::min);
    let mut span: f64 = 0.0;
    let mut lanes = Vec::new();
    for r in &raw {
        let from = if own_clocks { zero(r) } else { start };
        let end = r.values.iter().map(|v| v.0 + v.1 - from).fold(0.0, f64::max);
        span = span.max(end);
        lanes.push(lane(r, from, end));
    }
    let start_ms = (start.is_finite() && !own_clocks && (anchored || facts.steps.is_empty())).then_some(start);
    Lanes { start_ms, span_ms: span, own_clocks, lanes }
}

/// The mean over GPUs of one quantity in each sample.
fn sampled(
    s: &SampleSeries,
    id: &'static str,
    unit: &'static str,
    limit: Option<f64>,
    get: fn(&GpuSample) -> Option<f64>,
) -> Raw {
    let mut values = Vec::new();
    for (n, sample) in s.samples.iter().enumerate() {
        let Some(v) = crate::work::mean(sample.gpu.iter().filter_map(get)) else { continue };
        let dt = s.samples.get(n + 1).map_or(0.0, |next| (next.t_ms - sample.t_ms).max(0.0));
        values.push((sample.t_ms, dt, v));
    }
    Raw { id, unit, limit, values }
}

fn lane(r: &Raw, from: f64, end: f64) -> Lane {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let n = r.values.len() as f64;
    let mean = r.values.iter().map(|v| v.2).sum::<f64>() / n;
    let max = r.values.iter().map(|v| v.2).fold(f64::NEG_INFINITY, f64::max);
    let mut points: Vec<Point> = Vec::new();
    if r.values.len() <= MAX_POINTS {
        points.extend(r.values.iter().map(|v| Point { t_ms: v.0 - from, dt_ms: v.1, lo: v.2, hi: v.2 }));
    } else {
        #[expect(clippy::cast_precision_loss, reason = "a small constant")]
        let width = (end / MAX_POINTS as f64).max(f64::MIN_POSITIVE);
        for v in &r.values {
            let t = ((v.0 - from) / width).floor() * width;
            match points.last_mut() {
                Some(p) if p.t_ms >= t => {
                    p.lo = p.lo.min(v.2);
                    p.hi = p.hi.max(v.2);
                }
                _ => points.push(Point { t_ms: t, dt_ms: width, lo: v.2, hi: v.2 }),
            }
        }
    }
    Lane { id: r.id.into(), unit: r.unit.into(), n: r.values.len(), mean, max, limit: r.limit, points }
}
