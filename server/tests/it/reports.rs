//! Reports of uploads, the raw lines behind them, and the plain form.

use axum::http::Method;

use crate::support::{Fixture, starved_steps};

#[tokio::test]
async fn a_file_becomes_a_report_and_the_same_file_the_same_report() {
    let f = Fixture::new().await;
    let steps = starved_steps(60);
    let (id, report) = f.report("steps.jsonl", steps.as_bytes()).await;
    assert_eq!(report["schema"], 1);
    assert_eq!(report["headline"]["check"], "pipeline/loader-wait", "{}", report["headline"]);
    assert_eq!(report["inputs"][0]["kind"], "step-timings");
    assert_eq!(report["subject"]["node"], "node-a");
    assert!(report["facts"].as_array().is_some_and(|f| !f.is_empty()));
    let without = f.get(&format!("/api/v1/reports/{id}")).await.ok(200);
    assert!(without.get("facts").is_none());

    let upload = f.upload("other-name.jsonl", steps.as_bytes()).await;
    let body = serde_json::json!({ "uploads": [upload, upload] }).to_string();
    let again = f.post("/api/v1/reports", body).await.ok(200);
    assert_eq!(again["id"], id);
    assert_eq!(again["url"], format!("/reports/{id}"));
    assert_eq!(again["ids"], serde_json::json!([id]));
}

#[tokio::test]
async fn what_the_server_says_is_what_checks_says() {
    let f = Fixture::new().await;
    let steps = starved_steps(40);
    let (_, served) = f.report("steps.jsonl", steps.as_bytes()).await;
    let mut intake = checks::Intake::new();
    intake.add("steps.jsonl", steps.as_bytes());
    let doc = intake.report(&checks::Settings { with_facts: true, ..checks::Settings::default() });
    assert_eq!(served, serde_json::to_value(&doc.reports()[0]).unwrap());
}

#[tokio::test]
async fn several_hosts_have_a_report_each() {
    let f = Fixture::new().await;
    let other = starved_steps(40).replace("node-a", "node-b");
    let uploads = [f.upload("a", starved_steps(40).as_bytes()).await, f.upload("b", other.as_bytes()).await];
    let body = serde_json::json!({ "uploads": uploads }).to_string();
    let made = f.post("/api/v1/reports", body).await.ok(201);
    let ids = made["ids"].as_array().unwrap();
    assert_eq!(ids.len(), 2);
    assert_eq!(ids[0], made["id"]);
    for (id, node) in ids.iter().zip(["node-a", "node-b"]) {
        let report = f.get(&format!("/api/v1/reports/{}", id.as_str().unwrap())).await.ok(200);
        assert_eq!(report["subject"]["node"], node);
        assert_eq!(report["inputs"].as_array().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn reports_that_say_the_same_share_one_body() {
    let f = Fixture::new().await;
    for note in ["a", "b", "c"] {
        f.report("notes.txt", format!("{note} word that no parser knows\n").as_bytes()).await;
    }
    assert_eq!((f.rows("reports").await, f.rows("bodies").await), (3, 1));
}

#[tokio::test]
async fn raw_lines_are_those_that_the_evidence_quotes() {
    let f = Fixture::new().await;
    let (id, report) = f.report("steps.jsonl", starved_steps(60).as_bytes()).await;
    let finding = report["findings"].as_array().unwrap().iter().find(|f| f["id"] == "pipeline/loader-wait").unwrap();
    let evidence = finding["evidence"].as_array().unwrap().iter().find(|e| e["line"].is_u64()).unwrap();
    let line = evidence["line"].as_u64().unwrap();
    let shown = f.get(&format!("/api/v1/reports/{id}/inputs/0?first={line}&count=1")).await.ok(200);
    assert_eq!((shown["first"].as_u64(), shown["total"].as_u64()), (Some(line), Some(61)));
    let quote = evidence["quote"].as_str().unwrap().trim_end_matches('…').to_owned();
    assert!(shown["lines"][0].as_str().unwrap().starts_with(&quote), "{shown} {quote}");
    f.get(&format!("/api/v1/reports/{id}/inputs/7")).await.problem(404, "not-found");
}

#[tokio::test]
async fn lists_come_in_pages_the_newest_first() {
    let f = Fixture::new().await;
    let mut ids = Vec::new();
    for n in 0..5u32 {
        ids.push(f.report("n.txt", format!("text {n}\n").as_bytes()).await.0);
    }
    ids.reverse();
    let mut seen = Vec::new();
    let mut uri = "/api/v1/reports?limit=2".to_owned();
    loop {
        let page = f.get(&uri).await.ok(200);
        seen.extend(page["items"].as_array().unwrap().iter().map(|i| i["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        uri = format!("/api/v1/reports?limit=2&cursor={next}");
    }
    assert_eq!(seen, ids);
    f.get("/api/v1/reports?cursor=zzz").await.problem(400, "bad-request");
}

#[tokio::test]
async fn a_report_needs_uploads_that_exist() {
    let f = Fixture::new().await;
    f.post("/api/v1/reports", "{\"uploads\":[]}").await.problem(400, "bad-request");
    f.post("/api/v1/reports", "{").await.problem(400, "bad-request");
    f.post("/api/v1/reports", "{\"uploads\":[\"00000000-0000-7000-8000-000000000000\"]}")
        .await
        .problem(404, "not-found");
    f.post("/api/v1/reports", "{\"uploads\":[\"' or 1=1 --\"]}").await.problem(404, "not-found");
}

fn form(parts: &[(&str, Option<&str>, &str)]) -> (String, String) {
    let mut body = String::new();
    for (name, file, text) in parts {
        let file = file.map_or_else(String::new, |f| format!("; filename=\"{f}\""));
        body.push_str(&format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{text}\r\n"));
    }
    body.push_str("--XX--\r\n");
    ("multipart/form-data; boundary=XX".into(), body)
}

async fn send_form(f: &Fixture, parts: &[(&str, Option<&str>, &str)]) -> crate::support::Answer {
    let (kind, body) = form(parts);
    f.call(Method::POST, "/upload", &[("content-type", &kind)], body).await
}

#[tokio::test]
async fn the_plain_form_leads_to_the_report_of_files_and_paste() {
    let f = Fixture::new().await;
    let steps = starved_steps(40);
    let parts = [("files", Some("../a.jsonl"), steps.as_str()), ("files", Some(""), ""), ("paste", None, "pasted\n")];
    let answer = send_form(&f, &parts).await;
    assert_eq!(answer.status.as_u16(), 303, "{}", answer.text());
    let id = answer.header("location").strip_prefix("/reports/").unwrap().to_owned();
    let report = f.get(&format!("/api/v1/reports/{id}")).await.ok(200);
    let names: Vec<&str> = report["inputs"].as_array().unwrap().iter().map(|i| i["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a.jsonl", "pasted text"]);
    assert_eq!(report["headline"]["check"], "pipeline/loader-wait");

    let api = [f.upload("x", steps.as_bytes()).await, f.upload("y", b"pasted\n").await];
    let same = f.post("/api/v1/reports", serde_json::json!({ "uploads": api }).to_string()).await.ok(200);
    assert_eq!(same["id"], id, "form and API end in the same report");
}

#[tokio::test]
async fn a_form_problem_is_a_page() {
    let f = Fixture::with(|c| c.max_upload_mib = 1).await;
    let empty = send_form(&f, &[("files", Some(""), ""), ("paste", None, "")]).await;
    let big = "x".repeat((1 << 20) + 1);
    let large = send_form(&f, &[("files", Some("a"), &big)]).await;
    let (kind, body) = form(&[("files", Some("a"), &"y".repeat(200_000))]);
    let cut = f.call(Method::POST, "/upload", &[("content-type", &kind)], body[..150_000].to_owned()).await;
    let other = f.call(Method::POST, "/upload", &[("content-type", "text/plain")], "x").await;
    for (answer, status) in [(empty, 400), (large, 413), (cut, 400), (other, 400)] {
        assert_eq!(answer.status.as_u16(), status, "{}", answer.text());
        assert!(answer.header("content-type").starts_with("text/html"), "{:?}", answer.headers);
        assert!(answer.text().contains("<h1>"));
    }
    assert_eq!(f.rows("uploads").await, 0);
}

#[tokio::test]
async fn raw_data_that_is_gone_is_said_and_the_rest_works() {
    let f = Fixture::new().await;
    let mut large = starved_steps(2000).into_bytes();
    large.extend_from_slice(b"\n");
    let (id, _) = f.report("steps.jsonl", &large).await;
    let files = f.blob_files();
    assert_eq!(files.len(), 1);
    std::fs::remove_file(&files[0]).unwrap();
    f.get(&format!("/api/v1/reports/{id}")).await.ok(200);
    f.get(&format!("/api/v1/reports/{id}/inputs/0")).await.problem(422, "not-text");
    let upload = f.upload("small.txt", b"small").await;
    let both = [upload, f.get("/api/v1/reports").await.ok(200)["items"][0]["id"].as_str().unwrap().to_owned()];
    f.post("/api/v1/reports", serde_json::json!({ "uploads": [both[0]] }).to_string()).await.ok(201);
}
