"""Vertex ML Metadata, as far as experiments need it: contexts, each an experiment or one of its runs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from slipway.base.formatting import last_part
from slipway.google.answers import Json, shaped
from slipway.google.clusters import Operation
from slipway.google.endpoints import Endpoints
from slipway.google.failures import Call, Conflict, NotFound
from slipway.google.session import Session

EXPERIMENT, RUN = "system.Experiment", "system.ExperimentRun"
BOARD = "backing_tensorboard_resource"
"""The key of an experiment's metadata under which the Vertex SDK keeps its TensorBoard; autologging asks for it."""
RUNNING, COMPLETE, FAILED, CANCELLED = "RUNNING", "COMPLETE", "FAILED", "CANCELLED"

STATE = "_state"
"""The key of a run's metadata under which the Vertex SDK keeps its state."""
_VERSION = "0.0.1"
_BODIES: Mapping[str, Mapping[str, Any]] = {
    EXPERIMENT: {"experiment_deleted": False},
    RUN: {"_params": {}, "_metrics": {}, STATE: RUNNING},
}
"""The metadata that the Vertex SDK writes into a new context of each schema, and expects there."""


@dataclass(frozen=True)
class Context:
    name: str
    etag: str
    #: As the service has it, keys that are unknown here included.
    metadata: Mapping[str, Any]

    @property
    def state(self) -> str:
        """The name of a run's state; empty for an experiment."""
        return str(self.metadata.get(STATE, ""))

    @property
    def board(self) -> str:
        """The full name of an experiment's TensorBoard; empty where it has none."""
        return str(self.metadata.get(BOARD, ""))

    @classmethod
    def read(cls, body: Json) -> Context:
        return cls(name=body["name"], etag=body.get("etag", ""), metadata=dict(body.get("metadata", {})))


class Metadata:
    """A client of the metadata store. Every method raises CloudError.

    Names are full: `projects/P/locations/R/metadataStores/S/contexts/ID`.
    """

    def __init__(self, session: Session, endpoints: Endpoints, region: str) -> None:
        self._session, self._base = session, endpoints.vertex(region)

    def context(self, name: str) -> Context:
        call = _call(f"read {last_part(name)}", "contexts.get", name)
        return shaped(call, Context.read, self._session.get(self._base + name, call))

    def runs_of_logs(self, tensorboard: str, job: str) -> tuple[str, ...]:
        """Return the runs that the service made in a TensorBoard from a job's logs, as names of contexts."""
        number = last_part(job)
        parent = "/".join(job.split("/")[:4])
        call = _call(f"list the runs of {number} in TensorBoard", "tensorboardRuns.list", job)
        url = f"{self._base}{tensorboard}/experiments/{number}/runs"
        try:
            runs = [last_part(str(run.get("name", ""))) for run in self._session.pages(url, call, "tensorboardRuns")]
        except NotFound:
            return ()
        return tuple(f"{parent}/metadataStores/default/contexts/{number}-{run}" for run in runs)

    def make(self, name: str, schema: str, title: str, board: str = "") -> bool:
        """Make a context, and the store where there is none; return False for a context that existed already. `board`:
        the full name of an experiment's TensorBoard."""
        call = _call(f"create {last_part(name)}", "contexts.create", name)
        store = name.partition("/contexts/")[0]
        body = {
            "displayName": title,
            "schemaTitle": schema,
            "schemaVersion": _VERSION,
            "metadata": {**_BODIES[schema], **({BOARD: board} if board else {})},
        }
        params = {"contextId": last_part(name)}
        try:
            try:
                self._session.post(f"{self._base}{store}/contexts", call, body, params, idempotent=True)
            except NotFound:
                self._make_store(store)
                self._session.post(f"{self._base}{store}/contexts", call, body, params, idempotent=True)
        except Conflict:
            return False
        return True

    def add_child(self, parent: str, child: str) -> None:
        """Add a child, which may be there already. Raises NotFound without the parent."""
        call = _call(f"add {last_part(child)} to {last_part(parent)}", "contexts.addContextChildren", parent)
        self._session.post(
            f"{self._base}{parent}:addContextChildren", call, {"childContexts": [child]}, idempotent=True
        )

    def change(self, context: Context, key: str, value: str) -> None:
        """Set `STATE` of a run or `BOARD` of an experiment. Raises Conflict when it was changed since it was read."""
        call = _call(f"update {last_part(context.name)}", "contexts.update", context.name)
        body = {"name": context.name, "etag": context.etag, "metadata": {**context.metadata, key: value}}
        self._session.write("PATCH", self._base + context.name, call, body, {"updateMask": "metadata"})

    def default_board(self, home: str) -> str:
        """Return the full name of the default TensorBoard of `home` (projects/P/locations/R); empty without one."""
        call = _call("find the default TensorBoard", "tensorboards.list", home)
        params = {"filter": "is_default=true"}
        boards = self._session.pages(f"{self._base}{home}/tensorboards", call, "tensorboards", params)
        return next((shaped(call, lambda board: str(board["name"]), board) for board in boards), "")

    def make_default_board(self, home: str, title: str) -> Operation:
        """Begin to make the default TensorBoard; `default_board` has it when the operation is done.

        When two are made, the service takes the later one for the default.
        """
        call = _call("create the default TensorBoard", "tensorboards.create", home)
        body = {"displayName": title, "isDefault": True}
        return shaped(call, Operation.read, self._session.post(f"{self._base}{home}/tensorboards", call, body))

    def _make_store(self, store: str) -> None:
        call = _call(f"create the metadata store {last_part(store)}", "metadataStores.create", store)
        parent = store.partition("/metadataStores/")[0]
        params = {"metadataStoreId": last_part(store)}
        with suppress(Conflict):
            self._session.post(f"{self._base}{parent}/metadataStores", call, {}, params, idempotent=True)


def _call(doing: str, verb: str, name: str) -> Call:
    return Call(doing, f"aiplatform.{verb}", f"project {name.split('/')[1]}")
