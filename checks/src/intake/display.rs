//! What the display stack says: Xorg's log and `glxinfo`.
//!
//! It does not judge whether a display belongs on a training GPU. The driver's release in an Xorg log is kept apart from
//! the driver version: on Jetson it numbers the board support package.

use super::Part;
use super::kernel::is_version;
use crate::fact::Trust;
use crate::keys;

pub(super) fn looks_like_xorg(head: &str) -> bool {
    head.contains("X.Org X Server") || head.contains(") LoadModule: \"") && head.contains("(II)")
}

/// Reads a whole Xorg log.
pub(super) fn xorg(text: &str, part: &mut Part) {
    let mut errors = 0;
    let mut last_error = None;
    let mut gpu = None;
    for (n, raw) in (1u32..).zip(text.lines()) {
        // `[    45.001] (II) …`; before 1.11 there was no time.
        let line = raw.split_once("] ").filter(|(t, _)| t.starts_with('[')).map_or(raw, |(_, l)| l).trim();
        if let Some(message) = line.strip_prefix("(EE)") {
            errors += 1;
            last_error = Some((n, raw));
            if message.contains("NVIDIA") && message.contains("ailed") {
                part.put(&keys::X_NVIDIA_ERROR, &[], message.trim(), Trust::Text, n, raw);
            }
        } else if let Some((_, rest)) = line.split_once("NVIDIA dlloader X Driver") {
            if let Some(v) = rest.split_whitespace().next().filter(|v| is_version(v)) {
                part.put(&keys::X_DRIVER, &[], v, Trust::Text, n, raw);
            }
        } else if let Some((_, rest)) = line.split_once(": NVIDIA GPU ") {
            gpu = gpu_line(rest, n, raw, part).or(gpu);
        } else if let Some((_, rest)) = line.split_once("): Memory: ") {
            if let (Some(i), Some(kib)) = (gpu, rest.split_whitespace().next().and_then(|k| k.parse::<i64>().ok())) {
                part.put(&keys::X_GPU_MEMORY, &[i], kib, Trust::Text, n, raw);
            }
        } else if let Some((_, rest)) = line.split_once("): VideoBIOS: ") {
            if let Some(i) = gpu {
                part.put(&keys::GPU_VBIOS, &[i], rest.trim(), Trust::Table, n, raw);
            }
        } else if let Some((_, rest)) = line.split_once("Option \"Coolbits\" ") {
            part.put(&keys::X_COOLBITS, &[], rest.trim_matches('"'), Trust::Text, n, raw);
        } else if let Some(rest) = line.strip_prefix("Current Operating System: Linux ") {
            let mut words = rest.split_whitespace();
            part.host = part.host.take().or(words.next().map(str::to_owned));
            if let Some(release) = words.next() {
                part.put(&keys::KERNEL, &[], release, Trust::Text, n, raw);
            }
        }
    }
    // The log of a running server has no end; a count of none holds only for what is there.
    let (n, raw) = last_error.unwrap_or((1, text.lines().next().unwrap_or("")));
    part.put(&keys::X_ERRORS, &[], errors, Trust::Text, n, raw);
}

/// `Quadro K2100M (GK106GL) at PCI:1:0:0 (GPU-0)`: numbers of the address are decimal.
fn gpu_line(rest: &str, n: u32, raw: &str, part: &mut Part) -> Option<usize> {
    let (name, place) = rest.rsplit_once(" at PCI:")?;
    let (address, index) = place.split_once(" (GPU-")?;
    let index: usize = index.trim_end_matches(')').parse().ok()?;
    let model = name.rsplit_once(" (").map_or(name, |(m, _)| m);
    part.put(&keys::GPU_NAME, &[index], model, Trust::Table, n, raw);
    part.put(&keys::X_GPU_PCI, &[index], format!("PCI:{address}"), Trust::Text, n, raw);
    let (bus, rest) = address.split_once(':')?;
    let (bus, domain) = bus.split_once('@').unwrap_or((bus, "0"));
    let (device, function) = rest.split_once(':')?;
    let number = |s: &str| s.parse::<u32>().ok();
    let id = format!("{:04x}:{:02x}:{:02x}.{:x}", number(domain)?, number(bus)?, number(device)?, number(function)?);
    part.put(&keys::GPU_BUS_ID, &[index], id, Trust::Table, n, raw);
    Some(index)
}

/// A line with which `glxinfo` begins.
pub(super) fn starts_glxinfo(line: &str) -> bool {
    line.starts_with("name of display: ")
}

pub(super) fn looks_like_glxinfo(head: &str) -> bool {
    head.contains("OpenGL renderer string:") || head.contains("direct rendering: ") || head.lines().any(starts_glxinfo)
}

/// Reads a whole `glxinfo`, with or without `-B`.
pub(super) fn glxinfo(text: &str, part: &mut Part) {
    for (n, raw) in (1u32..).zip(text.lines()) {
        let Some((key, value)) = raw.split_once(": ") else { continue };
        let value = value.trim();
        let word = |yes: &str| value.split_whitespace().next().map(|w| w.eq_ignore_ascii_case(yes));
        let (flag, string) = match key.trim() {
            "direct rendering" => (Some(&keys::GLX_DIRECT), None),
            "Accelerated" => (Some(&keys::GLX_ACCELERATED), None),
            "OpenGL renderer string" => (None, Some(&keys::GLX_RENDERER)),
            "OpenGL vendor string" => (None, Some(&keys::GLX_VENDOR)),
            "Device" => (None, Some(&keys::GLX_DEVICE)),
            "OpenGL version string" => (None, Some(&keys::GLX_VERSION)),
            _ => continue,
        };
        if let (Some(key), Some(yes)) = (flag, word("yes")) {
            part.put(key, &[], yes, Trust::Text, n, raw);
        }
        if let Some(key) = string.filter(|_| !value.is_empty()) {
            part.put(key, &[], bare(value), Trust::Text, n, raw);
        }
        // Mesa's driver over Direct3D exists only under WSL2.
        if key.trim() == "OpenGL renderer string" && value.starts_with("D3D12 (") {
            part.put(&keys::WSL2, &[], true, Trust::Table, n, raw);
        }
    }
}

/// Without a PCI id in brackets, and without the distribution's suffix of Mesa's version.
fn bare(value: &str) -> &str {
    let value = value.rsplit_once(" (0x").map_or(value, |(v, _)| v);
    let Some(mesa) = value.find("Mesa ") else { return value };
    value[mesa..].find('-').map_or(value, |dash| &value[..mesa + dash])
}
