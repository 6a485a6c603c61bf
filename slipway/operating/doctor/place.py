"""The stack to examine, and its place: that of a stack file in this checkout, or of a catalog alone."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from slipway.authoring.stack.deleted_files import fix_of_deleted
from slipway.authoring.stack.yaml_file import Document, DocumentPart, load, pulumi_project
from slipway.base.errors import ConfigError, SlipwayError
from slipway.base.formatting import nearest, quoted
from slipway.google.catalog.lookup import select_catalog
from slipway.google.storage import Location
from slipway.model.catalog.model import NAME
from slipway.model.identity import Identity
from slipway.model.machines.table import regions
from slipway.using.context import Context


@dataclass(frozen=True)
class Place:
    """The place of a stack."""

    stack: str
    project: str
    region: str
    #: The catalog's.
    address: Location
    #: The folder of `document`; None without one.
    checkout: Path | None = None
    #: The stack's file; None without one.
    document: Document | None = None
    #: The labels of all stacks that the checkout has files of.
    stacks: tuple[str, ...] = ()
    #: Follows a command that uses the selected catalog, where that is another: ` --catalog gs://…`.
    of_catalog: str = ""
    #: Ids of clusters that some of the stacks adopt.
    adopted_by_stacks: frozenset[str] = frozenset()
    #: The identity of its deployment; None where its Pulumi project is not known.
    owner: Identity | None = None

    @property
    def identity(self) -> Identity:
        return self.owner or Identity("", self.stack)

    @property
    def declared_regions(self) -> tuple[str, ...]:
        """The regions where the stack's file lets clusters come to be, besides `region`."""
        clusters = _clusters(self.document) if self.document else ()
        options = (option for entry in clusters for option in entry["alternatives"].entries())
        named = dict.fromkeys(region for option in options if (region := option["region"].of(str)))
        return tuple(region for region in named if region in regions() and region != self.region)


def find(context: Context, stack: str | None) -> Place:
    """Return the place. Raises ConfigError where no stack is named, or the stack's file lacks its place, and the errors
    of fetching a catalog where nothing else tells."""
    folders = (context.folder, *context.folder.parents)
    root = next((folder for folder in folders if (folder / "Pulumi.yaml").is_file()), None)
    files, project = (_files(root), pulumi_project(root)) if root else ({}, "")
    place = _named(context, stack, root, files, project) if stack is not None else _chosen(context, files, project)
    adopted = (entry["id"].of(str) for document in files.values() for entry in _clusters(document))
    place = replace(
        place,
        checkout=root if place.document else None,
        stacks=tuple(Identity(project, name).label for name in files) if place.document else (),
        adopted_by_stacks=frozenset(filter(None, adopted)),
    )
    try:
        chosen: Location | None = select_catalog(None, context.environ, context.folder).location
    except SlipwayError:
        chosen = None
    if place.address == chosen:
        return place
    address = f"gs://{place.address.bucket}" if place.address.name == NAME else str(place.address)
    return replace(place, of_catalog=f" --catalog {shlex.quote(address)}")


def _named(context: Context, stack: str, root: Path | None, files: Mapping[str, Document], project: str) -> Place:
    if stack not in files:
        near = nearest(stack, files)
        named = f"slipway doctor --stack {near}" if near else "slipway doctor --catalog gs://BUCKET"
        raise ConfigError(
            f"there is no file of stack {quoted(stack)} here",
            why=f"this checkout has {', '.join(files)}" if files else "this folder is in no checkout",
            fix=fix_of_deleted(root or context.folder, stack) or named,
        )
    document = files[stack]
    place = _of_file(Identity(project, stack), document)
    if place is None:
        why = "; ".join(map(str, document.mistakes[:1])) or "it lacks gcp:project or gcp:region"
        raise ConfigError(f"{document.file} does not say where the stack is", why=why, fix=f"slipway check {stack}")
    # A catalog that was named for this call is another stack's only by mistake, which its stack's name shows.
    return replace(place, address=context.selected.location) if context.address else place


def _chosen(context: Context, files: Mapping[str, Document], project: str) -> Place:
    try:
        address = context.selected.location
    except ConfigError as error:
        if not files or context.address:
            raise
        raise ConfigError(error.what, why=error.why, fix=f"slipway doctor --stack {next(iter(files))}") from error
    for name, document in files.items():
        place = _of_file(Identity(project, name), document)
        if place and place.address.bucket == address.bucket:
            return replace(place, address=address)
    catalog = context.catalog
    own = files.get(catalog.stack)
    here = catalog.identity == Identity(project, catalog.stack)
    if own is not None and not (here and text_at(own, "gcp:project") == catalog.project):
        own = None  # The stack of another repository, unknown here.
    return Place(
        stack=catalog.stack,
        project=catalog.project,
        region=catalog.region,
        address=address,
        document=own,
        owner=catalog.identity,
    )


def _of_file(identity: Identity, document: Document) -> Place | None:
    project, region = text_at(document, "gcp:project"), text_at(document, "gcp:region")
    if not project or not region:
        return None
    bucket = text_at(document, "slipway:workspace", "catalogBucket") or identity.buckets(project)[0]
    return Place(
        stack=identity.stack,
        project=project,
        region=region,
        address=Location(bucket, NAME),
        document=document,
        owner=identity,
    )


def _files(root: Path) -> dict[str, Document]:
    """Load stack files by the stacks' names; unreadable ones are left out."""
    documents = {}
    for path in sorted((root / "stacks").glob("Pulumi.*.yaml")):
        with suppress(SlipwayError):
            documents[path.stem.removeprefix("Pulumi.")] = load(path, shown_as=str(path.relative_to(root)))
    return documents


def _clusters(document: Document) -> Iterator[DocumentPart]:
    entries = DocumentPart(document)["config"]["slipway:persistentResources"]
    yield from (entry for _, entry in entries.items())


def text_at(document: Document, *keys: str) -> str:
    """Return a text below `config`; empty where there is none."""
    part = DocumentPart(document)["config"]
    for key in keys:
        part = part[key]
    return part.of(str) or ""
