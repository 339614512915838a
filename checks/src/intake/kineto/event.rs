//! One event of a trace: read from its JSON and filed into the recording.
//!
//! It knows the key and category names of all writers since 2021 (and ROCm's); it does not know what an event is good
//! for.

use std::borrow::Cow;
use std::collections::HashMap;

use super::cursor::{Cursor, Scalar, Scan, Stop, Text, int, thousandths};
use crate::trace::record::{
    Call, Collective, Format, GpuKind, GpuSpan, HostKind, HostSpan, NO_COLLECTIVE, NameId, Product, Recording,
};

/// Host spans, calls and device activities that are kept; together about 400 MB of records.
const MAX_HOST: usize = 8_000_000;
const MAX_CALLS: usize = 3_000_000;
const MAX_GPU: usize = 1_500_000;
/// Matrix products and collectives that are kept.
const MAX_PRODUCTS: usize = 500_000;
/// A time stamp above this (µs) is no time of this century: the writer meant nanoseconds.
const MAX_EPOCH_NS_AS_US: i64 = 100_000_000_000_000_000;

/// An event as it stands in the file.
#[derive(Debug, Default)]
pub(super) struct Raw<'b> {
    ph: u8,
    cat: &'b [u8],
    name: Text<'b>,
    ts: Option<&'b [u8]>,
    dur: Option<&'b [u8]>,
    pid: Option<Scalar<'b>>,
    tid: Option<Scalar<'b>>,
    args: Option<&'b [u8]>,
}

impl<'b> Raw<'b> {
    /// Reads one object; the cursor stands before its brace.
    #[inline]
    pub(super) fn read(c: &mut Cursor<'b>) -> Scan<Self> {
        c.take(b'{')?;
        let mut raw = Self::default();
        while let Some(key) = c.key()? {
            match key {
                b"ph" => raw.ph = text(c)?.raw.first().copied().unwrap_or(0),
                b"cat" => raw.cat = text(c)?.raw,
                b"name" => raw.name = text(c)?,
                b"ts" => raw.ts = Some(number(c)?),
                b"dur" => raw.dur = Some(number(c)?),
                b"pid" => raw.pid = Some(c.scalar()?),
                b"tid" => raw.tid = Some(c.scalar()?),
                b"args" => {
                    c.next()?;
                    let from = c.at;
                    c.skip()?;
                    raw.args = Some(c.slice(from, c.at));
                }
                _ => c.skip()?,
            }
        }
        Ok(raw)
    }
}

/// Text, or nothing where something else stands.
#[inline]
fn text<'b>(c: &mut Cursor<'b>) -> Scan<Text<'b>> {
    if c.next()? == b'"' {
        return c.string();
    }
    c.skip()?;
    Ok(Text::default())
}

#[inline]
fn number<'b>(c: &mut Cursor<'b>) -> Scan<&'b [u8]> {
    let (Scalar::Bare(b) | Scalar::Text(Text { raw: b, .. })) = c.scalar()?;
    Ok(b)
}

/// What a category is filed as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cat {
    Op,
    Mark,
    Python,
    Overhead,
    Call,
    Gpu(GpuKind),
    Ignored,
}

#[inline]
fn category(cat: &[u8], name: &[u8]) -> Cat {
    match cat {
        b"cpu_op" | b"Operator" => {
            // Until 2022 marks had no category of their own.
            let mark = [&b"ProfilerStep"[..], b"enumerate(DataLoader)", b"Optimizer."];
            if mark.iter().any(|m| name.starts_with(m)) { Cat::Mark } else { Cat::Op }
        }
        b"user_annotation" => Cat::Mark,
        b"kernel" | b"Kernel" => Cat::Gpu(GpuKind::Kernel),
        b"gpu_memcpy" | b"Memcpy" => Cat::Gpu(GpuKind::Copy),
        b"gpu_memset" | b"Memset" => Cat::Gpu(GpuKind::Fill),
        b"cuda_runtime" | b"Runtime" | b"cuda_driver" | b"hip_runtime" | b"runtime" | b"driver" => Cat::Call,
        b"python_function" => Cat::Python,
        b"overhead" => Cat::Overhead,
        _ => Cat::Ignored,
    }
}

/// Files events into a recording.
#[derive(Debug, Default)]
pub(super) struct Filer {
    pub(super) rec: Recording,
    threads: HashMap<(i64, i64), u16>,
    last_thread: Option<((i64, i64), u16)>,
    /// Time stamps are nanoseconds, against the format's own rule.
    pub(super) ts_in_ns: Option<bool>,
}

impl Filer {
    /// Files one event. What cannot be used is counted, never an error.
    #[inline]
    pub(super) fn file(&mut self, raw: &Raw<'_>) {
        self.rec.events += 1;
        if raw.ph != b'X' {
            return;
        }
        let cat = category(raw.cat, raw.name.raw);
        if cat == Cat::Ignored {
            return;
        }
        let Some(start) = raw.ts.and_then(|t| self.time(t)) else {
            self.rec.dropped.bad_time += 1;
            return;
        };
        let Some(dur) = raw.dur else {
            self.rec.dropped.no_duration += 1;
            return;
        };
        let Some(dur) = self.time(dur) else {
            self.rec.dropped.bad_time += 1;
            return;
        };
        if dur < 0 {
            self.rec.dropped.negative += 1;
            return;
        }
        let Some(end) = start.checked_add(dur) else {
            self.rec.dropped.bad_time += 1;
            return;
        };
        let name = self.name(raw.name);
        match cat {
            Cat::Gpu(kind) => self.gpu(raw, kind, name, (start, end)),
            Cat::Call => {
                let thread = self.thread(raw);
                let args = raw.args.map(|a| Args::read(a, Want::Call)).unwrap_or_default();
                let correlation = args.correlation.unwrap_or(0);
                let call = Call { start, end, correlation, name, thread };
                push(&mut self.rec.calls, call, MAX_CALLS, &mut self.rec.dropped.over_limit);
            }
            Cat::Op => {
                let thread = self.thread(raw);
                if let Some(args) = raw.args {
                    self.operator(raw.name.raw, args, (start, end), thread);
                }
                self.span(start, end, name, thread, HostKind::Op);
            }
            Cat::Mark | Cat::Python | Cat::Overhead => {
                let thread = self.thread(raw);
                let kind = match cat {
                    Cat::Mark => HostKind::Mark,
                    Cat::Python => HostKind::Python,
                    _ => HostKind::Overhead,
                };
                self.span(start, end, name, thread, kind);
            }
            Cat::Ignored => {}
        }
    }

    #[inline]
    fn span(&mut self, start: i64, end: i64, name: NameId, thread: u16, kind: HostKind) {
        let span = HostSpan { start, end, name, thread, kind };
        push(&mut self.rec.host, span, MAX_HOST, &mut self.rec.dropped.over_limit);
    }

    /// µs as written → ns.
    #[inline]
    fn time(&mut self, digits: &[u8]) -> Option<i64> {
        if self.ts_in_ns == Some(true) {
            return int(digits).or_else(|| thousandths(digits).map(|t| t / 1000));
        }
        let ns = thousandths(digits);
        if self.ts_in_ns.is_none() {
            let whole = int(digits).or(ns.map(|t| t / 1000));
            self.ts_in_ns = Some(whole.is_some_and(|w| w > MAX_EPOCH_NS_AS_US));
            if self.ts_in_ns == Some(true) {
                return whole;
            }
        }
        ns
    }

    #[inline]
    fn name(&mut self, text: Text<'_>) -> NameId {
        match resolve(text) {
            Cow::Borrowed(n) => self.rec.names.intern(n),
            Cow::Owned(n) => self.rec.names.intern(&n),
        }
    }

    #[inline]
    fn thread(&mut self, raw: &Raw<'_>) -> u16 {
        let key = (raw.pid.map_or(0, thread_part), raw.tid.map_or(0, thread_part));
        if let Some((k, t)) = self.last_thread
            && k == key
        {
            return t;
        }
        let threads = &mut self.rec.threads;
        let t = *self.threads.entry(key).or_insert_with(|| {
            // Beyond 65,535 threads all others share one entry.
            let Ok(t) = u16::try_from(threads.len()) else { return u16::MAX };
            threads.push(key);
            t
        });
        self.last_thread = Some((key, t));
        t
    }

    fn gpu(&mut self, raw: &Raw<'_>, kind: GpuKind, name: NameId, (start, end): (i64, i64)) {
        let args = raw.args.map(|a| Args::read(a, Want::Gpu)).unwrap_or_default();
        let small = |v: Option<i64>| v.and_then(|v| u32::try_from(v).ok());
        let device = args.device.or(raw.pid.map(thread_part)).unwrap_or(0);
        let stream = args.stream.or(raw.tid.map(thread_part)).unwrap_or(0);
        let mut collective = NO_COLLECTIVE;
        if args.collective.is_some() {
            let c = self.collective(&args, None);
            collective = u32::try_from(self.rec.collectives.len()).unwrap_or(NO_COLLECTIVE);
            push(&mut self.rec.collectives, c, MAX_PRODUCTS, &mut self.rec.dropped.over_limit);
        }
        let span = GpuSpan {
            start,
            end,
            correlation: args.correlation.filter(|c| *c != 0),
            bytes: args.bytes.and_then(|b| u64::try_from(b).ok()).unwrap_or(0),
            name,
            blocks: small(args.grid).unwrap_or(0),
            threads: small(args.block).unwrap_or(0),
            collective,
            stream: small(Some(stream)).unwrap_or(u32::MAX),
            device: u16::try_from(device).unwrap_or(u16::MAX),
            kind,
            in_graph: args.graph_node.is_some_and(|n| n > 0),
        };
        push(&mut self.rec.gpu, span, MAX_GPU, &mut self.rec.dropped.over_limit);
    }

    fn operator(&mut self, name: &[u8], args: &[u8], (start, end): (i64, i64), thread: u16) {
        if name == b"record_param_comms" {
            let args = Args::read(args, Want::Gpu);
            let c = self.collective(&args, Some((start, end, thread)));
            push(&mut self.rec.collectives, c, MAX_PRODUCTS, &mut self.rec.dropped.over_limit);
        } else if is_product(name) {
            let a = Args::read(args, Want::Shapes);
            if a.types.is_none() && a.shape == 0 {
                return;
            }
            let product = Product {
                start,
                end,
                thread,
                format: a.types,
                aligned: a.dims.map(|d| d.aligned(a.types)),
                shape: a.shape,
            };
            push(&mut self.rec.products, product, MAX_PRODUCTS, &mut self.rec.dropped.over_limit);
        }
    }

    fn collective(&mut self, args: &Args<'_>, host: Option<(i64, i64, u16)>) -> Collective {
        Collective {
            host,
            name: self.name(args.collective.unwrap_or_default()),
            elements: args.elements.and_then(|e| u64::try_from(e).ok()),
            element_bytes: args.dtype.and_then(|d| element_bytes(d.raw)),
            group_size: args.group_size.and_then(|g| u32::try_from(g).ok()),
            group: self.name(args.group.unwrap_or_default()),
            seq: args.seq,
        }
    }
}

#[inline]
fn push<T>(to: &mut Vec<T>, item: T, max: usize, over: &mut u64) {
    if to.len() < max {
        to.push(item);
    } else {
        *over += 1;
    }
}

/// Text with its escapes resolved; invalid UTF-8 is replaced.
pub(super) fn resolve(text: Text<'_>) -> Cow<'_, str> {
    if text.escaped {
        let quoted = [b"\"", text.raw, b"\""].concat();
        if let Ok(s) = serde_json::from_slice::<String>(&quoted) {
            return Cow::Owned(s);
        }
    }
    String::from_utf8_lossy(text.raw)
}

/// A process or thread id; older writers put numbers in quotes, some ids are words.
#[inline]
fn thread_part(v: Scalar<'_>) -> i64 {
    if let Some(i) = v.int() {
        return i;
    }
    let (Scalar::Bare(b) | Scalar::Text(Text { raw: b, .. })) = v;
    if let Some(n) = b.strip_prefix(b"stream ").and_then(int) {
        return n;
    }
    // FNV-1a, made negative: no real id is.
    let h = b.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
    #[expect(clippy::cast_possible_wrap, reason = "the top bit is cleared")]
    let h = (h >> 1) as i64;
    -h - 2
}

/// Operators whose input shapes and number format tell how a matrix product is done.
fn is_product(name: &[u8]) -> bool {
    let Some(op) = name.strip_prefix(b"aten::") else { return false };
    matches!(
        op,
        b"mm"
            | b"addmm"
            | b"bmm"
            | b"baddbmm"
            | b"convolution"
            | b"cudnn_convolution"
            | b"convolution_backward"
            | b"_convolution"
            | b"_scaled_mm"
            | b"_grouped_mm"
            | b"_int_mm"
    )
}

fn element_bytes(dtype: &[u8]) -> Option<u32> {
    Some(match dtype.to_ascii_lowercase().as_slice() {
        b"double" | b"float64" | b"long" | b"int64" => 8,
        b"float" | b"float32" | b"int" | b"int32" => 4,
        b"half" | b"float16" | b"bfloat16" | b"short" => 2,
        b"byte" | b"char" | b"uint8" | b"int8" | b"bool" | b"float8_e4m3fn" | b"float8_e5m2" => 1,
        _ => return None,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    Call,
    Gpu,
    Shapes,
}

/// The arguments that are used.
#[derive(Debug, Default)]
struct Args<'b> {
    correlation: Option<u64>,
    device: Option<i64>,
    stream: Option<i64>,
    bytes: Option<i64>,
    grid: Option<i64>,
    block: Option<i64>,
    graph_node: Option<i64>,
    collective: Option<Text<'b>>,
    elements: Option<i64>,
    dtype: Option<Text<'b>>,
    group: Option<Text<'b>>,
    group_size: Option<i64>,
    seq: Option<i64>,
    dims: Option<Dims>,
    shape: u64,
    types: Option<Format>,
}

impl<'b> Args<'b> {
    /// Reads the object as far as it can be read.
    fn read(text: &'b [u8], want: Want) -> Self {
        let mut args = Self::default();
        let mut c = Cursor::new(text);
        if c.take(b'{').is_ok() {
            let _ = args.fill(&mut c, want);
        }
        args
    }

    fn fill(&mut self, c: &mut Cursor<'b>, want: Want) -> Scan<()> {
        while let Some(key) = c.key()? {
            match (want, key) {
                (Want::Call | Want::Gpu, b"correlation") => {
                    self.correlation = c.scalar()?.int().and_then(|v| u64::try_from(v).ok());
                    if want == Want::Call {
                        return Ok(());
                    }
                }
                (Want::Gpu, b"device") => self.device = c.scalar()?.int(),
                (Want::Gpu, b"stream") => self.stream = c.scalar()?.int(),
                (Want::Gpu, b"bytes") => self.bytes = c.scalar()?.int(),
                (Want::Gpu, b"grid") => self.grid = volume(c)?,
                (Want::Gpu, b"block") => self.block = volume(c)?,
                (Want::Gpu, b"graph node id") => self.graph_node = c.scalar()?.int(),
                (Want::Gpu, b"Collective name") => self.collective = Some(text_or_skip(c)?),
                (Want::Gpu, b"In msg nelems") => self.elements = c.scalar()?.int(),
                (Want::Gpu, b"dtype") => self.dtype = Some(text_or_skip(c)?),
                (Want::Gpu, b"Process Group Name") => self.group = Some(text_or_skip(c)?),
                (Want::Gpu, b"Group size") => self.group_size = c.scalar()?.int(),
                (Want::Gpu, b"Seq") => self.seq = c.scalar()?.int(),
                (Want::Shapes, b"Input Dims") => {
                    let from = c.at;
                    self.dims = Some(Dims::read(c)?);
                    self.shape = c.slice(from, c.at).iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
                        if b.is_ascii_whitespace() { h } else { (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3) }
                    });
                }
                (Want::Shapes, b"Input type") => self.types = types(c)?,
                _ => c.skip()?,
            }
        }
        Ok(())
    }
}

fn text_or_skip<'b>(c: &mut Cursor<'b>) -> Scan<Text<'b>> {
    text(c)
}

/// The product of a list of whole numbers, such as a grid.
fn volume(c: &mut Cursor<'_>) -> Scan<Option<i64>> {
    if c.next()? != b'[' {
        c.skip()?;
        return Ok(None);
    }
    c.at += 1;
    let mut product: Option<i64> = Some(1);
    loop {
        if c.next()? == b']' {
            c.at += 1;
            return Ok(product);
        }
        let v = c.scalar()?.int();
        product = product.zip(v).and_then(|(p, v)| p.checked_mul(v));
    }
}

/// Trailing dimensions of the first inputs of a matrix product.
#[derive(Clone, Copy, Debug, Default)]
struct Dims {
    /// Smallest power of two that divides the last two dimensions of every matrix input, up to 64.
    step: u64,
}

impl Dims {
    /// Reads `[[64,256],[256,256],…]`; only inputs with at least two dimensions count, and of them the last two.
    fn read(c: &mut Cursor<'_>) -> Scan<Self> {
        if c.next()? != b'[' {
            c.skip()?;
            return Ok(Self { step: 64 });
        }
        c.at += 1;
        let (mut depth, mut step) = (1u32, 64u64);
        let (mut last, mut before) = (None, None);
        while depth > 0 {
            match c.next()? {
                b'[' => {
                    depth += 1;
                    (last, before) = (None, None);
                    c.at += 1;
                }
                b']' => {
                    if let (Some(a), Some(b)) = (last, before) {
                        step = step.min(power_of_two(a)).min(power_of_two(b));
                    }
                    (last, before) = (None, None);
                    depth -= 1;
                    c.at += 1;
                }
                b'{' | b'}' | b':' => return Err(Stop::Bad),
                _ => (before, last) = (last, c.scalar()?.int()),
            }
        }
        Ok(Self { step })
    }

    /// Whether the dimensions fit the tiles of the number format: 8 elements of 16 bits, 4 of TF32, 16 of 8 bits.
    fn aligned(self, format: Option<Format>) -> bool {
        self.step
            >= match format {
                Some(Format::Fp8 | Format::Int8) => 16,
                Some(Format::Fp32) => 4,
                _ => 8,
            }
    }
}

fn power_of_two(v: i64) -> u64 {
    if v <= 0 { 64 } else { 1 << v.trailing_zeros().min(6) }
}

/// The number format of the first typed input.
fn types(c: &mut Cursor<'_>) -> Scan<Option<Format>> {
    if c.next()? != b'[' {
        c.skip()?;
        return Ok(None);
    }
    c.at += 1;
    let mut found = None;
    loop {
        match c.next()? {
            b']' => {
                c.at += 1;
                return Ok(found);
            }
            b'"' => {
                let t = c.string()?;
                found = found.or_else(|| format(t.raw));
            }
            _ => c.skip()?,
        }
    }
}

fn format(t: &[u8]) -> Option<Format> {
    Some(match t {
        b"float" | b"Float" | b"c10::Float" => Format::Fp32,
        b"double" | b"Double" => Format::Fp64,
        b"c10::BFloat16" | b"BFloat16" => Format::Bf16,
        b"c10::Half" | b"Half" => Format::Fp16,
        b"signed char" | b"unsigned char" | b"Char" | b"Byte" => Format::Int8,
        _ if t.starts_with(b"c10::Float8") => Format::Fp8,
        b"" | b"Scalar" | b"ScalarList" | b"GenericList" | b"Int" | b"Bool" | b"TensorList" => return None,
        _ => Format::Other,
    })
}
