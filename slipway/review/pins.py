"""The pins of a team's repository: the slipway that it names is its guard and its judge, so a change of it is reported.
Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import short
from slipway.installation import NAME
from slipway.review.reach import PINS, lines, package

_NAMED = re.compile(r"([A-Za-z0-9][\w.-]*)\s*(\[[^]]*\])?\s*(.*)", re.DOTALL)
_HASH = re.compile(r"--hash[ =]\s*(\S+)|#(?:.*&)?sha256=([0-9a-f]{64})")
_WHEEL = re.compile(r"slipway_vertex-([^-/]+)-[^/]*\.whl")
_EXACT = re.compile(r"===?\s*([\w.!+]+)")
_REVISION = re.compile(r"git\+[^#]*@([\w./-]+)")
_PLACE = re.compile(r"[./]|[a-z+]+://")
_OURS = re.compile(r"\[(deploy|local)\]$")
_LONGEST = 160


@dataclass(frozen=True)
class Pin:
    """A requirement: its package, the pinned version or address, and its possible hashes."""

    name: str
    asks: str
    hashes: frozenset[str] = frozenset()

    @property
    def version(self) -> str:
        """The version, as its name or address tells it; empty where neither does."""
        found = _WHEEL.search(self.asks) or _EXACT.match(self.asks)
        return found[1] if found else ""

    @property
    def sha256(self) -> str:
        """The hash of the one file that this can be; empty where there may be several, or any."""
        (one, *others) = sorted(self.hashes) or [""]
        return "" if others else one.removeprefix("sha256:")

    @property
    def address(self) -> str:
        """The address of the one file; empty for a package from an index or from git."""
        alone = re.split(r"\s+;", self.asks, maxsplit=1)[0]
        address = alone.removeprefix("@").strip().partition("#")[0]
        return address if re.match(r"(file|https?)://", address) else ""

    def __str__(self) -> str:
        """Return `0.2.0`, or `3f2a91c0b7d4` of git, or the address."""
        if self.version:
            return self.version
        found = _REVISION.search(self.asks)
        return found[1][:12] if found else short(self.asks, _LONGEST // 4) or "any version"


@dataclass(frozen=True)
class Pins:
    """The pins of `requirements.txt` and its included files, before a change and after it. `notes`: of the releases
    between the two, a line each; `unnoted`: the reason why there are none."""

    before: Mapping[str, Pin]
    after: Mapping[str, Pin]
    notes: tuple[str, ...] = ()
    unnoted: str = ""

    @property
    def slipway(self) -> tuple[Pin | None, Pin | None] | None:
        """Slipway's own pins, where they differ."""
        both = self.before.get(NAME), self.after.get(NAME)
        return None if both[0] == both[1] else both

    @property
    def others(self) -> tuple[str, ...]:
        """The other packages that differ, a line each."""
        return tuple(self._others())

    def _others(self) -> Iterator[str]:
        for name in sorted({*self.before, *self.after} - {NAME}):
            was, becomes = self.before.get(name), self.after.get(name)
            if was != becomes:
                told = [f"`{one}`" if one else "none" for one in (was, becomes)]
                same = was and becomes and str(was) == str(becomes)
                yield f"`{name}` " + (f"{told[0]}, other files" if same else " → ".join(told))


def read(text: str) -> dict[str, Pin]:
    """Return pins by package, as pip names them; a requirement without a name is listed by its address."""
    found: dict[str, Pin] = {}
    for bare in lines(text):
        if bare.startswith("-") and not re.match(r"(-e|--editable)\b", bare):
            continue
        hashes = frozenset(f"sha256:{one[2]}" if one[2] else one[1] for one in _HASH.finditer(bare))
        pin = _pin(re.sub(r"\s*--hash[ =]\s*\S+", "", bare), hashes)
        found[pin.name] = pin
    return found


def _pin(text: str, hashes: frozenset[str]) -> Pin:
    plain = re.sub(r"^(-e|--editable)[ =]*", "", text)
    if _PLACE.match(plain):
        return Pin(NAME if _WHEEL.search(plain) or _OURS.search(plain) else plain, text, hashes)
    named = _NAMED.fullmatch(plain)
    if named is None:
        return Pin(plain, text, hashes)
    return Pin(package(named[1]), named[3].strip(), hashes)


def slipway_changed(pins: Pins) -> Iterator[Finding]:
    if pins.slipway is None:
        return
    was, becomes = pins.slipway
    subject = Subject("program", "slipway")
    if becomes is None:
        words = "Slipway is no package of `requirements.txt` any more, so nothing that deploys or judges is known"
        yield KINDS["slipway-changed"].of(subject, words)
        return
    before = f"{was} → " if was else ""
    same = was is not None and str(was) == str(becomes)
    words = f"Slipway {becomes} comes from elsewhere" if same else f"Slipway becomes another, {before}{becomes}"
    judge = f"; this review is {was}'s" if was and not same else ""
    asks = [f"{when} `{short(one.asks, _LONGEST)}`" for when, one in (("before:", was), ("now:", becomes)) if one]
    unhashed = [] if becomes.hashes else ["No hash names its files, so they may become others unseen"]
    untold = [f"What is new in it can't be told: {pins.unnoted}"] if pins.unnoted else []
    yield KINDS["slipway-changed"].of(
        subject,
        words,
        clause=words,
        more=f": it guards deletions and judges changes from the merge on{judge}",
        details=(*asks, *unhashed, *pins.notes, *untold),
        field=PINS,
    )
