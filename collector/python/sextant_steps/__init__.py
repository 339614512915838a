"""Step timings of a PyTorch training process, written as JSON lines (step timings v1).

`sextant run` loads this without a change to the script. A custom loop that runs no `torch.optim` optimiser can call
`step()` at the end of each step instead. Nothing here synchronises the GPU, and an internal error switches the timings
off, never the training.
"""
__all__ = ["step"]
__version__ = "0.1.0"


def step():
    """Marks the end of a training step. From the first call on, optimisers no longer mark steps."""
    from sextant_steps import _hooks

    _hooks.install()
    _hooks.guard(_hooks.recorder.explicit_step)
