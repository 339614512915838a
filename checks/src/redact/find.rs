//! Finds what has to be replaced at one place of a line. It replaces nothing and keeps nothing.

use std::collections::BTreeMap;

use super::Class;

/// A part of a line that has to go.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) class: Class,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Length of the part that tells who it is: a host's name without its domain.
    pub(super) key: usize,
}

impl Found {
    fn new(class: Class, start: usize, end: usize) -> Self {
        Self { class, start, end, key: end - start }
    }
}

/// Words in a variable's or option's name that make its value a secret. Each counts as a whole word of the name:
/// `HF_TOKEN` is one, `num_tokens` is not.
const SECRET_WORDS: &[&str] =
    &["token", "secret", "password", "passwd", "passphrase", "apikey", "credentials", "bearer"];
/// Pairs of words that do so only together.
const SECRET_PAIRS: &[(&str, &str)] =
    &[("api", "key"), ("access", "key"), ("private", "key"), ("secret", "key"), ("auth", "key"), ("account", "key")];
/// What tokens of common services start with.
const TOKEN_STARTS: &[&str] =
    &["hf_", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "sk-", "xoxb-", "xoxp-", "AKIA", "ASIA", "eyJ", "nvapi-"];
/// Shortest token that is recognised by its start.
const TOKEN_MIN: usize = 16;
/// Endings that look like a domain after an `@` but are parts of a systemd unit's name.
const UNIT_ENDS: &[&str] = &["service", "socket", "target", "scope", "slice", "mount", "timer"];

/// True where a word can start.
pub(super) fn boundary(line: &str, at: usize) -> bool {
    line.is_char_boundary(at) && !line[..at].chars().next_back().is_some_and(is_word)
}

/// What has to go at this place, if anything. `at` is a [`boundary`].
pub(super) fn at(line: &str, at: usize, names: &BTreeMap<String, Class>) -> Option<Found> {
    let rest = &line[at..];
    let first = rest.chars().next()?;
    let whole = |class, len: usize| (len > 0).then_some(Found::new(class, at, at + len));
    if matches!(first, '/' | '\\') {
        return home(line, at);
    }
    if !first.is_alphanumeric() && first != ':' && first != '-' && first != '<' && first != '"' {
        return None;
    }
    secret(line, at)
        .or_else(|| serial(line, at))
        .or_else(|| uuid(rest).and_then(|n| whole(Class::Uuid, n)))
        .or_else(|| hardware(rest).and_then(|n| whole(Class::Hardware, n)))
        .or_else(|| address(line, at).and_then(|n| whole(Class::Address, n)))
        .or_else(|| name(line, at, names))
        .or_else(|| mail(rest).and_then(|n| whole(Class::Mail, n)))
}

/// Hosts in the second field of syslog lines (`Jun  1 10:00:00 HOST kernel: …`, `2024-06-01T10:00:00+00:00 HOST kernel: …`).
pub(super) fn syslog_hosts(text: &str) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { continue };
        let iso = first.len() >= 19 && first.as_bytes()[4] == b'-' && first.as_bytes()[10] == b'T';
        let month = first.len() == 3 && first.bytes().all(|b| b.is_ascii_alphabetic());
        let mut is_date = || words.next().is_some_and(is_number) && words.next().is_some_and(|t| t.contains(':'));
        let dated = iso || (month && is_date());
        if !dated {
            continue;
        }
        let (Some(host), Some(source)) = (words.next(), words.next()) else { continue };
        if source.ends_with(':') && host.chars().all(is_host) && !hosts.iter().any(|h| h == host) {
            hosts.push(host.to_owned());
        }
    }
    hosts
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
fn is_host(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '.' | '_')
}
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}
/// Bytes at the start for which the condition holds.
fn run(text: &str, of: impl Fn(char) -> bool) -> usize {
    text.find(|c| !of(c)).unwrap_or(text.len())
}

fn secret(line: &str, at: usize) -> Option<Found> {
    let rest = &line[at..];
    if TOKEN_STARTS.iter().any(|s| rest.starts_with(s)) {
        let len = run(rest, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        let digits = rest[..len].bytes().any(|b| b.is_ascii_digit())
            || rest[..len].bytes().filter(u8::is_ascii_alphabetic).count() > 20;
        if len >= TOKEN_MIN && digits {
            return Some(Found::new(Class::Secret, at, at + len));
        }
    }
    if let Some(found) = in_url(line, at) {
        return Some(found);
    }
    // A name, a separator, a value: `NAME=value`, `"name": "value"`, `--name value`, `Name: Bearer value`.
    let name_at = at + run(rest, |c| matches!(c, '"' | '-'));
    let name_len = run(&line[name_at..], |c| is_word(c) || c == '-');
    let name = &line[name_at..name_at + name_len];
    if !names_secret(name) {
        return None;
    }
    let mut value = name_at + name_len;
    let option = line[at..].starts_with("--") || line[..name_at].ends_with("--");
    let separator = run(&line[value..], |c| matches!(c, '"' | '\'' | ' ' | '=' | ':' | '\t'));
    let between = &line[value..value + separator];
    if !(between.contains('=') || between.contains(':') || (option && between.starts_with(' '))) {
        return None;
    }
    value += separator;
    for scheme in ["Bearer ", "Basic ", "token "] {
        if line[value..].starts_with(scheme) {
            value += scheme.len();
        }
    }
    let quote = line[..value].chars().next_back().filter(|c| matches!(c, '"' | '\''));
    let len = match quote {
        Some(q) => run(&line[value..], |c| c != q && c != '\n'),
        None => run(&line[value..], |c| !c.is_whitespace() && !matches!(c, ',' | ';' | '}' | ')' | '&')),
    };
    let text = &line[value..value + len];
    // A number is a count ("token=77" of a log), and a secret that was taken out stays as it is.
    (len > 0 && !is_number(text) && text != "REDACTED").then_some(Found::new(Class::Secret, value, value + len))
}

/// `user:password@` of an address.
fn in_url(line: &str, at: usize) -> Option<Found> {
    let before = &line[..at];
    if !before.ends_with("://") {
        return None;
    }
    let len = run(&line[at..], |c| !c.is_whitespace() && !matches!(c, '/' | '@' | '"' | '\''));
    let end = at + len;
    let has = line[end..].starts_with('@') && line[at..end].contains(':');
    (has && &line[at..end] != "REDACTED").then_some(Found::new(Class::Secret, at, end))
}

fn names_secret(name: &str) -> bool {
    if name == "Authorization" {
        return true;
    }
    let words: Vec<String> = name.split(['_', '-']).map(str::to_ascii_lowercase).collect();
    words.iter().any(|w| SECRET_WORDS.contains(&w.as_str()))
        || words.windows(2).any(|w| SECRET_PAIRS.contains(&(w[0].as_str(), w[1].as_str())))
}

/// The user in `/home/USER`, `/Users/USER` or `\Users\USER`.
fn home(line: &str, at: usize) -> Option<Found> {
    let rest = &line[at..];
    let prefix = ["/home/", "/Users/", "\\Users\\", "/export/home/"].into_iter().find(|p| rest.starts_with(p))?;
    let start = at + prefix.len();
    let len = run(&line[start..], is_host);
    let user = &line[start..start + len];
    let stand_in = user.strip_prefix("user").is_some_and(is_number);
    (len > 0 && !stand_in && !matches!(user, "Public" | "Default")).then_some(Found::new(
        Class::User,
        start,
        start + len,
    ))
}

fn serial(line: &str, at: usize) -> Option<Found> {
    let rest = &line[at..];
    let word = run(rest, char::is_alphabetic);
    if !rest[..word].eq_ignore_ascii_case("serial") {
        return None;
    }
    let mut value = at + word;
    let tail = &line[value..];
    for more in [" Number", " number", "_number", " No.", "Number"] {
        if tail.starts_with(more) {
            value += more.len();
            break;
        }
    }
    let separator = run(&line[value..], |c| matches!(c, ' ' | '\t' | ':' | '=' | '>' | '"'));
    if !line[value..value + separator].contains([':', '=', '>']) {
        return None;
    }
    value += separator;
    let len = run(&line[value..], |c| c.is_ascii_alphanumeric());
    let text = &line[value..value + len];
    let stand_in = text.len() > 3 && text.trim_start_matches('0').len() < 4 && text.starts_with("00");
    let is_serial = len >= 5 && text.bytes().any(|b| b.is_ascii_digit());
    (is_serial && !stand_in).then_some(Found::new(Class::Serial, value, value + len))
}

/// 8-4-4-4-12 hexadecimal digits. A prefix such as `GPU-` is a word of its own and stays.
fn uuid(rest: &str) -> Option<usize> {
    let text = rest.get(..36)?;
    let shape = text.char_indices().all(|(i, c)| match i {
        8 | 13 | 18 | 23 => c == '-',
        _ => c.is_ascii_hexdigit(),
    });
    let ends = !rest[36..].chars().next().is_some_and(is_word);
    (shape && ends && !text.starts_with("00000000-0000-4000-8000-")).then_some(36)
}

/// Six pairs of hexadecimal digits (a MAC), or four groups of four (an InfiniBand GUID).
fn hardware(rest: &str) -> Option<usize> {
    let len = run(rest, |c| c.is_ascii_hexdigit() || c == ':');
    let text = &rest[..len];
    if rest[len..].starts_with(|c: char| is_word(c) || c == '.') {
        return None;
    }
    let groups: Vec<&str> = text.split(':').collect();
    let mac = groups.len() == 6 && groups.iter().all(|g| g.len() == 2);
    let guid = groups.len() == 4 && groups.iter().all(|g| g.len() == 4);
    let stand_in = text.starts_with("02:00:00:00:") || text.starts_with("0200:0000:0000:");
    ((mac || guid) && !stand_in).then_some(len)
}

fn address(line: &str, at: usize) -> Option<usize> {
    let rest = &line[at..];
    let len = run(rest, |c| c.is_ascii_hexdigit() || c == ':' || c == '.');
    let text = rest[..len].trim_end_matches([':', '.']);
    if rest[text.len()..].chars().next().is_some_and(|c| is_word(c) || c == '-') {
        return None;
    }
    if text.contains(':') && !text.contains('.') {
        return v6(text).then_some(text.len());
    }
    let host = text.split(':').next()?;
    v4(host, &line[..at], line).then_some(host.len())
}

fn v4(text: &str, before: &str, line: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    // A leading zero is a mark of version numbers.
    let octet =
        |p: &&str| is_number(p) && p.len() <= 3 && (p.len() == 1 || !p.starts_with('0')) && p.parse::<u8>().is_ok();
    if parts.len() != 4 || !parts.iter().all(octet) || before.ends_with(['.', '-', '+']) || before.ends_with("==") {
        return false;
    }
    if text.starts_with("127.") || text.starts_with("198.18.") || matches!(text, "0.0.0.0" | "255.255.255.255") {
        return false;
    }
    // Libraries have versions of four parts; an address that starts below 10 is public and rare on a training node.
    let low = parts[0].parse::<u8>().is_ok_and(|n| n < 10);
    let lower = || line.to_ascii_lowercase();
    !(low && ["version", "nvidia-", "cudnn", "release"].iter().any(|w| lower().contains(w)))
}

fn v6(text: &str) -> bool {
    let groups: Vec<&str> = text.split(':').collect();
    if groups.iter().any(|g| g.len() > 4) || text.starts_with("2001:db8::") {
        return false;
    }
    let full = groups.len() == 8 && groups.iter().all(|g| !g.is_empty());
    let short = text.matches("::").count() == 1 && groups.len() <= 9 && groups[0].len() == 4;
    full || short
}

/// A name that was told, standing as a word; a host's domain goes with it.
fn name(line: &str, at: usize, names: &BTreeMap<String, Class>) -> Option<Found> {
    if names.is_empty() {
        return None;
    }
    let rest = &line[at..];
    let word = &rest[..run(rest, is_host)];
    // The longest told name that the word is, or begins with at a dot.
    let (name, class) = names
        .iter()
        .filter(|(n, _)| {
            let tail = word.strip_prefix(n.as_str());
            tail.is_some_and(|t| t.is_empty() || t.starts_with('.') || t.chars().all(|c| c == '-'))
        })
        .max_by_key(|(n, _)| n.len())?;
    let end = match class {
        Class::Host => at + word.trim_end_matches(['.', '-']).len(),
        _ => at + name.len(),
    };
    Some(Found { class: *class, start: at, end, key: name.len() })
}

fn mail(rest: &str) -> Option<usize> {
    let local = run(rest, |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-' | '%'));
    let domain = rest[local..].strip_prefix('@')?;
    let len = run(domain, |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
    let domain = domain[..len].trim_end_matches(['.', '-']);
    let (_, top) = domain.rsplit_once('.')?;
    let is_top = top.len() >= 2 && top.bytes().all(|b| b.is_ascii_alphabetic());
    let ok = local > 0 && is_top && !UNIT_ENDS.contains(&top) && domain != "example.invalid";
    ok.then_some(local + 1 + domain.len())
}
