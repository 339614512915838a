//! PCI addresses in all the forms that tools print, brought to one. It does not know what stands at an address.

/// Normalises `[domain:]bus:device[.function]` to `dddd:bb:dd`, lower case and without function.
pub(super) fn address(s: &str) -> Option<String> {
    let (domain, bus, device) = fields(s.split_once('.').map_or(s, |(a, _)| a))?;
    Some(format!("{domain:04x}:{bus:02x}:{device:02x}"))
}

/// Normalises `[domain:]bus:device.function` to `dddd:bb:dd.f`.
pub(super) fn full_address(s: &str) -> Option<String> {
    let (front, function) = s.rsplit_once('.')?;
    let (domain, bus, device) = fields(front)?;
    (function.len() == 1 && matches!(function.as_bytes()[0], b'0'..=b'7'))
        .then(|| format!("{domain:04x}:{bus:02x}:{device:02x}.{function}"))
}

/// The first PCI address in a text: `0000:3b:00.0`, `00000000:86:00.0`, `3b:00.0`.
pub(super) fn find(text: &str) -> Option<String> {
    text.split([' ', '(', ')', ',', '[', ']', '@', '/'])
        .map(|w| w.trim_end_matches(['.', ':', ';']).trim_start_matches("PCI:"))
        .filter(|w| (5..=16).contains(&w.len()) && w.contains(':'))
        .find_map(|w| {
            // Without a function, only the full form with a domain is unmistakable: `18:00:57` is a time.
            let full = w.split(':').next().is_some_and(|domain| domain.len() >= 4);
            if w.contains('.') || full { address(w) } else { None }
        })
}

fn fields(s: &str) -> Option<(u32, u8, u8)> {
    let mut parts = s.rsplit(':');
    let (device, bus) = (parts.next()?, parts.next()?);
    let domain = parts.next().unwrap_or("0");
    let hex = |p: &str, len: std::ops::RangeInclusive<usize>| {
        len.contains(&p.len()) && p.bytes().all(|b| b.is_ascii_hexdigit())
    };
    if parts.next().is_some() || !hex(device, 2..=2) || !hex(bus, 2..=2) || !hex(domain, 1..=8) {
        return None;
    }
    let device = u8::from_str_radix(device, 16).ok().filter(|d| *d < 32)?;
    Some((u32::from_str_radix(domain, 16).ok()?, u8::from_str_radix(bus, 16).ok()?, device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        for (s, want) in [
            ("0000:3b:00.0", Some("0000:3b:00")),
            ("00000000:3B:00.0", Some("0000:3b:00")),
            ("3b:00.0", Some("0000:3b:00")),
            ("0009:01:00", Some("0009:01:00")),
            ("10000:e1:00.0", Some("10000:e1:00")),
            ("3b:0:0", None),
            ("zz:00.0", None),
            ("3b:40.0", None),
            ("", None),
        ] {
            assert_eq!(address(s).as_deref(), want, "{s}");
        }
        assert_eq!(full_address("2E:00.1").as_deref(), Some("0000:2e:00.1"));
        assert_eq!(full_address("2e:00"), None);
        assert_eq!(find("pci 0000:3b:00.0: 63.008 Gb/s").as_deref(), Some("0000:3b:00"));
        assert_eq!(find("NVRM: loading NVIDIA UNIX x86_64 Kernel Module  440.26  Sun Oct 13 18:00:57 UTC 2019"), None);
    }
}
