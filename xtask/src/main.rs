//! `cargo xtask`: one command each for building, starting, testing and checking Sextant.
//!
//! It drives cargo and the built programs from outside and depends on none of the project's crates, so that it builds
//! first and fast, and works while the others do not compile.

mod bench;
mod browser;
mod bundle;
mod ci;
mod codegen;
mod demo;
mod native;
mod new_check;
mod run;
mod server;
mod sh;
mod test;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Set-up, build, start, tests and code generation of Sextant")]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build the browser bundle, the server and the collector.
    Build {
        /// Optimised programs with the site inside the server; fails when the bundle is above its budget.
        #[arg(long)]
        release: bool,
    },
    /// Build, start the server, take a snapshot of this machine and print the address.
    Run(run::Args),
    /// Run every test, the browser tests included.
    Test {
        /// Passed on to `cargo test`, for example a part of a test's name.
        #[arg(last = true)]
        args: Vec<String>,
    },
    /// What a submission must pass: format, lints, generated files, tests.
    Ci,
    /// Write the generated files (the list of checks, the catalogue's pages).
    Codegen {
        /// Only compare; end non-zero when one is stale.
        #[arg(long)]
        check: bool,
    },
    /// Lay the two files of a check.
    NewCheck {
        /// Layer: driver, runtime, memory, compute, pipeline or framework.
        layer: String,
        /// Lower-case words joined by hyphens.
        slug: String,
    },
    /// Measure start-up, page rendering and bundle size against their goals.
    Bench,
}

fn main() -> std::process::ExitCode {
    let outcome = match Cli::parse().command {
        Task::Build { release } => build(release),
        Task::Run(args) => run::run(&args),
        Task::Test { args } => test::run(&args),
        Task::Ci => ci::run(),
        Task::Codegen { check } => codegen::run(check),
        Task::NewCheck { layer, slug } => new_check::run(&layer, &slug),
        Task::Bench => bench::run(),
    };
    match outcome {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("\nxtask: {e:#}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn build(release: bool) -> anyhow::Result<()> {
    sh::fetch()?;
    let profile = native::Profile::new(release);
    let bundle = bundle::build()?;
    bundle.report(release)?;
    native::build(profile)?;
    for program in [native::SERVER, native::COLLECTOR] {
        eprintln!("  {}", sh::shown(&native::program(profile, program)?));
    }
    Ok(())
}
