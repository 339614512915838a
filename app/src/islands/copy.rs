//! Copy buttons. One listener serves every button of the class of `[data-copy]`, however many commands a page has.

use std::time::Duration;

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Element, HtmlElement};

/// How long a button says that it has copied.
const SAYS_FOR: Duration = Duration::from_millis(1500);

/// Listens for presses anywhere on the page. `announce` tells screen readers what happened.
pub(super) fn install(announce: RwSignal<String>) {
    let handle = window_event_listener(leptos::ev::click, move |ev| {
        let target = ev.target().and_then(|t| t.dyn_into::<Element>().ok());
        let Some(button) = target.and_then(|t| t.closest("[data-copy]").ok().flatten()) else { return };
        copy(&button, announce);
    });
    on_cleanup(move || handle.remove());
}

/// Copies the command beside a button.
pub(super) fn copy(button: &Element, announce: RwSignal<String>) {
    let Ok(button) = button.clone().dyn_into::<HtmlElement>() else { return };
    let Some(code) = button.parent_element().and_then(|p| p.query_selector("code").ok().flatten()) else { return };
    let text = code.text_content().unwrap_or_default().trim_end().to_owned();
    spawn_local(async move {
        // Browsers offer no clipboard on plain HTTP addresses other than this machine's own.
        let offered = window().is_secure_context();
        let done = offered && JsFuture::from(window().navigator().clipboard().write_text(&text)).await.is_ok();
        let says = if done { "Copied" } else { "Press Ctrl C" };
        if !done {
            select(&code);
        }
        button.set_inner_text(says);
        announce.set(if done { "Copied.".into() } else { "Selected; copy it by hand.".into() });
        set_timeout(
            move || {
                button.set_inner_text("Copy");
                announce.set(String::new());
            },
            SAYS_FOR,
        );
    });
}

fn select(code: &Element) {
    let (Ok(range), Ok(Some(selection))) = (document().create_range(), window().get_selection()) else { return };
    if range.select_node_contents(code).is_ok() && selection.remove_all_ranges().is_ok() {
        let _ = selection.add_range(&range);
    }
}
