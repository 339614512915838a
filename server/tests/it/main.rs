//! The server from outside: routes called directly, and the real program over TCP.
#![expect(clippy::unwrap_used, reason = "tests")]

mod access;
mod bad_input;
mod pages;
mod process;
mod reports;
mod runs;
mod snapshots;
mod support;
mod uploads;
