//! What reaches the browser: small, without SQL, without server code and without the catalogue.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Result, ensure};
use tests::programs;

/// Budget of the design for all script of a page, compressed.
const BUDGET_BYTES: usize = 400_000;

/// Words that only SQL or the crates of the server put into a binary.
const FOREIGN: [&str; 7] =
    ["insert into", "create table", "select * from", "sqlx", "libsqlite", "axum::", "object_store"];

#[test]
fn the_bundle_holds_no_sql_no_server_and_no_check() -> Result<()> {
    let wasm = fs::read(programs::site()?.join("pkg/sextant_bg.wasm"))?.to_ascii_lowercase();
    for word in FOREIGN {
        ensure!(!contains(&wasm, word), "the bundle contains {word:?}");
    }
    let texts = catalogue_texts(&programs::root().join("checks/src/catalogue"))?;
    ensure!(texts.len() >= 2, "the catalogue was not found: {texts:?}");
    for text in texts {
        ensure!(!contains(&wasm, &text.to_lowercase()), "the bundle contains the catalogue's {text:?}");
    }
    Ok(())
}

#[test]
fn the_bundle_keeps_its_budget() -> Result<()> {
    let pkg = programs::site()?.join("pkg");
    let mut gzip = Vec::new();
    for file in ["sextant_bg.wasm", "sextant.js"] {
        let mut encoder = flate2::write::GzEncoder::new(&mut gzip, flate2::Compression::default());
        encoder.write_all(&fs::read(pkg.join(file))?)?;
        encoder.finish()?;
    }
    ensure!(gzip.len() <= BUDGET_BYTES, "the bundle is {} bytes compressed, above {BUDGET_BYTES}", gzip.len());
    Ok(())
}

fn contains(haystack: &[u8], needle: &str) -> bool {
    haystack.windows(needle.len()).any(|w| w == needle.as_bytes())
}

/// Ids and titles of all checks, as their files declare them.
fn catalogue_texts(dir: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            texts.extend(catalogue_texts(&path)?);
        } else if let Ok(source) = fs::read_to_string(&path) {
            for key in ["id: \"", "title: \""] {
                let found = source.split(key).skip(1).filter_map(|rest| rest.split('"').next());
                texts.extend(found.filter(|t| t.len() > 8).map(str::to_owned));
            }
        }
    }
    Ok(texts)
}
