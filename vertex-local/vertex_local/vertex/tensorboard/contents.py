"""The common methods of experiments, runs and time series of a tensorboard."""

import re
from collections.abc import Mapping

from ...documents import Body
from ...wire import Call, Reply, already_exists, invalid_argument
from ...world import World
from ..collection import Documents, Kind, canonical
from ..field_errors import Mistake, display_name_mistakes, label_mistakes, refuse
from ..messages import MESSAGES
from . import log_uploads, points
from .kinds import EXPERIMENT

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,127}")
_IMMUTABLE = ("valueType", "pluginName", "source")
_MOST_CREATED_AT_ONCE, _PLUGIN_BYTES = 1000, 65 * 1024


class Contents(Documents):
    """A level of a tensorboard. `above` is the kind that it belongs to, `content` the kinds that go with it."""

    def __init__(self, world: World, kind: Kind, above: Kind, content: tuple[Kind, ...] = ()) -> None:
        super().__init__(world, kind)
        self._above = Documents(world, above)
        self._content = tuple(Documents(world, item) for item in content)
        self._id = kind.message[0].lower() + kind.message[1:] + "Id"

    def create(self, call: Call) -> Reply:
        self.enter(call, "create")
        with self.world.store.transaction():
            made = self.made(self.parent(call), call.query.get(self._id, ""), self.parsed(call))
        return self.shown(call, made)

    def made(self, parent: str, resource_id: str, body: Mapping[str, object]) -> Body:
        """Make a resource below one that exists, and return it. Raises 400, 404, 409. Within a transaction."""
        self._above.find(parent)
        resource_id = self.id_of(resource_id)
        self._check(body)
        name = self.name(parent, resource_id)
        title = body.get("displayName")
        if self.look(name):
            raise already_exists(f"The {self.kind.message} {name} already exists.")
        if self.kind is not EXPERIMENT and any(other.get("displayName") == title for other in self.below(parent)):
            raise already_exists(f'A {self.kind.message} with the display name "{title}" already exists in {parent}.')
        return self.add(name, body)

    def id_of(self, sent: str) -> str:
        """Return the id of a new resource. Raises 400 for an invalid one."""
        if not _ID.fullmatch(sent):
            raise invalid_argument(
                f'Invalid {self._id} "{sent}": 1 to 128 lowercase letters, digits and hyphens are needed.'
            )
        return sent

    def get(self, call: Call) -> Reply:
        self.enter(call, "get")
        log_uploads.catch_up(self.world)
        return self.shown(call, self.measured(self.find(self.named(call))))

    def measured(self, body: Body) -> Body:
        """Return the resource with its counts."""
        return body

    def list(self, call: Call) -> Reply:
        self.enter(call, "list")
        log_uploads.catch_up(self.world)
        parent = self.parent(call)
        self._above.find(parent)
        return self.listed_below(call, parent)

    def patch(self, call: Call) -> Reply:
        self.enter(call, "update")
        with self.world.store.transaction():
            old = self.find(self.named(call))
            changed = self.patched(call, old) | {key: old[key] for key in _IMMUTABLE if key in old}
            self._check(changed)
            changed = self.change(changed)
        return self.shown(call, changed)

    def delete(self, call: Call) -> Reply:
        """Delete a resource with everything in it."""
        self.enter(call, "delete", "submit")
        with self.world.store.transaction():
            name = str(self.find(self.named(call))["name"])
            remove_below(self.world, name, self._content)
            self.remove(name)
            return self.done(call, name)

    def created_at_once(self, call: Call, message: str) -> Reply:
        """Make all resources that a `batchCreate` in an experiment asks for, or none."""
        self.enter(call, "batchCreate")
        field = self._id.removesuffix("Id")
        requests = MESSAGES.parse(call.params["version"], message, call.object()).get("requests", [])
        if not 1 <= len(requests) <= _MOST_CREATED_AT_ONCE:
            raise invalid_argument(f"At least one and at most {_MOST_CREATED_AT_ONCE} can be created at once.")
        experiment = Documents(self.world, EXPERIMENT).named(call)
        made = []
        with self.world.store.transaction():
            for request in requests:
                parent = canonical(self.world.project, request.get("parent", "")) or experiment
                if parent != experiment and not parent.startswith(f"{experiment}/runs/"):
                    raise invalid_argument(f'The parent "{parent}" is not in {experiment}.')
                made.append(self.made(parent, request.get(self._id, ""), request.get(field, {})))
        shown = [self.shown(call, body).body for body in made]
        return Reply(body={self.kind.noun: shown})

    def _check(self, body: Mapping[str, object]) -> None:
        at = re.sub(r"(?<!^)([A-Z])", r"_\1", self.kind.message).lower()
        named = self.kind is not EXPERIMENT
        mistakes = display_name_mistakes(f"{at}.display_name", str(body.get("displayName", "")), required=named)
        labels = body.get("labels", {})
        mistakes += label_mistakes(f"{at}.labels", labels if isinstance(labels, Mapping) else {})
        if "valueType" in self.kind.writable and "valueType" not in body:
            mistakes.append(Mistake(f"{at}.value_type", "The value type is required: SCALAR, TENSOR or BLOB_SEQUENCE."))
        if len(str(body.get("pluginData", ""))) > _PLUGIN_BYTES * 4 // 3:
            mistakes.append(Mistake(f"{at}.plugin_data", f"The plugin's data may have {_PLUGIN_BYTES} bytes."))
        refuse(mistakes)


def remove_below(world: World, name: str, content: tuple[Documents, ...]) -> None:
    """Remove the content of a resource, data included. Within a transaction."""
    for collection in content:
        for body in collection.below(name):
            collection.remove(body["name"])
    points.remove(world.store, name)
