//! The clock event (throttle) reasons of NVML: bit, id as facts carry it, and meaning.

use std::sync::LazyLock;

use super::Table;

/// One reason.
#[derive(Debug)]
pub struct ClockEvent {
    /// Bit in NVML's mask.
    pub bit: u64,
    /// Id as it stands in `gpu[].throttle_active`.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

static EVENTS: LazyLock<Vec<ClockEvent>> = LazyLock::new(|| {
    let table = Table::named("clock-events.tsv");
    let read = |row: &Vec<&'static str>| {
        Some(ClockEvent {
            bit: u64::from_str_radix(table.cell(row, "bit").trim_start_matches("0x"), 16).ok()?,
            id: table.cell(row, "id"),
            name: table.cell(row, "name"),
            meaning: table.cell(row, "meaning"),
        })
    };
    table.rows.iter().filter_map(read).collect()
});

/// All reasons, lowest bit first.
#[must_use]
pub fn clock_events() -> &'static [ClockEvent] {
    &EVENTS
}

/// The reason with this id.
#[must_use]
pub fn clock_event(id: &str) -> Option<&'static ClockEvent> {
    EVENTS.iter().find(|e| e.id == id)
}

/// Ids of the reasons whose bits are set in a mask, lowest bit first. Bits without a row are left out.
pub fn clock_event_ids(mask: u64) -> impl Iterator<Item = &'static str> {
    EVENTS.iter().filter(move |e| mask & e.bit != 0).map(|e| e.id)
}
