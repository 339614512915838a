//! One file of each format: every fact, with the line it stands on.

use crate::common::{Read, read};

macro_rules! data {
    ($name:literal) => {
        include_str!(concat!("data/", $name))
    };
}
pub(crate) use data;

/// Every fact and event, one a line.
fn listing(r: &Read) -> String {
    let facts = r.facts.iter().map(|(p, f)| {
        let unit = if f.unit.is_empty() { String::new() } else { format!(" {}", f.unit) };
        let line = f.place.line.map_or("-".to_owned(), |l| l.to_string());
        format!("{line:>3} {p} = {}{unit}", f.value)
    });
    let events = r.facts.kernel.iter().map(|e| {
        let line = e.place.line.map_or("-".to_owned(), |l| l.to_string());
        format!("{line:>3} {:?} {}", e.kind, e.pci.as_deref().unwrap_or("-"))
    });
    facts.chain(events).collect::<Vec<_>>().join("\n")
}

#[test]
fn kernel_log() {
    let r = read("kernel.log", data!("kernel.log"));
    assert_eq!(r.kinds(), ["dmesg"]);
    insta::assert_snapshot!(listing(&r), @r#"
     1 kernel = 6.8.0-45-generic
     - kernel_log.lines = 32 lines
     - kernel_log.readable = yes
    13 module.nvidia = yes
    13 module.open = yes
    13 module.version = 580.159.04
     5 pci_gpu_count = 2
     3 platform.vm = yes
    14 rminitadapter_failed = 1
    23 xids = 31, 45
     4 Other("iommu-domain") -
     9 Other("pcie-bandwidth") 0000:3b:00
    10 Other("bar-no-space") 0000:5d:00
    12 Other("module-unsigned") -
    13 ModuleLoaded { version: "580.159.04", open: true } -
    14 InitFailed { code: Some("0x62:0x1a:2631") } 0000:5d:00
    15 InitFailed { code: None } 0000:5d:00
    16 ApiMismatch -
    21 Other("aer-received") 0000:3a:00
    22 Other("aer-corrected") 0000:3b:00
    23 Xid { code: 31, pid: Some(4242), name: Some("python3"), fatal: None, caused_by: None } 0000:3b:00
    24 Xid { code: 45, pid: Some(4242), name: Some("python3"), fatal: None, caused_by: Some(31) } 0000:3b:00
    25 SXid { code: 12028, fatal: Some(false) } 0000:c1:00
    26 Other("segfault") -
    28 FallenOffBus 0000:5d:00
    31 Other("oom-report") -
    32 Other("oom-kill") -
    "#);
}

#[test]
fn lspci() {
    let r = read("lspci.txt", data!("lspci.txt"));
    assert_eq!(r.kinds(), ["lspci"]);
    insta::assert_snapshot!(listing(&r), @r"
     1 acs_redirect_bridges = 1
     1 bridges_downgraded = 2
    22 gpu[0].bar1_total_mib = 131072 MiB
    18 gpu[0].device_id = 10de:2330
    18 gpu[0].name = NVIDIA H100 SXM5 80GB
    20 gpu[0].numa_node = 0
    31 gpu[0].pci_driver = nvidia
    30 gpu[0].pcie.aer_correctable_bits = RxErr, BadTLP
    29 gpu[0].pcie.aer_uncorrectable_bits = 
    25 gpu[0].pcie.link_width_current = 8 lanes
    24 gpu[0].pcie.link_width_device_max = 16 lanes
    24 gpu[0].pcie.link_width_max = 16 lanes
    14 gpu[0].pcie.link_width_parent_max = 16 lanes
    12 gpu[0].pcie.port[0].bus_id = 3a:00.0
    15 gpu[0].pcie.port[0].link_width_current = 8 lanes
    14 gpu[0].pcie.port[0].link_width_max = 16 lanes
    15 gpu[0].pcie.port[0].speed_current_gts = 32 GT/s
    14 gpu[0].pcie.port[0].speed_max_gts = 32 GT/s
     1 gpu[0].pcie.port[1].bus_id = 00:01.0
     6 gpu[0].pcie.port[1].link_width_current = 16 lanes
     5 gpu[0].pcie.port[1].link_width_max = 16 lanes
     6 gpu[0].pcie.port[1].speed_current_gts = 16 GT/s
     5 gpu[0].pcie.port[1].speed_max_gts = 32 GT/s
    25 gpu[0].pcie.speed_current_gts = 32 GT/s
    24 gpu[0].pcie.speed_max_gts = 32 GT/s
    14 gpu[0].pcie.speed_parent_max_gts = 32 GT/s
    26 gpu[0].pcie.speed_supported_gts = 32 GT/s
    18 gpu[0].slot = 3b:00.0
    35 gpu[1].device_id = 10de:2330
    35 gpu[1].lost = yes
    35 gpu[1].name = NVIDIA H100 SXM5 80GB
    37 gpu[1].pci_driver = nvidia
    35 gpu[1].slot = 5d:00.0
    48 gpu[2].bar_unassigned = yes
    46 gpu[2].device_id = 10de:2330
    46 gpu[2].name = NVIDIA H100 SXM5 80GB
    47 gpu[2].numa_node = 1
    51 gpu[2].pci_driver = vfio-pci
    50 gpu[2].pcie.link_width_current = 16 lanes
    49 gpu[2].pcie.link_width_device_max = 16 lanes
    49 gpu[2].pcie.link_width_max = 16 lanes
    50 gpu[2].pcie.speed_current_gts = 2.5 GT/s
    49 gpu[2].pcie.speed_max_gts = 16 GT/s
    46 gpu[2].slot = 9b:00.0
    18 gpu_count = 3
    43 nvswitch[0].pcie.link_width_current = 2 lanes
    40 nvswitch[0].slot = 86:00.0
    40 nvswitch_count = 1
    18 pci_gpu_count = 3
    ");
}

#[test]
fn driver_files() {
    let r = read("nvproc.txt", data!("driver_files.txt"));
    assert_eq!(r.kinds(), ["proc-driver-nvidia"]);
    insta::assert_snapshot!(listing(&r), @r"
     2 driver = 580.159.04
     8 driver_param.enable_gpu_firmware = 18
    15 gpu[0].bus_id = 0000:3b:00.0
    18 gpu[0].excluded = no
    17 gpu[0].gsp_firmware = 580.159.04
    16 gpu[0].minor_number = 0
    10 gpu[0].name = NVIDIA H100 80GB HBM3
    12 gpu[0].uuid = GPU-00000000-1111-2222-3333-444444444444
    13 gpu[0].vbios = 96.00.a5.00.1a
    25 gpu[1].bus_id = 0000:5d:00.0
    28 gpu[1].excluded = yes
    26 gpu[1].minor_number = 1
     2 module.nvidia = yes
     2 module.open = yes
     2 module.version = 580.159.04
     7 profiling_admin_only = no
    ");
}

#[test]
fn xorg() {
    let r = read("Xorg.0.log", data!("xorg.log"));
    assert_eq!(r.kinds(), ["xorg"]);
    insta::assert_snapshot!(listing(&r), @r"
    10 coolbits = 28
    15 ee_lines = 2
    11 gpu[0].bus_id = 0000:0a:00.0
    12 gpu[0].memory_kb = 25165824 KiB
    11 gpu[0].name = NVIDIA GeForce RTX 3090
    11 gpu[0].pci = PCI:10:0:0
    13 gpu[0].vbios = 94.02.4b.00.0b
     4 kernel = 6.8.0-45-generic
     9 nvidia_x_driver = 550.54.15
    14 xorg.nvidia_error = NVIDIA(GPU-1): Failed to initialize the NVIDIA GPU at PCI:33:0:0.  Please
    ");
}

#[test]
fn glxinfo() {
    let r = read("glxinfo.txt", data!("glxinfo.txt"));
    assert_eq!(r.kinds(), ["glxinfo"]);
    insta::assert_snapshot!(listing(&r), @r"
     8 accelerated = no
     6 device = llvmpipe (LLVM 17.0.6, 256 bits)
     3 direct_rendering = yes
    11 opengl_version = 4.5 (Compatibility Profile) Mesa 24.0.9
    10 renderer = llvmpipe (LLVM 17.0.6, 256 bits)
     9 vendor = Mesa
    ");
}

#[test]
fn fabric_manager() {
    let r = read("fabricmanager.log", data!("fabricmanager.log"));
    assert_eq!(r.kinds(), ["fabricmanager"]);
    insta::assert_snapshot!(listing(&r), @r"
    7 errors = 2
    5 fabricmanager.configured = yes
    1 fabricmanager.version = 550.54.15
    6 nvswitch_error = 20034
    6 nvswitch_pci = 00000000:86:00.0
    6 port = 61
    6 SXid { code: 20034, fatal: Some(true) } 0000:86:00
    7 SXid { code: 12028, fatal: Some(false) } 0000:86:00
    ");
}

#[test]
fn collect_env() {
    let r = read("collect_env.txt", data!("collect_env.txt"));
    assert_eq!(r.kinds(), ["collect_env"]);
    insta::assert_snapshot!(listing(&r), @r"
     41 cpu_count = 16
     44 cpu_model = Intel(R) Xeon(R) Processor
     16 cuda_available = yes
      5 cuda_build = 13.0
     17 cuda_runtime = 13.0.88
     22 cudnn = 9.14.0
     20 driver = 580.159.04
     19 gpu[0].name = NVIDIA H200
     19 gpu_count = 1
     15 kernel = 6.18.44-gpu
     97 nccl_version = 2.28.9
     59 numa_nodes = 1
      8 os = Ubuntu 24.04.3 LTS
     53 platform.vm = yes
     14 python = 3.12.3
      3 torch = 2.11.0+cu130
    111 triton = 3.6.0
    ");
}
