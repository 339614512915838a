"""Loaded by every Python process below `sextant run`: installs the step timings' import hooks, then hands over to the
sitecustomize that would have been loaded without it.

It must cost a process that does not train next to nothing, and must never break one.
"""
import sys


def _install(here):
    import os

    # The packages stay importable, but behind everything that the user has: a module of the same name wins.
    sys.path[:] = [p for p in sys.path if p != here] + [here]
    if os.environ.get("SEXTANT_STEPS") != "0" and os.environ.get("SEXTANT_DIR"):
        from sextant_steps import _hooks

        _hooks.install()


def _chain(here):
    """Runs the next sitecustomize on the path: distributions, conda and coverage tools use it."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    spec = PathFinder.find_spec("sitecustomize", [p for p in sys.path if p != here])
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_here = __file__.rpartition("/")[0]
try:
    _install(_here)
except Exception:  # The process belongs to the user; without timings it still runs.
    pass
# An error in the user's own sitecustomize is the user's to see, as it would be without this one.
_chain(_here)
