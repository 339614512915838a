//! Reads traces and prints where the time of their steps goes, one JSON line each, with the time and memory it took:
//! `decompose [--window full] TRACE...`. It serves to compare with other tools and to measure speed.

use std::fs::File;
use std::io::BufReader;
use std::time::Instant;

use checks::intake::{decode, kineto};
use checks::trace::{WindowMode, analyse};

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let full = args.first().is_some_and(|a| a == "--window") && args.get(1).is_some_and(|a| a == "full");
    if full {
        args.drain(..2);
    }
    let mode = if full { WindowMode::Full } else { WindowMode::Steps };
    for path in &args {
        if let Err(e) = one(path, mode) {
            eprintln!("{path}: {e}");
        }
    }
}

fn one(path: &str, mode: WindowMode) -> Result<(), String> {
    let start = Instant::now();
    let file = BufReader::with_capacity(1 << 20, File::open(path).map_err(|e| e.to_string())?);
    let mut decoded = decode::open(file)?;
    let rec = kineto::read(decoded.stream()).ok_or("no list of events")?;
    let read_s = start.elapsed().as_secs_f64();
    let s = analyse(rec, mode);
    let all_s = start.elapsed().as_secs_f64();
    let pct = |ns| 100.0 * s.share(ns);
    let parts = serde_json::to_value(s.parts).map_err(|e| e.to_string())?;
    let line = serde_json::json!({
        "trace": path, "steps": s.steps.recorded, "used": s.steps.used, "kernels": s.kernels, "events": s.events,
        "gpu_events": s.device_events, "window_us": s.window_ms * 1e3, "busy_us": s.parts.busy() as f64 / 1e3,
        "idle_pct": pct(s.parts.idle()), "compute_pct": pct(s.parts.compute + s.parts.comm),
        "noncompute_pct": pct(s.parts.h2d + s.parts.other_copy), "step_ms": s.mean_step_ms(), "parts_ns": parts,
        "read_s": read_s, "all_s": all_s, "peak_mib": peak_mib(),
    });
    println!("{line}");
    Ok(())
}

/// Peak resident memory of this process, where the system tells.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kb| kb / 1024)
}
