//! The keyboard: moving between rows, layers and pages, and the list of keys behind `?`.
//!
//! It moves focus and presses what is on the page already; it has no function of its own. Single keys can be switched
//! off in the list (WCAG 2.1.4); the choice stays in the browser.

use leptos::html::Dialog;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, KeyboardEvent};

use super::copy;
use super::http::go;

/// Name under which the browser keeps "off".
const STORE: &str = "sextant-single-keys";

/// Keys and what they do, as the list shows them.
const KEYS: [(&str, &str); 10] = [
    ("/", "go to a node, run or check"),
    ("j k", "next and previous row, finding or check"),
    ("Enter", "open the row; open or close the check"),
    ("1 … 6", "that layer; in the node list, its filter"),
    ("[ ]", "layer below and layer above"),
    ("c", "copy the command of the check, or the page’s next command"),
    ("g n, g r", "nodes, runs"),
    ("u", "upload"),
    ("t", "light or dark"),
    ("?", "this list"),
];

/// The button in the top bar, the list, and the listeners.
#[island]
pub fn Keys() -> impl IntoView {
    let dialog = NodeRef::<Dialog>::new();
    let on = RwSignal::new(true);
    let announce = RwSignal::new(String::new());
    let pending_g = StoredValue::new(false);
    let open = move || {
        if let Some(d) = dialog.get_untracked() {
            let _ = d.show_modal();
        }
    };
    Effect::new(move || {
        on.set(stored() != Some("off".to_owned()));
        copy::install(announce);
        let handle = window_event_listener(leptos::ev::keydown, move |ev| {
            if ev.ctrl_key()
                || ev.meta_key()
                || ev.alt_key()
                || ev.is_composing()
                || in_field(&ev)
                || !on.get_untracked()
            {
                return;
            }
            let after_g = pending_g.get_value();
            pending_g.set_value(false);
            let did = match (ev.key().as_str(), after_g) {
                ("n", true) => act(|| go("/")),
                ("r", true) => act(|| go("/runs")),
                ("g", _) => act(|| pending_g.set_value(true)),
                ("u", _) => act(|| go("/upload")),
                ("?", _) => act(open),
                ("/", _) => first("[data-search]").is_some_and(|e| e.focus().is_ok()),
                ("t", _) => press("[data-key=t]"),
                ("j", _) => step(1),
                ("k", _) => step(-1),
                ("c", _) => copy_near(announce),
                ("[", _) => layer_by(-1),
                ("]", _) => layer_by(1),
                (n @ ("1" | "2" | "3" | "4" | "5" | "6"), _) => press(&format!("a[data-layer='{n}']")),
                _ => false,
            };
            if did {
                ev.prevent_default();
            }
        });
        on_cleanup(move || handle.remove());
    });
    let toggled = move |ev| {
        let now = event_target_checked(&ev);
        on.set(now);
        if let Ok(Some(store)) = window().local_storage() {
            let _ = store.set_item(STORE, if now { "on" } else { "off" });
        }
    };
    let rows = KEYS.map(|(key, does)| {
        view! {
            <dt>
                <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
        }
    });
    view! {
        <button class="btn quiet needs-live keys-open" type="button" aria-label="Keyboard" title="Keyboard (?)" on:click=move |_| open()>
            "?"
        </button>
        <span class="vh" role="status">
            {move || announce.get()}
        </span>
        <dialog class="card keys" node_ref=dialog aria-labelledby="keys-h">
            <form method="dialog" class="body stack-y">
                <h2 id="keys-h">"Keyboard"</h2>
                <dl class="rows">{rows.into_iter().collect_view()}</dl>
                <label class="small">
                    <input type="checkbox" prop:checked=move || on.get() on:change=toggled />
                    " Single keys are on (Tab, arrows and Enter always work)"
                </label>
                <div class="actions">
                    <button class="btn" type="submit">
                        "Close"
                    </button>
                </div>
            </form>
        </dialog>
    }
    .into_any()
}

fn act(f: impl FnOnce()) -> bool {
    f();
    true
}

fn stored() -> Option<String> {
    window().local_storage().ok()??.get_item(STORE).ok()?
}

/// True while the reader types, or a dialog is open.
fn in_field(ev: &KeyboardEvent) -> bool {
    let target = ev.target().and_then(|t| t.dyn_into::<Element>().ok());
    target
        .is_some_and(|t| t.closest("input, textarea, select, dialog[open], [contenteditable]").ok().flatten().is_some())
}

fn all(selector: &str) -> Vec<HtmlElement> {
    let Ok(list) = document().query_selector_all(selector) else { return Vec::new() };
    (0..list.length()).filter_map(|i| list.get(i)?.dyn_into().ok()).collect()
}

fn first(selector: &str) -> Option<HtmlElement> {
    all(selector).into_iter().next()
}

fn press(selector: &str) -> bool {
    first(selector).is_some_and(|e| act(|| e.click()))
}

/// Moves the focus to the next or previous row: its link or its summary, so that Enter does the rest.
fn step(by: i32) -> bool {
    let rows: Vec<HtmlElement> = all("[data-row]").into_iter().filter(|r| r.offset_parent().is_some()).collect();
    let active = document().active_element();
    let now = rows.iter().position(|r| active.as_ref().is_some_and(|a| r.contains(Some(a))));
    let last = rows.len().checked_sub(1);
    let next = match (now, by > 0) {
        (Some(i), true) => Some(i + 1),
        (Some(i), false) => i.checked_sub(1),
        (None, true) => Some(0),
        (None, false) => last,
    };
    let Some(row) = next.and_then(|i| rows.get(i)) else { return false };
    let Ok(Some(target)) = row.query_selector("summary, [data-open]") else { return false };
    target.dyn_into::<HtmlElement>().is_ok_and(|t| t.focus().is_ok())
}

/// Opens the layer below or above the one that is open.
fn layer_by(by: i32) -> bool {
    let open = first("a.rung[aria-current]").and_then(|e| e.get_attribute("data-layer")?.parse::<i32>().ok());
    open.is_some_and(|n| press(&format!("a.rung[data-layer='{}']", n + by)))
}

/// Copies the first command of the focused row, or of the page's "next" box, or of the page.
fn copy_near(announce: RwSignal<String>) -> bool {
    let row = document().active_element().and_then(|a| a.closest("[data-row]").ok().flatten());
    let near = row.and_then(|r| r.query_selector("[data-copy]").ok().flatten());
    let button = near.or_else(|| first(".next [data-copy], [data-copy]").map(Into::into));
    button.is_some_and(|b| act(|| copy::copy(&b, announce)))
}
