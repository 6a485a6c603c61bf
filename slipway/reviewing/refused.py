"""Stacks that `slipway check` rejects, as reviews: they were not previewed, and their comment says why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from slipway.authoring.stack.secrets import without_named
from slipway.base.errors import ConfigError, Fault
from slipway.base.formatting import short
from slipway.deploying.engine.preview import REFUSED
from slipway.reviewing.rejection import rejection
from slipway.reviewing.review import Review

KIND = "check"
_LONGEST = 300
_UNREAD = f"{REFUSED}; nothing was previewed, so other effects are unknown"
_UNEXPLAINED = ("slipway check does not say why", "run slipway check")


def reviews_of(body: Mapping[str, Any], source: str) -> tuple[Review, ...]:
    """Read the output of `slipway check --output json`. The program under review may have written anything.

    Raises ConfigError if it is malformed or rejects no stack.
    """
    mistakes: dict[str, list[tuple[str, str]]] = defaultdict(list)
    try:
        stacks = {str(stack["file"]): str(stack["stack"]) for stack in body["stacks"] if not stack["ok"]}
        for mistake in body["findings"]:
            mistakes[str(mistake["file"])].append(_shown(mistake))
    except (AttributeError, LookupError, TypeError) as problem:
        why = f"{type(problem).__name__}: {problem}"
        fix = "make it with slipway check --output json"
        raise ConfigError(f"{source} is not a whole check", why=why, fix=fix) from problem
    reviews = []
    for file, stack in stacks.items():
        (first, fix), *others = mistakes[file] or [_UNEXPLAINED]
        found = rejection(Fault(first, fix=" ".join(fix.split())), [what for what, _ in others])
        reviews.append(Review(stack, (found,), incomplete=(_UNREAD,), undeployed=True))
    if not reviews:
        raise ConfigError(f"{source} rejects no stack", fix="review its preview")
    return tuple(reviews)


def _shown(mistake: Mapping[str, Any]) -> tuple[str, str]:
    """Return a mistake with its place, and its fix."""
    key = f"{mistake['key']}: " if mistake["key"] else ""
    what = without_named(f"{mistake['file']}:{mistake['line']} {key}{mistake['what']}")
    return short(" ".join(what.split()), _LONGEST), without_named(str(mistake["fix"]))
