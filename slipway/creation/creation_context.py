"""Needs of a creation: the cluster to be made, the world, patience; how others are removed for it, and the last words
when it is not tried any more."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from slipway import unfinished_jobs
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.failures import CloudError, NotFound
from slipway.cloud.vertex import Vertex
from slipway.deployment.removal import Removal
from slipway.errors import PolicyError, ResourceError, SlipwayError
from slipway.findings.finding import Subject
from slipway.findings.kinds import KINDS
from slipway.labels import HASH_LABEL, NAME_LABEL
from slipway.live import Unknown, Use

FAILED = "ended in ERROR"
NEXT_RUN = (
    "run pulumi up again: it finds the cluster by its name and labels, waits for it (up to two hours), "
    "and takes it as it is"
)


@dataclass(frozen=True, eq=False)
class NewCluster:
    """A cluster to be made. `known_by` are the labels that prove it ours; `failed` are earlier ones to clear away.

    `machines` in words are what it needs. `within`: seconds for which it is tried again, where the stack file says so.
    `alternatives` may be made in its place, in this order; `ordinal` is an alternative's own, 0 for none. `meanwhile`
    says what there is until it is made: its predecessor, or none. `region`: where, if not in the stack's own; the
    `failed` ones are full names.
    """

    id: str
    body: Mapping[str, Any]
    known_by: Mapping[str, str]
    failed: tuple[str, ...] = ()
    machines: str = ""
    within: float | None = None
    alternatives: tuple[NewCluster, ...] = ()
    ordinal: int = 0
    meanwhile: str = ""
    region: str = ""

    @property
    def called(self) -> str:
        return f"{self.id} (alternative {self.ordinal})" if self.ordinal else self.id


@dataclass(frozen=True)
class CreationPolicy:
    """Seconds. No new try is begun after `refused` of them; one that was accepted is waited for, up to `made`.

    `unreachable` is how long nothing may answer at all; pauses begin with `first` and double, up to `look` between two
    looks at a cluster and `again` between two tries. `cleared` is how long a failed one may take to be gone.
    """

    refused: float = 15 * 60
    made: float = 2 * 3600
    unreachable: float = 60
    cleared: float = 5 * 60
    first: float = 1.0
    look: float = 10.0
    again: float = 60.0


@dataclass(frozen=True)
class CreationContext:
    """The world of a creation. `use` tells what is on a cluster, by its full name.

    `clock` is for people.
    """

    vertex: Vertex
    use: Callable[[str], Use | Unknown]
    say: Callable[[str], None]
    warn: Callable[[str], None]
    now: Callable[[], float] = time.monotonic
    pause: Callable[[float], object] = time.sleep
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def removal(self, clusters: Iterable[PersistentResource], *, instead: str = "", **how: Any) -> Removal:
        """The removal of these clusters; `instead` is for `must_be_idle`, the rest for the removal itself."""

        def must_be_idle(names: Sequence[str]) -> None:
            for name in names:
                stays = f"cluster {name.rsplit('/', 1)[-1]} is not deleted"
                unfinished_jobs.must_be_idle(self.use(name), stays, then="then pulumi up again", instead=instead)

        names = tuple(one.name for one in clusters)
        return Removal(names, lambda _: self.vertex, must_be_idle, self.say, self.warn, self.now, self.pause, **how)

    def clear(self, name: str, known_by: Mapping[str, str], within: float) -> str:
        """Removes a failed cluster (its id or full name), within so many seconds. Only one of ours, in ERROR, without
        jobs; else it says what stays, and why.

        It may be of another generation than `known_by` tells, not of another stack or name.
        """
        try:
            found = self.vertex.persistent_resource(name)
            if found.state not in ("ERROR", "STOPPING"):
                return ""
            if any(found.labels.get(key) != value for key, value in known_by.items() if key != HASH_LABEL):
                raise ResourceError("it lacks the labels of this stack")
            why = f"it failed ({found.error or 'for no reason given'}) and holds nothing"
            self.removal([found], why=why, within=within, deletable=frozenset({"ERROR"})).run()
        except NotFound:
            pass
        except SlipwayError as error:
            why = error.why if isinstance(error, CloudError) else error.what
            id_ = name.rsplit("/", 1)[-1]
            left = f"the failed cluster {id_} stays, holds its name and no machines ({why})"
            self.warn(f"{left}; the next pulumi up makes another and clears it")
            return left
        return ""


class AgainError(Exception):
    """Not made this time; another try may do. `what` happened, `why` in the service's words."""

    def __init__(self, what: str, why: str, error: CloudError | None = None) -> None:
        super().__init__(what)
        self.what, self.why, self.error = what, why, error

    @property
    def exhausted(self) -> bool:
        return self.error is not None and self.error.status == 429

    @property
    def settled(self) -> bool:
        """Nothing is there and nothing is coming, for want of machines or of quota: others may be had."""
        return self.what == FAILED or self.exhausted


def given_up(
    last: NewCluster, tried: Mapping[NewCluster, AgainError], doubt: bool, times: str, rest: str
) -> SlipwayError:
    """`last` was tried last, `tried` are it and the others, in order, with what became of each the last time.

    `doubt`: it may have been made, unseen. `times` tells how often and how long, `rest` what stays behind.
    """
    trouble = tried[last]
    if doubt:
        return ResourceError(
            f"cluster {last.id} may have been made: the request was sent, and no answer told ({times})",
            why=trouble.why,
            fix=f"slipway pools shows whether it is there (it is billed from its start); {NEXT_RUN}",
        )
    exhausted = all(one.exhausted for one in tried.values())
    ask = "slipway quota shows limits and use; then " if exhausted else ""
    first = next(iter(tried))
    how, why = f"it {trouble.what}", trouble.why
    what = f"cluster {last.id} could not be made: {how}"
    told = f"cluster `{first.id}` could not be made: {how} ({why})"
    if len(tried) > 1:
        others = len(tried) - 1
        how = "nor could its alternative" if others == 1 else f"nor could any of its {others} alternatives"
        what = f"cluster {first.id} could not be made, {how}"
        options = [f"{option.called}, {option.machines}: it {one.what}: {one.why}" for option, one in tried.items()]
        why = "\n".join(options)
        told = f"cluster `{first.id}` could not be made, {how}: {'; '.join(one.rstrip('.') for one in options)}"
    out = KINDS["stock-out"].of(Subject("cluster", first.known_by[NAME_LABEL]), told, id=first.id, how=how)
    return (PolicyError if exhausted else ResourceError)(
        f"{what} ({times})",
        why=why,
        fix=f"{ask}run pulumi up again, which tries again; or give it more time in the stack file (`createWithin`), or "
        f"other machines or another region (`alternatives`, or in the place of these); {rest}"
        + (f"\n{last.meanwhile}" if last.meanwhile else ""),
        found=(out,) if trouble.settled else (),
    )
