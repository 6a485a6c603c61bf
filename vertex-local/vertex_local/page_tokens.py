"""Page tokens: the position of the next page, bound to the question that it continues."""

import base64
import hashlib
import json
from typing import Any

from .discovery import is_shared
from .wire import Call, invalid_argument

_PAGING = ("pageToken", "pageSize")


def written(position: Any, question: Any) -> str:
    """Return the token for a position (JSON). `question` is everything that the next call has to ask again."""
    return base64.urlsafe_b64encode(json.dumps([_mark(question), position]).encode()).decode()


def position(token: str, question: Any) -> Any:
    """Return the position in a token. Raises 400 INVALID_ARGUMENT for a foreign token, or one of another question."""
    try:
        mark, place = json.loads(base64.b64decode(token, altchars="-_", validate=True))
    except (ValueError, TypeError) as error:
        raise invalid_argument("Invalid page token.") from error
    if mark != _mark(question):
        raise invalid_argument("Invalid page token: it does not match the other arguments of the request.")
    return place


def asked(call: Call) -> Any:
    """Return the question, the same for each page: a call without page, size and what every method takes."""
    own = (pair for pair in call.pairs if pair[0] not in _PAGING and not is_shared(pair[0]))
    return [call.path, sorted(pair for pair in own if not pair[0].startswith("$"))]


def _mark(question: Any) -> str:
    return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:16]
