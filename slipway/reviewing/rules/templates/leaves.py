"""A request as its values by path, with words that mean the same before and after a deployment.

Worker pools are named by role and environment variables by name, so that their order alone is no difference. Common
buckets and accounts have a name of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple
from typing import Any

from slipway.model.catalog.model import Catalog, Offer
from slipway.model.catalog.placeholders import PACKAGE, placeholder
from slipway.model.kinds import CUSTOM_JOB, KINDS
from slipway.model.labels import TEMPLATE_LABEL, Launched
from slipway.reviewing.rules.templates.effects import TRAINER, Leaf, Machines

_FORMS = ("containerSpec", "pythonPackageSpec")
_NONE: Mapping[str, str] = {}
_SPECIFIC = {
    "reservationAffinityType": "SPECIFIC_RESERVATION",
    "key": "compute.googleapis.com/reservation-name",
}
# One value, whatever the number of its fields.
_OF_MACHINES = ("machineSpec", "diskSpec", "replicaCount", "nfsMounts")
_MACHINE = ("machineType", "acceleratorType", "acceleratorCount", "tpuTopology")


def flat(
    offer: Offer, catalog: Catalog, roles: Mapping[str, str] = _NONE, names: Mapping[str, str] = _NONE
) -> Mapping[str, Leaf]:
    """Return every value of a request by its path; lists of arguments are one value. `roles` and `names` by their
    values."""
    key = KINDS.get(offer.kind, CUSTOM_JOB).spec
    spec = offer.request.get(key) or {}
    found = dict(_leaves({name: one for name, one in offer.request.items() if name != key}, ""))
    found |= _leaves({name: one for name, one in spec.items() if name != "workerPoolSpecs"}, "spec/")
    for index, pool in enumerate(spec.get("workerPoolSpecs") or ()):
        if pool:
            role = next(iter(offer.roles[index : index + 1]), "") or f"worker pool {index}"
            found |= {
                **_pool(pool, f"pools/{roles.get(role, role)}/"),
                f"pools/{roles.get(role, role)}/place": str(index),
            }
    words = {**_shared(catalog, offer), **names}
    return {path: _in_words(leaf, words) for path, leaf in found.items()}


def _shared(catalog: Catalog, offer: Offer) -> Mapping[str, str]:
    """Return words for the common values of all templates, by their text in the request."""
    template = catalog.templates.get(str((offer.request.get("labels") or {}).get(TEMPLATE_LABEL)))
    found = {placeholder(PACKAGE): "the template's code", template.package if template else "": "the template's code"}
    found |= {account: trainer(name) for name, account in catalog.trainers.items()}
    found |= {catalog.trainer: TRAINER, catalog.work_bucket: "the work bucket"}
    found |= {catalog.catalog_bucket: "the catalog bucket"}
    return {name: word for name, word in found.items() if name}


def trainer(name: str) -> str:
    return f"trainer {name}"


def _in_words(leaf: Leaf, words: Mapping[str, str]) -> Leaf:
    if isinstance(leaf, tuple):
        return tuple(str(_in_words(one, words)) for one in leaf)
    if isinstance(leaf, Machines):
        return Machines(*(str(_in_words(one, words)) for one in astuple(leaf)))
    if leaf in words:
        return words[leaf]
    for name, word in words.items():
        bucket = not name.startswith("${")
        leaf = leaf.replace(f"gs://{name}/", f"gs://({word})/") if bucket else leaf.replace(name, word)
    return leaf


def _pool(pool: Mapping[str, Any], start: str) -> Mapping[str, Leaf]:
    machine = dict(pool.get("machineSpec") or {})
    disk, told = dict(pool.get("diskSpec") or {}), {name: machine.pop(name, None) or "" for name in _MACHINE}
    size, kind = disk.pop("bootDiskSizeGb", ""), disk.pop("bootDiskType", "")
    type_ = " ".join(filter(None, (told["machineType"], told["tpuTopology"])))
    gpus = told["acceleratorCount"], told["acceleratorType"]
    machines = Machines(*map(str, (pool.get("replicaCount", "none"), type_, *gpus, kind, size)))
    affinity, mounts = machine.pop("reservationAffinity", None) or {}, pool.get("nfsMounts") or ()
    rest = {name: one for name, one in pool.items() if name not in _OF_MACHINES}
    left = {**rest, **({"machineSpec": machine} if machine else {}), **({"diskSpec": disk} if disk else {})}
    found: dict[str, Leaf] = {f"{start}machines": machines, **dict(_leaves({**left, **_code(left)}, start))}
    if affinity:
        found[f"{start}reservation"] = _reservation(affinity)
    if mounts:
        found[f"{start}nfsMounts"] = tuple(map(_mount, mounts))
    return found


def _code(pool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return code of either form with common parts, `code`, and the form's own; the module that a package's launcher
    starts counts as the package's."""
    found: dict[str, Any] = {}
    for form in _FORMS:
        spec = dict(pool.get(form) or {})
        if launched := Launched.read(spec.get("args") or ()):
            found["launcher"] = launched.others
            spec |= {"pythonModule": launched.module, "args": launched.arguments}
        common = {name: value for name in ("args", "env") if (value := spec.pop(name, None))}
        found |= ({form: spec} if form in pool else {}) | ({"code": common} if common else {})
    return found


def _reservation(affinity: Mapping[str, Any]) -> str:
    rest = {name: one for name, one in affinity.items() if name != "values"}
    paths = ", ".join(map(str, affinity.get("values") or ()))
    return paths if rest == _SPECIFIC else f"{paths} {rest}".strip()


def _mount(one: Mapping[str, Any]) -> str:
    """Return `10.0.0.9:/shared at data`."""
    rest = {name: value for name, value in one.items() if name not in ("server", "path", "mountPoint")}
    words = f"{one.get('server', '')}:{one.get('path', '')} at {one.get('mountPoint', '')}"
    return f"{words} {rest}" if rest else words


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Leaf]]:
    """Yield the values. `path` ends with a slash. An empty object is a value too; a list of texts or numbers is one
    value."""
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
    """Yield entries by their names in a study, so that their order alone is no difference."""
    for index, one in enumerate(values):
        inner = one.get("parameterSpec", one) if isinstance(one, Mapping) else {}
        named = inner.get("parameterId") or inner.get("metricId") if isinstance(inner, Mapping) else None
        yield str(named or index), one


def _word(value: Any) -> str:
    """Return a number in one spelling, whether JSON has it as 4 or as 4.0."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
