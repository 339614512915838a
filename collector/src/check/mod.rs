//! `sextant check`: reads the node or files, asks the catalogue, prints the report.
//!
//! It decides what is read and where the report goes, never what a reading means.

mod files;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use checks::report::{Level, ReportDoc};
use checks::{Intake, Settings};

use crate::cli::CheckArgs;
use crate::probe;

/// Exit status where nothing could be read.
const NOTHING_READ: u8 = 3;

/// Runs the command; the exit status says what was found.
pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode> {
    let mut intake = Intake::new();
    for path in &args.files {
        files::add(&mut intake, path);
    }
    if args.reads_node() {
        // Through the same form as a stored snapshot, so that a node judges itself exactly as a server would.
        let snapshot = probe::snapshot(&args.root, probe::Options::default());
        intake.add("this node", serde_json::to_vec(&snapshot)?.as_slice());
    }
    let nothing_read = intake.nothing_read();
    let settings = Settings { with_facts: args.facts, ..Settings::default() };
    let doc = intake.report(&settings);
    print_json(&doc, args.json)?;
    Ok(ExitCode::from(if nothing_read { NOTHING_READ } else { status(&doc) }))
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

/// One JSON object: on one line for programs, indented for people.
fn print_json(doc: &ReportDoc, compact: bool) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written =
        if compact { serde_json::to_writer(&mut out, doc) } else { serde_json::to_writer_pretty(&mut out, doc) };
    written.context("the report could not be printed")?;
    writeln!(out)?;
    out.flush().context("the report could not be printed")
}
