//! The demo data: `demo/` sent through the ordinary ingest by the ordinary collector.
//!
//! What it is and where it comes from stands in `demo/README.md`; nothing here knows its content.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::{native, sh};

/// Sends every node and every run of the demo to a server. Sending again changes nothing: the ids stand in the files.
///
/// # Errors
/// A file is missing, or the server refuses one.
pub(crate) fn push(profile: native::Profile, url: &str) -> Result<()> {
    let demo = sh::root().join("demo");
    let inputs = [entries(&demo.join("nodes"))?, entries(&demo.join("runs"))?].concat();
    sh::timed(&format!("Sending the demo data ({} nodes and runs)", inputs.len()), || {
        let mut push = Command::new(native::program(profile, native::COLLECTOR)?);
        sh::run(push.arg("push").args(&inputs).args(["--server", url]))
    })
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>> {
    let read = std::fs::read_dir(dir).with_context(|| format!("{} could not be read", sh::shown(dir)))?;
    let mut paths = read.map(|e| Ok(e?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
