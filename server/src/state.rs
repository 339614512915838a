//! What every handler can reach: configuration, store, blobs, evaluations, counters. It does nothing by itself.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use app::backend::Backend;
use axum::extract::FromRef;
use leptos::prelude::LeptosOptions;

use crate::backend::StoreBackend;
use crate::blobs::Blobs;
use crate::config::Config;
use crate::judge::Judge;
use crate::metrics::Metrics;
use crate::store::Store;

/// The server's parts; cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The server's parts.
pub struct Parts {
    /// Configuration.
    pub config: Config,
    /// Database.
    pub store: Store,
    /// Raw bytes.
    pub blobs: Blobs,
    /// Evaluations.
    pub judge: Judge,
    /// Counters.
    pub metrics: Arc<Metrics>,
    /// What the pages read.
    pub backend: Arc<dyn Backend>,
    /// What the page shell needs to know about the browser files.
    pub leptos: LeptosOptions,
}

impl App {
    /// Puts the parts together.
    #[must_use]
    pub fn new(config: Config, store: Store, blobs: Blobs, metrics: Arc<Metrics>) -> Self {
        let judge = Judge::new(store.clone(), blobs.clone(), Arc::clone(&metrics), config.parallel_evaluations());
        let backend: Arc<dyn Backend> = Arc::new(StoreBackend::new(store.clone(), blobs.clone(), judge.clone()));
        let leptos =
            LeptosOptions::builder().output_name("sextant").site_pkg_dir("pkg").site_addr(config.listen).build();
        Self(Arc::new(Parts { config, store, blobs, judge, metrics, backend, leptos }))
    }

    /// How long a body may be silent.
    #[must_use]
    pub fn idle(&self) -> Duration {
        Duration::from_secs(self.config.body_idle_s)
    }

    /// Largest upload or chunk, in bytes.
    #[must_use]
    pub fn max_upload(&self) -> u64 {
        self.config.max_upload_mib << 20
    }

    /// Largest snapshot, in bytes.
    #[must_use]
    pub fn max_snapshot(&self) -> u64 {
        self.config.max_snapshot_mib << 20
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl FromRef<App> for LeptosOptions {
    fn from_ref(app: &App) -> Self {
        app.leptos.clone()
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("config", &self.config).finish_non_exhaustive()
    }
}
