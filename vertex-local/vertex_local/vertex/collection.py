"""The common methods of all of Vertex AI's collections: permissions, names, forms and lists."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from .. import discovery, document_filters, documents, filter_fields, organization
from ..clock import timestamp
from ..document_filters import Function
from ..documents import Body, Pages
from ..filter_fields import FilterFields
from ..identities import Project
from ..repository import Repository
from ..wire import Call, Reply, Route, aborted, invalid_argument, unimplemented
from ..world import World
from . import operations
from .messages import MESSAGES
from .names import location_name, region

_AT = "/{version:v1|v1beta1}/projects/{project}/locations/{location}"


@dataclass(frozen=True)
class Kind:
    """A type of resource."""

    message: str
    #: Its collection's below a location (`/tensorboards/{tensorboard}/experiments`).
    path: str
    #: The name of its id in paths.
    one: str
    #: The collection's in permissions and lists.
    noun: str
    #: The fields that a client may change.
    writable: tuple[str, ...] = ()
    #: The limit that its calls count against ("" for none).
    rate: str = "call"
    #: It is in regions of training alone.
    trains: bool = False
    #: The fields that filters and orders of its list may name, where the service documents them (`jobSpec.network`).
    filtered: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()
    #: The sizes of a page: the usual and the largest; larger ones are refused if `strict`, else that is taken.
    page: tuple[int, int] = (100, 1000)
    strict: bool = False

    @property
    def base(self) -> str:
        """The path template of the collection."""
        return _AT + self.path

    @property
    def each(self) -> str:
        """The path template of one resource."""
        return f"{self.base}/{{{self.one}}}"


class Collection:
    """The methods of one kind, wherever it is kept."""

    def __init__(self, world: World, kind: Kind) -> None:
        self.world, self.kind = world, kind

    def routes(self) -> list[Route]:
        """Return the routes of a class's standard methods; the class adds its own."""
        standard = (
            ("POST", self.kind.base, "create"),
            ("GET", self.kind.base, "list"),
            ("GET", self.kind.each, "get"),
            ("PATCH", self.kind.each, "patch"),
            ("DELETE", self.kind.each, "delete"),
        )
        return [Route(verb, path, getattr(self, name)) for verb, path, name in standard if hasattr(self, name)]

    def enter(self, call: Call, verb: str, rate: str | None = None, noun: str = "") -> str:
        """Check who asks (`aiplatform.NOUN.VERB`) and how often. Return the call's location. Raises 400, 403, 429."""
        location = region(call)
        place = f"projects/{call.params['project']}/locations/{location}"
        below = call.path.partition(f"/locations/{location}")[2].partition(":")[0]
        resource = f"//aiplatform.googleapis.com/{place}"
        if not self.kind.trains or self.kind.one in call.params:
            resource += below
        permission = f"aiplatform.{noun or self.kind.noun}.{verb}"
        self.world.access.require(call.principal, permission, call.params["project"], resource)
        rate = self.kind.rate if rate is None else rate
        if rate:
            self.world.limits.take(rate, location)
        if verb in ("create", "upload"):
            organization.check_resource(self.world.settings, self.world.project, location, self._key(call))
        return location

    def _key(self, call: Call) -> str | None:
        """Return the key that a new resource is to be encrypted with: "" without one, None where it takes none."""
        version = call.params["version"]
        schema = f"GoogleCloudAiplatform{version.capitalize()}{self.kind.message}"
        if "encryptionSpec" not in discovery.document(f"aiplatform.{version}")["schemas"][schema]["properties"]:
            return None
        sent = call.object()
        body = sent.get("model") or sent
        key = body.get("encryptionSpec") or body.get("encryption_spec") if isinstance(body, dict) else None
        return str(key.get("kmsKeyName") or key.get("kms_key_name") or "") if isinstance(key, dict) else ""

    def parent(self, call: Call) -> str:
        """Return the full name of the parent of the call's collection."""
        above = self.kind.path.rpartition("/")[0]
        filled = re.sub(r"\{(\w+)\}", lambda match: call.params[match[1]], above)
        return location_name(self.world.project, call.params["location"]) + filled

    def name(self, parent: str, resource_id: str) -> str:
        return f"{parent}/{self.kind.path.rpartition('/')[2]}/{resource_id}"

    def named(self, call: Call) -> str:
        """Return the full name of the resource that the call is about."""
        return self.name(self.parent(call), call.params[self.kind.one])

    def sent(self, call: Call) -> Body:
        """Return the resource that a client sent. Raises 400 for an unknown field."""
        return MESSAGES.parse(call.params["version"], self.kind.message, call.object())

    def shown(self, call: Call, body: Mapping[str, Any]) -> Reply:
        return Reply(body=MESSAGES.render(call.params["version"], self.kind.message, body))

    def listed(self, call: Call, pages: Pages[Body]) -> Reply:
        """Return a page of resources, with the fields of the read mask alone."""
        version, mask = call.params["version"], call.query.get("readMask", "")
        (usual, most), strict = self.kind.page, self.kind.strict
        return documents.listed(
            call,
            self.kind.noun,
            pages,
            lambda body: MESSAGES.render(version, self.kind.message, body, mask),
            usual=usual,
            most=most,
            strict=strict,
        )

    def every_field(self, call: Call) -> FilterFields:
        """Return the fields of a resource, by Google's definition."""
        version = call.params["version"]
        schema = f"GoogleCloudAiplatform{version.capitalize()}{self.kind.message}"
        return filter_fields.of_schema(f"aiplatform.{version}", schema)

    def fields(self, call: Call) -> FilterFields:
        """Return the fields that filters may name."""
        return filter_fields.among(self.every_field(call), self.kind.filtered)

    def in_order(self, call: Call, bodies: Iterable[Body]) -> list[Body]:
        """Return resources in the order that a call asks for. Raises 400 for a field that orders may not name."""
        fields = filter_fields.among(self.every_field(call), self.kind.ordered)
        return documents.in_order(bodies, call.query.get("orderBy", ""), fields)

    def hidden_since(self, call: Call) -> str:
        """Return the moment from which on new resources are missing in a list that lags, "" in one that does not."""
        lag = self.world.faults.take("lagging-list", call.method, call.path)
        return timestamp(self.world.clock.now() - timedelta(seconds=lag.seconds)) if lag else ""

    def done(
        self,
        call: Call,
        target: str,
        metadata: str = "DeleteOperationMetadata",
        response: str = "Empty",
        parent: str = "",
        **more: Any,
    ) -> Reply:
        """Return an operation that is done already, on the resource with this full name. It is of the location, or of
        `parent`; `more` as in `operations.start`. Within a transaction."""
        parent = parent or location_name(self.world.project, call.params["location"])
        version = call.params["version"]
        operation = operations.start(self.world, version, parent, target, metadata, response, done=True, **more)
        return Reply(body=operations.answer(operation))


class Documents(Collection):
    """A collection of documents under their full names: canonical JSON of the API's own messages, which is made, read,
    listed, changed and removed, and does nothing by itself."""

    def __init__(self, world: World, kind: Kind) -> None:
        super().__init__(world, kind)
        self._records = Repository(kind=f"vertex.{kind.message}", record=dict, key=itemgetter("name"))

    def get(self, call: Call) -> Reply:
        self.enter(call, "get")
        return self.shown(call, self.find(self.named(call)))

    def list(self, call: Call) -> Reply:
        self.enter(call, "list")
        return self.listed_below(call, self.parent(call))

    def look(self, name: str) -> Body | None:
        """Return the resource with this full name, if any."""
        return self._records.get(self.world.store, name)

    def find(self, name: str) -> Body:
        """Return the resource with this full name. Raises 404."""
        return self._records.find(self.world.store, name, f"The {self.kind.message} {name} does not exist.")

    def below(self, parent: str) -> Sequence[Body]:
        """Return all resources of this kind below a name, at whatever depth, oldest first."""
        return self._records.every(self.world.store, f"{parent}/")

    def parsed(self, call: Call) -> Body:
        """Return the client's body, reduced to the fields that it may set. Raises 400 for an unknown field."""
        return {key: value for key, value in self.sent(call).items() if key in self.kind.writable}

    def add(self, name: str, body: Mapping[str, Any]) -> Body:
        """Keep a new resource."""
        now = self.world.now()
        return self._put({**body, "name": name, "createTime": now, "updateTime": now}, "0")

    def change(self, body: Body) -> Body:
        """Keep a changed resource, with a new etag and time."""
        return self._put({**body, "updateTime": self.world.now()}, body["etag"])

    def keep(self, body: Body) -> Body:
        """Keep a resource that the service itself changed: the etag that clients hold stays good."""
        self._records.put(self.world.store, body)
        return body

    def remove(self, name: str) -> None:
        self._records.remove(self.world.store, name)

    def patched(self, call: Call, old: Body) -> Body:
        """Return a resource after a PATCH: the fields of the mask, or without one all that a client may set. Raises 400
        for a field that can't be changed, 409 ABORTED for an outdated etag."""
        sent = self.sent(call)
        if sent.get("etag", old["etag"]) != old["etag"]:
            # The official client reads both etags out of this text, and tries again with the newer one.
            raise aborted(
                f"Specified {self.kind.message} `etag`: `{sent['etag']}` does not match server `etag`: `{old['etag']}`"
            )
        fields = documents.masked(call) or self.kind.writable
        for field in fields:
            if "." in field:
                raise unimplemented(f"The update mask '{field}' names a part of a field; only whole fields are served.")
            if field not in self.kind.writable:
                raise invalid_argument(f"The field '{field}' of a {self.kind.message} can't be changed.")
        return documents.merged(old, sent, fields)

    def listed_below(self, call: Call, parent: str, functions: Mapping[str, Function] | None = None) -> Reply:
        """Return a page of the collection. Raises 400 for an invalid filter, order or page token."""
        test = document_filters.parsed(call.query.get("filter", ""), self.fields(call), functions)
        since = self.hidden_since(call) or "9"
        bodies: Iterable[Body] = (body for body in self.below(parent) if test(body) and body["createTime"] < since)
        return documents.without_empty(self.listed(call, documents.sliced(self.in_order(call, bodies))))

    def _put(self, body: Body, etag: str) -> Body:
        milliseconds = int(datetime.fromisoformat(body["updateTime"]).timestamp() * 1000)
        return self.keep({**body, "etag": str(max(milliseconds, int(etag) + 1))})


def canonical(project: Project, name: str) -> str:
    """Return a full resource name with the project's number, whatever was sent."""
    return re.sub(rf"^projects/{re.escape(project.id)}/", f"projects/{project.number}/", name)
