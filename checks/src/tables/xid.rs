//! The Xid catalogue: what a code means and how grave it is. It does not know in which log a code stood.

use std::sync::LazyLock;

use super::Table;

/// How grave one occurrence of a code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// The GPU is broken or must be reset.
    Fail,
    /// Needs a look soon.
    Warn,
    /// Worth knowing once; a warning when it repeats or a hardware code follows.
    Repeat,
    /// Worth knowing.
    Info,
    /// The line itself says how grave it is.
    Text,
}

/// One entry of the catalogue.
#[derive(Debug)]
pub struct Xid {
    /// First and last code of each range that the entry stands for.
    codes: Vec<(u32, u32)>,
    /// Short name.
    pub name: &'static str,
    /// Grade of one occurrence.
    pub grade: Grade,
    /// Where the cause usually lies: application, driver, hardware, link, power, firmware or unknown.
    pub origin: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What to do.
    pub action: &'static str,
    /// It comes after another error and never counts by itself.
    pub follows: bool,
}

static XIDS: LazyLock<Vec<Xid>> = LazyLock::new(|| {
    let table = Table::named("xid.tsv");
    let read = |row: &Vec<&'static str>| Xid {
        codes: ranges(table.cell(row, "codes")),
        name: table.cell(row, "name"),
        grade: match table.cell(row, "grade") {
            "fail" => Grade::Fail,
            "warn" => Grade::Warn,
            "repeat" => Grade::Repeat,
            "text" => Grade::Text,
            _ => Grade::Info,
        },
        origin: table.cell(row, "origin"),
        meaning: table.cell(row, "meaning"),
        action: table.cell(row, "action"),
        follows: table.cell(row, "follows") == "yes",
    };
    table.rows.iter().map(read).collect()
});

/// The entry of a code, or `None` if the catalogue does not have it.
#[must_use]
pub fn xid(code: u32) -> Option<&'static Xid> {
    XIDS.iter().find(|x| x.codes.iter().any(|(a, b)| (*a..=*b).contains(&code)))
}

/// Every code of the catalogue with its entry, in the order of the file.
pub fn xids() -> impl Iterator<Item = (u32, &'static Xid)> {
    XIDS.iter().flat_map(|x| x.codes.iter().flat_map(move |(a, b)| (*a..=*b).map(move |c| (c, x))))
}

/// `39-41,85` as ranges; a malformed part is left out, and a test compares the codes with those expected.
fn ranges(text: &str) -> Vec<(u32, u32)> {
    let one = |part: &str| {
        let (a, b) = part.split_once('-').unwrap_or((part, part));
        Some((a.trim().parse().ok()?, b.trim().parse().ok()?))
    };
    text.split(',').filter_map(one).collect()
}
