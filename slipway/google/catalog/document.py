"""A catalog as the text of its object: written at deploy, read by all commands; a later version's by a deployment."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from slipway.base import codec
from slipway.base.errors import ConfigError
from slipway.base.formatting import short, unfit
from slipway.base.installation import updating
from slipway.google.catalog.checks import checked
from slipway.model.catalog.forms import PLAIN_NAME
from slipway.model.catalog.model import SCHEMA, Catalog, Template
from slipway.model.kinds import CUSTOM_JOB

_ANOTHER = "publish it again with pulumi up, or choose another: slipway use gs://BUCKET"
_SHOWN = 1000
_HALF_A_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class PublishedCatalog:
    """The published catalog, of any schema, as far as decisions need it: cluster ids by name, and the ids that were
    retiring.

    `age`: the time since its publication, by the storage's own clock; None when that is unknown. `damage` tells what is
    wrong with an unreadable catalog, whose offers are unknown. `needs`: the accounts and the buckets of jobs that are
    sent by it. `stack` is its stack's name, empty when unknown. `whole` is the whole catalog, None for one that this
    version does not read. `adopted`: ids of those of `clusters` that somebody else made.
    """

    clusters: Mapping[str, str] = field(default_factory=dict)
    retiring: tuple[str, ...] = ()
    age: timedelta | None = field(default=None, compare=False)
    damage: str = ""
    needs: frozenset[str] = field(default=frozenset(), compare=False)
    stack: str = field(default="", compare=False)
    whole: Catalog | None = field(default=None, compare=False)
    adopted: frozenset[str] = frozenset()

    def lists(self, cluster_id: str) -> bool:
        """Tell whether the catalog lists a cluster that the stack made."""
        return cluster_id in {*self.retiring, *self.clusters.values()} - self.adopted

    def offers(self, name: str) -> bool:
        """Tell whether the catalog lets people send a job that needs this cluster, account or bucket."""
        return name in self.needs or name in self.clusters.values()


def as_published(catalog: Catalog) -> PublishedCatalog:
    ids = {name: one.id for name, one in catalog.clusters.items()}
    adopted = frozenset(one.id for one in catalog.clusters.values() if one.adopted)
    return PublishedCatalog(ids, catalog.retiring, whole=catalog, adopted=adopted)


def write(catalog: Catalog) -> str:
    """Write a catalog; equal catalogs give equal text."""
    body = {"schema": SCHEMA, **codec.write(catalog)}
    return json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def read(content: bytes | str, source: str) -> Catalog:
    """Parse a catalog; `source` is its address, for errors. A template that this version does not understand is there
    without parameters and offers, and says why. Raises ConfigError, with the place of the mistake."""
    try:
        body = _parsed(content)
    except (ValueError, RecursionError) as problem:
        raise _unreadable(source, f"not valid JSON: {problem}") from problem
    if not isinstance(body, dict):
        raise _unreadable(source, "not a JSON object")
    _check_schema(body.get("schema"), source)
    try:
        catalog = _catalog(body)
    except codec.MalformedError as problem:
        raise _unreadable(source, str(problem)) from None
    return replace(catalog, source=source)


def _catalog(body: Mapping[str, Any]) -> Catalog:
    entries = body.get("templates")
    if not isinstance(entries, Mapping):
        return codec.read(Catalog, body)  # Which refuses it.
    catalog = codec.read(Catalog, {**body, "templates": {}})
    return replace(catalog, templates={name: _template(name, entry, catalog) for name, entry in entries.items()})


def _template(name: str, entry: Any, catalog: Catalog) -> Template:
    """Read a template of the catalog. A newer version may have published a form of anything in it."""
    if not PLAIN_NAME.fits(name):
        raise codec.malformed(name, PLAIN_NAME.expected, "templates")
    try:
        return checked(codec.read(Template, entry, name), catalog)
    except codec.MalformedError as error:
        unread = short(str(error.under(f"templates.{name}")), _SHOWN)
        return Template(name, "", CUSTOM_JOB.name, roles=(), parameters=(), offers=(), unread=unread)


def published(content: bytes | str, source: str) -> PublishedCatalog:
    """Read the part of the published catalog that a deployment needs, also from a later version's. Never raises.

    It needs two keys of any schema: `clusters`, with `id` and `adopted`, and `retiring`. They keep their meaning
    forever, and nothing else matters: no version's catalog stops another's deployment. The stack
    (`stack`), accounts and buckets (`trainer`, `trainers`, `storage`) are read where they exist. An unreadable catalog
    has its `damage`, with its address `source`, and lists nothing.
    """
    try:
        body = _parsed(content)
    except (ValueError, RecursionError) as problem:
        return PublishedCatalog(damage=f"{source}: not valid JSON: {problem}")
    if not isinstance(body, dict):
        return PublishedCatalog(damage=f"{source}: not a JSON object")
    clusters, retiring = body.get("clusters"), body.get("retiring")
    if not isinstance(clusters, dict) or not all(
        isinstance(one, dict) and isinstance(one.get("id"), str) for one in clusters.values()
    ):
        return PublishedCatalog(damage=f"{source}: clusters is not an object of clusters with their ids")
    if not isinstance(retiring, list) or not all(isinstance(id_, str) for id_ in retiring):
        return PublishedCatalog(damage=f"{source}: retiring is not a list of ids")
    storage = body.get("storage")
    elsewhere = storage.get("workElsewhere") if isinstance(storage, dict) else None
    trainers = body.get("trainers")
    names = [
        body.get("trainer"),
        *(one for some in (storage, elsewhere, trainers) if isinstance(some, dict) for one in some.values()),
    ]
    needs = frozenset(name for name in names if isinstance(name, str) and name)
    ids, stack = {name: one["id"] for name, one in clusters.items()}, body.get("stack")
    adopted = frozenset(one["id"] for one in clusters.values() if one.get("adopted") is True)
    try:
        all_of_it = read(content, source)
    except ConfigError:
        all_of_it = None
    return PublishedCatalog(
        ids,
        tuple(retiring),
        needs=needs,
        stack=stack if isinstance(stack, str) else "",
        whole=all_of_it,
        adopted=adopted,
    )


def _parsed(content: bytes | str) -> Any:
    """Parse the content as any reader does. Raises ValueError and RecursionError, also for values that Python reads and
    JSON can't hold: numbers that are not finite, and halves of characters."""
    text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
    body = json.loads(text, parse_constant=_number, parse_float=_number)
    if _HALF_A_CHARACTER.search(text):
        json.dumps(body, ensure_ascii=False).encode()
    return body


def _number(text: str) -> float:
    if wrong := unfit(float(text)):
        raise ValueError(f"{text} {wrong}")
    return float(text)


def _check_schema(schema: object, source: str) -> None:
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < SCHEMA:
        raise _unreadable(source, f"schema is {schema!r}, where {SCHEMA} is expected")
    if schema > SCHEMA:
        raise ConfigError(
            f"the catalog {source} has schema {schema}, newer than this slipway reads (schema {SCHEMA})",
            why="it was published by a newer version",
            fix=updating(),
        )


def _unreadable(source: str, why: str) -> ConfigError:
    return ConfigError(f"the catalog {source} can't be read", why=why, fix=_ANOTHER)
