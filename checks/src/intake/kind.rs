//! The kinds of input, by the names that the report contract gives them.

macro_rules! kinds {
    ($($name:ident = $id:literal),* $(,)?) => {
        /// What an input was taken for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the ids say what they are")]
        pub enum Kind { $($name),* }
        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$name),*];
            /// The id used in reports.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$name => $id),* }
            }
        }
    };
}
kinds! {
    SmiTable = "nvidia-smi-table", SmiQ = "nvidia-smi-q", SmiXml = "nvidia-smi-xml", SmiCsv = "nvidia-smi-csv",
    SmiTopo = "nvidia-smi-topo", SmiNvlink = "nvidia-smi-nvlink", SmiDmon = "nvidia-smi-dmon", SmiPmon = "nvidia-smi-pmon",
    DcgmiDmon = "dcgmi-dmon", DcgmiDiag = "dcgmi-diag", Dmesg = "dmesg", Lspci = "lspci", BugReport = "nvidia-bug-report",
    CollectEnv = "collect_env", Xorg = "xorg", Glxinfo = "glxinfo", FabricManager = "fabricmanager",
    ProcModules = "proc-modules", ProcDriverNvidia = "proc-driver-nvidia", Env = "env", Kineto = "kineto", Ncu = "ncu",
    Nsys = "nsys", Nccl = "nccl", TrainLog = "train-log", Iostat = "iostat", Top = "top", Vmstat = "vmstat", Df = "df",
    StepTimings = "step-timings", Samples = "samples", Snapshot = "snapshot", Recording = "recording", Bundle = "bundle",
    Archive = "archive", Unknown = "unknown",
}

impl Kind {
    /// The kind with this id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|k| k.id() == id)
    }
}
