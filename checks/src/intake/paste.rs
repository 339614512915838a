//! What people do to a text before it arrives: quoting it in mail, indenting it, wrapping it in Markdown or HTML, pasting
//! the outputs of several commands below each other. This module takes the wrapping off and finds the seams; every line
//! keeps its number.
//!
//! It knows the look of a prompt and of a fence, and nothing of the formats between them.

use std::borrow::Cow;

use super::Kind;

/// A stretch of a text that comes from one command.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Section<'t> {
    /// Line of the first one of `text`, from 1.
    pub(super) first_line: u32,
    /// The command at the prompt above it, or "".
    pub(super) command: &'t str,
    /// What a line in it began, as the sniffer said.
    pub(super) kind: Option<Kind>,
    /// That line is the first one.
    pub(super) begins: bool,
    /// The text, without the indentation of its first line.
    pub(super) text: Cow<'t, str>,
}

impl<'t> Section<'t> {
    /// A text as one section.
    pub(super) fn whole(text: &'t str) -> Self {
        Self { first_line: 1, command: "", kind: None, begins: false, text: Cow::Borrowed(text) }
    }

    /// Makes it begin on line 1, with empty lines for those before it.
    pub(super) fn pad(&mut self) {
        if self.first_line > 1 {
            let mut text = "\n".repeat(self.first_line as usize - 1);
            text.push_str(&self.text);
            *self = Self { first_line: 1, text: Cow::Owned(text), ..Self::whole("") };
        }
    }

    /// How many lines it has, empty ones at its end left out.
    pub(super) fn lines(&self) -> u32 {
        u32::try_from(self.text.trim_end().lines().count()).unwrap_or(u32::MAX)
    }

    /// "line 3" or "lines 3-9".
    pub(super) fn range(&self) -> String {
        match self.lines() {
            0 | 1 => format!("line {}", self.first_line),
            n => format!("lines {}-{}", self.first_line, self.first_line.saturating_add(n - 1)),
        }
    }
}

/// Takes mail quoting, non-breaking blanks and HTML entities away.
pub(super) fn unwrap(text: &str) -> Cow<'_, str> {
    let head = text.trim_start();
    let markup = head.starts_with("<?xml") || head.starts_with("<!DOCTYPE") || head.starts_with("<nvidia_smi");
    let json = head.starts_with('{');
    let quoted = !markup && !json && (text.starts_with('>') || has_line(text, b'>'));
    let blanks = !text.is_ascii() && text.contains(BLANKS);
    // A text with tags of its own holds its entities rightly, whatever stands before it.
    let tags = memchr::memmem::find(text.as_bytes(), b"<nvidia_smi_log").is_some();
    let escaped = |(e, _): &(&str, &str)| memchr::memmem::find(text.as_bytes(), e.as_bytes()).is_some();
    let entities =
        !markup && !json && !tags && memchr::memchr(b'&', text.as_bytes()).is_some() && ENTITIES.iter().any(escaped);
    if !quoted && !blanks && !entities {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let line = if quoted { unquote(line) } else { line };
        if !blanks && !entities {
            out.push_str(line);
            continue;
        }
        let mut rest = line;
        while let Some(at) = rest.find(|c: char| c == '&' || BLANKS.contains(&c)) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some((e, c)) = ENTITIES.iter().find(|(e, _)| entities && rest.starts_with(e)) {
                out.push_str(c);
                rest = &rest[e.len()..];
            } else if let Some(c) = rest.chars().next() {
                match c {
                    '\u{200b}' | '\u{feff}' => {}
                    c if BLANKS.contains(&c) => out.push(' '),
                    c => out.push(c),
                }
                rest = &rest[c.len_utf8()..];
            }
        }
        out.push_str(rest);
    }
    Cow::Owned(out)
}

/// Blanks that are none in ASCII; the last two have no width.
const BLANKS: &[char] = &['\u{a0}', '\u{202f}', '\u{2007}', '\u{3000}', '\u{200b}', '\u{feff}'];

const ENTITIES: &[(&str, &str)] = &[
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#34;", "\""),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&apos;", "'"),
    ("&nbsp;", " "),
    ("&#160;", " "),
    ("&amp;", "&"),
];

/// True if a line begins with this byte, after blanks.
fn has_line(text: &str, byte: u8) -> bool {
    memchr::memchr_iter(byte, text.as_bytes()).any(|at| {
        let before = &text.as_bytes()[..at];
        before.iter().rev().find(|b| **b != b' ').is_none_or(|b| *b == b'\n')
    })
}

/// `> `, `>> `, `> > ` in front of a line.
fn unquote(line: &str) -> &str {
    let mut rest = line;
    while let Some(inner) = rest.trim_start_matches(' ').strip_prefix('>') {
        rest = inner.strip_prefix(' ').unwrap_or(inner);
    }
    rest
}

/// As much of a line as tells what it begins, in bytes.
const LINE_MAX: usize = 512;

/// Cuts a text at prompts, fences and file marks, and where a line begins a document of another kind than the one it
/// stands in. `starts` tells the kind that a line begins, given the one it would have to differ from.
pub(super) fn sections(text: &str, starts: impl Fn(&str, Option<Kind>) -> Option<Kind>) -> Vec<Section<'_>> {
    let mut out = Vec::new();
    let mut open = Open { first_line: 1, from: 0, command: "", kind: None, begins: false, indent: "" };
    let mut at = 0;
    for (n, raw) in (1u32..).zip(text.split_inclusive('\n')) {
        let line = raw[..raw.floor_char_boundary(LINE_MAX)].trim();
        let next = at + raw.len();
        if let Some(command) = seam(line) {
            open.close(text, at, &mut out);
            open = Open { first_line: n + 1, from: next, command, kind: None, begins: false, indent: "" };
        } else if let Some(kind) = starts(line, open.kind) {
            let indent = &raw[..raw.len() - raw.trim_start().len()];
            let first = open.kind.is_none() && text[open.from..at].trim().is_empty();
            if first || open.kind.is_none() && !open.command.is_empty() {
                // The first lines behind a prompt belong to its command.
                open.kind = Some(kind);
                open.begins = first;
                open.indent = indent;
            } else {
                open.close(text, at, &mut out);
                open = Open { first_line: n, from: at, command: "", kind: Some(kind), begins: true, indent };
            }
        }
        at = next;
    }
    open.close(text, text.len(), &mut out);
    out
}

struct Open<'t> {
    first_line: u32,
    from: usize,
    command: &'t str,
    kind: Option<Kind>,
    begins: bool,
    indent: &'t str,
}

impl<'t> Open<'t> {
    fn close(&self, text: &'t str, to: usize, out: &mut Vec<Section<'t>>) {
        let body = &text[self.from..to];
        if body.trim().is_empty() {
            return;
        }
        let text = if self.indent.is_empty() { Cow::Borrowed(body) } else { Cow::Owned(dedent(body, self.indent)) };
        out.push(Section {
            first_line: self.first_line,
            command: self.command,
            kind: self.kind,
            begins: self.begins,
            text,
        });
    }
}

/// Takes an indentation off each line that has it, and as much of it as is there off the others.
fn dedent(body: &str, indent: &str) -> String {
    let mut out = String::with_capacity(body.len());
    for line in body.split_inclusive('\n') {
        out.push_str(line.strip_prefix(indent).unwrap_or_else(|| {
            let own = line.len() - line.trim_start_matches([' ', '\t']).len();
            &line[own.min(indent.len())..]
        }));
    }
    out
}

/// A line between two outputs: what was typed at a prompt, or "" for a fence or an empty prompt.
fn seam(line: &str) -> Option<&str> {
    if line.starts_with("```") || line.starts_with("~~~") {
        return Some("");
    }
    if let Some(name) = line.strip_prefix("==> ").and_then(|l| l.strip_suffix(" <==")) {
        return Some(name);
    }
    if ["<pre>", "</pre>", "<code>", "</code>", "<details>", "</details>"].contains(&line) {
        return Some("");
    }
    if memchr::memchr3(b'$', b'#', b'>', line.as_bytes()).is_none() && !line.starts_with(['%', '+', '!']) {
        return None;
    }
    bare_prompt(line).or_else(|| named_prompt(line)).or_else(|| windows_prompt(line))
}

/// `$ nvidia-smi`, and with other signs only before a command that is known: `# gpu` is a header of dmon, and `+` begins
/// a table.
fn bare_prompt(line: &str) -> Option<&str> {
    if let Some(command) = line.strip_prefix("$ ") {
        return command
            .starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '.' | '/' | '~'))
            .then_some(command);
    }
    if line == "$" {
        return Some("");
    }
    let command = line
        .trim_start_matches('#')
        .strip_prefix(' ')
        .or_else(|| line.strip_prefix("% "))
        .or_else(|| line.strip_prefix("+ "));
    let command = command.or_else(|| line.strip_prefix('!'))?.trim_start_matches('`');
    is_command(command).then_some(command)
}

/// `user@host:~$ command`, `(env) root@host:/work# command`, `[user@host dir]$ command`, `bash-5.1$ command`.
fn named_prompt(line: &str) -> Option<&str> {
    let sign = memchr::memchr2(b'$', b'#', line.as_bytes()).filter(|at| *at <= 96)?;
    let command = &line[sign + 1..];
    if !command.is_empty() && !command.starts_with(' ') {
        return None;
    }
    let before = line[..sign].trim_end();
    let before = before.strip_prefix('(').and_then(|b| Some(b.split_once(") ")?.1)).unwrap_or(before);
    let bracket = before.strip_prefix('[').and_then(|b| b.strip_suffix(']'));
    let place = bracket.unwrap_or(before);
    let shell = ["bash-", "sh-"].iter().any(|s| place.starts_with(s)) && !place.contains(' ');
    let words = if bracket.is_some() { 2 } else { 1 };
    let at_host = place.split_once('@').is_some_and(|(user, host)| is_word(user) && !host.is_empty());
    (shell || at_host && place.split_whitespace().count() <= words).then_some(command.trim())
}

/// `PS C:\Users\me> command`, `C:\Users\me>command`.
fn windows_prompt(line: &str) -> Option<&str> {
    let path = line.strip_prefix("PS ").unwrap_or(line);
    let b = path.as_bytes();
    if b.len() < 4 || !b[0].is_ascii_alphabetic() || b[1] != b':' || b[2] != b'\\' {
        return None;
    }
    path.split_once('>').map(|(_, command)| command.trim())
}

fn is_word(s: &str) -> bool {
    !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

fn is_command(s: &str) -> bool {
    let first = s.split([' ', '`']).find(|w| *w != "sudo" && !w.contains('=')).unwrap_or("");
    let name = first.rsplit('/').next().unwrap_or("");
    COMMANDS.contains(&name)
}

/// Commands whose output people paste.
const COMMANDS: &[&str] = &[
    "nvidia-smi",
    "dmesg",
    "journalctl",
    "lspci",
    "lsmod",
    "cat",
    "head",
    "tail",
    "grep",
    "zcat",
    "python",
    "python3",
    "env",
    "printenv",
    "uname",
    "ls",
    "dcgmi",
    "nvcc",
    "iostat",
    "top",
    "free",
    "df",
    "glxinfo",
    "modinfo",
    "numactl",
    "lscpu",
    "ibstat",
    "vmstat",
    "mpstat",
    "nsys",
    "ncu",
    "ps",
    "torchrun",
    "mpirun",
    "srun",
    "docker",
    "kubectl",
    "systemctl",
];

/// The kind of text that a command prints, for texts without marks of their own.
pub(super) fn kind_of(command: &str) -> Option<Kind> {
    let mut words = command.split_whitespace().filter(|w| *w != "sudo");
    let name = words.next()?.rsplit('/').next()?;
    let has = |word: &str| command.split_whitespace().any(|w| w.contains(word));
    match name {
        "lsmod" => Some(Kind::ProcModules),
        "env" | "printenv" => Some(Kind::Env),
        "dmesg" | "journalctl" => Some(Kind::Dmesg),
        "lspci" => Some(Kind::Lspci),
        "glxinfo" => Some(Kind::Glxinfo),
        "cat" | "head" | "tail" if has("/proc/modules") => Some(Kind::ProcModules),
        "cat" | "head" | "tail" if has("/proc/driver/nvidia") => Some(Kind::ProcDriverNvidia),
        "cat" | "tr" | "xargs" if has("/environ") => Some(Kind::Env),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts() {
        for (line, command) in [
            ("$ nvidia-smi -q", "nvidia-smi -q"),
            ("$", ""),
            ("user@host:~$ dmesg -T", "dmesg -T"),
            ("root@4f1c2a:/workspace# cat /proc/modules", "cat /proc/modules"),
            ("(base) user@host:~/a b$", "\u{0}"),
            ("(torch) user@host:~$ python -m torch.utils.collect_env", "python -m torch.utils.collect_env"),
            ("[user@node01 ~]$ lspci -vv", "lspci -vv"),
            ("[root@node01 /]#", ""),
            ("bash-5.1$ env", "env"),
            ("# sudo lspci -vv", "sudo lspci -vv"),
            ("### `nvidia-smi`", "nvidia-smi`"),
            ("+ nvidia-smi topo -m", "nvidia-smi topo -m"),
            ("!nvidia-smi", "nvidia-smi"),
            (r"PS C:\Users\me> nvidia-smi", "nvidia-smi"),
            (r"C:\Windows\System32>nvidia-smi -q", "nvidia-smi -q"),
            ("==> /proc/modules <==", "/proc/modules"),
            ("```text", ""),
        ] {
            let want = (command != "\u{0}").then_some(command);
            assert_eq!(seam(line), want, "{line}");
        }
        for line in [
            "# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk",
            "#Entity  GPUTL",
            "+-----------------------------------------------------------------------------+",
            "| 0  Tesla T4   On | 00000000:00:1E.0 Off |   0 |",
            "[    1.0] Hardware name: Dell #1 $ x",
            "cost: 5$ a piece",
            "a@b.c wrote: use $ nvidia-smi",
            "NCCL INFO Channel 00/02 : 0 1 # comment",
            "!!! Unknown header type 7f",
        ] {
            assert_eq!(seam(line), None, "{line}");
        }
    }

    #[test]
    fn wrapping_comes_off_and_lines_stay() {
        let text = "> > [ 1.0]\u{a0}a &lt;b&gt; &amp;lt;\n>\n   > c\nd > e\n";
        assert_eq!(unwrap(text), "[ 1.0] a <b> &lt;\n\nc\nd > e\n");
        let xml = "<?xml version=\"1.0\"?>\n<a>&lt;\n></a>";
        assert!(matches!(unwrap(xml), Cow::Borrowed(_)), "XML has its own rules");
        assert!(matches!(unwrap("plain\ntext"), Cow::Borrowed(_)));
    }

    #[test]
    fn seams_are_found() {
        let starts = |line: &str, current: Option<Kind>| {
            let kind = line
                .starts_with("NVRM")
                .then_some(Kind::Dmesg)
                .or_else(|| line.starts_with("01:00.0").then_some(Kind::Lspci));
            kind.filter(|k| Some(*k) != current)
        };
        let text = "Hello,\n\n```\n$ dmesg\nfirst\nNVRM: a\n```\nand\n    01:00.0 x\n    \ty\n  z\nNVRM: b\nNVRM: c\n";
        let got: Vec<(u32, &str, Option<Kind>, String)> = sections(text, starts)
            .into_iter()
            .map(|s| (s.first_line, s.command, s.kind, s.text.into_owned()))
            .collect();
        assert_eq!(
            got,
            [
                (1, "", None, "Hello,\n\n".to_owned()),
                (5, "dmesg", Some(Kind::Dmesg), "first\nNVRM: a\n".to_owned()),
                (8, "", None, "and\n".to_owned()),
                (9, "", Some(Kind::Lspci), "01:00.0 x\n\ty\nz\n".to_owned()),
                (12, "", Some(Kind::Dmesg), "NVRM: b\nNVRM: c\n".to_owned()),
            ]
        );
    }
}
