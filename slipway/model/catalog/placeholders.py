"""Placeholders `${name}` in a template's text, and their values. Vertex AI expands `$(NAME)` by itself, not these.

A template writes `$${` for a `${` that is no placeholder. A catalog has DOLLAR there, as catalogs have always had a `$`
and a value as `$${name}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

from slipway.model.catalog.parameter_types import listed

JOB, REQUEST, OUTPUT = "slipway.job", "slipway.request", "slipway.output"
PACKAGE, SWEEP, EXPERIMENT_RUN = "slipway.package", "slipway.sweep", "slipway.experimentRun"
BUILT_IN = (JOB, REQUEST, OUTPUT, PACKAGE, SWEEP, EXPERIMENT_RUN)
"""The submission's own values: display name, request id, and gs:// output directory; gs:// package, which --code
replaces; the sweep it belongs to, empty outside of one; and the run of its experiment."""

KIND = "slipway.kind"
"""The job's kind, as `--as` names it: filled in by a deployment, so that no catalog has it."""

DOLLAR = "slipway.dollar"
"""The `$` of a `${` that is no placeholder, in a catalog's text."""

NUMERIC = frozenset(
    {"replicaCount", "acceleratorCount", "bootDiskSizeGb", "maxTrialCount", "parallelTrialCount", "maxFailedTrialCount"}
)
"""The keys of a request under which a placeholder that is the whole text stands for a number."""

_PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")
_ESCAPED = re.compile(r"(?<!\$)((?:\$\$)+)(?=\{)")
_DOLLARS = re.compile(r"\$+(?=\{)")


def placeholder(name: str) -> str:
    """Return `${name}`."""
    return f"${{{name}}}"


def names(text: str) -> tuple[str, ...]:
    """Return the placeholders in a text, in order, without DOLLAR, whose value never changes."""
    return tuple(name for name in _PLACEHOLDER.findall(text) if name != DOLLAR)


def escaped(text: str) -> str:
    """Return a text as a template writes it where no `${` in it is a placeholder: each `$` before a `{` twice."""
    return _DOLLARS.sub(lambda dollars: dollars[0] * 2, text)


def unescaped(value: Any) -> Any:
    """Return a template's text, or JSON of such texts, as a catalog has it.

    Of 2n `$` before a `{` n are left, the last of them as DOLLAR. Where their number is odd, the last one begins a
    placeholder, and the others are halved before it.
    """

    def text(written: str, *_: object) -> str:
        return _ESCAPED.sub(lambda match: "$" * (len(match[0]) // 2 - 1) + placeholder(DOLLAR), written)

    return rewritten(value, {}, text)


def whole(text: str) -> str | None:
    """Return the name when the text is one placeholder and nothing else."""
    match = _PLACEHOLDER.fullmatch(text)
    return match[1] if match else None


def render(value: object) -> str:
    """Return a parameter's value as it is typed, a single one as arguments have it; JSON takes numbers as texts too."""
    if isinstance(value, tuple):
        return listed([*map(render, value)])
    if isinstance(value, bool):
        return "true" if value else "false"
    # Written as in JSON: `str` of an enum's member is its name, whatever it equals.
    if isinstance(value, str):
        return str.__str__(value)
    plain = next((kind for kind in (int, float) if isinstance(value, kind)), None)
    return str(value) if plain is None else plain.__repr__(value)


def single(value: Any) -> Any:
    """Return the value of an array or a tensor without dimensions, which Python takes for no number."""
    return value.item() if getattr(value, "ndim", None) == 0 and not isinstance(value, Real) else value


def with_numbers(value: Any) -> Any:
    """Return JSON with 1 for each placeholder that stands for a number."""
    return rewritten(value, {}, lambda text, keys, _: 1 if {*keys[-1:]} & NUMERIC and whole(text) else text)


def joined(value: object) -> str:
    """Return a parameter's value as it stands within a text: the items of a list with commas between them."""
    return ",".join(map(render, value)) if isinstance(value, tuple) else render(value)


def rewritten(
    value: Any,
    values: Mapping[str, Any],
    text: Callable[[str, tuple[str, ...], Mapping[str, Any]], Any],
    keys: tuple[str, ...] = (),
) -> Any:
    """Return JSON with each text as `text` has it, which is given the keys that lead there, from the outermost, and the
    values of its placeholders. An item that is the placeholder of a list is there once for each of its values."""
    if isinstance(value, str):
        return text(value, keys, values)
    if isinstance(value, Mapping):
        return {key: rewritten(item, values, text, (*keys, key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rewritten(item, of_item, text, keys) for item, of_item in _spread(value, values)]
    return value


def _spread(value: Sequence[Any], values: Mapping[str, Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    for item in value:
        name = whole(item) if isinstance(item, str) and item.startswith("$") else None
        several = values.get(name) if name else None
        if isinstance(several, tuple):
            yield from ((item, {**values, name: each}) for each in several)
        else:
            yield item, values


def fill(value: Any, values: Mapping[str, Any]) -> Any:
    """Return `value` (JSON) with each placeholder of `values` filled in; others are unchanged."""

    def text(written: str, _: object, known: Mapping[str, Any]) -> str:
        return _PLACEHOLDER.sub(lambda match: joined(known[match[1]]) if match[1] in known else match[0], written)

    return rewritten(value, values, text)
