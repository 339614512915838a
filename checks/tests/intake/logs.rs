//! Kernel logs, `collect_env` and snapshots: what is read, from which line.

use crate::common::read;
use checks::Value;
use checks::record::{Boot, KernelKind};

#[test]
fn kernel_log_facts_keep_their_lines() {
    let r = read(
        "dmesg.txt",
        "[    0.000000] Linux version 6.8.0-45-generic (builder@host) #45 SMP\n\
         [    0.000000] Hypervisor detected: KVM\n\
         [    0.400000] pci 0000:3b:00.0: [10de:2330] type 00 class 0x030200 PCIe Endpoint\n\
         [    0.400001] pci 0000:3b:00.1: [10de:22ba] type 00 class 0x040300\n\
         [    0.400002] pci 0000:5d:00.0: [10de:2330] type 00 class 0x030200 PCIe Endpoint\n\
         [    0.500000] pci 0000:3b:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:3a:00.0 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)\n\
         [    0.500001] pci 0000:02:00.0: 7.876 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x1 link at 0000:00:0e.0 (capable of 15.752 Gb/s with 8.0 GT/s PCIe x2 link)\n\
         [    3.100000] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (builder@host)\n\
         [ 9121.400000] NVRM: Xid (PCI:0000:3b:00): 31, pid=4242, name=python3, MMU Fault\n\
         [ 9121.500000] NVRM: Xid (PCI:0000:3b:00): 45, pid=4242, name=python3, Ch 00000008, caused by previous Xid 31\n",
    );
    assert_eq!(r.kinds(), ["dmesg"]);
    let facts: Vec<String> = r.facts.iter().map(|(p, f)| format!("{p} = {} @{:?}", f.value, f.place.line)).collect();
    insta::assert_snapshot!(facts.join("\n"), @r"
    kernel = 6.8.0-45-generic @Some(1)
    kernel_log.lines = 10 @None
    kernel_log.readable = yes @None
    module.nvidia = yes @Some(8)
    module.open = yes @Some(8)
    module.version = 580.159.04 @Some(8)
    pci_gpu_count = 2 @Some(3)
    platform.vm = yes @Some(2)
    xids = 31, 45 @Some(9)
    ");
    let events: Vec<String> =
        r.facts.kernel.iter().map(|e| format!("{:?} {:?} {:?} @{:?}", e.kind, e.pci, e.boot, e.place.line)).collect();
    insta::assert_snapshot!(events.join("\n"), @r#"
    Other("pcie-bandwidth") Some("0000:3b:00") Present @Some(6)
    Other("pcie-bandwidth-other") Some("0000:02:00") Present @Some(7)
    ModuleLoaded { version: "580.159.04", open: true } None Present @Some(8)
    Xid { code: 31, pid: Some(4242), name: Some("python3"), fatal: None, caused_by: None } Some("0000:3b:00") Present @Some(9)
    Xid { code: 45, pid: Some(4242), name: Some("python3"), fatal: None, caused_by: Some(31) } Some("0000:3b:00") Present @Some(10)
    "#);
}

#[test]
fn messages_of_several_lines_are_one_event() {
    let r = read(
        "dmesg.txt",
        "[   77.000000] NVRM: API mismatch: the client 'nvidia-smi' (pid 901)\n\
         [   77.000001] NVRM: has the version 580.95.05, but this kernel module has\n\
         [   77.000002] NVRM: the version 580.65.06.  Please make sure that this\n\
         [   77.000003] NVRM: kernel module and all NVIDIA driver components\n\
         [   77.000004] NVRM: have the same version.\n\
         [   90.000000] NVRM: The NVIDIA GPU 0000:5d:00.0 (PCI ID: 10de:2330)\n\
         NVRM: installed in this system has fallen off the bus and is not\n\
         NVRM: responding to commands.\n\
         [   91.000000] NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\n\
         [   91.000001] NVRM: BAR1 is 0M @ 0x0 (PCI:0000:86:00.0)\n",
    );
    let events: Vec<String> =
        r.facts.kernel.iter().map(|e| format!("{:?} {:?} @{:?}", e.kind, e.pci, e.place.line)).collect();
    insta::assert_snapshot!(events.join("\n"), @r#"
    ApiMismatch None @Some(1)
    FallenOffBus Some("0000:5d:00") @Some(7)
    Other("bar-invalid") Some("0000:86:00") @Some(9)
    "#);
    assert!(
        r.facts.kernel[0].text.contains("has the version 580.95.05, but this kernel module has the version 580.65.06.")
    );
    assert_eq!(r.value("xids"), Some(Value::List(vec![])), "no Xid was printed");
}

#[test]
fn an_earlier_boot_is_history() {
    let r = read(
        "kern.log",
        "Jul 22 18:19:35 node01 kernel: [    2.295871] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  418.152.00  Tue Jun  2 00:46:46 UTC 2020\n\
         Jul 22 18:19:48 node01 kernel: [   20.818784] NVRM: RmInitAdapter failed! (0x25:0x40:1084)\n\
         Jul 23 11:19:45 node01 kernel: [    2.394782] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  450.51.05  Sun Jun 28 10:33:40 UTC 2020\n\
         Jul 23 13:42:46 node01 kernel: [ 4015.437442] NVRM: Xid (PCI:0000:01:00): 31, pid=7034, Ch 00000002\n",
    );
    let boots: Vec<Boot> = r.facts.kernel.iter().map(|e| e.boot).collect();
    assert_eq!(boots, [Boot::Earlier, Boot::Earlier, Boot::Present, Boot::Present]);
    assert_eq!(r.text("module.version").as_deref(), Some("450.51.05"));
    assert_eq!(r.node.as_deref(), Some("node01"));
}

#[test]
fn boots_of_a_syslog_are_told_apart_by_clock_and_seconds() {
    let boots = |log: &str| -> String {
        read("kern.log", log).facts.kernel.iter().map(|e| if e.boot == Boot::Present { 'P' } else { 'e' }).collect()
    };
    let line =
        |clock: &str, secs: &str| format!("Sep 23 {clock} node01 kernel: [{secs}] NVRM: Xid (PCI:0000:01:00): 13, x\n");
    // Every boot shows only its first seconds: they do not go back, but the clock went on.
    assert_eq!(boots(&(line("10:41:18", "    3.377493") + &line("11:31:41", "    3.386920"))), "eP");
    // syslog starts late: the first lines have its time, not theirs.
    assert_eq!(
        boots(
            &(line("10:41:18", "    3.377493") + &line("10:41:18", "   25.000000") + &line("10:42:19", "   86.000000"))
        ),
        "PPP"
    );
    // Midnight lies between.
    assert_eq!(boots(&(line("23:59:58", "  100.000000") + &line("00:00:02", "  104.000000"))), "PP");
    // A laptop slept: the seconds stood still.
    assert_eq!(boots(&(line("10:41:18", " 4000.000000") + &line("18:41:18", " 4001.000000"))), "PP");
    // Two CPUs.
    assert_eq!(boots(&(line("10:41:18", "   50.000020") + &line("10:41:18", "   50.000010"))), "PP");
}

#[test]
fn a_step_back_in_a_ring_buffer_is_no_boot() {
    // Two excerpts pasted in the wrong order.
    let r = read(
        "x",
        "[ 9130.000000] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n[   12.070000] NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x62:0x1a:2631)\n",
    );
    assert!(r.facts.kernel.iter().all(|e| e.boot == Boot::Present));
    assert_eq!(r.facts.kernel[1].kind, KernelKind::InitFailed { code: Some("0x62:0x1a:2631".into()) });
}

#[test]
fn a_log_that_may_not_be_read_says_so() {
    let r = read("dmesg", "dmesg: read kernel buffer failed: Operation not permitted\n");
    assert_eq!(r.value("kernel_log.readable"), Some(Value::Bool(false)));
    assert_eq!(r.value("xids"), None, "nothing is known about Xids");
}

#[test]
fn a_storm_of_errors_is_bounded() {
    use std::fmt::Write as _;
    let mut log = String::new();
    for i in 0..20_000 {
        writeln!(log, "[{i:6}.000001] NVRM: Xid (PCI:0000:3b:00): 31, pid={i}, name=x, MMU Fault").unwrap();
    }
    log.push_str("[ 20001.000001] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n");
    let r = read("storm.log", &log);
    assert!(r.facts.kernel.len() < 1000);
    assert_eq!(r.text("xids").as_deref(), Some("31, 79"));
    assert!(r.notes().contains("further lines"), "{}", r.notes());
}

#[test]
fn collect_env_of_every_age() {
    let r = read(
        "env.txt",
        "Collecting environment information...\nPyTorch version: 2.4.0+cu121\nIs debug build: False\nCUDA used to build PyTorch: 12.1\n\
         ROCM used to build PyTorch: N/A\n\nOS: Ubuntu 22.04.4 LTS (x86_64)\nPython version: 3.11.5 (main, Sep 11 2023) (64-bit runtime)\n\
         Python platform: Linux-5.15.153.1-microsoft-standard-WSL2-x86_64-with-glibc2.35\nIs CUDA available: True\nCUDA runtime version: Could not collect\n\
         GPU models and configuration: \nGPU 0: NVIDIA H100\nGPU 1: NVIDIA H100\n  MIG 1g.12gb     Device  0:\n  MIG 1g.12gb     Device  1:\n\n\
         Nvidia driver version: 560.35.03\ncuDNN version: Probably one of the following:\n/usr/lib/x86_64-linux-gnu/libcudnn.so.9.1.0\n\
         /usr/lib/x86_64-linux-gnu/libcudnn_adv.so.9.1.0\n\nCPU:\nCPU(s):   64\nModel name:   AMD EPYC 9334\nHypervisor vendor: Microsoft\nNUMA node(s): 2\n\n\
         [pip3] nvidia-nccl-cu12==2.20.5\n[pip3] torch==2.4.0\n[pip3] triton==3.0.0\n",
    );
    let facts: Vec<String> =
        r.facts.iter().map(|(p, f)| format!("{p} = {} @{}", f.value, f.place.line.unwrap())).collect();
    insta::assert_snapshot!(facts.join("\n"), @r"
    cpu_count = 64 @24
    cpu_model = AMD EPYC 9334 @25
    cuda_available = yes @10
    cuda_build = 12.1 @4
    cudnn = 9.1.0 @20
    driver = 560.35.03 @18
    gpu[0].name = NVIDIA H100 @13
    gpu[1].mig_devices = 2 @14
    gpu[1].name = NVIDIA H100 @14
    gpu_count = 2 @14
    kernel = 5.15.153.1-microsoft-standard-WSL2 @9
    nccl_version = 2.20.5 @29
    numa_nodes = 2 @27
    os = Ubuntu 22.04.4 LTS @7
    platform.wsl2 = yes @9
    python = 3.11.5 @8
    torch = 2.4.0+cu121 @2
    triton = 3.0.0 @31
    ");
}

#[test]
fn collect_env_without_cuda() {
    let old = read(
        "a",
        "PyTorch version: 1.2.0\nIs debug build: No\nCUDA used to build PyTorch: Could not collect\nIs CUDA available: No\nGPU models and configuration: GPU 0: GeForce GTX 1660 Ti\nNvidia driver version: 435.21\n",
    );
    assert_eq!(old.value("cuda_build"), None);
    assert_eq!(old.value("cuda_build_none"), Some(Value::Bool(true)));
    assert_eq!(old.value("cuda_available"), Some(Value::Bool(false)));
    assert_eq!(old.value("gpu_count"), Some(Value::Int(1)));
    let absent = read(
        "b",
        "Collecting environment information...\nPyTorch version: N/A\nCUDA used to build PyTorch: N/A\nIs CUDA available: N/A\n",
    );
    assert!(absent.facts.is_empty(), "no PyTorch says nothing about its build");
}

#[test]
fn a_list_that_is_cut_has_no_count() {
    let r =
        read("a", "PyTorch version: 2.4.0\nGPU models and configuration: \nGPU 0: NVIDIA H100\nGPU 1: NVIDIA H100\n");
    assert_eq!(r.value("gpu_count"), None);
    assert_eq!(r.text("gpu[1].name").as_deref(), Some("NVIDIA H100"));
}

#[test]
fn snapshot_texts_are_judged_and_facts_are_live() {
    let json = serde_json::json!({
        "v": 1, "kind": "snapshot", "node": {"name": "gpu-07", "labels": {"rack": "3"}}, "taken_ms": 1_700_000_000_000_i64,
        "collector": {"version": "0.1.0"}, "future": [1, 2],
        "raw": [
            {"name": "kernel-log", "text": "[   12.345678] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"},
            {"name": "collect_env", "text": "PyTorch version: 2.4.0+cu121\n"},
            {"name": "empty", "text": ""},
            {"name": "notes", "text": "hello"}
        ],
        "facts": [
            {"path": "gpu[0].power_draw_w", "value": 412.5},
            {"path": "gpu[0].pcie.gen_host_max", "value": null},
            {"path": "dev.nvidiactl", "value": true},
            "broken"
        ]
    });
    let r = read("snapshot.json", json.to_string());
    assert_eq!(r.kinds(), ["snapshot", "dmesg", "collect_env", "unknown"]);
    assert_eq!(r.inputs[1].name, "snapshot.json → kernel-log");
    assert_eq!((r.node.as_deref(), r.taken_ms), (Some("gpu-07"), Some(1_700_000_000_000)));
    assert_eq!(r.text("xids").as_deref(), Some("79"));
    assert_eq!(r.place("xids").unwrap().0, 1, "the text is its own input");
    let power = &r.facts.readings("gpu[0].power_draw_w")[0];
    assert_eq!((power.unit, power.trust), ("W", checks::Trust::Live));
    assert_eq!(r.value("gpu[0].pcie.gen_host_max"), None);
    assert!(r.notes().contains("1 fact(s)"), "{}", r.notes());
}

#[test]
fn a_broken_snapshot_is_a_note() {
    let r = read("s.json", "{\"v\":1,\"kind\":\"snapshot\",\"raw\":[");
    assert_eq!(r.kinds(), ["snapshot"]);
    assert!(r.notes().contains("could not be read"));
    assert!(r.facts.is_empty());
}
