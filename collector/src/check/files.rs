//! Files, folders and standard input into the intake. A file that cannot be opened is an input of kind `unknown` with
//! the reason, so that it stays visible in the report.
//!
//! It does not know any format.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use checks::Intake;
use checks::intake::Part;

/// Most files that are taken from one folder; above that the folder is probably not what was meant.
const FILES_MAX: usize = 2_000;
/// Deepest folder that is entered, counted from the one given.
const DEPTH_MAX: usize = 8;

/// Adds a file, every file of a folder, or standard input (`-`).
pub(crate) fn add(intake: &mut Intake, path: &Path) {
    if path == Path::new("-") {
        intake.add("standard input", io::stdin().lock());
        return;
    }
    if !path.is_dir() {
        add_file(intake, path);
        return;
    }
    let (found, notes) = list(path);
    for file in &found {
        add_file(intake, file);
    }
    for note in notes {
        intake.add_part(&path.display().to_string(), Part::unknown(0, note));
    }
}

/// The files below a folder, and remarks on what was left out.
pub(crate) fn list(folder: &Path) -> (Vec<PathBuf>, Vec<String>) {
    let mut found = Vec::new();
    let mut notes = Vec::new();
    walk(folder, 0, &mut found, &mut notes);
    if found.is_empty() && notes.is_empty() {
        notes.push(format!("There is no file in {}.", folder.display()));
    }
    (found, notes)
}

/// True for what must not be opened like a file: reading a named pipe or a device may never end.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

fn add_file(intake: &mut Intake, path: &Path) {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => intake.add(&name, file),
        Err(e) => intake.add_part(&name, Part::unknown(0, format!("The file could not be opened: {e}."))),
    }
}

/// Files below a folder in order of name. Hidden files, special files and links to folders are left out: the first two
/// are no evidence, the last could lead in circles.
fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>, notes: &mut Vec<String>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) => {
            notes.push(format!("The folder {} could not be opened: {e}.", folder.display()));
            return;
        }
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        if path.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b".")) || is_special(&path) {
            continue;
        }
        if found.len() >= FILES_MAX {
            notes.push(format!("Only the first {FILES_MAX} files were read."));
            return;
        }
        if path.is_dir() && path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            if depth + 1 >= DEPTH_MAX {
                notes.push(format!("{} was not entered: it lies more than {DEPTH_MAX} folders deep.", path.display()));
                continue;
            }
            walk(&path, depth + 1, found, notes);
            if found.len() >= FILES_MAX {
                return;
            }
        } else {
            found.push(path);
        }
    }
}
