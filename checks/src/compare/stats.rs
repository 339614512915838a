//! The statistics of a comparison: medians, order-statistic intervals, a moving-block bootstrap of ratios, and the
//! Mann-Whitney test for repeated runs.
//!
//! Everything is deterministic: the random numbers are seeded from the order of the data, so that the same two runs give
//! the same interval, whichever side they stand on and whatever unit their times are in. It does not know what a step is.

/// Bootstrap resamples (layers-4-6 §5.6: 2000).
const RESAMPLES: usize = 2000;
/// Most blocks a side is cut into: long runs get longer blocks, which is conservative and keeps the cost flat.
const MAX_BLOCKS: usize = 400;
/// Up to this many values the median of a resample is taken exactly; above, from fine bins.
const EXACT_MEDIAN: usize = 500;
/// Bins of the approximate median.
const BINS: usize = 512;

/// Median of values in any order; `None` if there are none.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut v = values.to_vec();
    median_of(&mut v)
}

fn median_of(v: &mut [f64]) -> Option<f64> {
    if v.is_empty() {
        return None;
    }
    let mid = v.len() / 2;
    let hi = *v.select_nth_unstable_by(mid, f64::total_cmp).1;
    if !v.len().is_multiple_of(2) {
        return Some(hi);
    }
    let lo = v[..mid].iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(f64::midpoint(lo, hi))
}

/// Mean; `None` if there are no values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / to_f64(values.len()))
}

/// The 95 % interval of the median by order statistics (normal approximation of the binomial; needs six values).
#[must_use]
pub fn median_interval(sorted: &[f64]) -> Option<(f64, f64)> {
    let n = sorted.len();
    if n < 6 {
        return None;
    }
    let (half, spread) = (to_f64(n) / 2.0, 1.96 * to_f64(n).sqrt() / 2.0);
    let lo = to_index(half - spread).min(n - 1);
    let hi = to_index((half + spread).ceil()).min(n - 1);
    Some((sorted[lo], sorted[hi]))
}

/// A value at a share of a sorted list, by linear interpolation.
#[must_use]
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = q.clamp(0.0, 1.0) * to_f64(last);
    let (i, part) = (to_index(at), at.fract());
    let next = sorted[(i + 1).min(last)];
    Some(sorted[i] + (next - sorted[i]) * part)
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Point estimate.
    pub value: f64,
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

impl Ratio {
    /// The interval does not hold 1.
    #[must_use]
    pub fn excludes_one(&self) -> bool {
        self.lo > 1.0 || self.hi < 1.0
    }

    /// Half the interval's width in per cent of the value: the smallest change that this data could have shown.
    #[must_use]
    pub fn half_width_pct(&self) -> f64 {
        (self.hi / self.value).max(self.value / self.lo).max(1.0).mul_add(100.0, -100.0)
    }
}

/// Ratios a/b of means and of medians, each with a moving-block bootstrap interval of the given level.
///
/// Blocks keep neighbouring steps together, because step times are autocorrelated and a plain bootstrap's intervals come
/// out too narrow. Both sides must be non-empty and positive.
#[must_use]
pub fn ratios(a: &[f64], b: &[f64], block: usize, level: f64) -> Option<(Ratio, Ratio)> {
    let (seed_a, mut seed_b) = (seed(a), seed(b));
    if seed_a == seed_b {
        seed_b ^= 0x9e37_79b9_7f4a_7c15;
    }
    let (mean_a, med_a) = resample(a, block, seed_a)?;
    let (mean_b, med_b) = resample(b, block, seed_b)?;
    let of = |x: f64, y: f64, xs: &[f64], ys: &[f64]| {
        let mut r: Vec<f64> = xs.iter().zip(ys).map(|(x, y)| x / y).collect();
        r.sort_by(f64::total_cmp);
        let cut = to_index(to_f64(r.len()) * (1.0 - level) / 2.0);
        Ratio { value: x / y, lo: r[cut].min(x / y), hi: r[r.len() - 1 - cut].max(x / y) }
    };
    let means = of(mean(a)?, mean(b)?, &mean_a, &mean_b);
    let medians = of(median(a)?, median(b)?, &med_a, &med_b);
    Some((means, medians))
}

/// Means and medians of moving-block resamples.
fn resample(v: &[f64], block: usize, seed: u64) -> Option<(Vec<f64>, Vec<f64>)> {
    let n = v.len();
    if n == 0 {
        return None;
    }
    let block = block.max(n.div_ceil(MAX_BLOCKS)).clamp(1, n);
    let blocks = n.div_ceil(block);
    let starts = n - block + 1;
    let mut sums = Vec::with_capacity(n + 1);
    sums.push(0.0);
    for x in v {
        sums.push(sums[sums.len() - 1] + x);
    }
    let mut rng = Rng(seed);
    let bins = (n > EXACT_MEDIAN).then(|| Bins::new(v, block));
    let mut means = Vec::with_capacity(RESAMPLES);
    let mut medians = Vec::with_capacity(RESAMPLES);
    let mut drawn = Vec::with_capacity(blocks * block);
    let mut counts = vec![0u32; BINS];
    for _ in 0..RESAMPLES {
        let mut sum = 0.0;
        drawn.clear();
        counts.fill(0);
        for _ in 0..blocks {
            match &bins {
                None => {
                    let s = rng.below(starts);
                    sum += sums[s + block] - sums[s];
                    drawn.extend_from_slice(&v[s..s + block]);
                }
                // Long runs draw from fixed blocks with counted bins: the last, short block is left out.
                Some(b) => {
                    let k = rng.below(b.per_block.len());
                    let s = k * block;
                    sum += sums[s + block] - sums[s];
                    for (c, add) in counts.iter_mut().zip(&b.per_block[k]) {
                        *c += add;
                    }
                }
            }
        }
        means.push(sum / to_f64(blocks * block));
        medians.push(match &bins {
            None => median_of(&mut drawn)?,
            Some(b) => b.median(&counts),
        });
    }
    Some((means, medians))
}

/// Values counted in bins between the 1st and 99th percentile, block by block.
struct Bins {
    lo: f64,
    width: f64,
    per_block: Vec<Vec<u32>>,
}

impl Bins {
    fn new(v: &[f64], block: usize) -> Self {
        let mut sorted = v.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let lo = quantile(&sorted, 0.01).unwrap_or(0.0);
        let hi = quantile(&sorted, 0.99).unwrap_or(1.0);
        let width = ((hi - lo) / to_f64(BINS - 2)).max(f64::MIN_POSITIVE);
        let bin = |x: f64| {
            if x < lo { 0 } else { (to_index((x - lo) / width) + 1).min(BINS - 1) }
        };
        let per_block = v
            .chunks_exact(block)
            .map(|c| {
                let mut counts = vec![0u32; BINS];
                for x in c {
                    counts[bin(*x)] += 1;
                }
                counts
            })
            .collect();
        Self { lo, width, per_block }
    }

    fn median(&self, counts: &[u32]) -> f64 {
        let half = f64::from(counts.iter().sum::<u32>()) / 2.0;
        let mut below = 0.0;
        for (i, c) in counts.iter().enumerate() {
            let c = f64::from(*c);
            if c > 0.0 && below + c >= half {
                return self.lo + self.width * (to_f64(i) - 1.0 + (half - below) / c);
            }
            below += c;
        }
        self.lo
    }
}

/// Two-sided exact p-value of the Mann-Whitney U test for small samples without many ties.
#[must_use]
pub fn mann_whitney_p(a: &[f64], b: &[f64]) -> Option<f64> {
    let (n, m) = (a.len(), b.len());
    if n == 0 || m == 0 || n * m > 10_000 {
        return None;
    }
    // 2U, so that ties (which count one half) stay whole numbers.
    let u2: usize = a
        .iter()
        .map(|x| {
            b.iter()
                .map(|y| {
                    if x < y {
                        0
                    } else if x > y {
                        2
                    } else {
                        1
                    }
                })
                .sum::<usize>()
        })
        .sum();
    let max = n * m;
    // ways[i][j][u]: orderings of i and j values with U = u, rolled up over i.
    let mut ways = vec![vec![0.0f64; max + 1]; m + 1];
    for row in &mut ways {
        row[0] = 1.0;
    }
    for _ in 1..=n {
        let mut next = vec![vec![0.0f64; max + 1]; m + 1];
        next[0][0] = 1.0;
        for j in 1..=m {
            for u in 0..=max {
                // The largest value is of the second side (adds nothing to U), or of the first (adds j).
                next[j][u] = next[j - 1][u] + if u >= j { ways[j][u - j] } else { 0.0 };
            }
        }
        ways = next;
    }
    let total: f64 = ways[m].iter().sum();
    let far = u2.min(2 * max - u2);
    let tail: f64 = ways[m].iter().enumerate().filter(|(u, _)| 2 * u <= far).map(|(_, w)| w).sum();
    Some((2.0 * tail / total).min(1.0))
}

/// Hodges-Lehmann estimate of the ratio a/b: the median of all pairwise ratios.
#[must_use]
pub fn hodges_lehmann(a: &[f64], b: &[f64]) -> Option<f64> {
    let all: Vec<f64> = a.iter().flat_map(|x| b.iter().map(move |y| x / y)).collect();
    median(&all)
}

/// A seed from the ups and downs of the values: the same for the same data in any unit.
fn seed(v: &[f64]) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325_u64 ^ (v.len() as u64);
    for w in v.windows(2) {
        h = (h ^ u64::from(w[1] > w[0])).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
    }
    h
}

/// `SplitMix64` (Steele, Lea, Flood 2014): small, seedable, good enough to draw blocks.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "the product's high half is below n")]
        let k = ((u128::from(self.next()) * n as u128) >> 64) as usize;
        k
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) fn to_f64(n: usize) -> f64 {
    n as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to non-negative, far below 2^53")]
fn to_index(x: f64) -> usize {
    x.max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_even_and_odd_lists() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn three_against_three_cannot_reach_five_per_cent_and_four_against_four_can() {
        let p3 = mann_whitney_p(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]);
        let p4 = mann_whitney_p(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]);
        assert!((p3.unwrap_or(0.0) - 0.1).abs() < 1e-12, "{p3:?}");
        assert!((p4.unwrap_or(0.0) - 2.0 / 70.0).abs() < 1e-12, "{p4:?}");
        assert_eq!(mann_whitney_p(&[1.0, 2.0], &[1.0, 2.0]), Some(1.0));
    }

    #[test]
    fn the_interval_of_a_constant_ratio_is_that_ratio() {
        let (mean, median) =
            ratios(&[20.0; 40], &[10.0; 50], 10, 0.95).unwrap_or_else(|| panic!("both sides have values"));
        for r in [mean, median] {
            assert!((r.value - 2.0).abs() < 1e-9 && (r.lo - 2.0).abs() < 1e-9 && (r.hi - 2.0).abs() < 1e-9, "{r:?}");
        }
    }
}
