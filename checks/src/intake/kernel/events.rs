//! What a kernel message means: one message → at most one event. The patterns are those of the NVIDIA driver, of the PCI
//! core and of the memory manager; the names of [`KernelKind::Other`] are listed there.
//!
//! It does not know lines, prefixes or boots.

use super::phrases::*;
use crate::intake::pci;
use crate::record::KernelKind;

/// Words one of which stands in every message that [`classify`] knows. Lines without any are never looked at.
pub(super) const NEEDLES: &[&str] = &[
    "NVRM",
    "nvidia",
    "nv_get_p2p_free_callback",
    "SXid",
    "nouveau",
    "[10de:",
    "PCIe Bus Error",
    "AER:",
    "available PCIe bandwidth",
    "no space for",
    "failed to assign",
    "segfault at",
    "general protection",
    "trap invalid opcode",
    "ut of memory: Kill",
    "oom-kill:",
    "module with unavailable key",
    "unsigned module is",
    "Linux version",
    "Hypervisor detected",
    "Default domain type",
    "-- Boot ",
    "-- Reboot --",
];

/// What a message is, with the PCI address it speaks of (lower case, without function).
/// `line` is what its line holds, prefix included.
pub(super) fn classify(message: &str, line: Found) -> Option<(KernelKind, Option<String>)> {
    if line.all(NVRM | XID)
        && let Some(found) = xid(message, line)
    {
        return Some(found);
    }
    // A host's name can hold a phrase.
    let f = Found::of(message);
    if f.any(SXID)
        && let Some(found) = sxid(message)
    {
        return Some(found);
    }
    let kind = driver(message, f).or_else(|| pci_core(message, f)).or_else(|| process(message, f))?;
    Some((kind, pci::find(message)))
}

/// `NVRM: Xid (PCI:0000:3b:00): 31, pid=…`. Only what follows `NVRM: Xid (` counts: tables and later words of other
/// messages hold numbers that look like codes.
fn xid(message: &str, f: Found) -> Option<(KernelKind, Option<String>)> {
    let after = message.strip_prefix("NVRM:").or_else(|| Some(message.split_once("NVRM:")?.1))?;
    let after = after.trim_start().strip_prefix("Xid")?.trim_start().strip_prefix('(')?;
    let (inside, tail) = after.split_once(')')?;
    let tail = tail.trim_start().strip_prefix(':')?.trim_start();
    let (code, tail) = number(tail)?;
    let previous = || tail.split_once("caused by previous Xid ").and_then(|(_, n)| Some(number(n)?.0));
    let kind = KernelKind::Xid {
        code,
        pid: value(tail, "pid=").and_then(|p| p.parse().ok()),
        name: value(tail, "name=").filter(|n| !n.starts_with("<unknown")).map(str::to_owned),
        fatal: (144..=150).contains(&code).then(|| fatal(tail)).flatten(),
        caused_by: if f.any(PREVIOUS_XID) { previous() } else { None },
    };
    Some((kind, bus_id(inside)))
}

/// `nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 …`
fn sxid(message: &str) -> Option<(KernelKind, Option<String>)> {
    let after = message.split_once("SXid (")?.1;
    let (inside, tail) = after.split_once(')')?;
    let (code, tail) = number(tail.trim_start_matches(':').trim_start())?;
    Some((KernelKind::SXid { code, fatal: fatal(tail) }, bus_id(inside)))
}

/// Messages of the NVIDIA driver and about it.
fn driver(m: &str, f: Found) -> Option<KernelKind> {
    if f.any(NVRM) {
        return resource_manager(m, f);
    }
    if f.any(NOUVEAU) && m.starts_with("nouveau ") {
        return f.any(NVIDIA_NAME).then_some(KernelKind::Other("nouveau"));
    }
    if f.all(KEY_MISSING | REJECTED) || f.any(UNSIGNED) {
        let named = f.any(NVIDIA_MODULE);
        return Some(if named { KernelKind::ModuleRejected } else { KernelKind::Other("module-rejected") });
    }
    if f.any(NVIDIA_MODULE | PEER_MEM | PEER_CALLBACK) { module(f) } else { None }
}

/// Messages that begin with `NVRM`.
fn resource_manager(m: &str, f: Found) -> Option<KernelKind> {
    if f.any(LOADING) {
        let tail = m.split_once("loading NVIDIA UNIX")?.1;
        let version = tail.split_whitespace().find(|w| is_version(w))?.to_owned();
        return Some(KernelKind::ModuleLoaded { version, open: tail.contains("Open Kernel Module") });
    }
    if f.any(OFF_THE_BUS) {
        return Some(KernelKind::FallenOffBus);
    }
    if f.any(RM_INIT) || f.all(RM_INIT_LOWER | FAILED) {
        let code = m.split_once("failed! (").and_then(|(_, t)| Some(t.split_once(')')?.0.to_owned()));
        return Some(KernelKind::InitFailed { code });
    }
    if f.any(MISMATCH) {
        return Some(KernelKind::ApiMismatch);
    }
    let name = if f.any(REGION_INVALID) {
        "bar-invalid"
    } else if f.any(NO_PROBE | OTHER_DRIVER) {
        "driver-conflict"
    } else if f.any(NOT_BY_OPEN) {
        "not-supported-open"
    } else if f.any(NOT_BY_RELEASE | LEGACY) {
        "not-supported"
    } else if f.any(POWER_CABLES) {
        "power-cable"
    } else if f.any(PERSISTENCE) {
        "persistence-deprecated"
    } else if f.any(GSP_START | WPR2 | GSP_RATE | GSP_WAIT) || f.all(GSP | BOOTSTRAP | FAILED) {
        "gsp"
    } else {
        return None;
    };
    Some(KernelKind::Other(name))
}

/// Messages of other parts of the kernel that name an NVIDIA module.
fn module(f: Found) -> Option<KernelKind> {
    if f.all(PROBE | WITH_ERROR) {
        return Some(KernelKind::InitFailed { code: None });
    }
    if f.any(OFF_THE_BUS) {
        return Some(KernelKind::FallenOffBus);
    }
    if f.any(SYMBOL | KEY_REJECTED) {
        return Some(KernelKind::ModuleRejected);
    }
    let peermem = f.any(PEERMEM | PEER_MEM | PEER_CALLBACK);
    let name = if f.any(VERIFICATION) {
        "module-unsigned"
    } else if peermem && f.any(INVALID_CONTEXT) {
        "peermem-invalid-context"
    } else if peermem && f.any(ERROR | ERROR_LOWER) {
        "peermem"
    } else if f.all(NVLINK | UNREGISTERED) {
        "module-unloaded"
    } else {
        return None;
    };
    Some(KernelKind::Other(name))
}

/// Messages of the PCI core, the hypervisor detection and the IOMMU.
fn pci_core(m: &str, f: Found) -> Option<KernelKind> {
    let name = if f.any(BUS_ERROR) {
        let severity = m.split_once("severity=")?.1.split(',').next()?;
        match severity {
            s if s.starts_with("Correct") => "aer-corrected",
            s if s.contains("Non-Fatal") => "aer-nonfatal",
            s if s.contains("Fatal") => "aer-fatal",
            _ => "aer-received",
        }
    } else if f.all(AER | ERROR_RECEIVED) {
        "aer-received"
    } else if f.any(BANDWIDTH) {
        "pcie-bandwidth"
    } else if f.any(BAR) && f.any(NO_SPACE | NOT_ASSIGNED) {
        "bar-no-space"
    } else if f.any(OF_NVIDIA) {
        let class = m.split_once("[10de:")?.1.split_once("class 0x")?.1;
        if !class.starts_with("0300") && !class.starts_with("0302") {
            return None;
        }
        "gpu-on-bus"
    } else if f.any(LINUX_VERSION) && m.starts_with("Linux version ") {
        "linux-version"
    } else if f.any(HYPERVISOR) && m.starts_with("Hypervisor detected") {
        "hypervisor"
    } else if f.any(IOMMU_DOMAIN) {
        "iommu-domain"
    } else {
        return None;
    };
    Some(KernelKind::Other(name))
}

/// Messages about processes that died.
fn process(m: &str, f: Found) -> Option<KernelKind> {
    let name = if f.any(SEGFAULT) {
        "segfault"
    } else if m.starts_with("traps: ") && f.any(PROTECTION | INVALID_OPCODE) {
        "trap"
    } else if f.any(OUT_OF_MEMORY) {
        "oom-kill"
    } else if f.any(OOM_REPORT) && m.starts_with("oom-kill:") {
        "oom-report"
    } else {
        return None;
    };
    Some(KernelKind::Other(name))
}

/// Digits at the start.
fn number(s: &str) -> Option<(u32, &str)> {
    let end = s.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(s.len());
    Some((s[..end].parse().ok()?, &s[end..]))
}

/// The value behind `key=`, quotes taken off. Process and name stand right behind the code.
fn value<'t>(tail: &'t str, key: &str) -> Option<&'t str> {
    let v = tail.split(',').take(4).find_map(|field| field.trim_start().strip_prefix(key))?;
    let v = v.trim().trim_matches('\'');
    (!v.is_empty()).then_some(v)
}

/// `Fatal`, `Nonfatal` or `Non-fatal` as a word of its own.
fn fatal(s: &str) -> Option<bool> {
    s.split([' ', ',', '(', ')']).find_map(|w| match w {
        "Fatal" | "fatal" => Some(true),
        "Nonfatal" | "Non-fatal" | "NonFatal" | "Non-Fatal" | "nonfatal" | "non-fatal" => Some(false),
        _ => None,
    })
}

/// `580.159.04`: at least two groups of digits.
pub(in crate::intake) fn is_version(w: &str) -> bool {
    let mut groups = 0;
    w.split('.').all(|g| {
        groups += 1;
        !g.is_empty() && g.bytes().all(|b| b.is_ascii_digit())
    }) && groups >= 2
}

/// The bus id of an Xid's brackets: `PCI:0000:3b:00`, `0000:01:00`, `PCI:01:00`, `PCI:0000:01:00 GPU-I:05 GPU-CI:0`.
fn bus_id(inside: &str) -> Option<String> {
    let first = inside.split_whitespace().next()?;
    pci::address(first.strip_prefix("PCI:").unwrap_or(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::type_complexity, reason = "a row of a table")]
    fn xid_of(m: &str) -> Option<(u32, Option<u32>, Option<String>, Option<bool>, Option<u32>, Option<String>)> {
        match classify(m, Found::of(m))? {
            (KernelKind::Xid { code, pid, name, fatal, caused_by }, pci) => {
                Some((code, pid, name, fatal, caused_by, pci))
            }
            _ => None,
        }
    }

    #[test]
    fn every_form_of_xid() {
        let name = |s: &str| Some(s.to_owned());
        for (m, want) in [
            (
                "NVRM: Xid (PCI:0000:3b:00): 31, pid=4242, name=python3, Ch 00000008",
                (31, Some(4242), name("python3"), None, None, name("0000:3b:00")),
            ),
            ("NVRM: Xid (0000:01:00): 13, 0003 00000000 00008297", (13, None, None, None, None, name("0000:01:00"))),
            ("NVRM: Xid (PCI:01:00): 8, Channel 00000001", (8, None, None, None, None, name("0000:01:00"))),
            (
                "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 07",
                (149, None, None, Some(true), None, name("0009:01:00")),
            ),
            (
                "NVRM: Xid (PCI:0000:2A:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 04",
                (145, None, None, Some(false), None, name("0000:2a:00")),
            ),
            (
                "NVRM: Xid (PCI:0000:01:00 GPU-I:05 GPU-CI:0): 94, pid=7, name=a b, Contained",
                (94, Some(7), name("a b"), None, None, name("0000:01:00")),
            ),
            (
                "NVRM: Xid (PCI:0000:38:00): 13, pid='<unknown>', name=<unknown>, Graphics",
                (13, None, None, None, None, name("0000:38:00")),
            ),
            (
                "NVRM: Xid (PCI:0000:38:00): 45, pid=9, name=x, Ch 1, caused by previous Xid 149",
                (45, Some(9), name("x"), None, Some(149), name("0000:38:00")),
            ),
            (
                "NVRM: Xid (PCI:0000:38:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
                (154, None, None, None, None, name("0000:38:00")),
            ),
        ] {
            assert_eq!(xid_of(m), Some(want), "{m}");
        }
    }

    #[test]
    fn numbers_that_only_look_like_xids() {
        for m in [
            "NVRM:      0    103  GSP_RM_ALLOC          0x0000000000002081",
            "NVRM: GPU4 RPC history (CPU -> GSP):",
            "Loaded X.509 cert 'Nvidia GPU OOT Signing 001: 55e1cef88193e60419f0b0ec379c49f77545acf0'",
            "NVRM: Xid (PCI:0000:38:00): , pid=1",
            "NVRM: Xid (PCI:0000:38:00",
            "python: raised RuntimeError about Xid (PCI:0000:38:00): 79",
        ] {
            assert_eq!(xid_of(m), None, "{m}");
        }
    }

    #[test]
    fn other_messages() {
        let kind = |m| classify(m, Found::of(m)).map(|(k, p)| (k, p.unwrap_or_default()));
        let other = |n, p: &str| Some((KernelKind::Other(n), p.to_owned()));
        let sxid = KernelKind::SXid { code: 12028, fatal: Some(false) };
        assert_eq!(
            kind("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress"),
            Some((sxid, "0000:c1:00".into()))
        );
        assert_eq!(
            kind("NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x62:0x1a:2631)"),
            Some((KernelKind::InitFailed { code: Some("0x62:0x1a:2631".into()) }, "0000:3b:00".into()))
        );
        assert_eq!(
            kind("nvidia 0000:3b:00.0: probe with driver nvidia failed with error -1"),
            Some((KernelKind::InitFailed { code: None }, "0000:3b:00".into()))
        );
        assert_eq!(
            kind("NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (builder@)"),
            Some((KernelKind::ModuleLoaded { version: "580.159.04".into(), open: true }, String::new()))
        );
        assert_eq!(
            kind("NVRM: loading NVIDIA UNIX x86_64 Kernel Module  440.26  Sun Oct 13 18:00:57 UTC 2019"),
            Some((KernelKind::ModuleLoaded { version: "440.26".into(), open: false }, String::new()))
        );
        assert_eq!(
            kind(
                "pci 0000:3b:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:3a:00.0 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)"
            ),
            other("pcie-bandwidth", "0000:3b:00")
        );
        assert_eq!(
            kind("nvidia 0000:3b:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)"),
            other("aer-corrected", "0000:3b:00")
        );
        assert_eq!(
            kind("pcieport 0000:00:01.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer"),
            other("aer-nonfatal", "0000:00:01")
        );
        assert_eq!(
            kind("pcieport 0000:00:01.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Data Link Layer"),
            other("aer-fatal", "0000:00:01")
        );
        assert_eq!(
            kind("pci 0000:3b:00.0: BAR 1: no space for [mem size 0x1000000000 64bit pref]"),
            other("bar-no-space", "0000:3b:00")
        );
        assert_eq!(
            kind("nvidia: module verification failed: signature and/or required key missing - tainting kernel"),
            other("module-unsigned", "")
        );
        assert_eq!(
            kind("nvidia: disagrees about version of symbol module_layout"),
            Some((KernelKind::ModuleRejected, String::new()))
        );
        assert_eq!(kind("Memory cgroup out of memory: Killed process 77 (python) total-vm:1kB"), other("oom-kill", ""));
        assert_eq!(
            kind("pt_main_thread[25]: segfault at 7f ip 00 sp 00 error 4 in libnccl.so.2[7f7c7ac00000+d3d3000]"),
            other("segfault", "")
        );
        assert_eq!(kind("nvidia-nvlink: Nvlink Core is being initialized, major device number 236"), None);
        assert_eq!(kind("NVRM: refcntRequestReference_IMPL: Failed to enter state 1"), None);
    }
}
