//! The folder that stands for `/`: small files of `/proc`, `/sys` and `/etc`, read within bounds.
//!
//! It does not know what any file means.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Most that is read of one file; those of `/proc` and `/sys` are far smaller, except for a long list of modules.
const FILE_MAX: u64 = 1 << 20;

/// The folder that stands for `/`.
#[derive(Clone, Debug)]
pub(crate) struct Root(PathBuf);

impl Root {
    /// The tree below `path`.
    pub(crate) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// True if this is the node itself, not a copy of some node's files: then calls that do not go through files
    /// (NVML, commands, environment) tell about the same node.
    pub(crate) fn is_live(&self) -> bool {
        self.0 == Path::new("/")
    }

    /// Where an absolute path lies in this tree.
    pub(crate) fn path(&self, absolute: &str) -> PathBuf {
        self.0.join(absolute.trim_start_matches('/'))
    }

    /// True if there is such a file or folder.
    pub(crate) fn exists(&self, absolute: &str) -> bool {
        self.path(absolute).exists()
    }

    /// A text file, as it is.
    pub(crate) fn text(&self, absolute: &str) -> Option<String> {
        let mut bytes = Vec::new();
        File::open(self.path(absolute)).ok()?.take(FILE_MAX).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The content of a file that holds one value; `None` if it is empty.
    pub(crate) fn line(&self, absolute: &str) -> Option<String> {
        let text = self.text(absolute)?;
        let line = text.trim_end_matches(['\n', '\0', ' ']);
        (!line.is_empty()).then(|| line.to_owned())
    }

    /// A file that holds one number.
    pub(crate) fn number(&self, absolute: &str) -> Option<i64> {
        self.line(absolute)?.trim().parse().ok()
    }

    /// Names in a folder, sorted; none if it cannot be read.
    pub(crate) fn names(&self, absolute: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(absolute)) else { return Vec::new() };
        let mut names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        names
    }

    /// The last part of what a link points to.
    pub(crate) fn link_name(&self, absolute: &str) -> Option<String> {
        let target = fs::read_link(self.path(absolute)).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }

    /// An absolute path within this tree with its links resolved; `None` if it leads out of the tree or nowhere.
    pub(crate) fn resolve(&self, absolute: &str) -> Option<String> {
        let base = self.0.canonicalize().ok()?;
        let real = self.path(absolute).canonicalize().ok()?;
        Some(format!("/{}", real.strip_prefix(&base).ok()?.display()))
    }
}
