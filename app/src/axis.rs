//! Scales and ticks of a time axis, for the server's charts and for their zoom in the browser. Pure; it knows no markup.

/// The smallest of 1, 1.5, 2, 2.5, 4, 5, 8 × 10ⁿ that is not below `v`: the upper end of a scale, or a step of one.
pub(crate) fn nice_max(v: f64) -> f64 {
    if v <= 0.0 || !v.is_finite() {
        return 1.0;
    }
    let base = 10f64.powf(v.log10().floor());
    let steps = [1.0, 1.5, 2.0, 2.5, 4.0, 5.0, 8.0, 10.0];
    steps.iter().map(|s| s * base).find(|s| *s >= v * (1.0 - 1e-9)).unwrap_or(10.0 * base)
}

/// Marks of a stretch of the axis: about six, at round times, each as milliseconds and label. The last one is its end.
pub(crate) fn ticks(from_ms: f64, to_ms: f64) -> Vec<(f64, String)> {
    let span_ms = (to_ms - from_ms).max(f64::MIN_POSITIVE);
    let (unit, name) = unit(to_ms);
    let step = nice_max(span_ms / unit / 6.0);
    let decimals = decimals(step);
    let label = |v: f64, d: usize| format!("{v:.d$}\u{a0}{name}");
    let mut out = Vec::new();
    let mut n = (from_ms / unit / step).ceil();
    // A mark right before the end would run into the end's label.
    while n * step < to_ms / unit - step * 0.4 {
        out.push((n * step * unit, label(n * step, decimals)));
        n += 1.0;
    }
    out.push((to_ms, label(to_ms / unit, if unit > 1.0 { decimals.max(2) } else { decimals })));
    out
}

/// A moment on the axis with the unit that fits the axis' length.
pub(crate) fn moment(ms: f64, span_ms: f64) -> String {
    let (unit, name) = unit(span_ms);
    let digits = if unit > 1.0 { 2 } else { 0 };
    format!("{:.digits$}\u{a0}{name}", ms / unit)
}

fn unit(ms: f64) -> (f64, &'static str) {
    match ms {
        v if v < 1_000.0 => (1.0, "ms"),
        v if v < 180_000.0 => (1_000.0, "s"),
        v if v < 10_800_000.0 => (60_000.0, "min"),
        _ => (3_600_000.0, "h"),
    }
}

fn decimals(step: f64) -> usize {
    (0..4).find(|d| (step * 10f64.powi(*d) - (step * 10f64.powi(*d)).round()).abs() < 1e-6).unwrap_or(4) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from: f64, to: f64) -> Vec<String> {
        ticks(from, to).into_iter().map(|t| t.1.replace('\u{a0}', " ")).collect()
    }

    #[test]
    fn scales_end_at_round_numbers() {
        assert_eq!([0.0, 876.8, 700.0, 137.0, 0.22].map(nice_max), [1.0, 1000.0, 800.0, 150.0, 0.25]);
    }

    #[test]
    fn the_axis_ends_with_the_recording() {
        assert_eq!(labels(0.0, 2550.0), ["0.0 s", "0.5 s", "1.0 s", "1.5 s", "2.0 s", "2.55 s"]);
        assert_eq!(labels(0.0, 48.0), ["0 ms", "8 ms", "16 ms", "24 ms", "32 ms", "40 ms", "48 ms"]);
    }

    #[test]
    fn a_part_of_the_axis_begins_at_a_round_time() {
        assert_eq!(labels(1030.0, 1330.0), ["1.05 s", "1.10 s", "1.15 s", "1.20 s", "1.25 s", "1.30 s", "1.33 s"]);
        assert_eq!(moment(1234.0, 2550.0), "1.23\u{a0}s");
    }
}
