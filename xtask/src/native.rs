//! The two programs that run outside of a browser: `sextant-server` and `sextant`.
//!
//! A development build selects the whole workspace without xtask. Cargo unifies features over what is selected, so the
//! same selection in build, lint and test is what keeps leptos and its like from being compiled twice.

use std::path::PathBuf;

use anyhow::Result;

use crate::sh;

/// The server's file name.
pub(crate) const SERVER: &str = "sextant-server";
/// The collector's file name.
pub(crate) const COLLECTOR: &str = "sextant";

/// The selection that build, lint and test share.
pub(crate) const WORKSPACE: [&str; 4] = ["--locked", "--workspace", "--exclude", "xtask"];

/// How a program is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Fast to build, reads the site from a folder.
    Dev,
    /// Optimised, with the site embedded.
    Release,
}

impl Profile {
    /// From a `--release` flag.
    pub(crate) fn new(release: bool) -> Self {
        if release { Self::Release } else { Self::Dev }
    }

    fn dir(self) -> &'static str {
        match self {
            Self::Dev => "debug",
            Self::Release => "release",
        }
    }
}

/// Builds what is not fresh. A release build embeds the site, so the bundle has to be built before.
///
/// # Errors
/// A program does not compile.
pub(crate) fn build(profile: Profile) -> Result<()> {
    sh::timed("Building server and collector", || {
        let mut cargo = sh::cargo();
        cargo.arg("build");
        match profile {
            Profile::Dev => cargo.args(WORKSPACE).arg("--bins"),
            Profile::Release => cargo.args(["--locked", "--release"]).args(RELEASE),
        };
        sh::run(&mut cargo)
    })
}

/// Where a built program lies.
pub(crate) fn program(profile: Profile, name: &str) -> Result<PathBuf> {
    Ok(sh::target()?.join(profile.dir()).join(name))
}

const RELEASE: [&str; 6] = ["--package", "server", "--package", "collector", "--features", "server/embed-site"];
