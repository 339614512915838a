//! Who may ask, and the headers of every answer.

use axum::body::Body;
use axum::http::Method;

use crate::support::Fixture;

#[tokio::test]
async fn foreign_hosts_and_forged_origins_are_refused() {
    let f = Fixture::new().await;
    for host in ["evil.example", "evil.example:8077", "127.0.0.1.evil.example"] {
        f.call(Method::GET, "/healthz", &[("host", host)], Body::empty()).await.problem(421, "host");
    }
    for host in ["localhost:8077", "[::1]:8077", "127.0.0.1"] {
        assert_eq!(f.call(Method::GET, "/healthz", &[("host", host)], Body::empty()).await.status.as_u16(), 200);
    }
    let forged = [("origin", "http://evil.example")];
    f.call(Method::POST, "/api/v1/uploads?name=a", &forged, "x").await.problem(403, "origin");
    f.call(Method::POST, "/upload", &[("sec-fetch-site", "cross-site")], "x").await.problem(403, "origin");
    assert_eq!(f.rows("uploads").await, 0);
    let ours = [("origin", "http://127.0.0.1:8077")];
    f.call(Method::POST, "/api/v1/uploads?name=a", &ours, "x").await.ok(201);
}

#[tokio::test]
async fn every_answer_carries_the_security_headers_and_a_request_id() {
    let f = Fixture::new().await;
    for uri in ["/healthz", "/api/v1/nodes", "/api/v1/nope", "/assets/sextant.css", "/pkg/../Cargo.toml"] {
        let answer = f.get(uri).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{uri}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{uri}");
        assert!(answer.header("content-security-policy").contains("frame-ancestors 'none'"), "{uri}");
        assert_eq!(answer.header("x-request-id").len(), 36, "{uri}");
    }
}

#[tokio::test]
async fn unknown_addresses_and_methods_are_problems() {
    let f = Fixture::new().await;
    f.get("/api/v1/nope").await.problem(404, "not-found");
    f.call(Method::DELETE, "/api/v1/nodes", &[], Body::empty()).await.problem(405, "method");
    f.get("/pkg/sextant.js").await.problem(404, "no-site");
}

#[tokio::test]
async fn static_files_are_kept_by_browsers_until_they_change() {
    let site = tempfile::tempdir().unwrap();
    std::fs::create_dir(site.path().join("pkg")).unwrap();
    std::fs::write(site.path().join("pkg/sextant_bg.wasm"), b"\0asm").unwrap();
    let f = Fixture::with(|c| c.site = Some(site.path().to_owned())).await;
    for (uri, kind) in
        [("/assets/sextant.css", "text/css; charset=utf-8"), ("/pkg/sextant_bg.wasm", "application/wasm")]
    {
        let answer = f.get(uri).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, kind));
        let tag = answer.header("etag").to_owned();
        let again = f.call(Method::GET, uri, &[("if-none-match", &tag)], Body::empty()).await;
        assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
    }
    f.get("/pkg/..%2Fsecret").await.problem(404, "no-site");
}

#[tokio::test]
async fn probes_and_metrics_answer() {
    let f = Fixture::new().await;
    f.upload("a", b"a").await;
    assert_eq!(f.get("/readyz").await.status.as_u16(), 200);
    let text = f.get("/metrics").await.text();
    assert!(text.contains("sextant_uploads_total 1") && text.contains("sextant_store_writes_total 1"), "{text}");
}
