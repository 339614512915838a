//! The one writer: jobs queue up, everything that waits is committed together, and a job's answer is given only after its
//! commit is on the disk (`synchronous=FULL`). While one group is being synced the next one gathers.
//!
//! A job that fails is undone alone (a savepoint each); it does not know what the jobs do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::BoxFuture;
use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::StoreError;

/// Jobs that may wait; more make their senders wait, which is how load is pushed back.
const QUEUE: usize = 1024;
/// Most jobs in one commit: bounds how long the first of them waits.
const GROUP: usize = 256;

/// Called once with the fate of the commit.
type Ack = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A job with somebody who waits for it.
trait Work: Send {
    /// Does the writes and returns whom to tell; an error was told already.
    fn run<'c>(self: Box<Self>, connection: &'c mut SqliteConnection) -> BoxFuture<'c, Result<Ack, ()>>;
    /// Tells that the job was not even begun.
    fn refuse(self: Box<Self>, e: StoreError);
}

struct Job<T, F> {
    job: F,
    tell: oneshot::Sender<Result<T, StoreError>>,
}

// Nobody listens any more when a client has gone: a send that fails is no error of the write.
impl<T, F> Work for Job<T, F>
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
{
    fn run<'c>(self: Box<Self>, connection: &'c mut SqliteConnection) -> BoxFuture<'c, Result<Ack, ()>> {
        let Self { job, tell } = *self;
        Box::pin(async move {
            match job(connection).await {
                Ok(value) => Ok(Box::new(move |fate: Result<(), StoreError>| {
                    let _ = tell.send(fate.map(|()| value));
                }) as Ack),
                Err(e) => {
                    let _ = tell.send(Err(e));
                    Err(())
                }
            }
        })
    }

    fn refuse(self: Box<Self>, e: StoreError) {
        let _ = self.tell.send(Err(e));
    }
}

type Queue = mpsc::Sender<Box<dyn Work>>;

#[derive(Debug, Default)]
struct Counts {
    commits: AtomicU64,
    writes: AtomicU64,
}

/// Handle to the writer task.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    /// The one strong sender: when it goes, the task commits what is queued and ends.
    queue: Arc<Mutex<Option<Queue>>>,
    sender: mpsc::WeakSender<Box<dyn Work>>,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
    counts: Arc<Counts>,
}

impl Writer {
    /// Starts the task on its own connection.
    pub(super) fn start(connection: SqliteConnection) -> Self {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let counts = Arc::new(Counts::default());
        let task = tokio::spawn(run(connection, jobs, Arc::clone(&counts)));
        Self {
            sender: queue.downgrade(),
            queue: Arc::new(Mutex::new(Some(queue))),
            task: Arc::new(Mutex::new(Some(task))),
            counts,
        }
    }

    /// Runs writes in the next group and returns once they are durable.
    ///
    /// # Errors
    /// The job's own, or the commit's; then nothing of the job is stored.
    pub(super) async fn write<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        let (tell, told) = oneshot::channel();
        let work: Box<dyn Work> = Box::new(Job { job, tell });
        let queue = self.sender.upgrade().ok_or(StoreError::Closed)?;
        queue.send(work).await.map_err(|_| StoreError::Closed)?;
        drop(queue);
        told.await.map_err(|_| StoreError::Closed)?
    }

    /// Commits what is queued and stops.
    pub(super) async fn close(&self) {
        self.queue.lock().await.take();
        if let Some(task) = self.task.lock().await.take()
            && let Err(e) = task.await
        {
            tracing::error!(error = %e, "the writer ended early");
        }
    }

    pub(super) fn counts(&self) -> (u64, u64) {
        (self.counts.commits.load(Ordering::Relaxed), self.counts.writes.load(Ordering::Relaxed))
    }
}

async fn run(mut connection: SqliteConnection, mut jobs: mpsc::Receiver<Box<dyn Work>>, counts: Arc<Counts>) {
    let mut group: Vec<Box<dyn Work>> = Vec::with_capacity(GROUP);
    while jobs.recv_many(&mut group, GROUP).await > 0 {
        let mut acks: Vec<Ack> = Vec::with_capacity(group.len());
        let fate = commit(&mut connection, &mut group, &mut acks).await;
        if let Err(e) = &fate {
            tracing::error!(error = %e, writes = acks.len(), "commit failed");
        }
        counts.commits.fetch_add(1, Ordering::Relaxed);
        counts.writes.fetch_add(acks.len() as u64, Ordering::Relaxed);
        for ack in acks {
            ack(fate.clone());
        }
        for work in group.drain(..) {
            work.refuse(fate.clone().err().unwrap_or(StoreError::Closed));
        }
    }
    if let Err(e) = connection.close().await {
        tracing::error!(error = %e, "closing the database");
    }
}

async fn commit(
    connection: &mut SqliteConnection,
    group: &mut Vec<Box<dyn Work>>,
    acks: &mut Vec<Ack>,
) -> Result<(), StoreError> {
    let mut tx = connection.begin_with("begin immediate").await?;
    // Popped one by one, so that what was not begun when the transaction breaks is left to be refused.
    group.reverse();
    while let Some(work) = group.pop() {
        let mut savepoint = tx.begin().await?;
        match work.run(&mut savepoint).await {
            Ok(ack) => {
                acks.push(ack);
                savepoint.commit().await?;
            }
            Err(()) => savepoint.rollback().await?,
        }
    }
    tx.commit().await?;
    Ok(())
}
