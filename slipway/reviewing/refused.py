"""Stacks that `slipway check` refuses, as reviews: they were not previewed, and their comment tells why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slipway.authoring.stack.secrets import without_named
from slipway.base.errors import ConfigError, Fault
from slipway.base.formatting import short
from slipway.deploying.engine.preview import REFUSED
from slipway.reviewing.review import Review
from slipway.reviewing.rules.program import refusal

KIND = "check"


def reviews_of(body: Mapping[str, Any], source: str) -> tuple[Review, ...]:
    """Read the output of `slipway check --output json`. The program under review may have written anything. Raises
    ConfigError where it refuses no stack."""
    try:
        stacks = {str(stack["file"]): str(stack["stack"]) for stack in body["stacks"] if not stack["ok"]}
        mistakes = [(str(mistake["file"]), *_told(mistake)) for mistake in body["findings"]]
    except (AttributeError, LookupError, TypeError) as problem:
        why, fix = f"{type(problem).__name__}: {problem}", "make it with slipway check --output json"
        raise ConfigError(f"{source} is not a whole check", why=why, fix=fix) from problem
    reviews = []
    for file, stack in stacks.items():
        theirs = [(told, fix) for where, told, fix in mistakes if where == file]
        (first, fix), *others = theirs or [("slipway check does not say why", "type slipway check")]
        told = refusal(Fault(first, fix=" ".join(fix.split())), (other for other, _ in others))
        unread = f"{REFUSED}; nothing was previewed, so nobody can tell what else would come"
        reviews.append(Review(stack, (told,), incomplete=(unread,), undeployed=True))
    if not reviews:
        raise ConfigError(f"{source} refuses no stack", fix="review its preview")
    return tuple(reviews)


def _told(mistake: Mapping[str, Any]) -> tuple[str, str]:
    key = f"{mistake['key']}: " if mistake["key"] else ""
    told = without_named(f"{mistake['file']}:{mistake['line']} {key}{mistake['what']}")
    return short(" ".join(told.split()), 300), without_named(str(mistake["fix"]))
