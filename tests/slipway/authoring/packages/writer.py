"""Who writes a job's files: a process that has one open, and the time of a file's last writing."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

OPENS = """
import sys
with open(sys.argv[1], sys.argv[2]) as file:
    for line in sys.stdin:
        file.seek(0, int(sys.argv[3]))
        file.write(line)
        file.flush()
        print("written", flush=True)
"""


@dataclass
class Writer:
    """A process that has a file open, and writes what it is told: at its end, or at its start (`whence` 0)."""

    process: subprocess.Popen[str]

    @classmethod
    def of(cls, path: Path, mode: str, whence: int = 2) -> Writer:
        words = [sys.executable, "-c", OPENS, str(path), mode, str(whence)]
        return cls(subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))

    def write(self, text: str) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(text)
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "written\n"

    def close(self) -> None:
        self.process.communicate()


def age(path: Path, seconds: float) -> None:
    """Let a file be as old as that."""
    status = path.stat()
    then = status.st_mtime_ns - int(seconds * 1e9)
    os.utime(path, ns=(then, then))
