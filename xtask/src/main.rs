//! The project's own commands: `cargo xtask help` lists them. It depends on none of the other crates.

mod codegen;
mod new_check;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Sextant's set-up, build, code generation and tests")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write the generated files (the list of checks).
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
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Codegen { check } => codegen::run(check),
        Command::NewCheck { layer, slug } => new_check::run(&layer, &slug),
    }
}
