//! Rows about raw bytes.

use sqlx::Row;
use sqlx::sqlite::SqliteConnection;

use super::{Store, StoreError};
use crate::clock::now_ms;

/// Raw bytes as the database knows them.
#[derive(Clone, Debug)]
pub struct BlobRow {
    /// BLAKE3, hex.
    pub hash: String,
    /// Size as received.
    pub bytes: u64,
    /// The bytes, compressed with zstd, where they stand in the database and not in a file.
    pub data: Option<Vec<u8>>,
}

pub(super) async fn insert(connection: &mut SqliteConnection, blob: &BlobRow) -> Result<(), StoreError> {
    sqlx::query(
        "insert into blobs (hash, bytes, data, created_ms) values ($1, $2, $3, $4) on conflict (hash) do nothing",
    )
    .bind(&blob.hash)
    .bind(int(blob.bytes))
    .bind(&blob.data)
    .bind(now_ms())
    .execute(connection)
    .await?;
    Ok(())
}

impl Store {
    /// A blob's row, with its bytes if they stand in the database.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn blob(&self, hash: &str) -> Result<Option<BlobRow>, StoreError> {
        let row = sqlx::query("select hash, bytes, data from blobs where hash = $1")
            .bind(hash)
            .fetch_optional(&self.read)
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(BlobRow { hash: row.try_get(0)?, bytes: size(row.try_get(1)?), data: row.try_get(2)? }))
    }
}

/// A size as SQLite keeps it.
pub(super) fn int(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A size as SQLite kept it.
pub(super) fn size(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}
