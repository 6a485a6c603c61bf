"""The methods of a resource type that the provider calls."""

from dataclasses import dataclass
from typing import Any

from .checking import Failure
from .cloud import Cloud
from .schema import Schema
from .settings import Settings
from .transport import CloudError, GoogleError
from .values import Properties


class ImportIdError(CloudError):
    """An id that names no resource of the type."""

    def __init__(self, token: str, given: str, forms: tuple[str, ...]) -> None:
        ways = " or ".join(forms) if forms else "nothing: this type can't be imported"
        super().__init__(f"import id {given!r} does not fit {token}; expected {ways}")


@dataclass(frozen=True)
class Found:
    """A resource in the cloud: its id and its state."""

    id: str
    state: dict[str, Any]


class Kind:
    """A resource type. States are property maps of its schema; `planned` is the state to come, COMPUTED left in."""

    schema: Schema

    def check(self, inputs: Properties) -> list[Failure]:
        """Return the errors in inputs, beyond the schema's."""
        return []

    def drift(self, old: Properties, planned: Properties) -> dict[str, Any]:
        """Return planned values that follow from others, e.g. a hash from the content; `old` is empty for a create."""
        return {}

    def create(self, cloud: Cloud, planned: Properties) -> Found:
        """Make the resource and read it."""
        raise NotImplementedError

    def read(self, cloud: Cloud, id: str, state: Properties) -> Found | None:
        """Return the resource's present state, None when the cloud no longer has it. `state` is the last known one."""
        raise NotImplementedError

    def update(self, cloud: Cloud, id: str, old: Properties, planned: Properties) -> Found:
        """Change the resource in place and read it."""
        raise NotImplementedError

    def delete(self, cloud: Cloud, id: str, state: Properties) -> None:
        """Remove the resource; one that is gone already counts as removed."""
        raise NotImplementedError

    def locate(self, id: str, settings: Settings) -> Found:
        """Return the full id, and a state with just enough for a read. Raises ImportIdError."""
        raise NotImplementedError

    def reread(self, cloud: Cloud, id: str, planned: Properties) -> Found:
        """Return the state of a resource that was made or changed just now. Raises CloudError when it is not there."""
        read = self.read(cloud, id, planned)
        if read is None:
            raise CloudError(f"{self.schema.title} {id} is not there right after it was sent")
        return read

    def fetched(self, cloud: Cloud, service: str, path: str, id: str, **parts: Any) -> Any:
        """Return the JSON of a GET, None where the cloud has no such resource; `id` is for errors."""
        try:
            return cloud.send(service, "GET", path, **parts)
        except GoogleError as error:
            if error.code == 404:
                return None
            raise CloudError(f'Error when reading or editing {self.schema.title} "{id}": {error}') from error


def project_of(planned: Properties) -> str:
    """Return the project of a resource that is to be made. Raises CloudError."""
    project = planned.get("project")
    if not isinstance(project, str) or not project:
        raise CloudError("project: required field is not set (neither on the resource nor as gcp:project)")
    return project


def guarded(title: str, id: str, state: Properties) -> bool:
    """Return whether a delete is to be left out (ABANDON). Raises CloudError under PREVENT."""
    policy = state.get("deletionPolicy")
    if policy == "PREVENT":
        raise CloudError(
            f'cannot destroy {title} {id!r}: its deletionPolicy is "PREVENT"; '
            'set it to "DELETE" and run `pulumi up` before it can be deleted'
        )
    return bool(policy == "ABANDON")
