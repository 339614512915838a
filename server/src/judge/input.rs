//! Raw inputs as readers and as lines: chunks of a run joined into files, and windows of decoded text.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};

use checks::intake::{self, decode};
use checks::report::Input;

/// Most lines in one window.
const LINES_MAX: usize = 2000;
/// Longest line that is shown, in characters; the rest is cut with a mark.
const LINE_MAX: usize = 4000;
/// Most characters in one window, so that a window of long lines stays a page.
const WINDOW_MAX: usize = 1 << 20;

/// A file's bytes.
pub(super) type Reader = Box<dyn Read + Send>;

/// The pieces of a file as one stream. With `lines` each piece holds whole lines and may be compressed on its own;
/// otherwise they are the file's bytes, cut anywhere.
pub(super) fn joined(mut pieces: Vec<Reader>, lines: bool) -> Reader {
    if pieces.len() == 1
        && let Some(only) = pieces.pop()
    {
        return only;
    }
    let rest = VecDeque::from(pieces);
    Box::new(Joined { rest, piece: None, lines, last: b'\n' })
}

struct Joined {
    rest: VecDeque<Reader>,
    piece: Option<Reader>,
    lines: bool,
    last: u8,
}

impl Read for Joined {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(piece) = &mut self.piece {
                let n = piece.read(buf)?;
                if n > 0 {
                    self.last = buf[n - 1];
                    return Ok(n);
                }
                self.piece = None;
                if self.lines && self.last != b'\n' {
                    self.last = b'\n';
                    buf[0] = b'\n';
                    return Ok(1);
                }
            }
            let Some(next) = self.rest.pop_front() else { return Ok(0) };
            self.piece = Some(if self.lines { unpacked(next)? } else { next });
        }
    }
}

fn unpacked(reader: Reader) -> io::Result<Reader> {
    let mut reader = BufReader::new(reader);
    let head = reader.fill_buf()?;
    Ok(match head {
        [0x1f, 0x8b, 0x08, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(reader)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(zstd::Decoder::with_buffer(reader)?),
        _ => Box::new(reader),
    })
}

/// Lines of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Number of the first line shown, from 1, counted within the input.
    pub first: usize,
    /// Lines shown.
    pub lines: Vec<String>,
    /// Lines that the input has.
    pub total: usize,
}

/// Decodes the file that an input came from and cuts out lines. `inputs` are all inputs of the report, `n` the one that
/// is wanted, `first` counts from 1. `open` reads the file from its start.
///
/// # Errors
/// Nothing can be decoded; the text says why.
pub(super) fn window(
    open: impl Fn() -> Result<Reader, String>,
    inputs: &[Input],
    n: usize,
    first: usize,
    count: usize,
) -> Result<Window, String> {
    let input = inputs.get(n).ok_or("There is no such input.")?;
    let before = inputs[..n].iter().rev().take_while(|i| i.file == input.file).count();
    let text = match intake::part_text(open()?, before) {
        Some(text) => text,
        // Formats that are read from the stream keep no text; where they are text, they are the whole file.
        None => {
            let mut decoded = decode::open(open()?)?;
            if !decoded.is_text() {
                return Err("This input is binary data; it can be downloaded, not shown.".into());
            }
            decoded.text().0
        }
    };
    let lines: Vec<&str> = text.lines().collect();
    Ok(cut(&lines, first, count))
}

fn cut(lines: &[&str], first: usize, count: usize) -> Window {
    let first = first.clamp(1, lines.len().max(1));
    let mut room = WINDOW_MAX;
    let mut out = Vec::new();
    for line in lines.iter().skip(first - 1).take(count.min(LINES_MAX)) {
        let shown = match line.char_indices().nth(LINE_MAX) {
            Some((end, _)) => format!("{}… (the line goes on, {} bytes in all)", &line[..end], line.len()),
            None => (*line).to_owned(),
        };
        // At least one line, or a window at a long line would be empty for ever.
        if shown.len() > room && !out.is_empty() {
            break;
        }
        room = room.saturating_sub(shown.len());
        out.push(shown);
    }
    Window { first, lines: out, total: lines.len() }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::io::{Cursor, Write};

    use super::*;

    fn piece(data: &[u8]) -> Reader {
        Box::new(Cursor::new(data.to_vec()))
    }

    fn read(mut r: Reader) -> Vec<u8> {
        let mut out = Vec::new();
        r.read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn pieces_with_lines_are_opened_one_by_one_and_never_run_together() {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(b"b\nc").unwrap();
        let zst = zstd::encode_all(&b"d\n"[..], 1).unwrap();
        let pieces = vec![piece(b"a\n"), piece(&gz.finish().unwrap()), piece(&zst), piece(b""), piece(b"e")];
        assert_eq!(read(joined(pieces, true)), b"a\nb\nc\nd\ne\n");
    }

    #[test]
    fn pieces_of_a_file_are_put_together_byte_by_byte() {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(b"whole file").unwrap();
        let gz = gz.finish().unwrap();
        let (a, b) = gz.split_at(9);
        assert_eq!(read(joined(vec![piece(a), piece(b)], false)), gz);
        assert_eq!(read(joined(Vec::new(), false)), b"");
    }

    fn shown(text: &str, n: usize, first: usize, count: usize) -> Result<Window, String> {
        let mut read = intake::Intake::new();
        read.add("f", text.as_bytes());
        read.add("other", &b"other"[..]);
        window(|| Ok(piece(text.as_bytes())), read.inputs(), n, first, count)
    }

    #[test]
    fn a_window_counts_within_the_part_that_the_report_counts_in() {
        let smi = |host: &str| format!("==============NVSMI LOG==============\n\nDriver Version : {host}\n");
        let snapshot = serde_json::json!({
            "v": 1, "kind": "snapshot", "node": {"name": "n"},
            "raw": [{"name": "nvidia-smi-q", "text": smi("570.1")}, {"name": "dmesg", "text": "[    1.0] a\n[    2.0] b\n"}],
        });
        let w = shown(&snapshot.to_string(), 1, 3, 1).unwrap();
        assert_eq!(w, Window { first: 3, lines: vec!["Driver Version : 570.1".into()], total: 3 });
        assert!(shown(&snapshot.to_string(), 0, 1, 1).unwrap().lines[0].starts_with("{\"kind\""));
        let plain = "1\n2\n3\n";
        assert_eq!(shown(plain, 0, 2, 9).unwrap(), Window { first: 2, lines: vec!["2".into(), "3".into()], total: 3 });
        assert_eq!(shown(plain, 0, 99, 9).unwrap(), Window { first: 3, lines: vec!["3".into()], total: 3 });
        assert!(shown(plain, 9, 1, 1).is_err());
        assert!(shown("\0\u{1}\0", 0, 1, 1).is_err_and(|e| e.contains("binary")));
    }

    #[test]
    fn a_line_of_10_mb_is_cut_and_said_to_be() {
        let line = "é".repeat(5 << 20);
        let w = shown(&line, 0, 1, 10).unwrap();
        assert_eq!(w.total, 1);
        assert!(w.lines[0].len() < 10_000 && w.lines[0].contains("10485760 bytes"), "{}", w.lines[0].len());
    }
}
