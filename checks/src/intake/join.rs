//! Which inputs speak of the same thing: parts are joined by host, and the series of one training run by its id even where
//! they come from several hosts.
//!
//! It does not look into the facts.

use std::collections::{BTreeMap, BTreeSet};

use super::{Kind, Part, Subject};
use crate::fact::Facts;
use crate::report::SubjectId;

/// Joins parts into subjects, at least one. Those that name neither host nor run go to the only subject there is, or to
/// one without a name.
pub(super) fn join(parts: Vec<Part>) -> Vec<Subject> {
    let hosts = hosts(&parts);
    let spread = spread_runs(&parts, &hosts);
    let run_host = run_hosts(&parts, &hosts);
    let mut subjects: Vec<(Key, Subject)> = Vec::new();
    let mut nameless = Vec::new();
    for part in parts {
        let host = part.host.as_ref().map(|h| hosts[h].clone());
        let key = match (&host, &part.run) {
            (_, Some(run)) if is_series(part.kind) && spread.contains(run) => Key::Run(run.clone()),
            (Some(host), _) => Key::Host(host.clone()),
            (None, Some(run)) => run_host.get(run).map_or_else(|| Key::Run(run.clone()), |h| Key::Host(h.clone())),
            (None, None) => {
                nameless.push(part);
                continue;
            }
        };
        let at = subjects.iter().position(|(k, _)| *k == key).unwrap_or_else(|| {
            let node = if let Key::Host(h) = &key { Some(h.clone()) } else { None };
            subjects.push((key, Subject { id: SubjectId { node, ..SubjectId::default() }, facts: Facts::default() }));
            subjects.len() - 1
        });
        take(&mut subjects[at].1, part);
    }
    subjects.sort_by(|a, b| a.0.cmp(&b.0));
    let mut subjects: Vec<Subject> = subjects.into_iter().map(|(_, s)| s).collect();
    if !nameless.is_empty() && subjects.len() != 1 {
        subjects.push(Subject::default());
    }
    if let Some(last) = subjects.last_mut() {
        nameless.into_iter().for_each(|p| take(last, p));
    }
    subjects.retain(|s| !s.facts.is_empty() || s.id.node.is_some());
    if subjects.is_empty() {
        subjects.push(Subject::default());
    }
    subjects
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Host(String),
    Run(String),
}

fn take(s: &mut Subject, part: Part) {
    s.id.run = s.id.run.take().or(part.run);
    s.id.taken_ms = s.id.taken_ms.max(part.taken_ms);
    s.facts.merge(part.facts);
}

/// Kinds whose inputs are of a run as a whole; a snapshot or a log is of the node, whatever ran there.
fn is_series(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::StepTimings
            | Kind::Samples
            | Kind::Kineto
            | Kind::Ncu
            | Kind::Nsys
            | Kind::Nccl
            | Kind::TrainLog
            | Kind::Recording
    )
}

/// The name that each host goes by: with or without its domain it is the same one, unless two domains have it.
fn hosts(parts: &[Part]) -> BTreeMap<String, String> {
    let all: BTreeSet<&String> = parts.iter().filter_map(|p| p.host.as_ref()).collect();
    all.iter()
        .map(|host| {
            let mut full = all.iter().filter(|f| f.strip_prefix(host.as_str()).is_some_and(|d| d.starts_with('.')));
            let name = match (full.next(), full.next()) {
                (Some(only), None) => only,
                _ => host,
            };
            ((*host).clone(), (*name).clone())
        })
        .collect()
}

/// Runs whose series come from more than one host.
fn spread_runs(parts: &[Part], hosts: &BTreeMap<String, String>) -> BTreeSet<String> {
    let mut of_run: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
    for p in parts.iter().filter(|p| is_series(p.kind)) {
        if let (Some(run), Some(host)) = (&p.run, &p.host) {
            of_run.entry(run).or_default().insert(&hosts[host]);
        }
    }
    of_run.into_iter().filter(|(_, h)| h.len() > 1).map(|(r, _)| r.clone()).collect()
}

/// The host of each run that names just one.
fn run_hosts(parts: &[Part], hosts: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut of_run: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
    for p in parts {
        if let (Some(run), Some(host)) = (&p.run, &p.host) {
            of_run.entry(run).or_default().insert(&hosts[host]);
        }
    }
    let only = |h: BTreeSet<&String>| (h.len() == 1).then(|| h.first().map(|h| (*h).clone())).flatten();
    of_run.into_iter().filter_map(|(r, h)| Some((r.clone(), only(h)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::Trust;
    use crate::keys;

    fn subjects(parts: &[(Kind, &str, &str)]) -> Vec<String> {
        let parts = parts.iter().map(|(kind, host, run)| {
            let mut p = Part::new(0, *kind);
            p.host = (!host.is_empty()).then(|| (*host).to_owned());
            p.run = (!run.is_empty()).then(|| (*run).to_owned());
            p.put(&keys::TORCH, &[], "2.0", Trust::Text, 1, "x");
            p
        });
        let show = |s: Subject| {
            let name = format!("{}/{}", s.id.node.unwrap_or_default(), s.id.run.unwrap_or_default());
            format!("{name}:{}", s.facts.readings("torch").len())
        };
        join(parts.collect()).into_iter().map(show).collect()
    }

    #[test]
    fn by_host_and_by_run() {
        use Kind::{Dmesg, Lspci, Snapshot, StepTimings};
        assert_eq!(subjects(&[]), ["/:0"]);
        assert_eq!(subjects(&[(Dmesg, "", ""), (Lspci, "", "")]), ["/:2"]);
        assert_eq!(
            subjects(&[(Dmesg, "a", ""), (Lspci, "", "")]),
            ["a/:2"],
            "a file without a name is of the only host"
        );
        assert_eq!(subjects(&[(Dmesg, "b", ""), (Dmesg, "a", ""), (Lspci, "", "")]), ["a/:1", "b/:1", "/:1"]);
        assert_eq!(
            subjects(&[(Dmesg, "a", ""), (Dmesg, "a.cluster", "")]),
            ["a.cluster/:2"],
            "the domain is left out or not"
        );
        assert_eq!(
            subjects(&[(Dmesg, "a", ""), (Dmesg, "a.x", ""), (Dmesg, "a.y", "")]).len(),
            3,
            "two domains have an a"
        );
        assert_eq!(subjects(&[(StepTimings, "a", "r"), (StepTimings, "b", "r")]), ["/r:2"], "ranks of one run");
        let run = [(StepTimings, "a", "r"), (StepTimings, "b", "r"), (Snapshot, "a", "r"), (Snapshot, "b", "")];
        assert_eq!(subjects(&run), ["a/r:1", "b/:1", "/r:2"], "a snapshot is of its node");
        assert_eq!(subjects(&[(StepTimings, "a", "r"), (Dmesg, "", "r")]), ["a/r:2"], "the run names its host");
        assert_eq!(subjects(&[(StepTimings, "a", "r"), (StepTimings, "b", "q")]), ["a/r:1", "b/q:1"]);
    }
}
