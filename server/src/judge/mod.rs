//! The evaluations: takes pending reports from the store, reads their raw inputs through `checks`, and stores what comes
//! out. A bounded number run at a time, off the request and off the async threads; what was pending when the server
//! stopped is taken up at the next start.
//!
//! It knows no HTTP and no rule of any check.

mod evaluate;
mod input;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use checks::report::Input;
use tokio::sync::{Notify, Semaphore, broadcast};

use crate::blobs::Blobs;
use crate::clock::now_ms;
use crate::metrics::Metrics;
use crate::store::{Job, Made, ReportRecord, State, Store, StoreError};

pub use input::Window;

/// How often runs are looked after: new chunks, and lost collectors.
const TEND: Duration = Duration::from_secs(2);
/// How long to wait after the store failed.
const RETRY: Duration = Duration::from_secs(5);

/// Decodes the file behind input `n` of a report and cuts out (first line, number of lines).
///
/// # Errors
/// The raw data is gone, or cannot be shown as text; the error says so.
pub async fn window(
    judge: &Judge,
    blobs: &Blobs,
    record: &ReportRecord,
    inputs: &[Input],
    n: usize,
    (first, count): (usize, usize),
) -> Result<Window, String> {
    let file = inputs.get(n).map_or(usize::MAX, |i| i.file as usize);
    let source = record.sources.get(file).ok_or("The raw data of this input was not kept.")?;
    let (source, inputs, blobs) = (source.clone(), inputs.to_vec(), blobs.clone());
    let runtime = tokio::runtime::Handle::current();
    let open = move || {
        let mut pieces = Vec::with_capacity(source.blobs.len());
        for hash in &source.blobs {
            let piece = runtime.block_on(blobs.open_blob(hash));
            pieces.push(piece.map_err(|e| format!("“{}” cannot be read: {e}.", source.name))?);
        }
        Ok(input::joined(pieces, source.lines))
    };
    let permit = judge.permit().await.map_err(|e| e.to_string())?;
    let cut = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        input::window(open, &inputs, n, first, count)
    });
    cut.await.map_err(|_| "Decoding broke off; the server's log says more.".to_owned())?
}

/// The evaluations' front: wakes them and waits for them.
#[derive(Clone, Debug)]
pub struct Judge {
    store: Store,
    blobs: Blobs,
    metrics: Arc<Metrics>,
    wake: Arc<Notify>,
    /// Ids of reports whose state changed.
    changed: broadcast::Sender<String>,
    busy: Arc<Mutex<HashSet<String>>>,
    permits: Arc<Semaphore>,
}

impl Judge {
    /// A judge that runs `parallel` evaluations at a time. [`Self::run`] does the work.
    #[must_use]
    pub fn new(store: Store, blobs: Blobs, metrics: Arc<Metrics>, parallel: usize) -> Self {
        let (changed, _) = broadcast::channel(1024);
        Self {
            store,
            blobs,
            metrics,
            wake: Arc::new(Notify::new()),
            changed,
            busy: Arc::default(),
            permits: Arc::new(Semaphore::new(parallel.max(1))),
        }
    }

    /// Says that there is a pending report.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Ids of reports as their state changes.
    #[must_use]
    pub fn changes(&self) -> broadcast::Receiver<String> {
        self.changed.subscribe()
    }

    /// Waits until a report is no longer pending, at most `patience`; its state then.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn settled(&self, id: &str, patience: Duration) -> Result<Option<State>, StoreError> {
        let mut changes = self.changes();
        let deadline = tokio::time::Instant::now() + patience;
        let mut woken = false;
        loop {
            let Some((group, state)) = self.store.report_state(id).await? else { return Ok(None) };
            if state != State::Pending {
                return Ok(Some(state));
            }
            if !std::mem::replace(&mut woken, true) {
                self.wake();
            }
            loop {
                match tokio::time::timeout_at(deadline, changes.recv()).await {
                    Ok(Ok(changed)) if changed != group => {}
                    Ok(Ok(_) | Err(broadcast::error::RecvError::Lagged(_))) => break,
                    Err(_) | Ok(Err(broadcast::error::RecvError::Closed)) => return Ok(Some(state)),
                }
            }
        }
    }

    /// Limits work that is not an evaluation but as heavy (decoding raw inputs).
    ///
    /// # Errors
    /// The judge has been stopped.
    pub async fn permit(&self) -> Result<tokio::sync::OwnedSemaphorePermit, StoreError> {
        Arc::clone(&self.permits).acquire_owned().await.map_err(|_| StoreError::Closed)
    }

    /// Works until it is dropped. Runs whose collector sent nothing for `lost_after` are marked as lost.
    pub async fn run(self, lost_after: Duration) {
        let mut tend = tokio::time::interval(TEND);
        tend.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            if let Err(e) = self.start_pending().await {
                tracing::error!(error = %e, "evaluations wait for the store");
                tokio::time::sleep(RETRY).await;
                continue;
            }
            tokio::select! {
                () = self.wake.notified() => {}
                _ = tend.tick() => self.tend(lost_after).await,
            }
        }
    }

    async fn tend(&self, lost_after: Duration) {
        let lost_after_ms = i64::try_from(lost_after.as_millis()).unwrap_or(i64::MAX);
        match self.store.tend_runs(now_ms().saturating_sub(lost_after_ms)).await {
            Ok((_, lost)) => {
                for run in lost {
                    tracing::warn!(run, "no chunk came for too long: the run counts as lost");
                }
            }
            Err(e) => tracing::error!(error = %e, "runs could not be looked after"),
        }
    }

    /// Starts what is pending until nothing is left that is not under way.
    async fn start_pending(&self) -> Result<(), StoreError> {
        loop {
            let busy: Vec<String> = self.busy().iter().cloned().collect();
            let jobs = self.store.jobs(&busy, 16).await?;
            if jobs.is_empty() {
                return Ok(());
            }
            for job in jobs {
                let permit = self.permit().await?;
                self.busy().insert(job.id.clone());
                let judge = self.clone();
                tokio::spawn(async move {
                    let id = job.id.clone();
                    judge.evaluate(job).await;
                    judge.busy().remove(&id);
                    drop(permit);
                    // No receiver is no error: nobody waits.
                    let _ = judge.changed.send(id);
                    judge.wake();
                });
            }
        }
    }

    async fn evaluate(&self, job: Job) {
        let began = Instant::now();
        let id = job.id.clone();
        let made = self.make(&job).await;
        if let Made::Failed(problem) = &made {
            tracing::warn!(report = id, problem, "a report could not be made");
        }
        match self.store.finish_report(job, made, checks::CATALOGUE_VERSION).await {
            Ok(()) => self.metrics.report(began.elapsed()),
            Err(e) => {
                tracing::error!(report = id, error = %e, "a report could not be stored");
                // It is still pending: without a pause it would be taken up at once, again and again.
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    async fn make(&self, job: &Job) -> Made {
        let mut files = Vec::with_capacity(job.sources.len());
        for source in &job.sources {
            let mut readers = Vec::with_capacity(source.blobs.len());
            for hash in &source.blobs {
                match self.blobs.open_blob(hash).await {
                    Ok(reader) => readers.push(reader),
                    Err(e) => return Made::Failed(format!("“{}” cannot be read: {e}.", source.name)),
                }
            }
            files.push((source.name.clone(), input::joined(readers, source.lines)));
        }
        match tokio::task::spawn_blocking(move || evaluate::evaluate(files)).await {
            Ok(Ok(subjects)) => Made::Reports(subjects),
            Ok(Err(e)) => Made::Failed(format!("The report could not be written down: {e}.")),
            Err(e) => {
                tracing::error!(error = %e, "an evaluation broke off");
                Made::Failed("The evaluation broke off; the server's log says more.".into())
            }
        }
    }

    fn busy(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        // The set stays valid whatever a holder of the lock did.
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
