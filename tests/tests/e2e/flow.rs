//! The way from an empty server to a quoted line, as a user goes it.

use anyhow::{Context, Result, ensure};
use tests::browser::{Browser, Options};
use tests::programs;
use tests::server::Server;

/// A training run that waits for its loader; its slowest step is the line that the finding quotes.
const STEPS: &str = "runs/loader-inline/steps.node-h200.0.jsonl";

#[tokio::test]
async fn from_the_start_page_to_the_quoted_line() -> Result<()> {
    let server = Server::start()?;
    let url = server.url().to_owned();
    Browser::with(Options::default(), |browser| async move {
        browser.open(&url).await?;
        browser.wait_live().await?;
        browser.click("header a[href='/upload']").await?;
        browser.wait_url("/upload").await?;
        browser.wait_live().await?;
        let file = programs::demo(STEPS);
        browser.keys("input[name=files]", &file.display().to_string()).await?;
        browser.wait("li.file").await?;
        browser.click("form[action='/upload'] button[type=submit]").await?;
        browser.wait_url("/reports/").await?;

        browser.click("a[href*='/checklist/pipeline#loader-wait']").await?;
        browser.wait_url("/checklist/pipeline").await?;
        // The link's fragment stands inside of the finding, so the browser unfolds it; a user folds and unfolds it again.
        let open = "return document.getElementById('loader-wait').closest('details').open";
        ensure!(browser.ask(open).await? == true, "the link does not unfold the finding");
        for wanted in [false, true] {
            browser.click("details:has(> #loader-wait) > summary").await?;
            ensure!(browser.ask(open).await? == wanted, "the finding does not fold and unfold");
        }
        let quoted = browser.text("#loader-wait .evidence q").await?;
        let source = std::fs::read_to_string(&file)?;
        ensure!(
            source.lines().any(|l| l.starts_with(quoted.trim_end_matches('…'))),
            "not a line of the file: {quoted}"
        );

        browser.click("#loader-wait .evidence a.src").await?;
        let raw = browser.wait_url("/inputs/").await?;
        let line = raw.rsplit_once("#L").context("the link names a line")?.1.to_owned();
        let shown = browser.text(&format!("#L{line}")).await?;
        let number: usize = line.parse()?;
        let wanted = source.lines().nth(number - 1).context("the file has that line")?;
        ensure!(shown.contains(wanted), "line {line} of the raw view is {shown:?}, of the file {wanted:?}");
        let complaints = browser.complaints().await?;
        ensure!(complaints.is_empty(), "the browser complains: {complaints:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn without_script_the_first_page_reads_the_same_and_the_form_works() -> Result<()> {
    const READ: &str =
        "const text = [...document.querySelectorAll('h1, h2, h3, th, td, a')].filter(e => e.checkVisibility())
        .map(e => e.innerText.trim()); return text.filter(t => t).join('\\n');";
    let server = Server::with_demo()?;
    let url = server.url().to_owned();
    let mut texts = Vec::new();
    for script in [true, false] {
        let (url, texts) = (url.clone(), &mut texts);
        Browser::with(Options { script, ..Options::default() }, |browser| async move {
            browser.open(&url).await?;
            if script {
                browser.wait_live().await?;
            } else {
                ensure!(browser.ask("return document.documentElement.hasAttribute('data-live')").await? == false);
            }
            texts.push(browser.ask(READ).await?.as_str().unwrap_or_default().to_owned());
            if !script {
                browser.click("header a[href='/upload']").await?;
                browser.wait_url("/upload").await?;
                browser.keys("input[name=files]", &programs::demo(STEPS).display().to_string()).await?;
                browser.click("form[action='/upload'] button[type=submit]").await?;
                browser.wait_url("/reports/").await?;
                browser.wait("a[href*='/checklist/pipeline']").await?;
            }
            Ok(())
        })
        .await?;
    }
    ensure!(texts[0].contains("node-h200"), "the first page does not list the node: {}", texts[0]);
    ensure!(texts[0] == texts[1], "with script:\n{}\n\nwithout:\n{}", texts[0], texts[1]);
    Ok(())
}
