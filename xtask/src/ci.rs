//! `cargo xtask ci`: what every submission must pass, cheapest first, so that a slip is told within seconds.

use std::time::Instant;

use anyhow::Result;

use crate::{bundle, codegen, native, sh, test};

/// Format, lints for both targets, generated files, all tests.
///
/// # Errors
/// The first that fails.
pub(crate) fn run() -> Result<()> {
    let start = Instant::now();
    sh::fetch()?;
    sh::timed("Format", || sh::run(sh::cargo().args(["fmt", "--all", "--check"])))?;
    sh::timed("Generated files", || codegen::run(true))?;
    sh::timed("Lints (native)", || {
        let deny = ["--all-targets", "--", "-D", "warnings"];
        sh::run(sh::cargo().arg("clippy").args(native::WORKSPACE).args(deny))?;
        sh::run(sh::cargo().args(["clippy", "--locked", "--package", "xtask"]).args(deny))
    })?;
    sh::timed("Lints (app for the browser)", bundle::clippy)?;
    test::run(&[])?;
    sh::say(format!("All passed in {:.1} minutes", start.elapsed().as_secs_f64() / 60.0));
    Ok(())
}
