//! Waits for the first snapshot and then shows the node list.

use std::time::Duration;

use leptos::prelude::*;
use serde::Deserialize;

use super::http::{Body, call, go};

/// How often the server is asked.
const EVERY: Duration = Duration::from_secs(3);

#[derive(Deserialize)]
struct Nodes {
    items: Vec<serde::de::IgnoredAny>,
}

/// "waiting for the first snapshot …", until there is one.
#[island]
pub fn WaitForNode() -> impl IntoView {
    Effect::new(|| {
        let Ok(timer) = set_interval_with_handle(ask, EVERY) else { return };
        on_cleanup(move || timer.clear());
    });
    view! {
        <div class="progress only-live" role="status">
            <span>
                <span class="skel dot"></span>
                " waiting for the first snapshot …"
            </span>
        </div>
    }
}

fn ask() {
    if document().hidden() {
        return;
    }
    wasm_bindgen_futures::spawn_local(async {
        // A server that does not answer is asked again by the next tick.
        if let Ok(nodes) = call::<Nodes>("/api/v1/nodes?limit=1", Body::None, |_| {}, |_| {}).await
            && !nodes.items.is_empty()
        {
            go("/");
        }
    });
}
