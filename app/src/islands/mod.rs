//! The interactive pieces. They are rendered on the server like everything else and hydrated in the browser.
//!
//! They know the page's markup and the HTTP API, and nothing of the domain: no check, no report type is in the bundle.
//! Browser calls stand in event handlers and effects only, which never run on the server.
#![expect(missing_docs, reason = "the island macro makes items without documentation")]

pub mod chart;
mod copy;
mod http;
pub mod keys;
pub mod theme;
pub mod upload;
pub mod wait;

/// Marks the document as alive: the stylesheet shows the controls that need it from now on.
#[cfg(feature = "hydrate")]
pub(crate) fn mark_live() {
    if let Some(root) = leptos::prelude::document().document_element() {
        let _ = root.set_attribute("data-live", "");
    }
}
