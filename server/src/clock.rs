//! Time and ids: the one place that reads the clock and makes identifiers.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in epoch milliseconds.
#[must_use]
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A new id: UUIDv7, so that ids sort by the time they were made.
#[must_use]
pub fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// The canonical form of an id, `None` if it is not one.
#[must_use]
pub fn parse_id(text: &str) -> Option<String> {
    uuid::Uuid::try_parse(text).ok().map(|u| u.to_string())
}
