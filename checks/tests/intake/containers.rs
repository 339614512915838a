//! Bug reports and archives: each part its own input, history apart from the present boot.

use std::io::{Cursor, Write as _};

use checks::record::Boot;

use crate::common::{gzip, read};

const RULE: &str = "____________________________________________";
const XID: &str = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.";

fn report(sections: &[&str]) -> String {
    let head = "Start of NVIDIA bug report log file.  Please include this file, along\nwith a detailed description\n\n\
        nvidia-bug-report.sh Version: 1\n\nDate: Fri Jul 24 18:17:03 UTC 2020\nuname: Linux node01 5.15.0-88-generic #1 SMP x86_64 GNU/Linux\n";
    let mut out = format!("{RULE}\n\n{head}\n");
    for s in sections {
        out.push_str(&format!("{RULE}\n\n{s}\n"));
    }
    out + RULE + "\n\nEnd of NVIDIA bug report log file.\n"
}

#[test]
fn a_bug_report_is_taken_apart() {
    let text = report(&[
        "*** /proc/driver/nvidia/./version\n*** ls: -r--r--r-- 1 root root 0 2020-07-24\nNVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build\n",
        "*** /proc/driver/nvidia/./gpus/0000:3b:00.0/information\n*** ls: x\nModel: \t\t NVIDIA A100\nGPU UUID: \t GPU-????????-????\nVideo BIOS: \t ??.??.??\nBus Location: \t 0000:3b:00.0\nGPU Excluded:\t No\n",
        "*** /sys/bus/pci/devices/0000:3b:00.0/numa_node\n*** ls: x\n1\n",
        "*** /proc/meminfo\n*** ls: x\nMemTotal:       65722180 kB\n",
        "/usr/bin/lspci -d \"10de:*\" -v -xxx\n\n3b:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)\n\tFlags: bus master, NUMA node 1\n\tKernel driver in use: nvidia\n00: de 10 f1 20 07 05 10 00 a1 00 02 03 00 00 80 00\n",
        "/sbin/lsmod\n\nnvidia_uvm 1830912 0\nnvidia 14299136 1 nvidia_uvm\n",
        "some tool\n\nnothing that is known\n",
    ]);
    let r = read("nvidia-bug-report.log.gz", gzip(text.as_bytes()));
    assert_eq!(r.kinds(), ["nvidia-bug-report", "lspci", "proc-modules"]);
    assert_eq!(r.node.as_deref(), Some("node01"));
    let facts: Vec<String> = r
        .facts
        .iter()
        .map(|(p, f)| {
            let line = f.place.line.map_or(String::new(), |l| {
                let at = l + r.inputs[f.place.input as usize].first_line - 1;
                text.lines().nth(at as usize - 1).unwrap_or("no such line").trim().to_owned()
            });
            format!("{p} = {} <- {line}", f.value)
        })
        .collect();
    insta::assert_snapshot!(facts.join("\n"), @r"
    driver = 550.54.15 <- NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build
    gpu[0].bus_id = 0000:3b:00.0 <- Bus Location: 	 0000:3b:00.0
    gpu[0].device_id = 10de:20f1 <- 3b:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)
    gpu[0].excluded = no <- GPU Excluded:	 No
    gpu[0].name = NVIDIA A100 <- Model: 		 NVIDIA A100
    gpu[0].numa_node = 1 <- 1
    gpu[0].pci_driver = nvidia <- Kernel driver in use: nvidia
    gpu[0].slot = 3b:00.0 <- 3b:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)
    gpu_count = 1 <- 3b:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)
    kernel = 5.15.0-88-generic <- uname: Linux node01 5.15.0-88-generic #1 SMP x86_64 GNU/Linux
    memory_total_mib = 64181 <- MemTotal:       65722180 kB
    module.nvidia = yes <- NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build
    module.nvidia_uvm = yes <- nvidia_uvm 1830912 0
    module.open = yes <- NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build
    module.version = 550.54.15 <- NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build
    pci_gpu_count = 1 <- 3b:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)
    report_date = Fri Jul 24 18:17:03 UTC 2020 <- Date: Fri Jul 24 18:17:03 UTC 2020
    ");
    assert!(r.notes().contains("some tool"), "{}", r.notes());
}

#[test]
fn the_views_of_the_log_are_counted_once() {
    let text = report(&[
        &format!(
            "Scanning kernel log files for NVIDIA kernel messages:\n\n  /var/log/kern.log:\n\
             Jul 20 10:00:00 node01 kernel: [    3.000000] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  440.26  Sun Oct 13 18:00:57 UTC 2019\n\
             Jul 20 11:00:00 node01 kernel: [ 3603.000000] NVRM: Xid (PCI:0000:3b:00): 13, old\n\
             Jul 24 10:00:00 node01 kernel: [    3.500000] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15  Release Build\n\
             Jul 24 10:10:00 node01 kernel: [  603.000000] {XID}\n\n  journalctl -b -0:\n\
             Jul 24 10:00:00 node01 kernel: NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15  Release Build\n\
             Jul 24 10:10:00 node01 kernel: {XID}\n\n  journalctl -b -1:\n\
             Jul 20 11:00:00 node01 kernel: NVRM: Xid (PCI:0000:3b:00): 13, old\n\
             Jul 20 11:00:09 node01 kernel: NVRM: Xid (PCI:0000:3b:00): 31, only in the journal\n"
        ),
        &format!(
            "dmesg:\n\n[    3.500000] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15  Release Build\n[  603.000000] {XID}\n"
        ),
    ]);
    let r = read("r.log", &text);
    let events: Vec<String> =
        r.facts.kernel.iter().map(|e| format!("{:?} {}", e.boot, &e.text[..e.text.len().min(44)])).collect();
    insta::assert_snapshot!(events.join("\n"), @r"
    Present NVRM: loading NVIDIA UNIX x86_64 Kernel Modu
    Present NVRM: Xid (PCI:0000:3b:00): 79, GPU has fall
    Earlier NVRM: loading NVIDIA UNIX x86_64 Kernel Modu
    Earlier NVRM: Xid (PCI:0000:3b:00): 13, old
    Earlier NVRM: Xid (PCI:0000:3b:00): 31, only in the
    ");
    assert_eq!(r.text("xids").as_deref(), Some("13, 31, 79"));
    assert_eq!(r.text("kernel_log.lines").as_deref(), Some("2"));
}

#[test]
fn a_log_file_alone_is_present_only_if_its_driver_runs() {
    let log = |version: &str| {
        let line = format!("Jul 24 10:10:00 node01 kernel: [  603.000000] {XID}\n");
        let load = format!(
            "Jul 24 10:00:00 node01 kernel: [    3.500000] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  {version}  x\n"
        );
        let text = report(&[
            &format!("Scanning kernel log files for NVIDIA kernel messages:\n\n  /var/log/messages:\n{load}{line}\n"),
            "*** /proc/driver/nvidia/./version\n*** ls: x\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Release Build\n",
        ]);
        read("r.log", text).facts.kernel.last().unwrap().boot
    };
    assert_eq!(log("550.54.15"), Boot::Present);
    assert_eq!(log("440.26"), Boot::Earlier);
}

#[test]
fn the_first_line_of_every_section_is_found() {
    let text = report(&[
        "*** /proc/version\n*** ls: x\nLinux version 5.15.0-microsoft-standard-WSL2 (x)\n",
        "/usr/bin/lspci -nn\n\n3b:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:20f1]\n",
    ]);
    let r = read("r.log", &text);
    let (input, line, quote) = r.place("gpu[0].device_id").unwrap();
    let at = r.inputs[input as usize].first_line + line.unwrap() - 1;
    assert_eq!(text.lines().nth(at as usize - 1).unwrap(), quote);
    assert_eq!(
        text.lines().nth(r.place("platform.wsl2").unwrap().1.unwrap() as usize - 1).unwrap(),
        r.place("platform.wsl2").unwrap().2
    );
}

fn tar_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut h = tar::Header::new_gnu();
        // `set_path` refuses `..`; a hostile archive does not.
        let raw = name.as_bytes();
        h.as_gnu_mut().unwrap().name[..raw.len()].copy_from_slice(raw);
        h.set_size(bytes.len() as u64);
        h.set_mode(0o644);
        h.set_cksum();
        tar.append(&h, *bytes).unwrap();
    }
    tar.into_inner().unwrap()
}

fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn archives_of_every_kind_read_the_same() {
    let dmesg = format!("[   12.345678] {XID}\n");
    let env = gzip(b"PyTorch version: 2.1.0+cu121\n");
    let files: &[(&str, &[u8])] = &[
        ("node/dmesg.txt", dmesg.as_bytes()),
        ("../../../etc/cron.d/env.txt.gz", &env),
        ("notes.md", b"some prose"),
        ("picture.png", b"\x89PNG\0\0\0\0"),
        ("._junk", b"\0\0"),
    ];
    let tar = tar_of(files);
    for (name, bytes) in [
        ("a.tar", tar.clone()),
        ("a.tar.gz", gzip(&tar)),
        ("a.tar.zst", zstd::encode_all(&tar[..], 1).unwrap()),
        ("a.zip", zip_of(files)),
    ] {
        let r = read(name, &bytes);
        assert_eq!(r.kinds(), ["archive", "dmesg", "collect_env"], "{name}");
        assert_eq!(r.inputs[1].name, format!("{name} → node/dmesg.txt"));
        assert_eq!(r.inputs[2].name, format!("{name} → ../../../etc/cron.d/env.txt.gz"), "a name is a label");
        assert_eq!(r.text("xids").as_deref(), Some("79"), "{name}");
        assert_eq!(r.text("torch").as_deref(), Some("2.1.0+cu121"), "{name}");
        assert!(r.notes().contains("Not recognised: notes.md, picture.png"), "{name}: {}", r.notes());
        // Broken off: what came before is read, or it is said that nothing was.
        let r = read(name, &bytes[..bytes.len() / 3]);
        assert!(!r.notes().is_empty() || r.text("xids").is_some(), "{name}");
    }
    assert!(!std::path::Path::new("../../../etc/cron.d/env.txt.gz").exists());
}

#[test]
fn archives_of_archives_end() {
    let dmesg = format!("[   12.345678] {XID}\n");
    let mut packed = tar_of(&[("dmesg.txt", dmesg.as_bytes())]);
    packed = zip_of(&[("inner.tar", &packed)]);
    let r = read("a.zip", &packed);
    assert_eq!(r.kinds(), ["archive", "archive", "dmesg"]);
    assert_eq!(r.inputs[2].name, "a.zip → inner.tar, dmesg.txt");
    for _ in 0..6 {
        packed = tar_of(&[("again.tar", &packed)]);
    }
    let r = read("a.tar", &packed);
    assert!(r.facts.is_empty());
}

#[test]
fn a_zip_bomb_is_bounded() {
    let zeros = vec![0_u8; 64 << 20];
    let text = vec![b'x'; 16 << 20];
    let r = read(
        "bomb.zip",
        zip_of(&[("zeros", &zeros), ("text", &text), ("dmesg", format!("[   12.345678] {XID}\n").as_bytes())]),
    );
    assert_eq!(r.kinds(), ["archive", "dmesg"]);
    assert!(r.notes().contains("zeros, text"), "{}", r.notes());
}

#[test]
fn an_empty_or_broken_archive_is_a_note() {
    assert_eq!(read("a.zip", zip_of(&[])).notes(), "The archive is empty.");
    let r = read("a.zip", b"PK\x03\x04 not really a zip");
    assert_eq!(r.kinds(), ["archive"]);
    assert!(r.notes().contains("could not be opened"), "{}", r.notes());
}
