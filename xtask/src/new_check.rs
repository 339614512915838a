//! Lays the two files of a check, so that adding one starts from the fixed parts.
//!
//! What it writes compiles and says "unknown"; the tests of the catalogue refuse it until documentation, rule and cases
//! are filled in.

use std::fs;

use anyhow::{Context as _, Result, bail};

use crate::codegen::{self, LAYERS};

/// Writes `checks/src/catalogue/<layer>/<slug>.rs` and its case file, and adds the check to the generated list.
///
/// # Errors
/// The layer or slug is malformed, one of the files exists, or a file cannot be written.
pub(crate) fn run(layer: &str, slug: &str) -> Result<()> {
    if !LAYERS.contains(&layer) {
        bail!("{layer:?} is not a layer; the layers are {}", LAYERS.join(", "));
    }
    let part = |p: &str| !p.is_empty() && p.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if !slug.split('-').all(part) {
        bail!("{slug:?} is not a slug: lower-case words joined by single hyphens");
    }
    let root = codegen::root();
    let source = root.join(format!("checks/src/catalogue/{layer}/{}.rs", slug.replace('-', "_")));
    let cases = root.join(format!("checks/cases/{layer}/{slug}.md"));
    for (path, text) in [(&source, source_text(layer, slug)), (&cases, case_text(layer, slug))] {
        if path.exists() {
            bail!("{} is there already", path.display());
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("wrote {}", path.display());
    }
    codegen::run(false)
}

fn source_text(layer: &str, slug: &str) -> String {
    let variant = layer[..1].to_uppercase() + &layer[1..];
    format!(
        r#"//! # What it looks for
//!
//! # Why it wastes the GPU
//!
//! # Confirm by hand
//!
//! # Fix
//!
//! # Limits
//!
//! # References

use crate::check::{{Ctx, Missing, Verdict, cmd, verify}};
use crate::report::{{Applicability, Fix}};

crate::check! {{
    id: "{layer}/{slug}", layer: {variant}, title: "", severity: Medium, core: false,
    minutes: 1, evidence: [],
}}

fn run(_cx: &Ctx<'_>) -> Result<Verdict, Missing> {{
    Err(Missing::other("a rule"))
}}

fn fix(_cx: &Ctx<'_>) -> Fix {{
    Fix {{ steps: vec![cmd("", "", &[])], applicability: Applicability::Manual, verify: verify("", "") }}
}}
"#
    )
}

fn case_text(layer: &str, slug: &str) -> String {
    use std::fmt::Write as _;
    let mut out = format!("# {layer}/{slug}\n");
    let fence = "```";
    for (title, verdict) in [
        ("Found", "fail"),
        ("Passes", "pass"),
        ("Nothing known", "unknown"),
        ("Looks like it but is normal (false-alarm trap)", "pass"),
    ] {
        let _ = write!(out, "\n## {title}\n\n{fence}facts\n{fence}\n{fence}expect\n{verdict}\n{fence}\n");
    }
    out
}
