//! What names mean: API calls, framework marks and kernel families, by the naming habits of CUDA, ROCm, cuBLAS, cuDNN,
//! CUTLASS, NCCL, Triton and PyTorch.
//!
//! Only general families are known here, never the kernels of one model.

/// What a runtime or driver call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallClass {
    /// Launches one kernel.
    Launch,
    /// Launches a graph of kernels.
    GraphLaunch,
    /// Waits for the device.
    Sync,
    /// Takes or returns device or page-locked memory.
    Allocator,
    /// Starts a copy.
    Copy,
    /// Starts a fill.
    Fill,
    /// Anything else.
    Other,
}

/// The class of a call. Suffixes of API versions (`_v7000`, `_ptsz`) do not matter.
#[must_use]
pub(super) fn call_class(name: &str) -> CallClass {
    let name = base(name);
    let Some(op) = name.strip_prefix("cuda").or_else(|| name.strip_prefix("hip")).or_else(|| name.strip_prefix("cu"))
    else {
        return CallClass::Other;
    };
    let driver = name.starts_with("cu") && !name.starts_with("cuda");
    match op {
        "GraphLaunch" => CallClass::GraphLaunch,
        "StreamSynchronize" | "DeviceSynchronize" | "EventSynchronize" | "CtxSynchronize" => CallClass::Sync,
        // The blocking copies: they return when the copy is done.
        "Memcpy" | "Memcpy2D" | "Memcpy3D" | "MemcpyWithStream" | "MemcpyDtoH" | "MemcpyHtoD" | "MemcpyToSymbol"
        | "MemcpyFromSymbol" | "MemcpyPeer" => CallClass::Sync,
        _ if op.starts_with("Memcpy") => CallClass::Copy,
        _ if op.starts_with("Memset") => CallClass::Fill,
        _ if op.contains("LaunchKernel") || op.starts_with("LaunchCooperative") || op == "LaunchGrid" => {
            CallClass::Launch
        }
        _ if op.ends_with("Async") => CallClass::Other,
        "Malloc" | "Free" | "HostAlloc" | "MallocHost" | "FreeHost" | "MallocManaged" | "MallocPitch" | "Malloc3D"
        | "HostRegister" | "HostUnregister" | "ExtMallocWithFlags" | "HostMalloc" | "HostFree" => CallClass::Allocator,
        _ if driver && op.starts_with("Mem") && !is_query(op) => CallClass::Allocator,
        _ => CallClass::Other,
    }
}

/// `cuMem…` calls that only look.
fn is_query(op: &str) -> bool {
    op.contains("Get") || op.contains("Advise") || op.contains("Prefetch") || op.contains("Export")
}

/// A call's name without the suffix of its API version.
#[must_use]
pub(super) fn base(name: &str) -> &str {
    let name = name.strip_suffix("_ptsz").or_else(|| name.strip_suffix("_ptds")).unwrap_or(name);
    match name.rfind("_v") {
        Some(p) if name[p + 2..].bytes().all(|b| b.is_ascii_digit()) && p + 2 < name.len() => &name[..p],
        _ => name,
    }
}

/// What a framework's mark or operator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostClass {
    /// One step of the profiler's schedule.
    Step,
    /// The data loader hands out a batch.
    LoaderNext,
    /// The optimiser's step.
    Optimizer,
    /// One node of the backward pass, with everything that it runs.
    Node,
    /// Compiling (tracing, lowering, code generation, autotuning).
    Compile,
    /// Running compiled code.
    Compiled,
    /// `nn.DataParallel`.
    DataParallel,
    /// `DistributedDataParallel`.
    Ddp,
    /// Anything else.
    Other,
}

/// The class of a host name.
#[must_use]
pub(super) fn host_class(name: &str) -> HostClass {
    if name.starts_with("aten::") {
        HostClass::Other
    } else if name.starts_with("ProfilerStep#") {
        HostClass::Step
    } else if name.starts_with("enumerate(DataLoader)") {
        HostClass::LoaderNext
    } else if name.starts_with("Optimizer.step#") {
        HostClass::Optimizer
    } else if name.starts_with(NODE) {
        HostClass::Node
    } else if is_compile(name) {
        HostClass::Compile
    } else if name.starts_with("Torch-Compiled Region") || name.starts_with("## Call CompiledFxGraph") {
        HostClass::Compiled
    } else if name == "DataParallel.forward" {
        HostClass::DataParallel
    } else if name == "DistributedDataParallel.forward" {
        HostClass::Ddp
    } else {
        HostClass::Other
    }
}

/// What the autograd engine's spans start with.
pub(super) const NODE: &str = "autograd::engine::evaluate_function: ";

fn is_compile(name: &str) -> bool {
    name.ends_with("(dynamo_timed)")
        || matches!(
            name,
            "inductor_compile"
                | "entire_frame_compile"
                | "entire_backward_compile"
                | "backend_compile"
                | "fx_codegen_and_compile"
                | "_compile.compile_inner"
                | "OutputGraph.call_user_compiler"
                | "create_aot_dispatcher_function"
                | "compile_fx_inner"
                | "compile_fx.<locals>.fw_compiler_base"
                | "compile_fx.<locals>.bw_compiler"
                | "GraphLowering.run"
                | "GraphLowering.compile_to_module"
                | "CachingAutotuner.benchmark_all_configs"
                | "cudagraphify"
        )
}

/// One compilation, whatever it consists of.
#[must_use]
pub(super) fn is_compilation(name: &str) -> bool {
    matches!(name, "entire_frame_compile" | "_compile.compile_inner" | "_compile.compile_inner (dynamo_timed)")
}

/// What kind of work a kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Communication between devices.
    Comm,
    /// Matrix product.
    Gemm,
    /// Matrix times vector: bound by memory, so that Tensor Cores would not help.
    Matvec,
    /// Convolution.
    Conv,
    /// Fused attention.
    Attention,
    /// Conversion between number formats, copies that make a tensor contiguous.
    Cast,
    /// Concatenation and change of layout.
    Layout,
    /// Softmax.
    Softmax,
    /// Normalisation.
    Norm,
    /// Element-wise.
    Elementwise,
    /// Reduction.
    Reduce,
    /// The optimiser's own fused kernels.
    Optimizer,
    /// Compiled by Triton: what is inside cannot be seen from the name.
    Triton,
    /// Anything else.
    Other,
}

impl Family {
    /// Products that Tensor Cores can do.
    #[must_use]
    pub const fn is_product(self) -> bool {
        matches!(self, Self::Gemm | Self::Conv | Self::Attention)
    }

    /// Work that reads and writes each element once and could be fused with its neighbours.
    #[must_use]
    pub const fn is_pointwise(self) -> bool {
        matches!(self, Self::Elementwise | Self::Reduce | Self::Softmax | Self::Norm)
    }
}

/// A kernel's family, and whether it computes on Tensor Cores (matrix cores): `None` where the name does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelClass {
    /// Family.
    pub family: Family,
    /// Tensor Cores.
    pub tensor: Option<bool>,
    /// A grid smaller than the GPU is the design (persistent, split along K, cluster kernels).
    pub small_grid_by_design: bool,
    /// The name says that misaligned operands were padded or loaded element by element.
    pub low_align: bool,
}

/// The class of a kernel name.
#[must_use]
pub fn kernel_class(name: &str) -> KernelClass {
    let n = name.to_ascii_lowercase();
    let has = |what: &[&str]| what.iter().any(|w| n.contains(w));
    let family = family(&n, &has);
    let tensor = match family {
        Family::Gemm | Family::Conv | Family::Attention => tensor(&n, &has, family),
        Family::Triton => None,
        _ => Some(false),
    };
    let by_design = has(&["persistent", "streamk", "stream_k", "splitk", "split_k", "nvjet_", "cluster"])
        || matches!(family, Family::Attention | Family::Comm)
        || (family == Family::Gemm && tensor == Some(true));
    KernelClass {
        family,
        tensor,
        small_grid_by_design: by_design,
        low_align: family.is_product() && has(&["align1", "align2", "align4"]),
    }
}

fn family(n: &str, has: &dyn Fn(&[&str]) -> bool) -> Family {
    if n.starts_with("nccl") || has(&["nccldevkernel", "ncclkernel", "rcclkernel"]) {
        Family::Comm
    } else if n.starts_with("triton_") {
        Family::Triton
    } else if has(&["flash_fwd", "flash_bwd", "flash::", "flashattn", "fmha", "sdpa", "attention_kernel"]) {
        Family::Attention
    } else if has(&["multi_tensor_apply", "multi_tensor_", "fusedadam", "fused_adam", "foreach_"]) {
        Family::Optimizer
    } else if has(&["nchwtonhwc", "nhwctonchw", "transpose", "catarraybatchedcopy", "permute"]) {
        Family::Layout
    } else if has(&["depthwise", "grouped_direct"]) {
        Family::Other
    } else if has(&[
        "conv2d",
        "convolve",
        "implicit_gemm",
        "fprop",
        "dgrad",
        "wgrad",
        "scudnn",
        "winograd",
        "884cudnn",
        "1688cudnn",
        "16816cudnn",
        "hcudnn",
        "_conv_",
        "convolution",
    ]) {
        Family::Conv
    } else if has(&["gemv", "dot_kernel", "gemmk1", "gemmsn"]) {
        Family::Matvec
    } else if has(&["gemm", "nvjet_", "cutlass", "cijk_", "matmul", "wmma"]) && !has(&["elementwise"]) {
        Family::Gemm
    } else if has(&["softmax"]) {
        Family::Softmax
    } else if has(&[
        "layer_norm",
        "layernorm",
        "batch_norm",
        "batchnorm",
        "bn_fw",
        "bn_bw",
        "group_norm",
        "rms_norm",
        "rmsnorm",
    ]) {
        Family::Norm
    } else if has(&["direct_copy_kernel", "float16_copy", "bfloat16_copy", "copy_device_to_device", "float8_copy"]) {
        Family::Cast
    } else if has(&["reduce_kernel", "reduce_1block", "reduction"]) {
        Family::Reduce
    } else if has(&["elementwise", "dropout", "gelu"]) {
        Family::Elementwise
    } else {
        Family::Other
    }
}

fn tensor(n: &str, has: &dyn Fn(&[&str]) -> bool, family: Family) -> Option<bool> {
    if has(&[
        "nvjet_", "gmma", "tensorop", "tf32", "f16f16", "bf16bf16", "e4m3", "e5m2", "i8i8", "imma", "i16832", "hmma",
        "qmma",
    ]) || has(&["_mfma", "wmma", "fp8"])
        || shaped(n)
        || (n.starts_with("cijk_") && has(&["_mi16", "_mi32", "_mi4x", "_mi64"]))
        || family == Family::Attention
    {
        return Some(true);
    }
    if has(&["sgemm", "dgemm", "f32f32", "simt", "magma_", "scudnn", "hcudnn", "winograd"])
        || has(&[
            "dgrad_engine",
            "wgrad_alg",
            "implicit_convolve",
            "dgrad2d",
            "wgrad2d",
            "ffma",
            "fft",
            "explicit_convolve",
        ])
    {
        return Some(false);
    }
    None
}

/// `h884`, `s1688`, `s16816`, `h161616`: the shapes of Tensor Core instructions in kernel names.
fn shaped(n: &str) -> bool {
    ["161616", "16816", "1688", "884"].iter().any(|shape| {
        n.match_indices(shape).any(|(at, _)| at > 0 && matches!(n.as_bytes()[at - 1], b'h' | b's' | b'i' | b'd'))
    })
}

/// Direction and source of a copy, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyClass {
    /// Host to device. The flag: from pageable memory (`None`: the file does not tell).
    HostToDevice(Option<bool>),
    /// Device to host.
    DeviceToHost(Option<bool>),
    /// Anything else.
    Other,
}

/// The class of a copy's name.
#[must_use]
pub(super) fn copy_class(name: &str) -> CopyClass {
    let pageable = match (name.contains("Pageable"), name.contains("Pinned")) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        _ => None,
    };
    if name.contains("HtoD") || name.contains("HostToDevice") || name.contains("Host-to-Device") {
        CopyClass::HostToDevice(pageable)
    } else if name.contains("DtoH") || name.contains("DeviceToHost") || name.contains("Device-to-Host") {
        CopyClass::DeviceToHost(pageable)
    } else {
        CopyClass::Other
    }
}

/// A kernel name fit to be shown: without `void`, template arguments and parameters.
#[must_use]
pub fn short(name: &str) -> String {
    const MAX: usize = 72;
    let name = name.strip_prefix("void ").unwrap_or(name);
    let mut out = String::with_capacity(name.len().min(MAX + 4));
    let mut depth = 0usize;
    let mut prev = ' ';
    for c in name.replace("(anonymous namespace)", "").chars() {
        match c {
            '<' => depth += 1,
            '>' if prev != '-' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => break,
            _ if depth == 0 => out.push(c),
            _ => {}
        }
        prev = c;
        if out.len() > MAX {
            out.push('…');
            break;
        }
    }
    let out = out.replace("::::", "::");
    // The functor inside tells more than the wrapper that all element-wise kernels share.
    let inner = ["direct_copy_kernel", "Functor", "_kernel_cuda"].iter().find_map(|mark| {
        let at = name.find(mark)?;
        let from = name[..at].rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |p| p + 1);
        let to = name[at..].find(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(name.len(), |p| at + p);
        (name.starts_with(&out) && out.contains("elementwise") || out.contains("reduce_kernel"))
            .then(|| name[from..to].to_owned())
    });
    match inner {
        Some(f) => format!("{} ({f})", out.rsplit("::").next().unwrap_or(&out)),
        None => out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensor_cores_are_told_from_names() {
        for (name, family, tensor) in [
            ("nvjet_sm90_hsh_128x64_64x8_1x2_h_bz_NNT", Family::Gemm, Some(true)),
            ("ampere_sgemm_128x64_tn", Family::Gemm, Some(false)),
            ("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", Family::Gemm, Some(true)),
            (
                "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4>(…)",
                Family::Gemm,
                Some(true),
            ),
            ("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nt_align1>(…)", Family::Gemm, Some(false)),
            (
                "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4",
                Family::Gemm,
                Some(false),
            ),
            ("sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", Family::Gemm, Some(true)),
            ("sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x16", Family::Gemm, Some(true)),
            ("volta_scudnn_128x64_relu_medium_nn_v1", Family::Conv, Some(false)),
            ("void flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(Flash_fwd_params)", Family::Attention, Some(true)),
            ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Family::Comm, Some(false)),
            ("triton_poi_fused_add_mul_0", Family::Triton, None),
        ] {
            let c = kernel_class(name);
            assert_eq!((c.family, c.tensor), (family, tensor), "{name}");
        }
    }

    #[test]
    fn calls_are_told_by_what_they_do() {
        for (name, class) in [
            ("cudaLaunchKernel", CallClass::Launch),
            ("cuLaunchKernelEx", CallClass::Launch),
            ("cudaLaunchKernelExC_v11060", CallClass::Launch),
            ("hipLaunchKernel", CallClass::Launch),
            ("hipModuleLaunchKernel", CallClass::Launch),
            ("cudaGraphLaunch_v10000", CallClass::GraphLaunch),
            ("cudaStreamSynchronize_v3020", CallClass::Sync),
            ("cudaMemcpy", CallClass::Sync),
            ("cudaMemcpyAsync", CallClass::Copy),
            ("cuMemcpyHtoDAsync_v2", CallClass::Copy),
            ("cudaMalloc", CallClass::Allocator),
            ("cudaMallocAsync", CallClass::Other),
            ("cuMemCreate", CallClass::Allocator),
            ("cuMemsetD8Async", CallClass::Fill),
            ("cudaEventQuery", CallClass::Other),
            ("INVALID", CallClass::Other),
        ] {
            assert_eq!(call_class(name), class, "{name}");
        }
    }

    #[test]
    fn names_are_shortened() {
        assert_eq!(
            short("void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float>(float*)"),
            "at::native::cunn_SoftMaxForward"
        );
        assert_eq!(short("nvjet_sm90_hsh_128x64_64x8_1x2_h_bz_NNT"), "nvjet_sm90_hsh_128x64_64x8_1x2_h_bz_NNT");
        assert_eq!(
            short(
                "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>>(int)"
            ),
            "vectorized_elementwise_kernel (CUDAFunctor_add)"
        );
    }
}
