//! GPU models: native PCIe link, the width below which NVIDIA's own diagnostic fails, and the class of board.
//!
//! Names come in many spellings ("Tesla T4", "NVIDIA A100-SXM4-80GB", "GA100 [A100 PCIe 40GB]"), so they are compared
//! word by word. A model that is not listed has no entry; its class may still follow from its name.

use std::sync::LazyLock;

use super::Table;

/// The kind of board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Data-centre board.
    DataCentre,
    /// Professional workstation board.
    Workstation,
    /// Consumer board.
    GeForce,
    /// Grace module: data moves over C2C, PCIe is for management.
    Grace,
    /// Integrated (Jetson, Spark): no PCIe verdict.
    Soc,
}

/// One model.
#[derive(Debug)]
pub struct Model {
    /// Name as in the table.
    pub name: &'static str,
    words: Vec<String>,
    /// Native PCIe generation.
    pub native_gen: Option<i64>,
    /// Native lanes.
    pub native_width: Option<i64>,
    /// Lanes below which DCGM's diagnostic fails.
    pub min_width: Option<i64>,
    /// Kind of board.
    pub class: Class,
}

static MODELS: LazyLock<Vec<Model>> = LazyLock::new(|| {
    let table = Table::named("gpu-models.tsv");
    let read = |row: &Vec<&'static str>| {
        let name = table.cell(row, "model");
        Model {
            name,
            words: words(name),
            native_gen: table.cell(row, "native_gen").parse().ok(),
            native_width: table.cell(row, "native_width").parse().ok(),
            min_width: table.cell(row, "min_width").parse().ok(),
            class: match table.cell(row, "class") {
                "datacentre" => Class::DataCentre,
                "workstation" => Class::Workstation,
                "grace" => Class::Grace,
                "soc" => Class::Soc,
                _ => Class::GeForce,
            },
        }
    };
    let mut models: Vec<Model> = table.rows.iter().map(read).collect();
    // The longest name that fits is the model: "RTX 3060 Ti" before "RTX 3060".
    models.sort_by_key(|m| std::cmp::Reverse(m.words.len()));
    models
});

/// The entry of a product name.
#[must_use]
pub fn model(name: &str) -> Option<&'static Model> {
    if is_laptop(name) {
        // Laptop boards share names with desktop boards and have links of their own.
        return None;
    }
    let have = words(name);
    MODELS.iter().find(|m| have.windows(m.words.len()).any(|w| w == m.words))
}

/// Words of a model name, and its compute capability.
type Capability = (Vec<String>, (u32, u32));

static CAPABILITIES: LazyLock<Vec<Capability>> = LazyLock::new(|| {
    let table = Table::named("compute-capability.tsv");
    let read = |row: &Vec<&'static str>| {
        let (major, minor) = table.cell(row, "capability").split_once('.')?;
        Some((words(table.cell(row, "model")), (major.parse().ok()?, minor.parse().ok()?)))
    };
    let mut rows: Vec<_> = table.rows.iter().filter_map(read).collect();
    rows.sort_by_key(|(w, _)| std::cmp::Reverse(w.len()));
    rows
});

/// The compute capability of a product name. Laptop boards have the capability of the desktop boards they are named
/// after.
#[must_use]
pub fn capability(name: &str) -> Option<(u32, u32)> {
    let have = words(name);
    CAPABILITIES.iter().find(|(w, _)| have.windows(w.len()).any(|h| h == w)).map(|(_, cc)| *cc)
}

/// The class of a product name, from the table or else from the brand words in it.
#[must_use]
pub fn class(name: &str) -> Option<Class> {
    if let Some(m) = model(name) {
        return Some(m.class);
    }
    let have = words(name);
    let any = |list: &[&str]| have.iter().any(|w| list.contains(&w.as_str()));
    if any(&["GEFORCE", "GTX", "TITAN", "MX", "GT"]) {
        Some(Class::GeForce)
    } else if any(&["QUADRO", "NVS", "ADA"]) || (any(&["RTX"]) && any(&["PRO"])) {
        Some(Class::Workstation)
    } else if any(&["TESLA"]) {
        Some(Class::DataCentre)
    } else {
        None
    }
}

/// True if the name is that of a laptop board.
#[must_use]
pub fn is_laptop(name: &str) -> bool {
    let have = words(name);
    let mobile = |w: &String| {
        // 850M, K2100M, 1050M: digits with an M at the end. "SXM" and "HBM" have no digit before the M.
        let Some(rest) = w.strip_suffix('M') else { return false };
        let digits = rest.trim_start_matches(|c: char| c.is_ascii_uppercase());
        rest.len() <= 5 && digits.len() >= 3 && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let max_q = have.windows(2).any(|w| w == ["MAX", "Q"]);
    let mx = have.iter().any(|w| w.starts_with("MX") && w.len() > 2 && w[2..].bytes().all(|b| b.is_ascii_digit()));
    max_q || mx || have.iter().any(|w| w == "LAPTOP" || w == "MOBILE" || mobile(w))
}

/// Upper-case words of a name; brand words that stand in some spellings only are left out.
fn words(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| !w.is_empty())
        .map(str::to_ascii_uppercase)
        .filter(|w| w != "NVIDIA" && w != "CORPORATION")
        .collect()
}
