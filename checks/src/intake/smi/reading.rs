//! Readings: what one log of `nvidia-smi -q` (text or XML) tells, and how several logs become one set of facts.
//!
//! It places values by GPU, MIG device and process. Text goes in, facts come out; it does not know how the text was cut
//! into names and values.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::field::{Form, Found, Mark, Scope, Sink};
use super::latest::{At, Latest};
use super::value;
use crate::fact::{Trust, bus_id, fill};
use crate::intake::Part;
use crate::keys;

/// MIG devices that one GPU can have at most; a larger number is damage.
const MIG_MAX: usize = 64;

/// One value of a known field.
#[derive(Clone, Debug)]
pub(super) struct Entry<'t> {
    pub(super) found: Found,
    pub(super) text: Cow<'t, str>,
    pub(super) at: At<'t>,
    /// Place of the heading that the value stands under, whatever its unit; 0 directly below the GPU.
    pub(super) section: usize,
    /// The text may be the beginning of a longer one: it is the last of an input that ends without a line end.
    pub(super) cut: bool,
}

impl Entry<'_> {
    fn is(&self, path: &str) -> bool {
        self.found.field().sink.key().is_some_and(|k| k.0 == path)
    }

    fn whole(&self) -> Option<i64> {
        value::whole(&self.text, value::NONE).filter(|_| !self.cut)
    }
}

type Slot<'t> = Vec<Entry<'t>>;

/// One GPU within a log.
#[derive(Debug, Default)]
pub(super) struct Gpu<'t> {
    /// Bus id of the heading.
    bus: Option<(&'t str, At<'t>)>,
    entries: Slot<'t>,
    migs: Vec<Slot<'t>>,
    processes: Vec<Slot<'t>>,
    /// The list of MIG devices is known to be whole.
    pub(super) migs_whole: bool,
    lost: Option<At<'t>>,
    /// Sections that two headings' values have run together in.
    mixed: Vec<usize>,
    /// A key or a section has come again: what follows is of a GPU whose heading is missing.
    over: bool,
}

impl<'t> Gpu<'t> {
    /// Takes a value of its own. Where one comes twice under one heading, the heading between the two is missing, and
    /// nobody knows where it stood: all values under it are left out.
    fn take(&mut self, entry: Entry<'t>) {
        if self.mixed.contains(&entry.section) {
            return;
        }
        let known =
            self.entries.iter().find(|e| e.found.field == entry.found.field && e.found.rank == entry.found.rank);
        match known.map(|e| e.section) {
            Some(section) if section == entry.section && section != 0 => self.mixed(section),
            Some(_) => self.over = true,
            None => {
                if value::is_lost(&entry.text) {
                    self.lost.get_or_insert(entry.at);
                }
                self.entries.push(entry);
            }
        }
    }

    /// Leaves out all values under a heading.
    fn mixed(&mut self, section: usize) {
        if section != 0 && !self.mixed.contains(&section) {
            self.entries.retain(|e| e.section != section);
            self.mixed.push(section);
        }
    }

    /// True if a MIG device was listed.
    pub(super) fn has_migs(&self) -> bool {
        !self.migs.is_empty()
    }
}

/// One log: what stands between two headings `NVSMI LOG`, or one `nvidia_smi_log` element.
#[derive(Debug, Default)]
pub(super) struct Log<'t> {
    node: Slot<'t>,
    pub(super) gpus: Vec<Gpu<'t>>,
    /// A GPU began without a heading.
    headless: Option<u32>,
}

impl<'t> Log<'t> {
    /// True if this value of the node is already known: the next log has begun.
    pub(super) fn has(&self, found: Found) -> bool {
        found.field().scope == Scope::Node && holds(&self.node, found)
    }

    /// Begins a GPU.
    pub(super) fn gpu(&mut self, bus: Option<(&'t str, At<'t>)>) {
        self.gpus.push(Gpu { bus, ..Gpu::default() });
    }

    /// Begins a MIG device or a process of the last GPU.
    pub(super) fn slot(&mut self, scope: Scope) {
        let Some(gpu) = self.gpus.last_mut() else { return };
        let slots = if scope == Scope::Mig { &mut gpu.migs } else { &mut gpu.processes };
        slots.push(Vec::new());
    }

    /// Takes a value.
    pub(super) fn push(&mut self, entry: Entry<'t>) {
        let scope = entry.found.field().scope;
        if scope == Scope::Node {
            self.node.push(entry);
            return;
        }
        if scope == Scope::Gpu && self.begins_gpu(&entry) {
            if !self.gpus.is_empty() {
                self.headless.get_or_insert(entry.at.line);
            }
            self.gpu(None);
        }
        let Some(gpu) = self.gpus.last_mut().filter(|g| !g.over) else { return };
        let slots = match scope {
            Scope::Gpu => {
                gpu.take(entry);
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

    /// True if the value belongs to a GPU whose heading is missing: there is no GPU yet, or the first section of the
    /// present one begins anew.
    fn begins_gpu(&self, entry: &Entry<'_>) -> bool {
        let Some(gpu) = self.gpus.last() else { return true };
        let Some(first) = gpu.entries.first() else { return false };
        let again = first.found.field == entry.found.field && first.found.rank == entry.found.rank;
        again && (entry.section == 0 || entry.section != first.section)
    }

    /// Notes that the values under a heading of the last GPU belong to two headings.
    pub(super) fn mixed(&mut self, section: usize) {
        if let Some(gpu) = self.gpus.last_mut() {
            gpu.mixed(section);
        }
    }

    /// Notes that the last GPU has said that it is lost.
    pub(super) fn lost(&mut self, at: At<'t>) {
        if let Some(gpu) = self.gpus.last_mut().filter(|g| !g.over) {
            gpu.lost.get_or_insert(at);
        }
    }
}

fn holds(slot: &[Entry<'_>], found: Found) -> bool {
    slot.iter().any(|e| e.found.field == found.field && e.found.rank == found.rank)
}

/// What all logs of an input tell. The latest reading of each value holds.
#[derive(Debug)]
pub(super) struct Readings {
    form: Form,
    values: Latest,
    /// PCI address of each GPU, where known.
    buses: Vec<Option<String>>,
    logs: usize,
    attached: Option<(i64, u32)>,
    last_gpus: usize,
}

impl Readings {
    pub(super) fn new(form: Form) -> Self {
        Self { form, values: Latest::default(), buses: Vec::new(), logs: 0, attached: None, last_gpus: 0 }
    }

    /// Takes over a log. `whole` says that it is known not to break off.
    pub(super) fn add(&mut self, log: &Log<'_>, whole: bool, part: &mut Part) {
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
        let attached = log.node.iter().find(|e| e.is(keys::ATTACHED_GPUS.path));
        let count = attached.and_then(Entry::whole);
        self.attached = count.zip(attached.map(|e| e.at.line));
        let at = attached.map(|e| e.at).or(log.gpus.first().and_then(|g| Some(g.bus?.1)));
        if let Some(at) = at {
            if whole && self.form == Form::Xml {
                self.values.set(&keys::GPU_ELEMENTS, &[], Some(log.gpus.len()), at);
            }
            if count.is_some_and(|n| usize::try_from(n) == Ok(log.gpus.len())) {
                self.values.set(&keys::GPU_COUNT, &[], Some(log.gpus.len()), at);
            }
        }
        for (ordinal, gpu) in log.gpus.iter().enumerate() {
            let index = self.index(gpu, ordinal);
            self.gpu(gpu, index);
        }
    }

    /// The index of a GPU: that of the same PCI address, else its place in the log.
    fn index(&mut self, gpu: &Gpu<'_>, ordinal: usize) -> usize {
        let inside = || {
            let e = gpu.entries.iter().find(|e| e.is(keys::GPU_BUS_ID.path) && !e.cut)?;
            value::text(&e.text)
        };
        let bus = gpu.bus.map(|b| b.0).or_else(inside).and_then(bus_id);
        if let Some(at) = bus.as_ref().and_then(|b| self.buses.iter().position(|known| known.as_ref() == Some(b))) {
            return at;
        }
        match self.buses.get_mut(ordinal) {
            // The place in the log is free, or it is the same GPU without an address.
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
        for e in best(&gpu.entries) {
            self.take(e, &[g]);
        }
        if let Some((bus, at)) = gpu.bus {
            self.values.set(&keys::GPU_BUS_ID, &[g], Some(bus), at);
        }
        if let Some(at) = gpu.lost {
            self.values.set(&keys::GPU_LOST, &[g], Some(true), at);
        }
        self.reasons(gpu, g);
        self.migs(gpu, g);
        // Processes come and go: those of an earlier log are not those of this one.
        self.values.remove_all(&format!("gpu[{g}].process["));
        for (p, slot) in gpu.processes.iter().enumerate() {
            for e in best(slot) {
                self.take(e, &[g, p]);
            }
        }
    }

    fn take(&mut self, e: &Entry<'_>, index: &[usize]) {
        let sink = &e.found.field().sink;
        let Some((pattern, unit)) = sink.key() else { return };
        if pattern == keys::GPU_THROTTLE.path {
            return;
        }
        let value = sink.read(&e.text, e.cut);
        // What was cut off says nothing; an earlier log may still tell.
        if value.is_some() || !e.cut {
            self.values.set_path(fill(pattern, index), unit, value, e.at);
        }
    }

    /// The reasons that are active, in one list. It is empty only if the section is whole: a missing line could be the
    /// one that is active.
    fn reasons(&mut self, gpu: &Gpu<'_>, g: usize) {
        let mut seen: Vec<(&'static str, bool)> = Vec::new();
        let mut place: Option<At<'_>> = None;
        for e in best(&gpu.entries) {
            let Sink::Reason(name) = e.found.field().sink else { continue };
            let Some(on) = value::yes_no(&e.text) else { continue };
            if place.is_none() || on && !seen.iter().any(|(_, on)| *on) {
                place = Some(e.at);
            }
            seen.push((name, on));
        }
        let Some(place) = place else { return };
        let active: Vec<&str> = REASONS.iter().copied().filter(|r| seen.contains(&(r, true))).collect();
        if active.is_empty() && !whole_reasons(&seen) {
            self.values.remove(&keys::GPU_THROTTLE.at(&[g]));
        } else {
            self.values.set(&keys::GPU_THROTTLE, &[g], Some(active), place);
        }
    }

    fn migs(&mut self, gpu: &Gpu<'_>, g: usize) {
        let mut indices: Vec<Option<usize>> = Vec::new();
        for slot in &gpu.migs {
            let index = slot.iter().find(|e| matches!(e.found.field().sink, Sink::Mark(Mark::MigIndex)));
            let index = index.and_then(|e| usize::try_from(e.whole()?).ok()).filter(|m| *m < MIG_MAX);
            indices.push(index);
            // A device without its number cannot be placed.
            let Some(m) = index else { continue };
            for e in best(slot) {
                self.take(e, &[g, m]);
            }
        }
        let whole = gpu.migs_whole && indices.iter().enumerate().all(|(i, m)| Some(i) == *m);
        let Some(mode) = gpu.entries.iter().find(|e| e.is(keys::GPU_MIG_MODE.path)) else { return };
        if whole && value::bare(&mode.text).eq_ignore_ascii_case("enabled") {
            self.values.set(&keys::GPU_MIG_DEVICES, &[g], Some(indices.len()), mode.at);
        }
    }

    /// Hands the facts over.
    pub(super) fn put(self, part: &mut Part) {
        if self.logs > 1 {
            let logs = self.logs;
            part.note(None, format!("It holds {logs} readings, one after the other; the latest of each value holds."));
        }
        if let Some((attached, line)) = self.attached
            && usize::try_from(attached) != Ok(self.last_gpus)
        {
            part.note(Some(line), format!("The driver counts {attached} GPUs; {} are listed here.", self.last_gpus));
        }
        if self.values.is_empty() {
            part.note(None, "No value was found in it.");
        }
        let trust = if self.form == Form::Xml { Trust::Xml } else { Trust::Text };
        self.values.put(trust, part);
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

/// True if all reasons are there that every driver since 384 prints, or those of the drivers before.
pub(super) fn whole_reasons(seen: &[(&'static str, bool)]) -> bool {
    let has = |r: &&str| seen.iter().any(|(name, _)| name == r);
    let modern = ["hw_thermal_slowdown", "hw_power_brake_slowdown", "sw_thermal_slowdown"];
    let base = ["idle", "app_clock_setting", "sw_power_cap", "hw_slowdown", "sync_boost"];
    base.iter().all(has) && (!modern.iter().any(has) || modern.iter().all(has))
}

/// For each field the entry under the name that is preferred, also where it has no value.
fn best<'e, 't>(slot: &'e [Entry<'t>]) -> Vec<&'e Entry<'t>> {
    let mut by_field: BTreeMap<u16, &'e Entry<'t>> = BTreeMap::new();
    for e in slot {
        if by_field.get(&e.found.field).is_none_or(|old| e.found.rank < old.found.rank) {
            by_field.insert(e.found.field, e);
        }
    }
    by_field.into_values().collect()
}
