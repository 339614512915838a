//! Names that people and collectors give to files, nodes and runs, made safe to store and show. A label is never used as
//! a path.

/// Longest label, in characters.
pub const MAX: usize = 200;

/// A file label: path parts that lead elsewhere and characters that cannot be seen go, long names keep their end (the
/// extension says more than the beginning).
#[must_use]
pub fn file(name: &str) -> String {
    let clean: String = name.chars().filter(|c| visible(*c)).collect();
    let parts: Vec<&str> =
        clean.split(['/', '\\']).map(str::trim).filter(|p| !p.is_empty() && *p != "." && *p != "..").collect();
    let joined = parts.join("/");
    if joined.is_empty() {
        return "unnamed".into();
    }
    let over = joined.chars().count().saturating_sub(MAX);
    if over == 0 {
        return joined;
    }
    let tail: String = joined.chars().skip(over + 1).collect();
    format!("…{tail}")
}

/// A node or run name on one line, without slashes (it stands in addresses); `None` if nothing is left.
#[must_use]
pub fn name(name: &str) -> Option<String> {
    let clean: String =
        name.chars().filter(|c| visible(*c)).map(|c| if matches!(c, '/' | '\\') { '_' } else { c }).collect();
    let cut: String = clean.trim().chars().take(MAX).collect();
    (!cut.is_empty() && cut != "." && cut != "..").then_some(cut)
}

/// Neither a control character nor one that turns the direction of text or hides itself.
fn visible(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_leads_elsewhere() {
        for (given, kept) in [
            ("a.txt", "a.txt"),
            ("../../etc/passwd", "etc/passwd"),
            ("..\\..\\boot.ini", "boot.ini"),
            ("/abs/olute", "abs/olute"),
            ("a/./b//c", "a/b/c"),
            ("", "unnamed"),
            ("..", "unnamed"),
            ("a\n\u{1b}[31mb\u{202e}c", "a[31mbc"),
        ] {
            assert_eq!(file(given), kept, "{given:?}");
        }
        let long = format!("{}.json.gz", "x".repeat(5000));
        assert_eq!(file(&long).chars().count(), MAX);
        assert!(file(&long).ends_with(".json.gz"));
    }

    #[test]
    fn a_name_is_one_path_part_or_nothing() {
        assert_eq!(name(" a/b "), Some("a_b".into()));
        assert_eq!(name(".."), None);
        assert_eq!(name("\u{7}"), None);
        assert_eq!(name(&"n".repeat(900)).map(|n| n.len()), Some(MAX));
    }
}
