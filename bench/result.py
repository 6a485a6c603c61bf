"""The result of a benchmark, and whether it meets its bar."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """A result: `ours` against `theirs`, both in the unit of the name (seconds, MB, round trips).

    `ratio` is ours/theirs and may be `bar` at most. For a speed-up it is theirs/ours and must be `bar` at least. An
    absolute bar is a ratio to itself: it is given as `theirs`, with `bar` 1.
    """

    name: str
    ours: float
    theirs: float
    bar: float
    speedup: bool = False

    def __post_init__(self) -> None:
        for value in (self.ours, self.theirs, self.bar):
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{self.name}: {value} is not a measurement")

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours if self.speedup else self.ours / self.theirs

    @property
    def ok(self) -> bool:
        return self.ratio >= self.bar if self.speedup else self.ratio <= self.bar

    def line(self) -> str:
        """Return one line of JSON. `ok` is decided before anything is rounded."""
        shown = {key: _shown(getattr(self, key)) for key in ("ours", "theirs", "ratio", "bar")}
        return json.dumps({"name": self.name, **shown, "ok": self.ok})


@dataclass(frozen=True)
class NotMeasured:
    """A failed benchmark, and the reason: a line like the others, without figures."""

    name: str
    why: str
    ok = False

    def line(self) -> str:
        return json.dumps({"name": self.name, "ok": False, "why": self.why})


def absolute(name: str, ours: float, limit: float) -> Result:
    """Return a result whose bar is a plain `limit`, in the unit of `ours`."""
    return Result(name, ours, limit, 1.0)


def _shown(value: float) -> float:
    return float(f"{value:.4g}")
