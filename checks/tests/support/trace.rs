//! Profiler traces in short, for case files. Each line is one event of every step, at an offset in µs:
//!
//! ```text
//! device sms=132 cc=9.0 name="NVIDIA H100"
//! ranks 8 of which 0
//! steps 5 of 1000
//! kernel NAME at=0 dur=100 n=10 every=20 grid=1 block=128 stream=7 call=-10+5 in="aten::mm" type=float dims=64,64
//! copy "Memcpy HtoD (Pageable -> Device)" at=0 dur=50 bytes=1048576
//! call cudaStreamSynchronize at=0 dur=10 thread=1
//! op aten::mul at=0 dur=10
//! mark Optimizer.step#SGD.step at=0 dur=10
//! overhead "Command Buffer Full" at=0 dur=10
//! ```
//!
//! `n` and `every` repeat an event within the step, `only=K` puts it into one step. `call=A+B` is the launch call: A µs
//! before or after the event's start, B long; `call=none` leaves it out. `in` is the operator around the call.

use std::fmt::Write as _;

/// The trace as JSON.
pub(crate) fn json(text: &str) -> Result<String, String> {
    let mut out = Out { steps: 1, step: 0.0, id: 0, events: String::new() };
    let mut head = String::from("{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\"");
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let words = words(line);
        let (what, rest) = words.split_first().ok_or("an empty line")?;
        match what.as_str() {
            "device" => {
                let l = Line::new("", rest);
                let (major, minor) = l.text("cc").unwrap_or("9.0").split_once('.').ok_or("cc=MAJOR.MINOR")?;
                let _ = write!(
                    head,
                    ", \"deviceProperties\": [{{\"id\": 0, \"name\": \"{}\", \"computeMajor\": {major}, \"computeMinor\": {minor}, \"numSms\": {}, \"warpSize\": 32, \"totalGlobalMem\": 85899345920}}]",
                    l.text("name").unwrap_or("NVIDIA H100 80GB HBM3"),
                    l.number("sms").unwrap_or(132.0)
                );
            }
            "ranks" => {
                let (world, rank) = (rest.first().ok_or("ranks N")?, rest.last().ok_or("of which R")?);
                let _ = write!(
                    head,
                    ", \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {rank}, \"world_size\": {world}}}"
                );
            }
            "steps" => {
                out.steps = rest.first().and_then(|n| n.parse().ok()).ok_or("steps N of µs")?;
                out.step = rest.last().and_then(|n| n.parse().ok()).ok_or("steps N of µs")?;
                for n in 0..out.steps {
                    out.event("user_annotation", &format!("ProfilerStep#{n}"), 1, out.start(n), out.step, "");
                }
            }
            _ => {
                let (name, rest) = rest.split_first().ok_or_else(|| format!("no name: {line}"))?;
                out.line(what, &Line::new(name, rest))?;
            }
        }
    }
    let _ = write!(head, ", \"traceEvents\": [{}{{}}]}}", out.events);
    Ok(head)
}

struct Out {
    steps: u32,
    step: f64,
    id: u64,
    events: String,
}

impl Out {
    fn start(&self, step: u32) -> f64 {
        1000.0 + f64::from(step) * self.step
    }

    fn event(&mut self, cat: &str, name: &str, thread: i64, ts: f64, dur: f64, args: &str) {
        let _ = writeln!(
            self.events,
            r#"{{"ph": "X", "cat": "{cat}", "name": "{name}", "pid": 1, "tid": {thread}, "ts": {ts:.3}, "dur": {dur:.3}, "args": {{{args}}}}},"#
        );
    }

    fn line(&mut self, what: &str, l: &Line) -> Result<(), String> {
        let dur = l.number("dur").ok_or_else(|| format!("{} has no dur", l.name))?;
        let (n, every) = (l.number("n").unwrap_or(1.0), l.number("every").unwrap_or(dur));
        let thread = l.number("thread").unwrap_or(1.0) as i64;
        for step in 0..self.steps {
            if l.number("only").is_some_and(|k| k as u32 != step) {
                continue;
            }
            for i in 0..n as u32 {
                let at = self.start(step) + l.number("at").unwrap_or(0.0) + f64::from(i) * every;
                match what {
                    "kernel" => self.gpu("kernel", l, thread, at, dur),
                    "copy" => self.gpu("gpu_memcpy", l, thread, at, dur),
                    "fill" => self.gpu("gpu_memset", l, thread, at, dur),
                    "call" => self.event("cuda_runtime", &l.name, thread, at, dur, ""),
                    "op" => self.event("cpu_op", &l.name, thread, at, dur, ""),
                    "mark" => self.event("user_annotation", &l.name, thread, at, dur, ""),
                    "overhead" => self.event("overhead", &l.name, thread, at, dur, ""),
                    _ => return Err(format!("no such event: {what}")),
                }
            }
        }
        Ok(())
    }

    fn gpu(&mut self, cat: &str, l: &Line, thread: i64, at: f64, dur: f64) {
        self.id += 1;
        let mut args = format!(
            "\"device\": 0, \"stream\": {}, \"correlation\": {}",
            l.number("stream").unwrap_or(7.0),
            if l.text("call") == Some("none") { 0 } else { self.id }
        );
        if let Some(g) = l.number("grid") {
            let _ = write!(args, ", \"grid\": [{g}, 1, 1], \"block\": [{}, 1, 1]", l.number("block").unwrap_or(128.0));
        }
        if let Some(b) = l.number("bytes") {
            let _ = write!(args, ", \"bytes\": {b}");
        }
        if let Some(c) = l.text("collective") {
            let _ = write!(
                args,
                ", \"Collective name\": \"{c}\", \"In msg nelems\": {}, \"dtype\": \"{}\", \"Group size\": {}, \"Process Group Name\": \"0\", \"Seq\": {}",
                l.number("elements").unwrap_or(1e6),
                l.text("type").unwrap_or("Float"),
                l.number("ranks").unwrap_or(2.0),
                self.id
            );
        }
        self.event(cat, &l.name, 7, at, dur, &args);
        if l.text("call") == Some("none") {
            return;
        }
        let (from, len) = l
            .text("call")
            .and_then(|c| c.rsplit_once('+'))
            .and_then(|(a, b)| Some((a.parse::<f64>().ok()?, b.parse::<f64>().ok()?)))
            .unwrap_or((-10.0, 5.0));
        let (name, id) = (l.text("api").unwrap_or("cudaLaunchKernel"), self.id);
        let name = if cat == "kernel" { name } else { "cudaMemcpyAsync" };
        self.event("cuda_runtime", name, thread, at + from, len, &format!("\"correlation\": {id}"));
        if let Some(op) = l.text("in") {
            let mut args = String::new();
            if let Some(t) = l.text("type") {
                let dims = l.text("dims").unwrap_or("1024,1024");
                args = format!("\"Input Dims\": [[{dims}], [{dims}]], \"Input type\": [\"{t}\", \"{t}\"]");
            }
            self.event("cpu_op", op, thread, at + from - 1.0, len + 2.0, &args);
        }
    }
}

struct Line {
    name: String,
    keys: Vec<(String, String)>,
}

impl Line {
    fn new(name: &str, words: &[String]) -> Self {
        let keys = words.iter().filter_map(|w| w.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        Self { name: name.to_owned(), keys }
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.keys.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.text(key)?.parse().ok()
    }
}

/// Words of a line; quotes keep blanks together.
fn words(line: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => out.push(String::new()),
            c => {
                if let Some(last) = out.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    out.retain(|w| !w.is_empty());
    out
}
