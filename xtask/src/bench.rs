//! `cargo xtask bench`: measures what the design sets as numbers, on the release build and with the demo data.
//!
//! It prints figures beside their goals and fails when one is missed; it is not a test, since a busy machine would make
//! it lie.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::server::{self, Server};
use crate::{bundle, demo, native, sh};

/// Start of the program to a served page, everything built.
const START_GOAL: Duration = Duration::from_secs(3);
/// One page, rendered and sent over loopback.
const PAGE_GOAL: Duration = Duration::from_millis(20);
/// Times that each page is asked for; the first ones warm the caches up and are not counted.
const ROUNDS: usize = 200;
const WARM_UP: usize = 20;

/// Measures start-up, pages and bundle size.
///
/// # Errors
/// Something does not build or run, or a goal is missed.
pub(crate) fn run() -> Result<()> {
    let bundle = bundle::build()?;
    native::build(native::Profile::Release)?;
    let data = sh::target()?.join("bench-data");
    if data.exists() {
        std::fs::remove_dir_all(&data)?;
    }
    let mut missed = Vec::new();

    let addr =
        SocketAddr::from((Ipv4Addr::LOCALHOST, TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port()));
    let mut server = Server::start(native::Profile::Release, addr, &data)?;
    demo::push(native::Profile::Release, &server.url())?;
    server.stop();
    let start = Instant::now();
    let server = Server::start(native::Profile::Release, addr, &data)?;
    let (status, _) = server::get(addr, "/")?;
    let started = start.elapsed();
    ensure!(status == 200, "/ answered {status}");
    judge("start to served page, demo data", started, START_GOAL, &mut missed);

    for path in pages(addr)? {
        let mut took = (0..ROUNDS).map(|_| time(addr, &path)).collect::<Result<Vec<_>>>()?.split_off(WARM_UP);
        took.sort();
        judge(&format!("{path} p99"), took[took.len() * 99 / 100], PAGE_GOAL, &mut missed);
        eprintln!("    {:<58} {:>9.2} ms", format!("{path} median"), took[took.len() / 2].as_secs_f64() * 1e3);
    }
    drop(server);
    bundle.report(true)?;
    if missed.is_empty() { Ok(()) } else { bail!("goals missed: {}", missed.join("; ")) }
}

/// The kinds of page that a person opens, with one run and one node of the demo in them.
fn pages(addr: SocketAddr) -> Result<Vec<String>> {
    let run = first(addr, "/api/v1/runs", "id")?;
    let node = first(addr, "/api/v1/nodes", "name")?;
    Ok(vec![
        "/".to_owned(),
        "/runs".to_owned(),
        format!("/runs/{run}"),
        format!("/runs/{run}/checklist/pipeline"),
        format!("/nodes/{node}"),
        format!("/nodes/{node}/checklist/driver"),
        "/catalogue".to_owned(),
        "/catalogue/pipeline/loader-wait".to_owned(),
        "/upload".to_owned(),
    ])
}

fn first(addr: SocketAddr, list: &str, field: &str) -> Result<String> {
    let (_, body) = server::get(addr, list)?;
    let json = body.find('{').and_then(|i| serde_json::from_str::<serde_json::Value>(&body[i..=body.rfind('}')?]).ok());
    let value = json.as_ref().and_then(|j| j["items"][0][field].as_str());
    value.map(str::to_owned).with_context(|| format!("{list} lists nothing: {body}"))
}

fn time(addr: SocketAddr, path: &str) -> Result<Duration> {
    let start = Instant::now();
    let (status, body) = server::get(addr, path)?;
    ensure!(status == 200 && body.contains("</html>"), "{path} answered {status}");
    Ok(start.elapsed())
}

fn judge(what: &str, took: Duration, goal: Duration, missed: &mut Vec<String>) {
    let (took_ms, goal_ms) = (took.as_secs_f64() * 1e3, goal.as_secs_f64() * 1e3);
    let mark = if took <= goal { "met" } else { "MISSED" };
    eprintln!("    {what:<58} {took_ms:>9.2} ms   goal {goal_ms:.0} ms: {mark}");
    if took > goal {
        missed.push(format!("{what} {took_ms:.1} ms"));
    }
}
