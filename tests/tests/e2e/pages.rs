//! A page shows only what the report of the same id says: its numbers are compared with the API's.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tests::browser::{Browser, Options};
use tests::server::Server;

/// Label and value of each part of the step bar, each gauge and each layer, and the verdict's factor, as they are read.
const SHOWN: &str = "const t = e => e ? e.innerText.replace(/\\s+/g, ' ').trim() : '';
    const all = (s) => [...document.querySelectorAll(s)];
    const out = all('dl.legend > div').map(d => [t(d.querySelector('dt')), t(d.querySelector('dd'))]);
    const g = document.querySelector('.gauges');
    if (g) for (let i = 0; i + 2 < g.children.length; i += 3) out.push([t(g.children[i]), t(g.children[i + 2])]);
    all('.ladder .rung').forEach(r => out.push(['layer ' + r.dataset.layer, t(r.querySelector('.sub'))]));
    out.push(['factor', t(document.querySelector('.verdict .gain strong'))]);
    out.push(['mean', t(document.querySelector('section[aria-labelledby=step-h] header .muted'))]);
    return out;";

/// Fewer comparisons than this mean that the page or the report has lost something.
const LEAST: usize = 10;

#[tokio::test]
async fn the_numbers_on_a_page_are_those_of_its_report() -> Result<()> {
    let server = Server::with_demo()?;
    let mut wanted = Vec::new();
    for (list, page, key) in [("/api/v1/runs", "/runs", "id"), ("/api/v1/nodes", "/nodes", "name")] {
        for item in server.json(list)?["items"].as_array().context("a list has items")? {
            let report =
                server.json(&format!("/api/v1/reports/{}", item["report_id"].as_str().context("report id")?))?;
            let expected = if page == "/runs" { of_step(&report) } else { of_layers(&report) };
            wanted.push((format!("{page}/{}", item[key].as_str().context("a name")?), expected));
        }
    }
    let url = server.url().to_owned();
    Browser::with(Options::default(), |browser| async move {
        for (page, expected) in wanted {
            browser.open(&format!("{url}{page}")).await?;
            let shown = browser.ask(SHOWN).await?;
            let shown = shown.as_array().context("pairs")?;
            for (label, text) in &expected {
                let found = shown.iter().find(|p| p[0] == label.as_str()).and_then(|p| p[1].as_str());
                let found = found.with_context(|| format!("{page} shows no {label:?}: {shown:?}"))?;
                ensure!(found.contains(text), "{page}: {label:?} is shown as {found:?}, the report says {text:?}");
            }
            let least = if page.starts_with("/runs") { LEAST } else { 1 };
            ensure!(expected.len() >= least, "{page}: only {} numbers were compared: {expected:?}", expected.len());
        }
        Ok(())
    })
    .await
}

/// What the report says of a step, label by label, in the page's words.
fn of_step(report: &Value) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut put = |label: &str, text: Option<String>| out.extend(text.map(|t| (label.to_owned(), t)));
    let step = &report["step"];
    let part = |names: &[&str]| names.iter().filter_map(|n| step["ms"][n].as_f64()).reduce(|a, b| a + b);
    put("Data wait", part(&["data_wait"]).map(ms));
    if step["source"] == "live" {
        put("Everything else, not divided", part(&["unattributed"]).map(ms));
    } else {
        put("Exposed H2D copy", part(&["exposed_h2d"]).map(ms));
        put("GPU compute", part(&["compute"]).map(ms));
        put("Sync wait", part(&["sync"]).map(ms));
        put("Other", part(&["other_copy", "unattributed"]).map(ms));
        let idle = ["launch", "kernel_latency", "device_dependency", "allocator", "compile"];
        put("Launch-bound idle", part(&idle).map(ms));
    }
    let mean = step["mean_ms"].as_f64();
    put("mean", mean.map(|m| if m < 20.0 { format!("{m:.2} ms") } else { ms(m) }));
    let work = &report["work"];
    for (label, key) in [
        ("GPU utilisation", "util_pct"),
        ("SM active", "sm_pct"),
        ("Tensor active", "tensor_pct"),
        ("DRAM active", "dram_pct"),
    ] {
        put(
            label,
            work[key].as_f64().map(|v| if v > 0.0 && v < 0.05 { "< 0.1 %".into() } else { format!("{v:.1} %") }),
        );
    }
    put("Power", work["power_w"].as_f64().map(|w| format!("{w:.0}")));
    put("factor", report["headline"]["recoverable_share"].as_f64().filter(|s| *s > 0.0).map(factor));
    out
}

/// How many checks of each layer ended how, where any did.
fn of_layers(report: &Value) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for (i, layer) in report["layers"].as_array().into_iter().flatten().enumerate() {
        for (verdict, word) in [("pass", "pass"), ("unknown", "unknown"), ("not-applicable", "not applicable")] {
            let of = |f: &&Value| f["layer"] == layer["id"] && f["verdict"] == verdict;
            let count = report["findings"].as_array().into_iter().flatten().filter(of).count();
            if count > 0 {
                out.push((format!("layer {}", i + 1), format!("{count} {word}")));
            }
        }
    }
    out
}

fn ms(v: f64) -> String {
    let text = format!("{v:.1} ms");
    // Thousands are separated; no step of the demo is longer than that.
    if v >= 1000.0 { format!("{},{:0>5} ms", (v / 1000.0).trunc(), format!("{:.1}", v % 1000.0)) } else { text }
}

fn factor(share: f64) -> String {
    let f = 1.0 / (1.0 - share);
    match f {
        f if f < 3.0 => format!("{f:.2}×"),
        f if f < 10.0 => format!("{f:.1}×"),
        f => format!("{f:.0}×"),
    }
}
