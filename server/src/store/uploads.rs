//! Uploads: raw files that somebody sent, one a content, with every name they came under.

use sqlx::Row;

use super::blobs::{self, BlobRow, int, size};
use super::{Store, StoreError};
use crate::clock::{new_id, now_ms};

/// What an upload became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadAck {
    /// Upload id.
    pub id: String,
    /// False if the same bytes were here before.
    pub created: bool,
}

/// An upload.
#[derive(Clone, Debug)]
pub struct Upload {
    /// Id.
    pub id: String,
    /// Every name it came under, the first one first.
    pub names: Vec<String>,
    /// Size as received.
    pub bytes: u64,
    /// BLAKE3, hex.
    pub hash: String,
    /// Epoch ms.
    pub created_ms: i64,
}

impl Store {
    /// Stores an upload; the same bytes give the same upload, and the name is added to its names.
    ///
    /// # Errors
    /// The write failed; then nothing of it is stored.
    pub async fn put_upload(&self, blob: BlobRow, name: String) -> Result<UploadAck, StoreError> {
        self.writer
            .write(move |c| {
                Box::pin(async move {
                    blobs::insert(c, &blob).await?;
                    let id = new_id();
                    sqlx::query(
                        "insert into uploads (id, hash, bytes, created_ms) values ($1, $2, $3, $4) on conflict (hash) do nothing",
                    )
                    .bind(&id)
                    .bind(&blob.hash)
                    .bind(int(blob.bytes))
                    .bind(now_ms())
                    .execute(&mut *c)
                    .await?;
                    let kept: String = sqlx::query_scalar("select id from uploads where hash = $1")
                        .bind(&blob.hash)
                        .fetch_one(&mut *c)
                        .await?;
                    sqlx::query(
                        "insert into upload_names (upload_id, name, created_ms) values ($1, $2, $3) on conflict do nothing",
                    )
                    .bind(&kept)
                    .bind(&name)
                    .bind(now_ms())
                    .execute(&mut *c)
                    .await?;
                    Ok(UploadAck { created: kept == id, id: kept })
                })
            })
            .await
    }

    /// An upload by id.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn upload(&self, id: &str) -> Result<Option<Upload>, StoreError> {
        let row = sqlx::query("select id, hash, bytes, created_ms from uploads where id = $1")
            .bind(id)
            .fetch_optional(&self.read)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let names = sqlx::query_scalar("select name from upload_names where upload_id = $1 order by created_ms, name")
            .bind(id)
            .fetch_all(&self.read)
            .await?;
        Ok(Some(Upload {
            id: row.try_get(0)?,
            names,
            hash: row.try_get(1)?,
            bytes: size(row.try_get(2)?),
            created_ms: row.try_get(3)?,
        }))
    }
}
