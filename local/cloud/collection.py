"""Collections of resources that are made, read, listed, changed and removed, and do nothing by themselves.

Bodies are canonical JSON of the API's own messages, kept as documents under their full resource names.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from local.cloud import filtering, identities
from local.cloud.clock import timestamp
from local.cloud.filtering import Function, value_at
from local.cloud.messages import Messages
from local.cloud.services import World
from local.cloud.wire import Call, Reply, aborted, invalid_argument, not_found, unimplemented

_AT = "/{version:v1|v1beta1}/projects/{project}/locations/{location}"
_PAGE, _MAX_PAGE = 100, 1000

Body = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """One type of resource: `path` is its collection's below a location (`/tensorboards/{tensorboard}/experiments`),
    `one` the name of its id in paths, `noun` that of the collection in permissions and lists, `writable` what a client
    may change, `rate` the limit that its calls count against ("" for none)."""

    message: str
    path: str
    one: str
    noun: str
    writable: tuple[str, ...]
    rate: str = "call"

    @property
    def base(self) -> str:
        """The path template of the collection."""
        return _AT + self.path

    @property
    def each(self) -> str:
        """The path template of one resource."""
        return f"{self.base}/{{{self.one}}}"


class Collection:
    """The documents of one kind, and what all its methods have in common."""

    def __init__(self, world: World, messages: Messages, kind: Kind) -> None:
        self._world, self._messages, self.kind = world, messages, kind
        self._documents = f"vertex.{kind.message}"

    def enter(self, call: Call, verb: str, rate: str | None = None, noun: str = "") -> str:
        """Check who asks (`aiplatform.NOUN.VERB`) and how often. The call's location. Raises 403, 429."""
        location = call.params["location"]
        below = call.path.partition(f"/locations/{location}/")[2].partition(":")[0]
        resource = f"//aiplatform.googleapis.com/projects/{call.params['project']}/locations/{location}/{below}"
        permission = f"aiplatform.{noun or self.kind.noun}.{verb}"
        self._world.access.require(call.principal, permission, call.params["project"], resource)
        rate = self.kind.rate if rate is None else rate
        if rate:
            self._world.limits.take(rate, location)
        return location

    def parent(self, call: Call) -> str:
        """The full name of what the call's collection belongs to."""
        above = self.kind.path.rpartition("/")[0]
        filled = re.sub(r"\{(\w+)\}", lambda match: call.params[match[1]], above)
        return f"projects/{identities.PROJECT_NUMBER}/locations/{call.params['location']}{filled}"

    def name(self, parent: str, resource_id: str) -> str:
        return f"{parent}/{self.kind.path.rpartition('/')[2]}/{resource_id}"

    def named(self, call: Call) -> str:
        """The full name of the resource that the call is about."""
        return self.name(self.parent(call), call.params[self.kind.one])

    def get(self, name: str) -> Body | None:
        return self._world.store.get(self._documents, name)

    def find(self, name: str) -> Body:
        """Raises 404."""
        found = self.get(name)
        if found is None:
            raise not_found(f"The {self.kind.message} {name} does not exist.")
        return found

    def below(self, parent: str) -> list[Body]:
        """All resources of this kind below a name, at whatever depth, oldest first."""
        return [body for _, body in self._world.store.list(self._documents, f"{parent}/")]

    def parsed(self, call: Call) -> Body:
        """What a client sent, reduced to what it may set. Raises 400 for an unknown field."""
        sent = self._messages.parse(call.params["version"], self.kind.message, call.object())
        return {key: value for key, value in sent.items() if key in self.kind.writable}

    def add(self, name: str, body: Mapping[str, Any]) -> Body:
        """Keep a new resource."""
        now = self._world.now()
        return self._put({**body, "name": name, "createTime": now, "updateTime": now}, "0")

    def change(self, body: Body) -> Body:
        """Keep a resource that is there, changed: with a new etag and time."""
        return self._put({**body, "updateTime": self._world.now()}, body["etag"])

    def keep(self, body: Body) -> Body:
        """Keep what the service itself changed: the etag that clients hold stays good."""
        self._world.store.put(self._documents, body["name"], body)
        return body

    def remove(self, name: str) -> bool:
        """Whether it was there."""
        return self._world.store.delete(self._documents, name)

    def patched(self, call: Call, found: Body) -> Body:
        """What a resource becomes by a PATCH: the fields of the mask, or without one all that a client may set.

        Raises 400 for a field that can't be changed, 409 ABORTED for an etag of another day.
        """
        sent = self._messages.parse(call.params["version"], self.kind.message, call.object())
        if sent.get("etag", found["etag"]) != found["etag"]:
            # The official client reads both etags out of this text, and tries again with the newer one.
            raise aborted(
                f"Specified {self.kind.message} `etag`: `{sent['etag']}` does not match server `etag`: "
                f"`{found['etag']}`"
            )
        fields = _masked(call.query.get("updateMask") or call.query.get("update_mask") or "") or self.kind.writable
        for field in fields:
            if "." in field:
                raise unimplemented(f"The update mask '{field}' names a part of a field; only whole fields are served.")
            if field not in self.kind.writable:
                raise invalid_argument(f"The field '{field}' of a {self.kind.message} can't be changed.")
        kept = {key: value for key, value in found.items() if key not in fields}
        return kept | {key: sent[key] for key in fields if key in sent}

    def shown(self, call: Call, body: Mapping[str, Any]) -> Reply:
        return Reply(body=self._messages.render(call, call.params["version"], self.kind.message, body))

    def listed(self, call: Call, parent: str, functions: Mapping[str, Function] | None = None) -> Reply:
        """A page of the collection. Raises 400 for a filter, an order or a page token that is none."""
        test = filtering.parsed(call.query.get("filter", ""), functions)
        found = [body for body in self.below(parent) if test(body)]
        lag = self._world.faults.take("lagging-list", call.method, call.path)
        if lag:
            moment = timestamp(self._world.clock.now() - timedelta(seconds=lag.seconds))
            found = [body for body in found if body["createTime"] < moment]
        _sort(found, call.query.get("orderBy", ""))
        size = max(1, min(call.integer("pageSize", _PAGE) or _PAGE, _MAX_PAGE))
        start = _offset(call.query.get("pageToken", ""))
        mask = call.query.get("readMask") or call.query.get("read_mask") or ""
        version = call.params["version"]
        answers = [
            self._messages.render(call, version, self.kind.message, body, mask) for body in found[start : start + size]
        ]
        more = {"nextPageToken": str(start + size)} if start + size < len(found) else {}
        return Reply(body=({self.kind.noun: answers} if answers else {}) | more)

    def _put(self, body: Body, etag: str) -> Body:
        milliseconds = int(datetime.fromisoformat(body["updateTime"]).timestamp() * 1000)
        return self.keep({**body, "etag": str(max(milliseconds, int(etag) + 1))})


def canonical(name: str) -> str:
    """A full resource name with the project's number, whatever was sent."""
    return re.sub(rf"^projects/{re.escape(identities.PROJECT_ID)}/", f"projects/{identities.PROJECT_NUMBER}/", name)


def _masked(mask: str) -> tuple[str, ...]:
    paths = [path.strip() for path in mask.split(",") if path.strip() and path.strip() != "*"]
    return tuple(re.sub(r"_([a-z])", lambda hit: hit[1].upper(), path) for path in paths)


def _sort(bodies: list[Body], order: str) -> None:
    """`display_name, create_time desc`; the first field weighs most."""
    for part in reversed([part.split() for part in order.split(",") if part.strip()]):
        if len(part) > 2 or part[1:] not in ([], ["asc"], ["desc"]):
            raise invalid_argument(f"Invalid order by: {order}.")
        field = part[0]
        bodies.sort(key=lambda body: str(value_at(body, field) or ""), reverse=part[1:] == ["desc"])


def _offset(token: str) -> int:
    if not token:
        return 0
    if not token.isdigit():
        raise invalid_argument("Invalid page token.")
    return int(token)
