//! Every way in ends on the same report: file picker, drop, paste, the plain form and the collector.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tests::browser::{Browser, Options};
use tests::http;
use tests::programs;
use tests::server::Server;

const STEPS: &str = "runs/loader-inline/steps.node-h200.0.jsonl";

/// What a drag from a file manager leaves on the page.
const DROP: &str = "const [text] = arguments;
    const data = new DataTransfer();
    data.items.add(new File([text], 'steps.jsonl'));
    const zone = document.querySelector('label.drop');
    for (const kind of ['dragenter', 'dragover', 'drop'])
        zone.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));";

#[tokio::test]
async fn picker_drop_paste_form_and_collector_end_on_the_same_report() -> Result<()> {
    let server = Server::start()?;
    let file = programs::demo(STEPS);
    let text = std::fs::read_to_string(&file)?;

    let pushed = server.push(&[&file.display().to_string()])?;
    let id = report_id(&pushed).with_context(|| format!("no report in {pushed}"))?.to_owned();

    let form = http::post_form(&format!("{}/upload", server.url()), &[("steps.jsonl", text.as_bytes())], "")?;
    let form = form.expect(&[303])?.location.context("the form leads to a report")?;
    ensure!(report_id(&form) == Some(&id), "the form ended on {form}, the collector on {id}");

    let (url, wanted) = (server.url().to_owned(), id.clone());
    Browser::with(Options::default(), |browser| async move {
        for way in ["picker", "drop", "paste"] {
            browser.open(&format!("{url}/upload")).await?;
            browser.wait_live().await?;
            match way {
                "picker" => browser.keys("input[name=files]", &file.display().to_string()).await?,
                "drop" => drop(browser.client().execute(DROP, vec![text.clone().into()]).await?),
                _ => browser.keys("textarea[name=paste]", &text).await?,
            }
            browser.click("form[action='/upload'] button[type=submit]").await?;
            let ended = ended(&browser).await?;
            ensure!(report_id(&ended) == Some(&wanted), "{way} ended on {ended}, the collector on {wanted}");
        }
        let complaints = browser.complaints().await?;
        ensure!(complaints.is_empty(), "the browser complains: {complaints:?}");
        Ok(())
    })
    .await
}

/// The report that the page leads to, or offers where it stays to say what it could not read.
async fn ended(browser: &Browser) -> Result<String> {
    const REPORT: &str = "const offered = document.querySelector(\".send-bar a[href^='/reports/']\");
        return location.pathname.startsWith('/reports/') ? location.href : offered ? offered.href : null;";
    for _ in 0..200 {
        // Between two pages there is no document to ask.
        if let Ok(Value::String(url)) = browser.ask(REPORT).await {
            return Ok(url);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bail!("no report came of it; the address is {}", browser.url().await?)
}

/// The id after the first `/reports/`.
fn report_id(text: &str) -> Option<&str> {
    let rest = text.split_once("/reports/")?.1;
    rest.split(|c: char| !c.is_ascii_hexdigit() && c != '-').next()
}
