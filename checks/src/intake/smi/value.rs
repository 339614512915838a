//! Values as the nvidia-smi family prints them: which texts stand for "no value", and numbers with their units.
//!
//! It knows nothing about fields; a number whose unit is missing or foreign is no value.

/// Units that a number may carry, each with the factor to the unit of the fact.
pub(in crate::intake) type Units = &'static [(&'static str, f64)];

/// Old drivers print `MB` and mean MiB.
pub(in crate::intake) const MIB: Units =
    &[("MiB", 1.0), ("MB", 1.0), ("GiB", 1024.0), ("KiB", 1.0 / 1024.0), ("kB", 1.0 / 1024.0)];
pub(in crate::intake) const PCT: Units = &[("%", 1.0)];
pub(in crate::intake) const CELSIUS: Units = &[("C", 1.0), ("°C", 1.0)];
pub(in crate::intake) const WATT: Units = &[("W", 1.0), ("mW", 0.001)];
pub(in crate::intake) const MHZ: Units = &[("MHz", 1.0)];
pub(in crate::intake) const KIB_S: Units = &[("KB/s", 1.0), ("KiB/s", 1.0), ("MB/s", 1024.0), ("MiB/s", 1024.0)];
pub(in crate::intake) const MICROSECONDS: Units = &[("us", 1.0), ("µs", 1.0), ("μs", 1.0), ("ms", 1000.0)];
/// `16x`, or a bare number.
pub(in crate::intake) const LANES: Units = &[("x", 1.0), ("", 1.0)];
pub(in crate::intake) const BANKS: Units = &[("bank(s)", 1.0), ("", 1.0)];
/// A bare number.
pub(in crate::intake) const NONE: Units = &[("", 1.0)];

/// Texts that say that there is no value, in lower case and without square brackets.
const ABSENT: &[&str] = &[
    "",
    "-",
    "n/a",
    "n\\a",
    "err!",
    "unknown",
    "unknown error",
    "not supported",
    "not available",
    "not applicable",
    "not found",
    "function not found",
    "invalid argument",
    "uninitialized",
    "undefined",
    "insufficient permissions",
    "no permission",
    "no permissions",
    "insufficient size",
    "timeout",
    "gpu is lost",
    "gpu requires reset",
    "reset required",
    "in use by another client",
    "deprecated",
];

/// The text without surrounding blanks and square brackets, and without a remark such as `610.62 [Deprecated; …]`.
pub(in crate::intake) fn bare(text: &str) -> &str {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('[') {
        return inner.strip_suffix(']').unwrap_or(inner).trim();
    }
    match text.find(" [") {
        Some(at) if text[at..].to_ascii_lowercase().contains("deprecated") => text[..at].trim_end(),
        _ => text,
    }
}

/// True if the text stands for "no value". A value is never made of it, least of all 0.
pub(in crate::intake) fn is_absent(text: &str) -> bool {
    let bare = bare(text);
    // All texts of the list are short; names and paths need no lower-casing.
    if bare.len() > 64 {
        return false;
    }
    let lower = bare.to_ascii_lowercase();
    ABSENT.contains(&lower.as_str())
        || lower.starts_with("not available in")
        || lower.starts_with("requested functionality")
        || lower.starts_with("err!")
}

/// True if the text says that the GPU does not answer any more.
pub(in crate::intake) fn is_lost(text: &str) -> bool {
    let lower = bare(text).to_ascii_lowercase();
    lower == "gpu is lost" || lower == "gpu requires reset"
}

/// A number with one of the units.
pub(in crate::intake) fn number(text: &str, units: Units) -> Option<f64> {
    if is_absent(text) {
        return None;
    }
    let text = bare(text);
    let end = digits(text);
    let (digits, unit) = (&text[..end], text[end..].trim());
    let factor = units.iter().find(|(u, _)| *u == unit)?.1;
    // Not every text of these characters is a number of ours: no "+5", no "1.".
    if !digits.ends_with(|c: char| c.is_ascii_digit()) || digits.starts_with('+') {
        return None;
    }
    let n: f64 = digits.parse().ok()?;
    Some(n * factor)
}

/// Length of the number that a text begins with, an exponent included.
fn digits(text: &str) -> usize {
    let bytes = text.as_bytes();
    let plain = |from: usize| {
        bytes[from..]
            .iter()
            .position(|b| !(b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+')))
            .map_or(bytes.len(), |p| from + p)
    };
    let end = plain(0);
    match bytes.get(end..) {
        Some([b'e' | b'E', b'+' | b'-' | b'0'..=b'9', ..]) => plain(end + 1),
        _ => end,
    }
}

/// A whole number with one of the units.
pub(in crate::intake) fn whole(text: &str, units: Units) -> Option<i64> {
    let n = number(text, units)?;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and far inside of the range")]
    (n.fract() == 0.0 && n.abs() < 9e15).then_some(n as i64)
}

/// `Yes` or `No`, `Active` or `Not Active`.
pub(in crate::intake) fn yes_no(text: &str) -> Option<bool> {
    match bare(text).to_ascii_lowercase().as_str() {
        "yes" | "active" | "true" => Some(true),
        "no" | "not active" | "false" => Some(false),
        _ => None,
    }
}

/// Text that is a value.
pub(in crate::intake) fn text(text: &str) -> Option<&str> {
    (!is_absent(text)).then(|| bare(text))
}

/// A performance state, `P0` to `P15`.
pub(in crate::intake) fn pstate(text: &str) -> Option<&str> {
    let text = bare(text);
    let n: u8 = text.strip_prefix('P')?.parse().ok()?;
    (n < 16).then_some(text)
}
