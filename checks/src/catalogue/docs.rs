//! Reads a check's documentation out of its source file's head, and its cases out of its case file.
//!
//! It does not judge whether the texts are complete; a test does.

/// Documentation of a check, in its fixed parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Docs {
    /// Heading and Markdown text of each part, in order.
    pub parts: Vec<(String, String)>,
}

impl Docs {
    /// The headings that every check has, in this order.
    pub const HEADINGS: [&'static str; 6] =
        ["What it looks for", "Why it wastes the GPU", "Confirm by hand", "Fix", "Limits", "References"];

    /// Reads the `//!` lines at the head of a source file; `# Heading` starts a part.
    #[must_use]
    pub fn parse(source: &str) -> Self {
        let mut parts: Vec<(String, String)> = Vec::new();
        for line in source.lines() {
            let Some(text) = line.strip_prefix("//!") else { break };
            let text = text.strip_prefix(' ').unwrap_or(text);
            if let Some(h) = text.strip_prefix("# ") {
                parts.push((h.trim().to_owned(), String::new()));
            } else if let Some((_, body)) = parts.last_mut() {
                body.push_str(text);
                body.push('\n');
            }
        }
        for (_, body) in &mut parts {
            *body = body.trim().to_owned();
        }
        Self { parts }
    }

    /// The text of a part, empty if there is none.
    #[must_use]
    pub fn part(&self, heading: &str) -> &str {
        self.parts.iter().find(|(h, _)| h == heading).map_or("", |(_, b)| b.as_str())
    }
}

/// One case of a check: facts or raw input, and what must come out.
///
/// ````text
/// ## x8 of x16 under load is a failure
/// Why this case is here, one sentence.
/// ```facts
/// gpu[0].pcie.link_width_current = 8
/// ```
/// ```expect
/// fail
/// message: 8 of 16
/// ```
/// ````
///
/// `facts` lines are `path = JSON value`; a block `input NAME` holds raw text that goes through intake; a block
/// `trace NAME` describes a profiler trace in short (see the tests' support), which goes through intake too. `expect` starts
/// with the verdict; `message: TEXT`, `missing: PATH`, `evidence: PATH`, `recoverable: NUMBER` and `quote: TEXT` must
/// then hold too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// Heading.
    pub title: String,
    /// Why it is there.
    pub why: String,
    /// Lines of the `facts` blocks.
    pub facts: Vec<String>,
    /// Name and text of the `input` blocks.
    pub inputs: Vec<(String, String)>,
    /// Name and text of the `trace` blocks.
    pub traces: Vec<(String, String)>,
    /// Lines of the `expect` block; the first is the verdict.
    pub expect: Vec<String>,
}

impl Case {
    /// Reads all cases of a case file.
    #[must_use]
    pub fn parse(text: &str) -> Vec<Self> {
        let mut cases: Vec<Self> = Vec::new();
        let mut block: Option<(String, String)> = None;
        for line in text.lines() {
            if let Some((info, body)) = &mut block {
                if line.trim_end() == "```" {
                    let (info, body) = (std::mem::take(info), std::mem::take(body));
                    block = None;
                    let Some(case) = cases.last_mut() else { continue };
                    let lines = || body.lines().map(str::to_owned).filter(|l| !l.trim().is_empty());
                    match info.split_once(' ').unwrap_or((&info, "")) {
                        ("facts", _) => case.facts.extend(lines()),
                        ("expect", _) => case.expect.extend(lines()),
                        ("input", name) => case.inputs.push((name.trim().to_owned(), body.clone())),
                        ("trace", name) => case.traces.push((name.trim().to_owned(), body.clone())),
                        _ => {}
                    }
                } else {
                    body.push_str(line);
                    body.push('\n');
                }
            } else if let Some(info) = line.strip_prefix("```") {
                block = Some((info.trim().to_owned(), String::new()));
            } else if let Some(h) = line.strip_prefix("## ") {
                cases.push(Self { title: h.trim().to_owned(), ..Self::default() });
            } else if let Some(case) = cases.last_mut()
                && !line.trim().is_empty()
            {
                if !case.why.is_empty() {
                    case.why.push(' ');
                }
                case.why.push_str(line.trim());
            }
        }
        cases
    }
}
