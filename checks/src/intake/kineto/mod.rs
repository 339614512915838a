//! Profiler traces in Chrome's event format, as Kineto (PyTorch) and ROCm write them: read as a stream, in memory that
//! depends on the number of events and not on the size of the file.
//!
//! It finds the list of events and the descriptions around it; what the events mean is worked out in [`crate::trace`].

mod cursor;
mod event;
mod feed;
mod meta;

use std::io::Read;

use cursor::{Cursor, Skipper, Stop};
use event::{Filer, Raw};
use feed::Feed;

use super::Part;
use super::decode::Decoded;
use crate::trace::record::Recording;

/// Largest event that is read; a larger one is passed over and counted.
const MAX_EVENT: usize = 4 << 20;
/// Largest description outside the list of events that is read.
const MAX_VALUE: usize = 1 << 20;

/// True if the head of a file looks like a trace.
pub(super) fn looks(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if !matches!(head.first(), Some(b'{' | b'[')) {
        return false;
    }
    let key = |k: &str| memchr::memmem::find(head, k.as_bytes()).is_some();
    key("\"traceEvents\"")
        || (key("\"schemaVersion\"") && (key("\"deviceProperties\"") || key("\"computeProperties\"")))
        || (key("\"distributedInfo\"") && key("\"displayTimeUnit\""))
        || (head[0] == b'[' && key("\"ph\"") && key("\"ts\"") && key("\"pid\""))
}

/// Reads a trace into facts and notes.
pub(super) fn parse(decoded: &mut Decoded<'_>, part: &mut Part) {
    let (rec, end) = recording(decoded.stream());
    notes(&rec, end, part);
    crate::trace::file(rec, part);
}

/// Reads a trace into records, without analysing it; `None` if there is no list of events.
#[must_use]
pub fn read(read: impl Read) -> Option<Recording> {
    let (rec, end) = recording(read);
    end.found.then_some(rec)
}

/// How the text ended.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    /// The list of events was found.
    found: bool,
    /// The text breaks off inside the list.
    cut: bool,
    /// Times were written in nanoseconds.
    ts_in_ns: bool,
}

fn notes(rec: &Recording, end: End, part: &mut Part) {
    let mut say = |n: u64, what: &str| {
        if n > 0 {
            part.note(None, format!("{n} event{} {what}", if n == 1 { "" } else { "s" }));
        }
    };
    let d = rec.dropped;
    say(d.broken, "could not be read as JSON and were left out.");
    say(d.bad_time, "have a time that is no number and were left out.");
    say(d.negative, "end before they start and were left out.");
    say(d.no_duration, "have no duration and were left out.");
    say(d.too_large, "are larger than 4 MiB and were left out.");
    say(d.over_limit, "are beyond the number that is kept in memory; the analysis covers the ones before.");
    if !end.found {
        part.note(None, "There is no traceEvents list in it: a summary, not a trace.");
    } else if end.cut {
        part.note(
            None,
            format!("The trace breaks off in the middle; the {} events before that were read.", rec.events),
        );
    }
    if end.ts_in_ns {
        part.note(None, "Times are far beyond this century in µs; they were taken as nanoseconds.");
    }
}

fn recording(read: impl Read) -> (Recording, End) {
    feed::pump(read, |feed| {
        let mut reader = Reader { feed, buf: Vec::new(), at: 0, filer: Filer::default(), end: End::default() };
        reader.document();
        reader.end.ts_in_ns = reader.filer.ts_in_ns == Some(true);
        (reader.filer.rec, reader.end)
    })
}

struct Reader<'f> {
    feed: &'f mut dyn Feed,
    buf: Vec<u8>,
    at: usize,
    filer: Filer,
    end: End,
}

impl Reader<'_> {
    /// Brings more bytes behind the unread ones; false at the end of the text.
    fn more(&mut self) -> bool {
        self.buf.drain(..self.at);
        self.at = 0;
        self.feed.next(&mut self.buf)
    }

    /// The next byte that is neither white space nor a comma.
    fn peek(&mut self) -> Option<u8> {
        loop {
            let mut c = Cursor::new(&self.buf[self.at..]);
            let next = c.next();
            self.at += c.at;
            match next {
                Ok(b) => return Some(b),
                Err(_) if self.more() => {}
                Err(_) => return None,
            }
        }
    }

    fn document(&mut self) {
        if self.peek() == Some(0xef) {
            // A byte-order mark.
            self.at += 3;
        }
        match self.peek() {
            Some(b'[') => {
                self.at += 1;
                self.end.found = true;
                self.events();
            }
            Some(b'{') => {
                self.at += 1;
                while self.entry() {}
            }
            _ => {}
        }
    }

    /// One key of the outermost object with its value; false at the end.
    fn entry(&mut self) -> bool {
        let key = loop {
            let mut c = Cursor::new(&self.buf[self.at..]);
            let key = c.key().map(|k| k.map(<[u8]>::to_vec));
            let used = c.at;
            match key {
                Ok(Some(key)) => {
                    self.at += used;
                    break key;
                }
                Ok(None) | Err(Stop::Bad) => return false,
                Err(Stop::More) if self.buf.len() - self.at > MAX_VALUE || !self.more() => return false,
                Err(Stop::More) => {}
            }
        };
        if key == b"traceEvents" {
            if self.peek() == Some(b'[') {
                self.at += 1;
                self.end.found = true;
                return self.events();
            }
        } else if meta::is_wanted(&key)
            && let Some(value) = self.value()
        {
            meta::take(&key, &value, &mut self.filer.rec);
            return true;
        }
        self.skip()
    }

    /// A whole value, if it is not too large; otherwise nothing is taken.
    fn value(&mut self) -> Option<Vec<u8>> {
        loop {
            let mut c = Cursor::new(&self.buf[self.at..]);
            match c.skip() {
                Ok(()) => {
                    let value = c.slice(0, c.at).to_vec();
                    self.at += c.at;
                    return Some(value);
                }
                Err(Stop::Bad) => return None,
                Err(Stop::More) if self.buf.len() - self.at > MAX_VALUE || !self.more() => return None,
                Err(Stop::More) => {}
            }
        }
    }

    /// Passes over a value of any size; false if the text ends inside it.
    fn skip(&mut self) -> bool {
        let mut skipper = Skipper::default();
        loop {
            let (n, end) = skipper.feed(&self.buf[self.at..]);
            self.at += n;
            if end {
                return true;
            }
            if !self.more() {
                return false;
            }
        }
    }

    /// The list of events; true if it was closed.
    fn events(&mut self) -> bool {
        loop {
            match self.run() {
                Run::Closed => return true,
                Run::More if self.buf.len() - self.at > MAX_EVENT => {
                    self.filer.rec.dropped.too_large += 1;
                    if !self.skip() {
                        self.end.cut = true;
                        return false;
                    }
                }
                Run::More if self.more() => {}
                Run::More => {
                    self.end.cut = true;
                    return false;
                }
                Run::Bad => {
                    self.filer.rec.dropped.broken += 1;
                    if !self.resume() {
                        self.end.cut = true;
                        return false;
                    }
                }
            }
        }
    }

    /// Reads events as long as whole ones are there.
    fn run(&mut self) -> Run {
        let mut c = Cursor::new(&self.buf[self.at..]);
        let base = self.at;
        let out = loop {
            match c.next() {
                Ok(b'{') => {}
                Ok(b']') => {
                    c.at += 1;
                    break Run::Closed;
                }
                Ok(_) => break Run::Bad,
                Err(_) => break Run::More,
            }
            let start = c.at;
            match Raw::read(&mut c) {
                Ok(raw) => self.filer.file(&raw),
                Err(stop) => {
                    c.at = start;
                    break if stop == Stop::More { Run::More } else { Run::Bad };
                }
            }
        };
        self.at = base + c.at;
        out
    }

    /// After a broken event: goes to the brace before the next `"ph"` that is not the broken one's own.
    fn resume(&mut self) -> bool {
        self.at += 1;
        loop {
            let rest = &self.buf[self.at..];
            let mut from = 0;
            while let Some(p) = memchr::memmem::find(&rest[from..], b"\"ph\"") {
                let p = from + p;
                if let Some(brace) = memchr::memrchr(b'{', &rest[..p]) {
                    self.at += brace;
                    return true;
                }
                from = p + 4;
            }
            // Nothing here: keep a tail in which the mark may have begun.
            let keep = memchr::memrchr(b'{', rest).map_or(rest.len().min(4096), |b| rest.len() - b);
            self.at = self.buf.len() - keep.min(MAX_EVENT).min(rest.len());
            if !self.more() {
                return false;
            }
        }
    }
}

enum Run {
    Closed,
    More,
    Bad,
}
