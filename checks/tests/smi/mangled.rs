//! Damage: a file that breaks off, lines that are missing or change places, bytes that flip. Reading never panics, and a
//! value that is read from less than the whole file is the one that the whole file tells.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use checks::fact::Value;
use proptest::prelude::*;
use proptest::sample::Index;

use super::{files, name, read};

/// Rows or results without names: each is known by its number, and some facts sum them up.
fn is_rows(file: &str) -> bool {
    ["dmon", "pmon", "dcgmi", "diag"].iter().any(|k| file.starts_with(k))
}

/// True for facts that sum up what is listed: with less of it they are others.
fn is_sum(file: &str, path: &str) -> bool {
    // The table's processes have no number of their own.
    file.starts_with("table") && path.contains("].process[")
        || is_rows(file) && !file.starts_with("diag") && !path.starts_with("sample[")
        || path == "processes"
        || file.starts_with("nvlink") && (path.contains("link") || path == "gpu_count")
}

/// Several readings in one file: with one of them gone, another holds.
fn has_readings(file: &str) -> bool {
    ["two_logs", "two_readings", "loop", "without_identity"].iter().any(|k| file.contains(k))
}

/// Compares what a damaged file tells with what the whole one tells.
fn made_up(file: &str, whole: &BTreeMap<String, Value>, damaged: &[u8]) -> Option<String> {
    for (path, value) in read(damaged).facts {
        let same = match (whole.get(&path), &value) {
            // A list of what is active: a missing line may hide one.
            (Some(Value::List(all)), Value::List(some)) => some.iter().all(|v| all.contains(v)),
            (Some(w), v) => w == v,
            (None, _) => false,
        };
        if !same && !is_sum(file, &path) {
            return Some(format!("{file}: {path} is {:?}, made {value:?}", whole.get(&path)));
        }
    }
    None
}

fn cases() -> Vec<(PathBuf, Vec<u8>)> {
    files().into_iter().filter(|(p, _)| !has_readings(name(p))).collect()
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|b| *b == b'\n').collect()
}

#[test]
fn a_file_that_breaks_off_at_a_line() {
    for (path, bytes) in cases() {
        let whole = read(&bytes).facts;
        let lines = lines(&bytes);
        // Each few lines of the long ones: the random tests below look everywhere.
        let step = (lines.len() / 150).max(1);
        for n in (0..lines.len()).step_by(step) {
            assert_eq!(made_up(name(&path), &whole, &lines[..n].concat()), None, "cut before line {}", n + 1);
        }
    }
}

#[test]
fn a_file_that_lacks_one_line() {
    for (path, bytes) in cases().into_iter().filter(|(p, _)| !is_rows(name(p))) {
        let whole = read(&bytes).facts;
        let lines = lines(&bytes);
        let step = (lines.len() / 150).max(1);
        for n in (0..lines.len()).step_by(step) {
            let damaged = [&lines[..n], &lines[n + 1..]].concat().concat();
            assert_eq!(made_up(name(&path), &whole, &damaged), None, "without line {}", n + 1);
        }
    }
}

fn pick(of: &Index) -> (String, Vec<u8>) {
    let all = cases();
    let (path, bytes) = of.get(&all);
    (name(Path::new(path)).to_owned(), bytes.clone())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_that_breaks_off_anywhere(file: Index, end: Index) {
        let (file, bytes) = pick(&file);
        let whole = read(&bytes).facts;
        prop_assert_eq!(made_up(&file, &whole, &bytes[..end.index(bytes.len())]), None);
    }

    #[test]
    fn a_file_that_lacks_lines(file: Index, from: Index, count in 1usize..4) {
        let (file, bytes) = pick(&file);
        let whole = read(&bytes).facts;
        let lines = lines(&bytes);
        let from = from.index(lines.len());
        // Between two boards of the plain table stand three lines that do not say which board they are of.
        let to = (from + if file.starts_with("table") { count.min(2) } else { count }).min(lines.len());
        prop_assume!(!is_rows(&file));
        let damaged = [&lines[..from], &lines[to..]].concat().concat();
        prop_assert_eq!(made_up(&file, &whole, &damaged), None, "without lines {} to {}", from + 1, to);
    }

    #[test]
    fn lines_that_change_places(file: Index, a: Index, b: Index) {
        let (_, bytes) = pick(&file);
        let mut lines = lines(&bytes);
        let (a, b) = (a.index(lines.len()), b.index(lines.len()));
        lines.swap(a, b);
        read(&lines.concat());
    }

    #[test]
    fn bytes_that_flip(file: Index, flips in prop::collection::vec((any::<Index>(), any::<u8>()), 1..20)) {
        let (_, mut bytes) = pick(&file);
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= byte;
        }
        read(&bytes);
    }

    #[test]
    fn pieces_of_all_files(pieces in prop::collection::vec((any::<Index>(), any::<Index>(), 1usize..40), 1..8)) {
        let mut bytes = Vec::new();
        for (file, from, count) in pieces {
            let (_, text) = pick(&file);
            let lines = lines(&text);
            let from = from.index(lines.len());
            bytes.extend(lines[from..(from + count).min(lines.len())].concat());
        }
        read(&bytes);
    }
}
