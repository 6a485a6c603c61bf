"""The selected catalog, and the choices of a submission in it: templates, kinds and offers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from slipway.base.errors import Arguments, ConfigError, Fix
from slipway.base.files import OWN_FOLDER, make_folder, own_folder, write_atomically
from slipway.base.formatting import join, nearest, quoted
from slipway.base.installation import updating
from slipway.google.catalog.document import read
from slipway.google.failures import NotFound
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location, Storage
from slipway.model.capacity import CAPACITY_TYPES, FLEX_START
from slipway.model.catalog.model import NAME, VARIABLE, Catalog
from slipway.model.catalog.parameter_types import Value
from slipway.model.catalog.placeholders import render, with_numbers
from slipway.model.catalog.template import OF_TEAM, Offer, Template, applying
from slipway.model.kinds import KINDS, JobKind
from slipway.model.labels import TEAM, label_value
from slipway.model.machines.images import PrebuiltImage, images_of
from slipway.model.machines.spec import MachineSpec, shape_name
from slipway.model.rules.strategies import FLEX_MODELS, flex_start_has

CONFIG_VARIABLE = "SLIPWAY_CONFIG"
"""The variable that names the folder of a person's own settings."""
_ACCOUNT = re.compile(r"([a-z][a-z0-9-]*)@([a-z0-9.:-]+)\.iam\.gserviceaccount\.com")
_FILE = "catalog"
_GROUP = "group:"
_ROOTS = (OWN_FOLDER, ".git", "Pulumi.yaml")


@dataclass(frozen=True)
class SelectedCatalog:
    location: Location
    #: Its address, `$SLIPWAY_CATALOG`, or the file of the checkout or of the person that has the choice.
    origin: str
    #: The command or the call named the address.
    given: bool = False


def unused_pools(pools: Iterable[tuple[str, str]], templates: Iterable[Template]) -> tuple[tuple[str, str], ...]:
    """Return clusters with their pools that no template fits; none without any template."""
    listed = tuple(templates)
    if not listed:
        return ()
    offers = (offer for template in listed for offer in template.offers)
    used = {(offer.cluster or offer.dormant, pool) for offer in offers for pool in offer.pools}
    return tuple(pool for pool in pools if pool not in used)


def ended_images(templates: Iterable[Template], now: datetime) -> Mapping[PrebuiltImage, Sequence[str]]:
    """Return the prebuilt images of which a day is over, each with the names of the templates that run it."""
    ended: dict[PrebuiltImage, list[str]] = {}
    for template in templates:
        for image in images_of(pool for offer in template.offers for pool in offer.worker_pools):
            if image.ended(now):
                ended.setdefault(image, []).append(template.name)
    return ended


def replaceable_images(templates: Iterable[Template], now: datetime) -> Mapping[PrebuiltImage, Sequence[str]]:
    """Return those of `ended_images` for which Google's list has a newer image."""
    return {image: names for image, names in ended_images(templates, now).items() if image.newer}


def checkout(start: Path) -> Path | None:
    """Return the nearest folder upwards that looks like a checkout, or that has things of Slipway's own."""
    folders = (start, *start.parents)
    return next((folder for folder in folders if any((folder / root).exists() for root in _ROOTS)), None)


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
        fix="slipway use gs://BUCKET     (a deployment prints the address)",
    )


def folder_file(folder: Path) -> Path:
    """Return the file of a checkout's own choice; outside of one, of the folder's."""
    return (checkout(folder) or folder) / OWN_FOLDER / _FILE


def own_file(environ: Mapping[str, str]) -> Path | None:
    """Return the file of a person's choice, for all folders without their own.

    The folder is `$SLIPWAY_CONFIG`, else `$XDG_CONFIG_HOME/slipway`, else `~/.config/slipway`; None for a user without
    a home.
    """
    if chosen := environ.get(CONFIG_VARIABLE, "").strip():
        return Path(chosen).absolute() / _FILE
    folder = own_folder(environ, "XDG_CONFIG_HOME", ".config")
    return folder / _FILE if folder else None


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
            fix=("deploy the stack, or choose another catalog: ", another),
        ) from problem
    return read(content, str(location))


def find_template(catalog: Catalog, name: str, verb: str = "") -> Template:
    """Return a template by its name. Raises ConfigError for an unknown name, with a suggestion for `verb` or to submit
    it, and for a template that this version does not understand."""
    template = catalog.templates.get(name)
    if template and template.unread:
        raise ConfigError(
            f"template {name} of the catalog {catalog.source} can't be read",
            why=template.unread,
            fix=f"{updating()}     (if no newer one published it: deploy the stack)",
        )
    if template:
        return template
    near = nearest(name, catalog.templates)
    commit = f" @ {catalog.revision.short}" if catalog.commit else ""
    raise ConfigError(
        f"template {quoted(name)} not found in catalog {catalog.stack}{commit}",
        why=f"the catalog has {', '.join(sorted(catalog.templates)) or 'no templates'}",
        fix=(f"{verb} {near}" if verb else ({"template": near},)) if near else "slipway templates",
    )


def find_kind(template: Template, wanted: str | None) -> JobKind:
    """Return the kind to submit as: the template's default, or another of its own. Raises ConfigError."""
    kinds = template.kinds
    name = kinds[0] if wanted is None else wanted
    if name not in kinds:
        raise ConfigError(
            f"{template.name} can't be submitted as a {name if name in KINDS else quoted(name)}",
            why=f"its kinds are {', '.join(kinds)}",
            fix=({"kind": next((kind for kind in kinds if kind in KINDS), kinds[0])},),
        )
    if name not in KINDS:
        raise ConfigError(f"{template.name} is a {name}, which this version does not know", fix=updating())
    return KINDS[name]


def trainer_of(catalog: Catalog, template: Template) -> str:
    """Return the name of the template's trainer; empty for the workspace's own, and for another account."""
    accounts = {offer.spec.get("serviceAccount") for offer in template.offers}
    return next((name for name, account in catalog.trainers.items() if account in accounts), "")


def jobs_of(template: Template) -> Iterator[VertexJob]:
    """Yield the job of each offer, as far as it is known before a submission; 1 where a parameter gives a number."""
    for offer in template.offers:
        if offer.kind in KINDS:
            yield VertexJob.read(with_numbers(offer.request), KINDS[offer.kind])


def standing(template: Template, kind: JobKind, values: Mapping[str, Value], team: str = "") -> tuple[Offer, ...]:
    """Return the offers of the case that these values and a team choose, in the template's order. Raises ConfigError
    for none."""
    offers = applying((offer for offer in template.offers if offer.kind == kind.name), values, team)
    if offers:
        return offers
    choosing = dict.fromkeys(name for offer in template.offers for name in offer.when)
    chosen = ", ".join(f"{name}={values[name]}" for name in choosing if name in values)
    what = f"{template.name} can't run as a {kind.words}{f' with {chosen}' if chosen else ''}"
    unknown = next((offer.kind for offer in template.offers if offer.kind not in KINDS), "")
    if unknown:
        raise ConfigError(what, why=f"this version does not know what a {unknown} is", fix=updating())
    raise ConfigError(
        what,
        why="no cluster of the stack fits it, and it lists no other capacity type",
        fix=f"slipway templates show {template.name}",
    )


def for_teams(catalog: Catalog, other: Catalog) -> Catalog:
    """Return a catalog to compare with another one: with offers for each team that only the other one has some for, as
    those for everybody, which the team takes here; or as those of the team that is called so there."""
    templates, called = dict(catalog.templates), _called_there(other, catalog)
    for name in templates.keys() & other.templates.keys():
        template, owners = templates[name], catalog.owners
        own, theirs = ({offer.team for offer in each.offers} for each in (template, other.templates[name]))
        more = (
            replace(offer, when={OF_TEAM: (), **offer.when} | {OF_TEAM: (team,)})
            for team in sorted(theirs - own - {""})
            for former in [called.get(team, "")]
            for offer in template.offers
            if offer.team == (former if former in own else "")
            and (offer.team or team in (owners(offer.cluster or offer.dormant) or (team,)))
        )
        templates[name] = replace(template, offers=(*template.offers, *more))
    return replace(catalog, templates=templates)


def _called_there(catalog: Catalog, other: Catalog) -> Mapping[str, str]:
    """Return another catalog's names of teams by a catalog's own, where all members are the same."""
    members = {frozenset(team.submitters): name for name, team in other.teams.items() if name not in catalog.teams}
    mine = {name: frozenset(team.submitters) for name, team in catalog.teams.items() if name not in other.teams}
    return {name: members[some] for name, some in mine.items() if some in members}


def for_shapes(catalog: Catalog, other: Catalog) -> Catalog:
    """Return a catalog to compare with another one: where that alone has several shapes of a job, with the shape there
    that the machines here are."""
    templates = dict(catalog.templates)
    for name in templates.keys() & other.templates.keys():
        template, shapes = templates[name], {offer.shape for offer in other.templates[name].offers} - {""}
        if shapes:
            offers = (replace(offer, shape=_shape(offer, shapes)) for offer in template.offers)
            templates[name] = replace(template, offers=tuple(offers))
    return replace(catalog, templates=templates)


def _shape(offer: Offer, shapes: Collection[str]) -> str:
    pools = filter(None, offer.worker_pools)
    name = offer.shape or shape_name((MachineSpec.read(pool), pool.get("replicaCount", 1)) for pool in pools)
    return name if name in shapes else offer.shape


def bound(value: Any, home: str, field: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts of a request, each with its field, that name something of the region `home`, which no job in
    another region can have."""
    within = (f"/locations/{home}/", f"/regions/{home}/", f"/zones/{home}-")
    if isinstance(value, str) and any(place in value for place in within):
        yield field, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from bound(item, home, str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from bound(item, home, field)


def groups_of(catalog: Catalog, members: Iterable[str]) -> tuple[str, ...]:
    """Return the teams of members, and groups among them that are in no team, by the part of their addresses before
    the @."""
    names: list[str] = []
    for member in members:
        group = member.removeprefix(_GROUP).partition("@")[0] if member.startswith(_GROUP) else ""
        teams = (name for name, team in catalog.teams.items() if member in team.submitters)
        names += tuple(teams) or (label_value(group),)
    return tuple(dict.fromkeys(filter(None, names)))


def teams_of(catalog: Catalog, offer: Offer) -> tuple[str, ...]:
    """Return the teams for one of which a submission of an offer counts: its own, else the teams that may submit as its
    account, and the groups in no team; those of all trainers where that account is none of the stack's."""
    known, own = catalog.submitters, offer.labels.get(TEAM) or offer.team
    every = (member for submitters in known.values() for member in submitters)
    return (own,) if own else groups_of(catalog, known.get(str(offer.spec.get("serviceAccount", "")), every))


def usual_offers(
    template: Template, kind: str = "", called: Mapping[str, str] = {}, team: str = ""
) -> tuple[Offer, ...]:
    """Return the offers that the defaults choose for a team's own jobs, or everybody's; a required parameter may have
    any value. `called`: other names that parameters have in the offers' cases."""
    defaults = {OF_TEAM: team, **{called.get(each.name, each.name): each.default for each in template.parameters}}
    return tuple(
        offer
        for offer in template.offers
        if offer.kind == (kind or template.kind)
        and all(defaults.get(name) in (None, *wanted) for name, wanted in offer.when.items())
    )


def capacity_types(template: Template, kind: str = "") -> dict[str, tuple[Offer, ...]]:
    """Return the offers of each capacity type: first the types that the defaults choose, with their offers alone."""
    usual = usual_offers(template, kind)
    usual_types = {offer.capacity_type for offer in usual}
    of_kind = (offer for offer in template.offers if offer.kind == (kind or template.kind))
    by_type: dict[str, tuple[Offer, ...]] = {}
    for offer in (*usual, *(offer for offer in of_kind if offer.capacity_type not in usual_types)):
        by_type[offer.capacity_type] = (*by_type.get(offer.capacity_type, ()), offer)
    return by_type


def named(template: Template, offers: tuple[Offer, ...], wanted: str, argument: str = "capacity") -> tuple[Offer, ...]:
    """Return the offers of one capacity type: one of type `pool` for each cluster that fits. `argument` asked for it.
    Raises ConfigError with a suggestion."""
    of_type = tuple(offer for offer in offers if offer.capacity_type == wanted)
    if of_type:
        return of_type
    names = list(dict.fromkeys(offer.capacity_type for offer in offers))
    known = [name for name in names if name in CAPACITY_TYPES]
    near = nearest(wanted, known)
    right = near or next(iter(known), "")
    never = _no_flex_start(offers) if wanted == FLEX_START else ""
    case = _case_with(template, wanted)
    with_these = " with these parameters" if any(offer.when for offer in template.offers) else ""
    fix: Fix = ({argument: {right: "30m"} if argument == "wait_for" else right},) if right else updating()
    if case and not isinstance(fix, str):
        fix = (*fix, f", or for {wanted}: ", {"params": case})
    raise ConfigError(
        f"{template.name} has no capacity type {quoted(wanted)}{with_these}{f'; did you mean {near}?' if near else ''}",
        why=f"{never}its capacity types are {', '.join(names)}",
        fix=fix,
    )


def _case_with(template: Template, capacity_type: str) -> dict[str, str]:
    """Return values of parameters with which a template has a capacity type; none if no parameter chooses it."""
    offers = (offer for offer in template.offers if offer.capacity_type == capacity_type)
    values = next((offer.when for offer in offers if offer.when), {})
    return {name: render(wanted[0]) for name, wanted in values.items() if name != OF_TEAM}


def _no_flex_start(offers: Iterable[Offer]) -> str:
    """Return that flex-start has none of the offers' machines; empty if it has some."""
    machines = [MachineSpec.read(pool) for offer in offers for pool in filter(None, offer.worker_pools)]
    if not machines or any(flex_start_has(machine.accelerator) for machine in machines):
        return ""
    return f"flex-start has {join(FLEX_MODELS)} only, not {join({machine.type: '' for machine in machines}, 'or')}; "


def reason(offer: Offer) -> str:
    """Return the catalog's reason why an offer is not available. More quota may have been granted since."""
    why = offer.why or "not available; the catalog does not say why"
    return f"{why} (at the last deployment)" if offer.lacks_quota else why


def remedy(catalog: Catalog, cluster: str, does: str) -> str:
    """Return the way out where a cluster, by its id, failed or is gone. An adopted cluster is its owner's to mend.

    `does` continues the command: the effect of a deployment on a cluster of the stack's own.
    """
    entry = catalog.cluster_named(cluster)
    if entry is None or not entry.adopted:
        return f"{catalog.origin.up}{does}"
    return (
        f"ask whoever made {cluster}, which stack {catalog.stack} has adopted as {entry.name}; or take it "
        f"out of the {catalog.origin.noun}"
    )


def account_remedy(catalog: Catalog, account: str, template: str) -> str:
    """Return the way out where the account that a template's jobs run as is missing. The stack makes its trainers
    alone, and no account that a template names by its address."""
    if account in (catalog.trainer, *catalog.trainers.values()):
        return f"if it was deleted: {catalog.origin.up}, which makes it again"
    other = f"have `service_account` of template {template} name one that does"
    own = _ACCOUNT.fullmatch(account)
    if not own:
        return f"if it does not exist, {other}: the stack does not make it"
    create = f"gcloud iam service-accounts create {own[1]} --project={own[2]}"
    make = f"make it, as the stack does not: {create}, with the roles that its jobs need"
    return f"if it does not exist, {other}; or {make}"
