"""Output of a session's command, on its way to the job's log and to whoever sent the command."""

from __future__ import annotations

import codecs
import os
import threading
from typing import IO

MOST_HELD = 4 << 20


class Output:
    """Output of a command: copied to the job's log, and held until it is taken for the next part."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: list[tuple[int, str]] = []
        self._size = self._left_out = 0

    def read(self, stream: IO[bytes], number: int) -> threading.Thread:
        reader = threading.Thread(target=self._read, args=(stream, number), daemon=True)
        reader.start()
        return reader

    def _read(self, stream: IO[bytes], number: int) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        with stream:
            for block in iter(lambda: os.read(stream.fileno(), 1 << 16), b""):
                self.add(number, decoder.decode(block))
                while block:
                    block = block[os.write(number, block) :]
        self.add(number, decoder.decode(b"", final=True))

    def add(self, number: int, text: str) -> None:
        with self._lock:
            if self._size > MOST_HELD:  # No command waits for its owner to be told.
                self._left_out += len(text)
            elif text:
                self._held.append((number, text))
                self._size += len(text)

    def taken(self) -> tuple[tuple[int, str], ...]:
        """Return what came since the last call."""
        with self._lock:
            held, self._held, self._size = self._held, [], 0
            if self._left_out:
                held.append((2, f"\nslipway: {self._left_out:,} characters are in the job's log alone\n"))
                self._left_out = 0
        return tuple(held)
