//! Reads the node it runs on. Every probe takes the folder that stands for `/`, so that tests run it on made-up trees.
//!
//! It does not judge.

use std::fs;
use std::path::Path;

use checks::fact::{Place, Trust};
use checks::intake::{Kind, Part};
use checks::keys;

/// What this node says about itself.
pub(crate) fn node(root: &Path, input: u32) -> Part {
    let mut part = Part::new(input, Kind::Snapshot);
    for (key, file) in [(keys::HOST, "proc/sys/kernel/hostname"), (keys::KERNEL, "proc/sys/kernel/osrelease")] {
        if let Ok(text) = fs::read_to_string(root.join(file)) {
            part.facts.put(&key, &[], text.trim(), Trust::Live, Place::input(input));
        }
    }
    part
}
