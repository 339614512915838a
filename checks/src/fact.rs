//! Facts: typed values that keep the place they were read from.
//!
//! Absent is absent: a value that a source prints as `N/A`, `-` or leaves out has no fact at all, never 0, -1 or "".
//! This module does not know what a fact means for the GPU; that is the checks' business.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::keys;
use crate::profile::{DiskReport, NcclBench, NcclLog, NcuKernel};
use crate::record::{KernelEvent, SampleSeries, StepSeries};
use crate::report::Evidence;
use crate::trace::TraceSummary;

/// A fact's value as it appears in JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A measured number; never NaN or infinite.
    Num(f64),
    /// Text, as the source printed it.
    Text(String),
    /// Several values, for example the Xid codes of a log.
    List(Vec<Value>),
}

impl Value {
    /// The value as a number, if it is one.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "facts are far below 2^53")]
            Self::Int(i) => Some(*i as f64),
            Self::Num(n) => Some(*n),
            _ => None,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(b) => f.write_str(if *b { "yes" } else { "no" }),
            Self::Int(i) => write!(f, "{i}"),
            Self::Num(n) => write!(f, "{n}"),
            Self::Text(t) => f.write_str(t),
            Self::List(l) => {
                for (i, v) in l.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{v}")?;
                }
                Ok(())
            }
        }
    }
}

macro_rules! into_value {
    ($($t:ty => $e:expr),* $(,)?) => {$(
        impl From<$t> for Value { fn from(v: $t) -> Self { ($e)(v) } }
    )*};
}
into_value! {
    bool => Value::Bool,
    u8 => |v| Value::Int(i64::from(v)),
    u16 => |v| Value::Int(i64::from(v)),
    u32 => |v| Value::Int(i64::from(v)),
    i32 => |v| Value::Int(i64::from(v)),
    i64 => Value::Int,
    u64 => |v: u64| Value::Int(i64::try_from(v).unwrap_or(i64::MAX)),
    usize => |v: usize| Value::Int(i64::try_from(v).unwrap_or(i64::MAX)),
    String => Value::Text,
    &str => |v: &str| Value::Text(v.to_owned()),
}
impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(v: Vec<T>) -> Self {
        Self::List(v.into_iter().map(Into::into).collect())
    }
}
impl From<f64> for Value {
    /// NaN and infinities must be filtered by the reader (they are absent values); they become 0 in no case: text is kept.
    fn from(v: f64) -> Self {
        if v.is_finite() { Self::Num(v) } else { Self::Text(v.to_string()) }
    }
}

/// Rust types that a [`Value`] can be read as.
pub trait Read: Sized {
    /// The value as this type, or `None` if it is something else.
    fn read(v: &Value) -> Option<Self>;
}
impl Read for bool {
    fn read(v: &Value) -> Option<Self> {
        if let Value::Bool(b) = v { Some(*b) } else { None }
    }
}
impl Read for i64 {
    fn read(v: &Value) -> Option<Self> {
        if let Value::Int(i) = v { Some(*i) } else { None }
    }
}
impl Read for f64 {
    fn read(v: &Value) -> Option<Self> {
        v.as_f64()
    }
}
impl Read for String {
    fn read(v: &Value) -> Option<Self> {
        if let Value::Text(t) = v { Some(t.clone()) } else { None }
    }
}
impl<T: Read> Read for Vec<T> {
    fn read(v: &Value) -> Option<Self> {
        let Value::List(l) = v else { return None };
        l.iter().map(T::read).collect()
    }
}

/// How far a source is trusted where several tell the same fact: live readings first, the plain table last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// NVML, sysfs or procfs read by the collector.
    Live,
    /// XML.
    Xml,
    /// CSV.
    Csv,
    /// Structured text such as `nvidia-smi -q`.
    Text,
    /// The plain table, which rounds and cuts.
    Table,
    /// An answer given by a person.
    Person,
}

/// Where a fact was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// Index of the input in the report's `inputs`.
    pub input: u32,
    /// Line of the decoded text, from 1.
    pub line: Option<u32>,
    /// The line itself, cut to a readable length.
    pub quote: Option<Arc<str>>,
}

impl Place {
    /// Longest quote that is kept, in characters.
    pub const QUOTE_MAX: usize = 240;

    /// A place on a line of an input, with that line as its quote.
    #[must_use]
    pub fn line(input: u32, line: u32, text: &str) -> Self {
        let text = text.trim();
        let quote = match text.char_indices().nth(Self::QUOTE_MAX) {
            Some((end, _)) => format!("{}…", &text[..end]).into(),
            None => text.into(),
        };
        Self { input, line: Some(line), quote: Some(quote) }
    }

    /// A place in an input as a whole.
    #[must_use]
    pub fn input(input: u32) -> Self {
        Self { input, line: None, quote: None }
    }
}

/// One value and where it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The value.
    pub value: Value,
    /// Unit, empty if the value has none.
    pub unit: &'static str,
    /// How far the source is trusted.
    pub trust: Trust,
    /// Where it was read.
    pub place: Place,
}

/// The name of a fact, with its unit and Rust type. Declared once, in [`crate::keys`].
#[derive(Debug)]
pub struct Key<T> {
    /// Path pattern; `[]` stands for an index, as in `gpu[].pcie.gen_current`.
    pub path: &'static str,
    /// Unit, empty if none.
    pub unit: &'static str,
    /// What the fact says, in a few words; shown where it is missing.
    pub what: &'static str,
    #[doc(hidden)]
    pub of: PhantomData<fn() -> T>,
}
impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Key<T> {}

impl<T> Key<T> {
    /// The path with its `[]` filled in order.
    #[must_use]
    pub fn at(&self, index: &[usize]) -> String {
        fill(self.path, index)
    }
}

/// A path pattern with its `[]` filled in order.
#[must_use]
pub(crate) fn fill(pattern: &str, index: &[usize]) -> String {
    let mut out = String::with_capacity(pattern.len() + 4);
    let mut rest = pattern;
    let mut index = index.iter();
    while let Some(p) = rest.find("[]") {
        out.push_str(&rest[..p]);
        match index.next() {
            Some(i) => out.push_str(&format!("[{i}]")),
            None => out.push_str("[]"),
        }
        rest = &rest[p + 2..];
    }
    out.push_str(rest);
    out
}

/// A PCI address in one form, `dddd:bb:dd.f` in lower case: tools print the domain with eight digits, with four or not
/// at all, and the function not always. `None` if it is not one.
#[must_use]
pub fn bus_id(printed: &str) -> Option<String> {
    let (slot, function) = printed.trim().split_once('.').unwrap_or((printed.trim(), "0"));
    let mut parts = slot.rsplit(':');
    let (device, bus, domain) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
    let hex = |s: &str, max: usize| {
        let sound = !s.is_empty() && s.len() <= max && s.bytes().all(|b| b.is_ascii_hexdigit());
        sound.then(|| u32::from_str_radix(s, 16).ok()).flatten()
    };
    let (domain, bus, device, function) = (hex(domain, 8)?, hex(bus, 2)?, hex(device, 2)?, hex(function, 1)?);
    parts.next().is_none().then(|| format!("{domain:04x}:{bus:02x}:{device:02x}.{function:x}"))
}

/// The path with the index of its GPU replaced.
fn renumbered(path: String, moved: &BTreeMap<usize, usize>) -> String {
    let new = || {
        let (index, rest) = path.strip_prefix("gpu[")?.split_once(']')?;
        let n: usize = index.parse().ok()?;
        let m = moved.get(&n).filter(|m| **m != n)?;
        Some(format!("gpu[{m}]{rest}"))
    };
    new().unwrap_or(path)
}

/// A fact that is known, with its typed value.
#[derive(Clone, Debug)]
pub struct Known<'a, T> {
    /// The typed value.
    pub value: T,
    /// Its path.
    pub path: String,
    /// The fact it was read from.
    pub fact: &'a Fact,
}

impl<T> Known<'_, T> {
    /// This fact as evidence, with what would have been expected in words ("" if nothing is).
    #[must_use]
    pub fn evidence(&self, expected: &str) -> Evidence {
        Evidence {
            fact: self.path.clone(),
            value: Some(self.fact.value.clone()),
            unit: self.fact.unit.to_owned(),
            expected: (!expected.is_empty()).then(|| expected.to_owned()),
            input: Some(self.fact.place.input),
            line: self.fact.place.line,
            quote: self.fact.place.quote.as_deref().map(str::to_owned),
        }
    }
}

/// All that is known about one subject: named values, and the records that do not fit into a name (log lines, steps,
/// samples).
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// For each path the readings in order of trust; the first one holds.
    values: BTreeMap<String, Vec<Fact>>,
    /// NVIDIA and PCI lines of kernel logs, in file order.
    pub kernel: Vec<KernelEvent>,
    /// Step timings, one series a rank.
    pub steps: Vec<StepSeries>,
    /// Samples, one series a node.
    pub samples: Vec<SampleSeries>,
    /// Profiler traces, one a process.
    pub traces: Vec<TraceSummary>,
    /// Kernels that Nsight Compute profiled.
    pub ncu: Vec<NcuKernel>,
    /// Logs of NCCL.
    pub nccl: Vec<NcclLog>,
    /// Runs of nccl-tests.
    pub nccl_tests: Vec<NcclBench>,
    /// Reports of iostat, in order.
    pub iostat: Vec<DiskReport>,
}

impl Facts {
    /// Adds a reading. Of two readings of one path the more trusted one holds; of equals, the first.
    pub fn put<T>(&mut self, key: &Key<T>, index: &[usize], value: impl Into<Value>, trust: Trust, place: Place) {
        self.insert(key.at(index), Fact { value: value.into(), unit: key.unit, trust, place });
    }

    /// Adds a reading under a full path.
    pub fn insert(&mut self, path: String, fact: Fact) {
        let readings = self.values.entry(path).or_default();
        let at = readings.partition_point(|f| f.trust <= fact.trust);
        readings.insert(at, fact);
    }

    /// The reading that holds, typed; `None` if there is none or it has another type.
    #[must_use]
    pub fn get<T: Read>(&self, key: &Key<T>, index: &[usize]) -> Option<Known<'_, T>> {
        let path = key.at(index);
        let fact = self.values.get(&path)?.first()?;
        Some(Known { value: T::read(&fact.value)?, path, fact })
    }

    /// All readings of a path, most trusted first.
    #[must_use]
    pub fn readings(&self, path: &str) -> &[Fact] {
        self.values.get(path).map_or(&[], Vec::as_slice)
    }

    /// All paths with the reading that holds, in order of path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Fact)> {
        self.values.iter().filter_map(|(p, f)| Some((p.as_str(), f.first()?)))
    }

    /// All readings, also those that do not hold.
    pub fn into_readings(self) -> impl Iterator<Item = (String, Fact)> {
        self.values.into_iter().flat_map(|(p, fs)| fs.into_iter().map(move |f| (p.clone(), f)))
    }

    /// Indices of `prefix[n]` that have at least one fact, ascending.
    #[must_use]
    pub fn indices(&self, prefix: &str) -> Vec<usize> {
        let start = format!("{prefix}[");
        let mut out: Vec<usize> = self
            .values
            .range(start.clone()..)
            .take_while(|(p, _)| p.starts_with(&start))
            .filter_map(|(p, _)| p[start.len()..].split(']').next()?.parse().ok())
            .collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Indices of the GPUs that something is known about.
    #[must_use]
    pub fn gpus(&self) -> Vec<usize> {
        self.indices("gpu")
    }

    /// Takes over everything that another source of the same subject tells. Its GPUs are ours of the same PCI address
    /// where both sides print one, else ours of the same index.
    pub fn merge(&mut self, other: Self) {
        let moved = self.align(&other);
        for (path, readings) in other.values {
            let path = renumbered(path, &moved);
            for fact in readings {
                self.insert(path.clone(), fact);
            }
        }
        self.kernel.extend(other.kernel);
        self.steps.extend(other.steps);
        self.samples.extend(other.samples);
        self.traces.extend(other.traces);
        self.ncu.extend(other.ncu);
        self.nccl.extend(other.nccl);
        self.nccl_tests.extend(other.nccl_tests);
        self.iostat.extend(other.iostat);
    }

    /// Our index of each GPU of another source.
    fn align(&self, other: &Self) -> BTreeMap<usize, usize> {
        let ours: Vec<(usize, Option<String>)> = self.gpus().into_iter().map(|g| (g, self.gpu_address(g))).collect();
        let theirs: Vec<(usize, Option<String>)> =
            other.gpus().into_iter().map(|g| (g, other.gpu_address(g))).collect();
        let mut moved = BTreeMap::new();
        for (n, address) in &theirs {
            if let Some((m, _)) = ours.iter().find(|(_, a)| a.is_some() && a == address) {
                moved.insert(*n, *m);
            }
        }
        for (n, address) in &theirs {
            if moved.contains_key(n) {
                continue;
            }
            // The index is free unless another GPU is known there: one whose address differs, or that was found above.
            let other_gpu = ours.iter().any(|(m, a)| m == n && a.is_some() && address.is_some());
            let taken = other_gpu || moved.values().any(|m| m == n);
            let m = if taken {
                let all = ours.iter().map(|g| g.0).chain(theirs.iter().map(|g| g.0)).chain(moved.values().copied());
                all.max().map_or(0, |m| m + 1)
            } else {
                *n
            };
            moved.insert(*n, m);
        }
        moved
    }

    /// The PCI address of a GPU, by which inputs are joined.
    fn gpu_address(&self, gpu: usize) -> Option<String> {
        [&keys::GPU_BUS_ID, &keys::GPU_SLOT].iter().find_map(|k| bus_id(&self.get(k, &[gpu])?.value))
    }

    /// True if nothing at all is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
            && self.kernel.is_empty()
            && self.steps.is_empty()
            && self.samples.is_empty()
            && self.traces.is_empty()
            && self.ncu.is_empty()
            && self.nccl.is_empty()
            && self.nccl_tests.is_empty()
            && self.iostat.is_empty()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn gpus(buses: &[(usize, &str, f64)], key: &Key<String>) -> Facts {
        let mut f = Facts::default();
        for (n, bus, temperature) in buses {
            if !bus.is_empty() {
                f.put(key, &[*n], *bus, Trust::Text, Place::default());
            }
            f.put(&keys::GPU_TEMPERATURE, &[*n], *temperature, Trust::Text, Place::default());
        }
        f
    }

    #[test]
    fn addresses_have_one_form() {
        assert_eq!(bus_id("00000000:3B:00.0").unwrap(), "0000:3b:00.0");
        assert_eq!(bus_id("3b:00.0").unwrap(), "0000:3b:00.0");
        assert_eq!(bus_id("0009:01:00.0").unwrap(), bus_id("00000009:01:00.0").unwrap());
        assert_eq!(bus_id("10000:e1:00.0").unwrap(), "10000:e1:00.0");
        for wrong in ["", "GPU-1234", "3b", "zz:00.0", "1:2:3:4.0", "3b:00.0x"] {
            assert_eq!(bus_id(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn gpus_of_two_sources_join_by_address() {
        let mut f = gpus(&[(0, "00000000:3B:00.0", 40.0), (1, "00000000:5E:00.0", 41.0)], &keys::GPU_BUS_ID);
        // lspci without the first GPU, with one that nvidia-smi does not list.
        f.merge(gpus(&[(0, "5e:00.0", 51.0), (1, "86:00.0", 52.0)], &keys::GPU_SLOT));
        assert_eq!(f.get(&keys::GPU_SLOT, &[1]).unwrap().value, "5e:00.0");
        assert_eq!(f.get(&keys::GPU_SLOT, &[2]).unwrap().value, "86:00.0");
        assert_eq!(f.readings("gpu[1].temperature_c").len(), 2);
        assert_eq!(f.gpus(), [0, 1, 2]);
    }

    #[test]
    fn gpus_without_an_address_join_by_index() {
        let mut f = gpus(&[(0, "", 40.0), (1, "", 41.0)], &keys::GPU_BUS_ID);
        f.merge(gpus(&[(1, "00000000:5E:00.0", 51.0)], &keys::GPU_BUS_ID));
        f.merge(gpus(&[(1, "", 61.0)], &keys::GPU_BUS_ID));
        assert_eq!(f.readings("gpu[1].temperature_c").len(), 3);
        assert_eq!(f.gpus(), [0, 1]);
    }
}
