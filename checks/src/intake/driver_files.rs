//! `/proc/driver/nvidia/*` (version, params, one information file a GPU), `/proc/modules` and `lsmod`, in dumps with
//! headings of any kind.
//!
//! Values stand for themselves: a `?` in an id means that the driver never initialised the GPU, and is no value.

use super::Part;
use super::kernel::is_version;
use crate::fact::{Key, Trust, bus_id};
use crate::keys;

/// Modules that a list has at least when it is the whole one: a filtered list tells nothing about what it lacks.
const WHOLE_LIST: usize = 20;

/// A line with which a dump of the driver's files begins.
pub(super) fn starts(line: &str) -> bool {
    line.starts_with("NVRM version:")
        || line.contains("/proc/driver/nvidia/") && line.len() < 120 && !line.contains(": ")
}

pub(super) fn looks(head: &str) -> bool {
    let has = |key: &str| head.lines().any(|l| l.trim().starts_with(key));
    has("NVRM version:") || has("Video BIOS:") && has("Bus Location:") || has("ResmanDebugLevel:") && has("RmLogonRC:")
}

/// Reads a whole text.
pub(super) fn parse(text: &str, part: &mut Part) {
    let mut files = DriverFiles::default();
    for (n, raw) in (1u32..).zip(text.lines()) {
        files.line(n, raw, part);
    }
    files.finish(part);
}

/// The files of the driver, while they are read.
#[derive(Debug, Default)]
pub(super) struct DriverFiles {
    gpus: Vec<Gpu>,
    /// The last of them may get more lines.
    inside: bool,
}

#[derive(Debug, Default)]
struct Gpu {
    seen: Vec<&'static str>,
    lines: Vec<(Field, String, u32, String)>,
    address: Option<String>,
}

#[derive(Clone, Copy, Debug)]
enum Field {
    Text(&'static Key<String>),
    Minor,
    Excluded,
}

impl Field {
    fn name(self) -> &'static str {
        match self {
            Self::Text(key) => key.path,
            Self::Minor => "minor",
            Self::Excluded => "excluded",
        }
    }
}

impl DriverFiles {
    /// Reads a line of any of the files.
    pub(super) fn line(&mut self, n: u32, raw: &str, part: &mut Part) {
        if raw.contains("/proc/driver/nvidia/") {
            self.next_file();
        }
        let Some((key, value)) = raw.split_once(':') else { return };
        let (key, value) = (key.trim(), value.trim());
        match key {
            "NVRM version" => version(value, n, raw, part),
            "Model" => {
                self.next_file();
                self.gpu_line(Field::Text(&keys::GPU_NAME), value, n, raw);
            }
            "GPU UUID" => self.gpu_line(Field::Text(&keys::GPU_UUID), value, n, raw),
            "Video BIOS" => self.gpu_line(Field::Text(&keys::GPU_VBIOS), value, n, raw),
            "GPU Firmware" => self.gpu_line(Field::Text(&keys::GPU_GSP_FIRMWARE), value, n, raw),
            "Bus Location" => {
                self.gpu_line(Field::Text(&keys::GPU_BUS_ID), value, n, raw);
                if let Some(gpu) = self.gpus.last_mut() {
                    gpu.address = bus_id(value);
                }
            }
            "Device Minor" => self.gpu_line(Field::Minor, value, n, raw),
            "GPU Excluded" | "Blacklisted" => self.gpu_line(Field::Excluded, value, n, raw),
            "RmProfilingAdminOnly" => {
                if let Some(on) = flag(value) {
                    part.put(&keys::PROFILING_ADMIN_ONLY, &[], on, Trust::Text, n, raw);
                }
            }
            "EnableGpuFirmware" => {
                if let Ok(mode) = value.parse::<i64>() {
                    part.put(&keys::PARAM_GSP, &[], mode, Trust::Text, n, raw);
                }
            }
            _ => {}
        }
    }

    /// Another file begins: what comes next is of another GPU.
    pub(super) fn next_file(&mut self) {
        self.inside = false;
    }

    fn gpu_line(&mut self, field: Field, value: &str, n: u32, raw: &str) {
        // A record whose first line got lost begins with a field that the one before has.
        let repeats = self.gpus.last().is_some_and(|g| g.seen.contains(&field.name()));
        if !self.inside || repeats {
            self.gpus.push(Gpu::default());
            self.inside = true;
        }
        if let Some(gpu) = self.gpus.last_mut() {
            gpu.seen.push(field.name());
        }
        let known = !value.is_empty() && !value.contains('?') && !matches!(value, "N/A" | "Unknown");
        if let Some(gpu) = self.gpus.last_mut().filter(|_| known) {
            gpu.lines.push((field, value.to_owned(), n, raw.to_owned()));
        }
    }

    /// Gives the GPUs to a part, in order of their addresses: that is the order of nvidia-smi.
    pub(super) fn finish(mut self, part: &mut Part) {
        if self.gpus.iter().all(|g| g.address.is_some()) {
            self.gpus.sort_by(|a, b| a.address.cmp(&b.address));
        }
        for (i, gpu) in self.gpus.into_iter().enumerate() {
            for (field, value, n, raw) in gpu.lines {
                // nvidia-smi words the same things; what it says is what people know.
                match field {
                    Field::Text(key) => part.put(key, &[i], value, Trust::Table, n, &raw),
                    Field::Minor => {
                        if let Ok(minor) = value.parse::<i64>() {
                            part.put(&keys::GPU_MINOR, &[i], minor, Trust::Table, n, &raw);
                        }
                    }
                    Field::Excluded => part.put(&keys::GPU_EXCLUDED, &[i], value == "Yes", Trust::Text, n, &raw),
                }
            }
        }
    }
}

/// `NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build`
fn version(value: &str, n: u32, raw: &str, part: &mut Part) {
    let Some(v) = value.split_whitespace().find(|w| is_version(w)) else { return };
    part.put(&keys::MODULE_NVIDIA, &[], true, Trust::Text, n, raw);
    part.put(&keys::MODULE_VERSION, &[], v, Trust::Text, n, raw);
    part.put(&keys::MODULE_OPEN, &[], value.contains("Open Kernel Module"), Trust::Text, n, raw);
    part.put(&keys::DRIVER, &[], v, Trust::Table, n, raw);
}

fn flag(v: &str) -> Option<bool> {
    match v {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// A line with which a list of modules begins.
pub(super) fn modules_start(line: &str) -> bool {
    is_lsmod_header(line)
}

pub(super) fn looks_like_modules(head: &str) -> bool {
    let (mut listed, mut others, mut marked) = (0, 0, false);
    for line in head.lines().map(str::trim).filter(|l| !l.is_empty()).take(200) {
        if is_lsmod_header(line) {
            return true;
        }
        match module(line) {
            Some((name, _)) => {
                listed += 1;
                marked |= name.starts_with("nvidia") || name == "nouveau" || line.contains(" 0x");
            }
            None => others += 1,
        }
    }
    marked && others * 4 <= listed
}

fn is_lsmod_header(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("Module") && words.next() == Some("Size") && words.next() == Some("Used")
}

/// Name and whether it is loaded, of `nvidia 56717312 12 nvidia_uvm, Live 0xffff… (POE)` or `nvidia 56717312 12 nvidia_uvm`.
fn module(line: &str) -> Option<(&str, bool)> {
    let mut words = line.split_whitespace();
    let name = words.next().filter(|n| n.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'))?;
    words.next()?.parse::<u64>().ok()?;
    let used = words.next()?;
    if used != "-" && used.parse::<i64>().is_err() {
        return None;
    }
    let rest: Vec<&str> = words.collect();
    let state = rest.iter().find(|w| matches!(**w, "Live" | "Loading" | "Unloading"));
    (state.is_some() || rest.len() <= 1).then_some((name, state.is_none_or(|s| *s == "Live")))
}

/// Reads a whole list.
pub(super) fn modules(text: &str, part: &mut Part) {
    let list: Vec<(u32, &str, &str)> = (1u32..)
        .zip(text.lines())
        .filter_map(|(n, raw)| module(raw.trim()).filter(|(_, live)| *live).map(|(name, _)| (n, name, raw)))
        .collect();
    let whole = list.len() >= WHOLE_LIST;
    let nvidia = list.iter().any(|(_, name, _)| *name == "nvidia");
    for (key, name, decided) in [
        (&keys::MODULE_NVIDIA, "nvidia", whole),
        (&keys::MODULE_UVM, "nvidia_uvm", whole && nvidia),
        (&keys::MODULE_NOUVEAU, "nouveau", whole),
        (&keys::MODULE_PEERMEM, "nvidia_peermem", whole),
        (&keys::MODULE_FS, "nvidia_fs", whole),
    ] {
        match list.iter().find(|(_, n, _)| *n == name) {
            Some((n, _, raw)) => part.put(key, &[], true, Trust::Text, *n, raw),
            None if decided => {
                let place = crate::fact::Place::input(part.input);
                part.facts.put(key, &[], false, Trust::Text, place);
            }
            None => {}
        }
    }
    if list.is_empty() {
        part.note(None, "No module is listed.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_modules() {
        assert_eq!(module("nvidia_uvm 1830912 - - Live 0xffffffffc080c000 (O)"), Some(("nvidia_uvm", true)));
        assert_eq!(
            module("nvidia 56717312 1226 nvidia_uvm,nvidia_modeset, Live 0x0000000000000000 (POE)"),
            Some(("nvidia", true))
        );
        assert_eq!(module("nouveau 2306048 0 - Loading 0x0 "), Some(("nouveau", false)));
        assert_eq!(module("nvidia_drm             77824  5"), Some(("nvidia_drm", true)));
        assert_eq!(module("nvidia  35291136  279 nvidia_uvm,nvidia_modeset"), Some(("nvidia", true)));
        assert_eq!(module("total 5 7 and more words"), None);
        assert_eq!(module("Module                  Size  Used by"), None);
        assert!(looks_like_modules("nvidia_uvm 1830912 - - Live 0xffffffffc080c000 (O)\n"));
        assert!(!looks_like_modules("loss 12 3\nacc 3 4\n"));
    }
}
