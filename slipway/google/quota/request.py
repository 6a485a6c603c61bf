"""A request for more quota: the stack's declaration, and its outcome. In the API it is a quota preference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from slipway.base.codec import MaybeText
from slipway.google.quotas import QuotaPreference
from slipway.model.draw import UNLIMITED

RequestState = Literal["new", "pending", "granted", "partly", "hopeless"]
"""The state of a request. `new`: this deployment asks. `hopeless`: nothing was granted, or no increase is possible."""


@dataclass(frozen=True)
class Requested:
    """A request for a higher limit and its state; -1 is unlimited."""

    state: RequestState
    #: None where nothing was requested, as that is hopeless.
    asked: int | None
    #: None until a value is granted.
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


def more(limit: int, other: int) -> bool:
    """Tell whether one limit is above another."""
    return other != UNLIMITED and (limit == UNLIMITED or limit > other)


@dataclass(frozen=True)
class QuotaRequest:
    """A quota preference that a stack declares.

    An existing one that the engine does not know is adopted unchanged; the deployment after that may raise it.
    """

    metric: str
    region: str
    quota_id: str
    #: The preference's own.
    id: str
    #: The limit that it asks for.
    value: int
    #: The sufficient limit.
    wanted: int = 0
    #: The existing preference; None where there is none, or it was not read.
    there: QuotaPreference | None = None
    #: The engine's state has it.
    known: bool = False

    @property
    def adopts(self) -> bool:
        return self.there is not None and not self.known

    @property
    def sends(self) -> bool:
        """True where this deployment asks for something new."""
        return self.there.preferred != self.value if self.there else not self.known

    @property
    def open(self) -> bool:
        """True where more may be granted without an action beyond the next deployment."""
        return self.sends or more(self.wanted, self.value) or (self.there is not None and self.there.reconciling)
