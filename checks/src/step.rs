//! Where a step goes: the mean step divided by cause, from live step timings.
//!
//! Parts that are not `None` add up to the mean within 1 µs. It does not judge; the checks do.

use crate::fact::Facts;
use crate::record::{Step, StepSeries};
use crate::report::{StepBreakdown, StepParts, StepSource};

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
/// From live timings alone only the data wait is known; the rest is `unattributed`.
#[must_use]
pub fn breakdown(facts: &Facts) -> Option<StepBreakdown> {
    let steps: Vec<&Step> = facts.steps.iter().flat_map(|s| kept(s)).collect();
    if steps.is_empty() {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "a run has far fewer than 2^53 steps")]
    let n = steps.len() as f64;
    let mean_ms = steps.iter().map(|s| s.step_ms).sum::<f64>() / n;
    let waits: Option<Vec<f64>> = steps.iter().map(|s| s.data_wait_ms.map(|w| w.clamp(0.0, s.step_ms))).collect();
    let data_wait = waits.map(|w| w.iter().sum::<f64>() / n);
    let ms = StepParts { data_wait, unattributed: Some(mean_ms - data_wait.unwrap_or(0.0)), ..StepParts::default() };
    Some(StepBreakdown { source: StepSource::Live, steps: steps.len(), mean_ms, traced_ratio: None, ms })
}
