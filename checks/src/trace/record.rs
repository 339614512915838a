//! What a profiler recorded, independent of its file format: small fixed records with interned names.
//!
//! Times are nanoseconds on the file's own clock. Nothing here is ordered or judged; [`super::analyse`] does that.

use std::collections::HashMap;

/// A name's number in [`Names`].
pub type NameId = u32;

/// Distinct names that are kept; further ones share one entry, so that a hostile file costs bounded memory.
const MAX_NAMES: usize = 1 << 18;
/// Bytes of names that are kept, for the same reason.
const MAX_NAME_BYTES: usize = 48 << 20;
/// Longest name that is kept whole; kernel templates stay well below.
const MAX_NAME: usize = 4096;

/// Interned names.
#[derive(Debug)]
pub struct Names {
    ids: HashMap<Box<str>, NameId, foldhash::fast::FixedState>,
    list: Vec<Box<str>>,
    bytes: usize,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Self {
            ids: HashMap::with_hasher(foldhash::fast::FixedState::with_seed(0x5e47)),
            list: Vec::new(),
            bytes: 0,
        };
        names.intern("(other)");
        names
    }
}

impl Names {
    /// The number of a name, new or known.
    pub fn intern(&mut self, name: &str) -> NameId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        if self.list.len() >= MAX_NAMES || self.bytes >= MAX_NAME_BYTES {
            return 0;
        }
        if name.len() > MAX_NAME {
            let mut end = MAX_NAME;
            while !name.is_char_boundary(end) {
                end -= 1;
            }
            return self.intern(&name[..end]);
        }
        let id = NameId::try_from(self.list.len()).unwrap_or(0);
        self.bytes += name.len();
        self.list.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }

    /// The name with this number.
    #[must_use]
    pub fn get(&self, id: NameId) -> &str {
        self.list.get(id as usize).map_or("", |n| n)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True if only the entry for names beyond the limit is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.len() <= 1
    }

    /// All names in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|n| &**n)
    }
}

/// What a host span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostKind {
    /// A framework operator.
    Op,
    /// A mark made by the framework or the user (`ProfilerStep`, `DataLoader`, `Optimizer`).
    Mark,
    /// A Python function.
    Python,
    /// Work of the profiler itself.
    Overhead,
}

/// Something that a host thread did for a while.
#[derive(Clone, Copy, Debug)]
pub struct HostSpan {
    /// Start.
    pub start: i64,
    /// End.
    pub end: i64,
    /// Name.
    pub name: NameId,
    /// Index into [`Recording::threads`].
    pub thread: u16,
    /// What it is.
    pub kind: HostKind,
}

/// A call of the device's runtime or driver.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Start.
    pub start: i64,
    /// End.
    pub end: i64,
    /// Ties the call to the device activities that it started.
    pub correlation: u64,
    /// Name.
    pub name: NameId,
    /// Index into [`Recording::threads`].
    pub thread: u16,
}

/// What the device did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuKind {
    /// A kernel.
    Kernel,
    /// A copy.
    Copy,
    /// A memory fill.
    Fill,
}

/// A device activity.
#[derive(Clone, Copy, Debug)]
pub struct GpuSpan {
    /// Start.
    pub start: i64,
    /// End.
    pub end: i64,
    /// Ties it to the call that started it; `None` if the file has none.
    pub correlation: Option<u64>,
    /// Bytes moved; 0 where the file does not tell.
    pub bytes: u64,
    /// Name.
    pub name: NameId,
    /// Thread blocks; 0 where the file does not tell.
    pub blocks: u32,
    /// Threads a block; 0 where the file does not tell.
    pub threads: u32,
    /// Index into [`Recording::collectives`], or `u32::MAX`.
    pub collective: u32,
    /// Stream.
    pub stream: u32,
    /// Device index as the file numbers them.
    pub device: u16,
    /// What it is.
    pub kind: GpuKind,
    /// Runs inside a CUDA graph, where the file says so.
    pub in_graph: bool,
}

/// No entry in [`Recording::collectives`].
pub const NO_COLLECTIVE: u32 = u32::MAX;

/// Number format of a matrix product's inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the formats")]
pub enum Format {
    Fp64,
    Fp32,
    Bf16,
    Fp16,
    Fp8,
    Int8,
    Other,
}

/// A matrix-product-like operator with the shapes of its inputs, where they were recorded.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// Start.
    pub start: i64,
    /// End.
    pub end: i64,
    /// Index into [`Recording::threads`].
    pub thread: u16,
    /// Number format.
    pub format: Option<Format>,
    /// All dimensions but the batch fit Tensor Core tiles; `None` where shapes were not recorded.
    pub aligned: Option<bool>,
    /// Hash of all input shapes; 0 where they were not recorded.
    pub shape: u64,
}

/// What a collective moves.
#[derive(Clone, Debug, Default)]
pub struct Collective {
    /// Start of the operator that asked for it; `None` where the device activity itself carries this record.
    pub host: Option<(i64, i64, u16)>,
    /// `allreduce`, `_allgather_base`, …
    pub name: NameId,
    /// Elements sent by this rank.
    pub elements: Option<u64>,
    /// Bytes an element.
    pub element_bytes: Option<u32>,
    /// Ranks in the group.
    pub group_size: Option<u32>,
    /// Name of the process group.
    pub group: NameId,
    /// Sequence number within the group.
    pub seq: Option<i64>,
}

/// A device as the file describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceProps {
    /// Index.
    pub id: i64,
    /// Product name.
    pub name: Option<String>,
    /// Streaming multiprocessors (compute units).
    pub sms: Option<u32>,
    /// Compute capability.
    pub compute: Option<(u32, u32)>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Lanes of a warp (64 on AMD's data-centre parts).
    pub warp: Option<u32>,
}

/// What was left out, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Events that are no valid JSON.
    pub broken: u64,
    /// Events with a time that is no number.
    pub bad_time: u64,
    /// Events that end before they start.
    pub negative: u64,
    /// Complete events without a duration.
    pub no_duration: u64,
    /// Events larger than the limit.
    pub too_large: u64,
    /// Events beyond the limit of records.
    pub over_limit: u64,
}

/// Everything that one process recorded.
#[derive(Debug, Default)]
pub struct Recording {
    /// Names.
    pub names: Names,
    /// Threads: process and thread id.
    pub threads: Vec<(i64, i64)>,
    /// Host spans.
    pub host: Vec<HostSpan>,
    /// Runtime and driver calls.
    pub calls: Vec<Call>,
    /// Device activities.
    pub gpu: Vec<GpuSpan>,
    /// Matrix products with shapes.
    pub products: Vec<Product>,
    /// Collectives.
    pub collectives: Vec<Collective>,
    /// Devices described in the file.
    pub devices: Vec<DeviceProps>,
    /// Nanoseconds since the epoch at the clock's zero.
    pub base_ns: Option<i64>,
    /// Rank of the process.
    pub rank: Option<i64>,
    /// Ranks of the job.
    pub world: Option<i64>,
    /// NCCL version.
    pub nccl: Option<String>,
    /// Communication backend.
    pub backend: Option<String>,
    /// Python stacks were recorded.
    pub with_stack: bool,
    /// Allocations were recorded.
    pub with_memory: bool,
    /// Input shapes were recorded.
    pub with_shapes: bool,
    /// Events that were read, of any kind.
    pub events: u64,
    /// What was left out.
    pub dropped: Dropped,
}
