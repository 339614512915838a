//! The browser that the end-to-end tests drive: Debian's Chromium and its driver.
//!
//! It installs them where it may; the tests themselves only look for them.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::sh;

const PROGRAMS: [&str; 2] = ["chromium", "chromedriver"];
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// Makes sure that both are there.
///
/// # Errors
/// One is missing and this user may not install it, or the installation failed.
pub(crate) fn ensure() -> Result<()> {
    let missing: Vec<&str> = PROGRAMS.into_iter().filter(|p| find(p).is_none()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let how = format!(
        "The browser tests need {}. On Debian and Ubuntu: `sudo apt-get install {}`; elsewhere install Chromium and the \
         ChromeDriver of the same version and put both on the PATH",
        missing.join(" and "),
        PACKAGES.join(" ")
    );
    if !rustix::process::geteuid().is_root() || find("apt-get").is_none() {
        bail!("{how}");
    }
    sh::say(format!("Installing {}", PACKAGES.join(" and ")));
    let apt = |args: &[&str]| {
        let mut apt = Command::new("apt-get");
        sh::run(apt.env("DEBIAN_FRONTEND", "noninteractive").arg("-qq").args(args))
    };
    let install = ["install", "--yes", "--no-install-recommends", PACKAGES[0], PACKAGES[1]];
    // An image's package lists may be too old or empty: then one update, and again.
    if apt(&install).is_err() {
        let again = apt(&["update"]).and_then(|()| apt(&install));
        if let Err(why) = again {
            bail!("{how}. Installing them failed: {why:#}");
        }
    }
    Ok(())
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|p| p.is_file())
}
