//! The command line: every flag in one place. It does not know what a command does.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Finds why the GPUs of a training node are under-used, bottom-up through six layers.
#[derive(Debug, Parser)]
#[command(name = "sextant", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Judge this node, or files from another one.
    Check(CheckArgs),
}

/// `sextant check`.
///
/// Exit status: 0 nothing worse than info, 1 a warning, 2 a failure, 3 nothing could be read, 64 wrong usage.
#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 nothing worse than info, 1 a warning, 2 a failure, 3 nothing could be read, \
                        64 wrong usage.")]
pub(crate) struct CheckArgs {
    /// Files, folders or archives to read; `-` is standard input. Without any, this node is read.
    pub files: Vec<PathBuf>,
    /// Print one JSON object, the only form there is without a terminal.
    #[arg(long)]
    pub json: bool,
    /// Put every fact into the JSON.
    #[arg(long)]
    pub facts: bool,
    /// Read this node as well as the files.
    #[arg(long, conflicts_with = "no_live")]
    pub live: bool,
    /// Do not read this node.
    #[arg(long)]
    pub no_live: bool,
    /// Folder that stands for `/`, for probing a copy of another system's files.
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    pub root: PathBuf,
}

impl CheckArgs {
    /// Whether the node is read: files alone leave it out, no files at all read it.
    pub(crate) fn reads_node(&self) -> bool {
        self.live || (self.files.is_empty() && !self.no_live)
    }
}
