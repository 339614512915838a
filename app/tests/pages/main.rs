//! Every page as the server renders it, over real reports, without JavaScript.
//!
//! With `SEXTANT_PREVIEW=DIR` each page is also written to a file there, its stylesheet beside it, to be looked at.
#![expect(clippy::unwrap_used, reason = "tests")]

mod fixture;

use std::sync::Arc;

use app::backend::Backend;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use leptos::config::LeptosOptions;
use leptos::prelude::provide_context;
use leptos_axum::{LeptosRoutes, generate_route_list};
use tower::ServiceExt;

use fixture::Fixture;

/// One answer: status and document.
async fn get(backend: &Arc<dyn Backend>, path: &str) -> (StatusCode, String) {
    let options = LeptosOptions::builder().output_name("sextant").site_pkg_dir("pkg").build();
    let routes = generate_route_list(app::App);
    let context = {
        let backend = Arc::clone(backend);
        move || provide_context(Arc::clone(&backend))
    };
    let document = {
        let options = options.clone();
        move || app::shell(options.clone())
    };
    let missing = leptos_axum::render_app_async_with_context(context.clone(), document.clone());
    let router = axum::Router::new()
        .leptos_routes_with_context(&options, routes, context, document)
        .fallback(missing)
        .with_state(options);
    let request = Request::builder().uri(path).header("host", "sextant.example:8077").body(Body::empty()).unwrap();
    let response = router.oneshot(request).await.unwrap();
    let status = response.status();
    let html = String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap();
    keep(path, &html);
    (status, html)
}

/// Writes a page for the eye.
fn keep(path: &str, html: &str) {
    let Some(dir) = std::env::var_os("SEXTANT_PREVIEW").map(std::path::PathBuf::from) else { return };
    let name: String = path.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    std::fs::create_dir_all(&dir).unwrap();
    let style = concat!(env!("CARGO_MANIFEST_DIR"), "/../style/sextant.css");
    std::fs::copy(style, dir.join("sextant.css")).unwrap();
    std::fs::write(dir.join(format!("{name}.html")), html.replace("/assets/sextant.css", "sextant.css")).unwrap();
}

async fn ok(backend: &Arc<dyn Backend>, path: &str) -> String {
    let (status, html) = get(backend, path).await;
    assert_eq!(status, StatusCode::OK, "{path}");
    let count = |needle: &str| html.matches(needle).count();
    assert_eq!(count("<h1"), 1, "one h1 on {path}");
    assert_eq!(count("<main "), 1, "one main on {path}");
    assert_eq!(count("<title>"), 1, "one title on {path}");
    html
}

/// All pages that the demo data has.
const PAGES: [&str; 16] = [
    "/",
    "/?verdict=fail&sort=name",
    "/?q=no-such-node",
    "/nodes/node-h200",
    "/nodes/node-h200-user/checklist/driver",
    "/runs",
    "/runs/run-loader-inline",
    "/runs/run-healthy-lm",
    "/runs/run-small-grid",
    "/runs/run-loader-inline/checklist/pipeline",
    "/reports/upload-1",
    "/reports/upload-1/checklist/driver",
    "/reports/upload-1/inputs/0?line=2",
    "/upload",
    "/catalogue",
    "/catalogue/pipeline/loader-wait",
];

#[tokio::test]
async fn every_page_renders_whole_without_javascript() {
    let demo = Fixture::demo();
    for path in PAGES {
        let html = ok(&demo, path).await;
        assert!(html.contains("</html>"), "{path} is cut off");
        assert!(!html.contains("NaN") && !html.contains("inf "), "a number went wrong on {path}");
    }
}

#[tokio::test]
async fn before_the_first_snapshot_the_first_page_says_how_to_start() {
    let html = ok(&Fixture::empty(), "/").await;
    assert!(html.contains("Nothing measured yet."));
    assert!(html.contains("sextant push --live --server http://sextant.example:8077"));
    assert!(html.contains(r#"action="/upload""#) && html.contains(r#"enctype="multipart/form-data""#));
    assert!(html.contains(r#"name="files""#));
}

#[tokio::test]
async fn a_run_page_shows_what_its_report_says() {
    let demo = Fixture::demo();
    let page = demo.run("run-loader-inline".into()).await.unwrap();
    let html = ok(&demo, "/runs/run-loader-inline").await;
    let report = page.stored.report;
    let text = html.replace("&amp;", "&");
    for sentence in report.headline.text.split_inclusive(". ") {
        assert!(text.contains(sentence.trim_end()), "{sentence}");
    }
    let step = report.step.unwrap();
    assert!(text.contains(&format!("{:.1}\u{a0}ms on average", step.mean_ms)));
    assert!(text.contains(&format!("{:.1}\u{a0}ms", step.ms.data_wait.unwrap())));
    let work = report.work.unwrap();
    for value in [work.util_pct, work.sm_pct, work.tensor_pct].into_iter().flatten() {
        assert!(text.contains(&format!("{value:.1}\u{a0}%")), "{value}");
    }
    for f in report.findings.iter().filter(|f| f.verdict.is_problem()) {
        assert!(text.contains(&f.title), "{}", f.id);
    }
}

#[tokio::test]
async fn evidence_leads_to_the_line_that_it_quotes() {
    let demo = Fixture::demo();
    let report = demo.run("run-loader-inline".into()).await.unwrap().stored.report;
    let finding = report.finding("pipeline/loader-wait").unwrap();
    let evidence = finding.evidence.iter().find(|e| e.line.is_some()).unwrap();
    let (input, line) = (evidence.input.unwrap(), evidence.line.unwrap());
    let list = ok(&demo, "/runs/run-loader-inline/checklist/pipeline").await;
    let href = format!("/reports/run-loader-inline/inputs/{input}?line={line}#L{line}");
    assert!(list.contains(&href), "{href}");
    let raw = ok(&demo, href.split('#').next().unwrap()).await;
    let row = format!("<li id=\"L{line}\" data-hit");
    let at = raw.find(&row).unwrap_or_else(|| panic!("{row} is not marked"));
    let quote: String = evidence.quote.clone().unwrap().chars().take(40).collect();
    let escaped = quote.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    assert!(raw[at..].split("</li>").next().unwrap().contains(&escaped), "{quote}");
}

#[tokio::test]
async fn markup_in_a_log_line_stays_text() {
    let demo = Fixture::demo();
    for path in ["/reports/upload-1", "/reports/upload-1/checklist/driver", "/reports/upload-1/inputs/0?line=2"] {
        let html = ok(&demo, path).await;
        assert!(!html.contains("<script>alert"), "{path}");
        assert!(!html.contains("<img src=x"), "{path}");
        assert!(html.contains("dmesg &lt;/title&gt;&lt;script&gt;alert(3)"), "{path}");
    }
    let raw = ok(&demo, "/reports/upload-1/inputs/0?line=2").await;
    assert!(raw.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[tokio::test]
async fn what_does_not_exist_is_said_with_the_right_status() {
    let demo = Fixture::demo();
    for path in [
        "/nodes/none",
        "/runs/none",
        "/reports/none",
        "/catalogue/driver/none",
        "/no/such/page",
        "/runs/run-healthy-lm/checklist/none",
    ] {
        let (status, html) = get(&demo, path).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert!(html.contains("<h1>Not found</h1>") && html.contains("There is no"), "{path}");
    }
}

#[tokio::test]
async fn the_node_list_is_narrowed_and_ordered_by_its_address() {
    let demo = Fixture::demo();
    let both = ok(&demo, "/?sort=name").await;
    let at = |html: &str, name: &str| html.find(&format!("href=\"/nodes/{name}\""));
    assert!(at(&both, "node-h200").unwrap() < at(&both, "node-h200-user").unwrap());
    let reversed = ok(&demo, "/?sort=name&dir=reverse").await;
    assert!(at(&reversed, "node-h200").unwrap() > at(&reversed, "node-h200-user").unwrap());
    let one = ok(&demo, "/?q=user").await;
    assert!(at(&one, "node-h200-user").is_some() && at(&one, "node-h200").is_none());
    let none = ok(&demo, "/?q=%3Cscript%3E").await;
    assert!(none.contains("No node matches") && none.contains("&lt;script&gt;") && !none.contains("<script>\""));
}

#[tokio::test]
async fn a_name_with_slashes_and_spaces_can_be_opened_from_the_list() {
    let demo = Fixture::demo();
    let list = ok(&demo, "/?q=rack").await;
    let href = list.split("<a href=\"/nodes/").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    assert_eq!(href, "rack%203%2F%CE%B1%3F%23%26");
    let page = ok(&demo, &format!("/nodes/{href}")).await;
    assert!(page.contains("<h1>rack 3/α?#&amp;</h1>"));
    assert!(page.contains(&format!("/nodes/{href}/checklist/")));
}

#[tokio::test]
async fn the_theme_of_the_cookie_is_the_theme_of_the_page() {
    let demo = Fixture::demo();
    let options = LeptosOptions::builder().output_name("sextant").build();
    let handler = leptos_axum::render_app_async_with_context(
        move || provide_context(Arc::clone(&demo)),
        move || app::shell(options.clone()),
    );
    let request = Request::builder().uri("/upload").header("cookie", "a=b; theme=dark").body(Body::empty()).unwrap();
    let html = handler(request).await.into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&html).contains("<html lang=\"en\" data-theme=\"dark\">"));
}
