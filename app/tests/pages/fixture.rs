//! A backend over the repository's own recordings: the pages are tried on real reports, made by the real intake.

use std::path::PathBuf;
use std::sync::Arc;

use app::backend::{
    Backend, Firing, InputPage, NodePage, NodeRow, NodesPage, Problem, Reply, ReportPage, RunPage, RunRow, RunsPage,
    StoredReport, Subject,
};
use checks::report::{Input, Report};
use checks::series::{self, Lanes};
use checks::{Intake, Settings, evaluate};

/// The moment at which all pages are shown: a few minutes after the recordings.
pub(crate) const NOW_MS: i64 = 1_796_091_600_000;
const SNAPSHOT_MS: i64 = 1_796_087_564_000;

/// A kernel log with an Xid and a line that tries to be markup.
pub(crate) const HOSTILE_LOG: &str = "\
[    3.100000] nvidia: loading out-of-tree module taints kernel.\n\
[  120.500000] NVRM: Xid (PCI:0000:17:00): 79, pid='<script>alert(1)</script>', name=<img src=x onerror=alert(2)>, GPU has fallen off the bus.\n\
[  121.000000] usb 1-1: \u{1b}[31mnew device\u{1b}[0m\n";

/// A node name that an address cannot hold as it is.
pub(crate) const ODD_NAME: &str = "rack 3/α?#&";

/// A file name that tries to be markup.
pub(crate) const HOSTILE_NAME: &str = "dmesg </title><script>alert(3)</script>.txt";

struct One {
    id: String,
    title: String,
    report: Report,
    lanes: Lanes,
    texts: Vec<String>,
}

impl One {
    fn read(id: &str, title: &str, files: &[(String, Vec<u8>)]) -> Self {
        let mut intake = Intake::new();
        for (name, bytes) in files {
            intake.add(name, bytes.as_slice());
        }
        let (inputs, mut subjects) = intake.finish();
        let subject = subjects.remove(0);
        let settings = Settings { with_facts: true, ..Settings::default() };
        let texts = texts(&inputs, files);
        let report = Report { subject: subject.id, inputs, ..evaluate(&subject.facts, &settings) };
        Self { id: id.into(), title: title.into(), report, lanes: series::lanes(&subject.facts), texts }
    }

    fn stored(&self) -> StoredReport {
        StoredReport { id: self.id.clone(), report: self.report.clone(), made_ms: NOW_MS, ready: true }
    }

    fn run(&self) -> RunRow {
        RunRow {
            id: self.id.clone(),
            name: self.title.clone(),
            node: Some("node-h200".into()),
            started_ms: 1_796_090_885_792,
            state: "finished".into(),
            summary: self.report.summary(),
            report_id: self.id.clone(),
        }
    }
}

/// The text of each input, as the file that it came from has it.
fn texts(inputs: &[Input], files: &[(String, Vec<u8>)]) -> Vec<String> {
    inputs.iter().map(|i| String::from_utf8_lossy(&files[i.file as usize].1).into_owned()).collect()
}

/// Nodes, runs and one upload.
pub(crate) struct Fixture {
    nodes: Vec<One>,
    runs: Vec<One>,
    upload: One,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../demo")
}

fn file(path: &str) -> (String, Vec<u8>) {
    let path = root().join(path);
    (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap())
}

impl Fixture {
    /// Reads the demo data of the repository.
    pub(crate) fn demo() -> Arc<dyn Backend> {
        let run = |name: &str| {
            let of = |f: &str| file(&format!("runs/{name}/{f}"));
            One::read(&format!("run-{name}"), name, &[of("steps.node-h200.0.jsonl"), of("samples.node-h200.jsonl")])
        };
        let node = |name: &str| One::read(&format!("node-{name}"), name, &[file(&format!("nodes/{name}.json"))]);
        let odd = One::read("node-odd", ODD_NAME, &[file("nodes/node-h200-user.json")]);
        let log = (HOSTILE_NAME.to_owned(), HOSTILE_LOG.as_bytes().to_vec());
        let picture = ("screenshot.png".to_owned(), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec());
        Arc::new(Self {
            nodes: vec![node("node-h200"), node("node-h200-user"), odd],
            runs: vec![run("loader-inline"), run("loader-inline.fixed"), run("small-grid"), run("healthy-lm")],
            upload: One::read("upload-1", HOSTILE_NAME, &[log, picture]),
        })
    }

    /// A server before its first upload.
    pub(crate) fn empty() -> Arc<dyn Backend> {
        Arc::new(Self { nodes: Vec::new(), runs: Vec::new(), upload: One::read("none", "none", &[]) })
    }

    fn find<'a>(all: &'a [One], what: &'static str, id: &str) -> Result<&'a One, Problem> {
        all.iter().find(|o| o.id == id || o.title == id).ok_or_else(|| Problem::NotFound { what, id: id.to_owned() })
    }

    fn all(&self) -> impl Iterator<Item = &One> {
        self.nodes.iter().chain(&self.runs).chain([&self.upload])
    }
}

fn reply<T: Send + 'static>(value: Result<T, Problem>) -> Reply<'static, T> {
    // One suspension, so that the pages are tried with data that is not there at once.
    Box::pin(async move {
        tokio::task::yield_now().await;
        value
    })
}

impl Backend for Fixture {
    fn nodes(&self) -> Reply<'_, NodesPage> {
        let row = |o: &One| NodeRow {
            name: o.title.clone(),
            seen_ms: SNAPSHOT_MS,
            gpus: Some("1 × NVIDIA H200".into()),
            driver: Some("580.159.04".into()),
            summary: o.report.summary(),
            report_id: o.id.clone(),
            run: (o.title == "node-h200").then(|| self.runs[0].run()),
        };
        let nodes: Vec<NodeRow> = self.nodes.iter().map(row).collect();
        reply(Ok(NodesPage { total: nodes.len(), nodes, now_ms: NOW_MS }))
    }

    fn node(&self, name: String) -> Reply<'_, NodePage> {
        reply(Self::find(&self.nodes, "node", &name).map(|o| NodePage {
            name,
            seen_ms: SNAPSHOT_MS,
            snapshots: 1,
            stored: o.stored(),
            runs: self.runs.iter().map(One::run).collect(),
            now_ms: NOW_MS,
        }))
    }

    fn runs(&self) -> Reply<'_, RunsPage> {
        let runs: Vec<RunRow> = self.runs.iter().map(One::run).collect();
        reply(Ok(RunsPage { total: runs.len(), runs, now_ms: NOW_MS }))
    }

    fn run(&self, id: String) -> Reply<'_, RunPage> {
        reply(Self::find(&self.runs, "run", &id).map(|o| RunPage {
            row: o.run(),
            stored: o.stored(),
            lanes: o.lanes.clone(),
            now_ms: NOW_MS,
        }))
    }

    fn report(&self, subject: Subject) -> Reply<'_, ReportPage> {
        let found = match &subject {
            Subject::Node(n) => Self::find(&self.nodes, "node", n),
            Subject::Run(id) => Self::find(&self.runs, "run", id),
            Subject::Report(id) => Self::find(std::slice::from_ref(&self.upload), "report", id),
        };
        reply(found.map(|o| ReportPage {
            subject,
            title: o.title.clone(),
            stored: o.stored(),
            lanes: o.lanes.clone(),
            now_ms: NOW_MS,
        }))
    }

    fn input(&self, report_id: String, n: usize, around: usize) -> Reply<'_, InputPage> {
        let missing = || Problem::NotFound { what: "input", id: n.to_string() };
        let found = self.all().find(|o| o.id == report_id).ok_or_else(missing).and_then(|o| {
            let (input, text) = (o.report.inputs.get(n).ok_or_else(missing)?, o.texts.get(n).ok_or_else(missing)?);
            let first = around.saturating_sub(100).max(1);
            let lines: Vec<String> = text.lines().skip(first - 1).take(200).map(str::to_owned).collect();
            Ok(InputPage {
                report_id: o.id.clone(),
                n,
                input: input.clone(),
                first,
                lines,
                total: text.lines().count(),
            })
        });
        reply(found)
    }

    fn firing(&self, check: String) -> Reply<'_, Vec<Firing>> {
        let one = |subject: Subject, o: &One| {
            let f = o.report.finding(&check).filter(|f| f.verdict.is_problem())?;
            Some(Firing { subject, title: o.title.clone(), verdict: f.verdict, message: f.message.clone() })
        };
        let runs = self.runs.iter().filter_map(|o| one(Subject::Run(o.id.clone()), o));
        reply(Ok(runs.collect()))
    }
}
