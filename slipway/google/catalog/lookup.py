"""The selected catalog, and the choices of a submission in it: templates, kinds and offers."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from slipway.base.errors import Arguments, ConfigError
from slipway.base.files import OWN_FOLDER, make_folder, own_folder, write_atomically
from slipway.base.formatting import nearest, quoted
from slipway.base.installation import updating
from slipway.google.catalog.document import read
from slipway.google.failures import NotFound
from slipway.google.storage import Location, Storage
from slipway.model.capacity import CAPACITY_TYPES
from slipway.model.catalog.model import NAME, Catalog, Offer, Template
from slipway.model.catalog.parameter_types import Scalar
from slipway.model.kinds import KINDS, JobKind

VARIABLE = "SLIPWAY_CATALOG"
CONFIG_VARIABLE = "SLIPWAY_CONFIG"
"""The variable that names the folder of a person's own settings."""
_FILE = "catalog"
_ROOTS = (OWN_FOLDER, ".git", "Pulumi.yaml")


@dataclass(frozen=True)
class SelectedCatalog:
    """The address of a catalog. `origin` tells who chose it: its address, when that was `given`, `$SLIPWAY_CATALOG`, or
    the file of the checkout or of the person."""

    location: Location
    origin: str
    given: bool = False


def unused_pools(pools: Iterable[tuple[str, str]], templates: Iterable[Template]) -> tuple[tuple[str, str], ...]:
    """Return clusters with their pools that no template fits; none without any template."""
    listed = tuple(templates)
    offers = (offer for template in listed for offer in template.offers)
    used = {(offer.cluster or offer.dormant, pool) for offer in offers for pool in offer.pools}
    return tuple(one for one in pools if listed and one not in used)


def default_buckets(project: str, stack: str) -> tuple[str, str]:
    """Return the default names of the catalog's and the work bucket. A domain's projects have a colon, which buckets
    can't have."""
    base = project.split(":")[-1]
    return f"{base}-{stack}-catalog", f"{base}-{stack}-work"


def bucket_in(region: str, work: str) -> str:
    """Return the name of the work bucket in a region beside the stack's own, whose work bucket is `work`."""
    return f"{work}-{region}"


def checkout(start: Path) -> Path | None:
    """Return the nearest folder upwards that looks like a checkout, or that has things of Slipway's own."""
    return next((folder for folder in (start, *start.parents) if any((folder / one).exists() for one in _ROOTS)), None)


def address(text: str) -> Location:
    """Parse `gs://bucket` or `gs://bucket/catalog.json`. Raises ConfigError."""
    location = Location.parse(text.strip())
    name = location.name.strip("/")
    return Location(location.bucket, name or NAME)


def select_catalog(flag: str | None, environ: Mapping[str, str], folder: Path) -> SelectedCatalog:
    """Return the first choice of flag, environment, folder and person. Raises ConfigError when there is none."""
    if flag:
        return SelectedCatalog(address(flag), "its address", given=True)
    if environ.get(VARIABLE, "").strip():
        return SelectedCatalog(address(environ[VARIABLE]), f"${VARIABLE}")
    if chosen := recall(folder_file(folder)) or recall(own_file(environ)):
        return chosen
    raise ConfigError(
        "no catalog chosen",
        why=f"none is named, ${VARIABLE} is not set, and neither you nor this folder have chosen one",
        fix="slipway use gs://PROJECT-STACK-catalog     (pulumi up shows the address)",
    )


def folder_file(folder: Path) -> Path:
    """Return the file of a checkout's own choice; outside of one, of the folder's."""
    return (checkout(folder) or folder) / OWN_FOLDER / _FILE


def own_file(environ: Mapping[str, str]) -> Path | None:
    """Return the file of a person's choice, for all folders without their own: in `$SLIPWAY_CONFIG`, else
    `$XDG_CONFIG_HOME/slipway`, else `~/.config/slipway`; None for a user without a home."""
    if chosen := environ.get(CONFIG_VARIABLE, "").strip():
        return Path(chosen).absolute() / _FILE
    found = own_folder(environ, "XDG_CONFIG_HOME", ".config")
    return found / _FILE if found else None


def recall(file: Path | None) -> SelectedCatalog | None:
    """Return the choice that a file has, if there is one. Raises ConfigError when it can't be read."""
    if file is None or not file.is_file():
        return None
    try:
        return SelectedCatalog(address(file.read_text(encoding="utf-8")), str(file))
    except (OSError, UnicodeDecodeError, ConfigError) as problem:
        raise ConfigError(
            f"what was remembered can't be read: {file}",
            why=problem.what if isinstance(problem, ConfigError) else str(problem),
            fix=f"rm {shlex.quote(str(file))}, then choose again: slipway use gs://BUCKET",
        ) from problem


def remember(location: Location, file: Path | None) -> Path:
    """Write a choice into its file, and return that. Raises ConfigError."""
    instead = f"choose it for this shell: export {VARIABLE}={location}"
    if file is None:
        raise ConfigError(f"could not remember {location}", why="this user has no home folder", fix=instead)
    try:
        make_folder(file.parent)
        write_atomically(file, f"{location}\n")
    except OSError as problem:
        raise ConfigError(
            f"could not remember {location}",
            why=f"{file}: {problem.strerror or problem}",
            fix=f"make the folder writable, or {instead}",
        ) from problem
    return file


def fetch(storage: Storage, choice: SelectedCatalog) -> Catalog:
    """Read the selected catalog. Raises ConfigError when it is missing or unreadable, CloudError otherwise."""
    location = choice.location
    try:
        content = storage.read(location, doing=f"read the catalog {location}")
    except NotFound as problem:
        another: str | Arguments = {"catalog": "gs://BUCKET"} if choice.given else "slipway use gs://BUCKET"
        raise ConfigError(
            f"no catalog at {location}",
            why=f"{problem.message} (chosen by {choice.origin})",
            # Where one was given, a remembered other choice would have no effect.
            fix=("deploy the stack (pulumi up), or choose another catalog: ", another),
        ) from problem
    return read(content, str(location))


def find_template(catalog: Catalog, name: str) -> Template:
    """Return a template by its name. Raises ConfigError with a suggestion, and for one that this version does not
    understand."""
    found = catalog.templates.get(name)
    if found and found.unread:
        raise ConfigError(
            f"template {name} of the catalog {catalog.source} can't be read",
            why=found.unread,
            fix=f"{updating()}     (if no newer one published it: pulumi up)",
        )
    if found:
        return found
    near = nearest(name, catalog.templates)
    commit = f" @ {catalog.revision.short}" if catalog.commit else ""
    raise ConfigError(
        f"template {quoted(name)} not found in catalog {catalog.stack}{commit}",
        why=f"the catalog has {', '.join(sorted(catalog.templates)) or 'no templates'}",
        fix=({"template": near},) if near else "slipway templates",
    )


def find_kind(template: Template, wanted: str | None) -> JobKind:
    """Return the kind to submit as: the template's default, or another of its own. Raises ConfigError."""
    kinds = template.kinds
    name = kinds[0] if wanted is None else wanted
    if name in kinds and name in KINDS:
        return KINDS[name]
    if name not in kinds:
        raise ConfigError(
            f"{template.name} can't be submitted as a {name if name in KINDS else quoted(name)}",
            why=f"its kinds are {', '.join(kinds)}",
            fix=({"kind": next((one for one in kinds if one in KINDS), kinds[0])},),
        )
    raise ConfigError(f"{template.name} is a {name}, which this version does not know", fix=updating())


def trainer_of(catalog: Catalog, template: Template) -> str:
    """Return the name of the template's trainer; empty for the workspace's own, and for another account."""
    accounts = {
        KINDS[offer.kind].spec_of(offer.request).get("serviceAccount")
        for offer in template.offers
        if offer.kind in KINDS
    }
    return next((name for name, account in catalog.trainers.items() if account in accounts), "")


def standing(template: Template, kind: JobKind, values: Mapping[str, Scalar]) -> tuple[Offer, ...]:
    """Return the offers of the case that these values choose, in the template's order. Raises ConfigError for none."""
    found = tuple(
        offer
        for offer in template.offers
        if offer.kind == kind.name and all(values.get(name) in wanted for name, wanted in offer.when.items())
    )
    if not found:
        choosing = dict.fromkeys(name for offer in template.offers for name in offer.when)
        chosen = ", ".join(f"{name}={values[name]}" for name in choosing if name in values)
        unknown = (offer.kind for offer in template.offers if offer.kind not in KINDS)
        strange = next((f"this version does not know what a {name} is" for name in unknown), "")
        raise ConfigError(
            f"{template.name} can't run as a {kind.words}{f' with {chosen}' if chosen else ''}",
            why=strange or "no cluster of the stack fits it, and it lists no other capacity type",
            fix=updating() if strange else f"slipway templates show {template.name}",
        )
    return found


def usual_offers(template: Template, kind: str = "") -> tuple[Offer, ...]:
    """Return the offers that the defaults choose: without them the template can't be submitted by its name alone. A
    required parameter may have any value."""
    defaults = {one.name: one.default for one in template.parameters}
    return tuple(
        offer
        for offer in template.offers
        if offer.kind == (kind or template.kind)
        and all(defaults.get(name) in (None, *wanted) for name, wanted in offer.when.items())
    )


def capacity_types(template: Template, kind: str = "") -> dict[str, tuple[Offer, ...]]:
    """Return the offers of each capacity type: first those that the defaults choose, in their order; then those of
    other values."""
    usual = usual_offers(template, kind)
    types = {one.capacity_type for one in usual}
    others = (one for one in template.offers if one.kind == (kind or template.kind) and one.capacity_type not in types)
    found: dict[str, tuple[Offer, ...]] = {}
    for one in (*usual, *others):
        found[one.capacity_type] = (*found.get(one.capacity_type, ()), one)
    return found


def named(template: Template, offers: tuple[Offer, ...], wanted: str, argument: str = "capacity") -> tuple[Offer, ...]:
    """Return the offers of one capacity type: one of type `pool` for each cluster that fits. `argument` asked for it.

    Raises ConfigError with a suggestion.
    """
    found = tuple(offer for offer in offers if offer.capacity_type == wanted)
    if not found:
        names = list(dict.fromkeys(offer.capacity_type for offer in offers))
        known = [name for name in names if name in CAPACITY_TYPES]
        near = nearest(wanted, known)
        right = near or next(iter(known), "")
        raise ConfigError(
            f"{template.name} has no capacity type {quoted(wanted)}{f'; did you mean {near}?' if near else ''}",
            why=f"its capacity types are {', '.join(names)}",
            fix=({argument: {right: "30m"} if argument == "wait_for" else right},) if right else updating(),
        )
    return found


def reason(offer: Offer) -> str:
    """Return the catalog's reason why an offer is not available."""
    return offer.why or "not available; the catalog does not say why"


def remedy(catalog: Catalog, cluster: str, does: str) -> str:
    """Return the command to type where a cluster, by its id, failed or is gone; `does` tells what a deployment does
    about one of the stack's own. An adopted cluster is its owner's to mend."""
    found = catalog.cluster_named(cluster)
    if found is None or not found.adopted:
        return f"pulumi up --stack {catalog.stack}{does}"
    return (
        f"ask whoever made {cluster}, which stack {catalog.stack} has adopted as {found.name}; or take that entry "
        "out of its stack file"
    )
