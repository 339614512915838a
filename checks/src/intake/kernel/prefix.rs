//! The front of a kernel log line: time, facility, host and whatever else stands before the message, in every style that
//! `dmesg`, `/dev/kmsg`, journald and syslog write.
//!
//! It does not know what messages mean.

/// A line taken apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line<'t> {
    /// Seconds since boot, where the line carries them.
    pub(super) since_boot_s: Option<f64>,
    /// Host, where a syslog or journal prefix names it.
    pub(super) host: Option<&'t str>,
    /// Something was recognised as a kernel log prefix.
    pub(super) prefixed: bool,
    /// Second of the day of a wall time in front, as syslog and journald write it: such logs can hold several boots.
    pub(super) clock_s: Option<f64>,
    /// The message.
    pub(super) message: &'t str,
}

/// Takes the prefixes off one by one until nothing more is recognised.
pub(super) fn parse(line: &str) -> Line<'_> {
    let mut out = Line { since_boot_s: None, host: None, prefixed: false, clock_s: None, message: line.trim() };
    // Real lines carry at most: priority, facility, wall time with host, boot time, caller.
    for _ in 0..8 {
        let m = out.message;
        let next = if let Some(rest) = quote(m) {
            rest
        } else if let Some(rest) = priority(m).or_else(|| facility(m)) {
            out.prefixed = true;
            rest
        } else if let Some((secs, rest)) = kmsg(m).or_else(|| bracket(m)) {
            out.prefixed = true;
            out.since_boot_s = out.since_boot_s.or(secs);
            rest
        } else if let Some((clock, host, rest)) = wall(m) {
            out.prefixed = true;
            out.clock_s = out.clock_s.or(Some(clock));
            out.host = out.host.or(host);
            rest
        } else if let Some(rest) = m.strip_prefix("kernel: ").or_else(|| m.strip_prefix("kernel:")) {
            out.prefixed = true;
            rest
        } else {
            break;
        };
        out.message = next.trim_start();
    }
    out
}

/// Mail quoting.
fn quote(m: &str) -> Option<&str> {
    m.strip_prefix("> ").or_else(|| m.strip_prefix(">["))
}

/// `<6>` of `dmesg --raw`.
fn priority(m: &str) -> Option<&str> {
    let (digits, rest) = m.strip_prefix('<')?.split_once('>')?;
    (!digits.is_empty() && digits.len() <= 3 && digits.bytes().all(|b| b.is_ascii_digit())).then_some(rest)
}

/// `kern  :warn  : ` of `dmesg --decode`, `syslog:err : `.
fn facility(m: &str) -> Option<&str> {
    const FACILITIES: &[&str] =
        &["kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "cron", "authpriv"];
    const LEVELS: &[&str] = &["emerg", "alert", "crit", "err", "warn", "notice", "info", "debug"];
    // The longest facility, padded: anything else is told by its first bytes.
    let front = &m.as_bytes()[..m.len().min(12)];
    if !front.first()?.is_ascii_lowercase() || !front.contains(&b':') {
        return None;
    }
    let mut fields = m.splitn(3, ':');
    let (facility, level, rest) = (fields.next()?, fields.next()?, fields.next()?);
    let known = |list: &[&str], word: &str| list.contains(&word.trim());
    (known(FACILITIES, facility) && known(LEVELS, level)).then_some(rest)
}

/// `6,3964,12345,-;` of `/dev/kmsg`: priority, sequence number, microseconds, flags.
fn kmsg(m: &str) -> Option<(Option<f64>, &str)> {
    if !m.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    let (head, rest) = m.split_once(';')?;
    let mut fields = head.split(',');
    let (priority, sequence, usec) = (fields.next()?, fields.next()?, fields.next()?);
    fields.next()?;
    priority.parse::<u32>().ok()?;
    sequence.parse::<u64>().ok()?;
    let usec: u64 = usec.parse().ok()?;
    #[expect(clippy::cast_precision_loss, reason = "microseconds since boot are far below 2^53")]
    Some((Some(usec as f64 / 1e6), rest))
}

/// `[   12.345678]`, `[Mon Jan  1 00:00:00 2025]`, `[  +0.000010]`, `[ T1234]`: what stands in brackets before a message.
fn bracket(m: &str) -> Option<(Option<f64>, &str)> {
    let (inside, rest) = m.strip_prefix('[')?.split_once(']')?;
    let inside = inside.trim();
    // `dmesg --show-delta` writes the time and, in angle brackets, the delta.
    let time = inside.split_once('<').map_or(inside, |(t, _)| t.trim());
    if is_seconds(time) {
        return Some((time.parse().ok(), rest));
    }
    let caller =
        inside.strip_prefix(['T', 'C']).is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
    let delta = inside.strip_prefix(['+', '-']).is_some_and(|d| is_seconds(d.trim()));
    (caller || delta || holds_clock(inside)).then_some((None, rest))
}

/// Digits, a point, digits.
fn is_seconds(s: &str) -> bool {
    let digits = |p: &str| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit());
    s.split_once('.').is_some_and(|(a, b)| digits(a) && digits(b))
}

/// True if the text is a date with a clock time, as `dmesg -T` and `-e` write it in any language.
fn holds_clock(s: &str) -> bool {
    s.len() <= 48 && s.split([' ', 'T']).any(is_clock)
}

/// `hh:mm` or `hh:mm:ss`, with or without a fraction.
fn is_clock(word: &str) -> bool {
    let b = word.as_bytes();
    b.len() >= 5
        && b[0].is_ascii_digit()
        && b[1].is_ascii_digit()
        && b[2] == b':'
        && b[3].is_ascii_digit()
        && b[4].is_ascii_digit()
        && b[5..].iter().all(|c| c.is_ascii_digit() || matches!(c, b':' | b'.' | b','))
}

/// Seconds since midnight of `hh:mm:ss`, with or without a fraction.
fn second_of_day(clock: &str) -> Option<f64> {
    let mut fields = clock.split(':');
    let (h, m, s) = (fields.next()?, fields.next()?, fields.next().unwrap_or("0"));
    Some(h.parse::<f64>().ok()? * 3600.0 + m.parse::<f64>().ok()? * 60.0 + s.replace(',', ".").parse::<f64>().ok()?)
}

/// Wall time of syslog or journald, with host and `kernel:` behind it: `Jan  1 00:00:00 host kernel: `, an ISO time, or
/// a localised month. A host is only taken where a program name and a colon follow.
fn wall(m: &str) -> Option<(f64, Option<&str>, &str)> {
    let (clock, after) = iso(m).or_else(|| date(m))?;
    let (clock, after) = (second_of_day(clock)?, after.trim_start());
    // `host program[pid]: message`; `dmesg --time-format iso` has neither host nor program.
    let mut words = after.splitn(3, ' ');
    let (host, program) = (words.next()?, words.next().unwrap_or(""));
    if program.starts_with("kernel") && program.ends_with(':') && is_host(host) {
        let at = after.len() - words.next().unwrap_or("").len();
        return Some((clock, Some(host), &after[at..]));
    }
    Some((clock, None, after))
}

fn is_host(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'))
}

/// Clock and rest of `2025-01-21T04:41:44,285060+00:00 …` or `2025-01-21 04:41:44.285 …`.
fn iso(m: &str) -> Option<(&str, &str)> {
    let b = m.as_bytes();
    let digit = |i: usize| b.get(i).is_some_and(u8::is_ascii_digit);
    let date = (0..4).all(digit) && b.get(4) == Some(&b'-') && digit(5) && b.get(7) == Some(&b'-') && digit(8);
    if !date || !matches!(b.get(10), Some(b'T' | b' ')) {
        return None;
    }
    let (clock, rest) = m.get(11..)?.split_once(' ').unwrap_or((m.get(11..)?, ""));
    let bare = clock.find(['+', '-', 'Z']).map_or(clock, |at| &clock[..at]);
    is_clock(bare).then_some((bare, rest))
}

/// Clock and rest of `Jan  1 00:00:00 …`, `9月 23 11:52:49 …`, `Mon 2025-01-01 00:00:00 UTC …`.
fn date(m: &str) -> Option<(&str, &str)> {
    let mut rest = m;
    for _ in 0..4 {
        let (word, tail) = rest.split_once(' ')?;
        if is_clock(word) {
            // A zone name may follow: capitals only, as in `UTC`.
            let zone = tail.split(' ').next().unwrap_or("");
            let is_zone = (3..=5).contains(&zone.len()) && zone.bytes().all(|b| b.is_ascii_uppercase());
            return Some((word, if is_zone { tail[zone.len()..].trim_start() } else { tail }));
        }
        let date_like =
            word.chars().count() <= 10 && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '/'));
        if !date_like {
            return None;
        }
        rest = tail.trim_start();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_style_leaves_the_message() {
        let message = "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.";
        let styles: &[(&str, Option<f64>, Option<&str>)] = &[
            ("[   12.345678] ", Some(12.345_678), None),
            ("[9876543.210000] ", Some(9_876_543.21), None),
            ("[   12.345678] [ T1234] ", Some(12.345_678), None),
            ("[   12.345678 <    0.000003>] ", Some(12.345_678), None),
            ("[  +0.000003] ", None, None),
            ("[Sun Feb 23 16:24:18 2025] ", None, None),
            ("[dim. févr. 23 16:24:18 2025] ", None, None),
            ("[Feb23 16:24] ", None, None),
            ("kern  :warn  : [   12.345678] ", Some(12.345_678), None),
            ("kern  :warn  : 2025-01-21T04:41:44,285060+00:00 ", None, None),
            ("kern  :err   : [Sun Feb 23 16:24:18 2025] ", None, None),
            ("<4>[   12.345678] ", Some(12.345_678), None),
            ("4,3973,12345678,-;", Some(12.345_678), None),
            ("4,3973,12345678,-,caller=T77;", Some(12.345_678), None),
            ("Feb 23 16:24:18 gpu-07 kernel: ", None, Some("gpu-07")),
            ("Feb  3 16:24:18 gpu-07 kernel: [   12.345678] ", Some(12.345_678), Some("gpu-07")),
            ("Feb 23 16:24:18.123456 gpu-07.example kernel: ", None, Some("gpu-07.example")),
            ("2025-02-23T16:24:18+0000 gpu-07 kernel: ", None, Some("gpu-07")),
            ("2025-02-23T16:24:18.123456+00:00 gpu-07 kernel: [   12.345678] ", Some(12.345_678), Some("gpu-07")),
            ("Sun 2025-02-23 16:24:18 UTC gpu-07 kernel: ", None, Some("gpu-07")),
            ("9月 23 11:52:49 node01 kernel: ", None, Some("node01")),
            ("août 03 11:52:49 node01 kernel: ", None, Some("node01")),
            ("févr. 03 11:52:49 node01 kernel: ", None, Some("node01")),
            ("[    4.873800] kernel: ", Some(4.8738), None),
            ("kernel: ", None, None),
            ("kernel:[   12.345678] ", Some(12.345_678), None),
            ("> [   12.345678] ", Some(12.345_678), None),
            ("    [   12.345678] ", Some(12.345_678), None),
            ("syslog:err : 2025-01-21T04:41:44,285060+00:00 ", None, None),
        ];
        for (prefix, secs, host) in styles {
            let text = format!("{prefix}{message}");
            let line = parse(&text);
            assert_eq!((line.message, line.since_boot_s, line.host), (message, *secs, *host), "{prefix:?}");
            assert!(line.prefixed, "{prefix:?}");
        }
        assert!(!parse(message).prefixed);
    }

    #[test]
    fn prose_and_other_logs_are_left_alone() {
        for text in [
            "I saw this at 12:30 yesterday",
            "[rank0]: loss 2.3",
            "GPU 0: NVIDIA H200",
            "[ 12 ] note",
            "6,5 apples; 3 pears",
        ] {
            assert_eq!(
                parse(text),
                Line { since_boot_s: None, host: None, prefixed: false, clock_s: None, message: text }
            );
        }
    }
}
