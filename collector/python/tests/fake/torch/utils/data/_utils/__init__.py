from torch.utils.data._utils import worker  # noqa: F401
