//! PCI addresses as they stand in lines of text, on top of [`bus_id`], which brings a printed one to one form. It does not
//! know what stands at an address.

use crate::fact::bus_id;

/// Normalises `[domain:]bus:device[.function]` to `dddd:bb:dd`, lower case and without function.
pub(super) fn address(s: &str) -> Option<String> {
    // As the driver prints it.
    if is_plain(s) {
        return Some(s.to_ascii_lowercase());
    }
    let id = strict(s)?;
    Some(id.split_once('.').map_or(id.as_str(), |(slot, _)| slot).to_owned())
}

/// True for `dddd:bb:dd`.
fn is_plain(s: &str) -> bool {
    let b = s.as_bytes();
    b.len() == 10
        && b[4] == b':'
        && b[7] == b':'
        && b.iter().enumerate().all(|(i, c)| i == 4 || i == 7 || c.is_ascii_hexdigit())
        && matches!(b[8], b'0' | b'1')
}

/// Normalises `[domain:]bus:device.function` to `dddd:bb:dd.f`.
pub(super) fn full_address(s: &str) -> Option<String> {
    s.contains('.').then(|| strict(s)).flatten()
}

/// In running text, only bus and device of two digits are taken for an address: `1:2` is not one.
fn strict(s: &str) -> Option<String> {
    let mut parts = s.split('.').next()?.rsplit(':');
    let (device, bus) = (parts.next()?, parts.next()?);
    if device.len() != 2 || bus.len() != 2 || u8::from_str_radix(device, 16).ok()? >= 32 {
        return None;
    }
    bus_id(s)
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
