//! What a list says of a report: verdict, lamps, sentence and the few numbers beside them.
//!
//! It is a part of the report, never computed anew, so that a row and the page behind it cannot differ.

use serde::{Deserialize, Serialize};

use crate::report::{Headline, LayerState, Level, Report, Work};

/// The short form of a report that is kept beside it, so that a list of a thousand need not read a thousand reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The gravest verdict among the findings.
    pub worst: Level,
    /// Six layers, bottom-up.
    pub layers: Vec<LayerState>,
    /// One sentence.
    pub headline: Headline,
    /// Utilisation against work, where samples were recorded.
    pub work: Option<Work>,
    /// Steps that the mean is over, where steps were recorded.
    pub steps: Option<usize>,
    /// Mean step, where steps were recorded.
    pub mean_step_ms: Option<f64>,
}

impl Report {
    /// The short form of this report.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary {
            worst: self.worst(),
            layers: self.layers.clone(),
            headline: self.headline.clone(),
            work: self.work.clone(),
            steps: self.step.as_ref().map(|s| s.steps),
            mean_step_ms: self.step.as_ref().map(|s| s.mean_ms),
        }
    }
}
