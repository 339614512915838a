//! The schema's migrations, compiled in, and the refusal of databases that this server does not know.

use std::path::Path;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Row, SqlSafeStr};

use super::OpenError;

/// Number, description and SQL of each migration, in order. A migration that was released is never changed.
const MIGRATIONS: &[(i64, &str, &str)] = &[(1, "init", include_str!("../../../migrations/0001_init.sql"))];

fn migrator() -> Migrator {
    let migrations = MIGRATIONS.iter().map(|(version, description, sql)| {
        Migration::new(*version, (*description).into(), MigrationType::Simple, (*sql).into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.collect())
}

/// Brings the schema up to date.
pub(super) async fn run(connection: &mut SqliteConnection) -> Result<(), sqlx::migrate::MigrateError> {
    migrator().run_direct(None, connection, false).await
}

/// Looks at an existing database without writing, and refuses one with migrations that are not ours.
pub(super) async fn refuse_unknown(path: &Path, shown: &str) -> Result<(), OpenError> {
    let foreign = |why: &str| OpenError::Foreign { path: shown.to_owned(), why: why.to_owned() };
    let failed =
        |source: sqlx::Error| match source.as_database_error().and_then(sqlx::error::DatabaseError::code).as_deref() {
            // SQLITE_NOTADB
            Some("26") => foreign("the file is not an SQLite database"),
            _ => OpenError::Sqlite { path: shown.to_owned(), source },
        };
    let options = SqliteConnectOptions::new().filename(path).read_only(true).disable_statement_logging();
    let mut connection = options.connect().await.map_err(failed)?;
    let checked = applied(&mut connection).await;
    let closed = connection.close().await;
    let applied = checked.map_err(failed)?;
    closed.map_err(failed)?;
    let Some(applied) = applied else {
        return Err(foreign("it holds other tables"));
    };
    let known = MIGRATIONS.last().map_or(0, |m| m.0);
    if let Some((found, _)) = applied.last().filter(|(v, _)| *v > known) {
        return Err(OpenError::Newer { path: shown.to_owned(), found: *found, known });
    }
    let migrator = migrator();
    for (version, checksum) in &applied {
        let ours = migrator.iter().find(|m| m.version == *version);
        if ours.is_none_or(|m| m.checksum.as_ref() != checksum.as_slice()) {
            return Err(foreign(&format!("its migration {version} is another than this server's")));
        }
    }
    Ok(())
}

/// Version and checksum of the applied migrations; empty for an empty database, `None` if it holds something else.
async fn applied(connection: &mut SqliteConnection) -> Result<Option<Vec<(i64, Vec<u8>)>>, sqlx::Error> {
    let tables: Vec<String> =
        sqlx::query_scalar("select name from sqlite_master where type = 'table'").fetch_all(&mut *connection).await?;
    if tables.is_empty() {
        return Ok(Some(Vec::new()));
    }
    if !tables.iter().any(|t| t == "_sqlx_migrations") {
        return Ok(None);
    }
    let rows = sqlx::query("select version, checksum from _sqlx_migrations order by version")
        .fetch_all(&mut *connection)
        .await?;
    rows.iter().map(|r| Ok((r.try_get(0)?, r.try_get(1)?))).collect::<Result<_, sqlx::Error>>().map(Some)
}
