"""Versions of the Pulumi engine: parsed, compared, and the one this checkout is pinned to."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FORM = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")


@dataclass(frozen=True)
class Version:
    """A semantic version. Build metadata is dropped, as it has no part in the order."""

    major: int
    minor: int
    patch: int
    prerelease: str = ""

    def at_least(self, other: Version) -> bool:
        """Return whether this version is `other` or newer; 3.259.0-alpha.1 comes before 3.259.0."""
        return self._order() >= other._order()

    def _order(self) -> tuple[int, int, int, bool]:
        return self.major, self.minor, self.patch, not self.prerelease

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}" + (f"-{self.prerelease}" if self.prerelease else "")


def parse(text: str) -> Version | None:
    """Return the version in the output of `pulumi version` (`v3.259.0`), or None when that is not a version."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        return None
    return Version(int(match[1]), int(match[2]), int(match[3]), match[4] or "")


# The oldest engine with everything the program uses, and the one that is downloaded or built.
PINNED = Version(3, 259, 0)
