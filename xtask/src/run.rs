//! `cargo xtask run`: from a clone to a page in the browser with one command.
//!
//! Everything that can be refused is refused before the long build: the port, the data folder, the crates.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::server::{self, Server};
use crate::{bundle, demo, native, sh};

/// What `cargo xtask run` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Start with the demo data (three nodes, four runs) in a folder of its own.
    #[arg(long)]
    demo: bool,
    /// Port on 127.0.0.1.
    #[arg(long, default_value_t = 8077)]
    port: u16,
    /// Optimised programs: longer to build, faster to run.
    #[arg(long)]
    release: bool,
}

/// Builds, starts, feeds and serves until Ctrl-C.
///
/// # Errors
/// Each step's own, with what to do.
pub(crate) fn run(args: &Args) -> Result<()> {
    let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let data = data_folder(args.demo);
    server::check_port(addr)?;
    server::check_folder(&data)?;
    sh::fetch()?;
    let profile = native::Profile::new(args.release);
    bundle::build()?.report(args.release)?;
    native::build(profile)?;

    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("Ctrl-C could not be set up")?;
    }
    let start = Instant::now();
    let mut server = Server::start(profile, addr, &data)?;
    sh::say(format!("The server answers on {} ({} ms after its start)", server.url(), start.elapsed().as_millis()));
    if args.demo {
        demo::push(profile, &server.url())?;
    } else {
        snapshot(profile, &server.url())?;
    }
    eprintln!(
        "\n    Sextant:  {}\n    data:     {}\n    log:      {}\n    Ctrl-C stops it.\n",
        server.url(),
        sh::shown(&data),
        sh::shown(server.log())
    );
    wait(&mut server, &stop)
}

/// One snapshot of this machine, sent as any node's would be.
fn snapshot(profile: native::Profile, url: &str) -> Result<()> {
    sh::timed("Taking a snapshot of this machine", || {
        let mut push = Command::new(native::program(profile, native::COLLECTOR)?);
        sh::run(push.args(["push", "--live", "--server", url]))
    })
}

fn wait(server: &mut Server, stop: &AtomicBool) -> Result<()> {
    while !stop.load(Ordering::Relaxed) {
        if let Some(status) = server.ended()? {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            bail!("the server ended by itself ({status}). It said last:\n{}", server.tail());
        }
        sleep(Duration::from_millis(50));
    }
    server.stop();
    sh::say("Stopped");
    Ok(())
}

fn data_folder(demo: bool) -> PathBuf {
    sh::root().join(".sextant").join(if demo { "demo" } else { "data" })
}
