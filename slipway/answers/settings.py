"""The table of all changed settings of a stack, before and after, by resource.

It is derived from the dataclasses of the catalog and the facts: a new field is a row unless `COMPUTED` lists it. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime, timedelta
from functools import cache, partial, singledispatch
from itertools import chain, repeat
from typing import Any

from slipway.answers.comparison import Comparison
from slipway.authoring.stack.secrets import has_secret, paired
from slipway.base.codec import camel
from slipway.base.formatting import exact_span, few, last_part, plain
from slipway.deploying.engine.touched import ACCOUNT, BUCKET, CLUSTER_TYPE, OBJECT, Fate, Touched, differences
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Parameter, Template
from slipway.model.cluster import CREATE_WITHIN_S, Adoption, PoolSpec, Reservation
from slipway.model.cluster_fields import CLUSTER, POOL, Field, machines_in_words
from slipway.model.facts import Facts, QuotaFacts, TrainerFacts
from slipway.model.findings.finding import Subject
from slipway.model.kinds import CUSTOM_JOB, TUNING_JOB
from slipway.model.labels import RESERVED
from slipway.model.machines.table import all_accelerators
from slipway.model.origin import Origin
from slipway.model.season import moment_in_words

HIDDEN = "(hidden)"
COMPUTED: Mapping[type, str] = {
    Catalog: (
        "stack commit dirty retiring removed under_way former_regions quotas restored work_elsewhere source program"
    ),
    Facts: "kept adopted shared unloaded",
    QuotaFacts: "region lines",
    Cluster: "name id alternative region deletion_policy",
    DormantCluster: "why since lacks",
    Adoption: "lines",
    Parameter: "name",
    Template: "name code_why yields source unread",
    Offer: "available why note lacks_quota dormant cluster pools roles price_per_hour",
    TrainerFacts: "name",
    Reservation: "path",
}
"""Fields that nobody declares: they follow from other fields, from live state or from the commit."""
ELSEWHERE: Mapping[type, str] = {
    Catalog: "clusters dormant templates teams reservations trainers submitters code",
    Facts: "catalog trainers submitters",
    Cluster: (
        "display_name network reserved_ip_ranges kms_key psc custom_service_account generation season create_within"
    ),
    # The requests have a study.
    Template: "offers package code_flag code_with_inputs study",
    # The label has the first four.
    Offer: "capacity_type kind when shape request wait",
}
"""Fields that this module spells by themselves."""
_OF_WORKSPACE = "catalog_bucket work_bucket trainer code shell urgent confirm_above board notify"
_KEYS = {
    **{name: f"slipway:workspace.{camel(name)}" for name in _OF_WORKSPACE.split()},
    "kms_key": "slipway:workspace.encryption.kmsKey",
    "project": "gcp:project",
    "region": "gcp:region",
    "other_regions": "slipway:regions",
    "pulumi_project": "name in Pulumi.yaml",
}
"""The keys of a stack file by fields of the catalog and the facts, unless they have the same name."""
_MEMBERS = "slipway:workspace.submitters"
_BOUNDS = {"begins": "from", "ends": "until"}
_ARGUMENTS: Mapping[str, str] = {
    **dict.fromkeys((CUSTOM_JOB.spec, TUNING_JOB.spec, "workerPoolSpecs", "machineSpec"), ""),
    **dict.fromkeys(("containerSpec", "pythonPackageSpec", "scheduling"), ""),
    "diskSpec": "disk",
    "bootDiskType": "type",
    "bootDiskSizeGb": "size_gb",
    "machineType": "machine",
    "acceleratorType": "accelerator",
    "acceleratorCount": "accelerator_count",
    "replicaCount": "replicas",
    "imageUri": "image",
    "executorImageUri": "image",
    "serviceAccount": "service_account",
    "maxTrialCount": "max_trials",
    "parallelTrialCount": "parallel_trials",
}
"""The arguments of a template by the keys of the request that they become; empty for a level that has none."""
_NOT_DECLARED = ("persistentResourceId", *RESERVED)
"""Prefixes of keys of a request that follow from others."""
_ENTRY = "entry"
_OFFERS = "offers"
_MOST_ITEMS = 4
"""A longer list is shown by the items that it loses and gains."""
_RESOURCES = {BUCKET: "bucket", ACCOUNT: "account"}

Tree = Any
"""A value as text, None, a tuple of trees, or a mapping of trees by key."""


@dataclass(frozen=True)
class Setting:
    """A changed setting."""

    #: The resource that has it.
    subject: Subject
    #: The key in the stack file, below the entry of a cluster; the argument of a template or a component; `entry` for a
    #: whole resource that is added or removed.
    key: str
    #: Values as text for people; empty for none.
    before: str
    after: str


@dataclass(frozen=True)
class _Row:
    """A difference of two trees."""

    key: tuple[str, ...]
    before: str
    after: str


@dataclass(frozen=True)
class _Resource:
    """A part of a stack that people name."""

    tree: Tree = None
    #: Its description when it is added or removed.
    summary: str = ""
    #: Some of its settings are in a form that this version can't read.
    unread: bool = False


_ABSENT = _Resource()


def settings(comparison: Comparison) -> tuple[Setting, ...]:
    """Return all changed settings: clusters first, then templates, the rest of the stack, and other resources."""
    rows: list[tuple[Subject, _Row]] = []
    before = _resources(comparison.stack, comparison.before, comparison.after)
    after = _resources(comparison.stack, comparison.after, comparison.before)
    for subject, was, now in _pairs(before, after, _ABSENT):
        rows += zip(repeat(subject), _rows(was, now))
    for touched in comparison.touched:
        rows += _inputs(touched)
    return tuple(dict.fromkeys(_setting(comparison.new.origin, subject, row) for subject, row in rows))


def _setting(origin: Origin, subject: Subject, row: _Row) -> Setting:
    key = ".".join(filter(None, row.key))
    if subject.what == "cluster":
        key = origin.argument(key)
    elif key.startswith("slipway:"):
        key = origin.key(key)
    return Setting(subject, key, _unless_secret(row.before, row.key), _unless_secret(row.after, row.key))


def _unless_secret(text: str, key: Sequence[str]) -> str:
    # Any part of the key may name a secret: `env.API_TOKEN`, `parameters.password.default`.
    if any(map(partial(has_secret, text), key)):
        return HIDDEN
    return text


def _resources(stack: str, facts: Facts, other: Facts) -> dict[Subject, _Resource]:
    catalog = facts.catalog
    found = {Subject("stack", stack): _Resource(_stack(facts, other))}
    for name, cluster in {**catalog.dormant, **catalog.clusters}.items():
        machines = (f"{pool.name}: {machines_in_words(pool)}" for pool in cluster.pools)
        found[Subject("cluster", name)] = _Resource(tree_of(cluster), ", ".join(machines))
    for name, template in catalog.templates.items():
        # Most are equal, and they are large.
        if template == other.catalog.templates.get(name):
            continue
        offered = f"{template.kind}: {few(_labels(template), _MOST_ITEMS)}"
        found[Subject("template", name)] = _Resource(_template(template, catalog), offered, bool(template.unread))
    named = (("team", catalog.teams), ("trainer", facts.trainers), ("reservation", catalog.reservations))
    for what, entries in named:
        for name, entry in entries.items():
            tree = tree_of(entry)
            found[Subject(what, name)] = _Resource(tree, _text(tree))
    return found


def _rows(before: _Resource, after: _Resource) -> Iterator[_Row]:
    if _ABSENT in (before, after):
        yield _Row((_ENTRY,), before.summary, after.summary)
    # The parts of an unread template are unknown, not removed.
    elif not before.unread and not after.unread:
        yield from _of_offers(_changes(before.tree, after.tree, ()), after.tree)


def _stack(facts: Facts, other: Facts) -> Tree:
    tree: dict[str, Tree] = {}
    for part in (facts.catalog, facts):
        for name in _declared(type(part)):
            # Nothing deployed has empty names.
            value = getattr(part, name)
            tree[_KEYS.get(name, f"slipway:{camel(name)}")] = tree_of(None if value == "" else value)
    granted = chain.from_iterable(map(dict.values, map(dict, facts.submitters.values())))
    # Who submits as a member of a new team or of a trainer has no row of the workspace.
    of_teams = chain.from_iterable(team.submitters for team in facts.catalog.teams.values())
    of_trainers = chain.from_iterable(trainer.submitters for trainer in facts.trainers.values())
    derived = {*of_teams, *of_trainers} - other.submitters.keys()
    members = tuple(member for member in facts.submitters if member not in derived)
    return {**tree, _MEMBERS: members, "roles of submitters": tuple(dict.fromkeys(granted))}


def _template(template: Template, catalog: Catalog) -> Tree:
    offers: dict[str, Offer] = {}
    for offer in template.offers:
        label = offer.label(template.kind)
        # Offers of one capacity type differ in their cluster alone.
        offers[offer.label(template.kind, with_cluster=True) if label in offers else label] = offer
    return {
        **tree_of(template),
        # The digest in the name of the package: its bucket has a row of its own.
        "code": last_part(template.package).partition(".")[0],
        "code_flag": tree_of(template.takes_code),
        "capacity_types": _labels(template),
        _OFFERS: {label: _offer(offer, template, catalog) for label, offer in offers.items()},
    }


def _labels(template: Template) -> tuple[str, ...]:
    """Return the capacity types with their cases, but no clusters, which follow from the stack."""
    return tuple(dict.fromkeys(offer.label(template.kind) for offer in template.offers))


def _offer(offer: Offer, template: Template, catalog: Catalog) -> Tree:
    """Return an offer; values of the stack and of the template, which have rows of their own, are names in it."""
    names = {
        catalog.trainer: "the stack's account",
        catalog.catalog_bucket: "CATALOG_BUCKET",
        template.package: "the template's code",
        template.image: "the template's image",
        **dict.fromkeys(catalog.work_buckets, "WORK_BUCKET"),
    }
    known = sorted(filter(None, names), key=len, reverse=True)
    whole = rf"(?<![\w-])({'|'.join(map(re.escape, known))})(?![\w-])"
    text = re.sub(whole, lambda match: names[match[0]], json.dumps(offer.request))
    request = json.loads(text, object_hook=partial(_by_names, offer.roles))
    wait = None if offer.wait is None else timedelta(seconds=offer.wait)
    return {**tree_of(offer), "wait": tree_of(wait), **tree_of(request)}


def _by_names(roles: Sequence[str], body: dict[str, Any]) -> dict[str, Any]:
    """Return an object of a request with a mapping by name in place of each list of objects."""
    known = {"workerPoolSpecs": roles}
    named = {}
    for key, value in body.items():
        if key.startswith(_NOT_DECLARED):
            continue
        named[key] = value
        match value:
            case [dict(), *_]:
                names = _item_names(value, known.get(key, ()))
                named[key] = dict(zip(names, map(_value, value), strict=True))
    return named


def _value(item: dict[str, Any]) -> Any:
    """Return the value alone of a variable, which is a name with its value."""
    return item["value"] if item.keys() == {"name", "value"} else item


def _item_names(items: Sequence[Mapping[str, Any]], roles: Sequence[str]) -> Sequence[str]:
    names = roles or [item.get("name", item.get("parameterId")) for item in items]
    if None in names or len(set(names)) < len(items):
        return [*map(str, range(len(items)))]
    return [*map(str, names)]


def _of_offers(rows: Iterator[_Row], tree: Tree) -> Iterator[_Row]:
    """Yield rows with equal changes of several offers as one, whose key names the offers unless it is all of them."""
    labels: dict[_Row, list[str]] = {}
    for row in rows:
        if row.key[0] != _OFFERS:
            yield row
        # The row of the capacity types has offers that are added and removed.
        elif len(row.key) > 2:
            key = tuple(_ARGUMENTS.get(part, part) for part in row.key[2:])
            labels.setdefault(_Row(key, row.before, row.after), []).append(row.key[1])
    for row, changed in labels.items():
        if len(changed) < len(tree[_OFFERS]):
            row = replace(row, key=(*row.key[:-1], f"{row.key[-1]} for {few(changed, _MOST_ITEMS)}"))
        yield row


def _inputs(touched: Touched) -> Iterator[tuple[Subject, _Row]]:
    """Yield changed inputs of a resource, as Pulumi has them."""
    if touched.type == OBJECT or touched.fate not in (Fate.CHANGED, Fate.REPLACED):
        return
    subject = Subject("resource", touched.type, touched.name)
    edited = touched.edited
    if touched.type in _RESOURCES:
        subject = Subject(_RESOURCES[touched.type], touched.physical)
    if touched.type.startswith(CLUSTER_TYPE):
        # The catalog has all other inputs of a cluster.
        subject = Subject("cluster", touched.name.rpartition("-")[0])
        edited = tuple({"deletionPolicy"}.intersection(edited))
    for key in edited:
        for difference in differences(touched.was.get(key), touched.becomes.get(key), key):
            yield subject, _Row((difference.path,), *difference.sides)


def _pairs(before: Mapping[Any, Any], after: Mapping[Any, Any], absent: Any = None) -> Iterator[tuple[Any, Any, Any]]:
    """Yield each key of two mappings with its values."""
    for key in dict.fromkeys((*before, *after)):
        yield key, before.get(key, absent), after.get(key, absent)


def _changes(before: Tree, after: Tree, key: tuple[str, ...]) -> Iterator[_Row]:
    if before == after:
        return
    kinds = (type(before), type(after))
    if kinds == (dict, dict):
        for name, was, now in _pairs(before, after):
            yield from _changes(was, now, (*key, name))
    elif kinds == (tuple, tuple):
        yield _Row(key, *_lists(before, after))
    elif (before, after) == (None, "true"):
        # A switch that is left out is off.
        yield _Row(key, "false", "true")
    else:
        yield _Row(key, _text(before), _text(after))


def _lists(before: tuple[Tree, ...], after: tuple[Tree, ...]) -> tuple[str, str]:
    was = paired(map(_text, before))
    now = paired(map(_text, after))
    removed = set(was) - set(now)
    added = set(now) - set(was)
    if max(len(was), len(now)) > _MOST_ITEMS and removed | added:
        return ", ".join(filter(removed.__contains__, was)), ", ".join(filter(added.__contains__, now))
    return _text(was), _text(now)


_NOTHING = ("", "{}")
"""Texts of values that a file leaves out."""


@singledispatch
def _text(tree: Tree) -> str:
    """Return a tree as text; empty for none."""
    return str(tree) or '""'


_text.register(type(None), lambda tree: "")
_text.register(tuple, lambda tree: ", ".join(map(_text, tree)) or "[]")


@_text.register
def _(tree: dict) -> str:  # type: ignore[type-arg]
    texts = {key: _text(item) for key, item in tree.items()}
    return f"{{{', '.join(f'{key}: {text}' for key, text in texts.items() if text not in _NOTHING)}}}"


@singledispatch
def tree_of(value: Any) -> Tree:
    """Return a value as a tree."""
    if not is_dataclass(value):
        return str(value)
    tree = {}
    for name in _declared(type(value)):
        held = getattr(value, name)
        # A text whose default is empty has no value then.
        is_missing = held == "" and getattr(type(value), name, None) == ""
        tree[_SPELLING.get(type(value), _spelled)(name)] = tree_of(None if is_missing else held)
    return tree


def _declared(kind: type) -> list[str]:
    """Return the names of the fields of a class that are compared."""
    left_out = " ".join(f"{COMPUTED.get(base, '')} {ELSEWHERE.get(base, '')}" for base in kind.__mro__).split()
    return [field.name for field in fields(kind) if field.name not in left_out]


def _spelled(name: str) -> str:
    """Return the key of a stack file for the name of a field."""
    return _BOUNDS.get(name, camel(name))


_SPELLING = {Template: str, Offer: str}
"""Templates are Python, and spell a field by its name."""


@tree_of.register
def _(value: Cluster) -> Tree:
    tree = {name: tree_of(getattr(value, name)) for name in _declared(type(value))}
    usual = timedelta(seconds=CREATE_WITHIN_S)
    return {
        **_words(CLUSTER, value),
        **{camel(name): item for name, item in tree.items()},
        **tree_of(value.season),
        "createWithin": tree_of(value.create_within or usual),
    }


@tree_of.register
def _(value: PoolSpec) -> Tree:
    tree = _words(POOL, value)
    replicas = {"min": tree.pop("replicas.min"), "max": tree.pop("replicas.max")}
    return {**tree, "replicas": replicas} if value.autoscaled else tree


def _words(table: Sequence[Field[Any]], spec: object) -> dict[str, Tree]:
    return {field.key: tree_of(field.words(spec) or None) for field in table}


tree_of.register(type(None), lambda value: None)
tree_of.register(bool, lambda value: str(value).lower())
tree_of.register(int, plain)
tree_of.register(float, plain)
tree_of.register(timedelta, lambda value: exact_span(value.total_seconds()))
tree_of.register(datetime, moment_in_words)


@tree_of.register
def _(value: str) -> Tree:
    if re.fullmatch(r"\d{1,9}s", value):
        return exact_span(int(value[:-1]))
    return re.sub(r"NVIDIA_\w+", lambda match: _models().get(match[0], match[0]), value)


@tree_of.register
def _(value: Mapping) -> Tree:  # type: ignore[type-arg]
    return {str(key): tree_of(item) for key, item in value.items()}


@tree_of.register(tuple)
@tree_of.register(list)
def _(value: Sequence[Any]) -> Tree:
    """Return dataclasses by their names, or by their numbers if they have none."""
    trees = tuple(map(tree_of, value))
    if not any(map(is_dataclass, value)):
        return trees
    names = (getattr(item, "name", str(number)) for number, item in enumerate(value, 1))
    return dict(zip(names, trees, strict=True))


@cache
def _models() -> Mapping[str, str]:
    """Return the common names of accelerators, such as `A100 80GB`, by Google's."""
    return {accelerator.name: accelerator.label.removesuffix(" GPUs") for accelerator in all_accelerators()}
