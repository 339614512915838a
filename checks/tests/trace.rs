//! Traces from text to labels: synthetic ones against a naive reference, real ones against what is known of them, broken
//! ones against the promise that reading never fails.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use checks::intake::kineto;
use checks::report::ReportDoc;
use checks::trace::{Cause, Parts, StepMark, TraceSummary, WindowMode, analyse};
use checks::{Intake, Settings};
use proptest::prelude::*;

/// A synthetic trace.
#[derive(Clone, Debug)]
struct Synthetic {
    /// Start and length of each step, back to back, µs.
    steps: Vec<u32>,
    /// Device activities: start, length, kind 0..5, stream, delay of the launch call before it (µs), call length.
    gpu: Vec<(u32, u32, u8, u8, i32, u32)>,
    /// Host spans: start, length, kind 0..4, thread.
    host: Vec<(u32, u32, u8, u8)>,
}

const GPU: [(&str, &str); 5] = [
    ("kernel", "my_kernel"),
    ("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
    ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)"),
    ("gpu_memcpy", "Memcpy DtoD (Device -> Device)"),
    ("gpu_memset", "Memset (Device)"),
];

impl Synthetic {
    fn json(&self) -> String {
        let mut out = String::from("{\"schemaVersion\": 1, \"traceEvents\": [\n");
        let mut at = 0;
        for (n, len) in self.steps.iter().enumerate() {
            let _ = writeln!(
                out,
                r#"{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{n}", "pid": 1, "tid": 1, "ts": {at}, "dur": {len}}},"#
            );
            at += len;
        }
        for (i, (start, len, kind, stream, delay, call)) in self.gpu.iter().enumerate() {
            let (cat, name) = GPU[usize::from(*kind) % 5];
            let id = i + 1;
            let _ = writeln!(
                out,
                r#"{{"ph": "X", "cat": "{cat}", "name": "{name}", "pid": 0, "tid": {stream}, "ts": {start}, "dur": {len}.250, "args": {{"device": 0, "stream": {stream}, "correlation": {id}}}}},"#
            );
            if *delay > -40 {
                let ts = i64::from(*start) - i64::from(*delay) - i64::from(*call);
                let _ = writeln!(
                    out,
                    r#"{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": {}, "ts": {ts}, "dur": {call}, "args": {{"cbid": 211, "correlation": {id}}}}},"#,
                    1 + i % 2
                );
            }
        }
        for (start, len, kind, thread) in &self.host {
            let (cat, name) = [
                ("cpu_op", "aten::add"),
                ("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
                ("cuda_runtime", "cudaStreamSynchronize"),
                ("cuda_runtime", "cudaMalloc"),
                ("cpu_op", "entire_frame_compile"),
            ][usize::from(*kind) % 5];
            let tid = 1 + thread % 2;
            let _ = writeln!(
                out,
                r#"{{"ph": "X", "cat": "{cat}", "name": "{name}", "pid": 1, "tid": {tid}, "ts": {start}, "dur": {len}, "args": {{}}}},"#
            );
        }
        out.push_str(
            "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"tid\": 1, \"args\": {\"name\": \"x\"}}]}",
        );
        out
    }
}

fn synthetic() -> impl Strategy<Value = Synthetic> {
    let gpu = (0u32..2000, 0u32..120, 0u8..5, 1u8..4, -60i32..200, 1u32..90);
    let host = (0u32..2000, 0u32..300, 0u8..5, 0u8..2);
    (
        proptest::collection::vec(50u32..400, 0..9),
        proptest::collection::vec(gpu, 0..60),
        proptest::collection::vec(host, 0..40),
    )
        .prop_map(|(steps, gpu, host)| Synthetic { steps, gpu, host })
}

fn summary(json: &str, mode: WindowMode) -> TraceSummary {
    analyse(kineto::read(json.as_bytes()).unwrap(), mode)
}

/// Busy time by kind in quarters of a µs, counted instant by instant.
fn naive(s: &Synthetic, from: i64, to: i64) -> [i64; 4] {
    let mut out = [0; 4];
    for t in from..to {
        let on = |kinds: &[u8]| {
            s.gpu.iter().any(|g| {
                let (a, b) = (i64::from(g.0) * 4, i64::from(g.0) * 4 + i64::from(g.1) * 4 + 1);
                kinds.contains(&(g.2 % 5)) && a <= t && t < b
            })
        };
        if on(&[0]) {
            out[0] += 1;
        } else if on(&[1]) {
            out[1] += 1;
        } else if on(&[2]) {
            out[2] += 1;
        } else if on(&[3, 4]) {
            out[3] += 1;
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_labels_add_up_to_the_window_and_agree_with_counting(s in synthetic()) {
        let json = s.json();
        let t = summary(&json, WindowMode::Steps);
        let sum = t.parts.sum();
        prop_assert!((t.window_ms * 1e6 - sum as f64).abs() < 1.0);
        let starts: Vec<i64> = s.steps.iter().scan(0i64, |at, l| { let s = *at; *at += i64::from(*l); Some(s) }).collect();
        if s.gpu.is_empty() {
            prop_assert_eq!(sum, 0);
        } else if t.steps.mark == StepMark::Profiler {
            let (first, last) = if t.steps.steady { (1, s.steps.len() - 2) } else { (0, s.steps.len() - 1) };
            let (from, to) = (starts[first], starts[last] + i64::from(s.steps[last]));
            prop_assert_eq!(sum, (to - from) * 1000, "the window is that of the steps");
            let n = naive(&s, from * 4, to * 4);
            let Parts { compute, comm, h2d, other_copy, .. } = t.parts;
            prop_assert_eq!([compute, comm, h2d, other_copy], n.map(|q| q * 250));
        }
        let full = summary(&json, WindowMode::Full);
        prop_assert!(full.parts.idle() >= 0 && full.parts.busy() >= 0);
    }

    #[test]
    fn any_bytes_are_read_without_failing(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut text = b"{\"traceEvents\": [".to_vec();
        text.extend(bytes);
        let _ = kineto::read(&text[..]).map(|r| analyse(r, WindowMode::Steps));
    }

    #[test]
    fn a_cut_or_spoiled_trace_keeps_what_is_whole(s in synthetic(), cut in 0.0f64..1.0, spoil in 0usize..4000, with in any::<u8>()) {
        let mut json = s.json().into_bytes();
        let at = spoil % json.len();
        json[at] = with;
        json.truncate((json.len() as f64 * cut) as usize);
        if let Some(r) = kineto::read(&json[..]) {
            let t = analyse(r, WindowMode::Steps);
            prop_assert_eq!(t.parts.sum(), (t.window_ms * 1e6).round() as i64);
        }
    }
}

#[test]
fn each_idle_gap_has_the_cause_that_the_rules_give_it() {
    // One kernel of 100 µs at the start of each 1,000 µs step, five steps; the rest is idle for a known reason.
    let run = |extra: &str, call: &str| {
        let mut json = String::from("{\"traceEvents\": [");
        for n in 0..5 {
            let t = n * 1000;
            let _ = write!(
                json,
                r#"{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{n}","pid":1,"tid":1,"ts":{t},"dur":1000}},"#
            );
            let _ = write!(
                json,
                r#"{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{t},"dur":100,"args":{{"device":0,"stream":7,"correlation":{}}}}},"#,
                n + 1
            );
            for (what, from, len) in [(call, -10i64, 5i64), (extra, -600, 500)] {
                let what = what.replace("CORR", &(n + 1).to_string());
                if !what.is_empty() {
                    let _ = write!(json, r#"{{"ph":"X",{what},"pid":1,"tid":1,"ts":{},"dur":{len}}},"#, t + from);
                }
            }
        }
        json.push_str("{}]}");
        let s = summary(&json, WindowMode::Steps);
        assert_eq!(s.steps.used, 3);
        s.parts
    };
    let launch = r#""cat":"cuda_runtime","name":"cudaLaunchKernel","args":{"correlation":CORR}"#;
    let late = |p: &Parts| (p.launch_call, p.python, p.framework);
    // The call starts 10 µs before the kernel: 10 µs a step are launch call and latency.
    let plain = run("", launch);
    assert_eq!(late(&plain), (30_000, 2_670_000, 0));
    let ops = run(r#""cat":"cpu_op","name":"aten::mul""#, launch);
    assert_eq!(late(&ops), (30_000, 1_170_000, 1_500_000));
    let loader = run(r#""cat":"user_annotation","name":"enumerate(DataLoader)#_It.__next__""#, launch);
    assert_eq!(loader.data_wait, 1_500_000);
    let malloc = run(r#""cat":"cuda_runtime","name":"cudaMalloc""#, launch);
    assert_eq!(malloc.allocator, 1_500_000);
    let compile = run(r#""cat":"cpu_op","name":"_compile.compile_inner (dynamo_timed)""#, launch);
    assert_eq!(compile.compile, 1_500_000);
    // 500 µs of synchronising on an idle device, then at most as long to catch up, since no kernel is ever queued: 90 µs
    // to the next launch call and 300 µs of the gap after it.
    let sync = run(r#""cat":"cuda_runtime","name":"cudaStreamSynchronize""#, launch);
    assert_eq!((sync.sync_tail, sync.sync_restart), (1_500_000, 1_170_000));
    let unknown = run("", "");
    assert_eq!(unknown.unattributed, 2_700_000);
}

#[test]
fn queued_work_waits_for_the_device_not_for_the_host() {
    // Launched at 0; the second kernel starts 2 µs, the third 50 µs after its predecessor.
    let kernel = |id: u32, ts: u32, dur: u32| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{ts},"dur":{dur},"args":{{"stream":7,"correlation":{id}}}}},
               {{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{id},"dur":1,"args":{{"correlation":{id}}}}},"#
        )
    };
    let json = format!("{{\"traceEvents\":[{}{}{}{{}}]}}", kernel(1, 10, 100), kernel(2, 112, 100), kernel(3, 262, 8));
    let p = summary(&json, WindowMode::Full).parts;
    assert_eq!((p.kernel_latency, p.device_dependency, p.compute), (2_000, 50_000, 208_000));
}

#[test]
fn duplicate_correlation_ids_negative_times_and_words_for_numbers_do_no_harm() {
    let json = r#"{"traceEvents":[
        {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":100,"dur":10,"args":{"stream":7,"correlation":1}},
        {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":200,"dur":10,"args":{"stream":7,"correlation":1}},
        {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":190,"dur":5,"args":{"correlation":1}},
        {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":90,"dur":5,"args":{"correlation":1}},
        {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":300,"dur":-10,"args":{"stream":7}},
        {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":NaN,"dur":10,"args":{"stream":7}},
        {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":400,"args":{"stream":7}},
        {"ph":"X","cat":"kernel","name":"a "quoted" name","pid":0,"tid":7,"ts":500,"dur":10},
        {"ph":"X","cat":"kernel","name":"N/A","pid":0,"tid":7,"ts":600,"dur":10,"args":{"stream":7,"bytes":N/A}}
    ]}"#;
    let rec = kineto::read(json.as_bytes()).unwrap();
    assert_eq!(rec.gpu.len(), 3);
    assert_eq!((rec.dropped.negative, rec.dropped.bad_time, rec.dropped.no_duration, rec.dropped.broken), (1, 1, 1, 1));
    let s = analyse(rec, WindowMode::Full);
    assert_eq!(s.launch.launched, 2);
    assert_eq!(s.launch.orphans, 1);
}

#[test]
fn nanosecond_stamps_are_recognised_and_the_words_of_the_header_do_not_mislead() {
    let ns = r#"{"displayTimeUnit":"ns","traceEvents":[
        {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1695835542481129000,"dur":2500}]}"#;
    let rec = kineto::read(ns.as_bytes()).unwrap();
    assert_eq!(rec.gpu[0].end - rec.gpu[0].start, 2500);
    let us = r#"{"displayTimeUnit":"ns","traceEvents":[
        {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1695835542481129,"dur":2.5}]}"#;
    let rec = kineto::read(us.as_bytes()).unwrap();
    assert_eq!(rec.gpu[0].end - rec.gpu[0].start, 2500);
}

#[test]
fn deep_nesting_huge_events_and_endless_spaces_cost_little() {
    let deep = format!(
        r#"{{"traceEvents":[{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":1,"ts":1,"dur":1,"args":{{"x":{}{}}}}},
           {{"ph":"X","cat":"kernel","name":"after","pid":0,"tid":1,"ts":3,"dur":1}}]}}"#,
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    assert_eq!(kineto::read(deep.as_bytes()).unwrap().gpu.len(), 2);
    let huge = format!(
        r#"{{"big":"{}","traceEvents":[{{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1,"args":{{"x":"{}"}}}},
           {{"ph":"X","cat":"kernel","name":"after","pid":0,"tid":1,"ts":3,"dur":1}}]}}"#,
        "y".repeat(3 << 20),
        "z".repeat(9 << 20)
    );
    let rec = kineto::read(huge.as_bytes()).unwrap();
    assert_eq!((rec.gpu.len(), rec.dropped.too_large), (1, 1));
    let spaces = Cursor::new(&b"{\"traceEvents\": ["[..]).chain(std::io::repeat(b' ').take(256 << 20));
    assert_eq!(kineto::read(spaces).unwrap().events, 0);
}

#[test]
fn a_file_without_events_is_a_summary() {
    assert!(kineto::read(&b"{\"schemaVersion\": 1, \"deviceProperties\": []}"[..]).is_none());
    let mut intake = Intake::new();
    intake.add("x.json", &b"{\"schemaVersion\": 1, \"deviceProperties\": []}"[..]);
    let ReportDoc::One(report) = intake.report(&Settings::default()) else { panic!("one subject") };
    assert_eq!(report.inputs[0].kind, "kineto");
    assert!(report.inputs[0].notes[0].text.contains("no traceEvents"));
}

/// Folders that stand beside the project; a checkout without them has nothing to compare with.
fn shared(folder: &str) -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(folder);
    dir.is_dir().then_some(dir)
}

fn real_traces() -> Vec<PathBuf> {
    let mut out = Vec::new();
    if let Some(runs) = shared("gpu-runs") {
        for e in std::fs::read_dir(runs).unwrap() {
            out.push(e.unwrap().path().join("trace.json.gz"));
        }
    }
    if let Some(corpus) = shared("corpus/kineto") {
        out.extend(std::fs::read_dir(corpus).unwrap().map(|e| e.unwrap().path()));
    }
    out.retain(|p| p.is_file());
    // The largest is for the benchmark, not for a debug build.
    out.retain(|p| p.metadata().unwrap().len() < 6 << 20);
    out.sort();
    out
}

fn open(path: &Path) -> TraceSummary {
    let mut decoded = checks::intake::decode::open(std::fs::File::open(path).unwrap()).unwrap();
    analyse(kineto::read(decoded.stream()).unwrap(), WindowMode::Steps)
}

#[test]
fn labels_add_up_on_every_real_trace_and_gaps_are_explained() {
    for path in real_traces() {
        let s = open(&path);
        assert_eq!(s.parts.sum(), (s.window_ms * 1e6).round() as i64, "{}", path.display());
        assert!(s.parts.unattributed as f64 <= 0.05 * s.parts.sum() as f64, "{}", path.display());
        for gap in &s.gaps {
            assert!(gap.ms > 0.0 && gap.at_ms >= 0.0 && gap.at_ms + gap.ms <= s.window_ms + 1e-3);
            assert!(gap.cause == Cause::Unattributed || gap.next.is_some() || gap.at_ms + gap.ms > s.window_ms - 1e-3);
        }
    }
}

#[test]
fn facts_of_the_labelled_traces_are_read() {
    let Some(corpus) = shared("corpus") else { return };
    let labels: serde_json::Value =
        serde_json::from_reader(std::fs::File::open(corpus.join("labels.json")).unwrap()).unwrap();
    let mut seen = 0;
    for l in labels.as_array().unwrap().iter().filter(|l| l["kind"] == "kineto") {
        let path = corpus.join(l["file"].as_str().unwrap());
        let s = open(&path);
        let facts = &l["facts"];
        let close = |want: &serde_json::Value, got: f64, what: &str| {
            if let Some(w) = want.as_f64() {
                assert!((w - got).abs() <= 0.01 * w.abs() + 1.0, "{}: {what} is {w}, read as {got}", path.display());
            }
        };
        close(&facts["steps"], s.steps.recorded as f64, "steps");
        close(&facts["kernels"], s.kernels as f64, "kernels");
        close(&facts["rank"], s.rank.unwrap_or(-1) as f64, "rank");
        close(&facts["world_size"], s.world.unwrap_or(-1) as f64, "world");
        seen += 1;
    }
    assert!(seen >= 8, "all labelled traces were looked at");
}
