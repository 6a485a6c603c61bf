"""A request for more quota: the stack's declaration, and its outcome. In the API it is a quota preference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from slipway.base.codec import MaybeText
from slipway.google.live import UNLIMITED, QuotaLimit
from slipway.google.quotas import QuotaPreference

RequestState = Literal["new", "pending", "granted", "partly", "hopeless"]
"""The state of a request. `new`: this deployment asks. `hopeless`: nothing was granted, or no increase is possible."""


@dataclass(frozen=True)
class Requested:
    """A request for a higher limit and its state; -1 is unlimited. `asked` is None without a request, as it is
    hopeless.

    `granted` is None until a value is granted. `why`: the reason for the missing part.
    """

    state: RequestState
    asked: int | None
    granted: int | None = None
    why: MaybeText = ""

    def __str__(self) -> str:
        """Return `asked for 16: pending`, `asked for 16: 12 granted (quota is scarce)`."""
        if self.asked is None:
            return self.why
        asked = limit_in_words(self.asked)
        if self.state == "new":
            return f"this deployment asks for {asked}"
        if self.state in ("pending", "granted"):
            return f"asked for {asked}: {self.state}"
        return f"asked for {asked}: {f'{self.granted:,}' if self.granted else 'nothing'} granted ({self.why})"


def limit_in_words(limit: int) -> str:
    return "no limit" if limit == UNLIMITED else f"{limit:,}"


def lacks(limit: QuotaLimit, amount: int) -> bool:
    """Tell whether a limit is too small for an amount."""
    return limit.limit != UNLIMITED and amount > limit.limit


def more(one: int, other: int) -> bool:
    """Tell whether one limit is above another."""
    return other != UNLIMITED and (one == UNLIMITED or one > other)


@dataclass(frozen=True)
class QuotaRequest:
    """A quota preference that a stack declares. `value`: the limit that it asks for; `wanted`: the sufficient one.

    `id` is the preference's. `there` is its present state; None where there is none, or it was not read. `known`: the
    engine's state has it. An existing one that is not known is adopted unchanged; the deployment after that may raise
    it.
    """

    metric: str
    region: str
    quota_id: str
    id: str
    value: int
    wanted: int = 0
    there: QuotaPreference | None = None
    known: bool = False

    @property
    def adopts(self) -> bool:
        return self.there is not None and not self.known

    @property
    def sends(self) -> bool:
        """Whether this deployment asks for something new."""
        return self.there.preferred != self.value if self.there else not self.known

    @property
    def open(self) -> bool:
        """Whether more may be granted without an action beyond the next deployment."""
        return self.sends or more(self.wanted, self.value) or (self.there is not None and self.there.reconciling)
