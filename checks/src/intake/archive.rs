//! Archives: tar (the compression around it is already off) and zip. Names are labels: nothing is ever written, so that
//! `../` in one means nothing.
//!
//! Sizes are bounded by what comes out, not by what an entry claims. It does not know what the files are.

use std::io::{Cursor, Read};

use super::decode::{self, Decoded};
use super::parts::Parts;
use super::{Kind, read};

/// Largest zip that is opened: its directory stands at the end, so that it is held in memory.
const ZIP_MAX: u64 = 128 << 20;
/// Entries that are looked at.
const ENTRIES_MAX: usize = 4096;
/// Bytes that are unpacked from one archive, all entries together.
const UNPACKED_MAX: u64 = 4 << 30;
/// Entries that are named in the note about what was not read.
const NAMED: usize = 8;

/// What opens a stream with this head, if it is an archive.
pub(super) fn opener(head: &[u8]) -> Option<fn(&mut Decoded<'_>, &mut Parts)> {
    let magic = head.get(257..262);
    match head {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(zip),
        _ if magic == Some(b"ustar") => Some(tar),
        _ => None,
    }
}

/// An archive that is being read.
struct Archive<'p> {
    parts: &'p mut Parts,
    at: usize,
    unpacked: u64,
    entries: usize,
    unread: Vec<String>,
    notes: Vec<String>,
    kind: Kind,
}

impl<'p> Archive<'p> {
    fn new(parts: &'p mut Parts, bytes: u64) -> Self {
        let mut part = parts.start(Kind::Archive);
        part.bytes = bytes;
        let at = parts.len();
        parts.push("", part);
        Self { parts, at, unpacked: 0, entries: 0, unread: Vec::new(), notes: Vec::new(), kind: Kind::Archive }
    }

    /// Reads an entry; false if there is no room for more.
    fn entry(&mut self, name: &str, read: impl Read) -> bool {
        self.entries += 1;
        if self.entries > ENTRIES_MAX {
            self.notes.push(format!("Only the first {ENTRIES_MAX} entries were read."));
            return false;
        }
        let Some(left) = UNPACKED_MAX.checked_sub(self.unpacked).filter(|l| *l > 0) else {
            self.notes.push(format!("Only the first {} GiB were unpacked.", UNPACKED_MAX >> 30));
            return false;
        };
        let file = name.rsplit('/').next().unwrap_or(name);
        // What macOS adds to archives.
        if file.starts_with("._") || file == ".DS_Store" || name.contains("__MACOSX/") {
            return true;
        }
        match file {
            "manifest.json" if !name.trim_start_matches("./").contains("../") => {
                self.kind = Kind::Bundle;
                return true;
            }
            "run.json" if self.kind == Kind::Archive => self.kind = Kind::Recording,
            _ => {}
        }
        let label = label(name);
        match decode::open(read.take(left)) {
            Ok(mut decoded) => {
                if !self.parts.nested(&label, |parts| read::stream(&mut decoded, parts)) {
                    self.unread.push(label);
                }
                self.unpacked += decoded.bytes();
            }
            // An empty file is nothing to speak of.
            Err(_) if file.starts_with('.') => {}
            Err(_) => self.unread.push(label),
        }
        true
    }

    fn finish(self) {
        let run = self.parts.since(self.at).iter().find_map(|(_, p)| p.run.clone());
        let list = self.parts.since(self.at);
        for (_, part) in list.iter_mut() {
            part.run = part.run.take().or_else(|| run.clone());
        }
        let nothing = list.len() == 1;
        let Some((_, part)) = list.first_mut() else { return };
        part.kind = self.kind;
        for note in self.notes {
            part.note(None, note);
        }
        if !self.unread.is_empty() {
            let more = self.unread.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let names: Vec<String> = self.unread.into_iter().take(NAMED).collect();
            part.note(None, format!("Not recognised: {}{more}.", names.join(", ")));
        } else if nothing {
            part.note(None, "The archive is empty.");
        }
    }
}

/// A name as it is shown: no control characters, not endless.
fn label(name: &str) -> String {
    name.trim_start_matches("./").chars().map(|c| if c.is_control() { '?' } else { c }).take(200).collect()
}

fn tar(decoded: &mut Decoded<'_>, parts: &mut Parts) {
    let mut archive = Archive::new(parts, 0);
    let mut broken = None;
    {
        let mut tar = tar::Archive::new(decoded.stream());
        match tar.entries() {
            Ok(entries) => {
                for entry in entries {
                    let entry = match entry {
                        Ok(e) => e,
                        Err(e) => {
                            broken = Some(e.to_string());
                            break;
                        }
                    };
                    if !entry.header().entry_type().is_file() {
                        continue;
                    }
                    let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
                    if !archive.entry(&name, entry) {
                        break;
                    }
                }
            }
            Err(e) => broken = Some(e.to_string()),
        }
    }
    if let Some(e) = broken {
        archive.notes.push(format!("The archive breaks off: {e}."));
    }
    let at = archive.at;
    archive.finish();
    if let Some((_, part)) = parts.since(at).first_mut() {
        part.bytes = decoded.bytes();
    }
}

fn zip(decoded: &mut Decoded<'_>, parts: &mut Parts) {
    let mut bytes = Vec::new();
    let read = decoded.stream().take(ZIP_MAX + 1).read_to_end(&mut bytes);
    let mut archive = Archive::new(parts, bytes.len() as u64);
    if let Err(e) = read {
        archive.notes.push(format!("The archive could not be read: {e}."));
    } else if bytes.len() as u64 > ZIP_MAX {
        archive.notes.push(format!("Zip files above {} MiB are not opened; unpack it first.", ZIP_MAX >> 20));
    } else {
        match zip::ZipArchive::new(Cursor::new(&bytes)) {
            Ok(mut zip) => {
                for i in 0..zip.len() {
                    match zip.by_index(i) {
                        Ok(entry) if entry.is_file() => {
                            let name = entry.name().map_or_else(|_| format!("entry {i}"), std::borrow::Cow::into_owned);
                            if !archive.entry(&name, entry) {
                                break;
                            }
                        }
                        Ok(_) => {}
                        Err(e) => archive.notes.push(format!("An entry could not be read: {e}.")),
                    }
                    if archive.notes.len() > NAMED {
                        break;
                    }
                }
            }
            Err(e) => archive.notes.push(format!("The archive could not be opened: {e}.")),
        }
    }
    archive.finish();
}
