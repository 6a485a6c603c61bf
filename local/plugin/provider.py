"""The provider without its wire: the engine's questions about resources, answered from the types' schemas."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import checking, comparing, planning, reading
from .checking import Checked
from .cloud import Cloud
from .comparing import Change
from .kind import Found, Kind
from .pace import Pace
from .resources.bucket import Bucket
from .resources.bucket_object import BucketObject
from .resources.iam_member import BUCKET, PROJECT, SERVICE_ACCOUNT, IamMember
from .resources.persistent_resource import PersistentResource
from .resources.quota_preference import QuotaPreference
from .resources.service_account import ServiceAccount
from .settings import Settings
from .transport import CloudError, Transport
from .values import Properties
from .written import written


class RefusedError(Exception):
    """A call of a function; the official plugin may know it."""

    def __init__(self, function: str) -> None:
        super().__init__(
            f"the local gcp plugin does not know the function {function}, nor any other: it has resources alone. "
            "SLIPWAY_GCP_PLUGIN=auto (or the path of one) takes the official gcp plugin instead"
        )


class UpdateError(CloudError):
    """An update that was refused: the official provider keeps the requested values as the state, until a refresh."""

    def __init__(self, what: str, read: Found) -> None:
        super().__init__(what)
        self.found = read


@dataclass(frozen=True)
class Difference:
    """The changes that an update would make."""

    changes: tuple[Change, ...]
    delete_first: bool

    @property
    def replaces(self) -> list[str]:
        """The top-level properties whose changes need a new resource."""
        return sorted({change.top for change in self.changes if change.replace})

    @property
    def properties(self) -> list[str]:
        """All top-level properties that change."""
        return sorted({change.top for change in self.changes})


@dataclass(frozen=True)
class Reading:
    """A resource that was read: the whole state, and the inputs that describe it."""

    found: Found
    inputs: dict[str, Any]


def kinds() -> Mapping[str, Kind]:
    """Return the resource types by their tokens."""
    known: tuple[Kind, ...] = (
        PersistentResource(),
        QuotaPreference(),
        Bucket(),
        BucketObject(),
        IamMember(BUCKET),
        ServiceAccount(),
        IamMember(SERVICE_ACCOUNT),
        IamMember(PROJECT),
    )
    return {kind.schema.token: kind for kind in known}


class Provider:
    """A configured provider. Safe to use from several threads."""

    def __init__(self, settings: Settings, pace: Pace) -> None:
        self.settings = settings
        self._pace = pace
        self._transport = Transport(settings, pace)
        self._kinds = kinds()

    def kind(self, token: str) -> Kind:
        """Return the type of a token."""
        return self._kinds[token]

    def check(self, token: str, given: Properties, old: Properties, logical: str, seed: bytes) -> Checked:
        """Return the inputs, completed and checked."""
        kind = self.kind(token)
        checked = checking.check(kind.schema, given, old, logical, seed)
        return Checked(checked.inputs, (*checked.failures, *kind.check(checked.inputs)))

    def plan(self, token: str, old: Properties | None, inputs: Properties) -> dict[str, Any]:
        """Return the state to come."""
        kind = self.kind(token)
        planned = planning.plan(kind.schema, old, inputs, self.settings)
        return planned | kind.drift(old or {}, planned)

    def difference(self, token: str, old: Properties, inputs: Properties) -> Difference:
        """Return the changes that an update would make."""
        schema = self.kind(token).schema
        changes = comparing.compare(schema, old, self.plan(token, old, inputs))
        return Difference(changes, comparing.deletes_first(schema, inputs, changes))

    def create(self, token: str, inputs: Properties, timeout: float) -> Found:
        """Make the resource. `timeout` in seconds, 0 for the type's own."""
        kind = self.kind(token)
        return kind.create(self._cloud(kind, timeout), self.plan(token, None, inputs))

    def read(self, token: str, id: str, state: Properties, inputs: Properties) -> Reading | None:
        """Read a resource again, or for the first time (an import: no state); None when it is not there."""
        kind = self.kind(token)
        known = Found(id, dict(state)) if state else kind.locate(id, self.settings)
        read = kind.read(self._cloud(kind, 0), known.id, known.state)
        if read is None:
            return None
        schema = kind.schema
        whole = Found(read.id, written(schema, read.id, read.state, state, read=True))
        now = reading.refreshed(schema, inputs, whole.state) if state else reading.imported(schema, whole.state)
        return Reading(whole, now)

    def update(self, token: str, id: str, old: Properties, inputs: Properties, timeout: float) -> Found:
        """Change the resource in place. Raises UpdateError."""
        kind = self.kind(token)
        planned = self.plan(token, old, inputs)
        try:
            return kind.update(self._cloud(kind, timeout), id, old, planned)
        except CloudError as problem:
            raise UpdateError(str(problem), Found(id, planning.settled(planned, old))) from problem

    def delete(self, token: str, id: str, state: Properties, timeout: float) -> None:
        """Remove the resource."""
        kind = self.kind(token)
        kind.delete(self._cloud(kind, timeout), id, state)

    def _cloud(self, kind: Kind, timeout: float) -> Cloud:
        seconds = timeout or kind.schema.default_timeout
        return Cloud(self._transport, self.settings, self._pace, seconds, self._pace.now() + seconds)


def type_and_name(urn: str) -> tuple[str, str]:
    """Return the type of a resource and its name in the program, from its URN."""
    _, _, types, name = urn.split("::", 3)
    return types.rsplit("$", 1)[-1], name
