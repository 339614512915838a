//! Utilisation against work: what nvidia-smi calls busy, beside what the SMs, the memory and the power say for the same
//! seconds.
//!
//! Absent counters stay absent. It reads the numbers together in one line; it gives no verdict.

use crate::fact::Facts;
use crate::record::GpuSample;
use crate::report::Work;

/// Means over all samples of all GPUs that did something, or of all GPUs if none did. `None` without samples.
#[must_use]
pub fn summary(facts: &Facts) -> Option<Work> {
    let series = facts.samples.iter().max_by_key(|s| s.samples.len())?;
    let (first, last) = (series.samples.first()?, series.samples.last()?);
    let all: Vec<&GpuSample> = series.samples.iter().flat_map(|s| &s.gpu).collect();
    if all.is_empty() {
        return None;
    }
    let busy: Vec<usize> = busy_gpus(&all);
    let of: Vec<&GpuSample> = all.iter().copied().filter(|g| busy.is_empty() || busy.contains(&g.i)).collect();
    let limit: Vec<f64> =
        series.gpus.iter().filter(|g| busy.is_empty() || busy.contains(&g.i)).filter_map(|g| g.power_limit_w).collect();
    let gpm = |f: fn(&crate::record::Gpm) -> Option<f64>| mean(of.iter().filter_map(|g| g.gpm.as_ref().and_then(f)));
    let mut work = Work {
        samples: series.samples.len(),
        seconds: (last.t_ms - first.t_ms).max(0.0) / 1e3,
        util_pct: mean(of.iter().filter_map(|g| g.util_pct)),
        sm_pct: gpm(|g| g.sm_pct),
        occupancy_pct: gpm(|g| g.occupancy_pct),
        tensor_pct: gpm(|g| g.tensor_pct),
        dram_pct: gpm(|g| g.dram_pct),
        power_w: mean(of.iter().filter_map(|g| g.power_w)),
        power_limit_w: mean(limit.into_iter()),
        reading: String::new(),
    };
    work.reading = reading(&work);
    Some(work)
}

/// GPUs whose mean utilisation is above 1 %: idle neighbours on the node do not dilute a run's numbers.
fn busy_gpus(all: &[&GpuSample]) -> Vec<usize> {
    let mut ids: Vec<usize> = all.iter().map(|g| g.i).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.retain(|i| mean(all.iter().filter(|g| g.i == *i).filter_map(|g| g.util_pct)).is_some_and(|u| u > 1.0));
    ids
}

/// Mean of an iterator, `None` if it is empty.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum) = (0.0, 0.0);
    for v in values {
        n += 1.0;
        sum += v;
    }
    (n > 0.0).then(|| sum / n)
}

fn reading(w: &Work) -> String {
    let Some(util) = w.util_pct else { return "GPU utilisation was not recorded.".into() };
    let power = match (w.power_w, w.power_limit_w) {
        (Some(p), Some(l)) if l > 0.0 => format!(" ({p:.0} of {l:.0} W)"),
        (Some(p), _) => format!(" ({p:.0} W)"),
        _ => String::new(),
    };
    let Some(sm) = w.sm_pct else {
        return format!(
            "SM activity was not recorded: {util:.0} % utilisation says only that a kernel or a copy was running{power}."
        );
    };
    if util >= 80.0 && sm < 30.0 {
        format!("Busy but empty: something ran {util:.0} % of the time, but on {sm:.0} % of the SMs{power}.")
    } else if util < 30.0 && sm < 30.0 {
        format!("The counters agree: the board is nearly idle{power}. This is a feeding problem, not a slow kernel.")
    } else if sm >= 80.0 {
        format!("The SMs have work {sm:.0} % of the time{power}. What they do with it decides now.")
    } else {
        format!("The SMs have work {sm:.0} % of the time, while utilisation reads {util:.0} %{power}.")
    }
}
