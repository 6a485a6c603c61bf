"""Field errors in the service's wording."""

from collections.abc import Sequence
from dataclasses import dataclass

from local.cloud.wire import ApiError, invalid_argument


@dataclass(frozen=True)
class Mistake:
    """A field's path, as in `persistent_resource.resource_pools[0].id`, and what is wrong with it."""

    field: str
    message: str


def field_errors(mistakes: Sequence[Mistake]) -> ApiError:
    """400 INVALID_ARGUMENT: `List of found errors: 1.Field: …; Message: …`, with a BadRequest detail."""
    listed = "\t".join(f"{n}.Field: {item.field}; Message: {item.message}" for n, item in enumerate(mistakes, 1))
    violations = [{"field": item.field, "description": item.message} for item in mistakes]
    detail = {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations}
    return invalid_argument(f"List of found errors:\t{listed}\t", [detail])


def refuse(mistakes: Sequence[Mistake]) -> None:
    """Raises the 400 of all mistakes, if there are any."""
    if mistakes:
        raise field_errors(mistakes)
