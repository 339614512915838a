//! Everything in SQL: the only folder that holds any. One writer commits in groups, readers have their own connections.
//!
//! It knows rows and JSON texts. It does not judge, parse inputs or know HTTP; large raw bytes are kept by
//! [`crate::blobs`].

mod blobs;
mod migrate;
mod nodes;
mod reports;
mod runs;
mod uploads;
mod writer;

use std::path::Path;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};

pub use blobs::BlobRow;
pub use nodes::{NewSnapshot, NodeRecord, SnapshotAck};
pub use reports::{
    Body, Firing, Job, Made, MadeSubject, NewReport, ReportAck, ReportKind, ReportRecord, ReportSummary, Source, State,
};
pub use runs::{Chunk, ChunkAck, NewRun, RunCursor, RunRecord, RunState};
pub use uploads::{Upload, UploadAck};
use writer::Writer;

/// Connections that read at the same time.
const READERS: u32 = 4;

/// Why a read or write failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk, or the database's size limit, is full. Nothing was written.
    #[error("the disk is full")]
    Full,
    /// The write goes against what is stored (for example other bytes under a chunk's number).
    #[error("{0}")]
    Conflict(String),
    /// Anything else that SQLite says.
    #[error("{0}")]
    Db(String),
    /// The server is shutting down.
    #[error("the server is shutting down")]
    Closed,
}

impl From<sqlx::Error> for StoreError {
    fn from(e: sqlx::Error) -> Self {
        // 13 is SQLITE_FULL; 778, 1034 and 4874 are I/O errors of write, fsync and mmap growth, which a full disk can give.
        let code = e.as_database_error().and_then(sqlx::error::DatabaseError::code).map(std::borrow::Cow::into_owned);
        match code.as_deref() {
            Some("13") => Self::Full,
            _ if e.to_string().contains("database or disk is full") => Self::Full,
            _ => Self::Db(e.to_string()),
        }
    }
}

/// Why the database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A newer server has changed it.
    #[error(
        "the database {path} was made by a newer sextant-server (its schema is at {found}, this server knows {known}). It was not touched. Start the newer server, or give this one another folder with --data."
    )]
    Newer {
        /// The database.
        path: String,
        /// Its newest migration.
        found: i64,
        /// Our newest migration.
        known: i64,
    },
    /// It is some other database.
    #[error("{path} is not a database of sextant-server ({why}). It was not touched. Give another folder with --data.")]
    Foreign {
        /// The database.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// SQLite failed.
    #[error("the database {path} cannot be opened: {source}")]
    Sqlite {
        /// The database.
        path: String,
        /// What SQLite said.
        source: sqlx::Error,
    },
}

/// The database.
#[derive(Clone, Debug)]
pub struct Store {
    read: SqlitePool,
    writer: Writer,
}

impl Store {
    /// Opens the database of a data folder and brings its schema up to date. The folder must be locked by this process.
    ///
    /// # Errors
    /// The database is newer than this server, foreign, or cannot be opened; in the first two cases it is not touched.
    pub async fn open(data: &Path) -> Result<Self, OpenError> {
        let path = data.join("sextant.db");
        let shown = path.display().to_string();
        let failed = |source| OpenError::Sqlite { path: shown.clone(), source };
        if path.exists() {
            migrate::refuse_unknown(&path, &shown).await?;
        }
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5))
            .pragma("temp_store", "memory")
            .disable_statement_logging();
        let mut connection = options.connect().await.map_err(failed)?;
        migrate::run(&mut connection).await.map_err(|e| failed(e.into()))?;
        let writer = Writer::start(connection);
        let read = SqlitePoolOptions::new()
            .max_connections(READERS)
            .connect_with(options.pragma("query_only", "on"))
            .await
            .map_err(failed)?;
        Ok(Self { read, writer })
    }

    /// True if the database answers.
    pub async fn is_ready(&self) -> bool {
        sqlx::query("select 1").execute(&self.read).await.is_ok()
    }

    /// Commits what was accepted, then closes. Writes after this fail with [`StoreError::Closed`].
    pub async fn close(&self) {
        self.writer.close().await;
        self.read.close().await;
    }

    /// Commits, and the writes in them, since the start.
    #[must_use]
    pub fn commits(&self) -> (u64, u64) {
        self.writer.counts()
    }
}
