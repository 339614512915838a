//! What the intake tests share.

use std::path::PathBuf;

use checks::{Facts, Intake, Value, report::Input};

/// One input read by itself.
pub(crate) struct Read {
    pub(crate) inputs: Vec<Input>,
    pub(crate) facts: Facts,
    pub(crate) node: Option<String>,
    pub(crate) taken_ms: Option<i64>,
}

impl Read {
    pub(crate) fn kinds(&self) -> Vec<&str> {
        self.inputs.iter().map(|i| i.kind.as_str()).collect()
    }

    pub(crate) fn value(&self, path: &str) -> Option<Value> {
        self.facts.readings(path).first().map(|f| f.value.clone())
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        match self.value(path)? {
            Value::Text(t) => Some(t),
            other => Some(other.to_string()),
        }
    }

    pub(crate) fn notes(&self) -> String {
        self.inputs.iter().flat_map(|i| i.notes.iter().map(|n| n.text.clone())).collect::<Vec<_>>().join(" | ")
    }

    /// Line and quote of a fact.
    pub(crate) fn place(&self, path: &str) -> Option<(u32, Option<u32>, String)> {
        let p = &self.facts.readings(path).first()?.place;
        Some((p.input, p.line, p.quote.as_deref().unwrap_or("").to_owned()))
    }
}

/// Reads one input.
pub(crate) fn read(name: &str, bytes: impl AsRef<[u8]>) -> Read {
    let mut intake = Intake::new();
    intake.add(name, bytes.as_ref());
    let (inputs, mut subjects) = intake.finish();
    assert_eq!(subjects.len(), 1, "one file, one subject");
    let subject = subjects.remove(0);
    Read { inputs, facts: subject.facts, node: subject.id.node, taken_ms: subject.id.taken_ms }
}

/// The corpus of real files beside the repository, where it is there.
pub(crate) fn corpus() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    folder.join("labels.json").exists().then_some(folder)
}

/// gzip of some bytes.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut e = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    e.write_all(bytes).unwrap();
    e.finish().unwrap()
}
