import time

_before, _after = [], []


def register_optimizer_step_pre_hook(hook):
    _before.append(hook)


def register_optimizer_step_post_hook(hook):
    _after.append(hook)


class Optimizer:
    def step(self, *args, **kwargs):
        for hook in _before:
            hook(self, args, kwargs)
        time.sleep(0.001)
        for hook in _after:
            hook(self, args, kwargs)
