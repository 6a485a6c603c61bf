"""A request as its values by path, with words that mean the same before and after a deployment.

Worker pools are named by role and environment variables by name, so that their order alone is no difference. Common
buckets and accounts have a name of their own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slipway.authoring.stack.secrets import paired
from slipway.base.formatting import counted, join
from slipway.model.capacity import POOL
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.placeholders import PACKAGE, placeholder
from slipway.model.catalog.template import Offer
from slipway.model.kinds import CUSTOM_JOB, KINDS, PIPELINE_JOB
from slipway.model.kinds.pipeline import Pipeline
from slipway.model.labels import TEMPLATE_LABEL, Launched
from slipway.model.machines.table import Machine, all_accelerators, rows
from slipway.model.rules.study import VALUE_SPECS
from slipway.reviewing.rules.table import say

TRAINER = "the trainer"
_FORMS = ("containerSpec", "pythonPackageSpec")
_FOLDER = (f"--code={placeholder(PACKAGE)}", "--path=PYTHONPATH")
"""The launcher's usual arguments for a folder of `--code`, of which `code_flag` tells."""
_NONE: Mapping[str, str] = {}
_SPECIFIC = {"reservationAffinityType": "SPECIFIC_RESERVATION", "key": "compute.googleapis.com/reservation-name"}
# One value, whatever the number of its fields.
_OF_MACHINES = ("machineSpec", "diskSpec", "replicaCount", "nfsMounts")
_MACHINE = ("machineType", "acceleratorType", "acceleratorCount", "tpuTopology")
_SCALES = {"UNIT_LOG_SCALE": "log", "UNIT_REVERSE_LOG_SCALE": "reverse", "UNIT_LINEAR_SCALE": "linear"}


@dataclass(frozen=True)
class Machines:
    """The machines of a worker pool as a request writes them; a type of TPU with its topology."""

    count: str
    type: str
    gpu_count: str
    gpu: str
    disk_type: str
    disk_size: str

    def __str__(self) -> str:
        """Return `2 × n1-standard-8 with 1 NVIDIA_TESLA_T4, pd-ssd 100 GB`."""
        return f"{self.count} × {self.type}{f' with {self.gpu_count} {self.gpu}' if self.gpu else ''}, {self.disk}"

    @property
    def disk(self) -> str:
        return f"{self.disk_type} {self.disk_size} GB"

    @property
    def gpus(self) -> str:
        """The GPUs of a machine: `1 A100 80GB GPU`"""
        known = next((row.label for row in all_accelerators() if row.name == self.gpu), self.gpu)
        return counted(self.gpu_count, known) if self.gpu else "no GPU"

    @property
    def gpu_memory(self) -> int:
        """GB of all GPUs of a machine; 0 where there are none, or the size is unknown."""
        known = next((row.gpu_memory_gb for row in all_accelerators() if row.name == self.gpu), None)
        return int(self.gpu_count) * (known or 0) if self.gpu_count.isdigit() else 0

    def fits_in(self, other: Machines) -> bool:
        """Tell whether others differ by more memory alone."""
        old, new = (rows("machines").get(each.type, {"memoryGb": 0}) for each in (self, other))
        alike = (self.count, self.gpus) == (other.count, other.gpus) and 0 < old["memoryGb"] < new["memoryGb"]
        return alike and all(old[part] == new[part] for part in ("family", "vcpus"))


Leaf = str | tuple[str, ...] | Machines
"""A value of a request; a list of texts is one value."""


def flat(offer: Offer, catalog: Catalog, roles: Mapping[str, str] = _NONE) -> Mapping[str, Leaf]:
    """Return a request's values by path, in one order; lists of arguments are one. `roles`: their names by others."""
    key = KINDS.get(offer.kind, CUSTOM_JOB).spec
    spec, beside = offer.request.get(key) or {}, {name: value for name, value in offer.request.items() if name != key}
    if offer.kind == PIPELINE_JOB.name:
        # Its file is one value, beside what its tasks run and need: the edited lines are in the pull request.
        digest = hashlib.sha256(json.dumps(_behaviour(spec), sort_keys=True).encode()).hexdigest()[:7]
        own = {name: beside.pop(name) for name in tuple(beside) if name in PIPELINE_JOB.kept}
        pipeline = Pipeline(spec)
        # On a pool its tasks have no machines of their own.
        groups = pipeline.groups if offer.capacity_type != POOL else ()
        tasks = join(f"{group.at_once} × {_type(group.machine)}" for group in groups if group.at_once)
        spec = {"images": list(pipeline.images), **({"tasks": tasks} if tasks else {}), "pipeline": digest, **own}
    study = dict(beside.pop("studySpec", None) or {})
    leaves = dict(_study(study.pop("parameters", None) or ()))
    leaves |= _leaves({**beside, **({"studySpec": study} if study else {})}, "")
    leaves |= _leaves({name: value for name, value in spec.items() if name != "workerPoolSpecs"}, "spec/")
    for index, pool in enumerate(spec.get("workerPoolSpecs") or ()):
        if pool:
            role = next(iter(offer.roles[index : index + 1]), "") or f"worker pool {index}"
            start = f"pools/{roles.get(role, role)}/"
            leaves |= {**_pool(pool, start), f"{start}place": str(index)}
    template = catalog.templates.get(str((offer.request.get("labels") or {}).get(TEMPLATE_LABEL)))
    package = template.package if template else ""
    words = {**dict.fromkeys((placeholder(PACKAGE), package), "the template's code"), **shared(catalog)}
    words.pop("", None)
    for path, leaf in leaves.items():
        if path.endswith("WaitTimeMs"):
            leaves[path] = f"{int(str(leaf)) / 1000:g}s"
        elif path.endswith("TimeoutBehavior"):
            leaves[path] = "fail" if leaf == "FAIL" else "on demand"
    return {path: _in_words(leaf, words) for path, leaf in sorted(leaves.items(), reverse=True)}


def of_tasks(offer: Offer) -> Mapping[str, Leaf]:
    """Return what a pipeline's tasks are given, by path, which `flat` has as a part of one value."""
    spec = (offer.request.get(PIPELINE_JOB.spec) or {}) if offer.kind == PIPELINE_JOB.name else {}
    start, leaves = "spec/pipeline/", dict[str, Leaf]()
    for name, each in spec.get("deploymentSpec", {}).get("executors", {}).items():
        given = {part: each["container"].get(part) for part in ("env", "args", "command") if "container" in each}
        leaves |= _leaves({part: value for part, value in given.items() if value}, f"{start}{name}/")
    for name, body in Pipeline(spec).bodies:
        for key, value in body.get("inputs", {}).get("parameters", {}).items():
            if "constant" in value.get("runtimeValue", {}):
                leaves[f"{start}{name}/{key}"] = _word(value["runtimeValue"]["constant"])
    for name, each in spec.get("components", {}).items():
        for key, value in each.get("inputDefinitions", {}).get("parameters", {}).items():
            if "defaultValue" in value:
                leaves[f"{start}{name}/{key}"] = _word(value["defaultValue"])
    return leaves


def _behaviour(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a pipeline without its description, and without the defaults that are told as its parameters'."""
    root = spec.get("root") or {}
    inputs = root.get("inputDefinitions") or {}
    types = {name: each.get("parameterType") for name, each in (inputs.get("parameters") or {}).items()}
    info = {**(spec.get("pipelineInfo") or {}), "description": ""}
    return {**spec, "pipelineInfo": info, "root": {**root, "inputDefinitions": {**inputs, "parameters": types}}}


def shared(catalog: Catalog) -> Mapping[str, str]:
    """Return words for the accounts and buckets of all templates."""
    return {
        **{account: trainer(name) for name, account in catalog.trainers.items()},
        catalog.trainer: TRAINER,
        catalog.work_bucket: "the work bucket",
        catalog.catalog_bucket: "the catalog bucket",
    }


def trainer(name: str) -> str:
    return f"trainer {name}"


def address_of(leaf: str, catalog: Catalog) -> str:
    """Return the account for a trainer's words; another text itself."""
    accounts = {trainer(name): account for name, account in catalog.trainers.items()}
    return {**accounts, TRAINER: catalog.trainer}.get(leaf, leaf)


def _in_words(leaf: Leaf, words: Mapping[str, str]) -> Leaf:
    if isinstance(leaf, tuple):
        return tuple(str(_in_words(text, words)) for text in leaf)
    if isinstance(leaf, Machines):
        return leaf
    if leaf in words:
        return words[leaf]
    for name, word in words.items() if "${" in leaf or "gs://" in leaf else ():
        bucket = not name.startswith("${")
        leaf = leaf.replace(f"gs://{name}/", f"gs://({word})/") if bucket else leaf.replace(name, word)
    return leaf


def _pool(pool: Mapping[str, Any], start: str) -> Mapping[str, Leaf]:
    machine = dict(pool.get("machineSpec") or {})
    disk = dict(pool.get("diskSpec") or {})
    own = {name: machine.pop(name, None) or "" for name in _MACHINE}
    size, kind = disk.pop("bootDiskSizeGb", ""), disk.pop("bootDiskType", "")
    type_ = " ".join(filter(None, (own["machineType"], own["tpuTopology"])))
    gpus = own["acceleratorCount"], own["acceleratorType"]
    machines = Machines(*map(str, (pool.get("replicaCount", "none"), type_, *gpus, kind, size)))
    affinity = dict(sorted((machine.pop("reservationAffinity", None) or {}).items()))
    rest = {name: value for name, value in pool.items() if name not in _OF_MACHINES}
    left = {**rest, **({"machineSpec": machine} if machine else {}), **({"diskSpec": disk} if disk else {})}
    leaves: dict[str, Leaf] = {f"{start}machines": machines, **dict(_leaves({**left, **_code(left)}, start))}
    if affinity:
        paths = ", ".join(map(str, affinity.pop("values", None) or ()))
        leaves[f"{start}reservation"] = paths if affinity == _SPECIFIC else f"{paths} {affinity}".strip()
    if mounts := pool.get("nfsMounts"):
        leaves[f"{start}nfsMounts"] = tuple(
            f"{mount.get('server', '')}:{mount.get('path', '')} at {mount.get('mountPoint', '')}" for mount in mounts
        )
    return leaves


def _type(machine: Machine) -> str:
    return machine.type + (f" with {machine.accelerator_count} {machine.accelerator}" if machine.accelerator else "")


def _code(pool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return code of either form with common parts, `code`, and the form's own; what a launcher starts counts as the
    form's."""
    parts: dict[str, Any] = {}
    for form in _FORMS:
        spec = dict(pool.get(form) or {})
        if launched := Launched.of(spec):
            parts["launcher"] = [word for word in launched.others if word not in _FOLDER]
            own = {"command": list(launched.command)} if launched.command else {"pythonModule": launched.module}
            spec |= {**own, "args": launched.arguments}
        common = {name: value for name in ("args", "env") if (value := spec.pop(name, None))}
        parts |= ({form: spec} if form in pool else {}) | ({"code": common} if common else {})
    return parts


def _study(parameters: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Leaf]]:
    """Yield what is searched of each parameter, where, and what else it has; one that depends on others may be there
    several times."""
    by_name: dict[str, list[tuple[str, str]]] = {}
    for name, where, rest in _searched(parameters):
        kind = next((key for key in VALUE_SPECS if key in rest), "")
        spec, scale = dict(rest.pop(kind, None) or {}), rest.pop("scaleType", "")
        low, high = (_word(spec.pop(bound, "")) for bound in ("minValue", "maxValue"))
        values = {**dict.fromkeys(_SCALES.values()), _SCALES.get(scale, ""): True, "values": _either(spec)}
        is_ = VALUE_SPECS.get(kind)
        among = say("searched", low=low, high=high, whole=is_ == "integer", texts=is_ == "categorical", **values)
        by_name.setdefault(name, []).append((among, where))
        left = {**rest, **({kind: spec} if spec else {}), **({"scaleType": scale} if scale not in _SCALES else {})}
        yield from _leaves({key: value for key, value in left.items() if value}, f"studySpec/parameters/{name}/")
    for name, some in by_name.items():
        among, where = ("; ".join(dict.fromkeys(side)) for side in zip(*sorted(some), strict=True))
        yield f"studySpec/parameters/{name}", among
        if where:
            yield f"studySpec/parameters/{name}/where", where


def _searched(parameters: Iterable[Mapping[str, Any]], where: str = "") -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield parameters of a study, each with the values of another one that it needs, and with its other fields."""
    for parameter in parameters:
        rest = dict(parameter)
        name, inner = str(rest.pop("parameterId", "")), rest.pop("conditionalParameterSpecs", None) or ()
        yield name, where, rest
        for condition in map(dict, inner):
            spec = condition.pop("parameterSpec", None) or {}
            values = _either(dict(next(iter(condition.values()), {})))
            yield from _searched([spec], say("searched-where", name=name, values=values))


def _either(spec: dict[str, Any]) -> str:
    return join(map(_word, spec.pop("values", None) or ()), "or")


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Leaf]]:
    """Yield the values. `path` ends with a slash. An empty object is a value too; a list of texts or numbers is one
    value."""
    for key, item in value.items() if isinstance(value, Mapping) else _entries(value):
        here = f"{path}{key}"
        if key == "env" and isinstance(item, list):
            # The service sets no empty one.
            yield from ((f"{here}/{each.get('name', '')}", str(each["value"])) for each in item if each.get("value"))
        elif isinstance(item, list) and item and not any(isinstance(each, Mapping | list) for each in item):
            words = tuple(map(_word, item))
            yield here, paired(words) if key in ("args", "command") else words
        elif isinstance(item, Mapping | list) and item:
            yield from _leaves(item, f"{here}/")
        else:
            yield here, _word(item)


def _entries(values: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield entries by their names in a study or their domains, so that their order alone is no difference."""
    for index, value in enumerate(values):
        inner = value.get("parameterSpec", value) if isinstance(value, Mapping) else {}
        named = inner.get("parameterId") or inner.get("metricId") or inner.get("domain")
        yield str(named or index), value


def _word(value: Any) -> str:
    """Return a number in one spelling, whether JSON has it as 4 or as 4.0."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
