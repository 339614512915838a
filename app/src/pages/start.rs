//! The first page before anything was measured: three ways to start, how a node is read, and what each file can tell.

use checks::check::{Check, Evid};
use checks::{Layer, Level, catalogue};
use leptos::prelude::*;
use leptos_meta::Title;

use crate::format;
use crate::islands::upload::UploadForm;
use crate::islands::wait::WaitForNode;
use crate::parts::cmd::Cmd;
use crate::parts::ladder::EmptyLadder;
use crate::parts::verdict::Verdict;

/// A source, how to get it, and the kinds of evidence that it gives.
const SOURCES: [(&str, &str, &[Evid]); 9] = [
    ("Collector on the node", "sextant push --live", &[Evid::Live]),
    ("nvidia-smi", "nvidia-smi -q", &[Evid::SmiQ]),
    ("Kernel log", "dmesg -T", &[Evid::KernelLog]),
    ("PCI devices", "lspci -vv", &[Evid::Lspci]),
    ("PyTorch environment", "python -m torch.utils.collect_env", &[Evid::CollectEnv]),
    ("Step timings and samples", "sextant run -- python train.py", &[Evid::Steps, Evid::Samples]),
    ("Profiler trace", "torch.profiler → trace.json", &[Evid::Trace]),
    ("Nsight Compute or Systems", "ncu --csv, nsys export", &[Evid::Ncu, Evid::Nsys]),
    ("Training or NCCL log", "NCCL_DEBUG=INFO", &[Evid::TrainLog, Evid::Nccl]),
];

/// The page.
pub(crate) fn show() -> AnyView {
    view! {
        <Title text="Start" />
        <main id="main">
            <div class="mb4">
                <Verdict
                    level=Level::Unknown
                    says=view! { <h1>"Nothing measured yet."</h1> }.into_any()
                    below=Some(
                        "Three ways to start; each takes less than a minute. Everything stays on this server.".into_any(),
                    )
                    gain=None
                />
            </div>
            <div class="cols ways">
                <section class="card way" aria-labelledby="w1">
                    <h2 id="w1">
                        <span class="n">"1"</span>
                        "Run one command on a node"
                    </h2>
                    <p class="muted">
                        "Sends a snapshot of the driver, the GPUs and the running job. No root, nothing is changed on the node."
                    </p>
                    <div class="stack-y gap2 at-top">
                        <Cmd text=format!("sextant push --live --server {}", server_url()) />
                        <p class="small muted">
                            "Without network: "<code>"sextant bundle -o node.tar.zst"</code>
                            " there, then drop the file here."
                        </p>
                    </div>
                    <WaitForNode />
                </section>
                <section class="card way" aria-labelledby="w2">
                    <h2 id="w2">
                        <span class="n">"2"</span>
                        "Drop a file, or paste text"
                    </h2>
                    <p class="muted">
                        "nvidia-smi -q, dmesg, lspci -vv, a profiler trace, a training log. One of them is enough for a first verdict."
                    </p>
                    <UploadForm low=true />
                    <a class="btn self-start" href="/upload#paste">
                        "Paste text instead"
                    </a>
                </section>
                <section class="card way" aria-labelledby="w3">
                    <h2 id="w3">
                        <span class="n">"3"</span>
                        "Look at the demo"
                    </h2>
                    <p class="muted">
                        "Real recordings from an H200, loaded through the ordinary upload into a data folder of their own: starved runs, busy runs, and their repaired twins."
                    </p>
                    <div class="stack-y gap2 at-top">
                        <Cmd text="cargo xtask run --demo" />
                    </div>
                </section>
            </div>
            <div class="main-side mt4" style="--cols:minmax(280px,420px) minmax(0,1fr)">
                <EmptyLadder />
                <Sources />
            </div>
        </main>
    }
    .into_any()
}

/// What each kind of file can tell, counted over the catalogue.
#[component]
fn Sources() -> impl IntoView {
    let rows = SOURCES.iter().filter_map(|(name, command, evids)| {
        let decided: Vec<&Check> =
            catalogue::all().iter().copied().filter(|c| c.evidence.iter().any(|e| evids.contains(e))).collect();
        if decided.is_empty() {
            return None;
        }
        let layers = Layer::ALL.into_iter().filter(|l| decided.iter().any(|c| c.layer == *l));
        Some(view! {
            <tr>
                <th scope="row" class="w400 t-ink">{*name}</th>
                <td class="mono small">{*command}</td>
                <td>
                    <span class="tags">
                        {layers.map(|l| view! { <span class="tag" title=l.name()>{l.number()}</span> }).collect_view()}
                    </span>
                </td>
                <td class="num">{format::count(decided.len())}</td>
            </tr>
        })
    });
    view! {
        <section class="card" aria-labelledby="kinds">
            <header>
                <h2 id="kinds">"What each kind of file can tell"</h2>
                <span class="muted">"the more, the surer; none is required"</span>
            </header>
            <div class="body tight scroll-x">
                <table class="plain">
                    <thead>
                        <tr>
                            <th scope="col">"You have"</th>
                            <th scope="col">"Command"</th>
                            <th scope="col">"Layers"</th>
                            <th scope="col" class="num">
                                "Checks"
                            </th>
                        </tr>
                    </thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        </section>
    }
    .into_any()
}

/// The address that this request came to, so that the command can be copied as it stands.
fn server_url() -> String {
    let host = use_context::<http::request::Parts>()
        .and_then(|p| p.headers.get(http::header::HOST)?.to_str().map(str::to_owned).ok())
        .unwrap_or_else(|| "127.0.0.1:8077".to_owned());
    format!("http://{host}")
}
