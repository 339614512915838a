"""Where PyTorch is listened to: loaders, optimisers, backward, the gradient scaler. Torch is never imported from here;
each listener is put in place when the script itself has imported the module it listens to.

It knows PyTorch's names; what a step is, is decided by the recorder.
"""
import sys
import time

from sextant_steps._recorder import Recorder

_now = time.perf_counter_ns
recorder = Recorder()
_installed = False


def guard(do, *args):
    """Calls into the recorder. An error there switches it off for this process; the training goes on."""
    if recorder.off:
        return None
    try:
        return do(*args)
    except Exception as e:
        recorder.fail(e)
        return None


def _torch_data_dataloader(module):
    base = module._BaseDataLoaderIter
    original = base.__next__

    def __next__(self):
        if recorder.off or module._utils.worker.get_worker_info() is not None:
            return original(self)
        guard(recorder.batch_begins)
        start = _now()
        try:
            batch = original(self)
        except StopIteration:
            guard(recorder.epoch_ends, self)
            raise
        guard(recorder.batch_came, self, start, _now())
        return batch

    __next__._torchdynamo_disable = True
    base.__next__ = __next__


def _torch_optim_optimizer(module):
    starts = {}

    def before(optimizer, args, kwargs):
        starts[id(optimizer)] = _now()

    def after(optimizer, args, kwargs):
        now = _now()
        guard(recorder.optimizer_stepped, optimizer, starts.pop(id(optimizer), now), now)

    before._torchdynamo_disable = True
    after._torchdynamo_disable = True
    if hasattr(module, "register_optimizer_step_post_hook"):
        module.register_optimizer_step_pre_hook(before)
        module.register_optimizer_step_post_hook(after)
    else:
        recorder.remark("This PyTorch has no hooks for optimisers; call sextant.step() in the loop.")


def _torch_autograd(module):
    original = module.backward
    depth = [0]

    def backward(*args, **kwargs):
        if recorder.off or depth[0]:
            return original(*args, **kwargs)
        depth[0] = 1
        start = _now()
        try:
            return original(*args, **kwargs)
        finally:
            depth[0] = 0
            guard(recorder.backward_took, _now() - start)

    backward._torchdynamo_disable = True
    backward.__doc__ = original.__doc__
    backward.__name__ = "backward"
    backward.__wrapped__ = original
    module.backward = backward


def _torch_amp_grad_scaler(module):
    original = module.GradScaler.step

    def step(self, optimizer, *args, **kwargs):
        if recorder.off:
            return original(self, optimizer, *args, **kwargs)
        before = recorder.optimizer_calls
        result = original(self, optimizer, *args, **kwargs)
        if recorder.optimizer_calls == before:
            # Infinite gradients: the scaler has left the optimiser out.
            guard(recorder.optimizer_skipped, optimizer, _now())
        return result

    step._torchdynamo_disable = True
    module.GradScaler.step = step


def _torch_parallel_distributed(module):
    original = module.DistributedDataParallel.__init__

    def __init__(self, *args, **kwargs):
        original(self, *args, **kwargs)
        guard(recorder.ddp_made, self)

    module.DistributedDataParallel.__init__ = __init__


_HOOKS = {
    "torch.utils.data.dataloader": _torch_data_dataloader,
    "torch.optim.optimizer": _torch_optim_optimizer,
    "torch.autograd": _torch_autograd,
    "torch.amp.grad_scaler": _torch_amp_grad_scaler,
    "torch.nn.parallel.distributed": _torch_parallel_distributed,
}


class _Finder:
    """Lets the other finders find a module, and has its loader tell when it has run."""

    def find_spec(self, name, path=None, target=None):
        hook = _HOOKS.get(name)
        if hook is None or recorder.off:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                guard(_listen, spec, hook)
                return spec
        return None


def _listen(spec, hook):
    loader = spec.loader
    original = loader.exec_module

    def exec_module(module):
        try:
            del loader.exec_module
        except AttributeError:
            pass
        original(module)
        guard(hook, module)

    loader.exec_module = exec_module


def install():
    """Puts the import hooks in place, once. Modules that are there already are listened to at once."""
    global _installed
    if _installed:
        return
    _installed = True
    for name, hook in _HOOKS.items():
        module = sys.modules.get(name)
        if module is not None:
            guard(hook, module)
    sys.meta_path.insert(0, _Finder())
