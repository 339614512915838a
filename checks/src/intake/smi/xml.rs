//! `nvidia-smi -q -x`: read as a stream of elements. No DTD is fetched; several logs in a row, warnings around them and a
//! file that breaks off are read as far as they go.
//!
//! Names are looked up by element path, never by the version of the DTD: within one version they differ.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::field::{Form, Scope, find};
use super::latest::At;
use super::reading::{Entry, Log, Readings};
use super::value;
use crate::intake::Part;

/// Broken places after which reading goes on at the next tag; a file with more is not XML.
const BROKEN_MAX: usize = 64;
/// Deepest nesting that is followed; the real one is below ten.
const DEPTH_MAX: usize = 64;

/// True for `nvidia-smi -q -x`, whole or in part.
pub(in crate::intake) fn looks_like_xml(head: &str) -> bool {
    if head.contains("<nvidia_smi_log") || head.contains("nvsmi_device_v") {
        return true;
    }
    let marks = [
        "<gpu id=\"",
        "<fb_memory_usage>",
        "<pci_gpu_link_info>",
        "<clocks_event_reason",
        "<clocks_throttle_reason",
        "<gpu_util>",
        "<performance_state>",
        "<product_name>",
    ];
    marks.iter().filter(|m| head.contains(**m)).count() >= 2
}

/// The first line of a log.
pub(in crate::intake) fn starts_xml(line: &str) -> bool {
    let line = line.trim();
    ["<?xml", "<!DOCTYPE nvidia_smi_log", "<nvidia_smi_log"].iter().any(|m| line.starts_with(m))
}

/// Reads it.
pub(in crate::intake) fn xml(text: &str, part: &mut Part) {
    let mut walk = Walk::new(text);
    let mut from = 0;
    let mut broken = 0;
    loop {
        let rest = &text[from..];
        let mut reader = Reader::from_str(rest);
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        let stopped = loop {
            let at = from + offset(reader.buffer_position());
            match reader.read_event() {
                Ok(Event::Eof) => break None,
                Ok(event) => walk.event(&event, at, part),
                Err(_) => break Some(from + offset(reader.error_position()).max(1)),
            }
        };
        let Some(at) = stopped else { break };
        broken += 1;
        if broken == 1 {
            part.note(Some(walk.lines.number(at)), "The XML is damaged here; what can be read was read.");
        }
        if broken > BROKEN_MAX {
            break;
        }
        // Go on at the next tag.
        let Some(next) = memchr::memchr(b'<', text.as_bytes().get(at..).unwrap_or(&[])) else { break };
        from = at + next;
    }
    walk.finish(part);
}

fn offset(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

/// Line numbers of byte offsets.
struct Lines<'t> {
    text: &'t str,
    ends: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, ends: memchr::memchr_iter(b'\n', text.as_bytes()).collect() }
    }

    fn number(&self, at: usize) -> u32 {
        u32::try_from(self.ends.partition_point(|e| *e < at) + 1).unwrap_or(u32::MAX)
    }

    fn quote(&self, number: u32) -> &'t str {
        let i = number as usize - 1;
        let start = if i == 0 { 0 } else { self.ends[i - 1] + 1 };
        let end = self.ends.get(i).copied().unwrap_or(self.text.len());
        &self.text[start..end]
    }
}

struct Walk<'t> {
    lines: Lines<'t>,
    readings: Readings,
    log: Log<'t>,
    /// Names of the open elements below the GPU, or below the log, and where each began.
    open: Vec<(String, usize)>,
    in_gpu: bool,
    /// Text of the innermost element, and where it began.
    text: String,
    text_at: usize,
    /// The innermost element has had no child.
    leaf: bool,
    closed: bool,
}

impl<'t> Walk<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            lines: Lines::new(text),
            readings: Readings::new(Form::Xml),
            log: Log::default(),
            open: Vec::new(),
            in_gpu: false,
            text: String::new(),
            text_at: 0,
            leaf: false,
            closed: true,
        }
    }

    fn event(&mut self, event: &Event<'_>, at: usize, part: &mut Part) {
        match event {
            Event::Decl(_) | Event::DocType(_) => self.end_log(false, part),
            Event::Start(e) => self.start(e, at, part),
            Event::Empty(e) => {
                self.start(e, at, part);
                self.end(e.name().as_ref(), part);
            }
            Event::End(e) => self.end(e.name().as_ref(), part),
            Event::Text(e) => self.text.push_str(&e.xml10_content()),
            Event::CData(e) => self.text.push_str(&e.xml10_content()),
            Event::GeneralRef(e) => self.text.push_str(&entity(&e.xml10_content())),
            _ => {}
        }
    }

    fn start(&mut self, e: &BytesStart<'_>, at: usize, part: &mut Part) {
        let name = e.name();
        let name = name.as_ref();
        self.text.clear();
        self.text_at = at;
        self.leaf = true;
        if name == "nvidia_smi_log" {
            self.end_log(false, part);
            self.closed = false;
            return;
        }
        if name == "gpu"
            && let Some(id) = self.gpu_id(e, at)
        {
            self.log.gpu(id);
            self.open.clear();
            self.in_gpu = true;
            return;
        }
        match name {
            "mig_device" => self.slot(name, Scope::Mig),
            "process_info" => self.slot(name, Scope::Process),
            _ => {}
        }
        if self.open.len() < DEPTH_MAX {
            self.open.push((name.to_owned(), at + 1));
        }
    }

    /// The id of `<gpu id="00000000:3B:00.0">`, from the text itself so that it can be quoted.
    fn gpu_id(&self, e: &BytesStart<'_>, at: usize) -> Option<Option<(&'t str, At<'t>)>> {
        let id = e.try_get_attribute("id").ok()??;
        let line = self.lines.number(at);
        let quote = self.lines.quote(line);
        let bus = quote.find(id.value.as_ref()).map(|from| &quote[from..from + id.value.len()]);
        Some(bus.filter(|b| crate::fact::bus_id(b).is_some()).map(|b| (b, At { line, quote })))
    }

    fn slot(&mut self, name: &str, scope: Scope) {
        // Where the end of the device or process before is missing, it ends here.
        if let Some(at) = self.open.iter().rposition(|o| o.0 == name) {
            self.open.truncate(at);
        }
        self.log.slot(scope);
    }

    fn end(&mut self, name: &str, part: &mut Part) {
        if name == "nvidia_smi_log" {
            self.end_log(true, part);
            return;
        }
        let Some(at) = self.open.iter().rposition(|o| o.0 == name) else {
            match name {
                "gpu" => {
                    self.open.clear();
                    self.in_gpu = false;
                }
                // One whose beginning is missing still counts among its siblings.
                "mig_device" => self.log.slot(Scope::Mig),
                "process_info" => self.log.slot(Scope::Process),
                _ => {}
            }
            self.leaf = false;
            return;
        };
        if self.leaf && at + 1 == self.open.len() {
            self.value();
        }
        if name == "mig_devices"
            && let Some(gpu) = self.log.gpus.last_mut()
        {
            gpu.migs_whole = self.leaf || gpu.has_migs();
        }
        self.open.truncate(at);
        self.leaf = false;
    }

    fn value(&mut self) {
        let line = self.lines.number(self.text_at);
        let at = At { line, quote: self.lines.quote(line) };
        let path = self.open.iter().map(|o| o.0.as_str()).collect::<Vec<_>>().join("/");
        let text = self.text.trim();
        if let Some(found) = find(Form::Xml, &path) {
            let section = self.open.len().checked_sub(2).map_or(0, |i| self.open[i].1);
            self.log.push(Entry { found, text: Cow::Owned(text.to_owned()), at, section, cut: false });
        } else if value::is_lost(text) && self.in_gpu {
            self.log.lost(at);
        }
    }

    fn end_log(&mut self, whole: bool, part: &mut Part) {
        self.readings.add(&std::mem::take(&mut self.log), whole, part);
        self.open.clear();
        self.in_gpu = false;
        self.closed = true;
    }

    fn finish(mut self, part: &mut Part) {
        if !self.closed {
            part.note(None, "The XML breaks off before its end; what came before was read.");
        }
        self.end_log(false, part);
        self.readings.put(part);
    }
}

/// The character of `&lt;` and its like; what is not known stays as it was.
fn entity(name: &str) -> Cow<'static, str> {
    if let Some(c) = quick_xml::escape::resolve_predefined_entity(name) {
        return Cow::Borrowed(c);
    }
    let number = name.strip_prefix('#').and_then(|n| match n.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => n.parse().ok(),
    });
    match number.and_then(char::from_u32) {
        Some(c) => Cow::Owned(c.to_string()),
        None => Cow::Owned(format!("&{name};")),
    }
}
