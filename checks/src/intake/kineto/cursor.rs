//! A cursor over JSON text that may stop in the middle: every reading either succeeds, asks for more bytes, or says that
//! this is no JSON. Nothing recurses, so that nesting costs no stack.
//!
//! It knows JSON's tokens and is lenient where trace writers are sloppy (bare `N/A`, missing commas); it does not know
//! what an event is.

/// Why a reading stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The text ends before the token does.
    More,
    /// This cannot be read as JSON.
    Bad,
}

pub(super) type Scan<T> = Result<T, Stop>;

/// A string between its quotes, escapes not yet resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Text<'b> {
    pub(super) raw: &'b [u8],
    pub(super) escaped: bool,
}

/// A value that is not an object or array.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scalar<'b> {
    Text(Text<'b>),
    /// A number, `true`, `null`, or whatever else stands there bare.
    Bare(&'b [u8]),
}

impl Scalar<'_> {
    /// A whole number, also in quotes.
    pub(super) fn int(self) -> Option<i64> {
        let (Scalar::Bare(b) | Scalar::Text(Text { raw: b, .. })) = self;
        int(b)
    }
}

/// A position in a piece of text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'b> {
    bytes: &'b [u8],
    pub(super) at: usize,
}

impl<'b> Cursor<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The text between two positions.
    pub(super) fn slice(&self, from: usize, to: usize) -> &'b [u8] {
        &self.bytes[from..to]
    }

    /// Skips white space and commas and shows the next byte.
    #[inline]
    pub(super) fn next(&mut self) -> Scan<u8> {
        while let Some(&b) = self.bytes.get(self.at) {
            if !matches!(b, b' ' | b'\n' | b'\r' | b'\t' | b',') {
                return Ok(b);
            }
            self.at += 1;
        }
        Err(Stop::More)
    }

    /// Takes an expected byte.
    #[inline]
    pub(super) fn take(&mut self, want: u8) -> Scan<()> {
        if self.next()? == want {
            self.at += 1;
            Ok(())
        } else {
            Err(Stop::Bad)
        }
    }

    /// An object's next key, or `None` at its end, which is taken.
    #[inline]
    pub(super) fn key(&mut self) -> Scan<Option<&'b [u8]>> {
        match self.next()? {
            b'"' => {
                let key = self.string()?;
                self.take(b':')?;
                Ok(Some(key.raw))
            }
            b'}' => {
                self.at += 1;
                Ok(None)
            }
            _ => Err(Stop::Bad),
        }
    }

    /// A string; the cursor stands on its opening quote.
    #[inline]
    pub(super) fn string(&mut self) -> Scan<Text<'b>> {
        let start = self.at + 1;
        let mut i = start;
        let mut escaped = false;
        // Most keys and values are short: a plain loop beats a search until it gets long.
        let near = (start + 24).min(self.bytes.len());
        while i < near {
            match self.bytes[i] {
                b'"' => {
                    self.at = i + 1;
                    return Ok(Text { raw: &self.bytes[start..i], escaped });
                }
                b'\\' => {
                    escaped = true;
                    i += 2;
                }
                _ => i += 1,
            }
        }
        loop {
            let rest = self.bytes.get(i..).ok_or(Stop::More)?;
            let hit = i + memchr::memchr2(b'"', b'\\', rest).ok_or(Stop::More)?;
            if self.bytes[hit] == b'"' {
                self.at = hit + 1;
                return Ok(Text { raw: &self.bytes[start..hit], escaped });
            }
            escaped = true;
            i = hit + 2;
        }
    }

    /// A value without inner structure.
    #[inline]
    pub(super) fn scalar(&mut self) -> Scan<Scalar<'b>> {
        match self.next()? {
            b'"' => Ok(Scalar::Text(self.string()?)),
            b'{' | b'[' | b'}' | b']' | b':' => Err(Stop::Bad),
            _ => Ok(Scalar::Bare(self.bare()?)),
        }
    }

    #[inline]
    fn bare(&mut self) -> Scan<&'b [u8]> {
        let start = self.at;
        while let Some(&b) = self.bytes.get(self.at) {
            if matches!(b, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t' | b'"' | b'{' | b'[') {
                return Ok(&self.bytes[start..self.at]);
            }
            self.at += 1;
        }
        Err(Stop::More)
    }

    /// Passes over any value.
    #[inline]
    pub(super) fn skip(&mut self) -> Scan<()> {
        match self.next()? {
            b'"' => self.string().map(|_| ()),
            b'{' | b'[' => self.skip_nested(),
            b'}' | b']' | b':' => Err(Stop::Bad),
            _ => self.bare().map(|_| ()),
        }
    }

    fn skip_nested(&mut self) -> Scan<()> {
        let mut depth = 0usize;
        while let Some(&b) = self.bytes.get(self.at) {
            match b {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return Ok(());
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        Err(Stop::More)
    }
}

/// A whole number; a fraction of zeros is allowed.
pub(super) fn int(b: &[u8]) -> Option<i64> {
    let (neg, digits) = match b {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, b),
    };
    if digits.is_empty() {
        return None;
    }
    let mut v: i64 = 0;
    for (i, d) in digits.iter().enumerate() {
        match d {
            b'0'..=b'9' => v = v.checked_mul(10)?.checked_add(i64::from(d - b'0'))?,
            b'.' if i > 0 && digits[i + 1..].iter().all(|z| *z == b'0') => break,
            _ => return None,
        }
    }
    Some(if neg { -v } else { v })
}

/// A decimal number of units as thousandths, rounded: µs → ns. `None` for anything that is not a finite number or does
/// not fit.
#[inline]
pub(super) fn thousandths(b: &[u8]) -> Option<i64> {
    let (neg, digits) = match b {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, b),
    };
    let mut whole: i64 = 0;
    let mut i = 0;
    while let Some(d @ b'0'..=b'9') = digits.get(i) {
        if i >= 16 {
            return slow(b);
        }
        whole = whole * 10 + i64::from(d - b'0');
        i += 1;
    }
    if i == 0 {
        return None;
    }
    let mut frac: i64 = 0;
    match digits.get(i) {
        None => {}
        Some(b'.') => {
            let places = &digits[i + 1..];
            for p in 0..4 {
                match places.get(p) {
                    Some(d @ b'0'..=b'9') => frac = frac * 10 + i64::from(d - b'0'),
                    None => frac *= 10,
                    Some(_) => return slow(b),
                }
            }
            if !places.iter().skip(4).all(u8::is_ascii_digit) {
                return slow(b);
            }
            frac = (frac + 5) / 10;
        }
        Some(_) => return slow(b),
    }
    let v = whole.checked_mul(1000)?.checked_add(frac)?;
    Some(if neg { -v } else { v })
}

/// Exponents and very long numbers.
#[cold]
fn slow(b: &[u8]) -> Option<i64> {
    let v: f64 = std::str::from_utf8(b).ok()?.parse().ok()?;
    let ns = (v * 1000.0).round();
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    (ns.is_finite() && ns.abs() < 9.0e18).then_some(ns as i64)
}

/// Passes over one value of any size, block by block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Skipper {
    depth: u64,
    in_string: bool,
    escape: bool,
    started: bool,
}

impl Skipper {
    /// Bytes of `block` that belong to the value; the flag says that the value ends there.
    pub(super) fn feed(&mut self, block: &[u8]) -> (usize, bool) {
        for (i, &b) in block.iter().enumerate() {
            if self.in_string {
                match b {
                    _ if self.escape => self.escape = false,
                    b'\\' => self.escape = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return (i + 1, true);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match b {
                b'"' => (self.in_string, self.started) = (true, true),
                b'{' | b'[' => (self.depth, self.started) = (self.depth + 1, true),
                // The end of what surrounds a bare value.
                b'}' | b']' if self.depth == 0 => return (i, true),
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return (i + 1, true);
                    }
                }
                b',' if self.depth == 0 && self.started => return (i, true),
                b' ' | b'\n' | b'\r' | b'\t' => {}
                _ => self.started = true,
            }
        }
        (block.len(), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_become_nanoseconds() {
        assert_eq!(thousandths(b"5233675499352.478"), Some(5_233_675_499_352_478));
        assert_eq!(thousandths(b"19"), Some(19_000));
        assert_eq!(thousandths(b"-1.5"), Some(-1500));
        assert_eq!(thousandths(b"1.2345"), Some(1235), "rounded at the fourth place");
        assert_eq!(thousandths(b"1.5e3"), Some(1_500_000));
        assert_eq!(thousandths(b"NaN"), None);
        assert_eq!(thousandths(b"Infinity"), None);
        assert_eq!(thousandths(b"1e300"), None);
        assert_eq!(thousandths(b""), None);
    }

    #[test]
    fn a_cut_value_asks_for_more() {
        for cut in [&b"{\"a\": [1, {\"b\": \"x"[..], b"{\"a\"", b"\"abc\\", b"   "] {
            assert_eq!(Cursor::new(cut).skip(), Err(Stop::More), "{}", String::from_utf8_lossy(cut));
        }
    }

    #[test]
    fn the_skipper_agrees_with_the_cursor() {
        let text = br#"{"a": "}\"]", "b": [1, {"c": "\\"}]}, 7"#;
        let mut c = Cursor::new(text);
        assert_eq!(c.skip(), Ok(()));
        for block in 1..text.len() {
            let mut s = Skipper::default();
            let mut used = 0;
            for b in text.chunks(block) {
                let (n, end) = s.feed(b);
                used += n;
                if end {
                    break;
                }
            }
            assert_eq!(used, c.at, "in blocks of {block}");
        }
    }
}
