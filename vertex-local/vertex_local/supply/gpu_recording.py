"""Recordings of GPUs, as `nvidia-smi --query-gpu` writes them, for a job's GPUs to show, as there are none here."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

TIMESTAMP, INDEX, USE, MEMORY, MEMORY_OF = ("timestamp", "index", "utilization.gpu", "memory.used", "memory.total")
FIELDS = (TIMESTAMP, INDEX, USE, MEMORY, MEMORY_OF)
"""The columns that a recording must have, in any order."""
_FORM = "%Y/%m/%d %H:%M:%S.%f"
_MOST_GPUS = 64
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)(?: (?:%|MiB))?")


@dataclass(frozen=True)
class GpuSample:
    """A sample."""

    #: Since the first one.
    after_s: float
    #: It counts from 0.
    gpu: int
    #: A fraction, as is the memory.
    use: float
    memory: float


@dataclass(frozen=True)
class GpuRecording:
    """A recording of at least one sample, the oldest first."""

    samples: tuple[GpuSample, ...]

    def of(self, gpu: int) -> tuple[GpuSample, ...]:
        """Return the recorded samples of one GPU; beyond the recorded GPUs they start again with the first."""
        count = max(sample.gpu for sample in self.samples) + 1
        return tuple(sample for sample in self.samples if sample.gpu == gpu % count)


@lru_cache(maxsize=16)
def parse(text: str) -> GpuRecording:
    """Return the recording in CSV with a header; lines that begin with # are remarks, and a sample that a GPU does not
    report (`[N/A]`) is left out. Raises ValueError, which names the line."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()[:1] not in ("", "#")]
    rows = list(csv.reader((line for _, line in lines), skipinitialspace=True))
    names = [name.partition(" [")[0] for name in rows[0]] if rows else []
    if missing := [field for field in FIELDS if field not in names]:
        raise ValueError(f"line {lines[0][0] if lines else 1}: no column {', '.join(missing)}")
    readings: list[tuple[datetime, int, float, float]] = []
    for (number, _), row in zip(lines[1:], rows[1:], strict=True):
        try:
            readings += _sample(dict(zip(names, row, strict=True)))
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
    if not readings:
        raise ValueError("no GPU was measured")
    begin = min(at for at, _, _, _ in readings)
    samples = (GpuSample((at - begin).total_seconds(), gpu, *shares) for at, gpu, *shares in sorted(readings))
    return GpuRecording(tuple(samples))


def _sample(row: Mapping[str, str]) -> Sequence[tuple[datetime, int, float, float]]:
    use, used, whole = (_AMOUNT.fullmatch(row[name]) for name in (USE, MEMORY, MEMORY_OF))
    at, gpu = datetime.strptime(row[TIMESTAMP], _FORM), int(row[INDEX])
    if not use or not used or not whole:
        return ()
    of = float(whole[1])
    fractions = (float(use[1]) / 100, float(used[1]) / of if of else 2.0)
    if not 0 <= gpu < _MOST_GPUS or not all(0 <= fraction <= 1 for fraction in fractions):
        raise ValueError("a use of more than all there is, or no GPU's number")
    return ((at, gpu, *fractions),)
