"""The table of all changed settings of a stack, before and after, by resource.

It is derived from the dataclasses of the catalog and of the facts: a new field is a row unless `COMPUTED` lists it. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import zip_longest
from typing import Any

from slipway.answers.comparison import Comparison
from slipway.authoring.stack.secrets import has_secret, paired
from slipway.base.codec import camel
from slipway.base.formatting import exact_span, few, last_part, plain
from slipway.deploying.engine.touched import ACCOUNT, BUCKET, CLUSTER_TYPE, OBJECT, Fate, Touched, differences
from slipway.model.catalog.clusters import Cluster, PricedAlternative
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Study, Template
from slipway.model.cluster import CREATE_WITHIN_S, Adoption, Reservation
from slipway.model.cluster_fields import FieldDifference, compare, compare_pools, machines_in_words
from slipway.model.facts import Facts, QuotaFacts, TrainerFacts, offers_by_label
from slipway.model.findings.finding import Subject
from slipway.model.labels import RESERVED
from slipway.model.machines.table import all_accelerators
from slipway.model.season import Season, moment_in_words

HIDDEN = "(hidden)"
Row = tuple[str, str, str]
"""A key with its values as text, before and after; empty for none."""

# Declared by nobody: they follow from other fields, from live state or from the commit.
_OF_CATALOG = (
    "stack commit dirty retiring removed under_way former_regions quotas restored work_elsewhere source program"
)
_OF_OFFER = "available why note lacks_quota dormant cluster pools roles price_per_hour"
COMPUTED: Mapping[type, frozenset[str]] = {
    Catalog: frozenset(_OF_CATALOG.split()),
    Facts: frozenset({"kept", "adopted", "shared", "unloaded"}),
    QuotaFacts: frozenset({"region", "lines", "requests"}),
    Template: frozenset({"name", "code_why", "yields", "source", "unread"}),
    Offer: frozenset(_OF_OFFER.split()),
    Cluster: frozenset({"name", "id", "alternative", "region", "deletion_policy"}),
    Adoption: frozenset({"lines"}),
    TrainerFacts: frozenset({"name"}),
    Reservation: frozenset({"path"}),
}
"""The fields without a row, by class."""
ELSEWHERE: Mapping[type, frozenset[str]] = {
    Catalog: frozenset({"clusters", "dormant", "templates", "teams", "reservations", "trainers", "submitters", "code"}),
    Facts: frozenset({"catalog", "trainers", "submitters"}),
    Template: frozenset({"parameters", "offers", "package", "code_flag", "code_with_inputs"}),
    # In an offer's label.
    Offer: frozenset({"capacity_type", "kind", "when", "shape", "request"}),
}
"""The fields whose rows another function has, by class."""
_OF_WORKSPACE = "catalog_bucket work_bucket trainer code shell urgent confirm_above board notify kms_key"
_KEYS = {
    **{name: f"slipway:workspace.{camel(name)}" for name in _OF_WORKSPACE.split()},
    "kms_key": "slipway:workspace.encryption.kmsKey",
    "project": "gcp:project",
    "region": "gcp:region",
    "other_regions": "slipway:regions",
}
"""The keys of a stack file by the fields of the catalog and the facts; others have their own name."""
_BOUNDS = {"begins": "from", "ends": "until"}
_ARGUMENTS: Mapping[str, str] = {
    **dict.fromkeys(("jobSpec", "trialJobSpec", "workerPoolSpecs", "machineSpec"), ""),
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
}
"""The arguments of a template by the keys of the request that they become; empty for a level that has none."""
_OF_CLUSTER_NAME = "persistentResourceId"
_NAMES = ("name", "id", "metricId", "parameterId")
_MOST_ITEMS = 4
"""A longer list is shown by the items that it loses and gains."""
_SECONDS = re.compile(r"\d+s")


@dataclass(frozen=True)
class Setting:
    """A changed setting."""

    #: The resource that has it.
    subject: Subject
    #: The key in the stack file, below the entry of a cluster; the argument of a template or a component. Empty for a
    #: whole resource that is added or removed.
    field: str
    #: Values as text for people; empty for none.
    before: str
    after: str


def settings(comparison: Comparison) -> tuple[Setting, ...]:
    """Return all changed settings: clusters first, then templates, the rest of the stack, and other resources."""
    old, new = comparison.before, comparison.after
    rows = [*_clusters(old.catalog, new.catalog), *_templates(old.catalog, new.catalog), *_stack(old, new)]
    for touched in comparison.touched:
        rows += _resource(touched)
    origin = comparison.new.origin
    found = []
    for subject, (key, before, after) in rows:
        named = key
        if key and subject.what == "cluster":
            named = origin.argument(key)
        elif key.startswith("slipway:"):
            named = origin.key(key)
        found.append(Setting(subject, named, _unless_secret(before, key), _unless_secret(after, key)))
    return tuple(dict.fromkeys(found))


def _unless_secret(text: str, key: str) -> str:
    # Any part of the key may name a secret: `env.API_TOKEN`, `parameters.password.default`.
    if any(has_secret(text, part) for part in key.split(".")):
        return HIDDEN
    return text


Rows = Iterator[tuple[Subject, Row]]


def _clusters(old: Catalog, new: Catalog) -> Rows:
    was = {**old.dormant, **old.clusters}
    now = {**new.dormant, **new.clusters}
    for name in sorted({*was, *now}):
        before, after = was.get(name), now.get(name)
        subject = Subject("cluster", name)
        if before is None or after is None:
            yield subject, ("", _machines(before), _machines(after))
            continue
        for row in _cluster(before, after):
            yield subject, row


def _machines(cluster: Cluster | None) -> str:
    if cluster is None:
        return ""
    return ", ".join(f"{pool.name}: {machines_in_words(pool)}" for pool in cluster.pools)


def _cluster(before: Cluster, after: Cluster) -> Iterator[Row]:
    compared = [difference for difference in compare(before, after) if not difference.key.startswith("labels.")]
    yield from map(_field, compared)
    yield from _changes(dict(before.labels), dict(after.labels), "labels")
    yield from _changes(before.season, after.season, "")
    yield from _changes(before.replacement, after.replacement, "replacement")
    yield from _changes(before.retire_within, after.retire_within, "retireWithin")
    usual = timedelta(seconds=CREATE_WITHIN_S)
    yield from _changes(before.create_within or usual, after.create_within or usual, "createWithin")
    yield from _changes(_id(before), _id(after), "id")
    pairs = zip_longest(before.alternatives, after.alternatives)
    for number, (one, other) in enumerate(pairs, 1):
        yield from _alternative(one, other, f"alternatives.{number}")


def _id(cluster: Cluster) -> str | None:
    return cluster.adopted.id if cluster.adopted else None


def _alternative(before: PricedAlternative | None, after: PricedAlternative | None, key: str) -> Iterator[Row]:
    if before is None or after is None:
        yield key, _alternative_text(before), _alternative_text(after)
        return
    yield from _changes(before.region or None, after.region or None, f"{key}.region")
    was = {pool.name: pool for pool in before.pools}
    now = {pool.name: pool for pool in after.pools}
    for name in sorted({*was, *now}):
        for difference in compare_pools(name, was.get(name), now.get(name)):
            yield _field(difference, f"{key}.")


def _alternative_text(alternative: PricedAlternative | None) -> str:
    if alternative is None:
        return ""
    pools = ", ".join(f"{pool.name}: {machines_in_words(pool)}" for pool in alternative.pools)
    return f"{pools} in {alternative.region}" if alternative.region else pools


def _field(difference: FieldDifference, above: str = "") -> Row:
    before, after = _readable(difference.before, difference.after)
    return f"{above}{difference.key}", before, after


def _templates(old: Catalog, new: Catalog) -> Rows:
    for name in sorted({*old.templates, *new.templates}):
        before, after = old.templates.get(name), new.templates.get(name)
        subject = Subject("template", name)
        if before is None or after is None:
            yield subject, ("", _offered(before), _offered(after))
        # The parts of an unread one are unknown, not removed.
        elif not before.unread and not after.unread:
            for row in _template(before, after, old, new):
                yield subject, row


def _offered(template: Template | None) -> str:
    if template is None:
        return ""
    return f"{template.kind}: {few(offers_by_label(template), _MOST_ITEMS)}"


def _template(before: Template, after: Template, old: Catalog, new: Catalog) -> Iterator[Row]:
    yield from _changes(_code(before), _code(after), "code")
    yield from _changes(before.takes_code, after.takes_code, "code_flag")
    yield from _changes(before, after, "")
    was = {parameter.name: parameter for parameter in before.parameters}
    now = {parameter.name: parameter for parameter in after.parameters}
    yield from _changes(was, now, "parameters")
    yield from _offers(before, after, old, new)


def _code(template: Template) -> str | None:
    """Return the digest in the name of the package, as its bucket has a row of its own."""
    return last_part(template.package).partition(".")[0] or None


def _offers(before: Template, after: Template, old: Catalog, new: Catalog) -> Iterator[Row]:
    """Yield the changes of offers; an equal change of all is one row, else its key names the offers."""
    was = offers_by_label(before, after.kind)
    now = offers_by_label(after)
    yield from _changes(tuple(was), tuple(now), "capacity_types")
    changed: dict[Row, list[str]] = {}
    common = [label for label in now if label in was]
    for label in common:
        rows = [*_changes(was[label], now[label], "")]
        rows += _changes(_request(was[label], before, old), _request(now[label], after, new), "")
        for row in rows:
            changed.setdefault(row, []).append(label)
    for (key, one, other), labels in changed.items():
        named = key if len(labels) == len(common) else f"{key} ({few(labels, _MOST_ITEMS)})"
        yield named, one, other


def _request(offer: Offer, template: Template, catalog: Catalog) -> Any:
    """Return a request with values of the stack and of the template, which have rows of their own, under names."""
    names = {
        catalog.trainer: "the stack's account",
        catalog.catalog_bucket: "CATALOG_BUCKET",
        template.package: "the template's code",
        template.image: "the template's image",
        **dict.fromkeys(catalog.work_buckets, "WORK_BUCKET"),
    }
    known = sorted(filter(None, names), key=len, reverse=True)
    whole = re.compile("|".join(map(re.escape, known)))
    return _by_names(offer.request, offer, lambda text: whole.sub(lambda match: names[match[0]], text))


def _by_names(value: Any, offer: Offer, rename: Any, key: str = "") -> Any:
    """Return JSON with a mapping by name in place of each list of objects."""
    if isinstance(value, str):
        renamed = rename(value)
        timed = key.lower().endswith(("timeout", "duration")) and _SECONDS.fullmatch(renamed)
        return timedelta(seconds=int(renamed[:-1])) if timed else renamed
    if isinstance(value, Mapping):
        kept = {name: item for name, item in value.items() if name != _OF_CLUSTER_NAME}
        if key == "labels":
            kept = {name: item for name, item in kept.items() if not name.startswith(RESERVED)}
        return {_ARGUMENTS.get(name, name): _by_names(item, offer, rename, name) for name, item in kept.items()}
    if not isinstance(value, list | tuple):
        return value
    if not value or not all(isinstance(item, Mapping) for item in value):
        return tuple(_by_names(item, offer, rename) for item in value)
    names = _item_names(value, offer.roles if key == "workerPoolSpecs" else ())
    return {name: _by_names(_pair(item), offer, rename) for name, item in zip(names, value, strict=True)}


def _pair(item: Mapping[str, Any]) -> Any:
    """Return the value alone of an item that is a name with its value, such as a variable."""
    return item["value"] if item.keys() == {"name", "value"} else item


def _item_names(items: Sequence[Mapping[str, Any]], roles: Sequence[str]) -> list[str]:
    names = []
    for number, item in enumerate(items):
        name = roles[number] if number < len(roles) else ""
        own = (str(item[key]) for key in _NAMES if key in item)
        names.append(name or next(own, str(number)))
    if len(set(names)) < len(names):
        return [str(number) for number in range(len(items))]
    return names


def _stack(old: Facts, new: Facts) -> Rows:
    stack = Subject("stack", new.catalog.stack)
    for before, after in ((old.catalog, new.catalog), (old, new)):
        for name in _declared(type(after)):
            key = _KEYS.get(name, f"slipway:{camel(name)}")
            for row in _changes(getattr(before, name), getattr(after, name), key):
                yield stack, row
    members = "slipway:workspace.submitters"
    rows = [*_changes(tuple(old.submitters), tuple(new.submitters), members)]
    for member in old.submitters.keys() & new.submitters.keys():
        rows += _changes(old.submitters[member], new.submitters[member], f"{members}.{member}")
    for row in rows:
        yield stack, row
    named = (
        ("team", old.catalog.teams, new.catalog.teams),
        ("trainer", old.trainers, new.trainers),
        ("reservation", old.catalog.reservations, new.catalog.reservations),
    )
    for what, was, now in named:
        for name in sorted({*was, *now}):
            for row in _changes(was.get(name), now.get(name), ""):
                yield Subject(what, name), row


def _resource(touched: Touched) -> Rows:
    """Yield changed inputs of a resource that the program declares by itself."""
    is_cluster = touched.type.startswith(CLUSTER_TYPE)
    if touched.type == OBJECT or touched.fate not in (Fate.CHANGED, Fate.REPLACED):
        return
    subject = Subject("resource", touched.type, touched.name)
    if touched.type in (BUCKET, ACCOUNT):
        subject = Subject("bucket" if touched.type == BUCKET else "account", touched.physical)
    if is_cluster:
        subject = Subject("cluster", touched.name.rpartition("-")[0] or touched.name)
    for key in touched.edited:
        # The catalog has all other inputs of a cluster.
        if is_cluster and key != "deletionPolicy":
            continue
        for difference in differences(touched.was.get(key), touched.becomes.get(key), key):
            yield subject, (difference.path, *difference.sides)


def _changes(before: Any, after: Any, key: str) -> Iterator[Row]:
    """Yield the differences of two values, field by field of equal classes and entry by entry of mappings."""
    if type(before) is type(after) and before == after:
        return
    if is_dataclass(after) and type(before) is type(after):
        for name in _declared(type(after)):
            yield from _changes(getattr(before, name), getattr(after, name), _below(key, _spelled(type(after), name)))
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            yield from _changes(before.get(name), after.get(name), _below(key, str(name)))
    elif isinstance(before, tuple) and isinstance(after, tuple):
        yield key, *_lists(before, after)
    else:
        yield key, *_readable(_text(before), _text(after))


def _declared(kind: type) -> list[str]:
    """Return the names of the fields of a class that are compared."""
    left_out = COMPUTED.get(kind, frozenset()) | ELSEWHERE.get(kind, frozenset())
    return [field.name for field in fields(kind) if field.name not in left_out]


def _spelled(kind: type, name: str) -> str:
    if kind in (Template, Offer, Study):
        return name
    if kind in (Season, Reservation):
        return _BOUNDS.get(name, camel(name))
    return camel(name)


def _below(key: str, name: str) -> str:
    return f"{key}.{name}" if key and name else key or name


def _lists(before: tuple[Any, ...], after: tuple[Any, ...]) -> tuple[str, str]:
    was, now = (list(paired(map(_text, side))) for side in (before, after))
    gone = [item for item in was if item not in now]
    added = [item for item in now if item not in was]
    is_long = max(len(was), len(now)) > _MOST_ITEMS
    if is_long and (gone or added):
        return ", ".join(gone), ", ".join(added)
    return ", ".join(was) or "[]", ", ".join(now) or "[]"


def _text(value: Any) -> str:
    """Return a value as text for people; empty for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return plain(value)
    if isinstance(value, timedelta):
        return exact_span(value.total_seconds())
    if isinstance(value, datetime):
        return moment_in_words(value)
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_text, value))}]"
    if is_dataclass(value):
        named = {_spelled(type(value), name): getattr(value, name) for name in _declared(type(value))}
        value = {name: item for name, item in named.items() if item not in (None, (), {}, "")}
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {_text(item)}' for name, item in value.items())}}}"
    return str(value) or '""'


def _readable(before: str, after: str) -> tuple[str, str]:
    """Return two texts with the common names of accelerators, unless both would read alike."""
    one, other = _with_models(before), _with_models(after)
    return (before, after) if one == other else (one, other)


def _with_models(text: str) -> str:
    return re.sub(r"NVIDIA_\w+", lambda match: _models().get(match[0], match[0]), text)


@cache
def _models() -> Mapping[str, str]:
    return {accelerator.name: accelerator.model for accelerator in all_accelerators()}
