"""Clusters that are replaced in place: taken out of the catalog, let go of when nothing can be on its way to them, and
deleted, before their successors are made.

Slipway deletes them itself, as the engine deletes last. What is killed in between goes on with the next `up`: a catalog
without the cluster says what was under way, and what is deleted is made as any cluster that is not there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from slipway.catalog import document
from slipway.catalog.model import NAME, Catalog
from slipway.catalog.withdrawal import begun, withdrawn
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.failures import CloudError, NotFound
from slipway.cloud.jobs import VertexJob
from slipway.cloud.storage import Location, Storage
from slipway.creation.creation_context import CreationContext
from slipway.deployment.checkout import UNKNOWN
from slipway.deployment.grace_period import GracePeriod
from slipway.errors import ConfigError, PolicyError, ResourceError, Timeout
from slipway.formatting import join, span
from slipway.labels import Revision
from slipway.live import Unknown
from slipway.state import State
from slipway.unfinished_jobs import ways_out

_LOOK_EVERY_S = 10.0
_NEXT_RUN = "run pulumi up again: it goes on from there"


@dataclass(frozen=True)
class Published:
    """The catalog as people find it, if it is there. `grace` tells for how many more seconds a cluster must not have
    been offered, by its id, before it may go. `commit` is what is being deployed, by which the scheduled deployment may
    go on where this one is cut off; empty where that can't be had again."""

    at: Location
    grace: GracePeriod
    now: datetime
    commit: str = ""

    @classmethod
    def of(
        cls, known: State | Unknown, bucket: str, grace: GracePeriod, now: datetime, revision: Revision
    ) -> Published:
        """`bucket` is where it will be, which may be another one than it is in now."""
        before = known.catalog_bucket if isinstance(known, State) else ""
        again = not revision.dirty and revision.commit != UNKNOWN
        return cls(Location(before or bucket, NAME), grace, now, revision.commit if again else "")

    def mark_begun(self, storage: Storage, warn: Callable[[str], None]) -> None:
        """Notes in the catalog which deployment did not come to its end."""
        try:
            found = document.read(storage.read(self.at), str(self.at))
            if self.commit and found.under_way != self.commit:
                storage.write(self.at, document.write(begun(found, self.commit)).encode(), "application/json")
        except (NotFound, ConfigError):
            pass  # Nothing was published yet, or not by this version: a person has to deploy first.
        except CloudError as error:
            warn(f"the scheduled deployment does not try this again: the catalog can't be written ({error.why})")


class InPlace:
    """`clusters` are those to delete. `within`: seconds in which one may go."""

    within = 2 * 3600.0
    _then = ", and the next pulumi up makes its successor"
    _before = "its successor is made when it is gone"

    def __init__(
        self, clusters: Sequence[PersistentResource], published: Published, storage: Storage, cloud: CreationContext
    ) -> None:
        self._ids = [one.id for one in clusters]
        self._names = {one.id: one.name for one in clusters}
        self._published, self._storage, self._cloud = published, storage, cloud
        self._going: list[str] = []
        self._left_out: Sequence[str] = ()

    def run(self) -> None:
        """Returns when all are gone. Raises PolicyError when jobs are on one, and then, as after every error, the
        catalog offers again what was not yet deleted."""
        if not self._ids:
            return
        self._must_be_idle(self._ids)
        before = self._withdraw()
        self._published.grace.withdraw(self._ids)
        try:
            self._let_time_pass()
            for id_ in self._ids:
                self._delete(id_)
            for id_ in self._ids:
                self._wait_until_gone(id_)
        except Exception:
            self._offer_again(before)
            raise

    def _withdraw(self) -> bytes:
        """The catalog as it was; empty where nobody can be sent by it."""
        try:
            before = self._storage.read(self._published.at)
            catalog = document.read(before, str(self._published.at))
        except (NotFound, ConfigError):
            return b""
        self._left_out = self._leaving(catalog)
        if not self._left_out:
            return b""
        without = self._without(catalog, self._left_out)
        self._write(document.write(begun(without, self._published.commit)).encode())
        self._cloud.say(self._words(self._left_out))
        return before

    def _leaving(self, catalog: Catalog) -> Sequence[str]:
        """The ids of clusters that the catalog is not to offer any more."""
        return self._ids

    def _without(self, catalog: Catalog, ids: Collection[str]) -> Catalog:
        return withdrawn(catalog, ids, self._published.now)

    def _words(self, ids: Sequence[str]) -> str:
        return f"replaced in place: {join(ids)}, which the catalog does not offer for the time being"

    def _write(self, content: bytes) -> None:
        self._storage.write(self._published.at, content, "application/json")

    def _offer_again(self, before: bytes) -> None:
        self._published.grace.offer_again(id_ for id_ in self._ids if id_ not in self._going)
        if not before:
            return
        try:
            catalog = document.read(before, str(self._published.at))
            again = begun(self._without(catalog, self._going), self._published.commit)
            self._write(before if not self._going else document.write(again).encode())
        except CloudError as error:
            self._cloud.warn(f"the catalog does not offer {join(self._left_out)} until the next pulumi up: {error.why}")

    def _let_time_pass(self) -> None:
        """Until a job that was sent by the catalog would be known."""
        said = False
        while wait := max(self._published.grace.left(id_) for id_ in self._ids):
            if not said:
                self._cloud.say(
                    f"deleting {join(self._ids)} in {span(math.ceil(wait))}: a job that was sent while "
                    "it was still offered may not be listed yet (SLIPWAY_GRACE sets the time)"
                )
                said = True
            self._cloud.pause(self._cloud.stop, min(wait, _LOOK_EVERY_S))
            self._must_be_idle(self._ids)

    def _must_be_idle(self, ids: Sequence[str]) -> None:
        for id_ in ids:
            use = self._cloud.use(self._names[id_])
            if isinstance(use, Unknown):
                raise ResourceError(
                    f"cluster {id_} is not deleted: can't tell whether jobs run on it", why=str(use), fix=_NEXT_RUN
                )
            if use.jobs or use.unlisted:
                names = join(job.display_name for job in use.jobs) or "a job that no list shows yet"
                raise PolicyError(
                    f"cluster {id_} is not deleted: {names} {'have' if len(use.jobs) > 1 else 'has'} not ended",
                    why=f"deleting the cluster would cancel what runs on it; {self._state()}",
                    fix=self._mend(use.jobs),
                )

    def _mend(self, jobs: Sequence[VertexJob]) -> str:
        """What to do about these jobs, or about one that no list shows yet."""
        if not jobs:
            return "pulumi up again, when slipway pools shows no machine in use"
        return ways_out(jobs, "then pulumi up again")

    def _state(self) -> str:
        if not self._going:
            return "nothing was changed"
        return f"{join(self._going)} is deleted already{self._then}"

    def _delete(self, id_: str) -> None:
        """Asks for its end when it still runs and nothing is on it."""
        try:
            if self._cloud.vertex.persistent_resource(self._names[id_]).state != "STOPPING":
                self._must_be_idle([id_])
                self._cloud.vertex.delete_persistent_resource(self._names[id_])
                self._cloud.say(f"cluster {id_} is being deleted; {self._before}")
        except NotFound:
            pass
        except CloudError as error:
            if not error.not_accepted:  # It may be going, unseen.
                self._going.append(id_)
            raise
        self._going.append(id_)

    def _wait_until_gone(self, id_: str) -> None:
        began, wait = self._cloud.now(), 1.0
        while True:
            try:
                state = self._cloud.vertex.persistent_resource(self._names[id_]).state
            except NotFound:
                return
            if (spent := self._cloud.now() - began) >= self.within:
                raise Timeout(
                    f"cluster {id_} is still there {span(spent)} after it was deleted ({state.lower()})",
                    why="its successor can't have its machines before it is gone",
                    fix=_NEXT_RUN,
                )
            self._cloud.pause(self._cloud.stop, wait)
            wait = min(2 * wait, _LOOK_EVERY_S)
