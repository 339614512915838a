//! No dead ends: every link of every page answers, every fragment has its target, every button does something.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use anyhow::{Result, ensure};
use tests::browser::{Browser, Options};
use tests::server::Server;

/// Pages that the crawl may open; more mean that links lead on and on.
const MOST_PAGES: usize = 1000;
/// Queries that are tried of one path: sorted and filtered lists, windows of a raw input. A trace alone has thousands.
const QUERIES: usize = 4;

#[test]
fn every_link_answers() -> Result<()> {
    for server in [Server::start()?, Server::with_demo()?] {
        let mut queue: VecDeque<(String, String)> = VecDeque::from([("/".to_owned(), "start".to_owned())]);
        let mut seen: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut dead = Vec::new();
        while let Some((link, from)) = queue.pop_front() {
            let (path, fragment) = link.split_once('#').map_or((link.as_str(), None), |(p, f)| (p, Some(f)));
            if !seen.contains_key(path) {
                let page = path.split('?').next().unwrap_or(path);
                let tried = seen.keys().filter(|k| k.split('?').next() == Some(page)).count();
                if tried > QUERIES {
                    continue;
                }
                ensure!(seen.len() < MOST_PAGES, "more than {MOST_PAGES} pages");
                let answer = server.get(path)?;
                if answer.status != 200 {
                    dead.push(format!("{path} answers {} (linked from {from})", answer.status));
                }
                seen.insert(path.to_owned(), attributes(&answer.body, "id").map(str::to_owned).collect());
                for href in attributes(&answer.body, "href") {
                    if let Some(next) = resolve(path, &href.replace("&amp;", "&")) {
                        queue.push_back((next, path.to_owned()));
                    }
                }
            }
            if let Some(fragment) = fragment.filter(|f| !f.is_empty())
                && !seen[path].contains(fragment)
            {
                dead.push(format!("{path} has no #{fragment} (linked from {from})"));
            }
        }
        ensure!(dead.is_empty(), "{} dead links:\n{}", dead.len(), dead.join("\n"));
    }
    Ok(())
}

#[tokio::test]
async fn every_button_does_something() -> Result<()> {
    let server = Server::with_demo()?;
    let pages = pages(&server)?;
    let url = server.url().to_owned();
    Browser::with(Options::default(), |browser| async move {
        let mut dead = Vec::new();
        for page in pages {
            let address = format!("{url}{page}");
            browser.open(&address).await?;
            browser.wait_live().await?;
            let count = browser.ask(&format!("{CONTROLS} return controls.length;")).await?.as_u64().unwrap_or_default();
            for i in 0..count {
                browser.open(&address).await?;
                browser.wait_live().await?;
                let answer = browser.client().execute_async(&format!("{CONTROLS} {PRESS}"), vec![i.into()]).await?;
                if answer["did"] == false {
                    dead.push(format!("{page}: {}", answer["what"]));
                }
            }
            let complaints = browser.complaints().await?;
            ensure!(complaints.is_empty(), "{page} complains: {complaints:?}");
        }
        ensure!(dead.is_empty(), "controls that do nothing:\n{}", dead.join("\n"));
        Ok(())
    })
    .await
}

/// One page of each kind.
pub(crate) fn pages(server: &Server) -> Result<Vec<String>> {
    let first = |list: &str, field: &str| -> Result<String> {
        let json = server.json(list)?;
        Ok(json["items"][0][field].as_str().unwrap_or_default().to_owned())
    };
    let (node, run) = (first("/api/v1/nodes", "name")?, first("/api/v1/runs", "id")?);
    let report = first("/api/v1/runs", "report_id")?;
    Ok(vec![
        "/".to_owned(),
        format!("/nodes/{node}"),
        format!("/nodes/{node}/checklist/driver"),
        "/runs".to_owned(),
        format!("/runs/{run}"),
        format!("/runs/{run}/checklist/pipeline"),
        format!("/reports/{report}/inputs/0"),
        "/upload".to_owned(),
        "/catalogue".to_owned(),
        "/catalogue/pipeline/loader-wait".to_owned(),
    ])
}

/// Visible buttons and summaries that are not switched off; of those that look alike (the rows of a long list) two.
const CONTROLS: &str = "const alike = {};
    const controls = [...document.querySelectorAll('button, summary, [role=button]')].filter(e => {
        if (!e.checkVisibility() || e.disabled) return false;
        const kind = e.tagName + e.className + (e.getAttribute('aria-label') || '') + (e.dataset.key || '');
        alike[kind] = (alike[kind] || 0) + 1;
        return alike[kind] <= 2;
    });";

/// Presses the i-th of them and tells whether anything followed: the page, the address, the focus, a form or a validation.
const PRESS: &str = "const [i, done] = arguments;
    const e = controls[i];
    let did = false;
    const yes = () => { did = true; };
    new MutationObserver(yes).observe(document, {subtree: true, attributes: true, childList: true, characterData: true});
    for (const kind of ['submit', 'invalid', 'toggle', 'beforeunload', 'change', 'copy']) window.addEventListener(kind, yes, true);
    HTMLInputElement.prototype.click = yes; HTMLInputElement.prototype.showPicker = yes;
    const before = location.href + document.cookie;
    document.addEventListener('submit', ev => ev.preventDefault());
    e.click();
    setTimeout(() => done({did: did || location.href + document.cookie !== before, what: e.outerHTML.slice(0, 200)}), 250);";

fn attributes<'a>(html: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let open = format!(" {name}=\"");
    let starts: Vec<usize> = html.match_indices(&open).map(|(i, _)| i + open.len()).collect();
    starts.into_iter().filter_map(|i| html[i..].split('"').next())
}

/// The path of a link within this server; `None` for other sites and data addresses.
fn resolve(page: &str, href: &str) -> Option<String> {
    if href.starts_with("//") || href.contains("://") || href.starts_with("data:") || href.starts_with("mailto:") {
        return None;
    }
    if href.starts_with('/') {
        return Some(href.to_owned());
    }
    let path = page.split('?').next().unwrap_or(page);
    if href.starts_with('#') {
        return Some(format!("{page}{href}"));
    }
    if href.starts_with('?') {
        return Some(format!("{path}{href}"));
    }
    let dir = path.rsplit_once('/').map_or("", |(d, _)| d);
    Some(format!("{dir}/{href}"))
}
