//! From raw bytes to text: decompression, character sets, line ends and terminal escapes, all within bounded memory.
//!
//! It does not know any format beyond those containers.

use std::io::{self, Read};

/// Most decoded text that is kept in memory. Formats that can be larger read the stream instead.
pub const TEXT_MAX: usize = 96 << 20;
/// Bytes that are read at a time of a text that is larger.
pub const CHUNK: usize = 8 << 20;
/// Bytes that are looked at to recognise a format.
pub const HEAD: usize = 64 << 10;
/// Compressed layers that are opened (a `.gz` inside a `.zst`), against endless nesting.
const LAYERS: usize = 3;

/// A decompressed stream with its head already read.
pub struct Decoded<'a> {
    /// First bytes, at most [`HEAD`].
    pub head: Vec<u8>,
    rest: Box<dyn Read + 'a>,
    /// Set when the stream ended in an error.
    pub error: Option<String>,
    read: u64,
    /// Bytes behind the last line that [`Self::text`] or [`Self::more`] gave.
    carry: Vec<u8>,
    order: Option<Utf16>,
}

impl std::fmt::Debug for Decoded<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoded").field("head", &self.head.len()).field("error", &self.error).finish_non_exhaustive()
    }
}

/// Opens a stream, through gzip and zstd.
///
/// # Errors
/// Nothing at all could be read; the text says why.
pub fn open<'a>(read: impl Read + 'a) -> Result<Decoded<'a>, String> {
    let mut stream: Box<dyn Read + 'a> = Box::new(read);
    for layer in 0..=LAYERS {
        let (head, error) = peek(&mut stream);
        let packed = packing(&head);
        if head.is_empty() {
            return Err(match error {
                Some(e) => format!("The data could not be read: {e}."),
                None if layer > 0 => "The archive is empty.".into(),
                None => "The file is empty.".into(),
            });
        }
        let Some(packing) = packed else {
            return Ok(Decoded { read: head.len() as u64, head, rest: stream, error, carry: Vec::new(), order: None });
        };
        if layer == LAYERS {
            return Err(format!("Compressed more than {LAYERS} times; unpack it first."));
        }
        let whole: Box<dyn Read + 'a> = Box::new(io::Cursor::new(head).chain(stream));
        stream = match packing {
            Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(whole)),
            Packing::Zstd => zstd_reader(whole)?,
        };
    }
    Err("Compressed too many times.".into())
}

enum Packing {
    Gzip,
    Zstd,
}

fn packing(head: &[u8]) -> Option<Packing> {
    match head {
        [0x1f, 0x8b, 0x08, ..] => Some(Packing::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
        _ => None,
    }
}

#[cfg(not(target_family = "wasm"))]
fn zstd_reader<'a>(read: Box<dyn Read + 'a>) -> Result<Box<dyn Read + 'a>, String> {
    let mut d =
        zstd::stream::read::Decoder::new(read).map_err(|e| format!("The zstd data could not be opened: {e}."))?;
    // 2^27 = 128 MiB is what the zstd tool itself accepts; a larger window is refused instead of allocated.
    d.window_log_max(27).map_err(|e| format!("The zstd data could not be opened: {e}."))?;
    Ok(Box::new(d))
}

#[cfg(target_family = "wasm")]
fn zstd_reader<'a>(read: Box<dyn Read + 'a>) -> Result<Box<dyn Read + 'a>, String> {
    let d = ruzstd::decoding::StreamingDecoder::new(read)
        .map_err(|e| format!("The zstd data could not be opened: {e}."))?;
    Ok(Box::new(d))
}

fn peek(read: &mut dyn Read) -> (Vec<u8>, Option<String>) {
    let mut head = vec![0; HEAD];
    let mut n = 0;
    let mut error = None;
    while n < HEAD {
        match read.read(&mut head[n..]) {
            Ok(0) => break,
            Ok(k) => n += k,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => {
                error = Some(e.to_string());
                break;
            }
        }
    }
    head.truncate(n);
    (head, error)
}

impl<'a> Decoded<'a> {
    /// The whole stream, head included, for formats that are read as a stream.
    pub fn stream(&mut self) -> impl Read + use<'_, 'a> {
        let head = self.head.clone();
        io::Cursor::new(head).chain(Counting { inner: &mut *self.rest, read: &mut self.read, error: &mut self.error })
    }

    /// Decompressed bytes read so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.read
    }

    /// True if the head looks like text (no NUL bytes, or UTF-16).
    #[must_use]
    pub fn is_text(&self) -> bool {
        utf16(&self.head).is_some() || !self.head.contains(&0)
    }

    /// The whole text: UTF-8 (invalid bytes replaced) or UTF-16, line ends as `\n`, terminal escapes removed. The flag
    /// says that there is more than [`TEXT_MAX`]; [`Self::more`] goes on behind the last whole line.
    pub fn text(&mut self) -> (String, bool) {
        let mut bytes = std::mem::take(&mut self.head);
        self.order = utf16(&bytes);
        let room = TEXT_MAX.saturating_sub(bytes.len()) as u64;
        self.fill(&mut bytes, room + 1);
        let cut = bytes.len() > TEXT_MAX;
        if cut {
            self.carry = bytes.split_off(self.last_line(&bytes[..TEXT_MAX]));
        }
        (clean(to_utf8(bytes, self.order)), cut)
    }

    /// The next whole lines of a text that was cut, about [`CHUNK`] bytes.
    pub fn more(&mut self) -> Option<String> {
        let mut bytes = std::mem::take(&mut self.carry);
        self.fill(&mut bytes, CHUNK as u64);
        if bytes.is_empty() {
            return None;
        }
        // Less than was asked for is the end of the stream.
        if bytes.len() >= CHUNK {
            self.carry = bytes.split_off(self.last_line(&bytes));
        }
        Some(clean(to_utf8(bytes, self.order)))
    }

    fn fill(&mut self, bytes: &mut Vec<u8>, most: u64) {
        let before = bytes.len();
        if self.error.is_none()
            && let Err(e) = self.rest.by_ref().take(most).read_to_end(bytes)
        {
            self.error = Some(e.to_string());
        }
        self.read += (bytes.len() - before) as u64;
    }

    /// Where the last whole line ends; all of it if there is no line end.
    fn last_line(&self, bytes: &[u8]) -> usize {
        match self.order {
            None => memchr::memrchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1),
            Some(order) => {
                let unit = |p: &[u8]| order.unit(p) == u16::from(b'\n');
                let units = bytes.chunks_exact(2).rposition(unit).map_or(bytes.len() / 2, |at| at + 1);
                units * 2
            }
        }
    }
}

struct Counting<'r, 'a> {
    inner: &'r mut (dyn Read + 'a),
    read: &'r mut u64,
    error: &'r mut Option<String>,
}

impl Read for Counting<'_, '_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buf) {
            Ok(n) => {
                *self.read += n as u64;
                Ok(n)
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Err(e),
            // A stream that breaks off is read as far as it goes; the note says so.
            Err(e) => {
                *self.error = Some(e.to_string());
                Ok(0)
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Utf16 {
    Le,
    Be,
}

impl Utf16 {
    fn unit(self, pair: &[u8]) -> u16 {
        match self {
            Self::Le => u16::from_le_bytes([pair[0], pair[1]]),
            Self::Be => u16::from_be_bytes([pair[0], pair[1]]),
        }
    }
}

fn utf16(head: &[u8]) -> Option<Utf16> {
    match head {
        [0xff, 0xfe, ..] => return Some(Utf16::Le),
        [0xfe, 0xff, ..] => return Some(Utf16::Be),
        _ => {}
    }
    // Without a byte-order mark: ASCII text in UTF-16 has a NUL in every other byte.
    let sample = &head[..head.len().min(512) & !1];
    if sample.len() < 16 {
        return None;
    }
    let zeros = |odd: usize| sample.iter().skip(odd).step_by(2).filter(|b| **b == 0).count();
    let half = sample.len() / 2;
    match (zeros(0), zeros(1)) {
        (0, n) if n * 10 >= half * 9 => Some(Utf16::Le),
        (n, 0) if n * 10 >= half * 9 => Some(Utf16::Be),
        _ => None,
    }
}

fn to_utf8(bytes: Vec<u8>, order: Option<Utf16>) -> String {
    if let Some(order) = order {
        let units = bytes.chunks_exact(2).map(|p| order.unit(p));
        return char::decode_utf16(units)
            .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
            .filter(|c| *c != '\u{feff}')
            .collect();
    }
    match String::from_utf8(bytes) {
        Ok(s) => s.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(s),
        Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned(),
    }
}

/// `\r\n` and lone `\r` become `\n`; ANSI escape sequences go. Lines keep their numbers, but for a lone `\r`, which is
/// a line end too (progress bars).
#[must_use]
pub fn clean(text: String) -> String {
    if memchr::memchr2(b'\r', 0x1b, text.as_bytes()).is_none() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = memchr::memchr2(b'\r', 0x1b, rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let tail = &rest[at..];
        if let Some(t) = tail.strip_prefix("\r\n") {
            out.push('\n');
            rest = t;
        } else if let Some(t) = tail.strip_prefix('\r') {
            out.push('\n');
            rest = t;
        } else {
            rest = after_escape(tail);
        }
    }
    out.push_str(rest);
    out
}

/// What follows an escape sequence; `tail` starts with ESC.
fn after_escape(tail: &str) -> &str {
    let body = &tail[1..];
    let end = match body.as_bytes().first() {
        Some(b'[') => body.bytes().skip(1).position(|b| (0x40..=0x7e).contains(&b)).map(|p| p + 2),
        Some(b']') => body.bytes().position(|b| b == 0x07).map(|p| p + 1),
        Some(b) if b.is_ascii() => Some(1),
        _ => Some(0),
    };
    end.map_or(body, |e| &body[e..])
}
