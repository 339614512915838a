//! Where the built programs and the repository's files are.
//!
//! It never builds: a test that compiled would hide a stale or missing build.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};

/// Most of a program's output that an error message repeats.
const TOLD_BYTES: usize = 2000;

/// The repository.
#[must_use]
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// A file of the demo data.
#[must_use]
pub fn demo(path: &str) -> PathBuf {
    root().join("demo").join(path)
}

/// The browser files, as `cargo xtask build` leaves them.
///
/// # Errors
/// They are not built.
pub fn site() -> Result<PathBuf> {
    let dir = target()?.parent().context("a target folder has a parent")?.join("site");
    ensure!(dir.join("pkg/sextant_bg.wasm").exists(), "{} is not built: run `cargo xtask test`", dir.display());
    Ok(dir)
}

/// A program of the same build as this test.
///
/// # Errors
/// It is not built.
pub fn program(name: &str) -> Result<PathBuf> {
    let path = target()?.join(name);
    ensure!(path.exists(), "{} is not built: run `cargo xtask test`", path.display());
    Ok(path)
}

/// Runs the collector and returns its output; it must end with one of the given statuses.
///
/// # Errors
/// It is not built, or it ended otherwise.
pub fn sextant(args: &[&str], statuses: &[i32]) -> Result<Output> {
    let mut command = Command::new(program("sextant")?);
    let out = command.args(args).env_remove("SEXTANT_SERVER").output().context("sextant could not be started")?;
    let told = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(TOLD_BYTES)]).into_owned();
    ensure!(
        out.status.code().is_some_and(|c| statuses.contains(&c)),
        "sextant {} ended with {}, not one of {statuses:?}\n{}\n{}",
        args.join(" "),
        out.status,
        told(&out.stdout),
        told(&out.stderr)
    );
    Ok(out)
}

/// `<target>/<profile>`: a test program lies in its `deps`.
fn target() -> Result<PathBuf> {
    let exe = std::env::current_exe()?;
    Ok(exe.ancestors().nth(2).context("a test program lies in target/<profile>/deps")?.to_path_buf())
}
