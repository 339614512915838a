//! The upload form: a plain multipart form that sends `files` and `paste` to `/upload`, and in the browser a list of
//! files that can be dropped, watched, cancelled and tried again one by one.
//!
//! What a file is, is said by the server's report; nothing is recognised here.

mod send;

use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// A file or pasted text on its way. Its bytes are kept in [`send`].
#[derive(Clone)]
struct Entry {
    id: u32,
    name: String,
    bytes: f64,
    state: RwSignal<State>,
}

#[derive(Clone, PartialEq)]
enum State {
    Ready,
    /// Share sent, 0 to 1.
    Sending(f64),
    /// Stored under this id.
    Sent(String),
    /// What the report says it is.
    Read {
        kinds: String,
        notes: Vec<String>,
    },
    /// The report could make nothing of it.
    NotUnderstood(Vec<String>),
    Failed {
        what: String,
        fix: String,
    },
}

/// All files, what goes on, and the report that came out.
#[derive(Clone, Copy)]
struct Form {
    entries: RwSignal<Vec<Entry>>,
    busy: RwSignal<bool>,
    says: RwSignal<String>,
    report: RwSignal<Option<String>>,
}

/// The form. `low` is the small one of the first page: no paste.
#[island]
pub fn UploadForm(low: bool) -> impl IntoView {
    let form = Form {
        entries: RwSignal::new(Vec::new()),
        busy: RwSignal::new(false),
        says: RwSignal::new(String::new()),
        report: RwSignal::new(None),
    };
    let submit = move |ev: leptos::ev::SubmitEvent| {
        ev.prevent_default();
        take_paste(form);
        if form.busy.get_untracked() {
            return;
        }
        if form.entries.with_untracked(Vec::is_empty) {
            form.says.set("Choose a file or paste some text first.".into());
            return;
        }
        wasm_bindgen_futures::spawn_local(send::all(form));
    };
    let some = move || !form.entries.with(Vec::is_empty);
    view! {
        <form
            class=if low { "stack-y gap2" } else { "main-side upload-form" }
            method="post"
            action="/upload"
            enctype="multipart/form-data"
            on:submit=submit
        >
            <div class="stack-y">
                <DropZone form low /> {(!low).then(|| view! { <Paste form /> })}
            </div>
            <div class="stack-y">
                <section class="card only-live" class:hide=move || low && !some() aria-labelledby="upload-files">
                    <header>
                        <h2 id="upload-files">"Files"</h2>
                        <span class="muted">{move || counted(form)}</span>
                    </header>
                    <div class="body flush">
                        <ul aria-live="polite">
                            <For each=move || form.entries.get() key=|e| e.id let:entry>
                                <FileRow form entry />
                            </For>
                        </ul>
                        <p class="none" class:hide=some>
                            "Nothing chosen yet."
                        </p>
                    </div>
                </section>
                <div class="card send-bar" class:live-hide=move || low && !some()>
                    <div class="body bar pt4">
                        {move || {
                            form.report.get().map(|url| view! { <a class="btn primary" href=url>"Open the report"</a> })
                        }}
                        <button
                            class="btn"
                            class:primary=move || form.report.with(Option::is_none)
                            type="submit"
                            disabled=move || form.busy.get()
                        >
                            {move || if form.busy.get() { "Sending …" } else { "Send" }}
                        </button>
                        <span class="small muted" role="status">
                            {move || form.says.get()}
                        </span>
                    </div>
                </div>
            </div>
        </form>
    }
    .into_any()
}

#[component]
fn DropZone(form: Form, low: bool) -> impl IntoView {
    let over = RwSignal::new(false);
    let hold = move |ev: leptos::ev::DragEvent| {
        ev.prevent_default();
        over.set(true);
    };
    let drop = move |ev: leptos::ev::DragEvent| {
        ev.prevent_default();
        over.set(false);
        if let Some(files) = ev.data_transfer().and_then(|d| d.files()) {
            take_files(form, &files);
        }
    };
    let pick = move |ev: leptos::ev::Event| {
        let Some(input) = ev.target().and_then(|t| t.dyn_into::<web_sys::HtmlInputElement>().ok()) else { return };
        if let Some(files) = input.files() {
            take_files(form, &files);
        }
        // The same file can be chosen again after it was removed from the list.
        input.set_value("");
    };
    view! {
        <label
            class="drop"
            class:low=low
            class:over=over
            on:dragenter=hold
            on:dragover=hold
            on:dragleave=move |_| over.set(false)
            on:drop=drop
        >
            <b class:t-lg=!low>
                <span class="only-live">"Drop files here"</span>
                <span class="never-live">"Choose files"</span>
            </b>
            <span class="muted only-live">
                "or " <span class="t-accent">"choose files"</span> "; .gz, .zst and archives are fine"
            </span>
            <input type="file" name="files" multiple="" on:change=pick />
        </label>
    }
    .into_any()
}

#[component]
fn Paste(form: Form) -> impl IntoView {
    let key = move |ev: leptos::ev::KeyboardEvent| {
        if ev.key() == "Enter" && (ev.ctrl_key() || ev.meta_key()) {
            ev.prevent_default();
            take_paste(form);
        }
    };
    view! {
        <section class="card" aria-labelledby="paste-h">
            <header>
                <h2 id="paste-h">
                    <label for="paste">"Paste anything"</label>
                </h2>
            </header>
            <div class="body stack-y gap2">
                <textarea
                    id="paste"
                    name="paste"
                    class="mono"
                    rows="6"
                    placeholder="nvidia-smi -q, dmesg, lspci -vv, a training log …"
                    on:keydown=key
                ></textarea>
                <div class="actions only-live">
                    <button class="btn" type="button" on:click=move |_| add_paste(form)>
                        "Add"
                    </button>
                    <span class="small muted self-mid">"or press " <kbd>"Ctrl"</kbd> " " <kbd>"Enter"</kbd></span>
                </div>
            </div>
        </section>
    }
    .into_any()
}

/// One file: its name, what it is, how far it is, and the one button that applies.
#[component]
fn FileRow(form: Form, entry: Entry) -> impl IntoView {
    let Entry { id, name, bytes, state } = entry;
    let label = name.clone();
    let sym = move || match state.get() {
        State::Ready | State::Sending(_) => ("sym", "·"),
        State::Sent(_) | State::Read { .. } => ("sym t-pass", "✓"),
        State::NotUnderstood(_) => ("sym t-unknown", "?"),
        State::Failed { .. } => ("sym t-fail", "✕"),
    };
    let share = move || match state.get() {
        State::Ready | State::Failed { .. } => 0.0,
        State::Sending(p) => p,
        _ => 1.0,
    };
    let word = move || match state.get() {
        State::Ready => "ready".to_owned(),
        State::Sending(p) => format!("sending {:.0} %", p * 100.0),
        State::Sent(_) => "sent".to_owned(),
        State::Read { .. } => "read".to_owned(),
        State::NotUnderstood(_) => "kept, not understood".to_owned(),
        State::Failed { .. } => "not sent".to_owned(),
    };
    let button = move || if matches!(state.get(), State::Sending(_)) { "Cancel" } else { "Remove" };
    let press = move |_| {
        if matches!(state.get_untracked(), State::Sending(_)) {
            send::abort(id);
        } else {
            send::forget(id);
            form.entries.update(|all| all.retain(|e| e.id != id));
        }
    };
    view! {
        <li class="file">
            <span class=move || sym().0 aria-hidden="true">
                {move || sym().1}
            </span>
            <div>
                <div class="name">{name} <small>{size(bytes)}</small></div>
                {move || told(&state.get())}
            </div>
            <div class="progress">
                <span>{word}</span>
                <i
                    style=move || format!("--w:{:.0}%", share() * 100.0)
                    role="progressbar"
                    aria-valuenow=move || format!("{:.0}", share() * 100.0)
                    aria-label=label
                ></i>
            </div>
            <button class="btn small" type="button" disabled=move || form.busy.get() && button() == "Remove" on:click=press>
                {button}
            </button>
        </li>
    }
    .into_any()
}

/// What was recognised, or what to do.
fn told(state: &State) -> AnyView {
    let lines = |notes: &[String]| notes.iter().map(|n| view! { <p class="small">{n.clone()}</p> }).collect_view();
    match state {
        State::Read { kinds, notes } => view! { <p>{kinds.clone()}</p> {lines(notes)} }.into_any(),
        State::NotUnderstood(notes) => view! {
            <p>"Nothing that Sextant can read was found in it."</p>
            {lines(notes)}
            <p class="small">
                <b>"What to do: "</b>
                "send the text of nvidia-smi -q, dmesg -T, lspci -vv, a profiler trace or a training log."
            </p>
        }
        .into_any(),
        State::Failed { what, fix } => view! {
            <p>{what.clone()}</p>
            {(!fix.is_empty()).then(|| view! { <p class="small"><b>"What to do: "</b> {fix.clone()}</p> })}
        }
        .into_any(),
        State::Ready | State::Sending(_) | State::Sent(_) => ().into_any(),
    }
}

fn counted(form: Form) -> String {
    form.entries.with(|all| {
        let bytes: f64 = all.iter().map(|e| e.bytes).sum();
        if all.is_empty() { String::new() } else { format!("{}, {}", all.len(), size(bytes)) }
    })
}

fn take_files(form: Form, files: &web_sys::FileList) {
    for i in 0..files.length() {
        if let Some(file) = files.get(i) {
            let name = file.name();
            send::keep(form, name, file.into());
        }
    }
    form.says.set(String::new());
}

/// The button's way to take the paste: it says so when there is none.
fn add_paste(form: Form) {
    let before = form.entries.with_untracked(Vec::len);
    take_paste(form);
    if form.entries.with_untracked(Vec::len) == before {
        form.says.set("Paste some text first.".into());
    }
}

fn take_paste(form: Form) {
    let Some(area) = document().get_element_by_id("paste") else { return };
    let Ok(area) = area.dyn_into::<web_sys::HtmlTextAreaElement>() else { return };
    let text = area.value();
    if text.trim().is_empty() {
        return;
    }
    let parts = js_sys::Array::of1(&text.into());
    if let Ok(blob) = web_sys::Blob::new_with_str_sequence(&parts) {
        let n = form.entries.with_untracked(|all| all.iter().filter(|e| e.name.starts_with("pasted text")).count());
        send::keep(form, format!("pasted text {}", n + 1), blob);
        area.set_value("");
        form.says.set(String::new());
    }
}

/// Bytes in decimal units.
fn size(bytes: f64) -> String {
    let (v, unit) = match bytes {
        b if b < 1e3 => (b, "B"),
        b if b < 1e6 => (b / 1e3, "kB"),
        b if b < 1e9 => (b / 1e6, "MB"),
        b => (b / 1e9, "GB"),
    };
    let decimals = usize::from(unit != "B" && v < 9.95);
    format!("{v:.decimals$}\u{a0}{unit}")
}
