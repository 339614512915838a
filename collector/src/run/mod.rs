//! `sextant run`: records a command without touching it. Its exit status, signals, terminal and output pass through; the
//! recording lies in a folder, the verdict goes to standard error when the command has ended.
//!
//! It decides what a recording consists of, not how each part is read.

mod child;
mod ids;
mod record;
mod shim;

use std::collections::BTreeMap;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use checks::recording::{Receipt, RunInfo};
use checks::redact::Redactor;
use checks::report::ReportDoc;
use checks::{Intake, Settings};

use crate::check::{files, unicode, width};
use crate::cli::RunArgs;
use crate::probe::{self, Root};
use crate::push;
use crate::push::client::Client;
use crate::sample;
use crate::show::{self, Look};

/// Runs the command; the exit status is the command's own.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    let place = ids::place();
    if let Some(outer) = &place.inside {
        // A recorder around this one records already; the timings' variables are inherited.
        note(args, &format!("already recording to {}", outer.display()));
        return Ok(child::plain(&args.command));
    }
    let root = Root::new(Path::new("/"));
    let folder = folder(args, &place)?;
    let variables = shim::lay(&folder, &place.id, args).context("the step timings could not be laid out")?;
    if !place.records {
        // Another process of this node samples it; this one only carries the timings.
        return Ok(child::plain_with(&args.command, &variables));
    }
    note(args, &format!("recording to {}", folder.display()));
    let started = Instant::now();
    let mut info = RunInfo {
        v: RunInfo::VERSION,
        kind: RunInfo::KIND.to_owned(),
        id: place.id.clone(),
        name: Some(args.name.clone().unwrap_or_else(|| name_of(&args.command))),
        node: probe::host(&root),
        command: secrets_out(&args.command),
        started_ms: i64::try_from(sample::epoch().as_millis()).ok(),
        world: place.world,
        collector: Some(env!("CARGO_PKG_VERSION").to_owned()),
        ..RunInfo::default()
    };
    // Written before the command starts: a recording whose recorder was killed can still be read.
    write_info(&folder, &info)?;
    let mut child = match child::Child::start(&args.command, &variables) {
        Ok(child) => child,
        Err(e) => {
            // Nothing ran, so nothing was recorded; an empty recording would only be in the way.
            let _ = fs::remove_dir_all(&folder);
            eprintln!("sextant: {e}");
            return Ok(ExitCode::from(e.status()));
        }
    };
    let recorder = record::Recorder::start(&root, &folder, &info.id, args.hz, child.id(), environment(&variables));
    let ended = child.wait();
    let recorded = recorder.stop(&root, &folder);

    info.ended_ms = i64::try_from(sample::epoch().as_millis()).ok();
    info.exit_status = Some(ended.status());
    info.receipt = Some(Receipt {
        wall_ms: Some(started.elapsed().as_secs_f64() * 1e3),
        bytes_written: Some(size_of(&folder)),
        ..recorded
    });
    let shim = shim_of(&folder);
    if let Some(receipt) = &mut info.receipt {
        receipt.shim_us_per_step = shim.us_per_step;
        receipt.unreadable.extend(shim.remarks);
    }
    info.world = info.world.or(shim.world);
    if let Err(e) = write_info(&folder, &info) {
        eprintln!("sextant: {e:#}");
    }
    if !args.quiet {
        verdict(&judge(&folder), &folder);
    }
    if let Some(server) = &args.server
        && let Err(e) = send(server, &folder, args)
    {
        // The command's status is what counts; the recording is on disk and can be sent again.
        eprintln!("sextant: {e:#}\nsextant: send it again with “sextant push {}”", folder.display());
    }
    Ok(ended.exit())
}

fn note(args: &RunArgs, text: &str) {
    if !args.quiet {
        eprintln!("sextant: {text}");
    }
}

/// The recording's folder, made. Ranks that share a run share its folder.
fn folder(args: &RunArgs, place: &ids::Place) -> Result<PathBuf> {
    let path = match &args.output {
        Some(path) => path.clone(),
        None => {
            let name = args.name.clone().unwrap_or_else(|| name_of(&args.command));
            let safe: String =
                name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
            let short = place.id.rsplit('-').next().unwrap_or(&place.id);
            PathBuf::from("sextant-runs").join(format!("{}-{}", safe.trim_start_matches('.'), short))
        }
    };
    fs::create_dir_all(&path).with_context(|| {
        format!("the recording's folder {} could not be made; name another with --output DIR", path.display())
    })?;
    let path = path.canonicalize().with_context(|| format!("{} could not be opened", path.display()))?;
    if place.shared.is_none() && path.join(RunInfo::FILE).exists() {
        bail!("{} already holds a recording; name another folder with --output DIR", path.display());
    }
    Ok(path)
}

/// What the run is called when nobody says: the script, or the program.
fn name_of(command: &[String]) -> String {
    let script = command.iter().find(|a| a.ends_with(".py") || a.ends_with(".sh")).or_else(|| {
        let module = command.iter().position(|a| a == "-m")?;
        command.get(module + 1)
    });
    let name = script.or(command.first()).map_or("run", String::as_str);
    let base = name.rsplit('/').next().unwrap_or(name);
    base.strip_suffix(".py").or_else(|| base.strip_suffix(".sh")).unwrap_or(base).to_owned()
}

/// The command without passwords and tokens. Each argument is looked at beside the one before it, because an option and
/// its value may be two.
fn secrets_out(command: &[String]) -> Vec<String> {
    let mut redactor = Redactor::secrets();
    let mut out = Vec::with_capacity(command.len());
    let mut before = "";
    for arg in command {
        let lead = format!("{before} ");
        let both = redactor.text(&format!("{lead}{arg}"));
        out.push(both.strip_prefix(&lead).map_or_else(|| redactor.text(arg), str::to_owned));
        before = arg;
    }
    out
}

/// The command's environment as far as it bears on GPUs and training, as text.
fn environment(added: &[(String, String)]) -> String {
    let mut all: BTreeMap<String, String> =
        std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect();
    all.extend(added.iter().cloned());
    probe::wanted_variables(all.iter().map(|(k, v)| (k.as_str(), v.as_str())))
}

fn write_info(folder: &Path, info: &RunInfo) -> Result<()> {
    let path = folder.join(RunInfo::FILE);
    let partial = folder.join(".run.json.partial");
    let json = serde_json::to_vec_pretty(info)?;
    let written = fs::write(&partial, json).and_then(|()| fs::rename(&partial, &path));
    written.with_context(|| format!("{} could not be written", path.display()))
}

fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|e| e.metadata().ok()).filter(fs::Metadata::is_file).map(|m| m.len()).sum()
}

/// What the step files say about themselves.
#[derive(Debug, Default)]
struct Shim {
    us_per_step: Option<f64>,
    world: Option<i64>,
    remarks: Vec<String>,
}

/// The report of the recording, as any reader of the folder would get it.
fn judge(folder: &Path) -> ReportDoc {
    let mut intake = Intake::new();
    files::add(&mut intake, folder);
    intake.report(&Settings::default())
}

/// Reads the step files alone: traces are large, and say nothing about the timings.
fn shim_of(folder: &Path) -> Shim {
    let mut intake = Intake::new();
    for file in files::list(folder).0 {
        if file.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"steps."))
            && let Ok(open) = fs::File::open(&file)
        {
            intake.add(&file.display().to_string(), open);
        }
    }
    let (_, subjects) = intake.finish();
    let series: Vec<_> = subjects.iter().flat_map(|s| &s.facts.steps).collect();
    let mut costs: Vec<f64> = series.iter().flat_map(|s| &s.steps).filter_map(|s| s.shim_us).collect();
    costs.sort_by(f64::total_cmp);
    let mut shim = Shim {
        us_per_step: costs.get(costs.len() / 2).copied(),
        world: series.iter().find_map(|s| s.world),
        remarks: Vec::new(),
    };
    if costs.is_empty() {
        shim.remarks.push(
            "No training step was seen: no optimiser of PyTorch ran in a Python that reads PYTHONPATH (python -I and -E do \
             not). A custom loop can call sextant.step()."
                .to_owned(),
        );
    }
    shim
}

/// The short form of the report, on standard error: standard output belongs to the command.
fn verdict(doc: &ReportDoc, folder: &Path) {
    use std::io::Write;
    let colour = std::io::stderr().is_terminal();
    let mut text = String::from("\n");
    for report in doc.reports() {
        text.push_str(&show::brief(report, Look { width: width(), unicode: unicode(), all: false }));
    }
    let shown = std::env::current_dir().ok().and_then(|d| folder.strip_prefix(d).ok().map(Path::to_owned));
    let shown = shown.as_deref().unwrap_or(folder);
    text.push_str(&format!("\nFull report: sextant check {}\n", shown.display()));
    let mut out = if colour {
        anstream::AutoStream::auto(std::io::stderr())
    } else {
        anstream::AutoStream::never(std::io::stderr())
    };
    // A closed standard error has nobody to tell about it.
    let _ = out.write_all(text.as_bytes());
}

fn send(server: &str, folder: &Path, args: &RunArgs) -> Result<()> {
    let to = crate::cli::ServerArgs { server: server.to_owned(), token_file: args.token_file.clone() };
    let client = Client::new(&to)?;
    let path = push::recording::send(&client, folder)?;
    note(args, &client.address(&path));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_run_is_named_by_its_script() {
        assert_eq!(name_of(&words("torchrun --nproc-per-node 8 src/train.py --lr 1")), "train");
        assert_eq!(name_of(&words("python -m pkg.train")), "pkg.train");
        assert_eq!(name_of(&words("/usr/bin/sleep 1")), "sleep");
    }

    #[test]
    fn secrets_do_not_get_into_the_recording() {
        let out = secrets_out(&words("train.py --api-key abcdef --data /home/alice/x HF_TOKEN=hf_0123456789abcdefgh"));
        assert_eq!(out, words("train.py --api-key REDACTED --data /home/alice/x HF_TOKEN=REDACTED"));
    }
}
