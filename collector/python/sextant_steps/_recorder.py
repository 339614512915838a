"""What a training step is, and what is known about it.

A step ends with the last optimiser call before the next batch is asked for, or before an optimiser that has stepped
already steps again; so gradient accumulation and several optimisers make one step. Loaders that are asked for batches
without an optimiser following are evaluation.

It does not know how records are written.
"""
import os
import sys
import threading
import time
from collections import deque

from sextant_steps._writer import Writer

_now = time.perf_counter_ns
# More calls than this of another loader between two steps are evaluation, not a second training loader.
_EVAL_CALLS = 3
# GPU events that wait to be resolved; beyond that a step goes without them.
_PENDING_MAX = 64
# Steps between two looks at the allocator.
_MEMORY_EVERY = 50
# Steps before a trace may start: compilation, autotuning and the first epoch's caches are over then.
_TRACE_AFTER = 20
# Mean cost of a step, in ns, above which GPU events are left out.
_BUDGET_NS = 50_000


class _Loader:
    __slots__ = ("number", "calls", "wait_ns", "first_ns", "steps", "seen")

    def __init__(self, number):
        self.number = number
        self.calls = 0
        self.wait_ns = 0
        self.first_ns = None
        self.steps = 0
        self.seen = None


class _Step:
    """A finished step as it was measured, in ns. Its record is made in the writer's thread."""

    __slots__ = ("rank", "i", "end", "span", "wait", "backward", "optimizer", "dry", "micro", "phase", "skipped", "gc",
                 "cost", "before", "first", "last", "gpu")

    def record(self):
        record = {
            "v": 1, "kind": "step", "rank": self.rank, "i": self.i, "t_ns": self.end, "step_ms": _ms(self.span),
            "data_wait_ms": None if self.wait is None else _ms(self.wait), "bwd_host_ms": _ms(self.backward),
            "opt_host_ms": _ms(self.optimizer), "dry": self.dry, "n_micro": self.micro or None, "phase": self.phase,
            "skipped": self.skipped, "gc_ms": _ms(self.gc), "shim_us": round(self.cost / 1e3, 1),
        }
        if self.gpu is not None:
            record.update(self.gpu)
        return record


class _Meta:
    """What the process trains with. It is read in the writer's thread: asking for it all takes a few ms."""

    __slots__ = ("rank", "loaders", "ddp", "remarks")

    def record(self):
        torch = sys.modules.get("torch")
        version = getattr(torch, "version", None)
        return {
            "v": 1, "kind": "meta", "host": _host(), "rank": self.rank or 0, "local_rank": _number("LOCAL_RANK"),
            "world": _number("WORLD_SIZE") or _number("SLURM_NTASKS") or 1, "pid": os.getpid(),
            "run": os.environ.get("SEXTANT_RUN_ID"),
            "torch": getattr(torch, "__version__", None) and str(torch.__version__),
            "cuda": getattr(version, "cuda", None), "restart": _number("TORCHELASTIC_RESTART_COUNT"),
            "perf_ns": _now(), "wall_ns": time.time_ns(), "settings": _settings(torch, self.ddp),
            "loaders": self.loaders, "remarks": self.remarks or None,
        }


class Recorder:
    """The state of one process. All calls but those of the garbage collector come from the thread that trains."""

    def __init__(self):
        self.off = False
        self.optimizer_calls = 0
        self._reset()
        try:
            os.register_at_fork(after_in_child=self._reset)
        except AttributeError:
            pass

    def _reset(self):
        """A forked child starts anew: the parent's thread and file are not its own."""
        self._writer = None
        self._loaders = {}
        self._last_loader = None
        self._pending = set()
        self._previous_end = None
        self._end = None
        self._index = 0
        self._optimizer_ns = 0
        self._backward_ns = 0
        self._gc_ns = 0
        self._gc_start = None
        self._skipped = False
        self._explicit = False
        self._cost_ns = 0
        self._cost_mean = 0.0
        self._first = None
        self._last = None
        self._end_event = None
        self._dry = None
        self._waiting = deque()
        self._pool = []
        self._no_events = False
        self._ddp = None
        self._remarks = []
        self._profiler = None
        self._tracing = False
        self._trace_left = _number("SEXTANT_TRACE_STEPS")
        self._meta_loaders = None
        self._main = threading.get_ident()
        self._rank = _rank()

    # Events of the loop

    def batch_begins(self):
        """A loader is asked for a batch: a step with an optimiser call in it is over."""
        if self._pending and not self._explicit and threading.get_ident() == self._main:
            self._close_step()

    def batch_came(self, iterator, start, end):
        if threading.get_ident() != self._main:
            return
        began = _now()
        # An iterator is made anew for each epoch; its dataset tells which loader it belongs to.
        key = (id(getattr(iterator, "_dataset", iterator)), getattr(iterator, "_num_workers", None))
        loader = self._loaders.get(key)
        if loader is None:
            loader = self._loaders[key] = _Loader(len(self._loaders) + 1)
        if loader.seen is None:
            loader.seen = _loader_settings(iterator, loader.number)
        loader.calls += 1
        loader.wait_ns += end - start
        if loader.first_ns is None:
            loader.first_ns = start
        self._last_loader = loader
        if self._first is None:
            self._first = self._event()
            if self._last is not None and self._first is not None:
                self._dry = bool(self._last.query())
        self._cost_ns += _now() - began

    def epoch_ends(self, iterator):
        if threading.get_ident() == self._main and self._index:
            self._write({"v": 1, "kind": "epoch", "rank": self._rank, "i": self._index - 1, "t_ns": _now()})

    def backward_took(self, ns):
        self._backward_ns += ns

    def optimizer_stepped(self, optimizer, start, end):
        self.optimizer_calls += 1
        if self._previous_end is None and not self._pending:
            # The thread that steps the optimiser is the one that trains, whichever imported what.
            self._main = threading.get_ident()
        if self._explicit or threading.get_ident() != self._main:
            self._optimizer_ns += end - start
            return
        began = _now()
        if id(optimizer) in self._pending:
            self._close_step()
        self._pending.add(id(optimizer))
        self._optimizer_ns += end - start
        self._mark_end(end)
        self._cost_ns += _now() - began

    def optimizer_skipped(self, optimizer, end):
        self._skipped = True
        self.optimizer_stepped(optimizer, end, end)

    def explicit_step(self):
        """`sextant.step()`."""
        if not self._explicit:
            self._explicit = True
            self._pending = set()
        self._pending.add(0)
        self._mark_end(_now())
        self._close_step()

    def ddp_made(self, model):
        names = ("bucket_bytes_cap", "find_unused_parameters", "gradient_as_bucket_view", "static_graph",
                 "broadcast_buffers")
        self._ddp = {n: getattr(model, n, None) for n in names}

    def remark(self, text):
        """Something that the report should mention."""
        self._remarks.append(text)

    # Steps

    def _mark_end(self, end):
        self._end = end
        if self._end_event is not None:
            self._pool.append(self._end_event)
        self._end_event = self._event()

    def _close_step(self):
        """The step that ended at `_end` is complete: its record is made, and written once the GPU has answered."""
        began = _now()
        end, start = self._end, self._previous_end
        self._pending = set()
        main = self._last_loader
        wait, micro, evaluation = 0, 0, None
        for loader in self._loaders.values():
            if not loader.calls:
                continue
            if loader is main or loader.calls <= _EVAL_CALLS:
                wait += loader.wait_ns
                micro += loader.calls if loader is main else 0
                loader.steps += 1
            else:
                evaluation = (loader.first_ns, loader.wait_ns, loader.calls)
        eval_ns = 0
        if evaluation is not None and main is not None and main.first_ns is not None:
            eval_ns = max(0, main.first_ns - evaluation[0])
        for loader in self._loaders.values():
            loader.calls, loader.wait_ns, loader.first_ns = 0, 0, None
        first, last, dry = self._first, self._end_event, self._dry
        before = self._last
        self._first, self._last, self._dry, self._end_event = None, last, None, None
        self._previous_end = end
        step = None
        if start is not None:
            step = _Step()
            step.rank, step.i, step.end, step.span = self._rank, self._index, end, end - start - eval_ns
            step.wait = wait if self._loaders else None
            step.backward, step.optimizer, step.gc = self._backward_ns, self._optimizer_ns, self._gc_ns
            step.dry, step.micro, step.skipped = dry, micro, self._skipped
            # The step after a trace carries its end, which takes seconds.
            step.phase = "traced" if self._profiler is not None or self._tracing else "train"
            step.before, step.first, step.last, step.gpu = before, first, last, None
            if eval_ns:
                self._write({
                    "v": 1, "kind": "step", "rank": self._rank, "i": self._index, "t_ns": start + eval_ns,
                    "step_ms": _ms(eval_ns), "data_wait_ms": _ms(evaluation[1]), "n_micro": evaluation[2], "phase": "eval",
                })
            self._index += 1
        else:
            # The first optimiser call only starts the clock: what came before it is the program's start.
            self._begin()
        self._backward_ns = self._optimizer_ns = self._gc_ns = 0
        self._skipped = False
        self._resolve()
        if step is not None:
            if self._index % _MEMORY_EVERY == 0:
                self._memory()
            step.cost = self._cost_ns + _now() - began
            self._cost_mean += (step.cost - self._cost_mean) / min(self._index, 100)
            if self._index > 20 and self._cost_mean > _BUDGET_NS:
                self._no_events = True
            self._waiting.append(step)
            self._tracing = self._profiler is not None
            self._trace()
        self._cost_ns = 0

    def _begin(self):
        import atexit
        import gc

        # Launchers set the rank before the loop begins, but not always before Python does.
        self._rank = _rank()
        gc.callbacks.append(self._collected)
        atexit.register(self._finish)

    def _collected(self, phase, info):
        if phase == "start":
            self._gc_start = _now()
        elif self._gc_start is not None:
            self._gc_ns += _now() - self._gc_start
            self._gc_start = None

    def _finish(self):
        """The process ends: the last step and whatever the GPU has answered by now."""
        try:
            if self.off:
                return
            if self._pending:
                self._close_step()
            self._resolve()
            while self._waiting:
                self._write(self._waiting.popleft())
            if self._profiler is not None:
                self._end_trace()
            if self._writer is not None:
                self._writer.close()
        except Exception as e:
            self.fail(e)

    # The GPU, which is asked and never waited for

    def _event(self):
        torch = sys.modules.get("torch")
        cuda = getattr(torch, "cuda", None)
        if cuda is None or self._no_events or not cuda.is_initialized() or cuda.is_current_stream_capturing():
            return None
        event = self._pool.pop() if self._pool else cuda.Event(enable_timing=True)
        event.record()
        return event

    def _resolve(self):
        """Writes the steps whose events are complete, in order; those that wait too long go without."""
        while self._waiting:
            step = self._waiting[0]
            last = step.last
            if last is not None:
                done = last.query()
                if not done and len(self._waiting) <= _PENDING_MAX:
                    return
                if done:
                    self._times(step)
            self._waiting.popleft()
            self._pool.extend(e for e in (step.before, step.first) if e is not None)
            self._write(step)

    @staticmethod
    def _times(step):
        """The times between events that the GPU has passed."""
        gpu = step.gpu = {}
        before = step.before if step.before is not None and step.before.query() else None
        if step.first is not None:
            gpu["gpu_span_ms"] = round(step.first.elapsed_time(step.last), 3)
        if before is not None:
            gpu["gpu_step_ms"] = round(before.elapsed_time(step.last), 3)
            if step.first is not None:
                gpu["boundary_idle_ms"] = round(before.elapsed_time(step.first), 3)

    def _memory(self):
        torch = sys.modules.get("torch")
        cuda = getattr(torch, "cuda", None)
        if cuda is None or not cuda.is_initialized():
            return
        stats = cuda.memory_stats()
        record = {"v": 1, "kind": "memory", "rank": self._rank, "i": self._index, "t_ns": _now()}
        for name in ("num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free"):
            record[name] = stats.get(name)
        record["reserved_mib"] = stats.get("reserved_bytes.all.current", 0) >> 20
        record["allocated_mib"] = stats.get("allocated_bytes.all.current", 0) >> 20
        dynamo = sys.modules.get("torch._dynamo.utils")
        if dynamo is not None:
            record["compiled_graphs"] = dynamo.counters.get("stats", {}).get("unique_graphs")
        self._write(record)

    # A profiler trace of a few warm steps, on request

    def _trace(self):
        if self._profiler is not None:
            self._profiler.step()
            self._trace_left -= 1
            if self._trace_left < 0:
                self._end_trace()
        elif self._trace_left and self._index == _TRACE_AFTER and self._rank in (0, None):
            profiler = sys.modules["torch"].profiler if hasattr(sys.modules["torch"], "profiler") else None
            if profiler is None:
                return
            # The first step under the profiler pays for its start and is left out.
            schedule = profiler.schedule(wait=0, warmup=1, active=self._trace_left, repeat=1)
            self._profiler = profiler.profile(schedule=schedule, on_trace_ready=self._export)
            self._profiler.start()

    def _end_trace(self):
        profiler, self._profiler, self._trace_left = self._profiler, None, 0
        profiler.stop()

    def _export(self, profiler):
        name = "trace.%s.json.gz" % (self._rank if self._rank is not None else os.getpid())
        profiler.export_chrome_trace(os.path.join(os.environ["SEXTANT_DIR"], name))

    # Records

    def _write(self, record):
        if self._writer is None:
            self._writer = Writer(_file_name())
        if self._meta_loaders != len(self._loaders):
            # A loader that came later gets into a meta record of its own; the last one holds.
            self._meta_loaders = len(self._loaders)
            self._writer.put(self._meta())
        self._writer.put(record)

    def _meta(self):
        meta = _Meta()
        # The loader that feeds training stands first.
        loaders = sorted(self._loaders.values(), key=lambda l: (-l.steps, l.number))
        meta.loaders = [l.seen for l in loaders if l.seen]
        meta.rank, meta.ddp, meta.remarks = self._rank, self._ddp, list(self._remarks)
        return meta

    def fail(self, error):
        """Switches the timings off for this process and says why, once."""
        self.off = True
        try:
            self._write({"v": 1, "kind": "error", "pid": os.getpid(), "text": "%s: %s" % (type(error).__name__, error)})
            self._writer.close()
        except Exception:
            pass


def _ms(ns):
    return round(ns / 1e6, 4)


def _number(name):
    try:
        return int(os.environ[name])
    except (KeyError, ValueError):
        return None


def _rank():
    for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"):
        rank = _number(name)
        if rank is not None:
            return rank
    return None


def _host():
    import socket

    return socket.gethostname()


def _file_name():
    rank = _rank()
    who = "pid%d" % os.getpid() if rank is None else str(rank)
    path = os.path.join(os.environ["SEXTANT_DIR"], "steps.%s.%s.jsonl" % (_host(), who))
    # A restarted rank does not continue the file of the one that died.
    return path if not os.path.exists(path) else path[:-6] + ".%d.jsonl" % os.getpid()


def _loader_settings(iterator, number):
    get = lambda name, default=None: getattr(iterator, name, default)
    sampler = get("_index_sampler")
    dataset = get("_dataset")
    return {
        "id": number, "cls": type(iterator).__name__.strip("_"), "num_workers": get("_num_workers"),
        "prefetch_factor": get("_prefetch_factor"), "persistent": get("_persistent_workers"),
        "pin_memory": bool(get("_pin_memory", False)), "batch": getattr(sampler, "batch_size", None),
        "dataset": type(dataset).__name__ if dataset is not None else None,
    }


def _settings(torch, ddp):
    if torch is None:
        return {}
    def read(of):
        try:
            return of()
        except Exception:
            return None
    settings = {
        "matmul_precision": read(lambda: torch.get_float32_matmul_precision()),
        "cudnn_benchmark": read(lambda: torch.backends.cudnn.benchmark),
        "cudnn_tf32": read(lambda: torch.backends.cudnn.allow_tf32),
        "deterministic": read(lambda: torch.are_deterministic_algorithms_enabled()),
        "anomaly": read(lambda: torch.is_anomaly_enabled()),
        "default_dtype": read(lambda: str(torch.get_default_dtype()).replace("torch.", "")),
        "threads": read(lambda: torch.get_num_threads()),
        "omp": os.environ.get("OMP_NUM_THREADS"),
        "launch_blocking": os.environ.get("CUDA_LAUNCH_BLOCKING"),
        "alloc_conf": os.environ.get("PYTORCH_CUDA_ALLOC_CONF") or os.environ.get("PYTORCH_ALLOC_CONF"),
    }
    if ddp:
        settings["ddp"] = ddp
    return settings
