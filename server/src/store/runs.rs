//! Runs and the chunks that they come in.

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{FromRow, Row};

use super::blobs::{self, BlobRow, int};
use super::reports::{self, ReportKind, ReportSummary, Row0, SUMMARY, Source};
use super::{Store, StoreError};
use crate::clock::{new_id, now_ms};

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Chunks come.
    Running,
    /// Its end was told.
    Finished,
    /// No chunk came for longer than the deadline.
    Lost,
}

impl RunState {
    /// The word used in JSON.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Lost => "lost",
        }
    }

    fn from_id(id: &str) -> Self {
        match id {
            "finished" => Self::Finished,
            "lost" => Self::Lost,
            _ => Self::Running,
        }
    }
}

/// A run that begins.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Id of the caller's choice.
    pub id: Option<String>,
    /// Name.
    pub name: String,
    /// Node.
    pub node: Option<String>,
    /// Epoch ms.
    pub started_ms: i64,
    /// Command, redacted.
    pub command: Option<String>,
    /// World size.
    pub world: Option<i64>,
    /// What recording cost, as JSON.
    pub receipt: Option<String>,
}

/// A piece of a run's data.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Run id.
    pub run: String,
    /// `steps`, `samples`, …
    pub kind: String,
    /// Number within kind and name.
    pub seq: i64,
    /// File that it belongs to.
    pub name: String,
    /// Its bytes.
    pub blob: BlobRow,
}

/// What a chunk became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkAck {
    /// Stored.
    Created,
    /// The same chunk was here before.
    Known,
    /// There is no such run.
    NoRun,
}

/// A run with its report.
#[derive(Clone, Debug)]
pub struct RunRecord {
    /// Id.
    pub id: String,
    /// Name.
    pub name: String,
    /// Node.
    pub node: Option<String>,
    /// Epoch ms.
    pub started_ms: i64,
    /// Epoch ms.
    pub ended_ms: Option<i64>,
    /// Exit status of the command.
    pub exit_status: Option<i64>,
    /// How far it is.
    pub state: RunState,
    /// Command.
    pub command: Option<String>,
    /// World size.
    pub world: Option<i64>,
    /// What recording cost, as JSON.
    pub receipt: Option<String>,
    /// Its report.
    pub report: ReportSummary,
}

/// Where a page of runs begins: after this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunCursor {
    /// Start of the last run shown.
    pub started_ms: i64,
    /// Its id.
    pub id: String,
}

impl FromRow<'_, SqliteRow> for RunRecord {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("run_id")?,
            name: row.try_get("run_name")?,
            node: row.try_get("run_node")?,
            started_ms: row.try_get("started_ms")?,
            ended_ms: row.try_get("ended_ms")?,
            exit_status: row.try_get("exit_status")?,
            state: RunState::from_id(row.try_get("run_state")?),
            command: row.try_get("command")?,
            world: row.try_get("world")?,
            receipt: row.try_get("receipt")?,
            report: ReportSummary::from_row(row)?,
        })
    }
}

const FROM: &str = "u.id as run_id, u.name as run_name, u.node as run_node, u.started_ms, u.ended_ms, u.exit_status, \
     u.state as run_state, u.command, u.world, u.receipt from runs u join reports r on r.id = u.report_id \
     left join bodies b on b.hash = r.body";

impl Store {
    /// Begins a run; one that is known by its id stays as it is. Returns its id and whether it is new.
    ///
    /// # Errors
    /// The write failed.
    pub async fn put_run(&self, new: NewRun) -> Result<(String, bool), StoreError> {
        self.writer.write(move |c| Box::pin(async move { put(c, new).await })).await
    }

    /// Stores a chunk; the same bytes under the same number are one chunk.
    ///
    /// # Errors
    /// Other bytes stand under this number, or the write failed.
    pub async fn put_chunk(&self, chunk: Chunk) -> Result<ChunkAck, StoreError> {
        self.writer.write(move |c| Box::pin(async move { put_chunk(c, &chunk).await })).await
    }

    /// Ends a run and asks for its report; its report's id, `None` if there is no such run.
    ///
    /// # Errors
    /// The write failed.
    pub async fn finish_run(
        &self,
        id: String,
        ended_ms: Option<i64>,
        exit_status: Option<i64>,
    ) -> Result<Option<String>, StoreError> {
        self.writer
            .write(move |c| {
                Box::pin(async move {
                    let report: Option<String> = sqlx::query_scalar(
                        "update runs set state = 'finished', ended_ms = coalesce($2, ended_ms, $4), \
                         exit_status = coalesce($3, exit_status), dirty = 0 where id = $1 returning report_id",
                    )
                    .bind(&id)
                    .bind(ended_ms)
                    .bind(exit_status)
                    .bind(now_ms())
                    .fetch_optional(&mut *c)
                    .await?;
                    if let Some(report) = &report {
                        sqlx::query(
                            "update reports set state = 'pending', wanted = wanted + 1, priority = 2 where id = $1",
                        )
                        .bind(report)
                        .execute(c)
                        .await?;
                    }
                    Ok(report)
                })
            })
            .await
    }

    /// Asks for the reports of runs with new chunks, and marks runs as lost that sent nothing since `lost_before_ms`.
    /// Returns how many reports were asked for and the runs that were lost.
    ///
    /// # Errors
    /// The write failed.
    pub async fn tend_runs(&self, lost_before_ms: i64) -> Result<(u64, Vec<String>), StoreError> {
        let due: bool = sqlx::query_scalar(
            "select exists (select 1 from runs where dirty = 1) \
             or exists (select 1 from runs where state = 'running' and seen_ms < $1)",
        )
        .bind(lost_before_ms)
        .fetch_one(&self.read)
        .await?;
        if !due {
            return Ok((0, Vec::new()));
        }
        self.writer
            .write(move |c| {
                Box::pin(async move {
                    let asked = sqlx::query(
                        "update reports set state = 'pending', wanted = wanted + 1, priority = 1 \
                         where id in (select report_id from runs where dirty = 1)",
                    )
                    .execute(&mut *c)
                    .await?
                    .rows_affected();
                    sqlx::query("update runs set dirty = 0 where dirty = 1").execute(&mut *c).await?;
                    let lost = sqlx::query_scalar(
                        "update runs set state = 'lost' where state = 'running' and seen_ms < $1 returning id",
                    )
                    .bind(lost_before_ms)
                    .fetch_all(c)
                    .await?;
                    Ok((asked, lost))
                })
            })
            .await
    }

    /// Runs, the newest first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn runs(
        &self,
        node: Option<&str>,
        after: Option<&RunCursor>,
        limit: u32,
    ) -> Result<Vec<RunRecord>, StoreError> {
        // Without a node, `u.node = u.node` would lose the runs that have none: hence two statements.
        let filter = if node.is_some() { "u.node = $1" } else { "$1 is null" };
        let sql = format!(
            "select {SUMMARY}, {FROM} where {filter} and ($2 is null or u.started_ms < $2 \
             or (u.started_ms = $2 and u.id < $3)) order by u.started_ms desc, u.id desc limit $4"
        );
        Ok(sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(node)
            .bind(after.map(|a| a.started_ms))
            .bind(after.map(|a| a.id.as_str()))
            .bind(limit)
            .fetch_all(&self.read)
            .await?)
    }

    /// The newest run of each of these nodes.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn newest_runs(&self, nodes: &[String]) -> Result<Vec<RunRecord>, StoreError> {
        let sql = format!(
            "select {SUMMARY}, {FROM} where u.id in (select (select id from runs where node = j.value \
             order by started_ms desc, id desc limit 1) from json_each($1) j)"
        );
        Ok(sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(reports::json(nodes)).fetch_all(&self.read).await?)
    }

    /// A run by id.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn run(&self, id: &str) -> Result<Option<RunRecord>, StoreError> {
        let sql = format!("select {SUMMARY}, {FROM} where u.id = $1");
        Ok(sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id).fetch_optional(&self.read).await?)
    }

    /// Runs in all.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn count_runs(&self) -> Result<i64, StoreError> {
        Ok(sqlx::query_scalar("select count(*) from runs").fetch_one(&self.read).await?)
    }

    /// The run's files, each with its chunks in order.
    pub(super) async fn run_sources(&self, run: &str) -> Result<Vec<Source>, StoreError> {
        let rows = sqlx::query("select kind, name, hash from run_chunks where run_id = $1 order by kind, name, seq")
            .bind(run)
            .fetch_all(&self.read)
            .await?;
        let mut sources: Vec<(String, Source)> = Vec::new();
        for row in rows {
            let (kind, name, hash): (String, String, String) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            match sources.last_mut() {
                Some((k, s)) if *k == kind && s.name == name => s.blobs.push(hash),
                _ => {
                    let lines = !matches!(kind.as_str(), "trace" | "snapshot");
                    sources.push((kind, Source { name, lines, blobs: vec![hash] }));
                }
            }
        }
        Ok(sources.into_iter().map(|(_, s)| s).collect())
    }
}

async fn put(c: &mut SqliteConnection, new: NewRun) -> Result<(String, bool), StoreError> {
    let id = new.id.unwrap_or_else(new_id);
    let known: Option<String> =
        sqlx::query_scalar("select id from runs where id = $1").bind(&id).fetch_optional(&mut *c).await?;
    if known.is_some() {
        return Ok((id, false));
    }
    let report_id = new_id();
    let row = Row0 {
        id: &report_id,
        kind: ReportKind::Run,
        key: None,
        node: new.node.as_deref(),
        run: Some(&id),
        taken_ms: Some(new.started_ms),
        sources: &[],
        state: "empty",
        priority: 1,
    };
    reports::insert(c, row).await?;
    sqlx::query(
        "insert into runs (id, name, node, started_ms, state, command, world, receipt, created_ms, seen_ms, report_id) \
         values ($1, $2, $3, $4, 'running', $5, $6, $7, $8, $8, $9)",
    )
    .bind(&id)
    .bind(&new.name)
    .bind(&new.node)
    .bind(new.started_ms)
    .bind(&new.command)
    .bind(new.world)
    .bind(&new.receipt)
    .bind(now_ms())
    .bind(&report_id)
    .execute(c)
    .await?;
    Ok((id, true))
}

async fn put_chunk(c: &mut SqliteConnection, chunk: &Chunk) -> Result<ChunkAck, StoreError> {
    let run: Option<String> =
        sqlx::query_scalar("select id from runs where id = $1").bind(&chunk.run).fetch_optional(&mut *c).await?;
    if run.is_none() {
        return Ok(ChunkAck::NoRun);
    }
    let known: Option<String> =
        sqlx::query_scalar("select hash from run_chunks where run_id = $1 and kind = $2 and name = $3 and seq = $4")
            .bind(&chunk.run)
            .bind(&chunk.kind)
            .bind(&chunk.name)
            .bind(chunk.seq)
            .fetch_optional(&mut *c)
            .await?;
    match known {
        Some(hash) if hash == chunk.blob.hash => return Ok(ChunkAck::Known),
        Some(_) => {
            return Err(StoreError::Conflict(format!(
                "Chunk {} of {} in “{}” was stored before with other bytes.",
                chunk.seq, chunk.kind, chunk.name
            )));
        }
        None => {}
    }
    blobs::insert(c, &chunk.blob).await?;
    let now = now_ms();
    sqlx::query(
        "insert into run_chunks (run_id, kind, name, seq, hash, bytes, received_ms) values ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(&chunk.run)
    .bind(&chunk.kind)
    .bind(&chunk.name)
    .bind(chunk.seq)
    .bind(&chunk.blob.hash)
    .bind(int(chunk.blob.bytes))
    .bind(now)
    .execute(&mut *c)
    .await?;
    sqlx::query(
        "update runs set seen_ms = $2, dirty = 1, state = case when state = 'lost' then 'running' else state end where id = $1",
    )
    .bind(&chunk.run)
    .bind(now)
    .execute(c)
    .await?;
    Ok(ChunkAck::Created)
}

/// The run that a report is about.
pub(super) async fn of_report(c: &mut SqliteConnection, report_id: &str) -> Result<Option<String>, StoreError> {
    Ok(sqlx::query_scalar("select id from runs where report_id = $1").bind(report_id).fetch_optional(c).await?)
}
