"""One line for those who prefer one: `import sextant; sextant.step()` at the end of each training step."""
from sextant_steps import step

__all__ = ["step"]
