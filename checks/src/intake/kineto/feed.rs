//! Brings a stream in blocks. Where threads exist, reading (and with it decompression) goes on while the blocks before
//! are parsed.

use std::io::{ErrorKind, Read};

/// Bytes a block.
const BLOCK: usize = 256 << 10;

/// Where blocks come from.
pub(super) trait Feed {
    /// Appends one block; false at the end.
    fn next(&mut self, to: &mut Vec<u8>) -> bool;
}

/// Reads one block; false at the end or when the stream fails (its error is the stream's business).
fn block(read: &mut impl Read, to: &mut Vec<u8>) -> bool {
    let from = to.len();
    to.resize(from + BLOCK, 0);
    let mut n = 0;
    while n < BLOCK {
        match read.read(&mut to[from + n..]) {
            Ok(0) => break,
            Ok(k) => n += k,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    to.truncate(from + n);
    n > 0
}

struct Direct<R>(R);

impl<R: Read> Feed for Direct<R> {
    fn next(&mut self, to: &mut Vec<u8>) -> bool {
        block(&mut self.0, to)
    }
}

/// Runs a parser over a stream.
#[cfg(target_family = "wasm")]
pub(super) fn pump<T>(read: impl Read, parse: impl FnOnce(&mut dyn Feed) -> T) -> T {
    parse(&mut Direct(read))
}

/// Runs a parser over a stream, on a thread of its own if the stream is longer than one block.
#[cfg(not(target_family = "wasm"))]
pub(super) fn pump<T: Send>(mut read: impl Read, parse: impl FnOnce(&mut dyn Feed) -> T + Send) -> T {
    use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};

    /// Blocks that wait for the parser at most.
    const AHEAD: usize = 8;

    struct Ahead {
        full: Receiver<Vec<u8>>,
        empty: Sender<Vec<u8>>,
    }
    impl Feed for Ahead {
        fn next(&mut self, to: &mut Vec<u8>) -> bool {
            let Ok(mut block) = self.full.recv() else { return false };
            to.extend_from_slice(&block);
            block.clear();
            // The reader may have finished and gone.
            let _ = self.empty.send(block);
            true
        }
    }

    let mut first = Vec::new();
    if !block(&mut read, &mut first) || first.len() < BLOCK {
        return parse(&mut Direct(std::io::Cursor::new(first).chain(read)));
    }
    std::thread::scope(|scope| {
        let (full_in, full) = sync_channel::<Vec<u8>>(AHEAD);
        let (empty, empty_out) = channel::<Vec<u8>>();
        let parser = scope.spawn(move || parse(&mut Ahead { full, empty }));
        let mut next = first;
        while full_in.send(next).is_ok() {
            next = empty_out.try_recv().unwrap_or_default();
            if !block(&mut read, &mut next) {
                break;
            }
        }
        drop(full_in);
        match parser.join() {
            Ok(out) => out,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
