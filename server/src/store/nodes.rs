//! Nodes and their snapshots.

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{FromRow, Row};

use super::blobs::{self, BlobRow};
use super::reports::{self, MadeSubject, ReportKind, ReportSummary, Row0, SUMMARY, Source};
use super::{Store, StoreError};
use crate::clock::{new_id, now_ms};

/// A snapshot to be stored.
#[derive(Clone, Debug)]
pub struct NewSnapshot {
    /// Its raw JSON.
    pub blob: BlobRow,
    /// Node name.
    pub node: String,
    /// Epoch ms, `None` if it does not say.
    pub taken_ms: Option<i64>,
}

/// What a snapshot became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotAck {
    /// Snapshot id.
    pub id: String,
    /// Its report's id.
    pub report_id: String,
    /// False if the same snapshot was here before.
    pub created: bool,
}

/// A node with its newest report that is ready, or, if none is, the one that will be.
#[derive(Clone, Debug)]
pub struct NodeRecord {
    /// Name.
    pub name: String,
    /// Epoch ms of the newest snapshot.
    pub seen_ms: i64,
    /// Snapshots kept.
    pub snapshots: i64,
    /// Report of the newest snapshot, ready or not.
    pub last_report_id: String,
    /// "8 × NVIDIA H200".
    pub gpus: Option<String>,
    /// Driver version.
    pub driver: Option<String>,
    /// The report to show.
    pub report: ReportSummary,
}

impl FromRow<'_, SqliteRow> for NodeRecord {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            name: row.try_get("name")?,
            seen_ms: row.try_get("seen_ms")?,
            snapshots: row.try_get("snapshots")?,
            last_report_id: row.try_get("last_report_id")?,
            gpus: row.try_get("gpus")?,
            driver: row.try_get("driver")?,
            report: ReportSummary::from_row(row)?,
        })
    }
}

const FROM: &str = "n.name, n.seen_ms, n.snapshots, n.last_report_id, b.gpus, b.driver from nodes n \
     join reports r on r.id = coalesce(n.report_id, n.last_report_id) left join bodies b on b.hash = r.body";

impl Store {
    /// Stores a snapshot and asks for its report; the same bytes for the same node are one snapshot.
    ///
    /// # Errors
    /// The write failed; then nothing of it is stored.
    pub async fn put_snapshot(&self, new: NewSnapshot) -> Result<SnapshotAck, StoreError> {
        self.writer.write(move |c| Box::pin(async move { put(c, &new).await })).await
    }

    /// Nodes, the one with most to win first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn nodes(&self, limit: u32) -> Result<Vec<NodeRecord>, StoreError> {
        let sql =
            format!("select {SUMMARY}, {FROM} order by n.win_share desc nulls last, n.fails desc, n.name limit $1");
        Ok(sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(limit).fetch_all(&self.read).await?)
    }

    /// Nodes by name, after `after`.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn nodes_by_name(&self, after: Option<&str>, limit: u32) -> Result<Vec<NodeRecord>, StoreError> {
        let sql = format!("select {SUMMARY}, {FROM} where $1 is null or n.name > $1 order by n.name limit $2");
        Ok(sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(after).bind(limit).fetch_all(&self.read).await?)
    }

    /// A node by name.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn node(&self, name: &str) -> Result<Option<NodeRecord>, StoreError> {
        let sql = format!("select {SUMMARY}, {FROM} where n.name = $1");
        Ok(sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(name).fetch_optional(&self.read).await?)
    }

    /// Nodes in all.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn count_nodes(&self) -> Result<i64, StoreError> {
        Ok(sqlx::query_scalar("select count(*) from nodes").fetch_one(&self.read).await?)
    }
}

async fn put(c: &mut SqliteConnection, new: &NewSnapshot) -> Result<SnapshotAck, StoreError> {
    let known = sqlx::query("select id, report_id from snapshots where node = $1 and hash = $2")
        .bind(&new.node)
        .bind(&new.blob.hash)
        .fetch_optional(&mut *c)
        .await?;
    if let Some(row) = known {
        return Ok(SnapshotAck { id: row.try_get(0)?, report_id: row.try_get(1)?, created: false });
    }
    blobs::insert(c, &new.blob).await?;
    let now = now_ms();
    // A clock that runs ahead must not make its snapshots the newest ones for ever.
    let taken = new.taken_ms.map_or(now, |t| t.min(now));
    let (id, report_id) = (new_id(), new_id());
    let source = Source { name: format!("{}.json", new.node), lines: false, blobs: vec![new.blob.hash.clone()] };
    let row = Row0 {
        id: &report_id,
        kind: ReportKind::Snapshot,
        key: None,
        node: Some(&new.node),
        run: None,
        taken_ms: Some(taken),
        sources: &[source],
        state: "pending",
        priority: 0,
    };
    reports::insert(c, row).await?;
    sqlx::query(
        "insert into nodes (name, created_ms, seen_ms, snapshots, last_taken_ms, last_report_id) \
         values ($1, $2, $3, 1, $3, $4) on conflict (name) do update set snapshots = nodes.snapshots + 1, \
         seen_ms = case when excluded.seen_ms > nodes.seen_ms then excluded.seen_ms else nodes.seen_ms end, \
         last_report_id = case when excluded.last_taken_ms >= nodes.last_taken_ms then excluded.last_report_id \
         else nodes.last_report_id end, \
         last_taken_ms = case when excluded.last_taken_ms > nodes.last_taken_ms then excluded.last_taken_ms \
         else nodes.last_taken_ms end",
    )
    .bind(&new.node)
    .bind(now)
    .bind(taken)
    .bind(&report_id)
    .execute(&mut *c)
    .await?;
    sqlx::query(
        "insert into snapshots (id, node, taken_ms, received_ms, hash, report_id) values ($1, $2, $3, $4, $5, $6)",
    )
    .bind(&id)
    .bind(&new.node)
    .bind(taken)
    .bind(now)
    .bind(&new.blob.hash)
    .bind(&report_id)
    .execute(&mut *c)
    .await?;
    Ok(SnapshotAck { id, report_id, created: true })
}

/// Makes a finished report its node's newest one, unless a later snapshot has one; the node's name if it was made so.
pub(super) async fn report_ready(
    c: &mut SqliteConnection,
    report_id: &str,
    made: &MadeSubject,
) -> Result<Option<String>, StoreError> {
    let fails = made.firing.iter().filter(|f| f.1 == "fail").count();
    Ok(sqlx::query_scalar(
        "update nodes set report_id = $1, report_taken_ms = (select taken_ms from reports where id = $1), \
         win_share = $2, fails = $3 where name = (select node from reports where id = $1) \
         and (report_taken_ms is null or report_taken_ms <= (select taken_ms from reports where id = $1)) \
         returning name",
    )
    .bind(report_id)
    .bind(made.body.win_share)
    .bind(i64::try_from(fails).unwrap_or(i64::MAX))
    .fetch_optional(c)
    .await?)
}
