"""Which stack is looked at, and where it is: of a stack file in this checkout, or of a catalog alone."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from slipway.catalog.model import NAME
from slipway.catalog.selection import default_buckets, select_catalog
from slipway.cloud.storage import Location
from slipway.context import Context
from slipway.errors import ConfigError, SlipwayError
from slipway.formatting import join, nearest, quoted
from slipway.machines.table import regions
from slipway.stack.yaml_file import Document, DocumentPart, load


@dataclass(frozen=True)
class Place:
    """`checkout` is the folder that has the stack's file, None without one; `stacks` are all that it has files of, and
    `spoken_for` the ids of clusters that some of these adopt.

    `of_catalog` follows a command that goes by the chosen catalog, where that is not this one: ` --catalog gs://…`.
    `other_regions`: where the stack's file lets clusters come to be, besides `region`.
    """

    stack: str
    project: str
    region: str
    catalog: Location
    checkout: Path | None = None
    document: Document | None = None
    stacks: tuple[str, ...] = ()
    of_catalog: str = ""
    spoken_for: frozenset[str] = frozenset()

    @property
    def other_regions(self) -> tuple[str, ...]:
        if self.document is None:
            return ()
        clusters = DocumentPart(self.document)["config"]["slipway:persistentResources"]
        options = (one for _, entry in clusters.items() for one in entry["alternatives"].entries())
        named = dict.fromkeys(region for one in options if (region := one["region"].of(str)))
        return tuple(one for one in named if one in regions() and one != self.region)


def find(context: Context, stack: str | None) -> Place:
    """Raises ConfigError where nothing tells which stack, or the stack's file does not say where it is; what fetching a
    catalog raises where nothing else tells."""
    place = _found(context, stack)
    try:
        chosen: Location | None = select_catalog(None, context.environ, context.folder).location
    except SlipwayError:
        chosen = None
    if place.catalog == chosen:
        return place
    address = f"gs://{place.catalog.bucket}" if place.catalog.name == NAME else str(place.catalog)
    return replace(place, of_catalog=f" --catalog {shlex.quote(address)}")


def _found(context: Context, stack: str | None) -> Place:
    root = _root(context.folder)
    found = _files(root) if root else {}
    place = _find(context, stack, root, found)
    return replace(place, spoken_for=frozenset(id_ for one in found.values() for id_ in _adopts(one)))


def _find(context: Context, stack: str | None, root: Path | None, found: Mapping[str, Document]) -> Place:
    if stack is not None:
        if stack not in found:
            near = nearest(stack, found)
            raise ConfigError(
                f"there is no file of stack {quoted(stack)} here",
                why=f"this checkout has {', '.join(found)}" if found else "this folder is in no checkout",
                fix=f"slipway doctor --stack {near}" if near else "slipway doctor --catalog gs://PROJECT-STACK-catalog",
            )
        place = _of_file(stack, found[stack], root)
        # A catalog that was named for this call is another's only by mistake, which its stack shows.
        return replace(place, catalog=context.selected.location) if context.address else place
    try:
        location = context.selected.location
    except ConfigError as error:
        if not found or context.address:
            raise
        raise ConfigError(error.what, why=error.why, fix=f"slipway doctor --stack {_one_of(found)}") from error
    for name, document in found.items():
        of_file = _placed(name, document, root)
        if of_file and of_file.catalog.bucket == location.bucket:
            return replace(of_file, catalog=location, stacks=tuple(found))
    catalog = context.catalog
    place = Place(catalog.stack, catalog.project, catalog.region, location)
    own = found.get(catalog.stack)
    if own is None or _value(own, "gcp:project") != catalog.project:
        return place  # Another repository's stack, of which nothing here tells.
    return replace(place, checkout=root, document=own, stacks=tuple(found))


def _one_of(names: Iterable[str]) -> str:
    first, *others = names
    return f"{first}     (or {join(others, 'or')})" if others else first


def _of_file(stack: str, document: Document, root: Path | None) -> Place:
    place = _placed(stack, document, root)
    if place is None:
        why = "; ".join(map(str, document.findings[:1])) or "it lacks gcp:project or gcp:region"
        raise ConfigError(f"{document.file} does not say where the stack is", why=why, fix=f"slipway check {stack}")
    return replace(place, stacks=tuple(_files(root)) if root else ())


def _placed(stack: str, document: Document, root: Path | None) -> Place | None:
    project, region = _value(document, "gcp:project"), _value(document, "gcp:region")
    if not project or not region:
        return None
    bucket = _value(document, "slipway:workspace", "catalogBucket") or default_buckets(project, stack)[0]
    return Place(stack, project, region, Location(bucket, NAME), root, document)


def _root(folder: Path) -> Path | None:
    return next((one for one in (folder, *folder.parents) if (one / "Pulumi.yaml").is_file()), None)


def _files(root: Path) -> dict[str, Document]:
    """By the stack's name; a file that can't be read is left out."""
    found = {}
    for path in sorted((root / "stacks").glob("Pulumi.*.yaml")):
        try:
            document = load(path, shown_as=str(path.relative_to(root)))
        except SlipwayError:
            continue
        found[path.name.removeprefix("Pulumi.").removesuffix(".yaml")] = document
    return found


def _adopts(document: Document) -> Iterator[str]:
    entries = DocumentPart(document)["config"]["slipway:persistentResources"]
    yield from (id_ for _, entry in entries.items() if (id_ := entry["id"].of(str)))


def _value(document: Document, *keys: str) -> str:
    """A text; empty where there is none."""
    value: Any = document.values
    for key in ("config", *keys):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else ""
