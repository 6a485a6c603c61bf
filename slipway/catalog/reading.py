"""A catalog from its JSON, with an error that names the place of whatever is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from slipway.catalog.model import (
    SCHEMA,
    Catalog,
    Cluster,
    Offer,
    Parameter,
    ParameterType,
    Pool,
    Scalar,
    Study,
    Template,
)
from slipway.cloud.resources import WorkerPool
from slipway.errors import ConfigError
from slipway.kinds import CUSTOM_JOB, KINDS
from slipway.money import UNKNOWN, Price

_NAME = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
_PROJECT = re.compile(r"([a-z0-9.-]+:)?[a-z][a-z0-9-]*[a-z0-9]")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9_.-]*")
_PLACEHOLDER = re.compile(r"\$\{[^}]+\}")
_TYPES: Mapping[str, ParameterType] = {"int": "int", "float": "float", "str": "str", "bool": "bool"}


def read(content: bytes | str, source: str) -> Catalog:
    """Parse a catalog; `source` is its address, for errors. Raises ConfigError."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise _unreadable(source, f"not valid JSON: {problem}") from problem
    if not isinstance(body, dict):
        raise _unreadable(source, "not a JSON object")
    schema = body.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise _unreadable(source, f"schema is {schema!r}, where {SCHEMA} is expected")
    if schema > SCHEMA:
        raise ConfigError(
            f"the catalog {source} has schema {schema}, newer than this slipway reads (schema {SCHEMA})",
            why="it was published by a newer version",
            fix="update slipway to the version of the checkout that deployed it: pip install --upgrade …",
        )
    if schema < SCHEMA:
        raise ConfigError(
            f"the catalog {source} has schema {schema}, older than this slipway reads (schema {SCHEMA})",
            why="it was published by an older version",
            fix="publish it again with pulumi up, or choose another: slipway use gs://BUCKET",
        )
    return _catalog(_Place(body, source, ""), source)


def _unreadable(source: str, why: str) -> ConfigError:
    return ConfigError(
        f"the catalog {source} can't be read",
        why=why,
        fix="publish it again with pulumi up, or choose another: slipway use gs://BUCKET",
    )


@dataclass(frozen=True)
class _Place:
    """A JSON object of the catalog together with its path, so that errors can say where."""

    body: Mapping[str, Any]
    source: str
    path: str

    def wrong(self, key: str, expected: str) -> ConfigError:
        value = self.body.get(key)
        found = "is missing" if key not in self.body else f"is {value!r}"
        return _unreadable(self.source, f"{self.path}{key} {found}, where {expected} is expected")

    def text(self, key: str, default: str | None = None) -> str:
        value = self.body.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(key, "a string")
        return value

    def word(self, key: str, pattern: re.Pattern[str], expected: str) -> str:
        """A string of a form. These become parts of host names, paths and files, so nothing else is allowed there."""
        if not pattern.fullmatch(self.text(key)):
            raise self.wrong(key, expected)
        return self.text(key)

    def scalar(self, key: str) -> Scalar | None:
        value = self.body.get(key)
        if value is not None and not isinstance(value, int | float | str | bool):
            raise self.wrong(key, "a value")
        return value

    def whole(self, key: str, default: int | None = None) -> int:
        value = self.body.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.wrong(key, "a whole number")
        return value

    def count(self, key: str) -> int | str:
        """A whole number, or the parameter that gives it."""
        value = self.body.get(key)
        if isinstance(value, str) and _PLACEHOLDER.fullmatch(value):
            return value
        return self.whole(key)

    def flag(self, key: str, default: bool | None = None) -> bool:
        value = self.body.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def price(self) -> Price:
        """What `pricePerHour` and `priceComplete` say together; a catalog without the flag tells whole prices alone."""
        value = self.body.get("pricePerHour")
        if value is None:
            return UNKNOWN
        try:
            price = Decimal(str(value))
        except InvalidOperation:
            raise self.wrong("pricePerHour", "a price or null") from None
        if not price.is_finite():
            raise self.wrong("pricePerHour", "a price or null")
        return Price(price, self.flag("priceComplete", True))

    def number(self, key: str) -> float | None:
        value = self.body.get(key)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.wrong(key, "a number")
        return value

    def list(self, key: str) -> list[Any]:
        value = self.body.get(key, [])
        if not isinstance(value, list):
            raise self.wrong(key, "a list")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        values = self.list(key)
        if not all(isinstance(value, str) for value in values):
            raise self.wrong(key, "a list of strings")
        return tuple(values)

    def object(self, key: str) -> _Place:
        value = self.body.get(key)
        if not isinstance(value, dict):
            raise self.wrong(key, "an object")
        return _Place(value, self.source, f"{self.path}{key}.")

    def objects(self, key: str) -> dict[str, _Place]:
        inner = self.object(key)
        return {name: inner.object(name) for name in inner.body}

    def each(self, key: str) -> tuple[_Place, ...]:
        values = self.list(key)
        if not all(isinstance(value, dict) for value in values):
            raise self.wrong(key, "a list of objects")
        return tuple(_Place(value, self.source, f"{self.path}{key}[{index}].") for index, value in enumerate(values))


def _catalog(place: _Place, source: str) -> Catalog:
    clusters = {name: _cluster(name, one) for name, one in place.objects("clusters").items()}
    return Catalog(
        stack=place.word("stack", _NAME, "a stack's name"),
        project=place.word("project", _PROJECT, "a project's id"),
        region=place.word("region", _NAME, "a region"),
        commit=place.text("commit", ""),
        dirty=place.flag("dirty", False),
        work_bucket=place.object("storage").word("work", _BUCKET, "a bucket's name"),
        trainer=place.text("trainer", ""),
        clusters=clusters,
        retiring=place.texts("retiring"),
        templates={name: _template(name, one, clusters) for name, one in place.objects("templates").items()},
        source=source,
    )


def _cluster(name: str, place: _Place) -> Cluster:
    id_ = place.word("id", _NAME, "a persistent resource's id")
    return Cluster(name, id_, {key: _pool(key, one) for key, one in place.objects("pools").items()})


def _pool(name: str, place: _Place) -> Pool:
    disk = place.object("disk")
    accelerator = place.body.get("accelerator")
    if accelerator is not None and not isinstance(accelerator, str):
        raise place.wrong("accelerator", "a string or null")
    return Pool(
        name=name,
        machine=place.text("machine"),
        accelerator=accelerator or None,
        accelerator_count=place.whole("acceleratorCount", 0),
        disk_type=disk.text("type"),
        disk_gb=disk.whole("sizeGb"),
        min=place.whole("min"),
        max=place.whole("max"),
        autoscaled=place.flag("autoscaled"),
        price_per_hour=place.price(),
    )


def _template(name: str, place: _Place, clusters: Collection[str]) -> Template:
    kind = place.text("kind")
    return Template(
        name=name,
        summary=place.text("summary", ""),
        kind=kind,
        roles=place.texts("roles"),
        parameters=tuple(_parameter(one) for one in place.each("parameters")),
        offers=tuple(_offer(one, clusters) for one in place.each("offers")),
        kinds=place.texts("kinds") or (kind,),
        package=place.text("package", "") if place.body.get("package") is not None else "",
        code_flag=place.flag("codeFlag", False),
        code_why=place.text("codeWhy", ""),
        study=_study(place.object("study")) if place.body.get("study") is not None else None,
    )


def _study(place: _Place) -> Study:
    return Study(
        max_trials=place.count("maxTrials"),
        parallel_trials=place.count("parallelTrials"),
        algorithm=place.text("algorithm"),
        metrics=tuple((one.text("id"), one.text("goal")) for one in place.each("metrics")),
        parameters=place.texts("parameters"),
    )


def _parameter(place: _Place) -> Parameter:
    kind = _TYPES.get(place.text("type"))
    if kind is None:
        raise place.wrong("type", f"one of {', '.join(_TYPES)}")
    return Parameter(
        name=place.text("name"),
        type=kind,
        required="default" not in place.body,
        default=place.scalar("default"),
        min=place.number("min"),
        max=place.number("max"),
        choices=_values(place, "choices") if place.list("choices") else (),
        help=place.text("help", ""),
    )


def _offer(place: _Place, clusters: Collection[str]) -> Offer:
    if place.text("cluster", "") and place.text("cluster") not in clusters:
        raise place.wrong("cluster", "a cluster of this catalog")
    kind = KINDS.get(place.text("kind", CUSTOM_JOB.name))
    request, when = place.object("request"), place.body.get("when") is not None
    if kind is None:
        raise place.wrong("kind", f"one of {', '.join(KINDS)}")
    _check_machines(request.object(kind.spec))
    return Offer(
        capacity_type=place.text("capacityType"),
        available=place.flag("available"),
        why=place.text("why", ""),
        cluster=place.text("cluster", ""),
        pools=place.texts("pools"),
        price_per_hour=place.price(),
        request=request.body,
        kind=kind.name,
        when={name: _values(place.object("when"), name) for name in place.object("when").body} if when else {},
        wait=place.number("wait"),
        roles=place.texts("roles"),
        note=place.text("note", ""),
        lacks_quota=place.body.get("lacksQuota") is not None and place.flag("lacksQuota"),
    )


def _check_machines(spec: _Place) -> None:
    """The worker pools of a job spec, as far as the command reads them; counts of replicas may be placeholders."""
    for pool in spec.each("workerPoolSpecs"):
        replicas = str(pool.body.get("replicaCount", 1))
        if not (replicas.isdecimal() or _PLACEHOLDER.fullmatch(replicas)):
            raise pool.wrong("replicaCount", "a whole number or a parameter")
        try:
            WorkerPool.read({**pool.body, "replicaCount": 1})
        except (TypeError, ValueError, AttributeError) as problem:
            raise _unreadable(
                pool.source, f"{pool.path.rstrip('.')} is not a valid worker pool: {problem}"
            ) from problem


def _values(place: _Place, name: str) -> tuple[Scalar, ...]:
    values = place.list(name)
    if not values or not all(isinstance(value, int | float | str | bool) for value in values):
        raise place.wrong(name, "a list of values")
    return tuple(values)
