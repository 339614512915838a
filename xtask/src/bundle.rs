//! The browser bundle: `app` compiled for wasm32 and bound to JavaScript, in `<target>/site/pkg`.
//!
//! wasm-bindgen runs as a library at exactly the version in Cargo.lock, so nothing has to be installed beside the wasm
//! target. It does not know the server; whoever starts that hands it [`site`].

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};

use crate::sh;

const TARGET: &str = "wasm32-unknown-unknown";
/// What is compiled for the browser.
const HYDRATE: [&str; 8] =
    ["--package", "app", "--lib", "--target", TARGET, "--no-default-features", "--features", "hydrate"];
/// File stem of the bundle, the same as in the pages' script tag.
const NAME: &str = "sextant";
/// Most that a page may load as script, compressed: the budget of the design ("400 KB").
const BUDGET_BYTES: u64 = 400_000;

/// A built bundle.
#[derive(Debug)]
pub(crate) struct Bundle {
    wasm: PathBuf,
    js: PathBuf,
}

impl Bundle {
    /// What a browser loads, compressed as the server compresses it.
    pub(crate) fn gzip_bytes(&self) -> Result<u64> {
        Ok(gzip_len(&self.wasm)? + gzip_len(&self.js)?)
    }

    /// Prints the size.
    ///
    /// # Errors
    /// `enforce` is set and the size is above the budget.
    pub(crate) fn report(&self, enforce: bool) -> Result<()> {
        let bytes = self.gzip_bytes()?;
        let kb = |b: u64| format!("{:.1} KB", b as f64 / 1000.0);
        let raw = fs::metadata(&self.wasm)?.len() + fs::metadata(&self.js)?.len();
        eprintln!(
            "    browser bundle: {} compressed (gzip), {} plain, budget {}",
            kb(bytes),
            kb(raw),
            kb(BUDGET_BYTES)
        );
        if enforce && bytes > BUDGET_BYTES {
            bail!("the browser bundle is {} above its budget of {}", kb(bytes - BUDGET_BYTES), kb(BUDGET_BYTES));
        }
        Ok(())
    }
}

/// The folder that the server serves as its site.
pub(crate) fn site() -> Result<PathBuf> {
    Ok(sh::target()?.join("site"))
}

/// Builds what is not fresh.
///
/// # Errors
/// The wasm target is missing and cannot be added, `app` does not compile, or the bindings fail.
pub(crate) fn build() -> Result<Bundle> {
    let std = ensure_target()?;
    sh::timed("Building the browser bundle (app for wasm32)", || {
        let mut cargo = sh::cargo();
        cargo.args(["build", "--locked", "--profile", "wasm"]).args(HYDRATE);
        std.apply(&mut cargo);
        sh::run(&mut cargo)?;
        bind(&sh::target()?.join(TARGET).join("wasm").join("app.wasm"), &site()?.join("pkg"))
    })
}

/// Lints `app` as the browser gets it.
///
/// # Errors
/// The wasm target is missing and cannot be added, or a lint fired.
pub(crate) fn clippy() -> Result<()> {
    let std = ensure_target()?;
    let mut cargo = sh::cargo();
    cargo.args(["clippy", "--locked"]).args(HYDRATE);
    std.apply(&mut cargo);
    sh::run(cargo.args(["--", "-D", "warnings"]))
}

fn bind(input: &Path, pkg: &Path) -> Result<Bundle> {
    let bundle = Bundle { wasm: pkg.join(format!("{NAME}_bg.wasm")), js: pkg.join(format!("{NAME}.js")) };
    if modified(&bundle.wasm).is_some_and(|out| modified(input).is_some_and(|src| out > src)) && bundle.js.exists() {
        return Ok(bundle);
    }
    if pkg.exists() {
        fs::remove_dir_all(pkg).with_context(|| format!("{} could not be emptied", sh::shown(pkg)))?;
    }
    fs::create_dir_all(pkg).with_context(|| format!("{} could not be made", sh::shown(pkg)))?;
    wasm_bindgen_cli_support::Bindgen::new()
        .input_path(input)
        .out_name(NAME)
        .web(true)?
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(pkg)
        .context("the JavaScript bindings could not be made")?;
    shrink(&bundle.wasm)?;
    Ok(bundle)
}

/// Binaryen's optimiser where it is installed; the budget is kept without it.
fn shrink(wasm: &Path) -> Result<()> {
    let small = wasm.with_extension("small");
    let mut opt = Command::new("wasm-opt");
    opt.arg("-Oz").arg("--all-features").arg(wasm).arg("-o").arg(&small);
    match opt.output() {
        Ok(out) if out.status.success() => {
            fs::rename(&small, wasm).context("the optimised bundle could not be put in place")
        }
        Ok(out) => {
            let why = String::from_utf8_lossy(&out.stderr);
            eprintln!("    wasm-opt failed, the bundle stays as it is: {}", why.lines().next().unwrap_or_default());
            Ok(())
        }
        Err(_) => Ok(()),
    }
}

/// Where the target's standard library comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Std {
    /// Installed beside the compiler, as rustup does.
    Installed,
    /// Built from the library's source, which Debian packages instead.
    Source,
}

impl Std {
    /// `-Z build-std` is the only way to build a standard library, and a stable compiler wants to be told that it is meant.
    fn apply(self, cargo: &mut Command) {
        if self == Self::Source {
            cargo.env("RUSTC_BOOTSTRAP", "1").args(["-Z", "build-std=std,panic_abort"]);
        }
    }
}

fn ensure_target() -> Result<Std> {
    if has_target()? {
        return Ok(Std::Installed);
    }
    sh::say(format!("Adding the target {TARGET}"));
    let Err(why) = sh::run(Command::new("rustup").current_dir(sh::root()).args(["target", "add", TARGET])) else {
        return Ok(Std::Installed);
    };
    if has_source()? {
        sh::say("rustup could not add it; building the standard library from its source");
        return Ok(Std::Source);
    }
    bail!(
        "The browser bundle needs Rust's {TARGET} target, and it could not be added: {why:#}.\n\
         With rustup and a network:  rustup target add {TARGET}\n\
         With Debian's own Rust:     apt-get install rustc-web cargo-web rust-web-src rust-web-llvm lld-22\n\
         rust-web-src is the standard library as source; this command then builds it for the target by itself."
    );
}

fn has_target() -> Result<bool> {
    let dir = rustc(&["--print", "target-libdir", "--target", TARGET])?;
    let Ok(entries) = fs::read_dir(dir.trim()) else { return Ok(false) };
    Ok(entries.flatten().any(|e| e.file_name().to_string_lossy().starts_with("libcore-")))
}

fn has_source() -> Result<bool> {
    let sysroot = rustc(&["--print", "sysroot"])?;
    Ok(Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/std/Cargo.toml").exists())
}

fn rustc(args: &[&str]) -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    sh::output(Command::new(rustc).current_dir(sh::root()).args(args))
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

fn gzip_len(path: &Path) -> Result<u64> {
    let bytes = fs::read(path).with_context(|| format!("{} could not be read", sh::shown(path)))?;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&bytes)?;
    Ok(gzip.finish()?.len() as u64)
}
