//! The switch between light and dark. The choice is kept in a cookie, so that the server renders the next page in it and
//! nothing flashes.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// Name of the cookie that keeps the choice.
pub(crate) const COOKIE: &str = "theme";

/// A theme that the reader chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    Light,
    Dark,
}

impl Theme {
    /// The value of the cookie and of `data-theme`.
    pub(crate) const fn id(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The theme of that value; anything else is no choice.
    pub(crate) fn from_id(id: &str) -> Option<Self> {
        match id {
            "light" => Some(Self::Light),
            "dark" => Some(Self::Dark),
            _ => None,
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::Light => Self::Dark,
            Self::Dark => Self::Light,
        }
    }
}

/// The button in the top bar.
#[island]
pub fn ThemeSwitch() -> impl IntoView {
    view! {
        <button
            class="btn quiet needs-live"
            type="button"
            aria-label="Switch between light and dark"
            title="Light or dark (t)"
            data-key="t"
            on:click=move |_| switch()
        >
            <svg viewBox="0 0 16 16" aria-hidden="true">
                <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" stroke-width="1.6" />
                <path d="M8 1.8a6.2 6.2 0 0 1 0 12.400z" fill="currentColor" />
            </svg>
        </button>
    }
}

/// Turns the theme that is seen now into the other one and remembers it for a year.
fn switch() {
    let Some(root) = document().document_element() else { return };
    let system = || {
        let dark = window().match_media("(prefers-color-scheme: dark)").ok().flatten().is_some_and(|m| m.matches());
        if dark { Theme::Dark } else { Theme::Light }
    };
    let now = root.get_attribute("data-theme").and_then(|t| Theme::from_id(&t)).unwrap_or_else(system);
    let next = now.other().id();
    let _ = root.set_attribute("data-theme", next);
    if let Some(doc) = document().dyn_ref::<web_sys::HtmlDocument>() {
        let _ = doc.set_cookie(&format!("{COOKIE}={next}; path=/; max-age=31536000; samesite=lax"));
    }
}
