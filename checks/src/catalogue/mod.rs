//! The catalogue: every check, its documentation and its cases.
//!
//! One check is one file under its layer and one case file. `generated.rs` lists them; `cargo xtask codegen` writes it
//! (its form is the generator's, so rustfmt leaves it alone).

mod common;
mod docs;
#[rustfmt::skip]
mod generated;
mod ncu;
mod traced;

pub use docs::{Case, Docs};

use crate::check::Check;

/// One check with the texts that belong to it.
#[derive(Debug)]
pub struct Entry {
    /// The check.
    pub check: &'static Check,
    /// Its source file, whose head is its documentation.
    source: &'static str,
    /// Its case file.
    cases: &'static str,
}

impl Entry {
    /// The documentation in its fixed parts.
    #[must_use]
    pub fn docs(&self) -> Docs {
        Docs::parse(self.source)
    }

    /// The cases, which serve as examples and as tests.
    #[must_use]
    pub fn cases(&self) -> Vec<Case> {
        Case::parse(self.cases)
    }
}

/// All entries, by layer and id.
#[must_use]
pub fn entries() -> &'static [Entry] {
    generated::ENTRIES
}

/// All checks, by layer and id.
#[must_use]
pub fn all() -> &'static [&'static Check] {
    generated::CHECKS
}

/// The check with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Check> {
    all().iter().copied().find(|c| c.id == id)
}

/// The entry with this id.
#[must_use]
pub fn entry(id: &str) -> Option<&'static Entry> {
    entries().iter().find(|e| e.check.id == id)
}
