"""Secrets in plain text, masked in every text of a review. Pure.

A name, an error or a warning may repeat a secret that a stack or a template has, so no finding has to think of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from typing import Any, Protocol, Self, TypeVar

from slipway.answers.comparison import Comparison
from slipway.answers.settings import HIDDEN
from slipway.authoring.stack.secrets import assigned, certainly_secret, looks_secret, without_named
from slipway.base import codec
from slipway.deploying.engine.preview import SECRET, UNKNOWN
from slipway.model.catalog.model import Catalog

_SHORTEST = 3
"""The characters of the shortest value that is masked wherever it is repeated; settings hide any by their keys."""


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
    declared: list[Any] = [codec.write(comparison.old), codec.write(comparison.new)]
    steps = comparison.preview.steps if comparison.preview else ()
    resources = chain.from_iterable((step.old, step.new) for step in steps)
    declared += [resource.inputs for resource in filter(None, resources)]
    texts: set[tuple[str, str]] = set()
    _collect(declared, "", texts)
    found: set[str] = set()
    for name, text in texts:
        found.update(_secrets(name, text))
    names = {*_names(comparison.old), *_names(comparison.new), SECRET, UNKNOWN}
    return frozenset(value for value in found - names if len(value) >= _SHORTEST)


def _collect(value: Any, name: str, found: set[tuple[str, str]]) -> None:
    """Add each text of JSON with its name: its key, or the name of its variable or parameter."""
    if isinstance(value, str):
        found.add((name, value))
    elif isinstance(value, dict):
        own = str(value.get("name", ""))
        for key, item in value.items():
            is_value = bool(own) and key in ("value", "default")
            _collect(item, own if is_value else key, found)
    elif isinstance(value, list | tuple):
        # A flag and its value may be two arguments.
        found.add((name, " ".join(item for item in value if isinstance(item, str))))
        for item in value:
            _collect(item, name, found)


def _secrets(name: str, text: str) -> Iterator[str]:
    for key, value in ((name, text), *assigned(text)):
        key = key.lstrip("-")
        # A plain word below a name such as `pad_token` is one of a vocabulary; a variable is not.
        is_word = value.isalpha() and not key.isupper() and not certainly_secret(value, key)
        if looks_secret(value, key) and not is_word:
            yield value


def _names(catalog: Catalog) -> Iterator[str]:
    """Yield names that sentences need, even if somebody has one as a password as well."""
    yield from (catalog.stack, catalog.project, catalog.region, *catalog.clusters, *catalog.templates, *catalog.teams)
    for cluster in catalog.clusters.values():
        yield from (pool.name for pool in cluster.pools)
