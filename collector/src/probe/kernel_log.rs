//! The kernel log as text: from `/dev/kmsg`, or from `dmesg` or the journal where that is not allowed.
//!
//! It does not know what any line means. Where nothing may read the log, that is a fact too.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use checks::intake::Kind;
use checks::keys;

use super::command;
use super::reading::Reading;
use super::root::Root;

/// Most of the log that is kept, counted from its end: a ring buffer is rarely larger, and what is wrong now is last.
const TEXT_MAX: usize = 1 << 20;
/// Longest that a command may take to print the log.
const COMMAND_LIMIT: Duration = Duration::from_millis(700);

/// Commands that print the log of this boot to those who may not open the device: the first needs a capability, the
/// second a group (`adm` or `systemd-journal`).
const COMMANDS: &[&[&str]] =
    &[&["dmesg"], &["journalctl", "--dmesg", "--boot", "--output=short-monotonic", "--no-pager", "--quiet"]];

/// Reads the kernel log.
pub(crate) fn read(root: &Root) -> Reading {
    let mut r = Reading::default();
    let device = root.path("/dev/kmsg");
    let why = match kmsg(&device) {
        Ok(text) if !text.trim().is_empty() => {
            done(&mut r, text, "/dev/kmsg");
            return r;
        }
        Ok(_) => "/dev/kmsg is empty".to_owned(),
        Err(e) => format!("/dev/kmsg: {e}"),
    };
    if root.is_live() {
        for line in COMMANDS {
            if let Ok(text) = command::output(line, COMMAND_LIMIT)
                && !text.trim().is_empty()
            {
                done(&mut r, text, line[0]);
                return r;
            }
        }
    }
    r.put(&keys::KERNEL_LOG_READABLE, &[], false, "/dev/kmsg, dmesg and journalctl");
    r.unreadable.push(format!(
        "The kernel log could not be read ({why}), so driver errors (Xid) cannot be seen. Run it as root, or give the \
         output of “sudo dmesg” as a file."
    ));
    r
}

fn done(r: &mut Reading, text: String, source: &str) {
    r.put(&keys::KERNEL_LOG_READABLE, &[], true, source);
    r.text(Kind::Dmesg, tail(text));
}

/// All records that the device holds now. Reading does not take them away.
fn kmsg(device: &Path) -> io::Result<String> {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(device)?;
    let mut records = Vec::new();
    // One read gives one record; the kernel refuses a buffer that is too small for it.
    let mut buf = [0; 8192];
    loop {
        match file.read(&mut buf) {
            Ok(0) => break,
            Ok(n) => records.extend_from_slice(&buf[..n]),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            // The record was overwritten while it was read: the next one is there.
            Err(e) if e.raw_os_error() == Some(rustix::io::Errno::PIPE.raw_os_error()) => {}
            Err(e) if records.is_empty() => return Err(e),
            Err(_) => break,
        }
        if records.len() > 8 * TEXT_MAX {
            break;
        }
    }
    Ok(as_dmesg(&String::from_utf8_lossy(&records)))
}

/// `6,339,5140900,-;message` with its indented dictionary lines, as `dmesg` prints it: `[    5.140900] message`.
fn as_dmesg(records: &str) -> String {
    let mut out = String::with_capacity(records.len());
    for line in records.lines() {
        if line.starts_with(' ') {
            continue;
        }
        let Some((prefix, message)) = line.split_once(';') else { continue };
        let Some(us) = prefix.split(',').nth(2).and_then(|t| t.parse::<u64>().ok()) else { continue };
        let _ = writeln!(out, "[{:5}.{:06}] {}", us / 1_000_000, us % 1_000_000, unescape(message));
    }
    out
}

/// The kernel writes control characters and non-ASCII bytes as `\x1b`; a line feed inside a record is one of them.
fn unescape(message: &str) -> String {
    if !message.contains("\\x") {
        return message.to_owned();
    }
    let mut bytes = Vec::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find("\\x") {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let code = rest.get(at + 2..at + 4).and_then(|h| u8::from_str_radix(h, 16).ok());
        match code {
            Some(b'\n') => bytes.push(b' '),
            Some(b) => bytes.push(b),
            None => bytes.extend_from_slice(b"\\x"),
        }
        rest = &rest[(at + if code.is_some() { 4 } else { 2 })..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The end of the text, cut at a line.
fn tail(text: String) -> String {
    if text.len() <= TEXT_MAX {
        return text;
    }
    let from = text.as_bytes()[text.len() - TEXT_MAX..].iter().position(|b| *b == b'\n').map_or(0, |p| p + 1);
    String::from_utf8_lossy(&text.as_bytes()[text.len() - TEXT_MAX + from..]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_become_lines_of_dmesg() {
        let records = "6,1,0,-;Linux version 6.18\n SUBSYSTEM=cpu\n DEVICE=+cpu:0\n\
                       3,9,9130000412,-;NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n\
                       4,10,9130000500,c;caf\\xc3\\xa9\\x0anext\n";
        assert_eq!(
            as_dmesg(records),
            "[    0.000000] Linux version 6.18\n\
             [ 9130.000412] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n\
             [ 9130.000500] café next\n"
        );
    }

    #[test]
    fn a_long_log_keeps_its_end() {
        let log = "x".repeat(99) + "\n";
        let cut = tail(log.repeat(TEXT_MAX / 50));
        assert!(cut.len() <= TEXT_MAX && cut.starts_with("xxx") && cut.len().is_multiple_of(100));
    }
}
