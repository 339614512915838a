//! `sextant`: probes a node, reads what people paste, records runs, prints the report and uploads.
//!
//! It collects and shows; every judgement comes from the crate `checks`.

mod bundle;
mod check;
mod cli;
mod doctor;
mod nvml;
mod probe;
mod push;
mod run;
mod sample;
mod show;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use cli::{Cli, Command};

/// Exit status for wrong usage, as `sysexits.h` has it.
const USAGE: u8 = 64;
/// Exit status for an error that is neither a verdict nor wrong usage.
const FAILED: u8 = 70;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            let code = if e.use_stderr() { USAGE } else { 0 };
            // Nothing is left to do when even the message cannot be printed.
            let _ = e.print();
            return ExitCode::from(code);
        }
    };
    let outcome = match cli.command {
        Command::Check(args) => check::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "sextant", &mut script);
            check::print(&String::from_utf8_lossy(&script)).map(|()| ExitCode::SUCCESS)
        }
        Command::Bundle(args) => bundle::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Push(args) => push::run(&args),
    };
    outcome.unwrap_or_else(|e| {
        eprintln!("sextant: {e:#}");
        ExitCode::from(FAILED)
    })
}
