"""The methods of tensorboards."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from ...documents import Body
from ...wire import Call, Reply, Route, invalid_argument
from ...world import World
from ..collection import Documents, canonical
from ..field_errors import display_name_mistakes, key_mistakes, label_mistakes, refuse
from . import log_uploads
from .contents import remove_below
from .kinds import EXPERIMENT, RUN, TENSORBOARD, TIME_SERIES
from .time_series import USUAL_POINTS, TimeSeries

_FIRST_ID = 5_000_000_000_000_000_000
_MOST_READ_AT_ONCE = 100


class Tensorboards(Documents):
    def __init__(self, world: World) -> None:
        super().__init__(world, TENSORBOARD)
        self._runs = Documents(world, RUN)
        self._content = (Documents(world, EXPERIMENT), self._runs, Documents(world, TIME_SERIES))

    def routes(self) -> list[Route]:
        return [*super().routes(), Route("GET", self.kind.each + ":batchRead", self.batch_read)]

    def create(self, call: Call) -> Reply:
        self.enter(call, "create", "submit")
        body = self.parsed(call)
        _check(body, call.params["location"])
        with self.world.store.transaction():
            number = _FIRST_ID + self.world.store.next_id("tensorboard")
            name = self.name(self.parent(call), str(number))
            self._replace_default(call, body)
            self.add(name, body)
            return self.done(call, name, "CreateTensorboardOperationMetadata", TENSORBOARD.message)

    def shown(self, call: Call, body: Mapping[str, Any]) -> Reply:
        return super().shown(call, _with_bucket(body))

    def below(self, parent: str) -> Sequence[Body]:
        return [_with_bucket(body) for body in super().below(parent)]

    def get(self, call: Call) -> Reply:
        self.enter(call, "get")
        log_uploads.catch_up(self.world)
        tensorboard = self.find(self.named(call))
        count = len(self._runs.below(tensorboard["name"]))
        return self.shown(call, {**tensorboard, "runCount": count} if count else tensorboard)

    def patch(self, call: Call) -> Reply:
        self.enter(call, "update", "submit")
        with self.world.store.transaction():
            changed = self.patched(call, self.find(self.named(call)))
            _check(changed, call.params["location"])
            self._replace_default(call, changed)
            name = self.change(changed)["name"]
            return self.done(call, name, "UpdateTensorboardOperationMetadata", TENSORBOARD.message)

    def delete(self, call: Call) -> Reply:
        """Delete a tensorboard with everything in it."""
        self.enter(call, "delete", "submit")
        with self.world.store.transaction():
            name = str(self.find(self.named(call))["name"])
            remove_below(self.world, name, self._content)
            self.remove(name)
            return self.done(call, name)

    def batch_read(self, call: Call) -> Reply:
        """Return up to 1,000 points of each of up to 100 time series, as far as is known without a limit of its own."""
        self.enter(call, "batchRead", TIME_SERIES.rate, "tensorboardTimeSeries")
        log_uploads.catch_up(self.world)
        board = self.find(self.named(call))["name"]
        names = [canonical(self.world.project, name) for name in call.values("timeSeries")]
        if len(names) > _MOST_READ_AT_ONCE:
            raise invalid_argument(f"At most {_MOST_READ_AT_ONCE} time series can be read at once.")
        for name in names:
            if not name.startswith(f"{board}/"):
                raise invalid_argument(f'The time series "{name}" is not in {board}.')
        series = TimeSeries(self.world)
        shown = [series.data(call, name, USUAL_POINTS) for name in names]
        return Reply(body={"timeSeriesData": shown} if shown else {})

    def _replace_default(self, call: Call, body: Body) -> None:
        """Make the old default tensorboard of a region ordinary: there is one default at most."""
        if not body.get("isDefault"):
            return
        for other in self.below(self.parent(call)):
            if other.get("isDefault") and other["name"] != body.get("name"):
                self.change({key: value for key, value in other.items() if key != "isDefault"})


def _with_bucket(body: Mapping[str, Any]) -> Body:
    """Return a tensorboard with a bucket of blobs, which nobody makes: clients call it obsolete without."""
    return {**body, "blobStoragePathPrefix": f"cloud-ai-platform-{uuid.uuid5(uuid.NAMESPACE_URL, body['name'])}"}


def _check(body: Body, location: str) -> None:
    refuse(
        [
            *display_name_mistakes("tensorboard.display_name", body.get("displayName", ""), required=True),
            *label_mistakes("tensorboard.labels", body.get("labels", {})),
            *key_mistakes("tensorboard", body, location),
        ]
    )
