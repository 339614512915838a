//! Sextant's domain: what a node or a training run looks like as facts, what is wrong with it, and what that costs.
//!
//! Data goes one way: bytes → [`intake`] → [`Facts`] → [`evaluate()`] → [`report::Report`]. Everything here is pure: no
//! clock, no network, no environment, no files (Nsight exports behind the feature `sqlite` are the one exception), so
//! that a stored input gives the same report on a node, on the server and in a test.
//!
//! It deliberately does not know where its bytes come from, who asks, or how a report is shown.

pub mod catalogue;
pub mod check;
pub mod compare;
pub mod evaluate;
mod evid;
pub mod fact;
pub mod intake;
pub mod keys;
mod next;
pub mod profile;
pub mod record;
pub mod recording;
pub mod redact;
pub mod report;
pub mod series;
pub mod settings;
pub mod snapshot;
pub mod step;
pub mod summary;
pub mod tables;
pub mod trace;
pub mod work;

pub use check::{Check, Ctx, Missing, Verdict};
pub use evaluate::evaluate;
pub use fact::{Fact, Facts, Key, Place, Trust, Value};
pub use intake::{Intake, Subject};
pub use report::{Layer, Level, Report, ReportDoc};
pub use settings::Settings;
pub use summary::Summary;

/// Version of the catalogue: it changes whenever a check's rule, threshold or wording changes a report.
pub const CATALOGUE_VERSION: &str = env!("CARGO_PKG_VERSION");
