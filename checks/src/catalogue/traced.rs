//! What several checks ask of a profiler trace: which one, how far it can be trusted, shares of the step, evidence.
//!
//! It gives no verdicts; the shares are those of the decomposition.

use crate::check::{Ctx, Missing};
use crate::fact::Value;
use crate::keys;
use crate::report::{Confidence, Evidence, Level, StepBreakdown, StepParts};
use crate::step;
use crate::trace::{StepMark, TraceSummary};

/// Above this the profiler has stretched the host's side of the step so far that what it says about the host is
/// doubtful; layers-4-6 §2, trace/validity.
pub(super) const DISTORTED: f64 = 1.15;

/// A trace with device activities, and the step that it belongs to.
#[derive(Clone, Debug)]
pub(super) struct Traced<'a> {
    /// The trace.
    pub(super) trace: &'a TraceSummary,
    /// The step: merged with live timings where there are any.
    pub(super) step: StepBreakdown,
    /// The window has no step marks: numbers are totals over a window that may hold start-up.
    pub(super) unmarked: bool,
}

/// The trace that stands for the run, with its timeline.
///
/// # Errors
/// There is none, it holds no device activity, or only sums are known.
pub(super) fn traced<'a>(cx: &Ctx<'a>) -> Result<Traced<'a>, Missing> {
    let t = summed(cx)?;
    if t.trace.timeline {
        Ok(t)
    } else {
        Err(Missing::fact(
            keys::KERNELS.path.into(),
            "a trace with its timeline; a table of sums does not tell when things ran",
        ))
    }
}

/// The trace that stands for the run, or a table of sums.
///
/// # Errors
/// There is none, or it holds no device activity.
pub(super) fn summed<'a>(cx: &Ctx<'a>) -> Result<Traced<'a>, Missing> {
    if cx.facts.traces.is_empty() {
        return Err(Missing::fact(keys::KERNELS.path.into(), "a profiler trace of a few steps"));
    }
    let trace = step::trace(cx.facts)
        .ok_or_else(|| Missing::fact(keys::KERNELS.path.into(), "a profiler trace with device activity in it"))?;
    let unmarked = trace.steps.mark == StepMark::None;
    let step = step::breakdown(cx.facts).filter(|_| !unmarked).unwrap_or_else(|| window(trace));
    Ok(Traced { trace, step, unmarked })
}

/// A window without step marks as if it were one step.
fn window(t: &TraceSummary) -> StepBreakdown {
    let p = &t.parts;
    let ms = |ns: i64| Some(t.per_step_ms(ns));
    let ms = StepParts {
        compute: ms(p.compute),
        exposed_comm: t.can_communicate().then(|| t.per_step_ms(p.comm)),
        exposed_h2d: ms(p.h2d),
        other_copy: ms(p.other_copy),
        data_wait: ms(p.data_wait),
        launch: ms(p.launch()),
        sync: ms(p.sync()),
        allocator: ms(p.allocator),
        compile: ms(p.compile),
        kernel_latency: ms(p.kernel_latency),
        device_dependency: ms(p.device_dependency),
        unattributed: ms(p.unattributed),
    };
    StepBreakdown {
        source: crate::report::StepSource::Trace,
        steps: t.steps.used,
        mean_ms: t.mean_step_ms(),
        traced_ratio: None,
        ms,
    }
}

impl Traced<'_> {
    /// Share of the step that a part takes.
    pub(super) fn share(&self, part: Option<f64>) -> f64 {
        match part {
            Some(ms) if self.step.mean_ms > 0.0 => (ms / self.step.mean_ms).clamp(0.0, 1.0),
            _ => 0.0,
        }
    }

    /// Share of the step in which the device does anything.
    pub(super) fn busy(&self) -> f64 {
        let ms = &self.step.ms;
        [ms.compute, ms.exposed_comm, ms.exposed_h2d, ms.other_copy]
            .into_iter()
            .map(|p| self.share(p))
            .sum::<f64>()
            .min(1.0)
    }

    /// The profiler stretched the step.
    pub(super) fn distorted(&self) -> bool {
        self.step.traced_ratio.is_some_and(|r| r > DISTORTED)
    }

    /// Milliseconds of the window as a share of the step that they would take without the profiler: device time keeps
    /// its length, so it counts against the untraced step.
    pub(super) fn device_share(&self, window_ms: f64) -> f64 {
        let per_step = window_ms / self.trace.step_count();
        // Where the host ran ahead the window holds less device work than its steps made (see `step`).
        let mean =
            if self.step.traced_ratio.is_some_and(|r| r < 1.0) { self.trace.mean_step_ms() } else { self.step.mean_ms };
        if mean > 0.0 { (per_step / mean).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// A grade that rests on the trace's host side alone: one lower where the profiler stretched the step.
    pub(super) fn host_grade(&self, level: Level) -> Level {
        match level {
            Level::Fail if self.distorted() || self.unmarked => Level::Warn,
            Level::Warn if self.unmarked => Level::Info,
            l => l,
        }
    }

    /// How sure a statement about the steady step is.
    pub(super) fn confidence(&self) -> Confidence {
        if self.unmarked || self.trace.incomplete {
            Confidence::Low
        } else if self.trace.steps.steady && !self.distorted() {
            Confidence::High
        } else {
            Confidence::Medium
        }
    }

    /// What the shares are of, in words: `step of 12.3 ms`, or the window.
    pub(super) fn of_what(&self) -> String {
        if self.unmarked {
            format!("the {:.0} ms recorded", self.trace.window_ms)
        } else {
            format!("a step of {} ms", number(self.step.mean_ms))
        }
    }

    /// A value as evidence.
    pub(super) fn evidence(&self, fact: &str, value: impl Into<Value>, unit: &str, expected: &str) -> Evidence {
        Evidence {
            fact: fact.to_owned(),
            value: Some(round(value.into())),
            unit: unit.to_owned(),
            expected: (!expected.is_empty()).then(|| expected.to_owned()),
            input: Some(self.trace.input),
            line: None,
            quote: None,
        }
    }

    /// A value with the name, kernel or operator that it is about.
    pub(super) fn quoted(
        &self,
        fact: &str,
        value: impl Into<Value>,
        unit: &str,
        expected: &str,
        quote: &str,
    ) -> Evidence {
        Evidence { quote: Some(quote.to_owned()), ..self.evidence(fact, value, unit, expected) }
    }
}

fn round(v: Value) -> Value {
    match v {
        Value::Num(n) if n.abs() >= 100.0 => Value::Num((n * 10.0).round() / 10.0),
        Value::Num(n) => Value::Num((n * 1000.0).round() / 1000.0),
        v => v,
    }
}

/// A number with as many digits as it deserves.
pub(super) fn number(v: f64) -> String {
    match v.abs() {
        a if a >= 100.0 => format!("{v:.0}"),
        a if a >= 10.0 => format!("{v:.1}"),
        _ => format!("{v:.2}"),
    }
}

/// A share in per cent.
pub(super) fn pct(share: f64) -> String {
    let p = share * 100.0;
    if p >= 10.0 || p == 0.0 { format!("{p:.0} %") } else { format!("{p:.1} %") }
}

/// Share → "at most N times faster".
pub(super) fn at_most(share: f64) -> String {
    let gain = 1.0 / (1.0 - share.min(0.999));
    if gain < 1.05 {
        return "less than 5 % to gain".into();
    }
    if gain >= 10.0 { format!("at most {gain:.0} times faster") } else { format!("at most {gain:.1} times faster") }
}

/// The level for a share with a lower and an upper threshold.
pub(super) fn grade(share: f64, warn: f64, fail: f64) -> Level {
    if share >= fail {
        Level::Fail
    } else if share >= warn {
        Level::Warn
    } else {
        Level::Pass
    }
}
