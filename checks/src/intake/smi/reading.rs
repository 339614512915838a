//! Readings: what one log of `nvidia-smi -q` (text or XML) tells, and how several logs become one set of facts.
//!
//! It places values by GPU, MIG device and process. Text goes in, facts come out; it does not know how the text was cut
//! into names and values.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::field::{self, Form, Found, Mark, Scope, Sink};
use super::value;
use crate::fact::{Fact, Place, Trust, Value};
use crate::intake::Part;
use crate::keys;

/// One value of a known field.
#[derive(Clone, Debug)]
pub(super) struct Entry<'t> {
    pub(super) found: Found,
    pub(super) text: Cow<'t, str>,
    /// Line number from 1, and the line itself.
    pub(super) line: u32,
    pub(super) quote: &'t str,
    /// The text may be the beginning of a longer one: it is the last of an input that ends without a line end.
    pub(super) cut: bool,
}

type Slot<'t> = Vec<Entry<'t>>;

/// One GPU within a log.
#[derive(Debug, Default)]
pub(super) struct Gpu<'t> {
    /// Bus id of the heading, with its place.
    pub(super) bus: Option<(&'t str, u32, &'t str)>,
    entries: Slot<'t>,
    migs: Vec<Slot<'t>>,
    processes: Vec<Slot<'t>>,
    /// The list of MIG devices is known to be whole.
    pub(super) migs_whole: bool,
    lost: Option<(u32, &'t str)>,
}

/// One log: what stands between two headings `NVSMI LOG`, or one `nvidia_smi_log` element.
#[derive(Debug, Default)]
pub(super) struct Log<'t> {
    node: Slot<'t>,
    pub(super) gpus: Vec<Gpu<'t>>,
    /// A GPU began without a heading because a value came twice.
    pub(super) headless: Option<u32>,
}

impl Gpu<'_> {
    /// True if a MIG device was listed.
    pub(super) fn has_migs(&self) -> bool {
        !self.migs.is_empty()
    }
}

impl<'t> Log<'t> {
    /// True if nothing was read into it.
    pub(super) fn is_empty(&self) -> bool {
        self.node.is_empty() && self.gpus.is_empty()
    }

    /// True if this value of the node is already known: the next log has begun.
    pub(super) fn has(&self, found: Found) -> bool {
        found.field().scope == Scope::Node && holds(&self.node, found)
    }

    /// Begins a GPU.
    pub(super) fn gpu(&mut self, bus: Option<(&'t str, u32, &'t str)>) {
        self.gpus.push(Gpu { bus, ..Gpu::default() });
    }

    /// Begins a MIG device or a process of the last GPU.
    pub(super) fn slot(&mut self, scope: Scope) {
        let Some(gpu) = self.gpus.last_mut() else { return };
        let slots = if scope == Scope::Mig { &mut gpu.migs } else { &mut gpu.processes };
        if slots.last().is_none_or(|s| !s.is_empty()) {
            slots.push(Vec::new());
        }
    }

    /// Takes a value.
    pub(super) fn push(&mut self, entry: Entry<'t>) {
        let scope = entry.found.field().scope;
        if scope == Scope::Node {
            self.node.push(entry);
            return;
        }
        // A value that comes twice belongs to the next GPU, whose heading is missing.
        if scope == Scope::Gpu && self.gpus.last().is_none_or(|g| holds(&g.entries, entry.found)) {
            if !self.gpus.is_empty() {
                self.headless.get_or_insert(entry.line);
            }
            self.gpu(None);
        }
        let Some(gpu) = self.gpus.last_mut() else { return };
        if value::is_lost(&entry.text) && scope == Scope::Gpu {
            gpu.lost.get_or_insert((entry.line, entry.quote));
        }
        let slots = match scope {
            Scope::Gpu => {
                gpu.entries.push(entry);
                return;
            }
            Scope::Mig => &mut gpu.migs,
            _ => &mut gpu.processes,
        };
        match slots.last_mut() {
            Some(slot) if !holds(slot, entry.found) => slot.push(entry),
            _ => slots.push(vec![entry]),
        }
    }

    /// Notes that the last GPU has said that it is lost.
    pub(super) fn lost(&mut self, line: u32, quote: &'t str) {
        if let Some(gpu) = self.gpus.last_mut() {
            gpu.lost.get_or_insert((line, quote));
        }
    }
}

fn holds(slot: &[Entry<'_>], found: Found) -> bool {
    slot.iter().any(|e| e.found.field == found.field && e.found.rank == found.rank)
}

/// A value and where it stands; `None` says that the source prints "no value".
#[derive(Debug)]
struct Reading {
    value: Option<Value>,
    unit: &'static str,
    line: u32,
    quote: String,
}

/// What all logs of an input tell. The latest reading of each value holds.
#[derive(Debug)]
pub(super) struct Readings {
    form: Form,
    trust: Trust,
    values: BTreeMap<String, Reading>,
    /// Normalised bus id of each GPU, where known.
    buses: Vec<Option<String>>,
    logs: usize,
    attached: Option<(i64, u32)>,
    last_gpus: usize,
}

impl Readings {
    pub(super) fn new(form: Form) -> Self {
        let trust = match form {
            Form::Q => Trust::Text,
            Form::Xml => Trust::Xml,
            Form::Csv => Trust::Csv,
        };
        Self { form, trust, values: BTreeMap::new(), buses: Vec::new(), logs: 0, attached: None, last_gpus: 0 }
    }

    /// Takes over a log. `whole` says that it is known not to break off.
    pub(super) fn add(&mut self, log: &Log<'_>, whole: bool, part: &mut Part) {
        if log.is_empty() {
            return;
        }
        if let Some(line) = log.headless {
            part.note(Some(line), "A GPU begins here without its heading; it was taken for one of its own.");
        }
        for e in best(&log.node) {
            self.take(e, &[]);
        }
        if log.gpus.is_empty() {
            return;
        }
        self.logs += 1;
        self.last_gpus = log.gpus.len();
        self.attached = log.node.iter().find_map(|e| match &e.found.field().sink {
            Sink::Int(k, _) if k.path == keys::ATTACHED_GPUS.path => {
                Some((value::whole(&e.text, value::NONE).filter(|_| !e.cut)?, e.line))
            }
            _ => None,
        });
        if whole && self.form == Form::Xml {
            self.count(&keys::GPU_ELEMENTS.at(&[]), log.gpus.len(), log);
        }
        if self.attached.is_some_and(|(n, _)| usize::try_from(n) == Ok(log.gpus.len())) {
            self.count(&keys::GPU_COUNT.at(&[]), log.gpus.len(), log);
        }
        for (ordinal, gpu) in log.gpus.iter().enumerate() {
            let index = self.index(gpu, ordinal);
            self.gpu(gpu, index);
        }
    }

    fn count(&mut self, path: &str, n: usize, log: &Log<'_>) {
        let place = log
            .node
            .iter()
            .find(|e| matches!(&e.found.field().sink, Sink::Int(k, _) if k.path == keys::ATTACHED_GPUS.path));
        let (line, quote) = match (place, log.gpus.first().and_then(|g| g.bus)) {
            (Some(e), _) => (e.line, e.quote),
            (None, Some((_, line, quote))) => (line, quote),
            _ => return,
        };
        let reading = Reading { value: Some(n.into()), unit: "", line, quote: quote.to_owned() };
        self.values.insert(path.to_owned(), reading);
    }

    /// The index of a GPU: that of the same bus id, else its place in the log.
    fn index(&mut self, gpu: &Gpu<'_>, ordinal: usize) -> usize {
        let printed = gpu.bus.map(|(b, ..)| b.to_owned()).or_else(|| {
            let bus = gpu
                .entries
                .iter()
                .find(|e| e.found.field().sink.key().is_some_and(|k| k.0 == keys::GPU_BUS_ID.path))?;
            value::text(&bus.text).filter(|_| !bus.cut).map(str::to_owned)
        });
        let bus = printed.as_deref().and_then(crate::fact::bus_id);
        if let Some(at) = bus.as_ref().and_then(|b| self.buses.iter().position(|known| known.as_ref() == Some(b))) {
            return at;
        }
        match self.buses.get_mut(ordinal) {
            // The place in the log is free, or the same GPU without a bus id.
            Some(known) if bus.is_none() || known.is_none() => {
                *known = known.take().or(bus);
                ordinal
            }
            Some(_) => {
                self.buses.push(bus);
                self.buses.len() - 1
            }
            None => {
                self.buses.resize(ordinal, None);
                self.buses.push(bus);
                ordinal
            }
        }
    }

    fn gpu(&mut self, gpu: &Gpu<'_>, g: usize) {
        if let Some((bus, line, quote)) = gpu.bus {
            let reading = Reading { value: Some(bus.into()), unit: "", line, quote: quote.to_owned() };
            self.values.insert(keys::GPU_BUS_ID.at(&[g]), reading);
        }
        for e in best(&gpu.entries) {
            if gpu.bus.is_some() && e.found.field().sink.key().is_some_and(|k| k.0 == keys::GPU_BUS_ID.path) {
                continue;
            }
            self.take(e, &[g]);
        }
        if let Some((line, quote)) = gpu.lost {
            let reading = Reading { value: Some(true.into()), unit: "", line, quote: quote.to_owned() };
            self.values.insert(keys::GPU_LOST.at(&[g]), reading);
        }
        self.reasons(gpu, g);
        self.migs(gpu, g);
        // Processes come and go: those of an earlier log are not those of this one.
        let prefix = format!("gpu[{g}].process[");
        self.values.retain(|path, _| !path.starts_with(&prefix));
        for (p, slot) in gpu.processes.iter().enumerate() {
            for e in best(slot) {
                self.take(e, &[g, p]);
            }
        }
    }

    fn take(&mut self, e: &Entry<'_>, index: &[usize]) {
        let Some((pattern, unit)) = e.found.field().sink.key() else { return };
        if pattern == keys::GPU_THROTTLE.path {
            return;
        }
        let value = e.found.field().sink.read(&e.text, e.cut);
        // What was cut off says nothing; an earlier log may still tell.
        if value.is_none() && e.cut {
            return;
        }
        let path = crate::fact::fill(pattern, index);
        self.values.insert(path, Reading { value, unit, line: e.line, quote: e.quote.to_owned() });
    }

    /// The reasons that are active, in one list. It is empty only if the section is whole: a missing line could be the
    /// one that is active.
    fn reasons(&mut self, gpu: &Gpu<'_>, g: usize) {
        let mut seen: Vec<(&'static str, bool)> = Vec::new();
        let mut place: Option<&Entry<'_>> = None;
        for e in best(&gpu.entries) {
            let Sink::Reason(name) = e.found.field().sink else { continue };
            let Some(on) = value::yes_no(&e.text) else { continue };
            if on && !seen.iter().any(|(_, on)| *on) || place.is_none() {
                place = Some(e);
            }
            seen.push((name, on));
        }
        let Some(place) = place else { return };
        let active: Vec<&str> = REASONS.iter().copied().filter(|r| seen.contains(&(r, true))).collect();
        let path = keys::GPU_THROTTLE.at(&[g]);
        if active.is_empty() && !whole_reasons(&seen) {
            self.values.remove(&path);
            return;
        }
        let reading = Reading { value: Some(active.into()), unit: "", line: place.line, quote: place.quote.to_owned() };
        self.values.insert(path, reading);
    }

    fn migs(&mut self, gpu: &Gpu<'_>, g: usize) {
        let mut indices: Vec<usize> = Vec::new();
        for slot in &gpu.migs {
            let index = slot.iter().find(|e| matches!(e.found.field().sink, Sink::Mark(Mark::MigIndex)));
            // A device without its number cannot be placed.
            let Some(m) = index.and_then(|e| usize::try_from(value::whole(&e.text, value::NONE)?).ok()) else { return };
            indices.push(m);
            if m > 64 {
                continue;
            }
            for e in best(slot) {
                self.take(e, &[g, m]);
            }
        }
        let whole = gpu.migs_whole && indices.iter().enumerate().all(|(i, m)| i == *m);
        let mode = |e: &&Entry<'_>| e.found.field().sink.key().is_some_and(|k| k.0 == keys::GPU_MIG_MODE.path);
        let Some(mode) = gpu.entries.iter().find(mode) else { return };
        if !whole || !value::bare(&mode.text).eq_ignore_ascii_case("enabled") {
            return;
        }
        let reading =
            Reading { value: Some(indices.len().into()), unit: "", line: mode.line, quote: mode.quote.to_owned() };
        self.values.insert(keys::GPU_MIG_DEVICES.at(&[g]), reading);
    }

    /// Hands the facts over.
    pub(super) fn put(self, part: &mut Part) {
        if self.logs > 1 {
            part.note(
                None,
                format!("It holds {} readings, one after the other; the latest of each value holds.", self.logs),
            );
        }
        if let Some((attached, line)) = self.attached
            && usize::try_from(attached).is_ok_and(|n| n != self.last_gpus)
        {
            part.note(Some(line), format!("The driver counts {attached} GPUs; {} are listed here.", self.last_gpus));
        }
        if self.values.is_empty() {
            part.note(None, "No value was found in it.");
        }
        for (path, r) in self.values {
            let Some(value) = r.value else { continue };
            let place = Place::line(part.input, r.line, &r.quote);
            part.facts.insert(path, Fact { value, unit: r.unit, trust: self.trust, place });
        }
    }
}

/// Clock event reasons by name, in the order of their bits.
pub(super) const REASONS: [&str; 9] = [
    "idle",
    "app_clock_setting",
    "sw_power_cap",
    "hw_slowdown",
    "sync_boost",
    "sw_thermal_slowdown",
    "hw_thermal_slowdown",
    "hw_power_brake_slowdown",
    "display_clock_setting",
];

/// The reasons that every driver since 384 prints, and those of the drivers before.
fn whole_reasons(seen: &[(&'static str, bool)]) -> bool {
    let has = |r: &str| seen.iter().any(|(name, _)| *name == r);
    let modern = ["hw_thermal_slowdown", "hw_power_brake_slowdown", "sw_thermal_slowdown"];
    let base = ["idle", "app_clock_setting", "sw_power_cap", "hw_slowdown", "sync_boost"];
    let any_modern = modern.iter().any(|r| has(r));
    base.iter().all(|r| has(r)) && (!any_modern || modern.iter().all(|r| has(r)))
}

/// For each field the entry under the name that is preferred and that has a value; else one without.
fn best<'e, 't>(slot: &'e [Entry<'t>]) -> Vec<&'e Entry<'t>> {
    let mut by_field: BTreeMap<u16, &'e Entry<'t>> = BTreeMap::new();
    for e in slot {
        let better = |old: &&Entry<'_>| {
            let key = |e: &Entry<'_>| (value::is_absent(&e.text), e.found.rank);
            key(e) < key(old)
        };
        if by_field.get(&e.found.field).is_none_or(better) {
            by_field.insert(e.found.field, e);
        }
    }
    by_field.into_values().collect()
}

/// Looks a name up and makes an entry of its value.
pub(super) fn entry<'t>(
    form: Form,
    name: &str,
    text: impl Into<Cow<'t, str>>,
    line: u32,
    quote: &'t str,
    cut: bool,
) -> Option<Entry<'t>> {
    Some(Entry { found: field::find(form, name)?, text: text.into(), line, quote, cut })
}
