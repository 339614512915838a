//! `cargo xtask test`: every test there is, the browser tests included.
//!
//! It builds what the end-to-end tests start (bundle, server, collector) and the browser they drive, then leaves the
//! word to `cargo test`, whose closing lines say what ran.

use anyhow::Result;

use crate::{browser, bundle, native, sh};

/// Runs all tests; `args` go to the test programs.
///
/// # Errors
/// Something does not build, or a test fails.
pub(crate) fn run(args: &[String]) -> Result<()> {
    sh::fetch()?;
    browser::ensure()?;
    bundle::build()?.report(false)?;
    sh::timed("Building the programs and the tests", || {
        sh::run(sh::cargo().arg("build").args(native::WORKSPACE).arg("--all-targets"))
    })?;
    sh::timed("Testing", || {
        let mut tests = sh::cargo();
        tests.arg("test").args(native::WORKSPACE).arg("--no-fail-fast").arg("--").args(args);
        let workspace = sh::run(&mut tests);
        let own = sh::run(sh::cargo().args(["test", "--locked", "--package", "xtask", "--"]).args(args));
        workspace.and(own)
    })
}
