//! # What it looks for
//! Environment variables of the job that were meant for debugging and slow it down, and variables that do nothing because
//! there is no such name.
//!
//! # Why it wastes the GPU
//! With `CUDA_LAUNCH_BLOCKING=1` the host waits for each kernel, and the GPU idles between any two of them. Such a variable
//! is set once for an error hunt and stays in a script for months.
//!
//! # Confirm by hand
//! `tr '\0' '\n' < /proc/PID/environ | grep -E 'CUDA|NCCL|TORCH'` with the process id of the job; in a trace, launch calls
//! that end after their own kernel has ended.
//!
//! # Fix
//! Take the variable out of the script, the image or the scheduler's prolog, and start the job again.
//!
//! # Limits
//! Only the environment of the process counts, not that of a login shell. `CUDA_DEVICE_MAX_CONNECTIONS=1` is wanted by
//! Megatron's tensor parallelism.
//!
//! # References
//! CUDA C++ Programming Guide, appendix on environment variables; PyTorch documentation, notes on CUDA and
//! torch.distributed; NVIDIA NCCL documentation, environment variables.

use crate::catalogue::common::{env, env_names};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::fact::Known;
use crate::report::{Applicability, Evidence, Fix, Tag};
use crate::tables::{Effect, EnvAdvice, env_advice};

crate::check! {
    id: "runtime/debug-env", layer: Runtime, title: "A debugging variable slows the job down",
    severity: High, core: true, minutes: 1, evidence: [Env, Live],
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let found = found(cx);
    if env_names(cx).next().is_none() {
        return Err(Missing::fact("env".into(), "the environment of the job"));
    }
    let of = |e: Effect| found.iter().filter(move |(a, _)| a.effect == e);
    let named = |e: Effect| of(e).map(|(a, k)| format!("{}={} ({})", a.name, short(&k.value), a.text)).collect::<Vec<_>>();
    let evidence: Vec<Evidence> = found.iter().map(|(a, k)| k.evidence(a.instead)).collect();
    let (grave, likely, known, noop) =
        (named(Effect::Fail), named(Effect::Warn), named(Effect::Info), named(Effect::Noop));
    let verdict = if !grave.is_empty() {
        Verdict::fail(format!("{}.", [grave, likely].concat().join("; ")))
    } else if !likely.is_empty() {
        Verdict::warn(format!("{}.", likely.join("; ")))
    } else if !known.is_empty() || !noop.is_empty() {
        let mut parts = known;
        if !noop.is_empty() {
            parts.push(format!("without effect: {}", noop.join("; ")));
        }
        Verdict::info(format!("{}.", first_upper(&parts.join("; "))))
    } else {
        return Ok(Verdict::pass("The job's environment holds no debugging variable."));
    };
    Ok(verdict.with(evidence))
}

/// The variables that something is known about.
fn found<'a>(cx: &Ctx<'a>) -> Vec<(&'static EnvAdvice, Known<'a, String>)> {
    env_names(cx)
        .filter_map(|name| {
            let advice = env_advice(name)?;
            let known = env(cx, name)?;
            advice.speaks_of(&known.value).then_some((advice, known))
        })
        .collect()
}

fn short(value: &str) -> String {
    match value.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

fn first_upper(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

fn fix(cx: &Ctx<'_>) -> Fix {
    let mut steps: Vec<_> = found(cx)
        .iter()
        .filter(|(a, _)| matches!(a.effect, Effect::Fail | Effect::Warn))
        .map(|(a, _)| cmd(format!("Instead of {}: {}.", a.name, a.instead), format!("unset {}", a.name), &[Tag::RestartsJob]))
        .collect();
    steps.push(step("Look for it in the job script, the image and the scheduler's prolog, so that it does not come back.", &[]));
    Fix {
        steps,
        applicability: Applicability::NeedsRestart,
        verify: verify("tr '\\0' '\\n' < /proc/PID/environ | grep -E 'CUDA|NCCL|TORCH'", "the variable is gone"),
    }
}
