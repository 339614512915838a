//! The phrases that tell one kernel message from another, and which of them a message holds, found in one pass. Searching
//! for them one by one costs more than all the rest of reading a log.
//!
//! It does not know what a phrase means.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

macro_rules! phrases {
    ($($name:ident = $text:literal),* $(,)?) => {
        #[derive(Clone, Copy)]
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "only gives the constants their numbers")]
        enum Number { $($name),* }
        $(pub(super) const $name: u128 = 1 << Number::$name as u32;)*
        const TEXTS: &[&str] = &[$($text),*];
    };
}

phrases! {
    NVRM = "NVRM",
    NVIDIA_MODULE = "nvidia",
    NVIDIA_NAME = "NVIDIA",
    XID = "Xid",
    SXID = "SXid (",
    PREVIOUS_XID = "caused by previous Xid ",
    LOADING = "loading NVIDIA UNIX",
    OFF_THE_BUS = "fallen off the bus",
    RM_INIT = "RmInitAdapter failed",
    RM_INIT_LOWER = "rm_init_adapter",
    FAILED = "failed",
    MISMATCH = "API mismatch: the client",
    REGION_INVALID = "assigned to your NVIDIA device is invalid",
    NO_PROBE = "probe routine was not called for",
    OTHER_DRIVER = "another driver was loaded and obtained ownership",
    NOT_BY_OPEN = "not supported by open",
    NOT_BY_RELEASE = "is not supported by the",
    LEGACY = "Legacy drivers",
    POWER_CABLES = "necessary power cables connected",
    PERSISTENCE = "Persistence mode is deprecated",
    GSP_START = "initialize GSP firmware RM",
    WPR2 = "WPR2 already up",
    GSP_RATE = "Rate limiting GSP RPC error",
    GSP_WAIT = "waiting for RPC response",
    GSP = "GSP",
    BOOTSTRAP = "bootstrap",
    PROBE = "probe",
    WITH_ERROR = "failed with error",
    SYMBOL = "disagrees about version of symbol",
    KEY_REJECTED = "Key was rejected by service",
    VERIFICATION = "module verification failed",
    PEERMEM = "peermem",
    PEER_MEM = "nv_peer_mem",
    PEER_CALLBACK = "nv_get_p2p_free_callback",
    INVALID_CONTEXT = "invalid context",
    ERROR = "ERROR",
    ERROR_LOWER = "error",
    NVLINK = "nvidia-nvlink",
    UNREGISTERED = "Unregistered",
    KEY_MISSING = "module with unavailable key",
    REJECTED = "rejected",
    UNSIGNED = "unsigned module is",
    BUS_ERROR = "PCIe Bus Error: severity=",
    AER = "AER:",
    ERROR_RECEIVED = "error received",
    BANDWIDTH = "available PCIe bandwidth, limited by",
    BAR = "BAR ",
    NO_SPACE = "no space for",
    NOT_ASSIGNED = "failed to assign",
    OF_NVIDIA = "[10de:",
    IOMMU_DOMAIN = "iommu: Default domain type",
    SEGFAULT = "]: segfault at ",
    PROTECTION = "general protection",
    INVALID_OPCODE = "trap invalid opcode",
    OUT_OF_MEMORY = "ut of memory: Kill",
    OOM_REPORT = "oom-kill:",
    NOUVEAU = "nouveau ",
    NAMED_GPU = "The NVIDIA GPU",
    LINUX_VERSION = "Linux version ",
    HYPERVISOR = "Hypervisor detected",
    BOOT_MARK = "-- Boot ",
    REBOOT_MARK = "-- Reboot --",
}

static SEARCH: LazyLock<AhoCorasick> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the phrases are constants; every test of messages builds them")]
    AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(TEXTS).expect("constant phrases")
});

/// Phrases that say nothing without another one. Journals are full of lines that hold only these.
const COMMON: u128 = NVRM
    | NVIDIA_MODULE
    | NVIDIA_NAME
    | FAILED
    | GSP
    | BOOTSTRAP
    | PROBE
    | ERROR
    | ERROR_LOWER
    | NVLINK
    | REJECTED
    | PEERMEM
    | BAR
    | AER;

/// The phrases of a message.
#[derive(Clone, Copy)]
pub(super) struct Found(u128);

impl Found {
    pub(super) fn of(message: &str) -> Self {
        Self(SEARCH.find_overlapping_iter(message).fold(0, |set, hit| set | 1 << hit.pattern().as_u32()))
    }

    /// True if it can be one of the messages that are told apart.
    pub(super) fn is_telling(self) -> bool {
        self.any(!COMMON)
            || self.all(GSP | BOOTSTRAP | FAILED)
            || self.all(PEERMEM | ERROR)
            || self.all(PEERMEM | ERROR_LOWER)
    }

    /// True if it holds one of these.
    pub(super) fn any(self, phrases: u128) -> bool {
        self.0 & phrases != 0
    }

    /// True if it holds all of these.
    pub(super) fn all(self, phrases: u128) -> bool {
        self.0 & phrases == phrases
    }
}

// One bit each.
const _: () = assert!(TEXTS.len() <= 128);
