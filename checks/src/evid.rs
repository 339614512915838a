//! The command that supplies each kind of evidence, for a check that cannot say yet. It knows no check and no platform.

use crate::check::Evid;

impl Evid {
    /// The command that supplies it, where one does.
    #[must_use]
    pub const fn command(self) -> Option<&'static str> {
        Some(match self {
            Self::Live => "sextant push --live",
            Self::SmiQ => "nvidia-smi -q",
            Self::SmiTable => "nvidia-smi",
            Self::Dmon => "nvidia-smi dmon -s pucvmet -c 20",
            Self::Pmon => "nvidia-smi pmon -c 10",
            Self::Topo => "nvidia-smi topo -m",
            Self::Nvlink => "nvidia-smi nvlink -s",
            Self::KernelLog => "sudo dmesg -T",
            Self::Lspci => "sudo lspci -vv",
            Self::BugReport => "sudo nvidia-bug-report.sh",
            Self::CollectEnv => "python -m torch.utils.collect_env",
            Self::Env => "env",
            Self::Steps => "sextant run -- python train.py",
            Self::Samples => "sextant check --seconds 10",
            Self::Trace => "sextant run --trace-steps 5 -- python train.py",
            Self::Ncu => "ncu --csv --set full python train.py",
            Self::Nsys => "nsys profile -o run --export sqlite python train.py",
            Self::Dcgm => "dcgmi dmon -e 1001,1002,1003,1004,1005 -c 20",
            Self::Iostat => "iostat -xz 1 10",
            Self::Nccl => "NCCL_DEBUG=INFO python train.py",
            Self::FabricLog => "sudo cat /var/log/fabricmanager.log",
            Self::Glxinfo => "glxinfo -B",
            Self::Xorg => "cat /var/log/Xorg.0.log",
            Self::TrainLog => return None,
        })
    }
}
