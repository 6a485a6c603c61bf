"""Cloud Storage's errors: the older JSON shape with `errors[].reason`, and the service's words."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..wire import ApiError

_STATUS = {
    400: "INVALID_ARGUMENT",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ALREADY_EXISTS",
    501: "UNIMPLEMENTED",
}


def error(code: int, reason: str, message: str) -> ApiError:
    return ApiError(code, _STATUS.get(code, "FAILED_PRECONDITION"), message, reason=reason)


def invalid(message: str) -> ApiError:
    return error(400, "invalid", message)


def required(name: str) -> ApiError:
    return error(400, "required", f"Required parameter: {name}")


def no_object(bucket: str, name: str) -> ApiError:
    return error(404, "notFound", f"No such object: {bucket}/{name}")


def conflict(message: str) -> ApiError:
    return error(409, "conflict", message)


def condition_not_met() -> ApiError:
    return error(412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.")


def violated(message: str) -> ApiError:
    """Return the 412 for what an organisation's policy does not let through."""
    return error(412, "conditionNotMet", message)


def not_public() -> ApiError:
    """Return the 412 for a grant to everybody on a bucket that must not be public."""
    return error(
        412,
        "conditionNotMet",
        "The member bindings allUsers and allAuthenticatedUsers are not allowed since public access prevention is "
        "enforced.",
    )


@contextmanager
def shaped() -> Iterator[None]:
    """Give a 400 or a 501 of what all services share the shape of Storage's."""
    try:
        yield
    except ApiError as problem:
        if problem.status == "FAILED_PRECONDITION" and problem.reason is None:
            raise violated(problem.message) from problem
        if problem.code == 400 and problem.reason is None:
            raise invalid(problem.message) from problem
        if problem.code == 501 and problem.reason is None:
            raise error(501, "notImplemented", problem.message) from problem
        raise


def forbidden(principal: str, permission: str, kind: str) -> ApiError:
    """Return a 403; `kind` is `bucket`, `object` or `project`."""
    email = principal.partition(":")[2]
    return error(
        403,
        "forbidden",
        f"{email} does not have {permission} access to the Google Cloud {'Storage ' * (kind != 'project')}{kind}. "
        f"Permission '{permission}' denied on resource (or it may not exist).",
    )


def not_implemented(what: str) -> ApiError:
    return error(501, "notImplemented", f"{what} is not implemented by the local cloud.")
