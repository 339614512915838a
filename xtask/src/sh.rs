//! Commands and paths: how the other modules call cargo and find what it built.
//!
//! It knows where the repository and the target folder are and turns a failed command into a sentence; it does not know
//! what is being built.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// The repository: where cargo found the package that is running.
pub(crate) fn root() -> PathBuf {
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    manifest.parent().map_or(manifest.clone(), Path::to_path_buf)
}

/// The target folder: this program lies in `<target>/<profile>/`, wherever the user's cargo configuration puts it.
pub(crate) fn target() -> Result<PathBuf> {
    let exe = std::env::current_exe().context("the path of this program is not known")?;
    let dir =
        exe.ancestors().nth(2).context("this program does not lie in a target folder; start it with `cargo xtask`")?;
    Ok(dir.to_path_buf())
}

/// A path as a person in the repository would type it.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Prints what is being done, so that a long step is never silent.
pub(crate) fn say(text: impl AsRef<str>) {
    eprintln!("==> {}", text.as_ref());
}

/// The cargo that started this program, in the repository.
///
/// Variables that describe the xtask package are taken out: build scripts that watch them would run again for each
/// change between a start by hand and one through here.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    for (name, _) in std::env::vars_os() {
        let describes_xtask = name.to_str().is_some_and(|n| {
            n.starts_with("CARGO_PKG_")
                || n.starts_with("CARGO_MANIFEST_")
                || n == "CARGO_BIN_NAME"
                || n == "CARGO_CRATE_NAME"
        });
        if describes_xtask {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// Runs a command with its output shown.
///
/// # Errors
/// The program is not there, or it ended with a failure.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = line(command);
    let status = command.status().with_context(|| format!("`{line}` could not be started"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Runs a command quietly and returns its standard output.
///
/// # Errors
/// The program is not there, or it ended with a failure; its standard error is part of the message.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let line = line(command);
    let out = command.output().with_context(|| format!("`{line}` could not be started"))?;
    if !out.status.success() {
        bail!("`{line}` failed ({}): {}", out.status, String::from_utf8_lossy(&out.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Does something under a headline and says how long it took.
pub(crate) fn timed<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    say(what);
    let start = Instant::now();
    let done = work()?;
    eprintln!("    done in {:.1} s", start.elapsed().as_secs_f64());
    Ok(done)
}

/// Brings every crate that is compiled here onto this machine, so that a missing network is told apart from a failed build.
///
/// # Errors
/// A crate is missing and cannot be fetched.
pub(crate) fn fetch() -> Result<()> {
    let host = host()?;
    let fetch = |more: &[&str]| {
        let mut fetch = cargo();
        fetch.args(["fetch", "--locked", "--target", &host, "--target", "wasm32-unknown-unknown"]).args(more);
        fetch
    };
    if output(&mut fetch(&["--offline", "--quiet"])).is_ok() {
        return Ok(());
    }
    say("Fetching crates");
    run(&mut fetch(&[])).context(
        "The crates that Cargo.lock names could not be fetched. Check the network (or the registry mirror in your cargo \
         configuration); nothing was built. If cargo says that Cargo.lock needs an update, a Cargo.toml was changed \
         without it: run `cargo check` once",
    )
}

/// The triple that native programs are built for.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = output(Command::new(rustc).current_dir(root()).arg("-vV"))?;
    let host = version.lines().find_map(|l| l.strip_prefix("host: ")).context("rustc does not name its host")?;
    Ok(host.to_owned())
}

fn line(command: &Command) -> String {
    let mut line =
        Path::new(command.get_program()).file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    for arg in command.get_args() {
        line.push(' ');
        line.push_str(&arg.to_string_lossy());
    }
    line
}
