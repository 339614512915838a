//! Writes what follows from the check files: the list of all checks.
//!
//! One check is one file `checks/src/catalogue/<layer>/<slug>.rs` and one case file `checks/cases/<layer>/<slug>.md`; this
//! module reads file names and text only and does not depend on the crates that it lists.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// Ids of the layers, bottom-up; each is a folder of the catalogue.
pub(crate) const LAYERS: [&str; 6] = ["driver", "runtime", "memory", "compute", "pipeline", "framework"];

/// A check, as its file name tells it.
struct CheckFile {
    layer: &'static str,
    /// File stem, with underscores.
    stem: String,
}

impl CheckFile {
    fn slug(&self) -> String {
        self.stem.replace('_', "-")
    }

    fn module(&self) -> String {
        format!("{}_{}", self.layer, self.stem)
    }
}

/// Writes the generated files, or with `check` only compares them.
///
/// # Errors
/// A check lacks its case file, a file cannot be read or written, or (with `check`) a generated file is stale.
pub(crate) fn run(check: bool) -> Result<()> {
    let root = root();
    let checks = scan(&root)?;
    let mut stale = Vec::new();
    for (path, want) in [(root.join("checks/src/catalogue/generated.rs"), list(&checks))] {
        if fs::read_to_string(&path).is_ok_and(|have| have == want) {
            continue;
        }
        let shown = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        if check {
            stale.push(shown);
            continue;
        }
        fs::write(&path, want).with_context(|| format!("cannot write {shown}"))?;
        println!("wrote {shown}");
    }
    if stale.is_empty() {
        return Ok(());
    }
    bail!("stale: {}. Run `cargo xtask codegen` and commit the result.", stale.join(", "))
}

/// The workspace's root folder.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// All check files by layer and slug.
fn scan(root: &Path) -> Result<Vec<CheckFile>> {
    let mut found = Vec::new();
    for layer in LAYERS {
        let folder = root.join("checks/src/catalogue").join(layer);
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let mut stems = Vec::new();
        for entry in entries {
            let path = entry.with_context(|| format!("cannot list {}", folder.display()))?.path();
            if path.extension().is_some_and(|e| e == "rs")
                && let Some(stem) = path.file_stem().and_then(|s| s.to_str())
            {
                stems.push(stem.to_owned());
            }
        }
        stems.sort_unstable_by_key(|s| s.replace('_', "-"));
        for stem in stems {
            let check = CheckFile { layer, stem };
            let cases = root.join(format!("checks/cases/{layer}/{}.md", check.slug()));
            if !cases.exists() {
                bail!("{layer}/{} has no case file {}", check.slug(), cases.display());
            }
            found.push(check);
        }
    }
    Ok(found)
}

/// Rust source of the list.
fn list(checks: &[CheckFile]) -> String {
    let mut modules = String::new();
    let mut statics = String::new();
    let mut entries = String::new();
    for c in checks {
        let (layer, stem, slug, module) = (c.layer, &c.stem, c.slug(), c.module());
        // Writing to a String cannot fail.
        let _ = writeln!(modules, "#[path = \"{layer}/{stem}.rs\"]\nmod {module};");
        let _ = writeln!(statics, "    &{module}::CHECK,");
        let _ = writeln!(
            entries,
            "    Entry {{\n        check: &{module}::CHECK,\n        source: include_str!(\"{layer}/{stem}.rs\"),\n        \
             cases: include_str!(\"../../cases/{layer}/{slug}.md\"),\n    }},"
        );
    }
    format!(
        "//! The list of checks, by layer and id. Written by `cargo xtask codegen`; a test fails when it is stale.\n\n\
         use super::Entry;\nuse crate::check::Check;\n\n{modules}\n\
         /// Every check.\npub(super) static CHECKS: &[&Check] = &[\n{statics}];\n\n\
         /// Every check with its texts.\npub(super) static ENTRIES: &[Entry] = &[\n{entries}];\n"
    )
}
