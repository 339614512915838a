//! Reports: which inputs each is about, whether it is made yet, and its body. Bodies that say the same are one row.

use serde::{Deserialize, Serialize};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{FromRow, Row};

use super::{Store, StoreError, nodes, runs};
use crate::clock::{new_id, now_ms};

/// What a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportKind {
    /// Files that somebody sent.
    Upload,
    /// A node at one time.
    Snapshot,
    /// A training run.
    Run,
}

impl ReportKind {
    pub(super) const fn id(self) -> &'static str {
        match self {
            Self::Upload => "upload",
            Self::Snapshot => "snapshot",
            Self::Run => "run",
        }
    }

    fn from_id(id: &str) -> Self {
        match id {
            "snapshot" => Self::Snapshot,
            "run" => Self::Run,
            _ => Self::Upload,
        }
    }
}

/// How far a report is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is nothing to judge yet (a run without data).
    Empty,
    /// It waits for its evaluation; an earlier body may be there.
    Pending,
    /// Its body is that of its inputs.
    Ready,
    /// It could not be made; the record says why.
    Failed,
}

impl State {
    fn from_id(id: &str) -> Self {
        match id {
            "empty" => Self::Empty,
            "ready" => Self::Ready,
            "failed" => Self::Failed,
            _ => Self::Pending,
        }
    }
}

/// One input file of a report, in one or several blobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Name for people.
    pub name: String,
    /// Whether the blobs hold whole lines each, possibly compressed one by one; else they are pieces of one file.
    #[serde(default)]
    pub lines: bool,
    /// Hashes in order.
    pub blobs: Vec<String>,
}

/// A report to be made of uploads.
#[derive(Clone, Debug)]
pub struct NewReport {
    /// Identifies the set of inputs.
    pub key: String,
    /// Inputs.
    pub sources: Vec<Source>,
}

/// What a new report became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportAck {
    /// Report id.
    pub id: String,
    /// False if the same inputs have a report already.
    pub created: bool,
}

/// What an evaluation yields, without node, run and time.
#[derive(Clone, Debug)]
pub struct Body {
    /// BLAKE3 of report and lanes.
    pub hash: String,
    /// Zstd of the report's JSON.
    pub report: Vec<u8>,
    /// JSON of the report as a list row shows it.
    pub brief: String,
    /// Zstd of the lanes' JSON.
    pub lanes: Vec<u8>,
    /// "8 × NVIDIA H200".
    pub gpus: Option<String>,
    /// Driver version.
    pub driver: Option<String>,
    /// The headline's recoverable share.
    pub win_share: Option<f64>,
}

/// A check that fires in a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Firing {
    /// `node`, `run` or `report`.
    pub subject: String,
    /// Node name, run id or report id.
    pub id: String,
    /// Name for people.
    pub title: String,
    /// Check id.
    pub check_id: String,
    /// Verdict.
    pub verdict: String,
    /// Recoverable share.
    pub share: Option<f64>,
    /// Message.
    pub message: String,
}

/// The report of one host.
#[derive(Clone, Debug)]
pub struct MadeSubject {
    /// Node that the inputs name.
    pub node: Option<String>,
    /// Run that the inputs name.
    pub run: Option<String>,
    /// Epoch ms that the inputs name.
    pub taken_ms: Option<i64>,
    /// Body.
    pub body: Body,
    /// Check id, verdict, share and message of each warn or fail.
    pub firing: Vec<(String, String, Option<f64>, String)>,
}

/// The end of an evaluation.
#[derive(Clone, Debug)]
pub enum Made {
    /// One report a host, at least one.
    Reports(Vec<MadeSubject>),
    /// Why there is none, for people.
    Failed(String),
}

/// An evaluation to be done.
#[derive(Clone, Debug)]
pub struct Job {
    /// Report id.
    pub id: String,
    /// What it is about.
    pub kind: ReportKind,
    /// Inputs as they are at this moment.
    pub sources: Vec<Source>,
    /// Request that this evaluation answers.
    pub wanted: i64,
}

/// A report as stored, without its body.
#[derive(Clone, Debug)]
pub struct ReportSummary {
    /// Report id.
    pub id: String,
    /// What it is about.
    pub kind: ReportKind,
    /// Node.
    pub node: Option<String>,
    /// Run.
    pub run: Option<String>,
    /// Epoch ms of the evidence.
    pub taken_ms: Option<i64>,
    /// Epoch ms when it was asked for.
    pub created_ms: i64,
    /// How far it is.
    pub state: State,
    /// Epoch ms when its body was made.
    pub made_ms: Option<i64>,
    /// Why it could not be made.
    pub problem: Option<String>,
    /// JSON of the report as a list row shows it.
    pub brief: Option<String>,
}

/// A report as stored.
#[derive(Clone, Debug)]
pub struct ReportRecord {
    /// The report without its body.
    pub summary: ReportSummary,
    /// Zstd of the report's JSON, if it was made.
    pub report: Option<Vec<u8>>,
    /// Zstd of the lanes' JSON, if it was made.
    pub lanes: Option<Vec<u8>>,
    /// Inputs.
    pub sources: Vec<Source>,
}

/// Columns of [`ReportSummary`], for `reports r left join bodies b`.
pub(super) const SUMMARY: &str =
    "r.id, r.kind, r.node, r.run, r.taken_ms, r.created_ms, r.state, r.made_ms, r.problem, b.brief";

impl FromRow<'_, SqliteRow> for ReportSummary {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            kind: ReportKind::from_id(row.try_get("kind")?),
            node: row.try_get("node")?,
            run: row.try_get("run")?,
            taken_ms: row.try_get("taken_ms")?,
            created_ms: row.try_get("created_ms")?,
            state: State::from_id(row.try_get("state")?),
            made_ms: row.try_get("made_ms")?,
            problem: row.try_get("problem")?,
            brief: row.try_get("brief")?,
        })
    }
}

/// What a report row starts with.
pub(super) struct Row0<'a> {
    pub(super) id: &'a str,
    pub(super) kind: ReportKind,
    pub(super) key: Option<&'a str>,
    pub(super) node: Option<&'a str>,
    pub(super) run: Option<&'a str>,
    pub(super) taken_ms: Option<i64>,
    pub(super) sources: &'a [Source],
    pub(super) state: &'static str,
    pub(super) priority: i64,
}

pub(super) async fn insert(c: &mut SqliteConnection, r: Row0<'_>) -> Result<(), StoreError> {
    sqlx::query(
        "insert into reports (id, kind, group_id, key, node, run, taken_ms, created_ms, sources, state, priority) \
         values ($1, $2, $1, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (key) do nothing",
    )
    .bind(r.id)
    .bind(r.kind.id())
    .bind(r.key)
    .bind(r.node)
    .bind(r.run)
    .bind(r.taken_ms)
    .bind(now_ms())
    .bind(json(r.sources))
    .bind(r.state)
    .bind(r.priority)
    .execute(c)
    .await?;
    Ok(())
}

impl Store {
    /// Asks for a report of uploads; the same inputs give the same report.
    ///
    /// # Errors
    /// The write failed.
    pub async fn put_report(&self, new: NewReport) -> Result<ReportAck, StoreError> {
        self.writer
            .write(move |c| {
                Box::pin(async move {
                    let id = new_id();
                    let row = Row0 {
                        id: &id,
                        kind: ReportKind::Upload,
                        key: Some(&new.key),
                        node: None,
                        run: None,
                        taken_ms: None,
                        sources: &new.sources,
                        state: "pending",
                        priority: 2,
                    };
                    insert(c, row).await?;
                    let kept: String =
                        sqlx::query_scalar("select id from reports where key = $1").bind(&new.key).fetch_one(c).await?;
                    Ok(ReportAck { created: kept == id, id: kept })
                })
            })
            .await
    }

    /// Evaluations that wait, the urgent ones first, without those in `busy`.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn jobs(&self, busy: &[String], limit: usize) -> Result<Vec<Job>, StoreError> {
        let rows = sqlx::query(
            "select id, kind, run, sources, wanted from reports where state = 'pending' and idx = 0 \
             and id not in (select value from json_each($1)) order by priority desc, id limit $2",
        )
        .bind(json(busy))
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .fetch_all(&self.read)
        .await?;
        let mut jobs = Vec::with_capacity(rows.len());
        for row in rows {
            let kind = ReportKind::from_id(row.try_get("kind")?);
            let run: Option<String> = row.try_get("run")?;
            let sources = match (kind, run) {
                (ReportKind::Run, Some(run)) => self.run_sources(&run).await?,
                _ => sources(row.try_get("sources")?),
            };
            jobs.push(Job { id: row.try_get("id")?, kind, sources, wanted: row.try_get("wanted")? });
        }
        Ok(jobs)
    }

    /// Stores the end of an evaluation.
    ///
    /// # Errors
    /// The write failed; the evaluation stays pending.
    pub async fn finish_report(&self, job: Job, made: Made, catalogue: &'static str) -> Result<(), StoreError> {
        self.writer.write(move |c| Box::pin(async move { finish(c, &job, &made, catalogue).await })).await
    }

    /// A report by id.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn report(&self, id: &str) -> Result<Option<ReportRecord>, StoreError> {
        let sql = format!(
            "select {SUMMARY}, b.report as body_report, b.lanes as body_lanes, r.sources from reports r \
             left join bodies b on b.hash = r.body where r.id = $1"
        );
        let row = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(id).fetch_optional(&self.read).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(ReportRecord {
            summary: ReportSummary::from_row(&row)?,
            report: row.try_get("body_report")?,
            lanes: row.try_get("body_lanes")?,
            sources: sources(row.try_get("sources")?),
        }))
    }

    /// The group of a report and how far it is; `None` if there is no such report. The reports of the other hosts of a
    /// group are made with its first one.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn report_state(&self, id: &str) -> Result<Option<(String, State)>, StoreError> {
        let row: Option<(String, String)> =
            sqlx::query_as("select g.id, g.state from reports r join reports g on g.id = r.group_id where r.id = $1")
                .bind(id)
                .fetch_optional(&self.read)
                .await?;
        Ok(row.map(|(group, state)| (group, State::from_id(&state))))
    }

    /// The reports of the same inputs, one a host.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn report_group(&self, id: &str) -> Result<Vec<String>, StoreError> {
        Ok(sqlx::query_scalar(
            "select id from reports where group_id = (select group_id from reports where id = $1) order by idx",
        )
        .bind(id)
        .fetch_all(&self.read)
        .await?)
    }

    /// Reports, the newest first, older than `before` (an id).
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn reports(&self, before: Option<&str>, limit: u32) -> Result<Vec<ReportSummary>, StoreError> {
        let sql = format!(
            "select {SUMMARY} from reports r left join bodies b on b.hash = r.body \
             where $1 is null or r.id < $1 order by r.id desc limit $2"
        );
        Ok(sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(before).bind(limit).fetch_all(&self.read).await?)
    }

    /// Evaluations that wait.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn pending(&self) -> Result<i64, StoreError> {
        Ok(sqlx::query_scalar("select count(*) from reports where state = 'pending'").fetch_one(&self.read).await?)
    }

    /// Where a check fires in the newest report of each subject, the costliest first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn firing(&self, check: &str, limit: u32) -> Result<Vec<Firing>, StoreError> {
        let rows = sqlx::query(
            "select f.subject, f.id, f.check_id, f.verdict, f.share, f.message, coalesce(u.name, f.id) as title \
             from firing f left join runs u on f.subject = 'run' and u.id = f.id where f.check_id = $1 \
             order by f.verdict = 'fail' desc, f.share desc nulls last, f.subject, f.id limit $2",
        )
        .bind(check)
        .bind(limit)
        .fetch_all(&self.read)
        .await?;
        let firing = |row: SqliteRow| -> Result<Firing, sqlx::Error> {
            Ok(Firing {
                subject: row.try_get("subject")?,
                id: row.try_get("id")?,
                title: row.try_get("title")?,
                check_id: row.try_get("check_id")?,
                verdict: row.try_get("verdict")?,
                share: row.try_get("share")?,
                message: row.try_get("message")?,
            })
        };
        rows.into_iter().map(|r| firing(r).map_err(StoreError::from)).collect()
    }
}

async fn finish(c: &mut SqliteConnection, job: &Job, made: &Made, catalogue: &str) -> Result<(), StoreError> {
    let subjects = match made {
        Made::Reports(subjects) => subjects,
        Made::Failed(problem) => {
            sqlx::query(
                "update reports set state = case when wanted = $2 then 'failed' else 'pending' end, problem = $3 where id = $1",
            )
            .bind(&job.id)
            .bind(job.wanted)
            .bind(problem)
            .execute(c)
            .await?;
            return Ok(());
        }
    };
    let made_ms = now_ms();
    for (idx, s) in (0i64..).zip(subjects) {
        insert_body(c, &s.body, made_ms).await?;
        if idx > 0 {
            sqlx::query(
                "insert into reports (id, kind, group_id, idx, created_ms, sources, state) \
                 select $1, kind, group_id, $2, created_ms, '[]', 'pending' from reports where id = $3 \
                 on conflict (group_id, idx) do nothing",
            )
            .bind(new_id())
            .bind(idx)
            .bind(&job.id)
            .execute(&mut *c)
            .await?;
        }
        // What the request said about node, run and time holds over what the inputs say.
        sqlx::query(
            "update reports set state = case when idx > 0 or wanted = $3 then 'ready' else 'pending' end, \
             node = coalesce(node, $4), run = coalesce(run, $5), taken_ms = coalesce(taken_ms, $6), sources = $7, \
             catalogue = $8, made_ms = $9, body = $10, problem = null where group_id = $1 and idx = $2",
        )
        .bind(&job.id)
        .bind(idx)
        .bind(job.wanted)
        .bind(&s.node)
        .bind(&s.run)
        .bind(s.taken_ms)
        .bind(json(&job.sources))
        .bind(catalogue)
        .bind(made_ms)
        .bind(&s.body.hash)
        .execute(&mut *c)
        .await?;
    }
    let Some(first) = subjects.first() else { return Ok(()) };
    let subject = match job.kind {
        ReportKind::Upload => Some(("report", job.id.clone())),
        ReportKind::Snapshot => nodes::report_ready(c, &job.id, first).await?.map(|name| ("node", name)),
        ReportKind::Run => runs::of_report(c, &job.id).await?.map(|id| ("run", id)),
    };
    if let Some((subject, id)) = subject {
        fire(c, subject, &id, first).await?;
    }
    Ok(())
}

async fn insert_body(c: &mut SqliteConnection, b: &Body, now: i64) -> Result<(), StoreError> {
    sqlx::query(
        "insert into bodies (hash, report, brief, lanes, gpus, driver, win_share, created_ms) \
         values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (hash) do nothing",
    )
    .bind(&b.hash)
    .bind(&b.report)
    .bind(&b.brief)
    .bind(&b.lanes)
    .bind(&b.gpus)
    .bind(&b.driver)
    .bind(b.win_share)
    .bind(now)
    .execute(c)
    .await?;
    Ok(())
}

async fn fire(c: &mut SqliteConnection, subject: &str, id: &str, made: &MadeSubject) -> Result<(), StoreError> {
    sqlx::query("delete from firing where subject = $1 and id = $2").bind(subject).bind(id).execute(&mut *c).await?;
    for (check, verdict, share, message) in &made.firing {
        sqlx::query(
            "insert into firing (subject, id, check_id, verdict, share, message) values ($1, $2, $3, $4, $5, $6) \
             on conflict do nothing",
        )
        .bind(subject)
        .bind(id)
        .bind(check)
        .bind(verdict)
        .bind(share)
        .bind(message)
        .execute(&mut *c)
        .await?;
    }
    Ok(())
}

/// JSON of values that always have one.
pub(super) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn sources(text: &str) -> Vec<Source> {
    serde_json::from_str(text).unwrap_or_default()
}
