//! The pages. Each reads once from the [`Backend`] and shows what came back, or says why it cannot.

mod body;
pub(crate) mod catalogue;
pub(crate) mod check;
pub(crate) mod checklist;
pub(crate) mod find;
pub(crate) mod input;
pub(crate) mod node;
pub(crate) mod nodes;
pub(crate) mod problem;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runs;
mod start;
pub(crate) mod upload;

use std::future::Future;
use std::sync::Arc;

use leptos::prelude::*;

use crate::backend::{Backend, Problem};

/// Reads through the backend and shows the result. The response waits for it, so the page is whole without JavaScript;
/// a plain `Suspend` is enough since nothing outside the islands ever renders again in the browser.
pub(crate) fn load<T, F>(
    read: impl FnOnce(Arc<dyn Backend>) -> F + Send + 'static,
    show: impl FnOnce(T) -> AnyView + Send + 'static,
) -> AnyView
where
    T: Send + 'static,
    F: Future<Output = Result<T, Problem>> + Send + 'static,
{
    let backend = use_context::<Arc<dyn Backend>>();
    Suspend::new(async move {
        let Some(backend) = backend else {
            return problem::show(Problem::Internal("no store is connected".into()));
        };
        match read(backend).await {
            Ok(page) => show(page),
            Err(problem) => problem::show(problem),
        }
    })
    .into_any()
}
