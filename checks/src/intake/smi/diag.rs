//! `dcgmi diag -j`: the results of DCGM's own tests, in the shapes of 3.x and 4.x. Warnings before the JSON, `null`
//! among the tests and a document that breaks off are read past.
//!
//! It takes DCGM's verdict as it is.

use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::latest::{At, Latest};
use crate::fact::{Trust, Value};
use crate::intake::Part;
use crate::keys;

/// True for the JSON of `dcgmi diag`.
pub(in crate::intake) fn looks_like_diag(head: &str) -> bool {
    head.contains("\"DCGM GPU Diagnostic\"") || head.contains("\"DCGM Diagnostic\"")
}

#[derive(Deserialize)]
struct Root<'t> {
    #[serde(borrow, rename = "DCGM GPU Diagnostic", alias = "DCGM Diagnostic")]
    diagnostic: Option<Diagnostic<'t>>,
    #[serde(default)]
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(alias = "DCGM Version")]
    version: Option<String>,
    #[serde(rename = "Driver Version Detected")]
    driver: Option<String>,
}

#[derive(Deserialize)]
struct Diagnostic<'t> {
    #[serde(default, borrow)]
    test_categories: Option<Vec<Option<Category<'t>>>>,
    /// Some builds hoist the tests.
    #[serde(default, borrow)]
    tests: Option<Vec<Option<&'t RawValue>>>,
    version: Option<String>,
    metadata: Option<Metadata>,
    #[serde(rename = "Driver Version Detected")]
    driver: Option<String>,
    runtime_error: Option<String>,
}

#[derive(Deserialize)]
struct Category<'t> {
    #[serde(default, borrow)]
    tests: Option<Vec<Option<&'t RawValue>>>,
}

#[derive(Deserialize)]
struct Test<'t> {
    name: Option<String>,
    #[serde(default, borrow)]
    results: Option<Vec<Option<&'t RawValue>>>,
    #[serde(default, borrow)]
    test_summary: Option<&'t RawValue>,
}

#[derive(Deserialize)]
struct Outcome {
    status: Option<String>,
    gpu_ids: Option<Json>,
    gpu_id: Option<Json>,
    entity_group: Option<String>,
    entity_id: Option<Json>,
    warnings: Option<Json>,
}

/// Reads it.
pub(in crate::intake) fn diag(text: &str, part: &mut Part) {
    let Some(from) = text.find('{') else {
        part.note(None, "There is no JSON in it.");
        return;
    };
    let json = &text[from..];
    let mended = if first::<Root<'_>>(json).is_some() { None } else { Some(closed(json)) };
    let base = mended.as_deref().unwrap_or(json);
    let Some(root) = first(base) else {
        part.note(None, "The JSON cannot be read.");
        return;
    };
    if mended.is_some() {
        part.note(None, "The JSON breaks off; what came before was read.");
    }
    let mut d =
        Diag { text, base, from, values: Latest::default(), counts: [0; 4], fails: Vec::new(), tests: 0, nulls: 0 };
    d.read(root, mended.is_none(), part);
    d.values.put(Trust::Text, part);
}

/// The first JSON value of a text that may go on after it.
fn first<'t, T: Deserialize<'t>>(json: &'t str) -> Option<T> {
    serde_json::Deserializer::from_str(json).into_iter::<T>().next()?.ok()
}

/// A document that breaks off, cut after its last whole element and closed.
fn closed(json: &str) -> String {
    let mut open: Vec<u8> = Vec::new();
    let mut best: Option<(usize, Vec<u8>)> = None;
    let mut in_string = false;
    let mut escaped = false;
    for (i, b) in json.bytes().enumerate() {
        if in_string {
            in_string = escaped || b != b'"';
            escaped = b == b'\\' && !escaped;
            continue;
        }
        match b {
            b'"' => in_string = true,
            b'{' | b'[' => open.push(if b == b'{' { b'}' } else { b']' }),
            b'}' | b']' => {
                open.pop();
                best = Some((i + 1, open.clone()));
            }
            b',' => best = Some((i, open.clone())),
            _ => {}
        }
        // Deeper than any real document.
        if open.len() > 64 {
            break;
        }
    }
    let Some((end, open)) = best else { return String::new() };
    let mut out = json[..end].to_owned();
    out.extend(open.iter().rev().map(|b| char::from(*b)));
    out
}

struct Diag<'t> {
    text: &'t str,
    /// What was parsed, and where in the text it begins.
    base: &'t str,
    from: usize,
    values: Latest,
    /// Passed, failed, warned, skipped.
    counts: [u64; 4],
    fails: Vec<Value>,
    tests: usize,
    nulls: usize,
}

impl<'t> Diag<'t> {
    /// The line where a piece of the document begins.
    fn at(&self, piece: &str) -> At<'t> {
        // The piece borrows from the parsed text: its address tells its offset.
        let offset = (piece.as_ptr() as usize).saturating_sub(self.base.as_ptr() as usize);
        self.line_of((self.from + offset).min(self.text.len()))
    }

    fn read(&mut self, root: Root<'_>, whole: bool, part: &mut Part) {
        let Some(d) = root.diagnostic else { return };
        let top = At { line: self.at(self.base).line, quote: self.text.lines().next().unwrap_or_default() };
        let metadata = root.metadata.or(d.metadata);
        let version = d.version.or_else(|| metadata.as_ref().and_then(|m| m.version.clone()));
        let driver = d.driver.or_else(|| metadata.and_then(|m| m.driver));
        let version_at =
            version.as_ref().and_then(|v| self.text.find(&format!("\"{v}\""))).map_or(top, |o| self.line_of(o));
        self.values.set(&keys::DIAG_VERSION, &[], version, version_at);
        self.values.set(&keys::DRIVER, &[], driver, top);
        if let Some(error) = d.runtime_error {
            part.note(None, format!("The diagnostic itself failed: {error}"));
        }
        let categories = d.test_categories.unwrap_or_default().into_iter().flatten();
        let tests = categories.flat_map(|c| c.tests.unwrap_or_default()).chain(d.tests.unwrap_or_default());
        for test in tests {
            match test {
                Some(raw) => self.test(raw),
                None => self.nulls += 1,
            }
        }
        // Of a document that breaks off only what it names is known, not how much there is.
        if whole {
            self.values.set(&keys::DIAG_TESTS, &[], Some(self.tests), top);
            self.values.set(&keys::DIAG_NULLS, &[], Some(self.nulls), top);
            let [passed, failed, warned, skipped] = self.counts;
            self.values.set(&keys::DIAG_FAILURES, &[], Some(failed), top);
            self.values.set(&keys::DIAG_PASSED, &[], Some(passed), top);
            self.values.set(&keys::DIAG_WARNINGS, &[], Some(warned), top);
            self.values.set(&keys::DIAG_SKIPPED, &[], Some(skipped), top);
        }
        if !self.fails.is_empty() {
            let fails = std::mem::take(&mut self.fails);
            self.values.set_path("fail".into(), "", Some(Value::List(fails)), top);
        }
    }

    fn line_of(&self, offset: usize) -> At<'t> {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line = u32::try_from(memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1).unwrap_or(u32::MAX);
        let begin = before.rfind('\n').map_or(0, |n| n + 1);
        At { line, quote: self.text[begin..].lines().next().unwrap_or_default() }
    }

    fn test(&mut self, raw: &RawValue) {
        let Ok(test) = serde_json::from_str::<Test<'_>>(raw.get()) else { return };
        let Some(name) = test.name else { return };
        self.tests += 1;
        let results: Vec<&RawValue> = test.results.unwrap_or_default().into_iter().flatten().collect();
        if results.is_empty() {
            if let Some(summary) = test.test_summary {
                self.outcome(&name, summary);
            }
            return;
        }
        for r in results {
            self.outcome(&name, r);
        }
    }

    fn outcome(&mut self, test: &str, raw: &RawValue) {
        let Ok(o) = serde_json::from_str::<Outcome>(raw.get()) else { return };
        let Some(status) = o.status.as_deref().map(str::to_ascii_lowercase) else { return };
        let at = self.at(raw.get());
        let ids = o.gpu_ids.as_ref().or(o.gpu_id.as_ref()).or(o.entity_id.as_ref()).map(plain).unwrap_or_default();
        let group = o.entity_group.as_deref().unwrap_or("GPU");
        let entity = if ids.is_empty() { String::new() } else { format!("{group} {ids}") };
        let (text, error) = o.warnings.as_ref().map(words).unwrap_or_default();
        match status.as_str() {
            "pass" => self.counts[0] += 1,
            "fail" => {
                let k = self.fails.len();
                self.counts[1] += 1;
                self.fails.push(Value::List(vec![test.into(), ids.as_str().into()]));
                self.values.set(&keys::DIAG_FAIL_TEST, &[k], Some(test), at);
                self.values.set(&keys::DIAG_FAIL_ENTITY, &[k], Some(entity).filter(|e| !e.is_empty()), at);
                self.values.set(&keys::DIAG_FAIL_TEXT, &[k], Some(text).filter(|t| !t.is_empty()), at);
                self.values.set(&keys::DIAG_FAIL_ERROR, &[k], error, at);
            }
            "warn" => {
                let k = usize::try_from(self.counts[2]).unwrap_or(usize::MAX);
                self.counts[2] += 1;
                self.values.set(&keys::DIAG_WARN_TEST, &[k], Some(test), at);
                self.values.set(&keys::DIAG_WARN_ENTITY, &[k], Some(entity).filter(|e| !e.is_empty()), at);
                self.values.set(&keys::DIAG_WARN_TEXT, &[k], Some(text).filter(|t| !t.is_empty()), at);
            }
            "skip" => {
                self.counts[3] += 1;
                if group == "GPU" && ids.parse::<u32>().is_ok() {
                    let test: String = test.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
                    let path = format!("skip_{}_gpu{ids}", test.to_ascii_lowercase());
                    self.values.set_path(path, "", Some(true.into()), at);
                }
            }
            _ => {}
        }
    }
}

/// `0`, `"0"` and `"0,1"` alike.
fn plain(v: &Json) -> String {
    match v {
        Json::String(s) => s.clone(),
        Json::Number(n) => n.to_string(),
        Json::Array(a) => a.iter().map(plain).collect::<Vec<_>>().join(","),
        _ => String::new(),
    }
}

/// The warnings' text and the first error number: a string, strings, or objects since 3.x.
fn words(v: &Json) -> (String, Option<i64>) {
    match v {
        Json::String(s) => (s.clone(), None),
        Json::Object(o) => (o.get("warning").map(plain).unwrap_or_default(), o.get("error_id").and_then(Json::as_i64)),
        Json::Array(a) => {
            let all: Vec<_> = a.iter().map(words).collect();
            let text = all.iter().map(|w| w.0.as_str()).filter(|t| !t.is_empty()).collect::<Vec<_>>().join(" ");
            (text, all.iter().find_map(|w| w.1))
        }
        _ => (String::new(), None),
    }
}
