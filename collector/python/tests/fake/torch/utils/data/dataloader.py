from torch.utils.data import _utils  # noqa: F401


class _BaseDataLoaderIter:
    def __init__(self, loader):
        self._dataset = loader.dataset
        self._num_workers = loader.num_workers
        self._prefetch_factor = loader.prefetch_factor
        self._persistent_workers = False
        self._pin_memory = loader.pin_memory
        self._index_sampler = loader
        self._it = iter(loader.dataset)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._it)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    pass


class DataLoader:
    def __init__(self, dataset, num_workers=0, batch_size=1, pin_memory=False, prefetch_factor=None):
        self.dataset, self.num_workers, self.batch_size = dataset, num_workers, batch_size
        self.pin_memory, self.prefetch_factor = pin_memory, prefetch_factor

    def __iter__(self):
        return _SingleProcessDataLoaderIter(self)
