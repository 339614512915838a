//! Starts the parts in order, listens, and stops in order: no new requests, then those under way, then the store.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::blobs::Blobs;
use crate::config::Config;
use crate::lock::DataLock;
use crate::metrics::Metrics;
use crate::routes;
use crate::state::App;
use crate::store::Store;

/// How long requests under way may take once the server was told to stop.
const GRACE: Duration = Duration::from_secs(10);

/// A server whose parts run, but that does not listen yet.
#[derive(Debug)]
pub struct Server {
    app: App,
    judge: JoinHandle<()>,
    // Let go of last: the folder is this process's until the store is closed.
    _lock: DataLock,
}

impl Server {
    /// Takes the data folder, opens the store and starts the evaluations.
    ///
    /// # Errors
    /// The folder is in use, cannot be written, or holds a database that is not ours.
    pub async fn open(config: Config) -> anyhow::Result<Self> {
        let lock = DataLock::take(&config.data)?;
        let store = Store::open(&config.data).await?;
        let idle = Duration::from_secs(config.body_idle_s);
        let blobs = Blobs::open(&config.data, store.clone(), idle)
            .with_context(|| format!("the raw data in {} cannot be used", config.data.display()))?;
        let lost_after = Duration::from_secs(config.run_lost_s);
        let app = App::new(config, store, blobs, Arc::new(Metrics::default()));
        let judge = tokio::spawn(app.judge.clone().run(lost_after));
        Ok(Self { app, judge, _lock: lock })
    }

    /// What the handlers can reach.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Serves until `stop` is done, then finishes what is under way.
    ///
    /// # Errors
    /// Accepting connections failed.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> anyhow::Result<()> {
        let (stopped, stopping) = tokio::sync::oneshot::channel();
        let router = routes::router(self.app.clone());
        let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
            stop.await;
            // The receiver lives as long as this function.
            let _ = stopped.send(());
        });
        let served = tokio::select! {
            served = serving => served.context("serving failed"),
            () = async {
                let told = stopping.await;
                tokio::time::sleep(GRACE).await;
                drop(told);
            } => {
                tracing::warn!("some requests were cut off: they took longer than {GRACE:?}");
                Ok(())
            }
        };
        self.close().await;
        served
    }

    /// Stops the evaluations and closes the store; what was acknowledged is durable, what was pending stays pending.
    pub async fn close(self) {
        self.judge.abort();
        self.app.store.close().await;
    }
}

/// Runs the server until it is interrupted or terminated.
///
/// # Errors
/// The configuration is refused, the port or the data folder is in use, or serving failed.
pub async fn run(config: Config) -> anyhow::Result<()> {
    config.check().map_err(anyhow::Error::msg)?;
    let listen = config.listen;
    let listener = TcpListener::bind(listen).await.map_err(|e| match e.kind() {
        std::io::ErrorKind::AddrInUse => anyhow::anyhow!(
            "{listen} is in use: another program listens there, perhaps another sextant-server. Stop it, or choose \
             another port with --listen."
        ),
        _ => anyhow::anyhow!("cannot listen on {listen}: {e}"),
    })?;
    let listen = listener.local_addr().context("the listening address cannot be read")?;
    let server = Server::open(config).await?;
    tracing::info!(data = %server.app.config.data.display(), "serving http://{listen}");
    println!("sextant-server listens on http://{listen}");
    server.serve(listener, told_to_stop()).await
}

async fn told_to_stop() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending::<()>().await,
        }
    };
    tokio::select! {
        () = interrupted => {}
        () = terminated => {}
    }
    tracing::info!("stopping");
}
