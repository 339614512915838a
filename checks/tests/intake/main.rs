//! Intake from bytes to facts: every format, broken input, containers.
#![expect(clippy::unwrap_used, reason = "tests")]

mod bad_input;
mod broken;
mod common;
mod containers;
mod corpus;
mod formats;
mod logs;
mod paste;
