//! Facts of a report by path, and the line of the most telling ones under a page's title.

use checks::Report;
use checks::report::FactOut;
use leptos::prelude::*;

/// The facts of a report, looked up by path.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a>(&'a [FactOut]);

impl<'a> Known<'a> {
    /// The facts of a report; none if they were not asked for.
    pub(crate) fn of(report: &'a Report) -> Self {
        Self(report.facts.as_deref().unwrap_or_default())
    }

    /// One fact.
    pub(crate) fn get(self, path: &str) -> Option<&'a FactOut> {
        self.0.iter().find(|f| f.path == path)
    }

    /// The fact as text.
    pub(crate) fn text(self, path: &str) -> Option<String> {
        self.get(path).map(|f| f.value.to_string())
    }

    /// The fact as a number.
    pub(crate) fn num(self, path: &str) -> Option<f64> {
        self.get(path)?.value.as_f64()
    }

    /// Indices of the GPUs that anything is known about, ascending.
    pub(crate) fn gpus(self) -> Vec<usize> {
        let index = |f: &FactOut| f.path.strip_prefix("gpu[")?.split(']').next()?.parse().ok();
        let mut out: Vec<usize> = self.0.iter().filter_map(index).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// "8 × NVIDIA H200", or each model with its number.
    pub(crate) fn gpu_line(self) -> Option<String> {
        let mut models: Vec<(String, usize)> = Vec::new();
        for i in self.gpus() {
            let Some(name) = self.text(&format!("gpu[{i}].name")) else { continue };
            match models.iter_mut().find(|(m, _)| *m == name) {
                Some((_, n)) => *n += 1,
                None => models.push((name, 1)),
            }
        }
        let parts: Vec<String> = models.into_iter().map(|(m, n)| format!("{n} × {m}")).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// GPUs, driver, CUDA, PyTorch, kernel: those that are known.
#[component]
pub(crate) fn FactLine(report: Report, #[prop(optional)] children: Option<Children>) -> impl IntoView {
    let known = Known::of(&report);
    let named = [("driver", "driver"), ("CUDA", "cuda_version"), ("torch", "torch"), ("kernel", "kernel")];
    let facts = named.into_iter().filter_map(|(label, path)| {
        let value = known.text(path)?;
        Some(view! { <span>{label} " " <b>{value}</b></span> })
    });
    view! {
        <div class="facts">
            {known.gpu_line().map(|g| view! { <span><b>{g}</b></span> })}
            {facts.collect_view()}
            {children.map(|c| c())}
        </div>
    }
    .into_any()
}
