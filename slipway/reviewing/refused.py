"""Stacks that `slipway check` refuses, as reviews: they were not previewed, and their comment tells why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slipway.base.errors import ConfigError
from slipway.base.formatting import short
from slipway.model.findings.finding import Subject
from slipway.model.findings.kinds import FAILED
from slipway.reviewing.consequence import consequence
from slipway.reviewing.review import Review

KIND = "check"
_LONGEST = 300
_UNREAD = "a stack file or a template is refused, so nothing was previewed"


def reviews_of(body: Mapping[str, Any], source: str) -> tuple[Review, ...]:
    """Read the output of `slipway check --output json`. The program under review may have written anything. Raises
    ConfigError where it refuses no stack."""
    try:
        stacks = {str(one["file"]): str(one["stack"]) for one in body["stacks"] if not one["ok"]}
        mistakes = [(str(one["file"]), one) for one in body["findings"]]
        found = tuple(
            _review(stack, [one for where, one in mistakes if where == file]) for file, stack in stacks.items()
        )
    except (AttributeError, LookupError, TypeError) as problem:
        why, fix = f"{type(problem).__name__}: {problem}", "make it with slipway check --output json"
        raise ConfigError(f"{source} is not a whole check", why=why, fix=fix) from problem
    if not found:
        raise ConfigError(f"{source} refuses no stack", fix="review its preview")
    return found


def _review(stack: str, mistakes: list[Mapping[str, Any]]) -> Review:
    told = [_told(one) for one in mistakes] or ["slipway check does not say why"]
    fix = short(" ".join(str(mistakes[0]["fix"]).split()), _LONGEST) if mistakes else ""
    finding = consequence(
        FAILED,
        Subject("preview"),
        "the deployment is refused",
        who="",
        so=told[0],
        instead=fix,
        details=told[1:],
    )
    return Review(stack, (finding,), incomplete=(_UNREAD,))


def _told(one: Mapping[str, Any]) -> str:
    key = f"{one['key']}: " if one["key"] else ""
    return short(" ".join(f"{one['file']}:{one['line']} {key}{one['what']}".split()), _LONGEST)
