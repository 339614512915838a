//! `sextant-server`: reads the command line and runs what it asks for.

use std::process::ExitCode;

use clap::Parser;
use server::config::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    server::logs::start(cli.config.log_json);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => {
            eprintln!("sextant-server: threads cannot be started: {e}");
            return ExitCode::FAILURE;
        }
    };
    let done = runtime.block_on(async {
        match cli.command.unwrap_or(Command::Serve) {
            Command::Serve => server::serve::run(cli.config).await,
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("sextant-server: {e:#}");
            ExitCode::FAILURE
        }
    }
}
