//! # What it looks for
//! Matrix products in 32 bits on a GPU that could do them in TF32 or bf16.
//!
//! # Why it wastes the GPU
//! Since PyTorch 1.12 32-bit products do not use TF32 unless they are allowed to; convolutions do. A model that was
//! never told otherwise multiplies on the slow units.
//!
//! # Confirm by hand
//! `python -c "import torch; print(torch.get_float32_matmul_precision())"` in the training environment.
//!
//! # Fix
//! One line for TF32, autocast for bf16. Both change the numbers a little, so the decision is yours.
//!
//! # Limits
//! Intended 32-bit work cannot be told from forgotten settings. Below compute capability 8.0 there is neither TF32 nor
//! bf16.
//!
//! # References
//! PyTorch notes on CUDA semantics, TensorFloat-32; torch.set_float32_matmul_precision.

use crate::catalogue::traced::{Traced, at_most, pct, summed};
use crate::check::{Ctx, Missing, Verdict, cmd, step, verify};
use crate::fact::Value;
use crate::report::{Applicability, Evidence, Fix, Tag};

crate::check! {
    id: "compute/precision-policy", layer: Compute, title: "32-bit products where TF32 or bf16 would do", severity: High,
    core: true, minutes: 2, evidence: [Steps, CollectEnv, Trace, Nsys], under: ["compute/tensor-core-use"],
    limits: {
        fp32_share = 0.20, "", "layers-4-6, compute/precision-policy: 20 % of product time in 32 bits";
        step_share = 0.10, "", "layers-4-6, compute/tensor-core-use: products below 10 % of the step are worth knowing only";
        speedup = 8.0, "", "NVIDIA data sheets: TF32 Tensor Core against FP32 rate, A100 8.0, H100 7.4";
    },
}

/// First compute capability with TF32 and bf16.
const FIRST: (u32, u32) = (8, 0);

fn run(cx: &Ctx<'_>) -> Result<Verdict, Missing> {
    let t = summed(cx)?;
    let p = &t.trace.products;
    match t.trace.device.as_ref().and_then(|d| d.compute) {
        Some(c) if c < FIRST => return Ok(Verdict::not_applicable("This GPU has neither TF32 nor bf16.")),
        None => return Err(Missing::other("the GPU's compute capability, which this trace does not tell")),
        Some(_) => {}
    }
    if p.total_ms() <= 0.0 {
        return Ok(Verdict::not_applicable("No matrix product or convolution was recorded."));
    }
    // Shapes tell the format; without them only kernels that are known to be 32-bit ones count.
    let fp32_ms = if p.known_input_ms > 0.0 { (p.fp32_input_ms - p.fp32_on_tensor_ms).max(0.0) } else { p.plain_ms };
    let share = fp32_ms / p.total_ms();
    let of_step = t.device_share(fp32_ms);
    if share < cx.limit(&fp32_share) {
        return Ok(Verdict::pass(format!("{} of product time is in 32 bits without TF32.", pct(share))).confidence(t.confidence()));
    }
    let gain = of_step * (1.0 - 1.0 / cx.limit(&speedup));
    if of_step < cx.limit(&step_share) {
        return Ok(Verdict::info(format!(
            "{} of product time is in 32 bits without TF32, but that is only {} of the step.",
            pct(share),
            pct(of_step)
        ))
        .cost(of_step, gain)
        .confidence(t.confidence()));
    }
    let setting = setting(cx);
    let told = setting.as_ref().map_or(String::new(), |(_, v)| format!(" (the run says: matmul precision \"{v}\")"));
    Ok(Verdict::warn(format!(
        "{} of product time is in 32 bits without TF32{told}; {}. Whether the numbers allow it is your decision.",
        pct(share),
        at_most(gain)
    ))
    .cost(of_step, gain)
    .confidence(t.confidence())
    .with(evidence(cx, &t, share, setting)))
}

/// `torch.get_float32_matmul_precision()` as the step timings recorded it, with the line.
fn setting(cx: &Ctx<'_>) -> Option<(Evidence, String)> {
    cx.facts.steps.iter().find_map(|s| {
        let Some(Value::Text(v)) = s.settings.get("matmul_precision") else { return None };
        let evidence = Evidence {
            fact: "settings.matmul_precision".into(),
            value: Some(v.as_str().into()),
            unit: String::new(),
            expected: Some("high".into()),
            input: Some(s.input),
            line: s.meta_line,
            quote: s.meta_quote.clone(),
        };
        Some((evidence, v.clone()))
    })
}

fn evidence(cx: &Ctx<'_>, t: &Traced<'_>, share: f64, setting: Option<(Evidence, String)>) -> Vec<Evidence> {
    let mut out = vec![t.quoted(
        "trace.fp32_product_share",
        share,
        "",
        &format!("< {}", cx.limit(&fp32_share)),
        t.trace.products.plain_top.as_deref().unwrap_or(""),
    )];
    out.extend(setting.map(|s| s.0));
    out
}

fn fix(_cx: &Ctx<'_>) -> Fix {
    Fix {
        steps: vec![
            cmd("Allow TF32 for 32-bit products.", "torch.set_float32_matmul_precision(\"high\")", &[Tag::RestartsJob, Tag::ChangesTraining]),
            cmd(
                "Or compute in bf16.",
                "with torch.autocast(\"cuda\", dtype=torch.bfloat16):",
                &[Tag::RestartsJob, Tag::ChangesTraining],
            ),
            step("Compare the loss over a few hundred steps with and without.", &[]),
        ],
        applicability: Applicability::NeedsRestart,
        verify: verify("sextant run --trace-steps 5 -- python train.py", "product kernels with tf32 or bf16 in their names"),
    }
}
