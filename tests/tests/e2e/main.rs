//! End to end: what a user does, with the programs that a user gets. `cargo xtask test` builds what these tests start.
//! Refusals at start and broken connections are tried with the real program in the server's own tests.

mod bundle;
mod demo;
mod flow;
mod links;
mod pages;
mod screenshot;
mod upload;
