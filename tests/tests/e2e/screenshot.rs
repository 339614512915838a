//! The picture in README.md, taken from the demo run that waits for its data.

use anyhow::{Context, Result, ensure};
use tests::browser::{Browser, Options};
use tests::programs;
use tests::server::Server;

/// Set by whoever wants the picture renewed; a test must not change the work tree by itself.
const ASKED: &str = "SEXTANT_SCREENSHOT";

#[tokio::test]
async fn screenshot_of_the_starved_run() -> Result<()> {
    let server = Server::with_demo()?;
    let runs = server.json("/api/v1/runs")?;
    let run = runs["items"].as_array().and_then(|i| i.iter().find(|r| r["name"] == "loader-inline")).cloned();
    let id = run.as_ref().and_then(|r| r["id"].as_str()).context("the demo has the run loader-inline")?;
    let address = format!("{}/runs/{id}", server.url());
    Browser::with(Options { width: 1280, height: 900, ..Options::default() }, |browser| async move {
        browser.open(&address).await?;
        browser.wait_live().await?;
        let title = browser.text("h1").await?;
        ensure!(!title.is_empty(), "the page has no heading");
        let png = browser.screenshot().await?;
        ensure!(png.starts_with(b"\x89PNG") && png.len() > 10_000, "the picture is empty");
        if std::env::var_os(ASKED).is_some() {
            std::fs::write(programs::root().join("docs/screenshot.png"), png)?;
        }
        Ok(())
    })
    .await
}
