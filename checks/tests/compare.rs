//! Comparison on the project's own recordings and on synthetic runs: direction, intervals, false alarms, power.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::path::{Path, PathBuf};

use checks::compare::{Comparison, Outcome, RunData, compare};
use checks::record::{Loader, Step, StepSeries};
use checks::{Facts, Intake, Value};
use proptest::prelude::*;

/// The labelled recordings, where they stand beside the checkout.
fn runs() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/gpu-runs");
    dir.join("labels.json").exists().then_some(dir)
}

fn load(dir: &Path) -> Facts {
    let mut intake = Intake::new();
    intake.add("steps.jsonl", File::open(dir.join("steps.jsonl")).unwrap());
    intake.finish().1.remove(0).facts
}

fn run(facts: &Facts) -> RunData<'_> {
    RunData { facts, report: None }
}

fn pair(a: &Facts, b: &Facts) -> Comparison {
    compare(&[run(a)], &[run(b)], &[])
}

fn synthetic(times: &[f64]) -> Facts {
    let steps = times.iter().map(|t| Step { step_ms: *t, ..Step::default() }).collect();
    let mut facts = Facts::default();
    facts.steps.push(StepSeries { steps, ..StepSeries::default() });
    facts
}

/// Uniform numbers in 0..1, repeatable.
fn uniform(n: usize, seed: u64) -> Vec<f64> {
    let mut x = seed;
    (0..n)
        .map(|_| {
            x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = x;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            f64::from(u32::try_from((z ^ (z >> 31)) >> 33).unwrap()) / f64::from(1u32 << 31)
        })
        .collect()
}

/// Step times within 3 % of `centre`.
fn noisy(n: usize, centre: f64, seed: u64) -> Vec<f64> {
    uniform(n, seed).into_iter().map(|u| centre * (0.97 + 0.06 * u)).collect()
}

#[test]
fn labelled_pairs_point_the_right_way() {
    let Some(dir) = runs() else { return };
    let labels: serde_json::Value = serde_json::from_reader(File::open(dir.join("labels.json")).unwrap()).unwrap();
    let rate = |name: &str| {
        let of = labels.as_array().unwrap().iter().find(|e| e["run"] == name);
        of.and_then(|e| e["items_per_s"].as_f64())
    };
    let mut judged = 0;
    for e in labels.as_array().unwrap() {
        let name = e["run"].as_str().unwrap();
        let Some(b_rate) = rate(&format!("{name}.fixed")) else { continue };
        let want = b_rate / rate(name).unwrap();
        let (a, b) = (load(&dir.join(name)), load(&dir.join(format!("{name}.fixed"))));
        let c = pair(&a, &b);
        let got = c.throughput_ratio.unwrap();
        if a.steps[0].steps.len() < 30 || b.steps[0].steps.len() < 30 {
            assert_eq!(c.verdict, Outcome::NotComparable, "{name}: {}", c.text);
            assert!(c.interval.is_none() && c.text.starts_with("Too few steps"), "{name}: {}", c.text);
            continue;
        }
        judged += 1;
        println!(
            "{name}: labelled {want:.3}, got {got:.3} {:?} {:?} dropped {}+{}",
            c.interval, c.basis, c.a.dropped, c.b.dropped
        );
        assert_eq!(c.verdict, Outcome::Faster, "{name}: {}", c.text);
        // The kernels of tiny-kernels queue up on the GPU: their backlog is not in host step times.
        let (lo, hi) = c.interval.unwrap();
        let near = (lo..=hi).contains(&want) || (got / want - 1.0).abs() <= 0.07;
        assert!(
            near || name == "tiny-kernels",
            "{name}: labelled {want:.3}, got {got:.3} ({lo:.3}..{hi:.3}), {:?}",
            c.basis
        );
    }
    assert!(judged >= 8, "only {judged} pairs were judged");
}

/// Random trials of each kind. Few in a debug build; `cargo test --release -p checks --test compare -- --nocapture` runs
/// all and prints the figures.
const TRIALS: u64 = if cfg!(debug_assertions) { 4 } else { 200 };

/// Random splits of a recording into two halves.
#[test]
fn halves_of_one_run_do_not_differ() {
    let Some(dir) = runs() else { return };
    for name in [
        "autograd-fragments.fixed",
        "small-grid",
        "tokenise-in-collate.fixed",
        "launch-blocking.fixed",
        "no-tensor-cores.fixed",
    ] {
        let facts = load(&dir.join(name));
        let times: Vec<f64> = facts.steps[0].steps.iter().skip(10).map(|s| s.step_ms).collect();
        let mut quiet = 0u64;
        for trial in 0..TRIALS {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for (t, u) in times.iter().zip(uniform(times.len(), trial * 7919 + 13)) {
                if u < 0.5 { a.push(*t) } else { b.push(*t) }
            }
            quiet += u64::from(pair(&synthetic(&a), &synthetic(&b)).verdict == Outcome::NoDetectableChange);
        }
        println!("{name}: {quiet} of {TRIALS} splits show no change");
        // Of few trials one may miss by chance.
        assert!(quiet * 100 >= TRIALS * 95 || quiet + 1 == TRIALS, "{name}: {quiet} of {TRIALS} splits show no change");
    }
}

/// A planted slowdown of 3 % in real step timings, 200 steps a side. Where the recording itself scatters so much that
/// 200 steps cannot show 3 %, the comparison must say how much it could have seen.
#[test]
fn three_per_cent_are_found_at_200_steps() {
    let Some(dir) = runs() else { return };
    let steady = [
        "small-grid",
        "small-grid.fixed",
        "tokenise-in-collate.fixed",
        "pageable-copies.fixed",
        "no-tensor-cores.fixed",
    ];
    for (name, enough) in steady.map(|n| (n, true)).into_iter().chain([("autograd-fragments.fixed", false)]) {
        let facts = load(&dir.join(name));
        let times: Vec<f64> = facts.steps[0].steps.iter().skip(20).map(|s| s.step_ms).collect();
        let (mut found, mut honest) = (0u64, 0u64);
        for trial in 0..TRIALS {
            let at = uniform(400, trial * 104_729 + 7);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "an index"
            )]
            let draw = |k: usize| times[(at[k] * times.len() as f64) as usize];
            let a: Vec<f64> = (0..200).map(draw).collect();
            let b: Vec<f64> = (200..400).map(|k| draw(k) * 1.03).collect();
            let c = pair(&synthetic(&a), &synthetic(&b));
            found += u64::from(c.verdict == Outcome::Slower);
            honest += u64::from(c.verdict == Outcome::Slower || c.detectable_pct.unwrap() > 3.0);
        }
        println!(
            "{name}: the slowdown is found in {found} of {TRIALS} trials; {honest} find it or say that they could not"
        );
        assert!(!enough || found * 100 >= TRIALS * 90, "{name}: the slowdown is found in {found} of {TRIALS} trials");
        assert!(honest * 100 >= TRIALS * 90, "{name}: {honest} of {TRIALS} trials find it or say that they could not");
    }
}

/// Two runs of a million steps; the time is printed by the release run, not judged here.
#[test]
fn a_million_steps_are_compared() {
    let n = if cfg!(debug_assertions) { 5_000 } else { 1_000_000 };
    let (a, b) = (synthetic(&noisy(n, 100.0, 31)), synthetic(&noisy(n, 95.0, 37)));
    let start = std::time::Instant::now();
    let c = pair(&a, &b);
    println!("{n} steps a side: {:.2} s, {}", start.elapsed().as_secs_f64(), c.text);
    assert_eq!(c.verdict, Outcome::Faster);
}

#[test]
fn another_batch_is_not_compared_by_steps() {
    let with = |batch: i32, items: bool, knob: bool| {
        let mk = |batch: i32, ms: f64| {
            let mut f = synthetic(&noisy(60, ms, 3));
            f.steps[0].loaders.push(Loader { batch: Some(batch.into()), ..Loader::default() });
            for s in &mut f.steps[0].steps {
                s.items = items.then(|| batch.into());
            }
            f
        };
        let (a, b) = (mk(64, 100.0), mk(batch, 150.0));
        compare(&[run(&a)], &[run(&b)], if knob { &["batch"] } else { &[] })
    };
    assert!(with(128, true, false).text.contains("the work differs (batch 64 against 128)"));
    assert!(with(128, false, true).text.contains("items of a step were not recorded"));
    let c = with(128, true, true);
    assert_eq!((c.verdict, c.unit.as_str()), (Outcome::Faster, "items"));
    assert!((c.throughput_ratio.unwrap() - 128.0 / 64.0 / 1.5).abs() < 0.02, "{}", c.text);
}

#[test]
fn a_precision_that_the_fix_turns_is_listed_and_one_that_it_does_not_turn_refuses() {
    let mk = |ms: f64, precision: &str| {
        let mut f = synthetic(&noisy(60, ms, 5));
        f.steps[0].settings.insert("autocast".into(), Value::Text(precision.into()));
        f
    };
    let (a, b) = (mk(100.0, "float32"), mk(50.0, "bfloat16"));
    assert_eq!(pair(&a, &b).verdict, Outcome::NotComparable);
    assert_eq!(compare(&[run(&a)], &[run(&b)], &["precision"]).verdict, Outcome::Faster);
}

#[test]
fn broken_times_are_left_out_and_missing_ones_are_said() {
    let mut times = noisy(60, 100.0, 9);
    times[20] = -5.0;
    times[21] = 0.0;
    let c = pair(&synthetic(&times), &synthetic(&noisy(60, 100.0, 11)));
    assert!(c.notes.iter().any(|n| n.starts_with("2 steps")), "{:?}", c.notes);
    assert_eq!(c.verdict, Outcome::NoDetectableChange);
    let none = pair(&synthetic(&[]), &synthetic(&times));
    assert_eq!(none.verdict, Outcome::NotComparable);
    assert!(none.throughput_ratio.is_none());
}

#[test]
fn a_stall_that_only_the_mean_shows_is_a_slowdown() {
    let calm = noisy(300, 100.0, 21);
    let mut stalls = noisy(300, 100.0, 23);
    for s in stalls.iter_mut().skip(25).step_by(20) {
        *s *= 8.0;
    }
    let c = pair(&synthetic(&calm), &synthetic(&stalls));
    assert_eq!((c.verdict, c.basis.as_deref()), (Outcome::Slower, Some("mean")), "{}", c.text);
}

#[test]
fn runs_that_repeat_no_better_than_the_change_show_no_change() {
    let sides: Vec<Facts> =
        [100.0, 108.0, 101.0, 106.0].iter().zip(1..).map(|(m, s)| synthetic(&noisy(80, *m, s))).collect();
    let c = compare(&[run(&sides[0]), run(&sides[1])], &[run(&sides[2]), run(&sides[3])], &[]);
    assert_eq!(c.verdict, Outcome::NoDetectableChange, "{}", c.text);
    let many = |m: f64| -> Vec<Facts> {
        (0..5u32).map(|k| synthetic(&noisy(80, m + f64::from(k), u64::from(k) + 40))).collect()
    };
    let (a, b) = (many(100.0), many(80.0));
    let c = compare(&a.iter().map(run).collect::<Vec<_>>(), &b.iter().map(run).collect::<Vec<_>>(), &[]);
    assert_eq!(c.verdict, Outcome::Faster, "{}", c.text);
    assert!(c.notes.iter().any(|n| n.contains("Mann-Whitney")), "{:?}", c.notes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(debug_assertions) { 8 } else { 100 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn swapping_the_sides_inverts_the_ratio(sa in 1u64..1_000_000, sb in 1u64..1_000_000, n in 30usize..200, f in 0.5f64..2.0) {
        let (a, b) = (synthetic(&noisy(n, 100.0, sa)), synthetic(&noisy(n + 7, 100.0 * f, sb)));
        let (ab, ba) = (pair(&a, &b), pair(&b, &a));
        let (r, s) = (ab.throughput_ratio.unwrap(), ba.throughput_ratio.unwrap());
        prop_assert!((r * s - 1.0).abs() < 1e-9, "{r} and {s}");
        let (i, j) = (ab.interval.unwrap(), ba.interval.unwrap());
        prop_assert!((i.0 * j.1 - 1.0).abs() < 1e-9 && (i.1 * j.0 - 1.0).abs() < 1e-9, "{i:?} and {j:?}");
    }

    #[test]
    fn scaling_all_times_changes_nothing(sa in 1u64..1_000_000, sb in 1u64..1_000_000, k in 1i32..12) {
        // A power of two scales without rounding.
        let k = 2f64.powi(k - 6);
        let times = |s: u64, k: f64| synthetic(&noisy(80, 100.0, s).iter().map(|t| t * k).collect::<Vec<_>>());
        let (c, d) = (pair(&times(sa, 1.0), &times(sb, 1.0)), pair(&times(sa, k), &times(sb, k)));
        prop_assert_eq!(c.verdict, d.verdict);
        prop_assert!((c.throughput_ratio.unwrap() / d.throughput_ratio.unwrap() - 1.0).abs() < 1e-9);
        prop_assert!((c.interval.unwrap().0 / d.interval.unwrap().0 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn slow_steps_at_the_start_change_nothing(sa in 1u64..1_000_000, sb in 1u64..1_000_000, extra in 1usize..15) {
        let base = noisy(120, 100.0, sa);
        let mut warm = vec![400.0; extra];
        warm.extend(&base);
        let b = synthetic(&noisy(120, 80.0, sb));
        let (c, d) = (pair(&synthetic(&base), &b), pair(&synthetic(&warm), &b));
        prop_assert_eq!(c.verdict, d.verdict);
        prop_assert!((c.throughput_ratio.unwrap() / d.throughput_ratio.unwrap() - 1.0).abs() < 0.01);
    }

    #[test]
    fn any_times_give_an_answer(times in proptest::collection::vec(prop_oneof![Just(0.0), Just(-1.0), Just(f64::NAN), Just(1e300), 1e-9f64..1e9], 0..120)) {
        let c = pair(&synthetic(&times), &synthetic(&noisy(50, 10.0, 1)));
        prop_assert!(!c.text.is_empty());
    }
}
