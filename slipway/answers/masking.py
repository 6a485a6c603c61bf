"""Secrets in plain text, masked in every text of a review. Pure.

A name, an error or a warning may repeat a secret that a stack or a template has, so no finding has to think of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, singledispatch
from typing import Any, Protocol, Self, TypeVar

from slipway.answers.comparison import Comparison
from slipway.answers.settings import HIDDEN
from slipway.authoring.stack.secrets import assigned, certainly_secret, looks_secret, without_named
from slipway.base import codec
from slipway.deploying.engine.preview import SECRET, UNKNOWN, Preview
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Template
from slipway.model.own_settings import OF_SECRET

_SHORTEST = 3
"""The characters of the shortest value that is masked wherever it is repeated; settings hide any by their keys."""

_WRAPPERS = frozenset({"value", "default", "defaultValue", "constant", "runtimeValue", "stringValue"})
"""Keys whose value belongs to the name beside or above them."""
_MIXED = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])\S{8,}")


class Rewritable(Protocol):
    """A review, as far as masking needs it."""

    def rewritten(self, rewrite: Callable[[str], str]) -> Self:
        """Return it with every text rewritten."""


Whole = TypeVar("Whole", bound=Rewritable)


def mask(whole: Whole, comparison: Comparison) -> Whole:
    """Return a review without secrets: by their form, by the name before them, and values that the stack declares."""
    values = sorted(declared_secrets(comparison), key=len, reverse=True)
    nothing = "(?!)"
    declared = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, values)) or nothing})(?![\w-])")

    @cache
    def rewrite(text: str) -> str:
        return declared.sub(HIDDEN, without_named(text))

    return whole.rewritten(rewrite)


def declared_secrets(comparison: Comparison) -> frozenset[str]:
    """Return the values of both sides and of the preview that are secret by name or by form."""
    preview = comparison.preview or Preview()
    declared: list[Any] = [codec.write(comparison.old), codec.write(comparison.new)]
    for step in preview.steps:
        declared += [resource.inputs for resource in filter(None, (step.old, step.new))]
    found = {*secrets_of(declared)}
    for name in comparison.old.templates.keys() & comparison.new.templates.keys():
        found.update(exposed(comparison.old.templates[name], comparison.new.templates[name]))
    names = {*_names(comparison.old), *_names(comparison.new), SECRET, UNKNOWN}
    return frozenset(value for value in found - names if len(value) >= _SHORTEST)


def secrets_of(declared: Any) -> Mapping[str, str]:
    """Return the names by values of JSON that are secret by name or by form."""
    found: dict[str, str] = {}
    # Both sides have most texts.
    for name, text in dict.fromkeys(_texts(declared, "")):
        for key, value in ((name, text), *assigned(text)):
            if _is_secret(value, key.lstrip("-")):
                found[value] = key.lstrip("-")
    return found


def exposed(old: Template, new: Template) -> Mapping[str, str]:
    """Return the variables by values that were references to secrets and are plain values now."""
    before = dict(_texts(codec.write(old), ""))
    found: dict[str, str] = {}
    for name, text in _texts(codec.write(new), ""):
        was_reference = f"{name}{OF_SECRET}" in before
        # A path and a placeholder are no secrets, whatever their name.
        is_value = _MIXED.fullmatch(text) and looks_secret(text, "SECRET")
        if was_reference and is_value:
            found[text] = name
    return found


@singledispatch
def _texts(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yield each text of JSON after its name: its key, or the name of its variable or parameter."""
    yield from ()


@_texts.register
def _(value: str, name: str) -> Iterator[tuple[str, str]]:
    yield name, value


@_texts.register
def _(value: dict, name: str) -> Iterator[tuple[str, str]]:  # type: ignore[type-arg]
    own = str(value.get("name", name))
    names = dict.fromkeys(_WRAPPERS, own)
    for key, item in value.items():
        yield from _texts(item, names.get(key) or key)


@_texts.register(list)
@_texts.register(tuple)
def _(value: Sequence[Any], name: str) -> Iterator[tuple[str, str]]:
    # A flag and its value may be two arguments.
    yield name, " ".join(item for item in value if isinstance(item, str))
    for item in value:
        yield from _texts(item, name)


def _is_secret(value: str, name: str) -> bool:
    # A plain word below a name such as `pad_token` is one of a vocabulary; a variable is not.
    if value.isalpha() and not name.isupper():
        return certainly_secret(value, name)
    return looks_secret(value, name)


def _names(catalog: Catalog) -> Iterator[str]:
    """Yield names that sentences need, even if somebody has one as a password as well."""
    yield from (catalog.stack, catalog.project, catalog.region, *catalog.clusters, *catalog.templates, *catalog.teams)
    for cluster in catalog.clusters.values():
        yield from (pool.name for pool in cluster.pools)
