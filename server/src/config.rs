//! The server's whole configuration: one struct, filled from flags and environment. It reads no file and opens nothing.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Command line of `sextant-server`.
#[derive(Debug, Parser)]
#[command(name = "sextant-server", version, about = "Sextant's server: API, store and pages")]
pub struct Cli {
    /// Configuration, the same for every subcommand.
    #[command(flatten)]
    pub config: Config,
    /// What to do; `serve` if nothing is given.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What the server can be asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Serve the API and the pages (the default).
    Serve,
}

/// Everything that can be configured.
#[derive(Clone, Debug, clap::Args)]
pub struct Config {
    /// Address and port to listen on.
    #[arg(long, env = "SEXTANT_LISTEN", default_value = "127.0.0.1:8077", global = true)]
    pub listen: SocketAddr,
    /// Folder that holds the database and the raw inputs; created if missing.
    #[arg(long, env = "SEXTANT_DATA", default_value = "sextant-data", global = true)]
    pub data: PathBuf,
    /// Folder of the built browser files (they stand in its `pkg`). Without it, the embedded files or none are served.
    #[arg(long, env = "SEXTANT_SITE", global = true)]
    pub site: Option<PathBuf>,
    /// Largest upload or run chunk in MiB, after `Content-Encoding` is removed.
    #[arg(long, env = "SEXTANT_MAX_UPLOAD_MIB", default_value_t = 4096, global = true, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub max_upload_mib: u64,
    /// Largest snapshot in MiB, after `Content-Encoding` is removed.
    #[arg(long, env = "SEXTANT_MAX_SNAPSHOT_MIB", default_value_t = 16, global = true, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub max_snapshot_mib: u64,
    /// Evaluations that run at the same time; the number of cores, at most 4, if not given.
    #[arg(long, env = "SEXTANT_EVALUATIONS", global = true, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub evaluations: Option<u16>,
    /// Seconds without any byte after which a body is given up.
    #[arg(long, env = "SEXTANT_BODY_IDLE_S", default_value_t = 30, global = true, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub body_idle_s: u64,
    /// Seconds without a chunk after which a running run counts as lost.
    #[arg(long, env = "SEXTANT_RUN_LOST_S", default_value_t = 120, global = true, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub run_lost_s: u64,
    /// Write logs as JSON lines.
    #[arg(long, env = "SEXTANT_LOG_JSON", global = true)]
    pub log_json: bool,
}

impl Config {
    /// The defaults with another data folder, as tests and tools need it.
    #[must_use]
    pub fn for_data(data: PathBuf) -> Self {
        let mut config = Cli::parse_from(["sextant-server"]).config;
        config.data = data;
        config
    }

    /// Checks what clap cannot check by itself.
    ///
    /// # Errors
    /// Says what is wrong and what to do.
    pub fn check(&self) -> Result<(), String> {
        if is_loopback(self.listen.ip()) {
            return Ok(());
        }
        Err(format!(
            "{} is not a loopback address, and this version has no accounts: anyone who reaches the port could read \
             and write everything. Listen on 127.0.0.1 or [::1], and reach it from elsewhere through ssh \
             (ssh -L 8077:127.0.0.1:{} HOST).",
            self.listen,
            self.listen.port()
        ))
    }

    /// Evaluations that run at the same time.
    #[must_use]
    pub fn parallel_evaluations(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(4);
        self.evaluations.map_or_else(cores, usize::from)
    }
}

fn is_loopback(ip: IpAddr) -> bool {
    ip.is_loopback() || matches!(ip, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some_and(|v4| v4.is_loopback()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn serve_is_the_default_and_flags_stand_on_either_side() {
        let bare = Cli::try_parse_from(["sextant-server", "--listen", "127.0.0.1:9", "--data", "d"]).unwrap();
        assert_eq!((bare.command, bare.config.listen.port()), (None, 9));
        let named = Cli::try_parse_from(["sextant-server", "serve", "--data", "d"]).unwrap();
        assert_eq!(named.command, Some(Command::Serve));
        assert_eq!(named.config.data, PathBuf::from("d"));
    }

    #[test]
    fn only_loopback_addresses_are_served() {
        for (addr, fine) in [
            ("127.0.0.1:1", true),
            ("127.8.8.8:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("0.0.0.0:1", false),
            ("[::]:1", false),
            ("192.168.1.4:1", false),
        ] {
            let mut config = Config::for_data(PathBuf::from("d"));
            config.listen = addr.parse().unwrap();
            assert_eq!(config.check().is_ok(), fine, "{addr}");
        }
    }
}
