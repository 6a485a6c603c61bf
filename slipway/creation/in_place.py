"""Clusters that are replaced in place: taken out of the catalog, let go of when nothing can be on its way to them, and
deleted, before their successors are made.

Slipway deletes them itself, as the engine deletes last. What is killed in between goes on with the next `up`: a catalog
without the cluster says what was under way, and what is deleted is made as any cluster that is not there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from slipway.cloud.clusters import PersistentResource
from slipway.cloud.failures import CloudError, NotFound
from slipway.cloud.jobs import VertexJob
from slipway.creation.creation_context import CreationContext
from slipway.creation.interim_catalog import InterimCatalog
from slipway.deployment.grace_period import GracePeriod
from slipway.errors import PolicyError, ResourceError, Timeout
from slipway.formatting import join, span
from slipway.live import Unknown
from slipway.polling import poll
from slipway.unfinished_jobs import ways_out

_LOOK_EVERY_S = 10.0
_NEXT_RUN = "run pulumi up again: it goes on from there"


class InPlace:
    """`clusters` are those to delete. `grace` tells for how many more seconds one must not have been offered before it
    may go, by its id. `within`: seconds in which one may go."""

    within = 2 * 3600.0
    _then, _stays = ", and the next pulumi up makes its successor", "it stays, and is offered as before"
    _before = "its successor is made when it is gone"

    def __init__(
        self,
        clusters: Sequence[PersistentResource],
        catalog: InterimCatalog,
        grace: GracePeriod,
        cloud: CreationContext,
    ) -> None:
        self._ids = [one.id for one in clusters]
        self._names = {one.id: one.name for one in clusters}
        self._catalog, self._grace, self._cloud = catalog, grace, cloud
        self._going: list[str] = []

    def run(self) -> None:
        """Returns when all are gone. Raises PolicyError when jobs are on one, and then, as after every error, what was
        not yet deleted is offered again."""
        if not self._ids:
            return
        self._must_be_idle(self._ids)
        self._withdraw()
        try:
            self._let_time_pass()
            for id_ in self._ids:
                self._delete(id_)
            for id_ in self._ids:
                self._wait_until_gone(id_)
        except Exception:
            self._offer_again()
            raise

    def _withdraw(self) -> None:
        self._catalog.withdraw(self._ids)
        self._grace.withdraw(self._ids)
        self._cloud.say(f"replaced in place: {join(self._ids)}, which the catalog does not offer for the time being")

    def _offer_again(self) -> None:
        stays = [id_ for id_ in self._ids if id_ not in self._going]
        self._grace.offer_again(stays)
        self._catalog.offer_again(stays)

    def _let_time_pass(self) -> None:
        """Until a job that was sent by the catalog would be known."""
        said = False
        while wait := max(self._grace.left(id_) for id_ in self._ids):
            if not said:
                self._cloud.say(
                    f"deleting {join(self._ids)} in {span(math.ceil(wait))}: a job that was sent while "
                    "it was still offered may not be listed yet (SLIPWAY_GRACE sets the time)"
                )
                said = True
            self._cloud.pause(min(wait, _LOOK_EVERY_S))
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
            return self._stays
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
        state = ""
        for _ in poll(self._cloud.pause, 1.0, _LOOK_EVERY_S, within=self.within, now=self._cloud.now):
            try:
                state = self._cloud.vertex.persistent_resource(self._names[id_]).state.lower()
            except NotFound:
                return
        raise Timeout(
            f"cluster {id_} is still there {span(self.within)} after it was deleted ({state})",
            why="its successor can't have its machines before it is gone",
            fix=_NEXT_RUN,
        )
