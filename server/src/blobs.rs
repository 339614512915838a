//! Raw bytes, kept under the hash of their content. Large ones are objects of an `object_store` (a local folder unless
//! set otherwise), small ones stand in the database so that a snapshot costs no file of its own.
//!
//! Bytes are gathered under a temporary name and get their own only when they are complete and synced: what breaks off
//! leaves nothing. It does not know what the bytes mean.

use std::fmt::Display;
use std::io::{Cursor, Read};
use std::path::Path as FsPath;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::{Stream, StreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{GetResultPayload, MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};

use crate::clock::new_id;
use crate::store::{BlobRow, Store, StoreError};

/// Up to this size bytes stand in the database: below about 100 KiB SQLite reads and writes them faster than files
/// (sqlite.org/intern-v-extern-blob.html), and many of them share one sync.
const SMALL: usize = 64 << 10;
/// Bytes that are handed to the object store at once.
const PART: usize = 1 << 20;
/// Folder of unfinished objects; emptied at start.
const STAGING: &str = "incoming";
/// Zstd level of small blobs: 1 is several times faster than a sync takes, and text shrinks to about a fifth.
const LEVEL: i32 = 1;

/// Why bytes were not taken.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// More than allowed.
    #[error("more than {limit} bytes")]
    TooLarge {
        /// What was allowed.
        limit: u64,
    },
    /// The sender broke off, or its compression is broken.
    #[error("{0}")]
    Broken(String),
    /// Nothing came for too long.
    #[error("no byte came for {0:?}")]
    Idle(Duration),
    /// The disk is full.
    #[error("the disk is full")]
    Full,
    /// The store failed otherwise.
    #[error("{0}")]
    Storage(String),
}

/// Why a blob cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// Nobody stored it, or its file is gone.
    #[error("the stored data {hash} is missing")]
    Missing {
        /// Its hash.
        hash: String,
    },
    /// The store failed.
    #[error("the stored data cannot be read: {0}")]
    Storage(String),
}

/// Bytes that were received whole. They are durable once their row is written with [`Store`].
#[derive(Clone, Debug)]
pub struct Received {
    /// The row to write.
    pub blob: BlobRow,
}

/// Where raw bytes are kept.
#[derive(Clone, Debug)]
pub struct Blobs {
    objects: Arc<dyn ObjectStore>,
    store: Store,
    idle: Duration,
}

impl Blobs {
    /// The blobs of a data folder. `idle` is how long a body may be silent. The folder must be locked by this process.
    ///
    /// # Errors
    /// The folder cannot be created, or leftovers of a crash cannot be removed.
    pub fn open(data: &FsPath, store: Store, idle: Duration) -> std::io::Result<Self> {
        let root = data.join("blobs");
        let staging = root.join(STAGING);
        if staging.exists() {
            std::fs::remove_dir_all(&staging)?;
        }
        std::fs::create_dir_all(&staging)?;
        let local = LocalFileSystem::new_with_prefix(&root)?.with_fsync(true);
        Ok(Self { objects: Arc::new(local), store, idle })
    }

    /// Takes a stream of bytes to its end.
    ///
    /// # Errors
    /// It is too large, breaks off or falls silent, or the disk fails; then nothing is left of it.
    pub async fn receive<S, E>(&self, mut stream: S, limit: u64) -> Result<Received, SpoolError>
    where
        S: Stream<Item = Result<Bytes, E>> + Unpin + Send,
        E: Display,
    {
        let mut hasher = blake3::Hasher::new();
        let mut bytes: u64 = 0;
        let mut buffer = BytesMut::new();
        let mut object: Option<Staged> = None;
        loop {
            let next = tokio::time::timeout(self.idle, stream.next()).await.map_err(|_| SpoolError::Idle(self.idle))?;
            let Some(chunk) = next else { break };
            let chunk = chunk.map_err(|e| SpoolError::Broken(e.to_string()))?;
            bytes += chunk.len() as u64;
            if bytes > limit {
                return Err(SpoolError::TooLarge { limit });
            }
            hasher.update(&chunk);
            buffer.extend_from_slice(&chunk);
            let large = object.is_some() || buffer.len() > SMALL;
            if large && buffer.len() >= PART {
                self.put(&mut object, buffer.split().freeze()).await?;
            }
        }
        let hash = hasher.finalize().to_hex().to_string();
        if object.is_none() && buffer.len() <= SMALL {
            let data = zstd::encode_all(&buffer[..], LEVEL).map_err(|e| SpoolError::Storage(e.to_string()))?;
            return Ok(Received { blob: BlobRow { hash, bytes, data: Some(data) } });
        }
        if !buffer.is_empty() {
            self.put(&mut object, buffer.freeze()).await?;
        }
        if let Some(staged) = object {
            self.finish(staged, &hash).await?;
        }
        Ok(Received { blob: BlobRow { hash, bytes, data: None } })
    }

    async fn put(&self, object: &mut Option<Staged>, part: Bytes) -> Result<(), SpoolError> {
        let staged = match object {
            Some(staged) => staged,
            None => {
                let path = Path::from(STAGING).join(new_id());
                let upload = self.objects.put_multipart(&path).await.map_err(storage)?;
                object.insert(Staged { path, upload })
            }
        };
        staged.upload.put_part(PutPayload::from_bytes(part)).await.map_err(storage)
    }

    /// Syncs the staged object and gives it its name.
    async fn finish(&self, mut staged: Staged, hash: &str) -> Result<(), SpoolError> {
        staged.upload.complete().await.map_err(storage)?;
        self.objects.rename(&staged.path, &path_of(hash)).await.map_err(storage)
    }

    /// A reader of a blob's bytes, to be used where blocking is allowed.
    ///
    /// # Errors
    /// The blob is missing, or the store cannot be read.
    pub async fn open_blob(&self, hash: &str) -> Result<Box<dyn Read + Send>, BlobError> {
        let row = self.store.blob(hash).await.map_err(|e: StoreError| BlobError::Storage(e.to_string()))?;
        let missing = || BlobError::Missing { hash: hash.to_owned() };
        let row = row.ok_or_else(missing)?;
        if let Some(data) = row.data {
            let reader = zstd::Decoder::new(Cursor::new(data)).map_err(|e| BlobError::Storage(e.to_string()))?;
            return Ok(Box::new(reader));
        }
        let object = self.objects.get(&path_of(hash)).await.map_err(|e| match e {
            object_store::Error::NotFound { .. } => missing(),
            e => BlobError::Storage(e.to_string()),
        })?;
        match object.payload {
            GetResultPayload::File(file, _) => Ok(Box::new(std::io::BufReader::new(file))),
            GetResultPayload::Stream(stream) => {
                let stream = stream.map(|r| r.map_err(std::io::Error::other));
                let reader = tokio_util::io::StreamReader::new(Box::pin(stream));
                Ok(Box::new(tokio_util::io::SyncIoBridge::new(reader)))
            }
        }
    }

    /// A blob's bytes as a stream for a response.
    ///
    /// # Errors
    /// The blob is missing, or the store cannot be read.
    pub async fn stream(
        &self,
        hash: &str,
    ) -> Result<futures::stream::BoxStream<'static, Result<Bytes, std::io::Error>>, BlobError> {
        let row = self.store.blob(hash).await.map_err(|e| BlobError::Storage(e.to_string()))?;
        let missing = || BlobError::Missing { hash: hash.to_owned() };
        let row = row.ok_or_else(missing)?;
        if let Some(data) = row.data {
            let bytes = zstd::decode_all(&data[..]).map_err(|e| BlobError::Storage(e.to_string()))?;
            return Ok(futures::stream::once(async { Ok(Bytes::from(bytes)) }).boxed());
        }
        let object = self.objects.get(&path_of(hash)).await.map_err(|e| match e {
            object_store::Error::NotFound { .. } => missing(),
            e => BlobError::Storage(e.to_string()),
        })?;
        Ok(object.into_stream().map(|r| r.map_err(std::io::Error::other)).boxed())
    }
}

/// An object on its way; dropped before its end, the local store removes its file.
struct Staged {
    path: Path,
    upload: Box<dyn MultipartUpload>,
}

fn path_of(hash: &str) -> Path {
    Path::from(hash.get(..2).unwrap_or("xx")).join(hash)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn storage(e: object_store::Error) -> SpoolError {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&e);
    while let Some(s) = source {
        let full = |k| matches!(k, std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded);
        if s.downcast_ref::<std::io::Error>().is_some_and(|io| full(io.kind())) {
            return SpoolError::Full;
        }
        source = s.source();
    }
    SpoolError::Storage(e.to_string())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn files(dir: &FsPath) -> Vec<String> {
        let mut out = Vec::new();
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { out.extend(files(&path)) } else { out.push(path.display().to_string()) }
        }
        out
    }

    async fn blobs(dir: &FsPath) -> Blobs {
        Blobs::open(dir, Store::open(dir).await.unwrap(), Duration::from_millis(200)).unwrap()
    }

    fn chunks(n: usize, end: Option<&'static str>) -> impl Stream<Item = Result<Bytes, &'static str>> + Unpin + Send {
        let chunk = Bytes::from(vec![7u8; 100_000]);
        futures::stream::iter((0..n).map(move |_| Ok(chunk.clone())).chain(end.map(Err)))
    }

    #[tokio::test]
    async fn small_and_large_bytes_come_back_as_they_were() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = blobs(dir.path()).await;
        for n in [0, 1, 64, 25_000_000] {
            let data: Vec<u8> = (0..n).map(|i: u32| (i % 251) as u8).collect();
            let stream = futures::stream::iter(data.chunks(70_001).map(|c| Ok::<_, String>(Bytes::copy_from_slice(c))));
            let received = blobs.receive(stream, 1 << 30).await.unwrap();
            assert_eq!(received.blob.hash, blake3::hash(&data).to_hex().as_str());
            blobs.store.put_upload(received.blob.clone(), "x".into()).await.unwrap();
            let mut reader = blobs.open_blob(&received.blob.hash).await.unwrap();
            let mut back = Vec::new();
            reader.read_to_end(&mut back).unwrap();
            assert!(back == data, "{n} bytes differ");
        }
        assert_eq!(files(&dir.path().join("blobs")).len(), 1, "only the large one is a file");
    }

    #[tokio::test]
    async fn what_breaks_off_is_too_large_or_falls_silent_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = blobs(dir.path()).await;
        let broken = blobs.receive(chunks(40, Some("gone")), 1 << 30).await;
        assert!(matches!(broken, Err(SpoolError::Broken(_))), "{broken:?}");
        let large = blobs.receive(chunks(40, None), 3_000_000).await;
        assert!(matches!(large, Err(SpoolError::TooLarge { .. })), "{large:?}");
        let silent = blobs.receive(chunks(40, None).chain(futures::stream::pending()), 1 << 30).await;
        assert!(matches!(silent, Err(SpoolError::Idle(_))), "{silent:?}");
        // The files of abandoned objects are removed by a blocking task.
        for _ in 0..100 {
            if files(&dir.path().join("blobs")).is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("left: {:?}", files(&dir.path().join("blobs")));
    }
}
