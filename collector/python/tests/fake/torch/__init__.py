"""A stand-in for PyTorch with the names that the step timings listen to, in the shape that PyTorch 2.x gives them. It
computes nothing. It exists because PyTorch's wheels are too large for every test run."""
from torch import autograd, version  # noqa: F401
from torch import amp, optim, utils  # noqa: F401

__version__ = "2.99.0+fake"


class Tensor:
    def backward(self):
        autograd.backward(self)


def get_float32_matmul_precision():
    return "highest"
