"""`Draw`: an amount of quota beside its limit and all else that is in use: the one comparison behind every verdict."""

from __future__ import annotations

from dataclasses import dataclass

UNLIMITED = -1


@dataclass(frozen=True)
class Draw:
    amount: int
    #: UNLIMITED for none, None unknown.
    limit: int | None
    #: The draw of all others; None if unknown.
    used: int | None = 0

    @property
    def enough(self) -> int:
        """The limit that would do, as far as it is known what is in use."""
        return self.amount + (self.used or 0)

    @property
    def room(self) -> int | None:
        """The amount that can be had; None without a limit, and where it can't be told."""
        if self.limit is None or self.limit == UNLIMITED or self.used is None:
            return None
        return max(0, self.limit - self.used)

    @property
    def short(self) -> int:
        """The amount that is missing, as far as it is known; 0 where nothing is drawn."""
        if self.limit is None or self.limit == UNLIMITED or not self.amount:
            return 0
        return max(0, self.enough - self.limit)

    @property
    def never(self) -> bool:
        """True where the limit alone is too small, whatever is in use."""
        return Draw(self.amount, self.limit).short > 0
