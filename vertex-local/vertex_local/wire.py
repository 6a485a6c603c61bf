"""The values on the wire: calls, replies, errors and routes, free of any web framework."""

import ipaddress
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

JSON_MEDIA = "application/json; charset=UTF-8"
_DIGITS = 300
"""The digits of a whole number that is surely within a double's range."""
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?")


class ApiError(Exception):
    """An answer that is an error, in Google's shape `{"error": {code, message, status, details}}`.

    `reason` is the older APIs' word for it (`notFound`, `conditionNotMet`): Storage clients read `errors[].reason`, and
    an error that has a reason is written in that older shape as well.
    """

    def __init__(
        self,
        code: int,
        status: str,
        message: str,
        details: Sequence[Mapping[str, Any]] = (),
        *,
        reason: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.status, self.message, self.details, self.reason = code, status, message, tuple(details), reason

    def body(self) -> dict[str, Any]:
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.reason is not None:
            error["errors"] = [{"message": self.message, "domain": "global", "reason": self.reason, **self._place()}]
        else:
            error["status"] = self.status
        if self.details:
            error["details"] = [dict(detail) for detail in self.details]
        return {"error": error}

    def _place(self) -> dict[str, str]:
        """Return where a condition stands that did not hold, by Cloud Storage also of one that no header named."""
        return {"locationType": "header", "location": "If-Match"} if self.code == 412 else {}


def invalid_argument(message: str, details: Sequence[Mapping[str, Any]] = ()) -> ApiError:
    return ApiError(400, "INVALID_ARGUMENT", message, details)


def failed_precondition(message: str) -> ApiError:
    return ApiError(400, "FAILED_PRECONDITION", message)


def unauthenticated() -> ApiError:
    return ApiError(
        401,
        "UNAUTHENTICATED",
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
        "authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.",
    )


def permission_denied(message: str) -> ApiError:
    return ApiError(403, "PERMISSION_DENIED", message)


def service_disabled(api: str, number: str) -> ApiError:
    """Return the answer of every method of an API that is not enabled in the project with this number."""
    link = f"https://console.developers.google.com/apis/api/{api}/overview?project={number}"
    consumer = f"projects/{number}"
    return ApiError(
        403,
        "PERMISSION_DENIED",
        f"{api} has not been used in project {number} before or it is disabled. Enable it by "
        f"visiting {link} then retry. If you enabled this API recently, wait a few minutes for the action to propagate "
        "to our systems and retry.",
        [
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "SERVICE_DISABLED",
                "domain": "googleapis.com",
                "metadata": {"service": api, "consumer": consumer},
            }
        ],
    )


def not_found(message: str) -> ApiError:
    return ApiError(404, "NOT_FOUND", message)


def already_exists(message: str) -> ApiError:
    return ApiError(409, "ALREADY_EXISTS", message)


def aborted(message: str) -> ApiError:
    return ApiError(409, "ABORTED", message)


def resource_exhausted(message: str, details: Sequence[Mapping[str, Any]] = ()) -> ApiError:
    return ApiError(429, "RESOURCE_EXHAUSTED", message, details)


def unimplemented(message: str) -> ApiError:
    return ApiError(501, "UNIMPLEMENTED", message)


def unavailable(message: str) -> ApiError:
    return ApiError(503, "UNAVAILABLE", message)


@dataclass(frozen=True)
class Call:
    """A request whose sender is known. Names in the query are those that fields have in JSON."""

    #: `user:…` or `serviceAccount:…`.
    principal: str
    token: str = field(repr=False)
    method: str
    #: Without `/t/TOKEN`.
    path: str
    #: From the route's template, percent-decoded.
    params: Mapping[str, str]
    #: The last value of a repeated key; all are in `pairs`.
    query: Mapping[str, str]
    #: By lower-case names.
    headers: Mapping[str, str]
    raw: bytes = field(default=b"", repr=False)
    pairs: tuple[tuple[str, str], ...] = ()
    base_url: str = ""

    def json(self) -> Any:
        """Return the body as JSON, `{}` when there is none. Raises 400 INVALID_ARGUMENT when it is not JSON."""
        return parsed_json(self.raw) if self.raw.strip() else {}

    def object(self) -> dict[str, Any]:
        """Return the body as a JSON object. Raises 400 INVALID_ARGUMENT for anything else."""
        body = self.json()
        if not isinstance(body, dict):
            raise invalid_argument("Invalid JSON payload received. The body must be a JSON object.")
        return body

    def nothing(self) -> None:
        """Raise 400 INVALID_ARGUMENT for a body that has a field, where the method takes none."""
        for name in self.object():
            raise invalid_argument(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.')

    def values(self, name: str) -> tuple[str, ...]:
        """Return all values of a repeated query parameter."""
        return tuple(value for key, value in self.pairs if key == name)

    def flag(self, name: str) -> bool:
        """Return whether a query parameter is `true` in any case (clients send `True`)."""
        return self.query.get(name, "").lower() == "true"

    def integer(self, name: str, default: int = 0) -> int:
        """Return a query parameter as an integer. Raises 400 INVALID_ARGUMENT when it is not one."""
        text = self.query.get(name, "")
        if not text:
            return default
        try:
            return int(text)
        except ValueError as error:
            raise invalid_argument(f"Invalid value at '{name}' (TYPE_INT64), \"{text}\"") from error


@dataclass(frozen=True)
class FileSlice:
    """A part of an open file as a reply's body, in bytes, sent without reading it into memory, then closed."""

    file: BinaryIO
    start: int
    length: int


@dataclass(frozen=True)
class Reply:
    """An answer."""

    status: int = 200
    #: JSON (dict, list or None), bytes, or a slice of a file.
    body: Any = None
    media: str = JSON_MEDIA
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[[Call], Reply]


def parsed_json(raw: bytes) -> Any:
    """Return a text's JSON. Raises 400 INVALID_ARGUMENT for text that is not JSON in UTF-8, or can't be written again:
    Python's parser takes `NaN`, and halves of characters (`"\\ud800"`), too."""
    try:
        document = json.loads(raw.decode(), parse_constant=_no_constant, parse_float=_finite, parse_int=_whole)
        if b"\\u" in raw:
            json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise invalid_argument("Invalid JSON payload received. A surrogate stands alone in a string.") from error
    except ValueError as error:
        raise invalid_argument(f"Invalid JSON payload received. {error}") from error
    return document


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is beyond the range of a double.")
    return number


def _whole(text: str) -> int:
    """Return a whole number within a double's range, as whatever makes a double of it needs."""
    if len(text) > _DIGITS:
        _finite(text)
    return int(text)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON.")


@dataclass(frozen=True)
class Route:
    """A method and a path template.

    `{name}` is one segment without a colon, `{name:any}` one segment, `{name:path}` one or more segments, `{name:a|b}`
    one of these words. Text after a parameter is literal: `…/customJobs/{job}:cancel`. At its end `?name` is a
    parameter that the query must have.
    """

    method: str
    template: str
    handler: Handler
    #: The service's (`storage.googleapis.com`), "" for the local cloud's own.
    api: str = ""


def camel(name: str) -> str:
    """Return a field's name in snake_case as JSON has it."""
    return re.sub(r"_([a-z])", lambda hit: hit[1].upper(), name)


def loopback(host: str) -> bool:
    """Return whether a Host header names this machine by a loopback address, or as `localhost`.

    A browser sends the name that a page was loaded from, whatever address that name was made to have.
    """
    match = _HOST.fullmatch(host.strip())
    if match is None:
        return False
    name = match[1].strip("[]")
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
