"""Writes records as JSON lines from a thread of its own, so that the thread that trains neither formats nor waits.

It does not know what a record says.
"""
import json
import os
import threading
import time
from collections import deque

# How often lines reach the disk.
_FLUSH_S = 1.0
# Records that may wait; beyond that they are dropped rather than the training held up.
_QUEUE_MAX = 20_000


class Writer:
    """One file of one process."""

    def __init__(self, path):
        self._queue = deque()
        self._dropped = 0
        self._closed = threading.Event()
        # Lines are shorter than a page and are appended whole, so a killed process leaves at most one torn line.
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._thread = threading.Thread(target=self._run, name="sextant-writer", daemon=True)
        self._thread.start()

    def put(self, record):
        """Takes over a record, or something that makes one; it must not be changed any more."""
        if len(self._queue) < _QUEUE_MAX:
            self._queue.append(record)
        else:
            self._dropped += 1

    def close(self):
        """Writes what waits and ends the thread."""
        self._closed.set()
        self._thread.join(timeout=5)
        if self._dropped:
            self.put({"v": 1, "kind": "dropped", "records": self._dropped})
        self._flush()

    def _run(self):
        while not self._closed.wait(_FLUSH_S):
            self._flush()

    def _flush(self):
        lines = []
        while self._queue:
            record = self._queue.popleft()
            if not isinstance(record, dict):
                record = record.record()
            lines.append(json.dumps({k: v for k, v in record.items() if v is not None}, separators=(",", ":"), default=str))
        if lines:
            try:
                os.write(self._file, ("\n".join(lines) + "\n").encode())
            except OSError:
                # A full disk loses timings, not training.
                self._dropped += len(lines)
