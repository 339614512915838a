//! Snapshots and nodes.

use crate::support::{Fixture, snapshot};

#[tokio::test]
async fn a_snapshot_makes_a_node_with_its_report() {
    let f = Fixture::new().await;
    let body = snapshot("node 1/x", 1_796_000_000_000, "==============NVSMI LOG==============\n");
    let first = f.post("/api/v1/snapshots", body.clone()).await.ok(201);
    assert_eq!((first["node"].as_str(), first["url"].as_str()), (Some("node 1_x"), Some("/nodes/node%201_x")));
    let again = f.post("/api/v1/snapshots", body).await.ok(200);
    assert_eq!((&again["id"], &again["report_id"]), (&first["id"], &first["report_id"]));
    let report = f.get(&format!("/api/v1/reports/{}", first["report_id"].as_str().unwrap())).await.ok(200);
    assert_eq!(report["subject"]["node"], "node 1_x");
    assert_eq!(report["subject"]["taken_ms"], 1_796_000_000_000i64.min(server::clock::now_ms()));
    let node = f.get("/api/v1/nodes/node%201_x").await.ok(200);
    assert_eq!((node["snapshots"].as_i64(), &node["report_id"]), (Some(1), &first["report_id"]));
    f.get("/api/v1/nodes/nobody").await.problem(404, "not-found");
}

#[tokio::test]
async fn the_newest_snapshot_by_its_own_time_is_the_nodes_report() {
    let f = Fixture::new().await;
    let mut reports = Vec::new();
    for taken in [2_000, 1_000, 3_000] {
        let answer = f.post("/api/v1/snapshots", snapshot("n", taken, "x")).await.ok(201);
        let id = answer["report_id"].as_str().unwrap().to_owned();
        f.get(&format!("/api/v1/reports/{id}")).await.ok(200);
        reports.push(id);
    }
    let node = f.get("/api/v1/nodes/n").await.ok(200);
    assert_eq!(node["report_id"], reports[2]);
    assert_eq!((node["seen_ms"].as_i64(), node["snapshots"].as_i64()), (Some(3_000), Some(3)));
    assert_eq!(f.rows("bodies").await, 1, "the three say the same");
}

#[tokio::test]
async fn what_is_no_snapshot_is_refused_and_leaves_nothing() {
    let f = Fixture::with(|c| c.max_snapshot_mib = 1).await;
    for body in [
        "".to_owned(),
        "[]".into(),
        "{\"v\":2,\"kind\":\"snapshot\",\"node\":{\"name\":\"n\"}}".into(),
        "{\"v\":1,\"kind\":\"other\",\"node\":{\"name\":\"n\"}}".into(),
        snapshot("", 1, "x"),
        snapshot("..", 1, "x"),
        "{\"v\":1".into(),
    ] {
        f.post("/api/v1/snapshots", body).await.problem(422, "not-a-snapshot");
    }
    f.post("/api/v1/snapshots", snapshot("n", 1, &"x".repeat(1 << 20))).await.problem(413, "too-large");
    assert_eq!((f.rows("nodes").await, f.rows("blobs").await), (0, 0));
}

#[tokio::test]
async fn nodes_come_in_pages_by_name() {
    let f = Fixture::new().await;
    for n in ["c", "a", "b"] {
        f.post("/api/v1/snapshots", snapshot(n, 5, n)).await.ok(201);
    }
    let page = f.get("/api/v1/nodes?limit=2").await.ok(200);
    let names = |p: &serde_json::Value| -> Vec<String> {
        p["items"].as_array().unwrap().iter().map(|i| i["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((names(&page), page["next"].as_str()), (vec!["a".into(), "b".into()], Some("b")));
    let page = f.get("/api/v1/nodes?limit=2&cursor=b").await.ok(200);
    assert_eq!((names(&page), page["next"].as_str()), (vec!["c".into()], None));
}
