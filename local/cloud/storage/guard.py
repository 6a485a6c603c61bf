"""Who may do what in Storage, the preconditions of a call, and its checked body."""

from typing import Any

from local.cloud import discovery, identities
from local.cloud.access import policies
from local.cloud.storage import errors
from local.cloud.storage.records import Version
from local.cloud.wire import ApiError, Call
from local.cloud.world import World


class Guard:
    def __init__(self, world: World) -> None:
        self._access = world.access

    def project(self, call: Call, permission: str, project: str) -> None:
        """Raises 400 for a missing project, 403 unless granted on it."""
        if not project:
            raise errors.required("project")
        known = project in (identities.PROJECT_ID, identities.PROJECT_NUMBER)
        if not known or not self._access.granted(call.principal, permission):
            raise errors.forbidden(call.principal, permission, "project")

    def bucket(self, call: Call, permission: str, bucket: str) -> None:
        """Raises 403 unless granted on the bucket."""
        if not self._access.granted(call.principal, permission, policies.bucket_name(bucket)):
            kind = "object" if permission.startswith("storage.objects.") else "bucket"
            raise errors.forbidden(call.principal, permission, kind)

    def tested(self, call: Call, permissions: list[str], bucket: str) -> list[str]:
        return self._access.tested(call.principal, permissions, policies.bucket_name(bucket))


def check_object_conditions(
    call: Call, version: Version | None, *, source: bool = False, reading: bool = False
) -> None:
    """`ifGenerationMatch` and its kin, or `ifSource…`. Raises 412 conditionNotMet; 304 for a reader's NotMatch."""
    check_conditions(
        call,
        version.generation if version else 0,
        version.metageneration if version else 0,
        "ifSource" if source else "if",
        reading,
    )


def check_conditions(
    call: Call, generation: int, metageneration: int, prefix: str = "if", reading: bool = False
) -> None:
    """The preconditions of a call against what exists (0 when nothing does)."""
    for word, actual in (("Generation", generation), ("Metageneration", metageneration)):
        match, no_match = f"{prefix}{word}Match", f"{prefix}{word}NotMatch"
        if match in call.query and call.integer(match) != actual:
            raise errors.condition_not_met()
        if no_match in call.query and call.integer(no_match) == actual:
            raise errors.error(304, "notModified", "Not Modified") if reading else errors.condition_not_met()


def checked(call: Call, schema: str) -> dict[str, Any]:
    """The body, checked against a schema of the discovery document. A patch keeps its nulls, as it removes what they
    stand for. Raises 400 invalid."""
    sent = call.object()
    found = checked_body(sent, schema)
    return sent if call.method == "PATCH" else found


def checked_body(body: dict[str, Any], schema: str) -> dict[str, Any]:
    """The body without its nulls. Raises 400 invalid."""
    try:
        return discovery.parsed("storage.v1", schema, body)
    except ApiError as problem:
        raise errors.invalid(problem.message) from problem
