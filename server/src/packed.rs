//! JSON in zstd, as report bodies and lanes are stored.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Zstd level: 3 is its default; a report of 100 KB takes below a millisecond.
const LEVEL: i32 = 3;

/// Packs a value; returns its JSON's BLAKE3 too.
///
/// # Errors
/// The value has no JSON, or zstd fails for lack of memory.
pub fn pack<T: Serialize>(value: &T) -> std::io::Result<(Vec<u8>, blake3::Hash)> {
    let json = serde_json::to_vec(value)?;
    let hash = blake3::hash(&json);
    Ok((zstd::encode_all(&json[..], LEVEL)?, hash))
}

/// Reads a packed value.
///
/// # Errors
/// The bytes are not what [`pack`] wrote.
pub fn unpack<T: DeserializeOwned>(packed: &[u8]) -> std::io::Result<T> {
    Ok(serde_json::from_slice(&zstd::decode_all(packed)?)?)
}
