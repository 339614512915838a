//! CUDA toolkits, the drivers that run them, and the architectures that they know.
//!
//! A newer driver always runs older CUDA code: there is a least driver and no greatest.

use std::sync::LazyLock;

use super::Table;

/// One toolkit release (major and minor).
#[derive(Debug)]
pub struct Toolkit {
    /// Major and minor number.
    pub version: (u32, u32),
    /// Driver that comes with its first release: every feature works from there on.
    pub bundled: &'static str,
}

/// One architecture, with the toolkits and drivers that know it.
#[derive(Debug)]
pub struct Architecture {
    /// Name.
    pub name: &'static str,
    /// First compute capability of it.
    pub capability: (u32, u32),
    /// First toolkit that compiles for it.
    pub first_cuda: (u32, u32),
    /// Last toolkit that does, where there is one.
    pub last_cuda: Option<(u32, u32)>,
    /// Last driver branch that runs it, where there is one.
    pub last_driver: Option<u32>,
}

static TOOLKITS: LazyLock<Vec<Toolkit>> = LazyLock::new(|| {
    let table = Table::named("cuda-drivers.tsv");
    let read = |row: &Vec<&'static str>| {
        Some(Toolkit { version: pair(table.cell(row, "toolkit"))?, bundled: table.cell(row, "bundled") })
    };
    table.rows.iter().filter_map(read).collect()
});

static ARCHITECTURES: LazyLock<Vec<Architecture>> = LazyLock::new(|| {
    let table = Table::named("architectures.tsv");
    let read = |row: &Vec<&'static str>| {
        Some(Architecture {
            name: table.cell(row, "architecture"),
            capability: pair(table.cell(row, "capability"))?,
            first_cuda: pair(table.cell(row, "first_cuda"))?,
            last_cuda: pair(table.cell(row, "last_cuda")),
            last_driver: table.cell(row, "last_driver").parse().ok(),
        })
    };
    table.rows.iter().filter_map(read).collect()
});

/// The toolkit of a version such as `12.4`.
#[must_use]
pub fn toolkit(version: (u32, u32)) -> Option<&'static Toolkit> {
    TOOLKITS.iter().find(|t| t.version == version)
}

/// The least driver that runs code of a toolkit family (11 and newer), on Linux or on Windows.
#[must_use]
pub fn family_floor(major: u32, windows: bool) -> Option<&'static str> {
    let table = Table::named("cuda-families.tsv");
    let row = table.rows.iter().find(|r| table.cell(r, "family").parse() == Ok(major))?;
    Some(table.cell(row, if windows { "windows" } else { "linux" })).filter(|v| !v.is_empty())
}

/// The architecture of a compute capability: the newest whose first capability is not above it, within its major
/// number. A major number that is not in the table has none.
#[must_use]
pub fn architecture(capability: (u32, u32)) -> Option<&'static Architecture> {
    ARCHITECTURES
        .iter()
        .filter(|a| a.capability.0 == capability.0 && a.capability <= capability)
        .max_by_key(|a| a.capability)
}

/// `12.4` as two numbers; further parts are left out.
fn pair(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim().split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}
