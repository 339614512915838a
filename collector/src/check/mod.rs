//! `sextant check`: reads the node or files, asks the catalogue, prints the report.
//!
//! It decides what is read and where the report goes, never what a reading means.

pub(crate) mod files;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use checks::report::{Level, Report, ReportDoc};
use checks::{Intake, Settings, catalogue};

use crate::cli::CheckArgs;
use crate::probe;
use crate::show::{self, Look};

/// Exit status where nothing could be read.
const NOTHING_READ: u8 = 3;
/// Columns of a page that goes to a file or a pipe.
const WIDTH_PIPE: usize = 100;

/// Runs the command; the exit status says what was found.
pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode> {
    if let Some(entry) = args.explain.as_deref().and_then(catalogue::entry) {
        print(&show::explain(entry, width()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut intake = Intake::new();
    for path in &args.files {
        files::add(&mut intake, path);
    }
    if args.reads_node() {
        let mut options = probe::Options { pid: args.pid, ..probe::Options::default() };
        if let Some(seconds) = args.seconds {
            options.sample = Duration::from_secs(seconds);
        }
        // Through the same form as a stored snapshot, so that a node judges itself exactly as a server would.
        let snapshot = probe::snapshot(&args.root, options);
        intake.add("this node", serde_json::to_vec(&snapshot)?.as_slice());
    }
    let nothing_read = intake.nothing_read();
    let settings = Settings { with_facts: args.facts, ..Settings::default() };
    let mut doc = intake.report(&settings);
    narrow(&mut doc, args);
    if args.json {
        print_json(&doc)?;
    } else {
        print_pages(&doc, args)?;
    }
    Ok(ExitCode::from(if nothing_read { NOTHING_READ } else { status(&doc) }))
}

/// Columns of the terminal, or of a page that goes elsewhere.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size().map_or(WIDTH_PIPE, |(w, _)| usize::from(w.0))
}

/// Prints a page; a reader that has gone away (`| head`) is no error.
pub(crate) fn print(page: &str) -> Result<()> {
    let mut out = anstream::AutoStream::auto(io::stdout());
    match out.write_all(page.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done.context("the report could not be printed"),
    }
}

/// The report as people read it: on the terminal, one page a subject.
pub(crate) fn page(report: &Report, all: bool) -> String {
    show::terminal(report, Look { width: width(), unicode: unicode(), all })
}

/// True if the locale says UTF-8; the plain C locale gets plain characters in bars.
pub(crate) fn unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|v| std::env::var(v).ok().filter(|v| !v.is_empty()));
    locale.is_some_and(|l| l.to_ascii_lowercase().replace('-', "").contains("utf8"))
}

/// Leaves only the findings that were asked for.
fn narrow(doc: &mut ReportDoc, args: &CheckArgs) {
    let keep = |id: &str, layer| {
        args.only.as_deref().is_none_or(|only| only == id) && args.layer.is_none_or(|asked| asked == layer)
    };
    let reports = match doc {
        ReportDoc::Many { subjects, .. } => subjects.as_mut_slice(),
        ReportDoc::One(report) => std::slice::from_mut(&mut **report),
    };
    for report in reports {
        report.findings.retain(|f| keep(&f.id, f.layer));
    }
}

/// 2 for a failure, 1 for a warning, else 0.
fn status(doc: &ReportDoc) -> u8 {
    let worst = |level| doc.reports().iter().any(|r| r.worst() == level);
    match () {
        () if worst(Level::Fail) => 2,
        () if worst(Level::Warn) => 1,
        () => 0,
    }
}

fn print_json(doc: &ReportDoc) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = serde_json::to_writer(&mut out, doc).map_err(io::Error::from);
    match written.and_then(|()| writeln!(out)).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done.context("the report could not be printed"),
    }
}

fn print_pages(doc: &ReportDoc, args: &CheckArgs) -> Result<()> {
    let all = args.only.is_some() || args.layer.is_some();
    let mut text = String::new();
    if let ReportDoc::Many { notes, .. } = doc {
        for note in notes {
            text.push_str(&format!("{}\n\n", note.text));
        }
    }
    for (n, report) in doc.reports().iter().enumerate() {
        if n > 0 {
            text.push_str(&format!("\n{}\n\n", if args.markdown { "---" } else { "" }));
        }
        text.push_str(&if args.markdown { show::markdown(report) } else { page(report, all) });
    }
    if args.json || args.markdown || !io::stdout().is_terminal() {
        return print(&text);
    }
    print(&format!("\n{text}"))
}
