//! Comparison of two recordings: is the second one faster, is the difference real, and where did the time go?
//!
//! Pure and deterministic. It compares what was recorded and refuses to compare other work; it does not know who asks,
//! nor whether a fix is linked.

mod guard;
pub mod stats;

use serde::{Deserialize, Serialize};

pub use guard::{Compared, Means, guard, knobs};

use crate::fact::Facts;
use crate::record::{Step, StepSeries};
use crate::report::{Report, SCHEMA, StepParts};
use stats::{Ratio, mean, median, median_interval, quantile, ratios, to_f64};

/// Recorded steps a side below which no interval is given (layers-4-6 §5.6).
pub const MIN_STEPS: usize = 30;
/// A change below this is never called faster or slower (layers-4-6 §5.6: practical floor of 2 %).
pub const FLOOR: f64 = 0.02;
/// Steps left out after the run has settled (layers-4-6 §5.6: at least ten).
const WARM_UP: usize = 10;
/// The running median must come this close to the final one (layers-4-6 §5.6: 5 %).
const SETTLED: f64 = 0.05;
/// Runs a side from which the Mann-Whitney test can decide: 3 against 3 can never reach 5 %.
const MIN_RUNS: usize = 4;
/// Each of the two ratios (means, medians) is judged at this level, so that both together hold 95 %.
const LEVEL: f64 = 0.975;

/// What a comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The second side is faster.
    Faster,
    /// The second side is slower.
    Slower,
    /// No change that this data could have shown.
    NoDetectableChange,
    /// Other work, too few steps, or nothing to compare.
    NotComparable,
}

/// Numbers of one side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Runs.
    pub runs: usize,
    /// Training steps recorded.
    pub steps: usize,
    /// Steps left out at the start.
    pub dropped: usize,
    /// Mean step.
    pub mean_ms: Option<f64>,
    /// Median step.
    pub median_ms: Option<f64>,
    /// 95 % interval of the median by order statistics.
    pub median_interval_ms: Option<(f64, f64)>,
    /// 95th percentile.
    pub p95_ms: Option<f64>,
    /// (mean − median) / mean: what slow steps cost.
    pub outlier_cost: Option<f64>,
    /// Steps above 1.5 × median.
    pub outliers: usize,
    /// Items (samples, tokens) a second, where they were recorded.
    pub items_per_s: Option<f64>,
}

/// Time of one cause on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartDiff {
    /// Name of the part.
    pub name: String,
    /// Milliseconds a step, first side.
    pub a_ms: Option<f64>,
    /// Milliseconds a step, second side.
    pub b_ms: Option<f64>,
}

/// Findings (warn and fail) of the two sides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingDiff {
    /// Only on the first side.
    pub vanished: Vec<String>,
    /// Only on the second side.
    pub appeared: Vec<String>,
    /// On both.
    pub stayed: Vec<String>,
}

/// Both distributions on one scale.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Lower edge of the first bin.
    pub from_ms: f64,
    /// Width of a bin.
    pub width_ms: f64,
    /// Share of the first side's steps in each bin.
    pub a: Vec<f64>,
    /// Share of the second side's steps in each bin.
    pub b: Vec<f64>,
}

/// The comparison of two sides, B over A (contract of `compare --json`; further keys are additions).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Format version.
    pub schema: u32,
    /// Verdict.
    pub verdict: Outcome,
    /// One sentence.
    pub text: String,
    /// Throughput of B over throughput of A; null where nothing can be compared.
    pub throughput_ratio: Option<f64>,
    /// Interval of that ratio.
    pub interval: Option<(f64, f64)>,
    /// Smallest change that could have been seen.
    pub detectable_pct: Option<f64>,
    /// `mean` or `median`: which ratio the verdict rests on.
    pub basis: Option<String>,
    /// `steps`, or `items` where the batch differs.
    pub unit: String,
    /// First side.
    pub a: Side,
    /// Second side.
    pub b: Side,
    /// Same-work guard and configuration differences.
    pub compared: Vec<Compared>,
    /// Where the time went.
    pub parts: Vec<PartDiff>,
    /// What became of the findings.
    pub findings: FindingDiff,
    /// Distributions.
    pub histogram: Option<Histogram>,
    /// What was assumed, dropped or is missing.
    pub notes: Vec<String>,
}

/// One run of a side.
#[derive(Clone, Copy, Debug)]
pub struct RunData<'a> {
    /// Its facts.
    pub facts: &'a Facts,
    /// Its report, where there is one.
    pub report: Option<&'a Report>,
}

/// Compares side B with side A. `knobs` are the settings that the linked finding's fix turns; see [`knobs()`].
#[must_use]
pub fn compare(a: &[RunData<'_>], b: &[RunData<'_>], knobs: &[&str]) -> Comparison {
    let mut notes = Vec::new();
    let runs_a: Vec<Times> = a.iter().filter_map(|r| Times::of(r.facts)).collect();
    let runs_b: Vec<Times> = b.iter().filter_map(|r| Times::of(r.facts)).collect();
    let compared = match (a.first(), b.first()) {
        (Some(x), Some(y)) => guard(x.facts, y.facts, knobs),
        _ => Vec::new(),
    };
    let mut out = Comparison {
        schema: SCHEMA,
        verdict: Outcome::NotComparable,
        text: String::new(),
        throughput_ratio: None,
        interval: None,
        detectable_pct: None,
        basis: None,
        unit: "steps".into(),
        a: side(&runs_a),
        b: side(&runs_b),
        compared,
        parts: parts(a, b),
        findings: findings(a, b),
        histogram: histogram(&runs_a, &runs_b),
        notes: Vec::new(),
    };
    for t in runs_a.iter().chain(&runs_b) {
        notes.extend(t.notes.iter().cloned());
    }
    notes.dedup();
    judge(&mut out, &runs_a, &runs_b, &mut notes);
    out.notes = notes;
    out
}

fn judge(out: &mut Comparison, a: &[Times], b: &[Times], notes: &mut Vec<String>) {
    if a.is_empty() || b.is_empty() {
        out.text = "Not comparable: one side has no step timings.".into();
        return;
    }
    let invalid: Vec<String> = out
        .compared
        .iter()
        .filter(|c| c.means == Means::Invalid)
        .map(|c| format!("{} {} against {}", c.name, c.a.as_deref().unwrap_or("?"), c.b.as_deref().unwrap_or("?")))
        .collect();
    if !invalid.is_empty() {
        out.text = format!("Not comparable: the work differs ({}).", invalid.join("; "));
        return;
    }
    let batch = out.compared.iter().any(|c| c.name == "batch" && c.means == Means::Knob);
    if batch && !(a.iter().chain(b).all(|t| t.items.is_some())) {
        out.text = "Not comparable: the batch differs and the items of a step were not recorded.".into();
        return;
    }
    let per_item = |t: &Times| -> Vec<f64> {
        match (&t.items, batch) {
            (Some(items), true) => t.kept().iter().zip(&items[t.dropped..]).map(|(ms, n)| ms / n).collect(),
            _ => t.kept().to_vec(),
        }
    };
    out.unit = if batch { "items" } else { "steps" }.into();
    let (fewest, side) = [(a, "first"), (b, "second")]
        .into_iter()
        .map(|(s, n)| (s.iter().map(|t| t.all.len()).min().unwrap_or(0), n))
        .min()
        .unwrap_or((0, "first"));
    if fewest < MIN_STEPS {
        out.text = format!(
            "Too few steps: the {side} side has {fewest}, an interval needs {MIN_STEPS}. The means are shown without one."
        );
        out.throughput_ratio = ratio_of_means(a, b, per_item);
        return;
    }
    let va: Vec<f64> = a.iter().flat_map(per_item).collect();
    let vb: Vec<f64> = b.iter().flat_map(per_item).collect();
    let block = a.iter().chain(b).map(|t| t.block).max().unwrap_or(WARM_UP);
    let Some((means, medians)) = ratios(&va, &vb, block, LEVEL) else { return };
    if a.len() >= MIN_RUNS && b.len() >= MIN_RUNS {
        many_runs(out, a, b, per_item, notes);
        return;
    }
    let floor = noise_floor(a, per_item).max(noise_floor(b, per_item)).max(FLOOR);
    if a.len() == 1 && b.len() == 1 {
        notes.push("One run a side: the interval holds for these two runs, not for a repetition of them.".into());
    } else {
        notes.push(format!(
            "Runs of one side differ by up to {:.1} %; a change must be larger than that.",
            (floor * 100.0).max(0.0)
        ));
    }
    let real = |r: &Ratio| r.excludes_one() && (r.value.max(1.0 / r.value) - 1.0) >= floor;
    let agree = (means.value >= 1.0) == (medians.value >= 1.0);
    let (basis, ratio) = if real(&means) || !(real(&medians) && agree) { ("mean", means) } else { ("median", medians) };
    if real(&means) && real(&medians) && !agree {
        notes.push("The typical step and the mean step moved in opposite directions: slow steps decide here.".into());
    }
    finish(out, basis, ratio, real(&ratio), floor);
}

/// Four and more runs a side: their means by rank, the shift by Hodges and Lehmann.
fn many_runs(out: &mut Comparison, a: &[Times], b: &[Times], of: impl Fn(&Times) -> Vec<f64>, notes: &mut Vec<String>) {
    let means = |s: &[Times]| -> Vec<f64> { s.iter().filter_map(|t| mean(&of(t))).collect() };
    let (ma, mb) = (means(a), means(b));
    let (Some(p), Some(shift), Some((r, _))) =
        (stats::mann_whitney_p(&ma, &mb), stats::hodges_lehmann(&ma, &mb), ratios(&ma, &mb, 1, 0.95))
    else {
        return;
    };
    notes.push(format!("{} against {} runs, Mann-Whitney p = {p:.3}.", a.len(), b.len()));
    let real = p < 0.05 && shift.max(1.0 / shift) - 1.0 >= FLOOR;
    let ratio = Ratio { value: shift, lo: r.lo.min(shift), hi: r.hi.max(shift) };
    finish(out, "mean", ratio, real, FLOOR);
}

fn finish(out: &mut Comparison, basis: &str, ratio: Ratio, real: bool, floor: f64) {
    let detectable = ratio.half_width_pct().max(floor * 100.0);
    out.throughput_ratio = Some(ratio.value);
    out.interval = Some((ratio.lo, ratio.hi));
    out.detectable_pct = Some(detectable);
    out.basis = Some(basis.to_owned());
    let of = if basis == "median" { "the typical step" } else { "the mean step" };
    (out.verdict, out.text) = if !real {
        (Outcome::NoDetectableChange, format!("No detectable change (could have seen {detectable:.1} % or more)."))
    } else if ratio.value > 1.0 {
        let text = format!("{:.2}× faster, {:.2} to {:.2}, by {of}.", ratio.value, ratio.lo, ratio.hi);
        (Outcome::Faster, text)
    } else {
        let text =
            format!("{:.2}× slower, {:.2} to {:.2}, by {of}.", 1.0 / ratio.value, 1.0 / ratio.hi, 1.0 / ratio.lo);
        (Outcome::Slower, text)
    };
}

fn ratio_of_means(a: &[Times], b: &[Times], of: impl Fn(&Times) -> Vec<f64>) -> Option<f64> {
    let m = |s: &[Times]| mean(&s.iter().flat_map(&of).collect::<Vec<f64>>());
    Some(m(a)? / m(b)?)
}

/// The largest difference between runs of one side: what repetition alone does. 0 for a single run.
fn noise_floor(runs: &[Times], of: impl Fn(&Times) -> Vec<f64>) -> f64 {
    let means: Vec<f64> = runs.iter().filter_map(|t| mean(&of(t))).collect();
    let hi = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lo = means.iter().copied().fold(f64::INFINITY, f64::min);
    if means.len() > 1 && lo > 0.0 { hi / lo - 1.0 } else { 0.0 }
}

/// Step times of one run, the slowest rank of each step, with the warm-up marked.
#[derive(Debug)]
struct Times {
    all: Vec<f64>,
    items: Option<Vec<f64>>,
    dropped: usize,
    block: usize,
    notes: Vec<String>,
}

impl Times {
    fn of(facts: &Facts) -> Option<Self> {
        let mut notes = Vec::new();
        let first = facts.steps.first()?;
        let (mut all, mut items) = slowest_rank(&facts.steps);
        let before = all.len();
        let keep: Vec<bool> = all.iter().map(|ms| ms.is_finite() && *ms > 0.0).collect();
        let mut k = keep.iter();
        all.retain(|_| *k.next().unwrap_or(&false));
        if let Some(i) = &mut items {
            let mut k = keep.iter();
            i.retain(|_| *k.next().unwrap_or(&false));
        }
        if all.len() < before {
            notes.push(format!("{} steps with no or a negative time were left out.", before - all.len()));
        }
        if all.is_empty() {
            return None;
        }
        let (dropped, settled) = warm_up(&all);
        if !settled {
            notes.push("A run does not settle: its step times still move when it ends.".into());
        }
        let loader = first.loaders.first();
        let ahead = loader.and_then(|l| Some(2 * l.num_workers? * l.prefetch_factor.unwrap_or(2))).unwrap_or(0);
        let block = usize::try_from(ahead).unwrap_or(0).max(WARM_UP);
        Some(Self { all, items, dropped, block, notes })
    }

    fn kept(&self) -> &[f64] {
        &self.all[self.dropped..]
    }
}

/// Training steps; of several ranks the slowest, joined by step number.
fn slowest_rank(series: &[StepSeries]) -> (Vec<f64>, Option<Vec<f64>>) {
    let train = |s: &&Step| s.phase.as_deref().is_none_or(|p| p == "train") && s.skipped != Some(true);
    if let [one] = series {
        let steps: Vec<&Step> = one.steps.iter().filter(train).collect();
        let items: Option<Vec<f64>> = steps.iter().map(|s| s.items.filter(|n| *n > 0.0)).collect();
        return (steps.iter().map(|s| s.step_ms).collect(), items.filter(|i| !i.is_empty()));
    }
    let mut by: std::collections::BTreeMap<i64, (f64, f64, bool)> = std::collections::BTreeMap::new();
    for s in series {
        for (n, st) in (0i64..).zip(s.steps.iter().filter(train)) {
            let e = by.entry(st.i.unwrap_or(n)).or_insert((0.0, 0.0, true));
            e.0 = e.0.max(st.step_ms);
            match st.items {
                Some(i) => e.1 += i,
                None => e.2 = false,
            }
        }
    }
    let items = by.values().all(|v| v.2 && v.1 > 0.0).then(|| by.values().map(|v| v.1).collect());
    (by.values().map(|v| v.0).collect(), items)
}

/// Steps to leave out: up to the first ten whose running median is within 5 % of the final one, and ten more. At most a
/// third of the run is left out; the flag says whether it had settled by then.
fn warm_up(all: &[f64]) -> (usize, bool) {
    let most = all.len() / 3;
    let Some(last) = median(&all[all.len() / 2..]) else { return (0, true) };
    let near =
        |from: usize| all.get(from..from + WARM_UP).and_then(median).is_some_and(|m| (m / last - 1.0).abs() <= SETTLED);
    match (0..=most).find(|s| near(*s) && near(s + WARM_UP / 2)) {
        Some(s) => ((s + WARM_UP).min(most.max(s)), true),
        None => (WARM_UP.min(most), all.len() < MIN_STEPS),
    }
}

fn side(runs: &[Times]) -> Side {
    let mut kept: Vec<f64> = runs.iter().flat_map(|t| t.kept().iter().copied()).collect();
    let mean_ms = mean(&kept);
    kept.sort_unstable_by(f64::total_cmp);
    let median_ms = quantile(&kept, 0.5);
    let items: Option<Vec<(f64, f64)>> =
        runs.iter().map(|t| Some((t.items.as_ref()?[t.dropped..].iter().sum(), t.kept().iter().sum()))).collect();
    Side {
        runs: runs.len(),
        steps: runs.iter().map(|t| t.all.len()).sum(),
        dropped: runs.iter().map(|t| t.dropped).sum(),
        mean_ms,
        median_ms,
        median_interval_ms: median_interval(&kept),
        p95_ms: quantile(&kept, 0.95),
        outlier_cost: mean_ms.zip(median_ms).map(|(m, d)| (m - d) / m),
        outliers: median_ms.map_or(0, |m| kept.iter().filter(|x| **x > 1.5 * m).count()),
        items_per_s: items.filter(|i| !i.is_empty()).map(|i| {
            let (n, ms) = i.iter().fold((0.0, 0.0), |s, x| (s.0 + x.0, s.1 + x.1));
            n / ms * 1e3
        }),
    }
}

fn parts(a: &[RunData<'_>], b: &[RunData<'_>]) -> Vec<PartDiff> {
    let of = |s: &[RunData<'_>]| -> Option<StepParts> { Some(s.first()?.report?.step.as_ref()?.ms) };
    let (Some(pa), Some(pb)) = (of(a), of(b)) else { return Vec::new() };
    pa.list()
        .into_iter()
        .zip(pb.list())
        .filter(|((_, x), (_, y))| x.is_some() || y.is_some())
        .map(|((name, a_ms), (_, b_ms))| PartDiff { name: name.to_owned(), a_ms, b_ms })
        .collect()
}

fn findings(a: &[RunData<'_>], b: &[RunData<'_>]) -> FindingDiff {
    let of = |s: &[RunData<'_>]| -> Vec<String> {
        let report = s.first().and_then(|r| r.report);
        report.map_or_else(Vec::new, |r| {
            r.findings.iter().filter(|f| f.verdict.is_problem()).map(|f| f.id.clone()).collect()
        })
    };
    let (fa, fb) = (of(a), of(b));
    FindingDiff {
        vanished: fa.iter().filter(|f| !fb.contains(f)).cloned().collect(),
        appeared: fb.iter().filter(|f| !fa.contains(f)).cloned().collect(),
        stayed: fa.iter().filter(|f| fb.contains(f)).cloned().collect(),
    }
}

/// Twenty-four bins from the smallest step to the larger 99th percentile; what is beyond falls into the last one.
fn histogram(a: &[Times], b: &[Times]) -> Option<Histogram> {
    const BINS: usize = 24;
    let sorted = |s: &[Times]| {
        let mut v: Vec<f64> = s.iter().flat_map(|t| t.kept().iter().copied()).collect();
        v.sort_unstable_by(f64::total_cmp);
        v
    };
    let (va, vb) = (sorted(a), sorted(b));
    let from_ms = va.first()?.min(*vb.first()?);
    let to = quantile(&va, 0.99)?.max(quantile(&vb, 0.99)?);
    let width_ms = ((to - from_ms) / to_f64(BINS)).max(f64::MIN_POSITIVE);
    let shares = |v: &[f64]| {
        let mut out = vec![0.0; BINS];
        for x in v {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below the first edge")]
            let bin = (((x - from_ms) / width_ms).max(0.0) as usize).min(BINS - 1);
            out[bin] += 1.0 / to_f64(v.len());
        }
        out
    };
    Some(Histogram { from_ms, width_ms, a: shares(&va), b: shares(&vb) })
}
