//! Raw inputs as readers and as lines: chunks of a run joined into files, and windows of decoded text.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};

use checks::intake::decode;
use checks::report::Input;

/// Most lines in one window.
const LINES_MAX: usize = 2000;
/// Longest line that is shown, in characters; the rest is cut with a mark.
const LINE_MAX: usize = 4000;
/// Most characters in one window, so that a window of long lines stays a page.
const WINDOW_MAX: usize = 1 << 20;

type Reader = Box<dyn Read + Send>;

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
/// is wanted, `first` counts from 1.
///
/// # Errors
/// Nothing can be decoded; the text says why.
pub(super) fn window(
    file: impl Read,
    inputs: &[Input],
    n: usize,
    first: usize,
    count: usize,
) -> Result<Window, String> {
    let input = inputs.get(n).ok_or("There is no such input.")?;
    let mut decoded = decode::open(file)?;
    if !decoded.is_text() {
        return Err("This input is binary data; it can be downloaded, not shown.".into());
    }
    let (text, _) = decoded.text();
    let starts_at = input.first_line.max(1) as usize;
    let ends_before = inputs
        .iter()
        .filter(|i| i.file == input.file && i.first_line > input.first_line)
        .map(|i| i.first_line as usize)
        .min()
        .unwrap_or(usize::MAX);
    let part: Vec<&str> = text.lines().skip(starts_at - 1).take(ends_before.saturating_sub(starts_at)).collect();
    Ok(cut(&part, first, count))
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

    fn input(first_line: u32, file: u32) -> Input {
        Input { name: "f".into(), kind: "unknown".into(), bytes: 0, notes: Vec::new(), first_line, file }
    }

    #[test]
    fn a_window_counts_within_its_part() {
        let text = "1\n2\n3\n4\n5\n6\n";
        let inputs = [input(1, 0), input(4, 0), input(1, 1)];
        let lines = |n, first, count| window(text.as_bytes(), &inputs, n, first, count).unwrap();
        assert_eq!(lines(0, 1, 9), Window { first: 1, lines: vec!["1".into(), "2".into(), "3".into()], total: 3 });
        assert_eq!(lines(1, 2, 1), Window { first: 2, lines: vec!["5".into()], total: 3 });
        assert_eq!(lines(2, 99, 9), Window { first: 6, lines: vec!["6".into()], total: 6 });
        assert!(window(text.as_bytes(), &inputs, 3, 1, 1).is_err());
    }

    #[test]
    fn a_line_of_10_mb_is_cut_and_said_to_be() {
        let line = "é".repeat(5 << 20);
        let w = window(line.as_bytes(), &[input(1, 0)], 0, 1, 10).unwrap();
        assert_eq!(w.total, 1);
        assert!(w.lines[0].len() < 10_000 && w.lines[0].contains("10485760 bytes"), "{}", w.lines[0].len());
    }
}
