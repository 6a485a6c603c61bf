"""What a quota verdict is made of and what it comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from slipway.machines import MachineGroup

ON_DEMAND = "on-demand"
PREEMPTIBLE = "preemptible"


@dataclass(frozen=True)
class Need:
    """An amount of a metric (without the service's name): GPUs, vCPUs or GB.

    `documented` is False where the metric's name is inferred: when the service does not list it, it is not checked.
    """

    metric: str
    amount: int
    documented: bool = True


@dataclass(frozen=True)
class OfferDraw:
    """What an offer of a template draws with the default parameters, beside the pools.

    One by `pool` draws nothing (`machines` empty): the pool holds the machines already. `label` is the capacity type
    and what tells the offer from others of that type. `refusal`: why it can't be taken, whatever the quota; `intended`
    where the template itself says so. `doubtful`: no page says whether it draws them (reservations), so lacking quota
    is told and no hindrance.
    """

    template: str
    label: str
    machines: tuple[MachineGroup, ...] = ()
    preemptible: bool = False
    refusal: str = ""
    doubtful: bool = False
    intended: bool = False


@dataclass(frozen=True)
class OfferVerdict:
    """`why` says in words why the offer is not available; of one that is, what could not be told. `intended`: the
    template means it so, which is nobody's news. `lacks_quota`: it is not available for lack of quota alone, which may
    be granted any day.
    """

    available: bool
    why: str = ""
    intended: bool = False
    lacks_quota: bool = False


LineState = Literal["ok", "tight", "short", "unknown", "unchecked"]
"""`tight`: it suffices now, and not at the maximum or for a rollover. `unchecked`: the service lists no such quota."""


@dataclass(frozen=True)
class Line:
    """A row of the table: one metric in one region, of pools or (`now` is None) of offers.

    `now`: what this stack's clusters hold or will hold after this `up` at their initial sizes; `ceiling`: at their
    maximum; for offers, what the largest draws. `limit` None is unknown, -1 unlimited. `retiring`: what old
    generations of this stack draw until they are gone. `others`: all else that draws in the region, clusters of other
    stacks and jobs beside the pools. `enough`: the limit that would do; `short`: by how much it does not suffice now.
    `drawn`: at most, by cluster/pool or by template and offer. `label`, `who`, `verdict` and `increase` are for people.
    """

    metric: str
    region: str
    namespace: str
    label: str
    who: str
    now: int | None
    ceiling: int
    limit: int | None
    others: int | None
    verdict: str
    increase: str = ""
    retiring: int | None = 0
    enough: int = 0
    state: LineState = "ok"
    short: int = 0
    drawn: Mapping[str, int] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What tells it from the other lines of its region."""
        return self.metric if self.now is not None else f"{self.metric} offers"


@dataclass(frozen=True)
class QuotaReport:
    """`errors` stop the deployment. `offers` by template, then label."""

    lines: tuple[Line, ...] = ()
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    offers: Mapping[str, Mapping[str, OfferVerdict]] = field(default_factory=dict)
