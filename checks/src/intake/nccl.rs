//! NCCL's (and RCCL's) log and the tables of nccl-tests, also mixed with each other, with launcher prefixes, and with
//! rows that a log line breaks in two.
//!
//! Lines that are harmless by experience (a plugin that is not there, `dlvsym failed`) are not taken up.

use super::Part;
use crate::fact::{Place, Trust};
use crate::keys;
use crate::profile::{NcclBench, NcclLog, NcclTest};

/// Warnings and variables that are kept.
const MAX_LINES: usize = 50;

pub(super) fn looks(head: &str) -> bool {
    head.contains("NCCL INFO")
        || head.contains("NCCL WARN")
        || head.contains("# nThread ") && head.contains("minBytes")
        || head.lines().any(|l| l.trim_start().starts_with("NCCL version "))
        || head.contains("# Avg bus bandwidth")
        || head.contains("algbw") && head.contains("busbw")
}

pub(super) fn parse(text: &str, part: &mut Part) {
    let mut log = NcclLog { input: part.input, ..NcclLog::default() };
    let mut bench = NcclBench { input: part.input, ..NcclBench::default() };
    let mut hosts: Vec<&str> = Vec::new();
    let mut pending: Option<(u64, u32)> = None;
    for (n, raw) in (1u32..).zip(text.lines()) {
        let line = unprefixed(raw);
        let place = || Place::line(part.input, n, raw);
        if let Some(host) = host(line)
            && !hosts.contains(&host)
            && hosts.len() < MAX_LINES
        {
            hosts.push(host);
        }
        if let Some(v) = version(line) {
            log.version.get_or_insert_with(|| (v.to_owned(), place()));
        }
        if let Some(at) = line.find("NCCL INFO ").or_else(|| line.find("NCCL WARN ")) {
            if line[at..].starts_with("NCCL WARN") && log.warnings.len() < MAX_LINES {
                log.warnings.push((line[at + 10..].trim().to_owned(), place()));
            }
            info(line[at + 10..].trim(), &mut log, place);
        } else if let Some(rest) = line.trim_start().strip_prefix('#') {
            comment(rest.trim(), &mut bench);
        } else {
            row(line, n, raw, part.input, &mut pending, &mut bench);
        }
    }
    log.hosts = hosts.len();
    log.nodes = log.nodes.or_else(|| i64::try_from(hosts.len()).ok().filter(|n| *n > 0));
    facts(&log, &bench, part);
    if !bench.sizes.is_empty() {
        part.facts.nccl_tests.push(bench);
    }
    part.facts.nccl.push(log);
}

/// A line without what a launcher puts in front: `[1,0]<stdout>:`, `0: `.
fn unprefixed(line: &str) -> &str {
    let mut line = line.trim_end();
    if line.starts_with('[')
        && let Some((tag, rest)) = line.split_once(">:")
        && tag.contains("]<std")
    {
        line = rest.trim_start_matches(' ');
    }
    match line.split_once(": ") {
        Some((rank, rest)) if !rank.is_empty() && rank.trim().bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => line,
    }
}

/// `host:pid:tid [dev] NCCL …`.
fn host(line: &str) -> Option<&str> {
    let (front, _) = line.split_once(" NCCL ")?;
    let mut parts = front.split(':');
    let host = parts.next()?;
    parts.next()?.parse::<u32>().ok()?;
    (!host.is_empty()).then_some(host)
}

fn version(line: &str) -> Option<&str> {
    let at = line.find("NCCL version ")?;
    let v = line[at + 13..].split_whitespace().next()?;
    (v.starts_with(|c: char| c.is_ascii_digit()) && v.contains('.')).then_some(v)
}

fn info(text: &str, log: &mut NcclLog, place: impl Fn() -> Place) {
    if let Some(net) = text.strip_prefix("Using network ") {
        let net = net.trim().to_owned();
        if !log.network.iter().any(|(n, _)| *n == net) {
            log.network.push((net, place()));
        }
    } else if text.starts_with("NET/IB : No device found") || text.starts_with("NET/IB: No device found") {
        log.no_device.get_or_insert_with(place);
    } else if let Some(list) = text.strip_prefix("NET/IB : Using ").or_else(|| text.strip_prefix("NET/OFI Using ")) {
        for device in list.split_whitespace().filter(|d| d.starts_with('[')) {
            let name = device.split(']').nth(1).and_then(|d| d.split(':').next()).unwrap_or("");
            if name.len() > 1 && !log.devices.iter().any(|d| d == name) {
                log.devices.push(name.to_owned());
            }
        }
    } else if let Some(list) = text.strip_prefix("NET/Socket : Using ") {
        let name = list.split(']').nth(1).and_then(|d| d.split(':').next()).map(|d| d.trim().to_owned());
        log.interface = log.interface.take().or(name.filter(|n| !n.is_empty()));
    } else if let Some((name, value)) = variable(text) {
        if log.env.len() < MAX_LINES && !log.env.iter().any(|(n, v, _)| n == name && v == value) {
            log.env.push((name.to_owned(), value.to_owned(), place()));
        }
    } else if let Some((_, via)) = text.split_once(" via ").filter(|_| text.starts_with("Channel ")) {
        let via = via.split_whitespace().next().unwrap_or("").to_owned();
        if let Some(t) = log.transports.iter_mut().find(|(t, _, _)| *t == via) {
            t.1 += 1;
        } else if log.transports.len() < MAX_LINES {
            log.transports.push((via, 1, place()));
        }
    } else if let Some((channels, _)) = text.split_once(" coll channels") {
        let n = channels.rsplit(' ').next().and_then(|n| n.parse().ok());
        log.channels = log.channels.max(n);
    }
    let number = |key: &str| {
        let at = text.find(key)?;
        text[at + key.len()..].split(|c: char| !c.is_ascii_digit()).next()?.parse::<i64>().ok()
    };
    if let Some(n) = number(" nranks ") {
        if n >= log.ranks.unwrap_or(0) {
            log.ranks = Some(n);
            log.rank = log.rank.or_else(|| number(" rank "));
        }
        if let Some(nodes) = number(" nNodes ") {
            log.nodes = log.nodes.max(Some(nodes));
        }
    }
}

/// `NAME set by environment to VALUE.`, `NAME set to VALUE`, `NAME set by … to VALUE`.
fn variable(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(" set ")?;
    let sound =
        name.starts_with("NCCL_") && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let value = rest.split_once("to ")?.1.trim();
    sound.then_some((name, value.strip_suffix('.').unwrap_or(value)))
}

fn comment(text: &str, bench: &mut NcclBench) {
    if let Some(op) = text.strip_prefix("Collective test starting: ") {
        bench.operation = Some(op.trim().to_owned());
    } else if let Some(avg) = text.strip_prefix("Avg bus bandwidth") {
        bench.average_gb_s = avg.trim_start_matches([' ', ':']).split_whitespace().next().and_then(|v| v.parse().ok());
    } else if text.starts_with("Rank ") {
        bench.ranks = Some(bench.ranks.unwrap_or(0) + 1);
        if let Some((_, name)) = text.rsplit_once("] ") {
            let name = name.trim().to_owned();
            if !bench.devices.contains(&name) {
                bench.devices.push(name);
            }
        }
    }
}

/// A row of the table, or the second half of one.
fn row(line: &str, n: u32, raw: &str, input: u32, pending: &mut Option<(u64, u32)>, bench: &mut NcclBench) {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.iter().any(|w| w.len() > 24) {
        return;
    }
    let number = |w: Option<&&str>| w.and_then(|w| w.parse::<f64>().ok()).filter(|v| v.is_finite() && *v >= 0.0);
    let typed = words.get(2).is_some_and(|t| t.starts_with(|c: char| c.is_ascii_alphabetic()));
    let mut add = |bytes: u64, bus: f64, line: u32| {
        let place = Place::line(input, line, raw);
        match bench.sizes.last_mut().filter(|s| s.bytes == bytes) {
            Some(s) => s.bus_gb_s = s.bus_gb_s.max(bus),
            None => bench.sizes.push(NcclTest { bytes, bus_gb_s: bus, place }),
        }
    };
    if let (Some(bytes), true) = (words.first().and_then(|w| w.parse::<u64>().ok()), typed) {
        // size count type redop [root] time algbw busbw error [time algbw busbw error]
        let from = words.iter().skip(3).position(|w| w.contains('.')).map(|p| p + 3);
        let root = words.get(4).is_some_and(|w| w.parse::<i64>().is_ok() && !w.contains('.'));
        let from = from.map(|f| f.min(if root { 5 } else { 4 }));
        *pending = Some((bytes, n));
        if let Some(bus) = from.and_then(|f| number(words.get(f + 2))) {
            add(bytes, bus, n);
            if let Some(again) = from.and_then(|f| number(words.get(f + 6))) {
                add(bytes, again, n);
            }
        }
    } else if let Some((bytes, line)) = *pending
        && matches!(words.len(), 3 | 4 | 7 | 8)
        && words.iter().take(3).all(|w| w.parse::<f64>().is_ok())
    {
        for at in [2, 6] {
            if let Some(bus) = number(words.get(at)) {
                add(bytes, bus, line);
            }
        }
    }
}

fn facts(log: &NcclLog, bench: &NcclBench, part: &mut Part) {
    let input = part.input;
    let facts = &mut part.facts;
    if let Some((v, place)) = &log.version {
        facts.put(&keys::NCCL_VERSION, &[], v.as_str(), Trust::Text, place.clone());
    }
    if let Some((n, place)) = log.network.first() {
        facts.put(&keys::NCCL_NETWORK, &[], n.as_str(), Trust::Text, place.clone());
    }
    if let Some((t, _, place)) = log.transports.iter().max_by_key(|t| t.1) {
        facts.put(&keys::NCCL_TRANSPORT, &[], t.as_str(), Trust::Text, place.clone());
    }
    if let Some(n) = log.ranks {
        facts.put(&keys::NCCL_RANKS, &[], n, Trust::Text, Place::input(input));
    }
    if let Some(avg) = bench.average_gb_s {
        facts.put(&keys::NCCL_AVERAGE, &[], avg, Trust::Text, Place::input(input));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::Kind;

    fn read(text: &str) -> Part {
        let mut part = Part::new(0, Kind::Nccl);
        parse(text, &mut part);
        part
    }

    #[test]
    fn prefixes_of_launchers_do_not_matter() {
        for prefix in ["", "0: ", "[1,0]<stdout>:", "n1:7:9 [0] "] {
            let p = read(&format!("{prefix}NCCL INFO NCCL_IB_DISABLE set by environment to 1.\n"));
            let env = &p.facts.nccl[0].env;
            assert_eq!((env[0].0.as_str(), env[0].1.as_str()), ("NCCL_IB_DISABLE", "1"), "{prefix}");
        }
    }

    #[test]
    fn a_row_that_a_log_line_breaks_is_read() {
        let p = read(
            "     8388608       2097152     float     sum      -1n1:7:9 [0] NCCL INFO something\n\
             \x20    8388608       2097152     float     sum      -1\n\
             n1:7:9 [0] NCCL INFO something\n\
             \x20   310.8   26.99   26.99      0   300.1   27.90   28.50      0\n",
        );
        let sizes = &p.facts.nccl_tests[0].sizes;
        assert_eq!((sizes[0].bytes, sizes[0].bus_gb_s), (8_388_608, 28.5));
    }
}
