//! Sends the files one after the other, asks for one report over all of them, and tells each what it was recognised as.

use std::cell::RefCell;
use std::collections::HashMap;

use leptos::prelude::*;
use serde::Deserialize;
use web_sys::{Blob, XmlHttpRequest};

use super::{Entry, Form, State};
use crate::islands::http::{Body, Failure, call, go};

/// The kind of an input that nothing recognised.
const UNKNOWN: &str = "unknown";

thread_local! {
    /// Bytes by entry. They live outside of the signals because the server's threads must be able to hold those.
    static BYTES: RefCell<HashMap<u32, Blob>> = RefCell::default();
    static RUNNING: RefCell<HashMap<u32, XmlHttpRequest>> = RefCell::default();
    static NEXT: RefCell<u32> = const { RefCell::new(0) };
}

#[derive(Deserialize)]
struct Uploaded {
    id: String,
}

/// An upload with every name that its bytes came under.
#[derive(Deserialize)]
struct Known {
    names: Vec<String>,
}

#[derive(Deserialize)]
struct Made {
    url: String,
    ids: Vec<String>,
}

#[derive(Deserialize)]
struct Report {
    inputs: Vec<Input>,
}

#[derive(Deserialize)]
struct Input {
    name: String,
    kind: String,
    notes: Vec<Note>,
}

#[derive(Deserialize)]
struct Note {
    text: String,
}

/// Adds a file or a paste to the list.
pub(super) fn keep(form: Form, name: String, blob: Blob) {
    let id = NEXT.with_borrow_mut(|n| {
        *n += 1;
        *n
    });
    let bytes = blob.size();
    BYTES.with_borrow_mut(|all| all.insert(id, blob));
    form.entries.update(|all| all.push(Entry { id, name, bytes, state: RwSignal::new(State::Ready) }));
}

/// Drops the bytes of an entry.
pub(super) fn forget(id: u32) {
    BYTES.with_borrow_mut(|all| all.remove(&id));
}

/// Stops an upload; it stays in the list and can be sent again.
pub(super) fn abort(id: u32) {
    if let Some(xhr) = RUNNING.with_borrow_mut(|all| all.remove(&id)) {
        let _ = xhr.abort();
    }
}

/// Sends what is not there yet, then makes the report. Goes to it at once when everything was understood; otherwise it
/// stays, so that the reader sees what was not.
pub(super) async fn all(form: Form) {
    form.busy.set(true);
    form.report.set(None);
    form.says.set(String::new());
    let entries = form.entries.get_untracked();
    for entry in &entries {
        one(entry).await;
    }
    match report(&entries).await {
        Ok(None) => form.says.set("Nothing was sent, so there is no report.".into()),
        Ok(Some(url)) => {
            let well = entries.iter().all(|e| matches!(e.state.get_untracked(), State::Read { .. }));
            if well {
                go(&url);
            }
            form.report.set(Some(url));
        }
        Err(Failure { what, fix }) => form.says.set(format!("{what} {fix}")),
    }
    form.busy.set(false);
}

async fn one(entry: &Entry) {
    let (id, state) = (entry.id, entry.state);
    if !matches!(state.get_untracked(), State::Ready | State::Failed { .. }) {
        return;
    }
    let Some(blob) = BYTES.with_borrow(|all| all.get(&id).cloned()) else { return };
    state.set(State::Sending(0.0));
    let url = format!("/api/v1/uploads?name={}", js_sys::encode_uri_component(&entry.name));
    let started = |xhr: &XmlHttpRequest| {
        RUNNING.with_borrow_mut(|all| all.insert(id, xhr.clone()));
    };
    let answer = call::<Uploaded>(&url, Body::Raw(&blob), started, move |p| state.set(State::Sending(p))).await;
    let aborted = RUNNING.with_borrow_mut(|all| all.remove(&id)).is_none();
    state.set(match answer {
        Ok(Uploaded { id }) => State::Sent(id),
        Err(_) if aborted => {
            State::Failed { what: "Cancelled.".into(), fix: "press Send to send it after all.".into() }
        }
        Err(Failure { what, fix }) => State::Failed { what, fix },
    });
}

/// Makes one report over everything that was sent and tells each entry its kind. `None` if nothing was sent.
async fn report(entries: &[Entry]) -> Result<Option<String>, Failure> {
    let sent: Vec<(&Entry, String)> = entries
        .iter()
        .filter_map(|e| if let State::Sent(id) = e.state.get_untracked() { Some((e, id)) } else { None })
        .collect();
    if sent.is_empty() {
        return Ok(None);
    }
    let ids: Vec<&str> = sent.iter().map(|(_, id)| id.as_str()).collect();
    let body = serde_json::json!({ "uploads": ids }).to_string();
    let made: Made = call("/api/v1/reports", Body::Json(&body), |_| {}, |_| {}).await?;
    let mut inputs = Vec::new();
    // Several hosts give several reports over the same inputs; the first lists them all.
    if let Some(id) = made.ids.first() {
        let report: Report = call(&format!("/api/v1/reports/{id}"), Body::None, |_| {}, |_| {}).await?;
        inputs = report.inputs;
    }
    for (entry, id) in sent {
        // Bytes that were known before are listed under the name that they came with first.
        let names = match call::<Known>(&format!("/api/v1/uploads/{id}"), Body::None, |_| {}, |_| {}).await {
            Ok(Known { names }) => names,
            Err(_) => vec![entry.name.clone()],
        };
        let called = |i: &&Input| names.iter().any(|n| i.name == *n || i.name.starts_with(&format!("{n} → ")));
        let of: Vec<&Input> = inputs.iter().filter(called).collect();
        entry.state.set(understood(&of));
    }
    Ok(Some(made.url))
}

fn understood(inputs: &[&Input]) -> State {
    let notes = inputs.iter().flat_map(|i| i.notes.iter().map(|n| n.text.clone())).collect();
    let mut kinds: Vec<&str> = inputs.iter().map(|i| i.kind.as_str()).filter(|k| *k != UNKNOWN).collect();
    kinds.dedup();
    if kinds.is_empty() { State::NotUnderstood(notes) } else { State::Read { kinds: kinds.join(", "), notes } }
}
