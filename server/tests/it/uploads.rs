//! Uploads: kept as they came, one a content.

use axum::body::Body;
use axum::http::Method;

use crate::support::{Fixture, gzip};

#[tokio::test]
async fn the_same_bytes_are_one_upload_with_both_names() {
    let f = Fixture::new().await;
    let first = f.post("/api/v1/uploads?name=a.txt", "hello\n").await.ok(201);
    let again = f.post("/api/v1/uploads?name=b.txt", "hello\n").await.ok(200);
    assert_eq!(first["id"], again["id"]);
    assert_eq!((first["bytes"].as_u64(), again["name"].as_str()), (Some(6), Some("b.txt")));
    assert_eq!(first["hash"], blake3::hash(b"hello\n").to_hex().as_str());
    let id = first["id"].as_str().unwrap();
    let upload = f.get(&format!("/api/v1/uploads/{id}")).await.ok(200);
    assert_eq!(upload["names"], serde_json::json!(["a.txt", "b.txt"]));
    assert_eq!(f.rows("uploads").await, 1);
    f.get("/api/v1/uploads/nonsense").await.problem(404, "not-found");
    f.get("/api/v1/uploads/00000000-0000-7000-8000-000000000000").await.problem(404, "not-found");
}

#[tokio::test]
async fn raw_bytes_come_back_as_a_download_that_no_browser_runs() {
    let f = Fixture::new().await;
    let large: Vec<u8> = (0..300_000u32).map(|i| (i % 253) as u8).collect();
    for data in [&b"<script>alert(1)</script>"[..], &large] {
        let id = f.upload("x%22%0d%0a%C3%A9.html", data).await;
        let raw = f.get(&format!("/api/v1/uploads/{id}/raw")).await;
        assert!(raw.body == data, "{} bytes differ", data.len());
        assert_eq!(raw.header("content-type"), "text/plain; charset=utf-8");
        assert_eq!(raw.header("x-content-type-options"), "nosniff");
        assert!(raw.header("content-disposition").starts_with("attachment; filename=\"x__.html\""));
    }
}

#[tokio::test]
async fn content_encodings_are_removed_and_compressed_files_are_kept() {
    let f = Fixture::new().await;
    let text = b"one\ntwo\n";
    let plain = f.upload("t", text).await;
    for (encoding, body) in [("gzip", gzip(text)), ("zstd", zstd::encode_all(&text[..], 3).unwrap())] {
        let headers = [("content-encoding", encoding)];
        let answer = f.call(Method::POST, "/api/v1/uploads?name=t", &headers, body.clone()).await.ok(200);
        assert_eq!(answer["id"], plain, "{encoding}");
        let as_file = f.post("/api/v1/uploads?name=t.gz", body.clone()).await.ok(201);
        assert_eq!(as_file["bytes"], body.len());
    }
    let unknown = f.call(Method::POST, "/api/v1/uploads?name=t", &[("content-encoding", "br")], "x").await;
    unknown.problem(415, "encoding");
}

#[tokio::test]
async fn limits_count_decompressed_bytes() {
    let f = Fixture::with(|c| c.max_upload_mib = 1).await;
    f.post("/api/v1/uploads?name=big", vec![0u8; (1 << 20) + 1]).await.problem(413, "too-large");
    let bomb = gzip(&vec![0u8; 64 << 20]);
    assert!(bomb.len() < 1 << 20);
    let answer = f.call(Method::POST, "/api/v1/uploads?name=b", &[("content-encoding", "gzip")], bomb.clone()).await;
    answer.problem(413, "too-large");
    assert_eq!((f.rows("uploads").await, f.rows("blobs").await), (0, 0));
    f.post("/api/v1/uploads?name=b.gz", bomb).await.ok(201);
}

#[tokio::test]
async fn broken_encodings_and_bodies_leave_nothing() {
    let f = Fixture::new().await;
    let noise: Vec<u8> = (0..400_000u64).map(|i| (i.wrapping_mul(6_364_136_223_846_793_005) >> 33) as u8).collect();
    let (gz, zst) = (gzip(&noise), zstd::encode_all(&noise[..], 1).unwrap());
    for (encoding, body) in [
        ("gzip", &gz[..gz.len() / 2]),
        ("zstd", &zst[..zst.len() / 2]),
        ("gzip", b"not gzip"),
        ("gzip", &gz[..gz.len() - 4]),
    ] {
        let headers = [("content-encoding", encoding)];
        f.call(Method::POST, "/api/v1/uploads?name=t", &headers, body.to_vec()).await.problem(400, "broken-body");
    }
    let chunks = (0..30).map(|_| Ok(vec![1u8; 100_000])).chain([Err("connection lost")]);
    let broken = Body::from_stream(futures::stream::iter(chunks));
    f.post("/api/v1/uploads?name=t", broken).await.problem(400, "broken-body");
    assert_eq!((f.rows("uploads").await, f.rows("blobs").await), (0, 0));
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert!(f.blob_files().is_empty(), "{:?}", f.blob_files());
}

#[tokio::test]
async fn names_are_labels_and_never_paths() {
    let f = Fixture::new().await;
    for (given, kept) in [("..%2F..%2Fetc%2Fpasswd", "etc/passwd"), ("", "unnamed"), ("%00%1b%5B31m", "[31m")] {
        let answer = f.post(&format!("/api/v1/uploads?name={given}"), given.to_owned()).await.ok(201);
        assert_eq!(answer["name"], kept);
    }
    let long = "n".repeat(3000);
    let answer = f.post(&format!("/api/v1/uploads?name={long}"), "x").await.ok(201);
    assert!(answer["name"].as_str().unwrap().chars().count() <= 200);
    let bare = f.post("/api/v1/uploads", "y").await.ok(201);
    assert_eq!(bare["name"], "unnamed");
}
