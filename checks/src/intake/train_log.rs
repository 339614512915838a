//! Training logs of other tools: meters (`Time 0.21 (0.25) Data 0.01 (0.02)`), `Data (t)`/`Batch (t)` lines, Megatron's
//! iteration lines, progress bars, and tables of step times (CSV or JSON lines). What was assumed is said.
//!
//! Warnings of PyTorch and Lightning in such a log become facts. It does not know whether a step is slow.

use super::Part;
use crate::fact::Trust;
use crate::keys;
use crate::record::{Step, StepSeries};

/// Steps that are kept of one log.
const MAX_STEPS: usize = 1_000_000;

pub(super) fn looks(head: &str) -> bool {
    let hits = head.lines().filter(|l| meter(l).is_some()).take(2).count();
    hits >= 2 || table(head).is_some() || head.lines().any(|l| warning(l).is_some())
}

pub(super) fn parse(text: &str, part: &mut Part) {
    for (n, line) in (1u32..).zip(text.lines()) {
        match warning(line) {
            None => {}
            Some(Warning::Workers(made, suggested)) => {
                part.put(&keys::LOG_WORKERS_MADE, &[], made, Trust::Text, n, line);
                part.put(&keys::LOG_WORKERS_SUGGESTED, &[], suggested, Trust::Text, n, line);
            }
            Some(Warning::Crash) => part.put(&keys::LOG_CRASH, &[], line.trim(), Trust::Text, n, line),
            Some(Warning::Flag(key)) => part.put(key, &[], true, Trust::Text, n, line),
        }
    }
    let mut series = StepSeries { input: part.input, ..StepSeries::default() };
    if let Some(t) = table(text) {
        t.read(text, &mut series);
    } else {
        meters(text, &mut series);
    }
    if series.steps.is_empty() {
        return;
    }
    if let Some(a) = &series.assumed {
        part.note(None, a.clone());
    }
    let last = series.steps.last().map_or(1, |s| s.line);
    let count = series.steps.len();
    let line = text.lines().nth(last as usize - 1).unwrap_or("");
    part.put(&keys::STEPS, &[], count, Trust::Text, last, line);
    let mut worst: Vec<usize> = (0..count).collect();
    worst.sort_by(|a, b| wait(&series.steps[*b]).total_cmp(&wait(&series.steps[*a])));
    for i in worst.into_iter().take(16) {
        let n = series.steps[i].line;
        if let Some(q) = text.lines().nth(n as usize - 1) {
            series.quotes.insert(n, q.trim().chars().take(240).collect::<String>().into());
        }
    }
    part.facts.steps.push(series);
}

fn wait(s: &Step) -> f64 {
    s.data_wait_ms.unwrap_or(s.step_ms)
}

/// A step as a line tells it, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Meter {
    /// What the line is, for the note.
    form: Form,
    /// Position in the epoch, where told.
    i: Option<i64>,
    step_s: f64,
    /// Mean over the epoch so far.
    step_mean_s: Option<f64>,
    data_s: Option<f64>,
    data_mean_s: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Meters,
    BatchData,
    Megatron,
    Progress,
}

fn meter(line: &str) -> Option<Meter> {
    batch_data(line).or_else(|| time_data(line)).or_else(|| megatron(line)).or_else(|| progress(line))
}

/// `Epoch: [0][23/5005] Time 0.225 (5.293) Data 0.001 (5.083) …`
fn time_data(line: &str) -> Option<Meter> {
    let (step_s, step_mean_s) = value_after(line, &["Time ", "Time: ", "batch_time ", "time: "])?;
    let data = value_after(line, &["Data ", "Data: ", "data_time ", "DataTime ", "data: "])?;
    Some(Meter {
        form: Form::Meters,
        i: position(line),
        step_s,
        step_mean_s,
        data_s: Some(data.0),
        data_mean_s: data.1,
    })
}

/// `Data (t): 0.123 Batch (t): 0.456`
fn batch_data(line: &str) -> Option<Meter> {
    let data = value_after(line, &["Data (t): ", "Data(t): "])?;
    let (step_s, step_mean_s) = value_after(line, &["Batch (t): ", "Batch(t): "])?;
    Some(Meter {
        form: Form::BatchData,
        i: position(line),
        step_s,
        step_mean_s,
        data_s: Some(data.0),
        data_mean_s: data.1,
    })
}

/// `iteration 100/ 500 | … | elapsed time per iteration (ms): 1234.5 | …`
fn megatron(line: &str) -> Option<Meter> {
    let (ms, _) = value_after(line, &["elapsed time per iteration (ms): ", "time per iteration (ms): "])?;
    let i = value_after(line, &["iteration "]).map(|v| v.0);
    #[expect(clippy::cast_possible_truncation, reason = "iteration counts are small")]
    let i = i.map(|i| i as i64);
    Some(Meter { form: Form::Megatron, i, step_s: ms / 1e3, step_mean_s: None, data_s: None, data_mean_s: None })
}

/// `12/100 [00:10<01:12, 1.20it/s, …]` of a progress bar.
fn progress(line: &str) -> Option<Meter> {
    let at = line.rfind('[')?;
    let inside = line[at + 1..].split(']').next()?;
    let rate = inside.split(',').map(str::trim).find(|c| c.ends_with("it/s") || c.ends_with("s/it"))?;
    let front = line[..at].trim_end();
    let (done, all) = front.rsplit(' ').next()?.rsplit('|').next()?.split_once('/')?;
    let i: i64 = done.parse().ok()?;
    all.parse::<i64>().ok()?;
    let step_s = match rate.strip_suffix("it/s") {
        Some(r) => 1.0 / r.trim().parse::<f64>().ok()?,
        None => rate.strip_suffix("s/it")?.trim().parse().ok()?,
    };
    (step_s.is_finite() && step_s > 0.0 && inside.contains('<')).then_some(Meter {
        form: Form::Progress,
        i: Some(i),
        step_s,
        step_mean_s: None,
        data_s: None,
        data_mean_s: None,
    })
}

/// A number behind one of several names, and the number in brackets behind it.
fn value_after(line: &str, names: &[&str]) -> Option<(f64, Option<f64>)> {
    let mut found = None;
    for name in names {
        let Some(at) = line.find(name) else { continue };
        // `Data Time 0.1` must not be read as `Time 0.1` of something else's meter.
        let before = line[..at].chars().next_back();
        if before.is_some_and(char::is_alphanumeric) {
            continue;
        }
        found = Some(&line[at + name.len()..]);
        break;
    }
    let rest = found?.trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
    let value: f64 = rest[..end].parse().ok().filter(|v: &f64| v.is_finite())?;
    let behind = rest[end..].trim_start_matches(['s', ' ']);
    let mean = behind.strip_prefix('(').and_then(|m| m.trim_start().split([')', ' ', 's']).next()?.parse().ok());
    Some((value, mean))
}

/// `[23/5005]`: the position in the epoch.
fn position(line: &str) -> Option<i64> {
    line.split('[').skip(1).find_map(|p| {
        let (i, rest) = p.split_once('/')?;
        rest.split(']').next()?.trim().parse::<i64>().ok()?;
        i.trim().parse().ok()
    })
}

fn meters(text: &str, series: &mut StepSeries) {
    let mut before: Option<Meter> = None;
    let mut forms: Vec<Form> = Vec::new();
    let mut means = false;
    for (n, line) in (1u32..).zip(text.lines()) {
        let Some(m) = meter(line).filter(|_| series.steps.len() < MAX_STEPS) else { continue };
        if !forms.contains(&m.form) {
            forms.push(m.form);
        }
        let (step_s, data_s) = match before.and_then(|b| between(&b, &m)) {
            Some(v) => {
                means = true;
                v
            }
            None => (m.step_s, m.data_s),
        };
        series.steps.push(Step {
            i: m.i,
            step_ms: step_s * 1e3,
            data_wait_ms: data_s.map(|d| (d * 1e3).min(step_s * 1e3)),
            line: n,
            ..Step::default()
        });
        before = Some(m);
    }
    let said = match forms.first() {
        None => return,
        Some(Form::Meters) => "\"Time\" was taken as the step and \"Data\" as the wait for data, in seconds",
        Some(Form::BatchData) => {
            "\"Batch (t)\" was taken as the step and \"Data (t)\" as the wait for data, in seconds"
        }
        Some(Form::Megatron) => "\"elapsed time per iteration\" was taken as the step",
        Some(Form::Progress) => "the progress bar's rate was taken as the step; it is smoothed",
    };
    let how = if means { "; between two lines the difference of the running means counts" } else { "" };
    series.assumed = Some(format!("A training log: {said}{how}."));
}

/// The mean step between two lines that are more than one step apart, from the running means: exact, where single
/// values are samples.
fn between(a: &Meter, b: &Meter) -> Option<(f64, Option<f64>)> {
    let (i, j) = (a.i?, b.i?);
    if j <= i + 1 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "step counts are small")]
    let (ni, nj) = ((i + 1) as f64, (j + 1) as f64);
    let mean = |x: Option<f64>, y: Option<f64>| {
        let v = (y? * nj - x? * ni) / (nj - ni);
        (v.is_finite() && v >= 0.0).then_some(v)
    };
    Some((mean(a.step_mean_s, b.step_mean_s).filter(|v| *v > 0.0)?, mean(a.data_mean_s, b.data_mean_s)))
}

/// A table with a column of step times.
#[derive(Debug, PartialEq)]
struct Table {
    json: bool,
    step: String,
    data: Option<String>,
    milliseconds: bool,
    separator: char,
}

const STEP_COLUMNS: &[&str] = &[
    "step_time",
    "iter_time",
    "time_per_step",
    "step_time_s",
    "step_time_ms",
    "iter_time_ms",
    "step_time_seconds",
    "batch_time",
    "iteration_time",
];
const DATA_COLUMNS: &[&str] =
    &["data_time", "data_wait", "dataload_time", "data_time_s", "data_time_ms", "data_wait_ms", "data_loading_time"];

/// The table that a text starts with.
fn table(head: &str) -> Option<Table> {
    let mut lines = head.lines().filter(|l| !l.trim().is_empty());
    let first = lines.next()?;
    if first.trim_start().starts_with('{') {
        let v: serde_json::Value = serde_json::from_str(first).ok()?;
        let o = v.as_object()?;
        let step = STEP_COLUMNS.iter().find(|c| o.get(**c).is_some_and(serde_json::Value::is_number))?;
        let data = DATA_COLUMNS.iter().find(|c| o.get(**c).is_some_and(serde_json::Value::is_number));
        let values: Vec<f64> = head
            .lines()
            .take(200)
            .filter_map(|l| serde_json::from_str::<serde_json::Value>(l).ok()?[*step].as_f64())
            .collect();
        return Some(Table {
            json: true,
            step: (*step).into(),
            data: data.map(|d| (*d).into()),
            milliseconds: in_ms(step, &values),
            separator: ',',
        });
    }
    let separator = [',', '\t', ';'].into_iter().find(|s| first.contains(*s))?;
    let columns: Vec<&str> = first.split(separator).map(|c| c.trim().trim_matches('"')).collect();
    let step = columns.iter().find(|c| STEP_COLUMNS.contains(c))?;
    let data = columns.iter().find(|c| DATA_COLUMNS.contains(c));
    let at = columns.iter().position(|c| c == step)?;
    let values: Vec<f64> =
        lines.take(200).filter_map(|l| l.split(separator).nth(at)?.trim().trim_matches('"').parse().ok()).collect();
    Some(Table {
        json: false,
        step: (*step).into(),
        data: data.map(|d| (*d).into()),
        milliseconds: in_ms(step, &values),
        separator,
    })
}

/// The unit: by the column's name, else by size. A median above 20 would be a step of 20 s; milliseconds are likelier.
fn in_ms(name: &str, values: &[f64]) -> bool {
    if name.ends_with("_ms") {
        return true;
    }
    if name.ends_with("_s") || name.ends_with("_seconds") {
        return false;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).is_some_and(|m| *m > 20.0)
}

impl Table {
    fn read(&self, text: &str, series: &mut StepSeries) {
        let factor = if self.milliseconds { 1.0 } else { 1e3 };
        let mut columns: Option<(usize, Option<usize>)> = None;
        for (n, line) in (1u32..).zip(text.lines()).filter(|(_, l)| !l.trim().is_empty()) {
            let (step, data) = if self.json {
                let Ok(v) = serde_json::from_str::<serde_json::Value>(line) else { continue };
                (v[&self.step].as_f64(), self.data.as_ref().and_then(|d| v[d].as_f64()))
            } else {
                let cells: Vec<&str> = line.split(self.separator).map(|c| c.trim().trim_matches('"')).collect();
                let Some((s, d)) = columns else {
                    let at = |name: &str| cells.iter().position(|c| *c == name);
                    columns = at(&self.step).map(|s| (s, self.data.as_deref().and_then(at)));
                    continue;
                };
                let value = |i: usize| cells.get(i).and_then(|c| c.parse::<f64>().ok());
                (value(s), d.and_then(value))
            };
            let Some(step) = step.filter(|s| s.is_finite() && *s > 0.0) else { continue };
            if series.steps.len() < MAX_STEPS {
                series.steps.push(Step {
                    step_ms: step * factor,
                    data_wait_ms: data.filter(|d| d.is_finite() && *d >= 0.0).map(|d| d * factor),
                    line: n,
                    ..Step::default()
                });
            }
        }
        let unit = if self.milliseconds { "milliseconds" } else { "seconds" };
        let data = self.data.as_ref().map_or(String::new(), |d| format!(" and \"{d}\" as the wait for data"));
        series.assumed = Some(format!("A table: \"{}\" was taken as the step{data}, in {unit}.", self.step));
    }
}

enum Warning {
    Workers(i64, i64),
    Flag(&'static crate::fact::Key<bool>),
    Crash,
}

/// A line of PyTorch, Lightning or the loader that says something about the set-up.
fn warning(line: &str) -> Option<Warning> {
    let has = |t: &str| line.contains(t);
    if has("This DataLoader will create") && has("suggested max number of worker") {
        let number = |after: &str| {
            let rest = &line[line.find(after)? + after.len()..];
            rest.split(|c: char| !c.is_ascii_digit()).find(|w| !w.is_empty())?.parse::<i64>().ok()
        };
        return Some(Warning::Workers(number("will create")?, number("suggested max number of worker")?));
    }
    if has("does not have many workers which may be a bottleneck") {
        return Some(Warning::Flag(&keys::LOG_FEW_WORKERS));
    }
    if has("Bus error") && has("shared memory") || has("DataLoader worker") && has("Bus error") {
        return Some(Warning::Flag(&keys::LOG_BUS_ERROR));
    }
    if has("find_unused_parameters=True was specified") && has("did not find any unused parameters") {
        return Some(Warning::Flag(&keys::LOG_UNUSED_PARAMETERS));
    }
    if has("Grad strides do not match bucket view strides") {
        return Some(Warning::Flag(&keys::LOG_GRAD_STRIDES));
    }
    if has("hit config.recompile_limit") || has("torch._dynamo hit config.cache_size_limit") {
        return Some(Warning::Flag(&keys::LOG_RECOMPILE_LIMIT));
    }
    let died = has("DataLoader worker (pid") && has("killed by signal")
        || has("Segmentation fault (core dumped)")
        || has("ChildFailedError")
        || has("exitcode: -11")
        || has("exitcode: -9");
    died.then_some(Warning::Crash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::Kind;

    fn read(text: &str) -> Part {
        let mut part = Part::new(0, Kind::TrainLog);
        assert!(looks(text));
        parse(text, &mut part);
        part
    }

    #[test]
    fn meters_are_read_and_said() {
        let p = read(
            "Epoch: [0][23/5005]\tTime 0.225 (5.293)\tData 0.001 (5.083)\tLoss 6.9\n\
             Epoch: [0][24/5005]\tTime 0.217 (5.090)\tData 0.101 (4.880)\tLoss 6.9\n",
        );
        let s = &p.facts.steps[0];
        assert_eq!((s.steps[1].step_ms, s.steps[1].data_wait_ms), (217.0, Some(101.0)));
        assert!(p.notes[0].text.contains("in seconds"));
    }

    #[test]
    fn running_means_tell_the_steps_between_two_lines() {
        let p = read(
            "Epoch: [0][ 0/100] Time 1.000 (1.000) Data 0.500 (0.500)\n\
             Epoch: [0][10/100] Time 0.100 (0.200) Data 0.000 (0.050)\n",
        );
        // 11 steps of 0.2 s on average, the first one of 1 s: ten steps of 0.12 s.
        assert!((p.facts.steps[0].steps[1].step_ms - 120.0).abs() < 1e-6);
    }

    #[test]
    fn other_forms() {
        let m = read(
            "Train: 1 [ 10/100] Data (t): 0.01 Batch (t): 0.25\nTrain: 1 [ 11/100] Data (t): 0.02 Batch (t): 0.26\n",
        );
        assert_eq!(m.facts.steps[0].steps[0].data_wait_ms, Some(10.0));
        let m = read(
            " iteration      100/  500 | consumed samples: 1 | elapsed time per iteration (ms): 1234.5 | lr: 1\n\
             \x20iteration      101/  500 | consumed samples: 1 | elapsed time per iteration (ms): 1200.0 | lr: 1\n",
        );
        assert_eq!(m.facts.steps[0].steps[1].step_ms, 1200.0);
        let m = read(
            "Epoch 0:  12%|#2 | 12/100 [00:10<01:12,  2.00it/s, loss=1]\nEpoch 0:  13%|#2 | 13/100 [00:10<01:12,  4.00s/it]\n",
        );
        assert_eq!((m.facts.steps[0].steps[0].step_ms, m.facts.steps[0].steps[1].step_ms), (500.0, 4000.0));
    }

    #[test]
    fn tables_say_their_unit() {
        let m = read("step,iter_time,data_time\n1,0.25,0.01\n2,0.26,0.02\n");
        assert_eq!((m.facts.steps[0].steps[0].step_ms, m.facts.steps[0].steps[1].data_wait_ms), (250.0, Some(20.0)));
        let m = read("{\"step\":1,\"step_time\":250.0}\n{\"step\":2,\"step_time\":260.0}\n");
        assert_eq!(m.facts.steps[0].steps[1].step_ms, 260.0);
        assert!(m.notes[0].text.contains("milliseconds"));
    }

    #[test]
    fn warnings_become_facts() {
        let p = read(
            "UserWarning: This DataLoader will create 32 worker processes in total. Our suggested max number of worker in current system is 8, which is smaller\n",
        );
        assert_eq!(p.facts.get(&keys::LOG_WORKERS_SUGGESTED, &[]).map(|k| k.value), Some(8));
        assert_eq!(p.facts.get(&keys::LOG_WORKERS_MADE, &[]).map(|k| k.value), Some(32));
    }
}
