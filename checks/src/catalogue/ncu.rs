//! What checks ask of an Nsight Compute profile: its kernels with their share of the profiled time, and evidence.
//!
//! Times under Nsight Compute are of kernels that run alone, with cold caches; shares among them are all that is used.

use crate::catalogue::traced::{number, pct};
use crate::check::{Ctx, Missing, Verdict};
use crate::profile::NcuKernel;
use crate::report::{Confidence, Evidence, Level};
use crate::trace::{KernelClass, kernel_class};

/// Kernels shorter than this belong to launching, not to the kernel's own work (layers-4-6 §2).
const MIN_NS: f64 = 5_000.0;

/// A profiled kernel and its share of the profiled time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Profiled<'a> {
    /// The kernel.
    pub(super) kernel: &'a NcuKernel,
    /// Share of the time of all profiled kernels.
    pub(super) share: f64,
}

impl Profiled<'_> {
    /// Family and unit, by name.
    pub(super) fn class(&self) -> KernelClass {
        kernel_class(&self.kernel.name)
    }

    /// The kernel's line as evidence.
    pub(super) fn evidence(&self, fact: &str, value: f64, unit: &str, expected: &str) -> Evidence {
        Evidence {
            fact: fact.to_owned(),
            value: Some(((value * 100.0).round() / 100.0).into()),
            unit: unit.to_owned(),
            expected: (!expected.is_empty()).then(|| expected.to_owned()),
            input: Some(self.kernel.place.input),
            line: self.kernel.place.line,
            quote: self.kernel.place.quote.as_deref().map(str::to_owned),
        }
    }

    /// Its name, short.
    pub(super) fn name(&self) -> String {
        crate::trace::short_name(&self.kernel.name)
    }
}

/// The profiled kernels that have a duration.
///
/// # Errors
/// There is no profile.
pub(super) fn kernels<'a>(cx: &Ctx<'a>) -> Result<Vec<Profiled<'a>>, Missing> {
    let total: f64 = cx.facts.ncu.iter().filter_map(|k| k.duration_ns).sum();
    let all: Vec<Profiled<'a>> = cx
        .facts
        .ncu
        .iter()
        .filter_map(|k| Some(Profiled { kernel: k, share: k.duration_ns? / total.max(f64::MIN_POSITIVE) }))
        .collect();
    if all.is_empty() {
        return Err(Missing::fact("kernel[0].duration_ns".into(), "an Nsight Compute profile (ncu --csv --set full)"));
    }
    Ok(all)
}

/// Those that are long enough for their own work to matter.
///
/// # Errors
/// There is no profile, or none of its kernels is.
pub(super) fn long_kernels<'a>(cx: &Ctx<'a>) -> Result<Vec<Profiled<'a>>, Missing> {
    let long: Vec<Profiled<'a>> =
        kernels(cx)?.into_iter().filter(|p| p.kernel.duration_ns.is_some_and(|d| d >= MIN_NS)).collect();
    if long.is_empty() {
        return Err(Missing::other("a profile of kernels of at least 5 µs"));
    }
    Ok(long)
}

/// True where the GPU idles so much that a kernel's inner workings come later (layers-4-6, guard rail 2).
pub(super) fn is_later(cx: &Ctx<'_>) -> bool {
    crate::catalogue::traced::traced(cx).is_ok_and(|t| !t.unmarked && t.busy() < 0.70)
}

/// Small grids; `None` without a profile.
pub(super) fn geometry(cx: &Ctx<'_>, warn: f64, fail: f64) -> Option<Result<Verdict, Missing>> {
    let all = long_kernels(cx).ok()?;
    let small: Vec<&Profiled<'_>> = all
        .iter()
        .filter(|p| !p.class().small_grid_by_design)
        .filter(|p| {
            #[expect(clippy::cast_precision_loss, reason = "grids are far below 2^53")]
            let blocks = p.kernel.blocks.map(|b| b as f64);
            blocks.zip(p.kernel.sms).is_some_and(|(b, s)| b <= 0.8 * s)
        })
        .collect();
    if all.iter().all(|p| p.kernel.blocks.is_none() || p.kernel.sms.is_none()) {
        return Some(Err(Missing::other("grids and the number of multiprocessors in the profile")));
    }
    let share: f64 = small.iter().map(|p| p.share).sum();
    let level = crate::catalogue::traced::grade(share, warn, fail);
    let Some(top) = small.iter().max_by(|a, b| a.share.total_cmp(&b.share)).filter(|_| level != Level::Pass) else {
        return Some(Ok(Verdict::pass(format!(
            "Grids cover the multiprocessors: {} of the profiled time is in smaller ones.",
            pct(share)
        ))));
    };
    let (blocks, sms) = (top.kernel.blocks.unwrap_or(0), top.kernel.sms.unwrap_or(0.0));
    Some(Ok(Verdict::new(
        level,
        format!("{} of the profiled time is in kernels with too few blocks: {} runs on {blocks} for {sms:.0} multiprocessors.", pct(share), top.name()),
    )
    .confidence(Confidence::Medium)
    .with([top.evidence("kernel.small_grid_share", share, "", &format!("< {warn}"))])))
}

/// Tensor Core cycles; `None` without a profile.
pub(super) fn tensor(cx: &Ctx<'_>, fail: f64, pass: f64) -> Option<Result<Verdict, Missing>> {
    let all = long_kernels(cx).ok()?;
    let products: Vec<&Profiled<'_>> = all.iter().filter(|p| p.class().family.is_product()).collect();
    if products.is_empty() {
        return Some(Ok(Verdict::not_applicable("No matrix product or convolution was profiled.")));
    }
    // The counter decides where it was collected; a pipe that is active for a hundredth of the time is not in use.
    let on = |p: &Profiled<'_>| match p.kernel.tensor_pct {
        Some(t) => Some(t >= 1.0),
        None => p.class().tensor,
    };
    let sum = |want: Option<bool>| products.iter().filter(|p| on(p) == want).map(|p| p.share).sum::<f64>();
    let (yes, no, unknown) = (sum(Some(true)), sum(Some(false)), sum(None));
    if unknown > 0.3 * (yes + no + unknown) {
        return Some(Err(Missing::other("the Tensor Core counters of the longest products (ncu --set full)")));
    }
    let share = yes / (yes + no).max(f64::MIN_POSITIVE);
    let top = products.iter().filter(|p| on(p) == Some(false)).max_by(|a, b| a.share.total_cmp(&b.share));
    let Some(top) = top.filter(|_| share < pass) else {
        return Some(Ok(Verdict::pass(format!("{} of the profiled product time is on Tensor Cores.", pct(share)))));
    };
    let level = if share < fail { Level::Fail } else { Level::Warn };
    let busy = top
        .kernel
        .tensor_pct
        .map_or(String::new(), |t| format!(", with the Tensor Core pipe active {} % of the time", number(t)));
    Some(Ok(Verdict::new(
        level,
        format!(
            "Only {} of the profiled product time is on Tensor Cores: {} runs on ordinary units{busy}.",
            pct(share),
            top.name()
        ),
    )
    .confidence(Confidence::Medium)
    .with([top.evidence("kernel.tensor_core_share", share, "", &format!(">= {pass}"))])))
}
