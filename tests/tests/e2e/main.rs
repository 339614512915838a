//! End to end: what a user does, with the programs that a user gets. `cargo xtask test` builds what these tests start.

mod bundle;
mod demo;
mod links;
mod refusals;
