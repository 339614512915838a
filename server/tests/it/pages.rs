//! Pages: rendered whole on the server, over the real store.

use crate::support::{Fixture, snapshot};

#[tokio::test]
async fn pages_are_html_with_a_policy_that_fits_their_scripts() {
    let f = Fixture::new().await;
    f.post("/api/v1/snapshots", snapshot("node-with-a-name", 1_000, "x")).await.ok(201);
    let page = f.get("/").await;
    let text = page.text();
    assert_eq!(page.status.as_u16(), 200, "{text}");
    assert!(page.header("content-type").starts_with("text/html"));
    assert!(text.contains("node-with-a-name"), "{text}");
    let policy = page.header("content-security-policy");
    let nonce = policy.split("'nonce-").nth(1).and_then(|p| p.split('\'').next()).unwrap();
    assert!(nonce.len() >= 16, "{policy}");
    for script in text.split("<script").skip(1) {
        let tag = script.split('>').next().unwrap();
        assert!(tag.contains(nonce) || tag.contains("src="), "<script{tag}>");
    }
    let again = f.get("/").await;
    assert_ne!(again.header("content-security-policy"), policy, "a nonce is used once");
}

#[tokio::test]
async fn an_address_without_a_page_says_so() {
    let f = Fixture::new().await;
    let page = f.get("/no/such/%3Cscript%3Epage").await;
    assert_eq!(page.status.as_u16(), 404);
    assert!(page.text().contains("Not found") && !page.text().contains("<script>page"), "{}", page.text());
}
