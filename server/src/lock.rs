//! The lock on the data folder: one server a folder. It does not know what the folder holds.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// Held as long as the server runs; the system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub struct DataLock {
    _file: File,
}

/// Why the folder cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another server holds it.
    #[error(
        "another sextant-server (process {pid}) uses the data folder {}. Stop it, or give this one another folder with --data.",
        dir.display()
    )]
    Held {
        /// The folder.
        dir: PathBuf,
        /// The process that wrote the lock file last, or "unknown".
        pid: String,
    },
    /// The folder cannot be created or written.
    #[error("the data folder {} cannot be used: {source}. Check its permissions, or give another one with --data.", dir.display())]
    Unusable {
        /// The folder.
        dir: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl DataLock {
    /// Creates the folder if need be and takes the lock.
    ///
    /// # Errors
    /// The lock is held by another process, or the folder cannot be written.
    pub fn take(dir: &Path) -> Result<Self, LockError> {
        let unusable = |source| LockError::Unusable { dir: dir.to_owned(), source };
        std::fs::create_dir_all(dir).map_err(unusable)?;
        let path = dir.join("lock");
        // Not truncated: until the lock is had, the file names the process that holds it.
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(unusable)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let mut pid = String::new();
                let read = file.read_to_string(&mut pid);
                let pid = if read.is_ok() && !pid.trim().is_empty() { pid.trim().to_owned() } else { "unknown".into() };
                return Err(LockError::Held { dir: dir.to_owned(), pid });
            }
            Err(e) => return Err(unusable(e.into())),
        }
        let write = |file: &mut File| -> io::Result<()> {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())
        };
        write(&mut file).map_err(unusable)?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_second_lock_is_refused_and_names_the_holder() {
        let dir = tempfile::tempdir().unwrap();
        let first = DataLock::take(dir.path()).unwrap();
        let text = DataLock::take(dir.path()).unwrap_err().to_string();
        assert!(text.contains(&std::process::id().to_string()) && text.contains("--data"), "{text}");
        drop(first);
        DataLock::take(dir.path()).unwrap();
    }
}
