//! What several checks ask of a GPU or of the node: is it under load, what kind of board is it, where does it run.
//!
//! It gives no verdicts and has no thresholds of its own beyond what "under load" means.

use crate::check::{Ctx, Missing, PerGpu, Verdict};
use crate::fact::{Known, Value};
use crate::keys;
use crate::record::{Boot, GpuSample, KernelEvent, KernelKind, SampleSeries};
use crate::report::Evidence;
use crate::tables::{self, Class, Model};

/// Utilisation from which a single reading counts as taken under load, in per cent. Below it a desktop or a monitor
/// agent may be all there is; layers-1-3 §2, driver/pcie-link-gen.
const BUSY_PCT: f64 = 20.0;

/// Whether a GPU was working when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// Under load.
    Busy,
    /// Idle, or in a power-saving state.
    Idle,
    /// The source does not tell (MIG, fragments, lspci).
    Unknown,
}

/// Whether a GPU was under load when its facts were read.
///
/// A board in P5 or deeper is saving power whatever its utilisation reads: a desktop at idle clocks shows 30 % easily.
pub(super) fn load(cx: &Ctx<'_>, gpu: usize) -> Load {
    if reason(cx, gpu, "idle") == Some(true) {
        return Load::Idle;
    }
    let saving = cx.value(&keys::GPU_PSTATE, &[gpu]).and_then(|p| p.trim_start_matches('P').parse::<u32>().ok());
    if saving.is_some_and(|p| p >= 5) {
        return Load::Idle;
    }
    match cx.value(&keys::GPU_UTIL, &[gpu]) {
        Some(u) if u >= BUSY_PCT => Load::Busy,
        Some(_) => Load::Idle,
        None => Load::Unknown,
    }
}

/// Whether a clock event reason is active on a GPU; `None` if the reasons were not read.
pub(super) fn reason(cx: &Ctx<'_>, gpu: usize, id: &str) -> Option<bool> {
    Some(cx.value(&keys::GPU_THROTTLE, &[gpu])?.iter().any(|r| r == id))
}

/// The clock event reasons of a GPU, as a fact.
pub(super) fn reasons<'a>(cx: &Ctx<'a>, gpu: usize) -> Option<Known<'a, Vec<String>>> {
    cx.get(&keys::GPU_THROTTLE, &[gpu])
}

/// A GPU's product name, empty if it is not known.
pub(super) fn name(cx: &Ctx<'_>, gpu: usize) -> String {
    cx.value(&keys::GPU_NAME, &[gpu]).unwrap_or_default()
}

/// The table's entry for a GPU.
pub(super) fn model(cx: &Ctx<'_>, gpu: usize) -> Option<&'static Model> {
    tables::model(&name(cx, gpu))
}

/// The class of a GPU's board.
pub(super) fn class(cx: &Ctx<'_>, gpu: usize) -> Option<Class> {
    let brand = cx.value(&keys::GPU_BRAND, &[gpu]).unwrap_or_default();
    tables::class(&name(cx, gpu)).or_else(|| tables::class(&brand))
}

/// True if the GPU is a laptop's.
pub(super) fn is_laptop(cx: &Ctx<'_>, gpu: usize) -> bool {
    tables::is_laptop(&name(cx, gpu))
}

/// A virtual GPU: most readings are the host's business.
pub(super) fn is_vgpu(cx: &Ctx<'_>, gpu: usize) -> bool {
    let mode = cx.value(&keys::GPU_VIRTUALIZATION, &[gpu]).unwrap_or_default().to_ascii_lowercase();
    mode == "vgpu" || mode == "non-sr-iov"
}

/// A guest that a whole GPU was handed to, or any virtual machine: link and slot belong to the host.
pub(super) fn is_guest(cx: &Ctx<'_>, gpu: usize) -> bool {
    let mode = cx.value(&keys::GPU_VIRTUALIZATION, &[gpu]).unwrap_or_default().to_ascii_lowercase();
    mode.replace('-', "").starts_with("passthrough") || is_vgpu(cx, gpu) || cx.is(&keys::VIRTUAL_MACHINE)
}

/// The node runs Windows itself (not a Linux under it).
pub(super) fn is_windows(cx: &Ctx<'_>) -> bool {
    let os = cx.value(&keys::OS, &[]).unwrap_or_default().to_ascii_lowercase();
    if os.contains("windows") {
        return !cx.is(&keys::WSL2);
    }
    cx.facts.gpus().iter().any(|g| {
        let model = cx.value(&keys::GPU_DRIVER_MODEL, &[*g]).unwrap_or_default();
        ["WDDM", "TCC", "MCDM"].iter().any(|m| model.starts_with(m))
    })
}

/// The longest series of samples that has any.
pub(super) fn samples<'a>(cx: &Ctx<'a>) -> Option<&'a SampleSeries> {
    cx.facts.samples.iter().filter(|s| !s.samples.is_empty()).max_by_key(|s| s.samples.len())
}

/// Seconds that a series spans.
pub(super) fn seconds(series: &SampleSeries) -> f64 {
    match (series.samples.first(), series.samples.last()) {
        (Some(a), Some(b)) => ((b.t_ms - a.t_ms) / 1e3).max(0.0),
        _ => 0.0,
    }
}

/// Indices of the GPUs in a series, ascending.
pub(super) fn sampled_gpus(series: &SampleSeries) -> Vec<usize> {
    let mut ids: Vec<usize> = series.samples.iter().flat_map(|s| &s.gpu).map(|g| g.i).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// All readings of one GPU in a series, with the line each stands on.
pub(super) fn readings(series: &SampleSeries, gpu: usize) -> impl Iterator<Item = (u32, &GpuSample)> {
    series.samples.iter().flat_map(move |s| s.gpu.iter().filter(move |g| g.i == gpu).map(|g| (s.line, g)))
}

/// A mean over samples as evidence; its place is the first sample.
pub(super) fn sampled(series: &SampleSeries, fact: &str, value: f64, unit: &str, expected: &str) -> Evidence {
    Evidence {
        fact: fact.to_owned(),
        value: Some(((value * 10.0).round() / 10.0).into()),
        unit: unit.to_owned(),
        expected: (!expected.is_empty()).then(|| expected.to_owned()),
        input: Some(series.input),
        line: series.samples.first().map(|s| s.line),
        quote: None,
    }
}

/// Fewest lines of a log without the driver's start in which silence means something.
const LOG_MIN_LINES: i64 = 100;

/// The kernel log's events of the present boot.
pub(super) fn events<'a>(cx: &Ctx<'a>) -> impl Iterator<Item = &'a KernelEvent> {
    cx.facts.kernel.iter().filter(|e| e.boot == Boot::Present)
}

/// How much of the kernel log was read, for a check that found nothing in it.
///
/// # Errors
/// There is no log, it may not be read, or it is a fragment in which silence means nothing.
pub(super) fn silent_log(cx: &Ctx<'_>) -> Result<i64, Missing> {
    let path = keys::KERNEL_LOG_LINES.path.to_owned();
    if cx.value(&keys::KERNEL_LOG_READABLE, &[]) == Some(false) {
        return Err(Missing::fact(path, "the kernel log (reading it needs root here)"));
    }
    let lines = cx.value(&keys::KERNEL_LOG_LINES, &[]).unwrap_or_default();
    let started = events(cx).any(|e| matches!(e.kind, KernelKind::ModuleLoaded { .. }));
    if lines == 0 {
        return Err(Missing::fact(path, "the kernel log"));
    }
    if !started && lines < LOG_MIN_LINES {
        return Err(Missing::fact(path, "more of the kernel log than these few lines"));
    }
    Ok(lines)
}

/// A line of the kernel log as evidence.
pub(super) fn logged(e: &KernelEvent, fact: &str, value: Option<Value>) -> Evidence {
    Evidence {
        fact: fact.to_owned(),
        value,
        unit: String::new(),
        expected: None,
        input: Some(e.place.input),
        line: e.place.line,
        quote: e.place.quote.as_deref().map(str::to_owned).or_else(|| Some(e.text.clone())),
    }
}

/// `once`, `3 times`.
pub(super) fn times(n: usize) -> String {
    if n == 1 { "once".into() } else { format!("{n} times") }
}

/// Runs a rule for every GPU that something is known about and folds the verdicts.
///
/// # Errors
/// No GPU is known, or none could be judged and nothing was found.
pub(super) fn per_gpu(cx: &Ctx<'_>, rule: impl Fn(usize) -> Result<Verdict, Missing>) -> Result<Verdict, Missing> {
    let mut all = PerGpu::default();
    for gpu in cx.gpus()? {
        all.add(gpu, rule(gpu));
    }
    all.fold()
}

/// A version as its numbers; they are compared part by part and never as decimals (535.104 is newer than 535.54).
pub(super) fn version(text: &str) -> Vec<u32> {
    text.trim().split('.').map_while(|p| p.parse().ok()).collect()
}

/// Major and minor number of a version.
pub(super) fn two_parts(text: &str) -> Option<(u32, u32)> {
    let v = version(text);
    Some((*v.first()?, *v.get(1)?))
}

/// Compute capability of a GPU, as read or by its name.
pub(super) fn capability(cx: &Ctx<'_>, gpu: usize) -> Option<(u32, u32)> {
    let read = cx.value(&keys::GPU_COMPUTE_CAP, &[gpu]).and_then(|c| two_parts(&c));
    read.or_else(|| tables::capability(&name(cx, gpu)))
}

/// A variable of the job's environment, where one was read.
pub(super) fn env<'a>(cx: &Ctx<'a>, name: &str) -> Option<Known<'a, String>> {
    let path = format!("env.{name}");
    let fact = cx.facts.readings(&path).first()?;
    let Value::Text(value) = &fact.value else { return None };
    Some(Known { value: value.clone(), path, fact })
}

/// Names of all variables that were read, ascending; empty if no environment was.
pub(super) fn env_names<'a>(cx: &Ctx<'a>) -> impl Iterator<Item = &'a str> {
    cx.facts.iter().filter_map(|(path, _)| path.strip_prefix("env."))
}
