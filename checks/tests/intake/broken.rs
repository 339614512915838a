//! What is left of a file that was cut, thinned out, shuffled or damaged: never a crash, never a value that the whole file
//! does not have.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::common::{Read, read};
use crate::formats::data;

const FILES: &[(&str, &str)] = &[
    ("kernel.log", data!("kernel.log")),
    ("lspci.txt", data!("lspci.txt")),
    ("driver_files.txt", data!("driver_files.txt")),
    ("xorg.log", data!("xorg.log")),
    ("glxinfo.txt", data!("glxinfo.txt")),
    ("fabricmanager.log", data!("fabricmanager.log")),
    ("collect_env.txt", data!("collect_env.txt")),
    ("modules.txt", data!("modules.txt")),
    ("env.txt", data!("env.txt")),
];

/// Facts that count or list what is there: of a part of a file they count less.
const COUNTS: &[&str] = &[
    "kernel_log.lines",
    "xids",
    "gpu_count",
    "pci_gpu_count",
    "rminitadapter_failed",
    "ee_lines",
    "errors",
    "bridges_downgraded",
    "acs_redirect_bridges",
    "nvswitch_count",
    "nvswitch_error",
    "port",
];

/// A path without the numbers that only count: the second GPU is the first one where the first is gone.
fn bare(path: &str) -> String {
    path.split('[').map(|s| s.split_once(']').map_or(s, |(_, rest)| rest)).collect::<Vec<_>>().join("[]")
}

/// What a text says, as a set.
fn said(r: &Read) -> BTreeSet<String> {
    let facts = r.facts.iter().filter(|(p, _)| !COUNTS.contains(p)).map(|(p, f)| format!("{} = {}", bare(p), f.value));
    let events = r.facts.kernel.iter().map(|e| format!("{:?}", e.kind));
    facts.chain(events).collect()
}

fn invented(whole: &BTreeSet<String>, part: &BTreeSet<String>) -> Vec<String> {
    // Of a device whose class is not told, the kernel log says the same under another name.
    part.difference(whole).filter(|s| !s.ends_with("-other\")")).cloned().collect()
}

#[test]
fn cut_after_every_line() {
    for (name, text) in FILES {
        let whole = said(&read(name, text));
        assert!(!whole.is_empty(), "{name}");
        let mut end = 0;
        for line in text.split_inclusive('\n') {
            end += line.len();
            let wrong = invented(&whole, &said(&read(name, &text[..end])));
            assert!(wrong.is_empty(), "{name} cut behind {line:?}: {wrong:?}");
        }
    }
}

#[test]
fn cut_after_every_byte_of_a_line() {
    for (name, text) in FILES {
        // Within a line a number can lose its end; nothing may crash, and every tenth place will do.
        for end in (0..text.len()).step_by(10) {
            read(name, &text[..text.floor_char_boundary(end)]);
        }
    }
}

#[test]
fn cut_in_every_corpus_file() {
    let Some(folder) = crate::common::corpus() else { return };
    for kind in [
        "dmesg",
        "collect_env",
        "lspci",
        "xorg",
        "glxinfo",
        "fabricmanager",
        "own/dmesg",
        "own/collect_env",
        "own/glxinfo",
    ] {
        for file in std::fs::read_dir(folder.join(kind)).unwrap() {
            let path = file.unwrap().path();
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            let whole = said(&read("f", &text));
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            // Some forty cuts a file keep the test quick.
            for n in (1..lines.len()).step_by(lines.len() / 40 + 1) {
                let wrong = invented(&whole, &said(&read("f", lines[..n].concat())));
                assert!(wrong.is_empty(), "{} cut behind line {n}: {wrong:?}", path.display());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_are_missing(file in 0..FILES.len(), gone in proptest::collection::vec(any::<proptest::sample::Index>(), 1..6)) {
        let (name, text) = FILES[file];
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        for i in gone {
            if !lines.is_empty() {
                lines.remove(i.index(lines.len()));
            }
        }
        let wrong = invented(&said(&read(name, text)), &said(&read(name, lines.concat())));
        prop_assert!(wrong.is_empty(), "{}: {:?}\n{}", name, wrong, lines.concat());
    }

    #[test]
    fn bytes_are_flipped(file in 0..FILES.len(), flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..24)) {
        let (name, text) = FILES[file];
        let mut bytes = text.as_bytes().to_vec();
        for (i, b) in flips {
            let at = i.index(bytes.len());
            bytes[at] = b;
        }
        let r = read(name, &bytes);
        prop_assert!(r.facts.iter().all(|(p, _)| !p.is_empty()));
    }

    #[test]
    fn two_files_are_one_paste(a in 0..FILES.len(), b in 0..FILES.len()) {
        let ((first, x), (second, y)) = (FILES[a], FILES[b]);
        let joined = read("paste", format!("$ cat {first}\n{x}$ cat {second}\n{y}"));
        let mut want = said(&read(first, x));
        want.extend(said(&read(second, y)));
        let wrong = invented(&want, &said(&joined));
        prop_assert!(wrong.is_empty(), "{} and {}: {:?}", first, second, wrong);
        prop_assert_eq!(joined.inputs.len(), 2);
    }

    #[test]
    fn anything_at_all(bytes in proptest::collection::vec(any::<u8>(), 0..2048)) {
        read("x", &bytes);
    }

    #[test]
    fn text_of_the_words_that_parsers_look_for(words in proptest::collection::vec(proptest::sample::select(WORDS), 0..64)) {
        read("x", words.concat());
    }
}

/// Pieces that make parsers take a turn.
const WORDS: &[&str] = &[
    "\n",
    " ",
    "\t",
    ": ",
    "=",
    "[",
    "]",
    "(",
    "> ",
    "```\n",
    "$ dmesg\n",
    "[    1.000000] ",
    "NVRM: Xid (PCI:0000:",
    "3b:00): ",
    "79, ",
    "pid=",
    "name=",
    "caused by previous Xid ",
    "nvidia-nvswitch0: SXid (",
    "NVRM: API mismatch: the client",
    "NVRM: The NVIDIA GPU 0000:3b:00.0 (",
    "3b:00.0 3D controller: NVIDIA Corporation ",
    "\tLnkSta:\tSpeed ",
    "GT/s",
    ", Width x",
    "16",
    "99999999999999999999",
    "-1",
    "\u{a0}",
    "é",
    "Bus: primary=00, secondary=",
    "PyTorch version: ",
    "GPU models and configuration: ",
    "GPU 0: ",
    "  MIG 1g",
    "CPU(s): ",
    "X.Org X Server\n",
    "(EE) ",
    ": NVIDIA GPU x at PCI:",
    "1:0:0",
    " (GPU-",
    "Model: \t",
    "Bus Location: ",
    "Video BIOS: ",
    "Module Size Used by\n",
    "nvidia 1 2 ",
    "{\"v\":1,\"kind\":\"snapshot\",\"raw\":[",
    "____________________________________________\n",
    "*** /proc/meminfo\n",
    "*** ls: x\n",
    "Start of NVIDIA bug report log file\n",
    "Scanning kernel log files\n",
    "  /var/log/messages:\n",
    "dmesg:\n",
    "] [tid 1] ",
    "[ERROR] ",
    "NVSwitch fatal error ",
    "6,1,2,-;",
    "kern  :warn  : ",
    "Jan  1 00:00:00 h kernel: ",
    "2025-01-01T00:00:00+00:00 ",
    "&lt;",
    "\u{1b}[",
    "\0",
];
