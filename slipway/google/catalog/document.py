"""A catalog as the text of its object: written at deploy, read by all commands; a later version's by a deployment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from typing import Any

from slipway.base import codec
from slipway.base.errors import ConfigError
from slipway.base.formatting import short, unfit
from slipway.base.installation import updating
from slipway.google.catalog.checks import checked
from slipway.model.catalog.forms import PLAIN_NAME
from slipway.model.catalog.model import SCHEMA, Catalog
from slipway.model.catalog.template import Template
from slipway.model.identity import Identity
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.rules.rule import mapping

_ANOTHER = "deploy the stack, which publishes it again, or choose another: slipway use gs://BUCKET"
_SHOWN = 1000
_HALF_A_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class PublishedCatalog:
    """The published catalog, of any schema, as far as decisions need it."""

    #: Ids by name.
    clusters: Mapping[str, str] = field(default_factory=dict)
    #: Ids of clusters.
    retiring: tuple[str, ...] = ()
    #: The time since its publication, by the storage's own clock; None when that is unknown.
    age: timedelta | None = field(default=None, compare=False)
    #: The fault of an unreadable catalog, whose offers are unknown.
    damage: str = ""
    #: The accounts and the buckets of jobs that are sent by it.
    needs: frozenset[str] = field(default=frozenset(), compare=False)
    #: That of its deployment; None where the catalog does not tell.
    identity: Identity | None = field(default=None, compare=False)
    #: None for a catalog that this version does not read.
    whole: Catalog | None = field(default=None, compare=False)
    #: Ids of those of `clusters` that somebody else made.
    adopted: frozenset[str] = frozenset()
    #: The MD5 digest of its text, as Cloud Storage has it; empty if it was not read.
    digest: str = field(default="", compare=False)

    @property
    def owner(self) -> str:
        """The label of its deployment; empty where the catalog does not tell."""
        return self.identity.label if self.identity else ""

    def lists(self, cluster_id: str) -> bool:
        """Tell whether the catalog lists a cluster that the stack made."""
        return cluster_id in {*self.retiring, *self.clusters.values()} - self.adopted

    def offers(self, name: str) -> bool:
        """Tell whether the catalog lets people send a job that needs this cluster, account or bucket."""
        return name in self.needs or name in self.clusters.values()


def as_published(catalog: Catalog) -> PublishedCatalog:
    ids = {name: cluster.id for name, cluster in catalog.clusters.items()}
    adopted = frozenset(cluster.id for cluster in catalog.clusters.values() if cluster.adopted)
    return PublishedCatalog(
        clusters=ids, retiring=catalog.retiring, whole=catalog, adopted=adopted, identity=catalog.identity
    )


def write(catalog: Catalog) -> str:
    """Write a catalog; equal catalogs give equal text."""
    body = {"schema": SCHEMA, **codec.write(catalog)}
    return json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def read(content: bytes | str, source: str) -> Catalog:
    """Parse a catalog; `source` is its address, for errors.

    A template that this version does not understand is there without parameters and offers, and says why. Raises
    ConfigError, with the place of the mistake.
    """
    try:
        body = _parsed(content)
        schema = body.get("schema")
        if not isinstance(schema, int) or isinstance(schema, bool) or schema < SCHEMA:
            raise ValueError(f"schema is {schema!r}, where {SCHEMA} is expected")
        if schema > SCHEMA:
            raise ConfigError(
                f"the catalog {source} has schema {schema}, newer than this slipway reads (schema {SCHEMA})",
                why="it was published by a newer version",
                fix=updating(),
            )
        catalog = _catalog(body)
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"the catalog {source} can't be read", why=str(problem), fix=_ANOTHER) from None
    return replace(catalog, source=source)


def _catalog(body: Mapping[str, Any]) -> Catalog:
    entries = body.get("templates")
    if not isinstance(entries, Mapping):
        return codec.read(Catalog, body)  # Raises MalformedError.
    # The templates are read one by one: a newer version's may be of a form that only it must do without.
    catalog = codec.read(Catalog, {**body, "templates": {}})
    for name in entries:
        if not PLAIN_NAME.fits(name):
            raise codec.malformed(name, PLAIN_NAME.expected, "templates")
    return replace(catalog, templates=_Templates(entries, catalog))


class _Templates(Mapping[str, Template]):
    """Templates by name, each read when it is first asked for: a submission needs one of what may be a thousand."""

    def __init__(self, entries: Mapping[str, Any], catalog: Catalog) -> None:
        self._entries, self._template = entries, cache(lambda name: _template(name, entries[name], catalog))

    def __getitem__(self, name: str) -> Template:
        return self._template(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _template(name: str, entry: Any, catalog: Catalog) -> Template:
    """Read a template of the catalog. A newer version may have published a form of anything in it."""
    try:
        return checked(codec.read(Template, entry, name), catalog)
    except codec.MalformedError as error:
        unread = short(str(error.under(f"templates.{name}")), _SHOWN)
        return Template(name, "", CUSTOM_JOB.name, roles=(), parameters=(), offers=(), unread=unread)


def published(content: bytes | str, source: str) -> PublishedCatalog:
    """Read the part of the published catalog that a deployment needs, also from a later version's. Never raises.

    Two keys of any schema are needed: `clusters`, with `id` and `adopted`, and `retiring`. They keep their meaning
    forever, and nothing else matters: no version's catalog stops another's deployment. The identity, accounts and
    buckets (`trainer`, `trainers`, `storage`) are read where they exist. An unreadable catalog has its `damage`,
    with its address `source`, and lists nothing.
    """
    try:
        body = _parsed(content)
    except (ValueError, RecursionError) as problem:
        return PublishedCatalog(damage=f"{source}: {problem}")
    clusters, retiring = body.get("clusters"), body.get("retiring")
    if not isinstance(clusters, dict) or not all(
        isinstance(cluster, dict) and isinstance(cluster.get("id"), str) for cluster in clusters.values()
    ):
        return PublishedCatalog(damage=f"{source}: clusters is not an object of clusters with their ids")
    if not isinstance(retiring, list) or not all(isinstance(id_, str) for id_ in retiring):
        return PublishedCatalog(damage=f"{source}: retiring is not a list of ids")
    storage = mapping(body.get("storage"))
    mappings = (storage, mapping(storage.get("workElsewhere")), mapping(body.get("trainers")))
    names = (body.get("trainer"), *(name for names in mappings for name in names.values()))
    try:
        whole = read(content, source)
    except ConfigError:
        whole = None
    return PublishedCatalog(
        clusters={name: cluster["id"] for name, cluster in clusters.items()},
        retiring=tuple(retiring),
        needs=frozenset(name for name in names if isinstance(name, str) and name),
        identity=whole.identity if whole else _identity(body),
        whole=whole,
        adopted=frozenset(cluster["id"] for cluster in clusters.values() if cluster.get("adopted") is True),
    )


def _identity(body: Mapping[str, Any]) -> Identity | None:
    """Return the identity of the deployment that published a catalog of any version; None where it does not tell."""
    program = mapping(body.get("program"))
    words = (body.get("pulumiProject", ""), program.get("stack", body.get("stack")), program.get("workspace", ""))
    project, stack, workspace = (word if isinstance(word, str) else "" for word in words)
    return Identity(project, stack, workspace) if stack else None


def _parsed(content: bytes | str) -> dict[str, Any]:
    """Parse the content as any reader does. Raises ValueError, also for values that Python reads and JSON can't hold:
    numbers that are not finite, and halves of characters."""
    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
        body = json.loads(text, parse_constant=_number, parse_float=_number)
        if _HALF_A_CHARACTER.search(text):
            # Raises UnicodeEncodeError for a half without its other half.
            json.dumps(body, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"not valid JSON: {problem}") from problem
    if not isinstance(body, dict):
        raise ValueError("not a JSON object")
    return body


def _number(text: str) -> float:
    if wrong := unfit(float(text)):
        raise ValueError(f"{text} {wrong}")
    return float(text)
