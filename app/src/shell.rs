//! The HTML document around every page: head, theme, scripts, skip link.
//!
//! It knows the request's theme cookie and nothing else of the request.

use leptos::config::LeptosOptions;
use leptos::prelude::*;
use leptos_meta::MetaTags;

use crate::app::App;
use crate::islands::theme::{COOKIE, Theme};

/// The tab's icon: the brand's mark.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 22 22' fill='none' \
    stroke='%231b5fb4' stroke-width='2'%3E%3Cpath d='M2.5 15.5A11.5 11.5 0 0 0 19.5 15.5M11 3 2.5 15.5M11 3l8.5 \
    12.5M11 3v9'/%3E%3C/svg%3E";

/// The document. `options` names the browser bundle (`/pkg/sextant.js`).
pub fn shell(options: LeptosOptions) -> impl IntoView {
    view! {
        <!DOCTYPE html>
        <html lang="en" data-theme=theme().map(Theme::id)>
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <link rel="icon" href=ICON />
                <link rel="stylesheet" href="/assets/sextant.css" />
                <HydrationScripts options islands=true />
                <MetaTags />
            </head>
            <body>
                <a class="skip" href="#main">
                    "Skip to content"
                </a>
                <App />
            </body>
        </html>
    }
}

/// The theme that the reader chose earlier; `None` leaves it to the system.
fn theme() -> Option<Theme> {
    let parts = use_context::<http::request::Parts>()?;
    let cookies = parts.headers.get_all(http::header::COOKIE).iter().filter_map(|v| v.to_str().ok());
    cookies
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE)
        .and_then(|(_, value)| Theme::from_id(value))
}
