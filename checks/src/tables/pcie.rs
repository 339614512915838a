//! PCIe transfer rates by generation.

use std::sync::LazyLock;

use super::Table;

/// One generation.
#[derive(Debug)]
pub struct PcieRate {
    /// Generation, from 1.
    pub generation: i64,
    /// Transfer rate, GT/s.
    pub gts: f64,
    /// Payload of one lane in one direction, GB/s (10⁹ bytes).
    pub lane_gb_s: f64,
}

static RATES: LazyLock<Vec<PcieRate>> = LazyLock::new(|| {
    let table = Table::named("pcie-rates.tsv");
    let read = |row: &Vec<&'static str>| {
        Some(PcieRate {
            generation: table.cell(row, "gen").parse().ok()?,
            gts: table.cell(row, "gts").parse().ok()?,
            lane_gb_s: table.cell(row, "lane_gb_s").parse().ok()?,
        })
    };
    table.rows.iter().filter_map(read).collect()
});

/// All generations, lowest first.
#[must_use]
pub fn pcie_rates() -> &'static [PcieRate] {
    &RATES
}

/// The generation of a transfer rate in GT/s, or `None` if no generation has it.
#[must_use]
pub fn gen_of_gts(gts: f64) -> Option<i64> {
    RATES.iter().find(|r| (r.gts - gts).abs() < 0.01).map(|r| r.generation)
}

/// What a link carries in one direction, GB/s, or `None` for an unknown generation.
#[must_use]
pub fn link_gb_s(generation: i64, lanes: i64) -> Option<f64> {
    let rate = RATES.iter().find(|r| r.generation == generation)?;
    #[expect(clippy::cast_precision_loss, reason = "lanes are at most 32")]
    Some(rate.lane_gb_s * lanes as f64)
}
