"""The one way in which Slipway removes clusters: withdraw them from the catalog, let time pass, ask who uses them,
delete them and see them gone, or offer the remaining ones again.

The engine deletes its own behind the guard, which lets time pass in the same way. After a kill the next run continues:
the catalog has the withdrawal, and the cloud tells what was deleted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slipway.base.clock import poll
from slipway.base.errors import ConfigError, ResourceError, WaitTimeout
from slipway.base.formatting import join, last_part, seconds, span
from slipway.deploying.deployment.patience import patiently
from slipway.deploying.generations.generations import DELETABLE_STATES
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource
from slipway.google.failures import CloudError, Conflict, NotFound, Refused
from slipway.google.live import Unknown
from slipway.google.vertex import Vertex

VARIABLE = "SLIPWAY_GRACE"
USUAL_S = 120.0


class GracePeriod:
    """The time for which a cluster must be out of the catalog before it may be deleted.

    A job that was sent by the catalog may be accepted, and not placed or listed yet: nothing shows it.
    """

    def __init__(self, wanted: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin. `wanted`: the time in seconds. `clock`: returns seconds, from any start, and never goes back."""
        self._wanted, self._clock = wanted, clock
        self._asked: float | None = None  # when something was first asked about
        self._published: PublishedCatalog | None = None  # the catalog at the beginning, and since when it was there
        self._published_at = 0.0
        self._keeps: frozenset[str] = frozenset()  # the bucket and the accounts of this deployment
        self._withdrawn: dict[str, float] = {}  # when each name was withdrawn

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> GracePeriod:
        """Read the time from the environment. Raises ConfigError for an invalid duration."""
        text = environ.get(VARIABLE, "").strip()
        if not text:
            return cls(USUAL_S)
        if text in ("0", "0s"):
            return cls(0.0)
        try:
            return cls(seconds(text))
        except ConfigError as error:
            raise ConfigError(
                f"{VARIABLE}: {error.what}",
                why="it is how long a cluster must be out of the catalog before it is deleted",
                fix=f"export {VARIABLE}=2m (0 waits for nothing), or unset it",
            ) from error

    def began_with(self, catalog: PublishedCatalog | Unknown | None, *keeps: str) -> None:
        """Note the catalog at the beginning of this deployment: clusters that it lacked have been withdrawn for as long
        as it was published. `keeps`: the bucket where this deployment publishes, and its accounts."""
        self._keeps = frozenset(keeps)
        if isinstance(catalog, PublishedCatalog) and catalog.age is not None and not catalog.damage:
            self._published, self._published_at = catalog, self._clock() - catalog.age.total_seconds()

    def replaced(self, name: str) -> bool:
        """Tell whether this deployment, which goes on, no longer has a bucket or an account of this name."""
        return bool(self._keeps) and name not in self._keeps

    def withdraw(self, names: Iterable[str]) -> None:
        now = self._clock()
        self._withdrawn |= {name: now for name in names if name not in self._withdrawn}

    def offer_again(self, names: Iterable[str]) -> None:
        for name in names:
            self._withdrawn.pop(name, None)

    def left(self, name: str) -> float:
        """Return the seconds to wait for a cluster, an account or a bucket, 0 when its time is over.

        The time begins with its own withdrawal. Otherwise it begins with the first question about any of the others in
        this deployment. That comes after the new catalog was published; in a destruction after the catalog was deleted,
        which goes first of all.
        """
        now = self._clock()
        since = self._withdrawn.get(name)
        if since is None:
            since = self._asked = now if self._asked is None else self._asked
        if self._published is not None and not self._published.offers(name):
            since = min(since, self._published_at)
        return max(0.0, since + self._wanted - now)


if TYPE_CHECKING:
    from slipway.deploying.deployment.interim_catalog import InterimCatalog  # which the guard does not need

WITHIN_S = 2 * 3600.0
LOOK_EVERY_S = 10.0
REFUSED_S = 10 * 60.0
_FIRST_S, _TRIES = 0.5, 5
_AGAIN = "deploy again: it goes on from there"


@dataclass
class Removal:
    #: The full names of the clusters.
    names: Sequence[str]
    vertex: Vertex
    #: Raises when one of these is in use, or when that can't be told.
    must_be_idle: Callable[[Sequence[str]], object]
    say: Callable[[str], None]
    warn: Callable[[str], None]
    now: Callable[[], float]
    pause: Callable[[float], object]
    #: None, as `catalog` is, where no catalog offers the clusters.
    grace: GracePeriod | None = None
    catalog: InterimCatalog | None = None
    why: str = ""
    #: The seconds for which a cluster in another than a deletable state is waited for.
    within: float = WITHIN_S
    #: The seconds for which a request to delete is sent again to a service that is busy or out of reach.
    refused: float = REFUSED_S
    deletable: frozenset[str] = DELETABLE_STATES
    _going: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Return when all are gone. After an error the remaining ones are offered again.

        Raises the errors of `must_be_idle`, WaitTimeout, ResourceError when one lives on, CloudError.
        """
        if not self.names:
            return
        ids = [last_part(name) for name in self.names]
        try:
            self.must_be_idle(self.names)
            if self.catalog:
                self.catalog.withdraw(ids)
            if grace := self.grace:
                grace.withdraw(ids)
                let_time_pass(
                    f"{_named(ids)} {'is' if len(ids) == 1 else 'are'} deleted",
                    lambda: max(map(grace.left, ids)),
                    lambda: self.must_be_idle(self.names),
                    self.say,
                    self.pause,
                )
            self._delete_all()
        except Exception:
            left = [id_ for id_ in ids if id_ not in self._going]
            if self.grace:
                self.grace.offer_again(left)
            if self.catalog:
                self.catalog.offer_again(left)
            if left and self._going:
                self.warn(f"{_named(sorted(self._going))} {'is' if len(self._going) == 1 else 'are'} deleted already")
            raise

    def _delete_all(self) -> None:
        for attempt in range(_TRIES):
            living = self._settled()
            if not living:
                return
            for name in living:
                self._going.discard(last_part(name))
            for name in living:
                self._delete(name)
            self.pause(min(_FIRST_S * 2**attempt, LOOK_EVERY_S))
        if living := self._settled():
            raise ResourceError(
                f"{_described(living.values())} could not be deleted",
                why="; ".join(
                    f"{cluster.id}: {cluster.error or 'the service gives no reason'}" for cluster in living.values()
                ),
                fix=_AGAIN,
            )

    def _settled(self) -> dict[str, PersistentResource]:
        """Return the existing clusters, by name, when none is being made or deleted any more."""
        busy: list[PersistentResource] = []
        reported = ""
        for _ in poll(self.pause, _FIRST_S, LOOK_EVERY_S, within=self.within, now=self.now):
            living = {name: cluster for name in self.names if (cluster := self._look(name))}
            busy = [cluster for cluster in living.values() if cluster.state not in self.deletable]
            if not busy:
                return living
            if (waiting := f"waiting for {_described(busy)}") != reported:
                self.say(waiting)
                reported = waiting
        raise WaitTimeout(
            f"{_described(busy)} could not be deleted within {span(self.within)}",
            why="the service takes its time, and deletes only what has been made or has failed",
            fix=_AGAIN,
        )

    def _look(self, name: str) -> PersistentResource | None:
        """Return the cluster, or None when it is gone, which is told once."""
        try:
            return self.vertex.persistent_resource(name)
        except NotFound:
            self.names = [other for other in self.names if other != name]
            self.say(f"cluster {last_part(name)} is deleted")
            return None

    def _delete(self, name: str) -> None:
        id_ = last_part(name)
        self.say(f"deleting cluster {id_}{self.why and f': {self.why}'}")
        patiently(
            lambda: self._ask_for_the_end(name),
            lambda error, left: self.say(
                f"cluster {id_} is not deleted yet: {error.message}; asking again, for up to {span(left)}"
            ),
            within=self.refused,
            pause=self.pause,
            now=self.now,
        )

    def _ask_for_the_end(self, name: str) -> None:
        id_ = last_part(name)
        self.must_be_idle((name,))
        self._going.add(id_)
        try:
            self.vertex.delete_persistent_resource(name)
        except (NotFound, Refused, Conflict):
            return  # It is gone, or going: its state tells which, and is read next.
        except CloudError as error:
            if error.not_accepted:
                self._going.discard(id_)
            raise


def let_time_pass(
    what: str,
    left: Callable[[], float],
    ask: Callable[[], object],
    say: Callable[[str], None],
    pause: Callable[[float], object],
) -> None:
    """Wait for the seconds that are `left`, until a job that was sent by the catalog would be known, and ask again at
    each look. `what` names the coming step."""
    wait = left()
    if wait:
        say(
            f"{what} in {span(math.ceil(wait))}: a job that was sent while it was still offered may not be listed yet "
            "(SLIPWAY_GRACE sets the time)"
        )
    while wait:
        pause(min(wait, LOOK_EVERY_S))
        ask()
        wait = left()


def _named(ids: Sequence[str]) -> str:
    """Return `cluster a`, `clusters a and b`."""
    return f"cluster{'' if len(ids) == 1 else 's'} {join(ids)}"


def _described(clusters: Iterable[PersistentResource]) -> str:
    return _named([f"{cluster.id} (cluster state {cluster.state})" for cluster in clusters])
