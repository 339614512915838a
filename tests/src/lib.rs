//! What the end-to-end tests share: the built programs, a server on a free port, plain HTTP and a real browser.
//!
//! Nothing here links the project's crates. A test sees what a user sees: programs, files, HTTP and pages.

pub mod browser;
pub mod http;
pub mod programs;
pub mod server;
