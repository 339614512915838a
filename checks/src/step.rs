//! Where a step goes: the mean step divided by cause, from live step timings, from profiler traces, or from both.
//!
//! Parts that are not `None` add up to the mean within 1 µs. It does not judge; the checks do.

use crate::fact::Facts;
use crate::record::{Step, StepSeries};
use crate::report::{StepBreakdown, StepParts, StepSource};
use crate::trace::TraceSummary;

/// Steps at the start of a recording that are left out as warm-up where enough others are left.
pub const WARM_UP: usize = 3;
/// Steps that must be left after the warm-up is cut off; below that nothing is cut.
pub const MIN_KEPT: usize = 10;

/// The steps of a series that count: training steps with a positive duration, without the warm-up where there are
/// enough.
#[must_use]
pub fn kept(series: &StepSeries) -> Vec<&Step> {
    let train: Vec<&Step> =
        series.steps.iter().filter(|s| s.step_ms > 0.0 && s.phase.as_deref().is_none_or(|p| p == "train")).collect();
    if train.len() >= WARM_UP + MIN_KEPT { train[WARM_UP..].to_vec() } else { train }
}

/// The breakdown of the mean step over all ranks, or `None` if no step was recorded.
///
/// From live timings alone only the data wait is known; the rest is `unattributed`. Merged, the mean is the live one;
/// what the device did keeps its traced milliseconds, the data wait is the live one as far as it is exposed, and the
/// remainder is shared among what the host did in the trace's proportion.
#[must_use]
pub fn breakdown(facts: &Facts) -> Option<StepBreakdown> {
    match (Live::of(facts), Traced::of(facts)) {
        (None, None) => None,
        (Some(live), None) => Some(live.breakdown()),
        (None, Some(traced)) => Some(traced.breakdown()),
        (Some(live), Some(traced)) => Some(merge(&live, &traced)),
    }
}

/// The trace that stands for the run where a check looks at one process: the lowest rank that has device activities
/// and steps, else the lowest rank with device activities.
#[must_use]
pub fn trace(facts: &Facts) -> Option<&TraceSummary> {
    let key = |t: &&TraceSummary| (!t.timeline, t.steps.used == 0, t.rank.unwrap_or(0));
    facts.traces.iter().filter(|t| t.device_events > 0 && t.window_ms > 0.0).min_by_key(key)
}

struct Live {
    steps: usize,
    mean_ms: f64,
    /// Time in the loader, as far as the stream stood idle at the step's boundary where that was measured.
    wait_ms: Option<f64>,
}

impl Live {
    fn of(facts: &Facts) -> Option<Self> {
        let steps: Vec<&Step> = facts.steps.iter().flat_map(|s| kept(s)).collect();
        if steps.is_empty() {
            return None;
        }
        let n = count(steps.len());
        let mean_ms = steps.iter().map(|s| s.step_ms).sum::<f64>() / n;
        let exposed = |s: &Step| {
            let wait = s.data_wait_ms?.clamp(0.0, s.step_ms);
            Some(s.boundary_idle_ms.map_or(wait, |idle| wait.min(idle.max(0.0))))
        };
        let waits: Option<Vec<f64>> = steps.iter().map(|s| exposed(s)).collect();
        Some(Self { steps: steps.len(), mean_ms, wait_ms: waits.map(|w| w.iter().sum::<f64>() / n) })
    }

    fn breakdown(&self) -> StepBreakdown {
        let ms = StepParts {
            data_wait: self.wait_ms,
            unattributed: Some(self.mean_ms - self.wait_ms.unwrap_or(0.0)),
            ..StepParts::default()
        };
        StepBreakdown { source: StepSource::Live, steps: self.steps, mean_ms: self.mean_ms, traced_ratio: None, ms }
    }
}

/// The mean over all traces that know their steps, each weighted alike.
struct Traced {
    steps: usize,
    mean_ms: f64,
    ms: StepParts,
    /// Exposed share of the time in the loader; `None` if the loader was not seen.
    exposed_wait: Option<f64>,
}

impl Traced {
    fn of(facts: &Facts) -> Option<Self> {
        let all: Vec<&TraceSummary> =
            facts.traces.iter().filter(|t| t.device_events > 0 && t.window_ms > 0.0 && t.steps.used > 0).collect();
        if all.is_empty() {
            return None;
        }
        let n = count(all.len());
        let mean = |f: &dyn Fn(&TraceSummary) -> f64| all.iter().map(|t| f(t)).sum::<f64>() / n;
        let part = |f: &dyn Fn(&crate::trace::Parts) -> i64| mean(&|t| t.per_step_ms(f(&t.parts)));
        let raw = mean(&|t| t.raw_data_wait_ms / t.step_count());
        let data_wait = part(&|p| p.data_wait);
        let ms = StepParts {
            compute: Some(part(&|p| p.compute)),
            exposed_comm: all.iter().any(|t| t.can_communicate()).then(|| part(&|p| p.comm)),
            exposed_h2d: Some(part(&|p| p.h2d)),
            other_copy: Some(part(&|p| p.other_copy)),
            data_wait: Some(data_wait),
            launch: Some(part(&|p| p.launch())),
            sync: Some(part(&|p| p.sync())),
            allocator: Some(part(&|p| p.allocator)),
            compile: Some(part(&|p| p.compile)),
            kernel_latency: Some(part(&|p| p.kernel_latency)),
            device_dependency: Some(part(&|p| p.device_dependency)),
            unattributed: Some(part(&|p| p.unattributed)),
        };
        Some(Self {
            steps: all.iter().map(|t| t.steps.used).sum(),
            mean_ms: mean(&TraceSummary::mean_step_ms),
            ms,
            exposed_wait: (raw > 0.0).then(|| (data_wait / raw).clamp(0.0, 1.0)),
        })
    }

    fn breakdown(&self) -> StepBreakdown {
        StepBreakdown {
            source: StepSource::Trace,
            steps: self.steps,
            mean_ms: self.mean_ms,
            traced_ratio: None,
            ms: self.ms,
        }
    }
}

fn merge(live: &Live, traced: &Traced) -> StepBreakdown {
    let mean = live.mean_ms;
    let ratio = traced.mean_ms / mean;
    // A trace whose steps are shorter than the run's caught the host running ahead of the device: the window holds
    // fewer steps' worth of device work than steps, so its shares hold and not its milliseconds.
    let stretch = if ratio < 1.0 && ratio > 0.0 { 1.0 / ratio } else { 1.0 };
    let t = &traced.ms;
    let device = |v: Option<f64>| v.map(|v| v * stretch);
    let wait = match (live.wait_ms, traced.exposed_wait) {
        (Some(w), Some(exposed)) => w * exposed,
        (Some(w), None) => w,
        (None, _) => t.data_wait.unwrap_or(0.0) * stretch,
    }
    .min(mean);
    let mut ms = StepParts {
        compute: device(t.compute),
        exposed_comm: device(t.exposed_comm),
        exposed_h2d: device(t.exposed_h2d),
        other_copy: device(t.other_copy),
        kernel_latency: device(t.kernel_latency),
        device_dependency: device(t.device_dependency),
        data_wait: Some(wait),
        ..StepParts::default()
    };
    let known = |ms: &StepParts| {
        [ms.compute, ms.exposed_comm, ms.exposed_h2d, ms.other_copy, ms.kernel_latency, ms.device_dependency]
            .into_iter()
            .flatten()
            .sum::<f64>()
    };
    // The live step cannot hold more than itself.
    let (room, used) = (mean - wait, known(&ms));
    if used > room && used > 0.0 {
        let fit = room / used;
        for part in [
            &mut ms.compute,
            &mut ms.exposed_comm,
            &mut ms.exposed_h2d,
            &mut ms.other_copy,
            &mut ms.kernel_latency,
            &mut ms.device_dependency,
        ] {
            *part = part.map(|p| p * fit);
        }
    }
    let rest = (mean - wait - known(&ms)).max(0.0);
    let host = [t.launch, t.sync, t.allocator, t.compile, t.unattributed].map(|p| p.unwrap_or(0.0));
    let all: f64 = host.iter().sum();
    let share = |i: usize| if all > 0.0 { rest * host[i] / all } else { 0.0 };
    (ms.launch, ms.sync, ms.allocator, ms.compile) = (Some(share(0)), Some(share(1)), Some(share(2)), Some(share(3)));
    ms.unattributed = Some(if all > 0.0 { share(4) } else { rest });
    StepBreakdown { source: StepSource::Merged, steps: live.steps, mean_ms: mean, traced_ratio: Some(ratio), ms }
}

#[expect(clippy::cast_precision_loss, reason = "a run has far fewer than 2^53 steps")]
fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn adds_up(b: &StepBreakdown) -> bool {
        let sum: f64 = b.ms.list().iter().filter_map(|(_, v)| *v).sum();
        (sum - b.mean_ms).abs() < 1e-3 && b.ms.list().iter().all(|(_, v)| v.is_none_or(|v| v >= 0.0))
    }

    proptest! {
        #[test]
        fn merged_parts_add_up_to_the_live_mean(
            mean in 0.01f64..1e4, wait in proptest::option::of(0.0f64..1e4), traced in 0.01f64..1e4,
            shares in proptest::collection::vec(0.0f64..1.0, 11), exposed in proptest::option::of(0.0f64..1.0),
        ) {
            let all: f64 = shares.iter().sum::<f64>().max(1e-9);
            let p = |i: usize| Some(shares[i] / all * traced);
            let ms = StepParts {
                compute: p(0), exposed_comm: None, exposed_h2d: p(1), other_copy: p(2), data_wait: p(3), launch: p(4),
                sync: p(5), allocator: p(6), compile: p(7), kernel_latency: p(8), device_dependency: p(9), unattributed: p(10),
            };
            let live = Live { steps: 10, mean_ms: mean, wait_ms: wait.map(|w| w.min(mean)) };
            let traced = Traced { steps: 4, mean_ms: traced, ms, exposed_wait: exposed };
            prop_assert!(adds_up(&merge(&live, &traced)));
            prop_assert!(adds_up(&live.breakdown()));
        }
    }
}
