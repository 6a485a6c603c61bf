"""The replicas of a torchrun job as real processes, each on an address of its own, found through CLUSTER_SPEC."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
from pathlib import Path

import psutil

from .pytorch import flags, interpreter, settings


class Replicas:
    """One job of a chief and some workers, by rank. Each of them starts `module`."""

    def __init__(self, folder: Path, module: str, number: int, *more: str) -> None:
        self._folder, self._more, self._module = folder, more, module
        network = f"127.{random.randrange(64, 100)}.{random.randrange(1, 255)}"
        self._places = [("workerpool0", 0), *(("workerpool1", index) for index in range(number - 1))]
        cluster: dict[str, list[str]] = {"workerpool0": [], "workerpool1": []}
        for last, (pool, _) in enumerate(self._places, 1):
            cluster[pool].append(f"{network}.{last}:2222")
        self._shared = {"cluster": cluster, "open_ports": [random.randrange(10_000, 30_000)]}
        self.running = [self._started(rank) for rank in range(number)]

    def _started(self, rank: int) -> subprocess.Popen[str]:
        pool, index = self._places[rank]
        spec = {**self._shared, "task": {"type": pool, "index": index}}
        python = interpreter(self._folder / "images")
        return subprocess.Popen(
            [python, "-m", self._module, *flags(), f"--output={self._folder}", *self._more],
            env=settings(CLUSTER_SPEC=json.dumps(spec), CLOUD_ML_JOB_ID="7"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def die(self, rank: int) -> None:
        """Kill a replica like a dying machine: the process and all that it started."""
        process = self.running[rank]
        if process.poll() is None:
            for child in psutil.Process(process.pid).children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):  # a process that had just ended by itself
                    child.kill()
            process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()

    def heard(self, rank: int, words: str) -> None:
        """Read a replica's output up to a line with these words."""
        said = []
        stream = self.running[rank].stdout
        assert stream is not None
        for line in stream:
            said.append(line)
            if words in line:
                return
        raise AssertionError(f"it never said {words!r}:\n{''.join(said)}")

    def finished(self) -> None:
        """Wait until all have ended well."""
        said = [process.communicate()[0] for process in self.running]
        assert {process.returncode for process in self.running} == {0}, "\n".join(said)
