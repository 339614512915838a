//! Runs: begun, fed, finished.

use axum::http::Method;

use crate::support::{Answer, Fixture, gzip, starved_steps};

const RUN: &str = "01940000-0000-7000-8000-0000000000aa";

async fn begin(f: &Fixture) -> Answer {
    let body = serde_json::json!({
        "id": RUN, "name": "train <b>", "node": "node-a", "started_ms": 1_796_090_885_000i64, "command": "python train.py",
        "world": 1, "receipt": {"wall_ms": 5},
    });
    f.post("/api/v1/runs", body.to_string()).await
}

async fn chunk(f: &Fixture, path: &str, body: Vec<u8>) -> Answer {
    f.call(Method::PUT, &format!("/api/v1/runs/{RUN}/chunks/{path}"), &[], body).await
}

#[tokio::test]
async fn a_run_in_chunks_gives_the_report_of_the_whole() {
    let f = Fixture::new().await;
    assert_eq!(begin(&f).await.ok(201)["url"], format!("/runs/{RUN}"));
    begin(&f).await.ok(200);
    let whole = starved_steps(60);
    let at = whole.match_indices('\n').nth(30).unwrap().0 + 1;
    let (a, b) = whole.split_at(at);
    // The second chunk comes first, and each is compressed in its own way.
    chunk(&f, "steps/1?name=steps.node-a.0.jsonl", zstd::encode_all(b.as_bytes(), 1).unwrap()).await.ok(201);
    chunk(&f, "steps/0?name=steps.node-a.0.jsonl", gzip(a.as_bytes())).await.ok(201);
    chunk(&f, "steps/0?name=steps.node-a.0.jsonl", gzip(a.as_bytes())).await.ok(200);
    chunk(&f, "steps/0?name=steps.node-a.0.jsonl", b"other".to_vec()).await.problem(409, "conflict");

    let end =
        f.post(&format!("/api/v1/runs/{RUN}/finish"), "{\"ended_ms\":1796090999000,\"exit_status\":0}").await.ok(200);
    let report_id = end["report_id"].as_str().unwrap();
    let report = f.get(&format!("/api/v1/reports/{report_id}?facts=true")).await.ok(200);
    assert_eq!(report["headline"]["check"], "pipeline/loader-wait");
    let (_, whole) = f.report("steps.jsonl", whole.as_bytes()).await;
    assert!(report["step"]["steps"].as_u64() > Some(50), "{}", report["step"]);
    for part in ["step", "headline", "facts", "findings"] {
        assert_eq!(report[part], whole[part], "{part} differs from that of the file in one piece");
    }
    assert_eq!((report["subject"]["run"].as_str(), report["subject"]["node"].as_str()), (Some(RUN), Some("node-a")));

    let run = f.get(&format!("/api/v1/runs/{RUN}")).await.ok(200);
    assert_eq!((run["state"].as_str(), run["exit_status"].as_i64()), (Some("finished"), Some(0)));
    assert_eq!((run["report_id"].as_str(), run["receipt"]["wall_ms"].as_i64()), (Some(report_id), Some(5)));
    assert_eq!(run["name"], "train <b>");
    assert_eq!(run["summary"]["headline"], report["headline"]);

    let lines = f.get(&format!("/api/v1/reports/{report_id}/inputs/0?first=61&count=5")).await.ok(200);
    assert_eq!((lines["total"].as_u64(), lines["lines"].as_array().unwrap().len()), (Some(61), 1));
}

#[tokio::test]
async fn a_running_run_has_a_report_that_follows_it() {
    let f = Fixture::new().await;
    begin(&f).await.ok(201);
    let run = f.get(&format!("/api/v1/runs/{RUN}")).await.ok(200);
    assert_eq!((run["state"].as_str(), run["summary"]["worst"].as_str()), (Some("running"), Some("unknown")));
    chunk(&f, "steps/0", starved_steps(40).into_bytes()).await.ok(201);
    let mut steps = serde_json::Value::Null;
    for _ in 0..100 {
        steps = f.get(&format!("/api/v1/runs/{RUN}")).await.ok(200)["summary"]["steps"].clone();
        if steps.as_u64() > Some(30) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the report was not made while the run went on: {steps}");
}

#[tokio::test]
async fn a_silent_run_is_lost_and_comes_back_with_its_next_chunk() {
    let f = Fixture::with(|c| c.run_lost_s = 1).await;
    begin(&f).await.ok(201);
    let state = || async { f.get(&format!("/api/v1/runs/{RUN}")).await.ok(200)["state"].as_str().unwrap().to_owned() };
    for _ in 0..80 {
        if state().await == "lost" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(state().await, "lost");
    chunk(&f, "log/0", b"still here\n".to_vec()).await.ok(201);
    assert_eq!(state().await, "running");
}

#[tokio::test]
async fn chunks_need_a_run_and_a_known_kind() {
    let f = Fixture::new().await;
    chunk(&f, "steps/0", b"x".to_vec()).await.problem(404, "not-found");
    begin(&f).await.ok(201);
    chunk(&f, "secrets/0", b"x".to_vec()).await.problem(400, "bad-request");
    let answer = chunk(&f, "steps/minus", b"x".to_vec()).await;
    assert_eq!(answer.status.as_u16(), 400, "{}", answer.text());
    f.post("/api/v1/runs", "{\"id\":\"7\",\"name\":\"n\",\"started_ms\":1}").await.problem(400, "bad-request");
    f.post("/api/v1/runs/nope/finish", "").await.problem(404, "not-found");
}

#[tokio::test]
async fn runs_come_in_pages_the_newest_first() {
    let f = Fixture::new().await;
    for (n, started) in [("a", 10), ("b", 30), ("c", 20), ("d", 30)] {
        let node = if n == "c" { Some("x") } else { None };
        let body = serde_json::json!({ "name": n, "started_ms": started, "node": node });
        f.post("/api/v1/runs", body.to_string()).await.ok(201);
    }
    let mut names = Vec::new();
    let mut uri = "/api/v1/runs?limit=1".to_owned();
    loop {
        let page = f.get(&uri).await.ok(200);
        names.extend(page["items"].as_array().unwrap().iter().map(|i| i["name"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        uri = format!("/api/v1/runs?limit=1&cursor={next}");
    }
    assert_eq!(names, ["d", "b", "c", "a"]);
    let of_x = f.get("/api/v1/runs?node=x").await.ok(200);
    assert_eq!(of_x["items"].as_array().unwrap().len(), 1);
}
