//! Which part of a recording is looked at, and how many steps it holds (layers-4-6 §5.1).

use super::model::Model;
use super::names::HostClass;
use super::record::HostKind;
use super::spans::Span;

/// Steps that must be left after the first and the last are dropped; below that all are used and nothing is said per
/// step (layers-4-6 §2, trace/validity).
pub const MIN_STEPS: usize = 3;

/// What the steps were told by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepMark {
    /// `ProfilerStep#N`.
    Profiler,
    /// The loader's `__next__`.
    Loader,
    /// The optimiser's end.
    Optimizer,
    /// Nothing: the window is the device's whole activity.
    None,
}

/// The window and its steps.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) span: Span,
    pub(super) mark: StepMark,
    /// Steps in the file.
    pub(super) recorded: usize,
    /// Steps in the window, each from its start to the start of the next.
    pub(super) steps: Vec<Span>,
    /// The first and the last step were dropped and enough are left.
    pub(super) steady: bool,
    /// The thread that the steps run on.
    pub(super) thread: u16,
}

/// How the window is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowMode {
    /// Steady steps, as §5.1 says.
    #[default]
    Steps,
    /// From the first device activity to the last, to compare with other tools.
    Full,
}

pub(super) fn find(model: &Model, mode: WindowMode) -> Option<Window> {
    let device = device_span(model)?;
    let main = busiest_thread(model);
    if mode == WindowMode::Full {
        return Some(whole(device, main));
    }
    let (mark, thread, marks) = marks(model);
    let recorded = if mark == StepMark::Profiler { marks.len() } else { 0 };
    let kept = if marks.len() >= MIN_STEPS + 2 { &marks[1..marks.len() - 1] } else { &marks[..] };
    let (Some(first), Some(last)) = (kept.first(), kept.last()) else {
        return Some(whole(device, main));
    };
    // Marks that device work never met (evaluation before the profiled part) say nothing about the device.
    if last.1 <= device.0 || first.0 >= device.1 {
        return Some(whole(device, main));
    }
    Some(Window {
        span: (first.0, last.1),
        mark,
        recorded,
        steady: marks.len() >= MIN_STEPS + 2,
        steps: kept.to_vec(),
        thread,
    })
}

fn whole(span: Span, thread: u16) -> Window {
    Window { span, mark: StepMark::None, recorded: 0, steps: Vec::new(), steady: false, thread }
}

fn device_span(model: &Model) -> Option<Span> {
    let start = model.on_device().map(|(_, g)| g.start).min()?;
    let end = model.on_device().map(|(_, g)| g.end).max()?;
    (start < end).then_some((start, end))
}

/// Steps in order, as told by the best marks there are.
fn marks(model: &Model) -> (StepMark, u16, Vec<Span>) {
    let steps = of_class(model, HostClass::Step);
    if let Some((thread, spans)) = steps {
        return (StepMark::Profiler, thread, spans);
    }
    if let Some((thread, spans)) = of_class(model, HostClass::LoaderNext).filter(|(_, s)| s.len() >= 3) {
        return (StepMark::Loader, thread, between(spans.iter().map(|s| s.0)));
    }
    if let Some((thread, spans)) = of_class(model, HostClass::Optimizer).filter(|(_, s)| s.len() >= 3) {
        return (StepMark::Optimizer, thread, between(spans.iter().map(|s| s.1)));
    }
    (StepMark::None, 0, Vec::new())
}

fn between(times: impl Iterator<Item = i64>) -> Vec<Span> {
    let times: Vec<i64> = times.collect();
    times.windows(2).filter(|w| w[0] < w[1]).map(|w| (w[0], w[1])).collect()
}

/// Marks of one class on the thread that has most of them, by start.
fn of_class(model: &Model, class: HostClass) -> Option<(u16, Vec<Span>)> {
    let mut by_thread: Vec<(u16, Vec<Span>)> = Vec::new();
    for h in model.rec.host.iter().filter(|h| h.kind == HostKind::Mark && model.host(h) == class && h.start < h.end) {
        match by_thread.last_mut() {
            Some((t, spans)) if *t == h.thread => spans.push((h.start, h.end)),
            _ => by_thread.push((h.thread, vec![(h.start, h.end)])),
        }
    }
    by_thread.into_iter().max_by_key(|(t, s)| (s.len(), std::cmp::Reverse(*t)))
}

/// The thread that starts most device work, where no step says which one matters.
fn busiest_thread(model: &Model) -> u16 {
    let mut count = vec![0usize; model.rec.threads.len().max(1)];
    for (i, _) in model.on_device() {
        if let Some(n) = model.call_of(i).and_then(|c| count.get_mut(usize::from(c.thread))) {
            *n += 1;
        }
    }
    let best = count.iter().enumerate().max_by_key(|(i, n)| (**n, std::cmp::Reverse(*i))).map_or(0, |(i, _)| i);
    u16::try_from(best).unwrap_or(0)
}

/// Steps that the profiler marked, where there is no device activity to put a window around.
pub(super) fn recorded(model: &Model) -> usize {
    of_class(model, HostClass::Step).map_or(0, |(_, s)| s.len())
}
