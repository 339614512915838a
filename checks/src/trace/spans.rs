//! Interval algebra: sorted lists of spans that do not touch, in nanoseconds, half open.
//!
//! Every operation is linear in its inputs. It knows nothing of what the spans mean.

/// Start and end, start < end.
pub type Span = (i64, i64);

/// The union of any spans; empty and inverted ones vanish.
#[must_use]
pub fn union(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|s| s.0 < s.1);
    if !spans.is_sorted() {
        spans.sort_unstable();
    }
    let mut out: Vec<Span> = Vec::with_capacity(spans.len().min(1 << 20));
    for s in spans {
        match out.last_mut() {
            Some(last) if s.0 <= last.1 => last.1 = last.1.max(s.1),
            _ => out.push(s),
        }
    }
    out.shrink_to_fit();
    out
}

/// `a` without `b`.
#[must_use]
pub fn subtract(a: &[Span], b: &[Span]) -> Vec<Span> {
    let mut out = Vec::with_capacity(a.len());
    let mut j = 0;
    for &(mut start, end) in a {
        while b.get(j).is_some_and(|s| s.1 <= start) {
            j += 1;
        }
        let mut k = j;
        while let Some(&(bs, be)) = b.get(k).filter(|s| s.0 < end) {
            if bs > start {
                out.push((start, bs));
            }
            start = start.max(be);
            k += 1;
        }
        if start < end {
            out.push((start, end));
        }
    }
    out
}

/// What `a` and `b` share.
#[must_use]
pub fn intersect(a: &[Span], b: &[Span]) -> Vec<Span> {
    let mut out = Vec::new();
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let (start, end) = (x.0.max(y.0), x.1.min(y.1));
        if start < end {
            out.push((start, end));
        }
        if x.1 < y.1 { i += 1 } else { j += 1 }
    }
    out
}

/// Nanoseconds in all.
#[must_use]
pub fn total(spans: &[Span]) -> i64 {
    spans.iter().map(|s| s.1 - s.0).sum()
}

/// The part of the spans within a window.
#[must_use]
pub fn clip(spans: &[Span], window: Span) -> Vec<Span> {
    let first = spans.partition_point(|s| s.1 <= window.0);
    spans[first..]
        .iter()
        .take_while(|s| s.0 < window.1)
        .map(|s| (s.0.max(window.0), s.1.min(window.1)))
        .filter(|s| s.0 < s.1)
        .collect()
}

/// Nanoseconds that the spans have within a window.
#[must_use]
pub fn within(spans: &[Span], window: Span) -> i64 {
    let first = spans.partition_point(|s| s.1 <= window.0);
    spans[first..].iter().take_while(|s| s.0 < window.1).map(|s| s.1.min(window.1) - s.0.max(window.0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        proptest::collection::vec((0i64..60, -3i64..20).prop_map(|(s, d)| (s, s + d)), 0..20)
    }

    fn has(spans: &[Span], t: i64) -> bool {
        spans.iter().any(|s| s.0 <= t && t < s.1)
    }

    proptest! {
        #[test]
        fn the_algebra_agrees_with_membership(a in spans(), b in spans()) {
            let (ua, ub) = (union(a.clone()), union(b.clone()));
            let (minus, both) = (subtract(&ua, &ub), intersect(&ua, &ub));
            for t in -5..100 {
                prop_assert_eq!(has(&ua, t), has(&a, t));
                prop_assert_eq!(has(&minus, t), has(&a, t) && !has(&b, t));
                prop_assert_eq!(has(&both, t), has(&a, t) && has(&b, t));
            }
            prop_assert_eq!(total(&minus) + total(&both), total(&ua));
            prop_assert_eq!(within(&ua, (10, 30)), total(&clip(&ua, (10, 30))));
        }
    }
}
