//! The NVIDIA driver as the kernel shows it: modules, `/proc/driver/nvidia` and device files. The texts are handed on as
//! they are; intake reads them like any pasted file.

use std::fmt::Write as _;

use checks::intake::Kind;
use checks::keys;

use super::reading::Reading;
use super::root::Root;
use super::system::is_numbered;

/// Lines of `/proc/modules` that say something about the GPU's driver or its rivals.
const MODULES: &[&str] = &["nvidia", "nouveau", "nova_core", "nova", "vfio_pci", "gdrdrv", "i2c_nvidia_gpu", "ib_core"];

/// Reads the driver's own files.
pub(crate) fn read(root: &Root) -> Reading {
    let mut r = Reading::default();
    match root.text("/proc/modules") {
        Some(text) => modules(root, &text, &mut r),
        None => r.unreadable.push("/proc/modules could not be read.".into()),
    }
    r.text(Kind::ProcDriverNvidia, proc_driver(root));
    device_files(root, &mut r);
    let admin_only = root.text("/proc/driver/nvidia/params").and_then(|t| admin_only(&t));
    r.maybe(&keys::PROFILING_ADMIN_ONLY, &[], admin_only, "/proc/driver/nvidia/params RmProfilingAdminOnly");
    r
}

/// The modules that matter go in as text. Where none is loaded there is no text to judge, and that itself is the fact.
/// One that is built into the kernel is in `/sys/module` alone.
fn modules(root: &Root, text: &str, r: &mut Reading) {
    let name = |l: &str| l.split(' ').next().unwrap_or_default().to_owned();
    let has = |module: &str| text.lines().any(|l| name(l) == module);
    let mut kept = String::new();
    for line in text.lines() {
        let module = name(line);
        if module.starts_with("nvidia") || MODULES.contains(&module.as_str()) {
            let _ = writeln!(kept, "{line}");
        }
    }
    r.text(Kind::ProcModules, kept);
    for (key, module) in
        [(keys::MODULE_NVIDIA, "nvidia"), (keys::MODULE_UVM, "nvidia_uvm"), (keys::MODULE_NOUVEAU, "nouveau")]
    {
        let loaded = has(module) || root.exists(&format!("/sys/module/{module}"));
        r.put(&key, &[], loaded, "/proc/modules and /sys/module");
    }
}

/// `/proc/driver/nvidia`: version, parameters and each GPU, under headings with their paths.
fn proc_driver(root: &Root) -> String {
    let mut files = vec!["/proc/driver/nvidia/version".to_owned(), "/proc/driver/nvidia/params".to_owned()];
    let gpus = root.names("/proc/driver/nvidia/gpus");
    files.extend(gpus.iter().map(|g| format!("/proc/driver/nvidia/gpus/{g}/information")));
    let mut out = String::new();
    for file in files {
        if let Some(text) = root.text(&file) {
            let _ = writeln!(out, "== {file}\n{}", text.trim_end());
        }
    }
    out
}

fn device_files(root: &Root, r: &mut Reading) {
    let names = root.names("/dev");
    if names.is_empty() {
        return;
    }
    let has = |n: &str| names.iter().any(|x| x == n);
    r.put(&keys::DEV_NVIDIACTL, &[], has("nvidiactl"), "/dev/nvidiactl");
    r.put(&keys::DEV_UVM, &[], has("nvidia-uvm"), "/dev/nvidia-uvm");
    let gpus = names.iter().filter(|n| is_numbered(n, "nvidia")).count();
    r.put(&keys::DEV_GPUS, &[], gpus, "/dev/nvidia0 …");
}

fn admin_only(params: &str) -> Option<bool> {
    let value = params.lines().find_map(|l| l.strip_prefix("RmProfilingAdminOnly:"))?.trim();
    match value {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}
