//! The way from facts to a report: total, deterministic, ordered, and honest about what it does not know.
#![expect(clippy::unwrap_used, reason = "tests")]

use checks::fact::Fact;
use checks::record::{Boot, Gpm, GpuSample, KernelEvent, KernelKind, Sample, SampleSeries, Step, StepSeries};
use checks::{Facts, Layer, Level, Place, Report, Settings, Trust, Value, evaluate, keys};
use proptest::prelude::*;

fn facts(lines: &[(&str, Value)]) -> Facts {
    let mut facts = Facts::default();
    for (path, value) in lines {
        let fact = Fact { value: value.clone(), unit: "", trust: Trust::Text, place: Place::input(0) };
        facts.insert((*path).to_owned(), fact);
    }
    facts
}

fn report(facts: &Facts) -> Report {
    evaluate(facts, &Settings::default())
}

fn steps(n: usize, step_ms: f64, wait_ms: f64) -> StepSeries {
    let one = |i: usize| Step {
        i: i64::try_from(i).ok(),
        step_ms,
        data_wait_ms: Some(wait_ms),
        line: u32::try_from(i + 1).unwrap_or(1),
        ..Step::default()
    };
    StepSeries { steps: (0..n).map(one).collect(), ..StepSeries::default() }
}

/// A GPU at x8 and a loader that takes half of the step.
fn two_faults() -> Facts {
    let mut f = facts(&[
        ("gpu[0].name", "NVIDIA A100-PCIE-40GB".into()),
        ("gpu[0].util_gpu_pct", 90.0.into()),
        ("gpu[0].pcie.link_width_current", 8.into()),
        ("gpu[0].pcie.link_width_max", 16.into()),
    ]);
    f.steps.push(steps(40, 100.0, 50.0));
    f
}

#[test]
fn what_costs_a_measured_share_stands_before_what_does_not() {
    let r = report(&two_faults());
    let ids: Vec<&str> = r.findings.iter().take(2).map(|f| f.id.as_str()).collect();
    assert_eq!(ids, ["pipeline/loader-wait", "driver/pcie-link-width"]);
    assert_eq!(r.headline.check.as_deref(), Some("pipeline/loader-wait"));
    assert_eq!(r.headline.recoverable_share, Some(0.5));
}

#[test]
fn start_here_is_the_lowest_failing_layer_and_what_is_above_it_is_provisional() {
    let r = report(&two_faults());
    assert_eq!(r.start_here(), Some(Layer::Driver));
    assert!(r.finding("pipeline/loader-wait").unwrap().provisional);
    assert!(!r.finding("driver/pcie-link-width").unwrap().provisional);
    let driver = &r.layers[0];
    assert_eq!((driver.id, driver.status), (Layer::Driver, Level::Fail));
    assert!(driver.measured < driver.total);
}

#[test]
fn groups_come_in_the_order_of_the_contract() {
    let r = report(&two_faults());
    let group = |l: Level| match l {
        Level::Fail | Level::Warn => 0,
        Level::Info => 1,
        Level::Unknown => 2,
        Level::Pass => 3,
        Level::NotApplicable => 4,
    };
    assert!(r.findings.is_sorted_by_key(|f| group(f.verdict)));
    assert!(r.findings.iter().all(|f| f.fix.is_some() == f.verdict.is_problem()));
}

#[test]
fn a_symptom_stands_after_its_causes() {
    let mut f = two_faults();
    let reading = |i: u32| Sample {
        t_ms: f64::from(i) * 500.0,
        gpu: vec![GpuSample {
            util_pct: Some(95.0),
            gpm: Some(Gpm { sm_pct: Some(3.0), dram_pct: Some(1.0), ..Gpm::default() }),
            ..GpuSample::default()
        }],
        ..Sample::default()
    };
    f.samples.push(SampleSeries { samples: (1..20).map(reading).collect(), ..SampleSeries::default() });
    let r = report(&f);
    let at = |id: &str| r.findings.iter().position(|f| f.id == id).unwrap();
    assert!(at("driver/util-vs-sm-activity") > at("driver/pcie-link-width"));
    assert!(r.finding("driver/util-vs-sm-activity").unwrap().verdict.is_problem());
}

#[test]
fn a_healthy_node_is_said_to_be_so_with_what_is_not_known() {
    let r = report(&facts(&[("gpu[0].pcie.link_width_current", 16.into()), ("gpu[0].pcie.link_width_max", 16.into())]));
    assert!(r.headline.text.starts_with("Nothing to fix was found: 1 check was measured, "), "{}", r.headline.text);
    assert!(r.headline.check.is_none());
}

#[test]
fn nothing_that_decides_is_said_to_be_so() {
    let r = report(&facts(&[("host", "n1".into())]));
    assert_eq!(r.headline.text, "Cannot say yet: nothing here decides a check.");
}

#[test]
fn overrides_are_recorded_and_hold() {
    let mut s = Settings::default();
    s.limits.insert("pipeline/loader-wait.fail_share".into(), 0.9);
    s.limits.insert("pipeline/no-such-check.x".into(), 1.0);
    let r = evaluate(&two_faults(), &s);
    assert_eq!(r.finding("pipeline/loader-wait").unwrap().verdict, Level::Warn);
    assert_eq!(r.overridden.keys().collect::<Vec<_>>(), ["pipeline/loader-wait.fail_share"]);
}

#[test]
fn the_next_evidence_fits_the_platform_and_what_is_there() {
    let commands = |f: &Facts| report(f).next_evidence.into_iter().map(|n| n.command).collect::<Vec<_>>();
    assert!(commands(&Facts::default()).iter().any(|c| c == "nvidia-smi -q" || c == "dmesg -T"));
    assert!(report(&Facts::default()).next_evidence.len() <= 3);
    let read = facts(&[
        ("gpu[0].pcie.gen_max", 4.into()),
        ("gpu[0].throttle_active", Value::List(Vec::new())),
        ("gpu[0].pstate", "P0".into()),
    ]);
    assert!(!commands(&read).iter().any(|c| c == "nvidia-smi -q"), "it was read already");
    for wsl in [("platform.wsl2", Value::Bool(true)), ("os", "Microsoft Windows 11 Pro".into())] {
        let all = commands(&facts(&[wsl]));
        assert!(!all.iter().any(|c| c.contains("dmesg") || c.contains("lspci")), "{all:?}");
    }
    let refused = facts(&[("kernel_log.readable", false.into()), ("gpu[0].pcie.gen_max", 4.into())]);
    assert!(commands(&refused).iter().all(|c| !c.starts_with("dmesg")), "without root it was refused already");
}

fn value(ty: &'static str) -> BoxedStrategy<Value> {
    let word = prop_oneof![
        Just("Enabled"),
        Just("Disabled"),
        Just("P0"),
        Just("P8"),
        Just("N/A"),
        Just("13.0"),
        Just("580.159.04"),
        Just("NVIDIA H100 80GB HBM3"),
        Just("NVIDIA GeForce RTX 4060 Laptop GPU"),
        Just("Pass-Through"),
        Just("2.9.0+cpu"),
        Just("C"),
        Just("G"),
        Just("python"),
        Just("1"),
        Just(""),
        Just("Default"),
        Just("idle"),
        Just("é…\u{0}"),
    ]
    .prop_map(str::to_owned);
    match ty {
        "bool" => any::<bool>().prop_map(Value::Bool).boxed(),
        "i64" => prop_oneof![-2i64..300, Just(i64::MAX), Just(i64::MIN)].prop_map(Value::Int).boxed(),
        "f64" => prop_oneof![-5.0f64..1000.0, Just(0.0), Just(f64::MAX), Just(f64::MIN_POSITIVE)]
            .prop_map(Value::Num)
            .boxed(),
        "String" => word.prop_map(Value::Text).boxed(),
        _ => prop::collection::vec(word, 0..4).prop_map(Value::from).boxed(),
    }
}

fn fact() -> impl Strategy<Value = (String, Value)> {
    (0..keys::TYPES.len(), 0usize..3, 0usize..2).prop_flat_map(|(k, a, b)| {
        let (path, ty) = keys::TYPES[k];
        let path = path.replacen("[]", &format!("[{a}]"), 1).replacen("[]", &format!("[{b}]"), 1);
        value(ty).prop_map(move |v| (path.clone(), v))
    })
}

fn event() -> impl Strategy<Value = KernelEvent> {
    let kind = prop_oneof![
        (0u32..200, any::<Option<bool>>()).prop_map(|(code, fatal)| KernelKind::Xid {
            code,
            pid: None,
            name: None,
            fatal,
            caused_by: None
        }),
        Just(KernelKind::FallenOffBus),
        Just(KernelKind::InitFailed { code: Some("0x62:0x1a:2631".into()) }),
        Just(KernelKind::ModuleRejected),
        Just(KernelKind::ApiMismatch),
        (0u32..20000, any::<Option<bool>>()).prop_map(|(code, fatal)| KernelKind::SXid { code, fatal }),
        any::<bool>().prop_map(|open| KernelKind::ModuleLoaded { version: "580.159.04".into(), open }),
        prop_oneof![
            Just("module-unsigned"),
            Just("driver-conflict"),
            Just("nouveau"),
            Just("not-supported"),
            Just("power-cable"),
            Just("gsp"),
            Just("bar-invalid"),
            Just("pcie-bandwidth"),
            Just("aer-fatal"),
            Just("aer-corrected"),
            Just("segfault"),
            Just("oom-kill"),
            Just("peermem"),
            Just("not-supported-open"),
            Just("iommu-domain"),
        ]
        .prop_map(KernelKind::Other),
    ];
    (kind, any::<bool>(), prop::option::of(-1.0f64..1e6), ".{0,40}").prop_map(|(kind, now, since_boot_s, text)| {
        KernelEvent {
            kind,
            since_boot_s,
            pci: now.then(|| "0000:3b:00".to_owned()),
            boot: if now { Boot::Present } else { Boot::Earlier },
            place: Place::line(0, 1, &text),
            text,
        }
    })
}

fn sample() -> impl Strategy<Value = Sample> {
    let pct = || prop::option::of(0.0f64..101.0);
    let gpm = (pct(), pct(), pct()).prop_map(|(sm_pct, dram_pct, tensor_pct)| Gpm {
        sm_pct,
        dram_pct,
        tensor_pct,
        ..Gpm::default()
    });
    let gpu = (0usize..3, pct(), prop::option::of(0u64..512), prop::option::of(gpm))
        .prop_map(|(i, util_pct, reasons, gpm)| GpuSample { i, util_pct, reasons, gpm, ..GpuSample::default() });
    (0.0f64..1e5, prop::collection::vec(gpu, 0..3)).prop_map(|(t_ms, gpu)| Sample { t_ms, gpu, ..Sample::default() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Whatever the facts are, the report is made, is the same again, and keeps its own promises.
    #[test]
    fn any_facts_give_one_report(
        values in prop::collection::vec(fact(), 0..60),
        kernel in prop::collection::vec(event(), 0..12),
        samples in prop::collection::vec(sample(), 0..40),
        step_ms in prop::option::of((0usize..80, 0.0f64..1e4, 0.0f64..2e4)),
    ) {
        let mut f = Facts::default();
        for (path, value) in values {
            f.insert(path, Fact { value, unit: "", trust: Trust::Text, place: Place::input(0) });
        }
        f.kernel = kernel;
        f.samples.push(SampleSeries { samples, ..SampleSeries::default() });
        if let Some((n, step, wait)) = step_ms {
            f.steps.push(steps(n, step, wait));
        }
        let first = report(&f);
        prop_assert_eq!(&first, &report(&f));
        let text = serde_json::to_string(&first).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Report>(&text).unwrap().findings.len(), &first.findings.len());
        prop_assert_eq!(first.layers.len(), 6);
        for x in &first.findings {
            prop_assert!(!x.message.is_empty());
            prop_assert_eq!(x.fix.is_some(), x.verdict.is_problem(), "{}", x.id);
            prop_assert!(!x.verdict.is_problem() || !x.evidence.is_empty(), "{} has no evidence: {}", x.id, x.message);
            for share in x.cost_share.into_iter().chain(x.recoverable_share) {
                prop_assert!((0.0..=1.0).contains(&share), "{}: {}", x.id, share);
            }
        }
    }
}
