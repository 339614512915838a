//! # What it looks for
//! A GPU that reads busy while hardly any of its multiprocessors (SMs) have work: utilisation of 80 % and more with SM
//! activity below 30 %.
//!
//! # Why it wastes the GPU
//! Utilisation is the share of time in which anything runs, one small kernel or a mere copy included. At 99 % a GPU can
//! be all but empty, and nobody looks for the cause.
//!
//! # Confirm by hand
//! On Hopper and newer: `nvidia-smi dmon --gpm-metrics 2,20,21` (SM activity, PCIe). With DCGM: `dcgmi dmon -e
//! 203,1002,1005,1010`.
//!
//! # Fix
//! It has none of its own: it says that the cause lies in copies (layer 3), in kernels that are too small (layer 4) or in
//! communication (layer 6). A profiler trace of a few steps names it.
//!
//! # Limits
//! SM activity needs GPM (Hopper and newer) or DCGM's profiling fields; without them this stays unknown. With MIG the
//! parent GPU tells no utilisation.
//!
//! # References
//! NVML header nvml.h 13.3, nvmlUtilization_t; `nvidia-smi --help-query-gpu` (580.159.04), utilization.gpu; an H200
//! measured by the project: 99 % utilisation with 0 % SM activity while only copies ran.

use crate::catalogue::common::{readings, sampled, sampled_gpus, samples, seconds};
use crate::check::{Ctx, Missing, PerGpu, Verdict, cmd, verify};
use crate::keys;
use crate::record::{Gpm, SampleSeries};
use crate::report::{Applicability, Confidence, Fix, Tag};
use crate::tables::link_gb_s;
use crate::work::mean;

crate::check! {
    id: "driver/util-vs-sm-activity", layer: Driver, title: "The GPU reads busy but its multiprocessors are empty",
    severity: High, core: true, minutes: 2, evidence: [Samples, Dcgm, Live], routes: true,
    limits: {
        busy_util_pct = 80.0, "%", "catalogue, rule for driver/util-vs-sm-activity: utilisation of 80 % and more";
        empty_sm_pct = 30.0, "%", "catalogue, rule for driver/util-vs-sm-activity: SM activity below 30 %";
        min_readings = 5.0, "readings", "one reading is never a verdict (layers-1-3 section 2, memory/pcie-saturation); five half-second windows are";
        copy_link_share = 0.20, "", "layers-1-3 section 2, driver/util-vs-sm-activity: PCIe above 20 % of the link means copies";
    },
}

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let series = samples(cx).ok_or_else(|| Missing::other("samples of utilisation and SM activity over the same seconds"))?;
    let mut all = PerGpu::default();
    for gpu in sampled_gpus(series) {
        all.add(gpu, one(cx, series, gpu));
    }
    all.fold()
}

fn one(cx: &Ctx<'_>, series: &SampleSeries, gpu: usize) -> Result<Verdict, Missing> {
    let both: Vec<(f64, f64, &Gpm)> = readings(series, gpu)
        .filter_map(|(_, g)| {
            let gpm = g.gpm.as_ref()?;
            Some((g.util_pct?, gpm.sm_pct?, gpm))
        })
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "sample counts are small")]
    let n = both.len() as f64;
    if n < cx.limit(&min_readings) {
        return Err(Missing::fact("samples.sm_pct".into(), "SM activity (GPM on Hopper and newer, or DCGM field 1002)"));
    }
    let util = mean(both.iter().map(|b| b.0)).unwrap_or_default();
    let sm = mean(both.iter().map(|b| b.1)).unwrap_or_default();
    if util < cx.limit(&busy_util_pct) || sm >= cx.limit(&empty_sm_pct) {
        return Ok(Verdict::pass(format!("Utilisation {util:.0} % and SM activity {sm:.0} % do not contradict each other.")));
    }
    let mut evidence = vec![
        sampled(series, "samples.util_pct", util, "%", ""),
        sampled(series, "samples.sm_pct", sm, "%", &format!(">= {:.0} %", cx.limit(&empty_sm_pct))),
    ];
    let rx = mean(both.iter().filter_map(|b| b.2.pcie_rx_mib_s)).map(|mib| mib * 1.048_576e-3);
    let link = cx
        .value(&keys::PCIE_GEN_CURRENT, &[gpu])
        .zip(cx.value(&keys::PCIE_WIDTH_CURRENT, &[gpu]))
        .and_then(|(g, w)| link_gb_s(g, w));
    let copies = rx.zip(link).is_some_and(|(rx, link)| rx / link > cx.limit(&copy_link_share));
    if let Some(rx) = rx.filter(|_| copies) {
        evidence.push(sampled(series, "samples.pcie_rx_gb_s", rx, "GB/s", ""));
    }
    let text = format!(
        "Something runs {util:.0} % of the time, but on {sm:.0} % of the multiprocessors, over {:.1} s.{}",
        seconds(series),
        if copies { " PCIe is busy meanwhile: copies keep the GPU \"busy\"." } else { "" }
    );
    Ok(Verdict::warn(text).confidence(if n >= 20.0 { Confidence::High } else { Confidence::Medium }).with(evidence))
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd(
                "Take a trace of a few steps: it tells copies, small kernels and waiting for other GPUs apart.",
                "sextant run --trace-steps 5 -- python train.py",
                &[Tag::RestartsJob],
            ),
            cmd("Watch SM activity and PCIe beside utilisation (Hopper and newer).", "nvidia-smi dmon -s u --gpm-metrics 2,20,21", &[]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("nvidia-smi dmon --gpm-metrics 2", "SM activity rises to 60 % and more under load"),
    }
}
