"""Interactive shells of running jobs: a page for each replica, for whoever has the link, which has the job's token."""

import threading
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from ...nodes import spec as specs
from ...nodes.shell import Shell
from ...wire import ApiError, Call, Reply, Route, failed_precondition, not_found, permission_denied, unimplemented
from ...world import World
from ..names import location_name
from . import replicas, table
from .records import Job, Replica, Run

_AT = "/interactive_shell/projects/{project}/locations/{location}/customJobs/{job}/{replica}"
_NEEDED = ("aiplatform.customJobs.create", "aiplatform.customJobs.get", "aiplatform.customJobs.cancel")


class Shells:
    """The shells that were opened, by the replicas' folders."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._open: dict[Path, Shell] = {}
        self._lock = threading.Lock()

    def routes(self) -> list[Route]:
        return [
            Route("GET", _AT, self._page),
            Route("POST", _AT, self._typed),
            Route("GET", f"{_AT}/output", self._output),
        ]

    def links(self, call: Call, job: Job) -> Mapping[str, str]:
        """Return the address of each replica's shell, by its name. One for a caller who may not submit, look, cancel
        and act as the job's account lets nobody in."""
        run = job.run
        if run is None or run.outcome is not None:
            return {}
        allowed = self._allowed(call.principal, job.body["jobSpec"].get("serviceAccount", ""))
        return {replica.name: self._link(run, replica, allowed=allowed) for replica in run.replicas}

    def _allowed(self, principal: str, account: str) -> bool:
        access = self._world.access
        try:
            if account:
                access.require_act_as(principal, account)
        except ApiError:
            return False
        return all(access.granted(principal, permission) for permission in _NEEDED)

    def _link(self, run: Run, replica: Replica, *, allowed: bool) -> str:
        spec = replicas.folder(self._world, run, replica) / specs.SPEC
        key = f"/t/{specs.read(spec).identity.token}" if allowed and spec.exists() else ""
        return f"{self._world.url}{key}/interactive_shell/{run.name}/{replica.name}"

    def _page(self, call: Call) -> Reply:
        self._running(call)
        page = resources.files(__package__ or "").joinpath("shell.html").read_text("utf-8")
        page = page.replace("REPLICA", call.params["replica"]).replace("JOB", call.params["job"])
        return Reply(body=page.encode(), media="text/html; charset=utf-8")

    def _typed(self, call: Call) -> Reply:
        self._shell(call).type(call.raw)
        return Reply(body={})

    def _output(self, call: Call) -> Reply:
        said, place = self._shell(call).since(call.integer("after"))
        return Reply(body=said, media="text/plain; charset=utf-8", headers={"x-place": str(place)})

    def _running(self, call: Call) -> Path:
        """Return the folder of the replica that a call's link is of. Raises 400, 403, 404."""
        name = f"{location_name(self._world.project, call.params['location'])}/customJobs/{call.params['job']}"
        job = table.get(self._world.store, name)
        run = job.run if job else None
        replica = next((item for item in run.replicas if item.name == call.params["replica"]), None) if run else None
        if job is None or run is None or replica is None:
            raise not_found(f"No replica {call.params['replica']} of {name} runs.")
        if call.principal != f"serviceAccount:{run.email}":
            raise permission_denied("A shell is opened by its link in webAccessUris, by who may act as the account.")
        if not asks(job.body):
            raise failed_precondition(f"{name} was submitted without enableWebAccess.")
        return replicas.folder(self._world, run, replica)

    def _shell(self, call: Call) -> Shell:
        """Return the replica's shell, started with the first call and after it was left. Raises 400, 403, 404, 501."""
        folder = self._running(call)
        with self._lock:
            shell = self._open.get(folder)
            if shell is None or shell.over:
                self._open = {place: other for place, other in self._open.items() if not other.over}
                try:
                    shell = self._open[folder] = Shell(folder)
                except OSError as error:
                    raise unimplemented(f"No shell can be opened in {call.params['replica']}: {error}.") from error
            return shell


def asks(body: Mapping[str, Any]) -> bool:
    """Return whether a job asks for shells and runs."""
    return body["state"] == "JOB_STATE_RUNNING" and bool(body["jobSpec"].get("enableWebAccess"))
