"""Two requests of an offer, before and after, as differences that a person can read; none is left out.

Worker pools go by role and environment variables by name, so that their order alone is none. What each deployment sets
anew means nothing: the commit, a cluster's id, a package's hash (`templates.py` tells of code). Buckets and the trainer
that all share are told once elsewhere, and so is a template that changes its trainer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from slipway.catalog.model import Catalog, Offer
from slipway.catalog.placeholders import PACKAGE, placeholder
from slipway.formatting import join, span
from slipway.kinds import CUSTOM_JOB, KINDS
from slipway.labels import TEMPLATE_LABEL
from slipway.review.templates.secret_values import looks_secret, shown

Leaf = str | tuple[str, ...]
"""A value of a request; a list of texts is one, whole."""
_NONE: Mapping[str, str] = {}
_SILENT = re.compile(r"spec/persistentResourceId|labels/slipway-commit(-dirty)?")
_ARGUMENTS = ("args", "command")
_SPECIFIC = {
    "reservationAffinityType": "SPECIFIC_RESERVATION",
    "key": "compute.googleapis.com/reservation-name",
}
# What is told in words of its own.
_OF_MACHINES = ("machineSpec", "diskSpec", "replicaCount", "nfsMounts")
_DURATIONS, _WAIT = ("timeout", "maxWaitDuration"), "spec/scheduling/maxWaitDuration"
_MACHINE = ("machineType", "acceleratorType", "acceleratorCount", "tpuTopology")
_TRAINER = "the trainer"
_PATH = re.compile(r"pools/(?P<role>[^/]+)/(?P<rest>.+)")
_POOL, _CODE = r"pools/(?P<role>[^/]+)/", r"(containerSpec|pythonPackageSpec)/"
_ROWS: tuple[tuple[str, str, str], ...] = (
    (f"{_POOL}machines", "machines-changed", "machines"),
    (f"{_POOL}reservation", "reservation-changed", "reservation"),
    (f"{_POOL}nfsMounts", "network-changed", "mounted file systems"),
    (f"{_POOL}containerSpec/imageUri", "image-changed", "image"),
    (f"{_POOL}pythonPackageSpec/executorImageUri", "executor-image-changed", "executor image"),
    (f"{_POOL}{_CODE}args", "arguments-changed", "arguments"),
    (f"{_POOL}{_CODE}command", "arguments-changed", "command"),
    (f"{_POOL}{_CODE}packageUris", "code-changed", "package"),
    (f"{_POOL}{_CODE}pythonModule", "arguments-changed", "module"),
    (f"{_POOL}{_CODE}env/(?P<name>.+)__SECRET", "secrets-changed", "secret"),
    (f"{_POOL}{_CODE}env/(?P<name>.+)", "environment-changed", "environment variable"),
    ("spec/serviceAccount", "account-changed", "service account"),
    ("spec/scheduling/timeout", "timeout-changed", "timeout"),
    ("spec/scheduling/(?P<name>.+)", "scheduling-changed", "scheduling"),
    ("spec/(?P<name>(network|reservedIpRanges|pscInterfaceConfig).*)", "network-changed", "network"),
    ("spec/(?P<name>enable(Web|Dashboard)Access)", "web-access-changed", "access to running jobs"),
    ("spec/(?P<name>experiment|experimentRun|tensorboard)", "metrics-changed", "metrics"),
    ("encryptionSpec.*", "encryption-changed", "encryption key"),
    ("(?P<name>(studySpec|max.*TrialCount|parallelTrialCount).*)", "study-changed", "study"),
    (f"{_POOL}(?P<name>.+)", "request-changed", "request"),
    ("(?P<name>.+)", "request-changed", "request"),
)
_COMPILED = tuple((re.compile(pattern), kind, what) for pattern, kind, what in _ROWS)


@dataclass(frozen=True)
class Difference:
    """`what` in words, with a name where there are several; `role` is the worker pool's, empty for the whole job.
    `before` and `after` are as a comment shows them."""

    kind: str
    what: str
    role: str
    before: str
    after: str


def differences(
    old: Offer, new: Offer, was: Catalog, becomes: Catalog, renamed: Mapping[str, str]
) -> Iterator[Difference]:
    """`renamed` are parameters' new names by their old ones: to name them otherwise alone is no difference."""
    names = {placeholder(one): placeholder(other) for one, other in renamed.items()}
    roles = _renamed_roles(old, new)
    before, after = flat(old, was, roles, names), flat(new, becomes)
    trainers = {_TRAINER, *(_trainer(name) for one in (was, becomes) for name in one.trainers)}
    for one, other in roles.items():
        yield Difference("request-changed", "role", "", f"`{one}`", f"`{other}`")
    for path in dict.fromkeys((*before, *after)):
        a, b = before.get(path), after.get(path)
        waits = path == _WAIT and _is_wait(a, old) and _is_wait(b, new)
        repeated = (b is None and _repeats(path, before, after)) or (a is None and _repeats(path, after, before))
        moved = path == "spec/serviceAccount" and {a, b} <= trainers
        if a != b and not (_SILENT.fullmatch(path) or waits or repeated or moved):
            yield _difference(path, a, b)


def _renamed_roles(old: Offer, new: Offer) -> Mapping[str, str]:
    """New names by old ones, by place, where there are as many as before."""
    if len(old.roles) != len(new.roles):
        return {}
    pairs = zip(old.roles, new.roles, strict=True)
    return {one: other for one, other in pairs if one not in new.roles and other not in old.roles}


def _repeats(path: str, leaves: Mapping[str, Leaf], others: Mapping[str, Leaf]) -> bool:
    """Tell whether it is of a role that only `leaves` have, and another one there has the same. Machines are always
    told."""
    found = _PATH.fullmatch(path)
    if found is None or found["rest"] == "machines" or found["role"] in _roles(others):
        return False
    beside = (f"pools/{role}/{found['rest']}" for role in _roles(leaves) if role != found["role"])
    return any(leaves.get(one) == leaves.get(path) for one in beside)


def _roles(leaves: Mapping[str, Leaf]) -> frozenset[str]:
    return frozenset(found["role"] for path in leaves if (found := _PATH.fullmatch(path)))


def _is_wait(leaf: Leaf | None, offer: Offer) -> bool:
    return leaf is None or (offer.wait is not None and leaf == f"{offer.wait:.0f}s")


def flat(
    offer: Offer, catalog: Catalog, roles: Mapping[str, str] = _NONE, names: Mapping[str, str] = _NONE
) -> Mapping[str, Leaf]:
    """Every value of a request by its path; lists of arguments whole. `roles` and `names` by what stands there."""
    key = KINDS.get(offer.kind, CUSTOM_JOB).spec
    spec = offer.request.get(key) or {}
    found = dict(_leaves({name: one for name, one in offer.request.items() if name != key}, ""))
    found |= _leaves({name: one for name, one in spec.items() if name != "workerPoolSpecs"}, "spec/")
    for index, pool in enumerate(spec.get("workerPoolSpecs") or ()):
        if pool:
            role = next(iter(offer.roles[index : index + 1]), "") or f"worker pool {index}"
            found |= _pool(pool, f"pools/{roles.get(role, role)}/")
    words = {**_shared(catalog, offer), **names}
    return {path: _in_words(leaf, words) for path, leaf in found.items()}


def _shared(catalog: Catalog, offer: Offer) -> Mapping[str, str]:
    """Words for what all templates share, by what stands in the request."""
    template = catalog.templates.get(str((offer.request.get("labels") or {}).get(TEMPLATE_LABEL)))
    found = {placeholder(PACKAGE): "the template's code", template.package if template else "": "the template's code"}
    found |= {account: _trainer(name) for name, account in catalog.trainers.items()}
    found |= {catalog.trainer: _TRAINER, catalog.work_bucket: "the work bucket"}
    found |= {catalog.catalog_bucket: "the catalog bucket"}
    return {name: word for name, word in found.items() if name}


def _trainer(name: str) -> str:
    return f"trainer {name}"


def _in_words(leaf: Leaf, words: Mapping[str, str]) -> Leaf:
    if isinstance(leaf, tuple):
        return tuple(str(_in_words(one, words)) for one in leaf)
    if leaf in words:
        return words[leaf]
    for name, word in words.items():
        bucket = not name.startswith("${")
        leaf = leaf.replace(f"gs://{name}/", f"gs://({word})/") if bucket else leaf.replace(name, word)
    return leaf


def plain_secrets(offer: Offer, catalog: Catalog) -> Iterator[str]:
    """Places that seem to have a secret in plain text: `environment variable HF_TOKEN`."""
    for path, leaf in flat(offer, catalog).items():
        for value in leaf if isinstance(leaf, tuple) else (leaf,):
            name, _, given = value.partition("=") if path.endswith(_ARGUMENTS) else (path.rpartition("/")[2], "", value)
            if looks_secret(given or value, name.lstrip("-")):
                yield _words(path, given or value)[1]


def _pool(pool: Mapping[str, Any], start: str) -> Mapping[str, Leaf]:
    machine = dict(pool.get("machineSpec") or {})
    disk, told = dict(pool.get("diskSpec") or {}), {name: machine.pop(name, "") for name in _MACHINE}
    size, kind = disk.pop("bootDiskSizeGb", ""), disk.pop("bootDiskType", "")
    gpus = f" with {told['acceleratorCount']} {told['acceleratorType']}" if told["acceleratorType"] else ""
    topology = f" {told['tpuTopology']}" if told["tpuTopology"] else ""
    words = f"{told['machineType']}{topology}{gpus} × {pool.get('replicaCount', 'none')}, {kind} {size} GB"
    affinity, mounts = machine.pop("reservationAffinity", None) or {}, pool.get("nfsMounts") or ()
    rest = {name: one for name, one in pool.items() if name not in _OF_MACHINES}
    left = {**rest, **({"machineSpec": machine} if machine else {}), **({"diskSpec": disk} if disk else {})}
    found: dict[str, Leaf] = {f"{start}machines": words, **dict(_leaves(left, start))}
    if affinity:
        found[f"{start}reservation"] = _reservation(affinity)
    if mounts:
        found[f"{start}nfsMounts"] = tuple(map(_mount, mounts))
    return found


def _reservation(affinity: Mapping[str, Any]) -> str:
    rest = {name: one for name, one in affinity.items() if name != "values"}
    paths = ", ".join(map(str, affinity.get("values") or ()))
    return paths if rest == _SPECIFIC else f"{paths} {rest}".strip()


def _mount(one: Mapping[str, Any]) -> str:
    """`10.0.0.9:/shared at data`"""
    rest = {name: value for name, value in one.items() if name not in ("server", "path", "mountPoint")}
    words = f"{one.get('server', '')}:{one.get('path', '')} at {one.get('mountPoint', '')}"
    return f"{words} {rest}" if rest else words


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Leaf]]:
    """`path` ends with a slash. An empty object is a value too; a list of texts or numbers is one, whole."""
    for key, one in value.items() if isinstance(value, Mapping) else _entries(value):
        here = f"{path}{key}"
        if key == "env" and isinstance(one, list):
            yield from ((f"{here}/{each.get('name', '')}", str(each.get("value", ""))) for each in one)
        elif isinstance(one, list) and one and not any(isinstance(each, Mapping | list) for each in one):
            yield here, tuple(map(_word, one))
        elif isinstance(one, Mapping | list) and one:
            yield from _leaves(one, f"{here}/")
        else:
            yield here, _word(one)


def _entries(values: list[Any]) -> Iterator[tuple[str, Any]]:
    """Name entries as a study does, so that their order alone is no difference."""
    for index, one in enumerate(values):
        inner = one.get("parameterSpec", one) if isinstance(one, Mapping) else {}
        named = inner.get("parameterId") or inner.get("metricId") if isinstance(inner, Mapping) else None
        yield str(named or index), one


def _word(value: Any) -> str:
    """Write a number alike, whether JSON has it as 4 or as 4.0."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _difference(path: str, before: Leaf | None, after: Leaf | None) -> Difference:
    name = path.rpartition("/")[2]
    kind, what, role = _words(path, name)
    if isinstance(before, tuple) or isinstance(after, tuple):
        return Difference(kind, what, role, *_arguments(before or (), after or ()))
    sides = ((before, after or ""), (after, before or ""))
    was, becomes = ("none" if one is None else shown(one, name, beside=other) for one, other in sides)
    if name in _DURATIONS and before and after:
        becomes += f" ({' → '.join(span(float(str(one).removesuffix('s'))) for one in (before, after))})"
    return Difference(kind, what, role, was, becomes)


def _words(path: str, value: str) -> tuple[str, str, str]:
    for pattern, kind, what in _COMPILED:
        if found := pattern.fullmatch(path):
            told = found.groupdict()
            named = told.get("name")
            return kind, f"{what} `{named}`" if named else what, told.get("role") or ""
    raise AssertionError("the last row takes every path")


def _arguments(before: Leaf, after: Leaf) -> tuple[str, str]:
    gone, new = [one for one in before if one not in after], [one for one in after if one not in before]
    if not gone and not new:
        gone, new = list(before), list(after)
    return _listed(gone, new), _listed(new, gone)


def _listed(arguments: list[str], others: list[str]) -> str:
    words = []
    for one, other in zip_longest(arguments[:4], others[: len(arguments)][:4], fillvalue=""):
        name, equals, value = one.partition("=")
        hides = equals and looks_secret(value, name.lstrip("-"))
        words.append(f"`{name}=…` (hidden)" if hides else shown(one, beside=other))
    more = len(arguments) - 4
    return join([*words, *([f"{more} more"] if more > 0 else [])]) or "none"
