"""The methods of custom jobs."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ... import document_filters
from ...documents import Body, Pages
from ...wire import Call, Reply, Route
from ...world import World
from ..collection import Kind
from ..resources import Resources
from . import life, table
from .records import Job
from .shells import Shells, asks

_FILTERED = ("displayName", "state", "createTime", "labels", "jobSpec.persistentResourceId")
CUSTOM_JOB = Kind("CustomJob", "/customJobs", "resource", "customJobs", trains=True, filtered=_FILTERED)


Submit = Callable[[World, str, str, Mapping[str, Any]], Job]
"""(world, principal, location, canonical body) to a new job, which may have its machines already. Raises ApiError."""


class CustomJobs(Resources[Job]):
    """The methods of custom jobs. `submit` comes from the scheduling package above, which knows clusters and quota."""

    def __init__(self, world: World, submit: Submit) -> None:
        super().__init__(world, CUSTOM_JOB)
        self._submit = submit
        self._shells = Shells(world)

    def routes(self) -> list[Route]:
        cancel = Route("POST", self.kind.each + ":cancel", self.cancel)
        return [*super().routes(), cancel, *self._shells.routes()]

    def look(self, name: str) -> Job | None:
        return table.get(self.world.store, name)

    def remove(self, name: str) -> None:
        table.remove(self.world.store, name)

    def create(self, call: Call) -> Reply:
        location = self.enter(call, "create", "submit")
        job = self._submit(self.world, call.principal, location, self.sent(call))
        return self.shown(call, job.body)

    def shown(self, call: Call, body: Mapping[str, Any]) -> Reply:
        return super().shown(call, self._with_shells(call, body))

    def pages(self, call: Call) -> Pages[Body]:
        test = document_filters.parsed(call.query.get("filter", ""), self.fields(call))
        since = self.hidden_since(call) or "9"

        def page(after: str, size: int) -> tuple[Sequence[Body], str]:
            every = table.newest(self.world.store, call.params["location"], int(after or 2**62))
            fit = ((number, body) for number, body in every if body["createTime"] < since and test(body))
            bodies = list(itertools.islice(fit, size + 1))
            more = str(bodies[size - 1][0]) if len(bodies) > size else ""
            return [self._with_shells(call, body) for _, body in bodies[:size]], more

        return page

    def _with_shells(self, call: Call, body: Mapping[str, Any]) -> Body:
        """Return the body with the address of each replica's shell while it runs."""
        job = self.look(body["name"]) if asks(body) else None
        return {**body, "webAccessUris": self._shells.links(call, job)} if job else dict(body)

    def cancel(self, call: Call) -> Reply:
        return self.cancelled(call, lambda job: end(self.world, job, "The job was cancelled."))


def end(world: World, job: Job, why: str) -> None:
    """Cancel a job unless it is over. Within a transaction."""
    if job.run is not None:
        table.keep(world, job.run, life.cancelled(job, job.run, world.clock.now(), why))
