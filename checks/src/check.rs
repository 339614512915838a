//! What a check is, what it may look at and what it may say.
//!
//! A check sees [`Facts`] and [`Settings`] through a [`Ctx`] and answers with a [`Verdict`], or with [`Missing`] where
//! the evidence is not there. It does not know other checks; order, suppression and provisional marks are made in
//! [`mod@crate::evaluate`].

use crate::fact::{Facts, Key, Known, Read};
use crate::report::{Confidence, Evidence, Fix, FixStep, Layer, Level, Tag, Verify};
use crate::settings::Settings;

/// A kind of evidence, and so the command or file that can supply a missing fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are the inputs of the design")]
pub enum Evid {
    Live,
    SmiQ,
    SmiTable,
    Dmon,
    Pmon,
    Topo,
    Nvlink,
    KernelLog,
    Lspci,
    BugReport,
    CollectEnv,
    Env,
    Steps,
    Samples,
    Trace,
    Ncu,
    Nsys,
    Dcgm,
    Iostat,
    TrainLog,
    Nccl,
    Glxinfo,
    Xorg,
    FabricLog,
}

impl Evid {
    /// What supplies it: a command, a file or a way to run, in words.
    #[must_use]
    pub const fn source(self) -> &'static str {
        match self {
            Self::Live => "this node, read live",
            Self::SmiQ => "nvidia-smi -q",
            Self::SmiTable => "nvidia-smi",
            Self::Dmon => "nvidia-smi dmon",
            Self::Pmon => "nvidia-smi pmon",
            Self::Topo => "nvidia-smi topo -m",
            Self::Nvlink => "nvidia-smi nvlink -s",
            Self::KernelLog => "the kernel log",
            Self::Lspci => "lspci -vv",
            Self::BugReport => "nvidia-bug-report.sh",
            Self::CollectEnv => "torch's collect_env",
            Self::Steps => "step timings of a run",
            Self::Samples => "samples under load",
            Self::Trace => "a profiler trace",
            Self::Ncu => "Nsight Compute",
            Self::Nsys => "Nsight Systems",
            Self::Dcgm => "dcgmi",
            Self::Iostat => "iostat",
            Self::TrainLog => "the training log",
            Self::Nccl => "NCCL's log",
            Self::Glxinfo => "glxinfo",
            Self::Xorg => "Xorg's log",
            Self::Env => "the job's environment",
            Self::FabricLog => "the fabric manager's log",
        }
    }
}

/// A threshold: its default, its unit and where the number comes from. A team may override it by `check.name`.
#[derive(Debug)]
pub struct Limit {
    /// Short name, unique within the check.
    pub name: &'static str,
    /// Compiled-in default.
    pub default: f64,
    /// Unit, empty for a plain ratio.
    pub unit: &'static str,
    /// Where the number comes from.
    pub source: &'static str,
}

/// How grave the check's question is; used for documentation and sorting only, never for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The GPU cannot be used at all.
    Critical,
    /// Much time or correct results are at stake.
    High,
    /// Time is at stake.
    Medium,
    /// Little is at stake.
    Low,
    /// Never more than worth knowing.
    Info,
}

/// One check of the catalogue.
#[derive(Debug)]
pub struct Check {
    /// `layer/slug`; never changes.
    pub id: &'static str,
    /// Layer.
    pub layer: Layer,
    /// A sentence without full stop.
    pub title: &'static str,
    /// Gravity of the question.
    pub severity: Severity,
    /// A core check: it decides whether its layer counts as measured.
    pub core: bool,
    /// Minutes that confirming it by hand takes.
    pub minutes: u32,
    /// Kinds of evidence it can be decided from, best first.
    pub evidence: &'static [Evid],
    /// A symptom that only routes to others; it stands after its causes.
    pub routes: bool,
    /// Checks that explain this one where they find a problem: it is then no problem of its own, but worth knowing.
    pub under: &'static [&'static str],
    /// Thresholds.
    pub limits: &'static [&'static Limit],
    /// The rule.
    pub run: fn(&Ctx<'_>) -> Result<Verdict, Missing>,
    /// The fix for what the rule found.
    pub fix: fn(&Ctx<'_>) -> Fix,
}

impl Check {
    /// The part of the id after the slash.
    #[must_use]
    pub fn slug(&self) -> &'static str {
        self.id.split_once('/').map_or(self.id, |(_, s)| s)
    }
}

/// What a check may look at.
#[derive(Clone, Copy, Debug)]
pub struct Ctx<'a> {
    /// The facts.
    pub facts: &'a Facts,
    /// The team's settings.
    pub settings: &'a Settings,
    /// Id of the check that is running, for its thresholds.
    pub check: &'static str,
}

impl<'a> Ctx<'a> {
    /// A fact, or [`Missing`] with its path and meaning.
    ///
    /// # Errors
    /// The fact is absent.
    pub fn need<T: Read>(&self, key: &Key<T>, index: &[usize]) -> Result<Known<'a, T>, Missing> {
        self.facts.get(key, index).ok_or_else(|| Missing::fact(key.at(index), key.what))
    }

    /// A fact, if it is known.
    #[must_use]
    pub fn get<T: Read>(&self, key: &Key<T>, index: &[usize]) -> Option<Known<'a, T>> {
        self.facts.get(key, index)
    }

    /// The value of a fact, if it is known.
    #[must_use]
    pub fn value<T: Read>(&self, key: &Key<T>, index: &[usize]) -> Option<T> {
        self.facts.get(key, index).map(|k| k.value)
    }

    /// True only if the fact is known and true.
    #[must_use]
    pub fn is(&self, key: &Key<bool>) -> bool {
        self.value(key, &[]) == Some(true)
    }

    /// A threshold: the team's value or the default.
    #[must_use]
    pub fn limit(&self, limit: &Limit) -> f64 {
        self.settings.limit(self.check, limit.name).unwrap_or(limit.default)
    }

    /// The GPUs that something is known about.
    ///
    /// # Errors
    /// None is known.
    pub fn gpus(&self) -> Result<Vec<usize>, Missing> {
        let gpus = self.facts.gpus();
        if gpus.is_empty() { Err(Missing::fact("gpu[0]".into(), "a GPU that could be read")) } else { Ok(gpus) }
    }
}

/// The evidence is not there: the verdict is *unknown, needs …*.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Paths of the missing facts.
    pub facts: Vec<String>,
    /// What is missing, in words that follow "needs".
    pub needs: String,
    /// What was seen although it does not decide.
    pub evidence: Vec<String>,
}

impl Missing {
    /// One fact is missing.
    #[must_use]
    pub fn fact(path: String, what: &str) -> Self {
        Self { facts: vec![path], needs: what.to_owned(), evidence: Vec::new() }
    }

    /// Something is missing that has no path, for example samples under load.
    #[must_use]
    pub fn other(needs: impl Into<String>) -> Self {
        Self { facts: Vec::new(), needs: needs.into(), evidence: Vec::new() }
    }
}

/// What a check says of its subject.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Level; never unknown (that is [`Missing`]).
    pub level: Level,
    /// One or two sentences with the observed values.
    pub message: String,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// How sure it is.
    pub confidence: Confidence,
    /// Share of the mean step.
    pub cost_share: Option<f64>,
    /// 1 − T′/T.
    pub recoverable_share: Option<f64>,
}

impl Verdict {
    /// A verdict with high confidence and no cost.
    #[must_use]
    pub fn new(level: Level, message: impl Into<String>) -> Self {
        debug_assert!(level != Level::Unknown, "unknown is said by Missing");
        Self {
            level,
            message: message.into(),
            evidence: Vec::new(),
            confidence: Confidence::High,
            cost_share: None,
            recoverable_share: None,
        }
    }
    /// Passed.
    #[must_use]
    pub fn pass(message: impl Into<String>) -> Self {
        Self::new(Level::Pass, message)
    }
    /// Worth knowing.
    #[must_use]
    pub fn info(message: impl Into<String>) -> Self {
        Self::new(Level::Info, message)
    }
    /// Likely costs time.
    #[must_use]
    pub fn warn(message: impl Into<String>) -> Self {
        Self::new(Level::Warn, message)
    }
    /// Broken.
    #[must_use]
    pub fn fail(message: impl Into<String>) -> Self {
        Self::new(Level::Fail, message)
    }
    /// The question does not arise here.
    #[must_use]
    pub fn not_applicable(message: impl Into<String>) -> Self {
        Self::new(Level::NotApplicable, message)
    }
    /// Adds evidence.
    #[must_use]
    pub fn with(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }
    /// Sets the confidence.
    #[must_use]
    pub fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = confidence;
        self
    }
    /// Sets what it costs and what can come back at most, as shares of the mean step.
    #[must_use]
    pub fn cost(mut self, cost_share: f64, recoverable_share: f64) -> Self {
        self.cost_share = Some(cost_share);
        self.recoverable_share = Some(recoverable_share);
        self
    }
}

/// Verdicts for several GPUs, folded into one: the gravest level leads, and the GPUs that share it are named.
#[derive(Debug, Default)]
pub struct PerGpu {
    verdicts: Vec<(usize, Verdict)>,
    missing: Vec<Missing>,
}

impl PerGpu {
    /// Adds one GPU's outcome.
    pub fn add(&mut self, gpu: usize, outcome: Result<Verdict, Missing>) {
        match outcome {
            Ok(v) => self.verdicts.push((gpu, v)),
            Err(m) => self.missing.push(m),
        }
    }

    /// The verdict for all GPUs together: fail, warn, info, then pass (only if no GPU is unknown), then not applicable.
    ///
    /// # Errors
    /// No GPU has a verdict graver than pass and at least one could not be judged.
    pub fn fold(self) -> Result<Verdict, Missing> {
        let rank = |l: Level| match l {
            Level::Fail => 5,
            Level::Warn => 4,
            Level::Info => 3,
            Level::Pass => 2,
            Level::NotApplicable | Level::Unknown => 1,
        };
        let top = self.verdicts.iter().map(|(_, v)| rank(v.level)).max().unwrap_or(0);
        if top < 3
            && let Some(first) = self.missing.first()
        {
            let mut all = first.clone();
            for m in &self.missing[1..] {
                all.facts.extend(m.facts.iter().cloned());
            }
            return Err(all);
        }
        let total = self.verdicts.len();
        let mut lead: Vec<(usize, Verdict)> = self.verdicts.into_iter().filter(|(_, v)| rank(v.level) == top).collect();
        if lead.is_empty() {
            return Err(Missing::fact("gpu[0]".into(), "a GPU that could be read"));
        }
        let gpus: Vec<String> = lead.iter().map(|(g, _)| g.to_string()).collect();
        let (_, mut first) = lead.remove(0);
        if !lead.is_empty() && top > 2 {
            let same = lead.iter().filter(|(_, v)| v.message == first.message).count();
            let rest = if same == lead.len() { "" } else { " (values differ; the first is quoted)" };
            first.message = format!("GPUs {}: {}{rest}", gpus.join(", "), first.message);
        } else if total > 1 && top > 2 {
            first.message = format!("GPU {}: {}", gpus[0], first.message);
        }
        for (_, v) in lead {
            first.evidence.extend(v.evidence);
        }
        Ok(first)
    }
}

/// A fix step without command.
#[must_use]
pub fn step(text: impl Into<String>, tags: &[Tag]) -> FixStep {
    FixStep { text: text.into(), command: None, tags: tags.to_vec() }
}

/// A fix step with a command.
#[must_use]
pub fn cmd(text: impl Into<String>, command: impl Into<String>, tags: &[Tag]) -> FixStep {
    FixStep { text: text.into(), command: Some(command.into()), tags: tags.to_vec() }
}

/// How to see that a fix has worked.
#[must_use]
pub fn verify(command: impl Into<String>, expect: impl Into<String>) -> Verify {
    Verify { command: command.into(), expect: expect.into() }
}

/// Declares a check: `check! { id, layer, title, severity, core, minutes, evidence, limits }`; `run` and `fix` are the
/// functions of that name in the same file.
#[macro_export]
macro_rules! check {
    (
        id: $id:literal, layer: $layer:ident, title: $title:literal, severity: $severity:ident, core: $core:literal,
        minutes: $minutes:literal, evidence: [$($evid:ident),* $(,)?] $(, routes: $routes:literal)?
        $(, under: [$($under:literal),* $(,)?])?
        $(, limits: { $($lname:ident = $lval:literal, $lunit:literal, $lsource:literal);* $(;)? })? $(,)?
    ) => {
        $($(
            #[doc = $lsource]
            #[expect(non_upper_case_globals, reason = "named as in the settings")]
            static $lname: $crate::check::Limit =
                $crate::check::Limit { name: stringify!($lname), default: $lval, unit: $lunit, source: $lsource };
        )*)?
        /// The check of this file.
        pub(crate) static CHECK: $crate::check::Check = $crate::check::Check {
            id: $id,
            layer: $crate::report::Layer::$layer,
            title: $title,
            severity: $crate::check::Severity::$severity,
            core: $core,
            minutes: $minutes,
            evidence: &[$($crate::check::Evid::$evid),*],
            routes: false $(|| $routes)?,
            under: &[$($($under),*)?],
            limits: &[$($(&$lname),*)?],
            run,
            fix,
        };
    };
}
