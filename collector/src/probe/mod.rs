//! Reads the node it runs on into a [`Snapshot`]. Every probe takes the folder that stands for `/`, so that tests run it
//! on made-up trees, and has a time limit, so that a broken driver cannot hold it.
//!
//! It does not judge; the snapshot is judged like one that came from a file.

mod command;
mod driver;
mod join;
mod kernel_log;
mod pci;
mod platform;
mod reading;
mod root;
mod session;
mod system;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::{Duration, Instant};

use checks::fact::Value;
use checks::intake::Kind;
use checks::keys;
use checks::recording::Receipt;
use checks::snapshot::{Collector, Node, Snapshot};

use crate::nvml::{self, Failure, Library, Nvml, Recorded};
use crate::sample::{self, Sampler};

pub(crate) use command::output as command_output;
pub(crate) use reading::Reading;
pub(crate) use root::Root;
pub(crate) use session::cpu_quota;
pub(crate) use system::host;

/// Files of `/proc` and `/sys` answer at once; a hung file system below them does not.
const FILES_LIMIT: Duration = Duration::from_secs(2);
/// Without persistence mode the driver initialises each GPU when it is opened, about a second each (16 at most here).
const NVML_LIMIT: Duration = Duration::from_secs(20);
/// The kernel log, commands included.
const LOG_LIMIT: Duration = Duration::from_millis(1600);
/// Where a made-up tree has its recorded NVML readings.
const RECORDED: &str = "/nvml.json";
/// Samples a second that a snapshot takes of the GPUs.
const SNAPSHOT_HZ: f64 = 10.0;

/// How a snapshot is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// How long the GPUs are sampled.
    pub sample: Duration,
    /// A process that is sampled with everything below it.
    pub pid: Option<u32>,
}

impl Default for Options {
    /// Half a second of samples: five readings, and a check that ends within a second.
    fn default() -> Self {
        Self { sample: Duration::from_millis(450), pid: None }
    }
}

/// Reads everything there is to read below `root`.
pub(crate) fn snapshot(root: &Path, options: Options) -> Snapshot {
    let started = Instant::now();
    let root = Root::new(root);
    let at = root.clone();
    let gpus = reading::start("NVML", NVML_LIMIT + options.sample, move || gpus(&at, options));
    let at = root.clone();
    let log = reading::start("The kernel log", LOG_LIMIT, move || kernel_log::read(&at));
    let at = root.clone();
    let files = reading::start("The files of /proc and /sys", FILES_LIMIT, move || {
        let mut r = system::read(&at);
        r.extend(platform::read(&at));
        r.extend(session::read(&at));
        r.extend(driver::read(&at));
        (r, pci::list(&at), pci::has_bus(&at))
    });

    let mut all = Reading::default();
    let mut pci_gpus = Vec::new();
    match files.finish() {
        Ok((r, (gpus, switches), has_bus)) => {
            all.extend(r);
            if has_bus {
                all.put(&keys::PCI_GPU_COUNT, &[], gpus.len(), "/sys/bus/pci/devices, vendor 10de, class 0300 or 0302");
                all.put(&keys::NVSWITCHES, &[], switches, "/sys/bus/pci/devices, vendor 10de, class 0680");
            }
            pci_gpus = gpus;
        }
        Err(why) => all.unreadable.push(why),
    }
    let inventory = match gpus.finish() {
        Ok((inventory, samples)) => {
            if let Some(samples) = samples {
                all.text(Kind::Samples, samples);
            }
            inventory
        }
        Err(why) => {
            all.unreadable.push(why);
            None
        }
    };
    if let Some(inventory) = &inventory {
        all.extend(nvml::facts(inventory));
        all.text(Kind::Env, environment(&root, inventory));
        remark(inventory.error.as_ref(), &pci_gpus, &mut all);
    }
    join::pci(&root, inventory.as_ref(), &pci_gpus, &mut all);
    match log.finish() {
        Ok(r) => all.extend(r),
        Err(why) => all.unreadable.push(why),
    }
    assemble(&root, started, all)
}

/// The kernel log as text, if it may be read.
pub(crate) fn kernel_log(root: &Root) -> Option<String> {
    kernel_log::read(root).raw.pop().map(|raw| raw.text)
}

/// NVML's inventory and samples. `None` where there is nothing to ask: a made-up tree without recorded readings.
fn gpus(root: &Root, options: Options) -> (Option<nvml::Inventory>, Option<String>) {
    let (nvml, error) = match open_nvml(root) {
        Ok(nvml) => (nvml, None),
        Err(error) => (None, Some(error)),
    };
    let has_gpus = nvml.as_ref().is_some_and(|n| !n.sampled().is_empty());
    let sampling = if has_gpus || options.pid.is_some() { options.sample } else { Duration::ZERO };
    let mut sampler = Sampler::new(root.clone(), nvml, SNAPSHOT_HZ);
    let procs = || options.pid.map(|pid| sample::below(root, pid)).unwrap_or_default();
    let mut text = Vec::new();
    let ends = Instant::now() + sampling;
    let mut write = || -> std::io::Result<()> {
        sampler.meta(&mut text, None)?;
        while Instant::now() + sampler.wait() < ends {
            std::thread::sleep(sampler.wait());
            sampler.take(&mut text, &procs)?;
        }
        Ok(())
    };
    // Memory does not refuse to be written to.
    let _ = write();
    let sampled = sampler.stats().samples > 0;
    let inventory = match error {
        Some(_) => Some(nvml::Inventory { error, ..nvml::Inventory::default() }),
        None => sampler.into_nvml().map(|n| n.inventory()),
    };
    (inventory, sampled.then(|| String::from_utf8_lossy(&text).into_owned()))
}

/// The node's NVML, or the recorded one of a made-up tree.
///
/// # Errors
/// NVML's own, or that the recorded readings could not be read.
pub(crate) fn open_nvml(root: &Root) -> Result<Option<Box<dyn Nvml>>, Failure> {
    if root.is_live() {
        return Library::open().map(|l| Some(Box::new(l) as Box<dyn Nvml>));
    }
    let Ok(file) = std::fs::File::open(root.path(RECORDED)) else { return Ok(None) };
    let recorded =
        Recorded::read(file).map_err(|e| Failure { code: None, text: format!("{RECORDED} could not be read: {e}") })?;
    Ok(Some(Box::new(recorded)))
}

/// Says in words why NVML gave nothing, where a GPU makes that worth saying.
fn remark(error: Option<&Failure>, pci: &[pci::PciGpu], all: &mut Reading) {
    let Some(error) = error else { return };
    let code = error.code.map_or(String::new(), |c| format!(" (code {c})"));
    if pci.is_empty() {
        all.unreadable.push(format!("NVML{code}: {}.", error.text));
    } else {
        all.unreadable
            .push(format!("NVML could not be used{code}: {}. The GPUs were read from the PCI bus alone.", error.text));
    }
}

/// The environment of a process that computes on a GPU, as far as it bears on GPUs and training. NVML's process ids may be
/// those of another namespace: only one whose name agrees is asked.
fn environment(root: &Root, inventory: &nvml::Inventory) -> String {
    let read = |p: &nvml::Process| -> Option<String> {
        let name = p.name.as_deref()?.rsplit('/').next()?;
        let comm = root.line(&format!("/proc/{}/comm", p.pid))?;
        // The kernel keeps 15 characters of a name; Python programs may have changed it.
        let same = !comm.is_empty() && name.starts_with(comm.as_str())
            || comm.starts_with("python") && name.starts_with("python");
        let text = same.then(|| root.text(&format!("/proc/{}/environ", p.pid))).flatten()?;
        Some(wanted_variables(text.split('\0').filter_map(|v| v.split_once('='))))
    };
    let mut computing = inventory.gpus.iter().flat_map(|g| &g.processes).filter(|p| p.compute);
    computing.find_map(read).unwrap_or_default()
}

/// `NAME=value` lines of the variables that bear on GPUs and training.
pub(crate) fn wanted_variables<'a>(all: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (name, value) in all.filter(|(name, _)| checks::intake::wanted_variable(name)) {
        text.push_str(&format!("{name}={}\n", value.replace('\n', " ")));
    }
    text
}

fn assemble(root: &Root, started: Instant, all: Reading) -> Snapshot {
    let text = |key: &checks::Key<String>| {
        all.facts.iter().find(|f| f.path == key.path).and_then(|f| match &f.value {
            Value::Text(t) => Some(t.clone()),
            _ => None,
        })
    };
    let receipt = Receipt {
        wall_ms: Some(started.elapsed().as_secs_f64() * 1e3),
        unreadable: all.unreadable,
        ..Receipt::default()
    };
    Snapshot {
        v: Snapshot::VERSION,
        kind: Snapshot::KIND.to_owned(),
        node: Node { name: text(&keys::HOST), machine: machine(root), ..Node::default() },
        taken_ms: i64::try_from(sample::epoch().as_millis()).unwrap_or_default(),
        collector: Collector { version: Some(env!("CARGO_PKG_VERSION").to_owned()), receipt: Some(receipt) },
        raw: all.raw,
        facts: all.facts,
    }
}

/// Hash of the machine id. The id itself is meant to stay on its machine.
pub(crate) fn machine(root: &Root) -> Option<String> {
    let id = root.line("/etc/machine-id").or_else(|| root.line("/var/lib/dbus/machine-id"))?;
    let hash = blake3::derive_key("sextant machine id v1", id.trim().as_bytes());
    Some(blake3::Hash::from(hash).to_hex()[..32].to_owned())
}
