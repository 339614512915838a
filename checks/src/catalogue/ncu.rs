//! What checks ask of an Nsight Compute profile where there is no trace. It gives verdicts only in the words of the
//! check that calls it.

use crate::check::{Ctx, Missing, Verdict};

/// Small grids; `None` without a profile.
pub(super) fn geometry(_cx: &Ctx<'_>, _warn: f64, _fail: f64) -> Option<Result<Verdict, Missing>> {
    None
}

/// Tensor Core cycles; `None` without a profile.
pub(super) fn tensor(_cx: &Ctx<'_>, _fail: f64, _pass: f64) -> Option<Result<Verdict, Missing>> {
    None
}
