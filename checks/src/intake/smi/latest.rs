//! Values by path, of which the latest one holds: several logs, tables or rows in one input are readings of the same
//! thing, one after the other.

use std::collections::BTreeMap;

use crate::fact::{Fact, Key, Place, Trust, Value, fill};
use crate::intake::Part;

/// Where a value stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'t> {
    /// Line from 1.
    pub(super) line: u32,
    /// The line itself.
    pub(super) quote: &'t str,
}

#[derive(Debug)]
struct Reading {
    /// `None`: the source prints "no value" here.
    value: Option<Value>,
    unit: &'static str,
    line: u32,
    quote: String,
}

/// The values of an input.
#[derive(Debug, Default)]
pub(super) struct Latest(BTreeMap<String, Reading>);

impl Latest {
    /// Sets a value; none hides an earlier one.
    pub(super) fn set<T>(&mut self, key: &Key<T>, index: &[usize], value: Option<impl Into<Value>>, at: At<'_>) {
        self.set_path(fill(key.path, index), key.unit, value.map(Into::into), at);
    }

    /// Sets a value under a full path.
    pub(super) fn set_path(&mut self, path: String, unit: &'static str, value: Option<Value>, at: At<'_>) {
        self.0.insert(path, Reading { value, unit, line: at.line, quote: at.quote.to_owned() });
    }

    /// Forgets a value.
    pub(super) fn remove(&mut self, path: &str) {
        self.0.remove(path);
    }

    /// Forgets all values whose path begins like this.
    pub(super) fn remove_all(&mut self, prefix: &str) {
        self.0.retain(|path, _| !path.starts_with(prefix));
    }

    /// True if there is no value.
    pub(super) fn is_empty(&self) -> bool {
        self.0.values().all(|r| r.value.is_none())
    }

    /// Hands the facts over.
    pub(super) fn put(self, trust: Trust, part: &mut Part) {
        for (path, r) in self.0 {
            let Some(value) = r.value else { continue };
            let place = Place::line(part.input, r.line, &r.quote);
            part.facts.insert(path, Fact { value, unit: r.unit, trust, place });
        }
    }
}
