"""A review as a JSON document and back: what one job of a workflow hands to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slipway import codec
from slipway.errors import ConfigError
from slipway.formatting import join
from slipway.review.review import Review

SCHEMA = 1
KIND, KINDS = "review", "reviews"
_BEFORE = ("schema", "kind", "stack", "worst", "incomplete", "money", "quota", "policy")
_KEYS = (*_BEFORE, "consequences", "standing", "plan", "notes", "onMain")
"""In their order, which is part of the interface. All must be there: what is cut short would hide consequences."""


def write(review: Review) -> dict[str, Any]:
    """Amounts are USD an hour."""
    worst = review.worst and review.worst.review_word
    return {**dict.fromkeys(_KEYS), "schema": SCHEMA, "kind": KIND, "worst": worst, **codec.document(review)}


def write_all(reviews: Sequence[Review]) -> dict[str, Any]:
    """Write one review as such, several in a list."""
    documents = [write(one) for one in reviews]
    return documents[0] if len(documents) == 1 else {"schema": SCHEMA, "kind": KINDS, "reviews": documents}


def read_all(bodies: object, source: str) -> tuple[Review, ...]:
    """Read the reviews of a list. Raises ConfigError as `read` does."""
    if not isinstance(bodies, list):
        raise ConfigError(f"{source} is not a whole document", why="it has no list of reviews", fix="make it again")
    return tuple(read(one, source) for one in bodies)


def read(body: object, source: str) -> Review:
    """Raises ConfigError for what is not such a document; `source` names it."""
    told = body if isinstance(body, Mapping) else {}
    if told.get("kind") != KIND or told.get("schema") != SCHEMA:
        raise ConfigError(
            f"{source} is not a review that this version reads",
            why=f"kind {told.get('kind')!r}, schema {told.get('schema')!r}; it should be {KIND!r} and {SCHEMA}",
            fix="make it with slipway review --output json",
        )
    try:
        if missing := [key for key in _KEYS if key not in told]:
            raise codec.MalformedError("is missing", join(missing))
        return codec.read(Review, told)
    except codec.MalformedError as problem:
        raise ConfigError(f"{source} is not a whole review", why=str(problem), fix="make it again") from problem
