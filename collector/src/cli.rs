//! The command line: every flag in one place. It does not know what a command does.

use std::path::PathBuf;

use checks::report::Layer;
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
    /// Record a command without touching it: samples, step timings, and the verdict at its end.
    Run(RunArgs),
    /// Send files, recordings or a snapshot of this node to a server.
    Push(PushArgs),
    /// Pack the raw evidence of this node, and files, into one archive without names and secrets.
    Bundle(BundleArgs),
    /// Tell what can and cannot be read here, and why.
    Doctor(DoctorArgs),
    /// Print the completions for a shell.
    Completions {
        /// Shell.
        shell: clap_complete::Shell,
    },
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
    /// Print one JSON object.
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
    /// Print Markdown.
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Show only this check, for example `driver/pcie-link-width`.
    #[arg(long, value_name = "ID", value_parser = check_id)]
    pub only: Option<String>,
    /// Show only this layer, in full: driver, runtime, memory, compute, pipeline, framework, or 1 to 6.
    #[arg(long, value_name = "LAYER", value_parser = layer)]
    pub layer: Option<Layer>,
    /// Print what a check looks for, why it matters and how to mend it, and read nothing.
    #[arg(long, value_name = "ID", value_parser = check_id)]
    pub explain: Option<String>,
    /// Sample the GPUs of this node for so long.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub seconds: Option<u64>,
    /// Sample a running process and everything below it as well; needs --seconds.
    #[arg(long, value_name = "PID", requires = "seconds")]
    pub pid: Option<u32>,
    /// Folder that stands for `/`, for probing a copy of another system's files.
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    pub root: PathBuf,
}

/// Which server, and as whom.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServerArgs {
    /// The server's address.
    #[arg(long, value_name = "URL", env = "SEXTANT_SERVER", default_value = "http://127.0.0.1:8077")]
    pub server: String,
    /// File that holds an upload token; only its owner may be able to read it.
    #[arg(long, value_name = "FILE", env = "SEXTANT_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,
}

/// `sextant push`.
#[derive(Debug, Args)]
pub(crate) struct PushArgs {
    /// Files, folders, recordings (folders with a run.json) or snapshots; `-` is standard input.
    #[arg(required_unless_present = "live")]
    pub files: Vec<PathBuf>,
    /// Take a snapshot of this node and send it.
    #[arg(long)]
    pub live: bool,
    #[command(flatten)]
    pub to: ServerArgs,
    /// Folder that stands for `/`, for probing a copy of another system's files.
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    pub root: PathBuf,
}

/// `sextant run`.
#[derive(Debug, Args)]
#[command(after_help = "The exit status is the command's own; 126 if it cannot be executed, 127 if there is none.")]
pub(crate) struct RunArgs {
    /// Name of the run; without it that of the script.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Folder of the recording; without it one below sextant-runs.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Samples a second.
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = rate)]
    pub hz: f64,
    /// Take a profiler trace of N warm steps of rank 0. Those steps are slower and are reported apart.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub trace_steps: Option<u32>,
    /// Say nothing but what the command says.
    #[arg(short, long)]
    pub quiet: bool,
    /// Send the recording to this server at the end.
    #[arg(long, value_name = "URL", env = "SEXTANT_SERVER")]
    pub server: Option<String>,
    /// File that holds an upload token; only its owner may be able to read it.
    #[arg(long, value_name = "FILE", env = "SEXTANT_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    pub command: Vec<String>,
}

/// `sextant bundle`.
#[derive(Debug, Args)]
pub(crate) struct BundleArgs {
    /// Where the archive goes.
    #[arg(short, long, value_name = "FILE.tar.zst", required_unless_present = "show_redactions")]
    pub output: Option<PathBuf>,
    /// Files and folders that go in beside what is read of the node.
    pub files: Vec<PathBuf>,
    /// Leave user and host names, addresses, serial numbers, UUIDs and secrets in.
    #[arg(long)]
    pub no_redact: bool,
    /// Print what is replaced by what; without an output nothing is written.
    #[arg(long)]
    pub show_redactions: bool,
    /// Folder that stands for `/`, for probing a copy of another system's files.
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    pub root: PathBuf,
}

/// `sextant doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Print one JSON array.
    #[arg(long)]
    pub json: bool,
    /// The server that should be reachable.
    #[arg(long, value_name = "URL", env = "SEXTANT_SERVER")]
    pub server: Option<String>,
    /// File that holds an upload token.
    #[arg(long, value_name = "FILE", env = "SEXTANT_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,
}

impl CheckArgs {
    /// Whether the node is read: files alone leave it out; no files at all, or a time to sample for, read it.
    pub(crate) fn reads_node(&self) -> bool {
        self.live || ((self.files.is_empty() || self.seconds.is_some()) && !self.no_live)
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let hz: f64 = text.parse().map_err(|_| "a number of samples a second".to_owned())?;
    if (0.1..=20.0).contains(&hz) { Ok(hz) } else { Err("between 0.1 and 20".to_owned()) }
}

fn check_id(id: &str) -> Result<String, String> {
    if checks::catalogue::find(id).is_some() {
        return Ok(id.to_owned());
    }
    let slug = id.rsplit('/').next().unwrap_or(id);
    let near: Vec<&str> = checks::catalogue::all().iter().filter(|c| c.slug() == slug).map(|c| c.id).collect();
    Err(match near.as_slice() {
        [] => "there is no such check; ids look like driver/pcie-link-width".to_owned(),
        near => format!("there is no such check; did you mean {}?", near.join(" or ")),
    })
}

fn layer(id: &str) -> Result<Layer, String> {
    let by_number = id.parse::<usize>().ok().and_then(|n| Layer::ALL.into_iter().find(|l| l.number() == n));
    by_number.or_else(|| Layer::from_id(id)).ok_or_else(|| {
        let ids: Vec<&str> = Layer::ALL.iter().map(|l| l.id()).collect();
        format!("one of {}, or 1 to 6", ids.join(", "))
    })
}
