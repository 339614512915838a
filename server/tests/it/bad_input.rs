//! Bad input: whatever comes is kept, judged without a crash, and described in words.

use axum::http::StatusCode;

use crate::support::{Fixture, gzip};

fn note(report: &serde_json::Value) -> String {
    report["inputs"][0]["notes"].to_string()
}

#[tokio::test]
async fn files_that_tell_nothing_give_a_report_that_says_so() {
    let f = Fixture::new().await;
    let noise: Vec<u8> = (0..200_000u64).map(|i| (i.wrapping_mul(6_364_136_223_846_793_005) >> 33) as u8).collect();
    let packed = gzip(b"line\n".repeat(5000).as_slice());
    let utf16: Vec<u8> = "\u{feff}some text\r\n".repeat(50).encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (name, data, says) in [
        ("empty", Vec::new(), "empty"),
        ("noise", noise, "Binary data"),
        ("cut.gz", packed[..packed.len() / 2].to_vec(), "breaks off"),
        ("utf16", utf16, "Not recognised"),
        ("long-line", vec![b'x'; 10 << 20], "Not recognised"),
    ] {
        let (_, report) = f.report(name, &data).await;
        assert!(note(&report).contains(says), "{name}: {}", note(&report));
        for finding in report["findings"].as_array().unwrap() {
            let v = finding["verdict"].as_str().unwrap();
            assert!(v == "unknown" || v == "not-applicable", "{name}: {finding}");
        }
    }
    assert_eq!(f.get("/healthz").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_bomb_is_read_up_to_the_bound_and_said_to_be_cut() {
    let f = Fixture::new().await;
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let zeros = vec![b'0'; 1 << 20];
    for _ in 0..1024 {
        std::io::Write::write_all(&mut gz, &zeros).unwrap();
    }
    let (_, report) = f.report("bomb.gz", &gz.finish().unwrap()).await;
    assert!(note(&report).contains("Only the first"), "{}", note(&report));
}

#[tokio::test]
async fn markup_and_sql_are_text_everywhere() {
    let f = Fixture::new().await;
    let nasty = "'); drop table uploads; --<script>alert(1)</script>";
    let encoded: String = nasty.bytes().map(|b| format!("%{b:02x}")).collect();
    let (id, report) = f.report(&encoded, nasty.as_bytes()).await;
    assert!(report["inputs"][0]["name"].as_str().unwrap().contains("<script>"), "{}", report["inputs"]);
    let lines = f.get(&format!("/api/v1/reports/{id}/inputs/0")).await.ok(200);
    assert_eq!(lines["lines"][0], nasty);
    assert_eq!(f.rows("uploads").await, 1);
    let page = f.post("/upload", nasty).await;
    assert!(!page.text().contains("<script>"), "{}", page.text());
    let missing = f.get(&format!("/api/v1/nodes/{encoded}")).await;
    missing.problem(404, "not-found");
}
