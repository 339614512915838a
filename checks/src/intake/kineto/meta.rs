//! The descriptions around the list of events: devices, ranks, clock, what was recorded.

use serde_json::Value;

use crate::trace::record::{DeviceProps, Recording};

/// True for keys that are read; everything else (environment, paths, host names) is passed over unread.
pub(super) fn is_wanted(key: &[u8]) -> bool {
    matches!(
        key,
        b"deviceProperties"
            | b"computeProperties"
            | b"distributedInfo"
            | b"baseTimeNanoseconds"
            | b"with_stack"
            | b"profile_memory"
            | b"record_shapes"
    )
}

/// Takes one description; what does not fit is ignored.
pub(super) fn take(key: &[u8], value: &[u8], rec: &mut Recording) {
    let Ok(v) = serde_json::from_slice::<Value>(value) else { return };
    match key {
        b"deviceProperties" | b"computeProperties" => {
            rec.devices = v.as_array().into_iter().flatten().map(device).collect();
        }
        b"distributedInfo" => {
            rec.rank = v["rank"].as_i64();
            rec.world = v["world_size"].as_i64();
            rec.backend = v["backend"].as_str().map(str::to_owned);
            rec.nccl = v["nccl_version"].as_str().map(str::to_owned);
        }
        b"baseTimeNanoseconds" => rec.base_ns = v.as_i64(),
        b"with_stack" => rec.with_stack = flag(&v),
        b"profile_memory" => rec.with_memory = flag(&v),
        b"record_shapes" => rec.with_shapes = flag(&v),
        _ => {}
    }
}

fn flag(v: &Value) -> bool {
    v.as_bool().or(v.as_i64().map(|n| n != 0)).unwrap_or(false)
}

fn device(v: &Value) -> DeviceProps {
    let small = |keys: [&str; 2]| keys.iter().find_map(|k| v[*k].as_u64()).and_then(|n| u32::try_from(n).ok());
    DeviceProps {
        id: v["id"].as_i64().unwrap_or(0),
        name: v["name"].as_str().map(str::to_owned),
        sms: small(["numSms", "multiProcessorCount"]).filter(|n| *n > 0),
        compute: small(["computeMajor", "major"]).zip(small(["computeMinor", "minor"])),
        memory_bytes: v["totalGlobalMem"].as_u64(),
        warp: small(["warpSize", "warpSize"]).filter(|n| *n > 0),
    }
}
