"""A value of an accepted submission that differs: its text and its severity. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from slipway.answers import submissions as asked
from slipway.answers.answer import Value
from slipway.answers.submission_sentences import sentence
from slipway.base.formatting import exact_span, join, sides
from slipway.model.findings.finding import Grade
from slipway.model.own_settings import OF_SECRET
from slipway.model.prices import is_steep

_FORMATS: Mapping[str, Callable[[float], str]] = {
    asked.TIME_LIMIT: exact_span,
    asked.GPU_MEMORY: lambda memory: f"{memory:.0f} GB",
    asked.PRICE: lambda price: f"${price:,.2f}/h",
    asked.RUN_COST: lambda costs: f"${costs:,.2f}",
}
_SHORT_DIGEST = re.compile(r"[^\s,]*/([^/\s]+@sha256:[0-9a-f]{7})[0-9a-f]*")
_SHAPE = re.compile(r" on [\w-]+(?:, [\w-]+ × \w+)*(?= \d)")
"""Machines in the label of a capacity type that has a wait."""
_GAINS: Mapping[str, int] = {asked.PRICE: -1, asked.TIME_LIMIT: 1, asked.GPU_MEMORY: 1, asked.RESERVED: 1}
"""The direction in which a change of a number harms no submission."""
_MUCH = 1.5
"""A price that is more than this many times as high is shown first."""
_HARMLESS = (asked.EXPERIMENT, asked.RESTART, asked.LAUNCHER)


@dataclass(frozen=True)
class ChangedValue:
    """A value of a submission that is accepted before and after; None on a side that does not have it."""

    name: str
    old: Value
    new: Value
    #: The submission has no flags, or somebody made it in the last days.
    is_used: bool

    def text(self, longest: int = 200) -> str:
        """Return ``need 1 × n1-standard-8, not 1 × n1-standard-4``, each side cut to about `longest`."""
        if self.name == asked.ORDER:
            return self._order.text
        before, after = sides(*self._sides, longest)
        return sentence(self.name, before if self.old is not None else None, after if self.new is not None else None)

    @property
    def _sides(self) -> tuple[str, str]:
        before = _shown(self.name, self.old)
        after = _shown(self.name, self.new)
        if self.name == asked.IMAGE:
            return _SHORT_DIGEST.sub(r"\1", before), _SHORT_DIGEST.sub(r"\1", after)
        # Accounts of one project differ in their names alone.
        is_account = self.name == asked.ACCOUNT and before.partition("@")[2] == after.partition("@")[2]
        if is_account:
            return before.partition("@")[0], after.partition("@")[0]
        return before, after

    @property
    def grade(self) -> Grade:
        if self.name == asked.RUN_COST:
            costs = [Decimal(str(cost or 0)) for cost in (self.old, self.new)]
            return Grade.WARNING if is_steep(*costs) else Grade.NOTE
        if self.name in _HARMLESS or self._improves:
            return Grade.NOTE
        # The secret has a value of its own.
        if self.name.startswith(asked.READER) and None in (self.old, self.new):
            return Grade.NOTE
        is_lost = self.name.endswith(OF_SECRET) and self.new is None
        if self.is_used and (is_lost or self.name == asked.ACCOUNT):
            return Grade.BLOCKING
        return Grade.WARNING

    @property
    def weight(self) -> tuple[Grade, bool]:
        """The severity, and whether the submission loses a capacity type or an argument, or costs much more."""
        is_loss = self.name.startswith(asked.NOT_PASSED)
        if self.name == asked.PRICE and None not in (self.old, self.new):
            is_loss = float(str(self.new)) > _MUCH * float(str(self.old))
        if self.name == asked.ORDER:
            is_loss = bool(self._order.lost or self._order.first or self._order.is_elsewhere)
        return self.grade, is_loss

    @property
    def _improves(self) -> bool:
        """Return whether the change can't harm a submission."""
        if self.name == asked.COUNTS_FOR:
            return "enforced" not in str(self.new)
        if self.name.startswith(asked.NOT_PASSED):
            return self.new is None
        if self.name == asked.WAITS:
            return _SHAPE.sub("", str(self.old)) == _SHAPE.sub("", str(self.new))
        if self.old is None:
            # A new parameter, and an argument that passes it.
            return self.name.startswith("default of ") or "${" in str(self.new)
        if self.name in _GAINS and self.new is not None:
            return _GAINS[self.name] * (float(str(self.new)) - float(str(self.old))) > 0
        is_appended = self.name == asked.ORDER and str(self.new).startswith(str(self.old))
        return is_appended and not self._order.is_elsewhere

    @property
    def _order(self) -> _Order:
        return _order(str(self.old).split(asked.THEN), str(self.new).split(asked.THEN))


@dataclass(frozen=True)
class _Order:
    """A changed order of the labels of capacity types."""

    was: list[str]
    now: list[str]
    lost: list[str]
    #: The label that is tried first and was not; empty if the first one is left.
    first: str
    #: The other new labels.
    added: list[str]

    @property
    def is_elsewhere(self) -> bool:
        """Return whether a new label is of another region, which has other data and results."""
        return any(" in " in label for label in (self.first, *self.added))

    @property
    def text(self) -> str:
        """Return `no longer run on pool h100, run on spot first`, or `run on spot before pool h100`."""
        parts = []
        if self.lost:
            parts.append(f"no longer run on {join(self.lost)}")
        if self.first:
            parts.append(f"run on {self.first} first")
        if self.added:
            parts.append(f"also run on {join(self.added)}")
        return ", ".join(parts) or _moved(self.was, self.now)


def _order(was: list[str], now: list[str]) -> _Order:
    added = list(now)
    kept = []
    for label in was:
        same = next((other for other in added if _is_same(label, other)), None)
        if same is not None:
            added.remove(same)
            kept.append(label)
    lost = [label for label in was if label not in kept]
    is_first_kept = bool(kept) and _is_same(kept[0], now[0])
    first = "" if is_first_kept else now[0]
    return _Order(was, now, lost, first, [label for label in added if label != now[0]])


def _moved(was: list[str], now: list[str]) -> str:
    """Return which label is now before another one; the whole order if only names of machines were added."""
    for before, after in zip(was, now, strict=True):
        if not _is_same(before, after):
            return f"run on {after} before {before}"
    return f"run on {asked.THEN.join(now)}"


def _is_same(label: str, other: str) -> bool:
    """Return whether two labels mean the same: with several machine shapes, `spot` is `spot on a2-highgpu-1g`."""
    shorter, longer = sorted((label, other), key=len)
    return longer == shorter or longer.startswith(f"{shorter} on ")


def _shown(name: str, value: Value) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith(OF_SECRET):
        return str(value).rpartition("/secrets/")[2]
    if name in _FORMATS:
        return _FORMATS[name](float(value))
    return str(value) or "none"
