//! Sextant's pages. With the feature `ssr` they are rendered whole on the server through a [`backend::Backend`]; with
//! `hydrate` only the islands (small interactive pieces) are compiled for the browser.
//!
//! It holds no SQL and no HTTP routes, and it never computes a number that is not in the data of the page.
//! `ssr` and `hydrate` exclude each other.
#![cfg_attr(feature = "ssr", expect(clippy::needless_pass_by_value, reason = "components own their props"))]
#![cfg_attr(feature = "ssr", expect(unreachable_pub, reason = "the component macro makes its inner items public"))]
// The types of views nest as deep as the views do.
#![recursion_limit = "512"]

#[cfg(all(feature = "ssr", feature = "hydrate"))]
compile_error!("features `ssr` and `hydrate` exclude each other: build the server and the browser bundle apart");

#[cfg(feature = "ssr")]
pub mod app;
mod axis;
#[cfg(feature = "ssr")]
pub mod backend;
#[cfg(feature = "ssr")]
mod format;
pub mod islands;
#[cfg(feature = "ssr")]
mod pages;
#[cfg(feature = "ssr")]
mod parts;
#[cfg(feature = "ssr")]
pub mod shell;

#[cfg(feature = "ssr")]
pub use app::App;
#[cfg(feature = "ssr")]
pub use shell::shell;

/// Brings the islands of a server-rendered page to life, and shows the controls that need them.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_islands();
    islands::mark_live();
}
