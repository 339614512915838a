//! Numbers, times and sizes as people read them: one rule for all pages.
//!
//! It knows no clock (`now_ms` comes with the page's data) and no domain; it turns one value into one text.

use jiff::Timestamp;

/// Space that does not break, between a number and its unit.
const NB: char = '\u{a0}';
/// Beyond this a factor says only that nearly all of the time can come back.
const MAX_FACTOR: f64 = 1000.0;
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// A number with thousands separated and a fixed number of decimals: `1,009.4`.
#[must_use]
pub(crate) fn num(v: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", v.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::with_capacity(text.len() + 4);
    if v < 0.0 && text.bytes().any(|b| b.is_ascii_digit() && b != b'0') {
        out.push('−');
    }
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out.push_str(rest);
    out
}

/// A count: `1,024`.
#[must_use]
pub(crate) fn count(n: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "counts shown on a page are far below 2^53")]
    num(n as f64, 0)
}

/// "1 check", "2 checks".
#[must_use]
pub(crate) fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{}{NB}{}", count(n), if n == 1 { one } else { many })
}

/// Milliseconds with one decimal: `849.7 ms`.
#[must_use]
pub(crate) fn ms(v: f64) -> String {
    format!("{}{NB}ms", num(v, 1))
}

/// Milliseconds of a whole step: two decimals below 20 ms, where one would hide a difference.
#[must_use]
pub(crate) fn ms_fine(v: f64) -> String {
    format!("{}{NB}ms", num(v, if v < 20.0 { 2 } else { 1 }))
}

/// Percent with one decimal; what is above nothing but rounds to nothing reads `< 0.1 %`.
#[must_use]
pub(crate) fn pct(v: f64) -> String {
    if v > 0.0 && v < 0.05 { format!("<{NB}0.1{NB}%") } else { format!("{}{NB}%", num(v, 1)) }
}

/// Percent without decimals, for sentences and dense rows.
#[must_use]
pub(crate) fn pct0(v: f64) -> String {
    format!("{}{NB}%", num(v, 0))
}

/// How many times faster at most, from the share of time that can come back: two decimals below 3, one below 10.
#[must_use]
pub(crate) fn factor(recoverable_share: f64) -> String {
    let f = 1.0 / (1.0 - recoverable_share.clamp(0.0, 1.0));
    if f > MAX_FACTOR {
        return format!("over{NB}{}×", num(MAX_FACTOR, 0));
    }
    let decimals = if f < 3.0 {
        2
    } else if f < 10.0 {
        1
    } else {
        0
    };
    format!("{}×", num(f, decimals))
}

/// Bytes in decimal units: `61 kB`.
#[must_use]
pub(crate) fn bytes(n: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "rounded to two digits")]
    let mut v = n as f64;
    let mut unit = "B";
    for next in ["kB", "MB", "GB", "TB"] {
        if v < 999.5 {
            break;
        }
        v /= 1000.0;
        unit = next;
    }
    let decimals = usize::from(unit != "B" && v < 9.95);
    format!("{}{NB}{unit}", num(v, decimals))
}

/// How long something takes: `10 s`, `5 min`.
#[must_use]
pub(crate) fn seconds(s: u32) -> String {
    if s < 120 { format!("{s}{NB}s") } else { format!("{}{NB}min", s.div_ceil(60)) }
}

/// Age of a moment below a day, its date above: `20 s`, `2 min`, `3 h`, `24 Oct`. A moment ahead of `now_ms` (a node
/// whose clock is wrong) is shown as a date.
#[must_use]
pub(crate) fn age(now_ms: i64, then_ms: i64) -> String {
    let d = now_ms - then_ms;
    match d {
        0..MINUTE_MS => format!("{}{NB}s", d / 1000),
        MINUTE_MS..HOUR_MS => format!("{}{NB}min", d / MINUTE_MS),
        HOUR_MS..DAY_MS => format!("{}{NB}h", d / HOUR_MS),
        _ => stamp(then_ms, "%-d %b"),
    }
}

/// A moment in full, in UTC: `1 Dec 2026, 01:28 UTC`.
#[must_use]
pub(crate) fn moment(then_ms: i64) -> String {
    stamp(then_ms, "%-d %b %Y, %H:%M UTC")
}

/// A moment for machines: `2026-12-01T01:28:07Z`.
#[must_use]
pub(crate) fn iso(then_ms: i64) -> String {
    stamp(then_ms, "%Y-%m-%dT%H:%M:%SZ")
}

/// Text of an input as it can be shown: control characters as their pictures, marks that turn the direction of text as
/// their code, so that a line can neither hide nor reorder anything.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push(c),
            '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + u32::from(c))),
            '\u{7f}' => out.push('\u{2421}'),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.push_str(&format!("[U+{:04X}]", u32::from(c)));
            }
            _ => out.push(c),
        }
    }
    out
}

/// Text that is written into a document outside of the view macro, which escapes by itself.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn stamp(then_ms: i64, format: &str) -> String {
    match Timestamp::from_millisecond(then_ms) {
        Ok(t) => t.strftime(format).to_string(),
        Err(_) => "unknown time".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_keep_their_decimals() {
        assert_eq!(num(1009.44, 1), "1,009.4");
        assert_eq!(num(999.0, 0), "999");
        assert_eq!(num(1_234_567.0, 0), "1,234,567");
        assert_eq!(num(-0.04, 1), "0.0");
        assert_eq!(num(-1234.5, 1), "−1,234.5");
    }

    #[test]
    fn factors_lose_decimals_as_they_grow() {
        assert_eq!(factor(0.02), "1.02×");
        assert_eq!(factor(0.6875), "3.2×");
        assert_eq!(factor(0.966), "29×");
        assert_eq!(factor(1.0), "over\u{a0}1,000×");
    }

    #[test]
    fn ages_turn_into_dates_after_a_day() {
        let now = 1_796_090_887_000;
        assert_eq!(age(now, now - 20_000), "20\u{a0}s");
        assert_eq!(age(now, now - 120_000), "2\u{a0}min");
        assert_eq!(age(now, now - 3 * HOUR_MS), "3\u{a0}h");
        assert_eq!(age(now, now - 4 * DAY_MS), "27 Nov");
        assert_eq!(age(now, now + HOUR_MS), "1 Dec");
        assert_eq!(moment(now), "1 Dec 2026, 02:08 UTC");
    }

    #[test]
    fn control_characters_are_seen() {
        assert_eq!(visible("a\u{1b}[31mb\tc\u{202e}d"), "a\u{241b}[31mb\tc[U+202E]d");
    }

    #[test]
    fn small_shares_are_not_rounded_to_nothing() {
        assert_eq!(pct(0.02), "<\u{a0}0.1\u{a0}%");
        assert_eq!(pct(0.0), "0.0\u{a0}%");
        assert_eq!(pct(96.599), "96.6\u{a0}%");
        assert_eq!(bytes(61_440), "61\u{a0}kB");
        assert_eq!(bytes(1_100_000), "1.1\u{a0}MB");
        assert_eq!(bytes(12), "12\u{a0}B");
    }
}
