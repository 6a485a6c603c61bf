"""A catalog from its JSON, with an error that names the place of whatever is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from slipway.catalog.model import Catalog, Cluster, Parameter, ParameterType, Pool, Scalar, Template, Way
from slipway.errors import ConfigError

SCHEMA = 1
"""The newest schema this version reads."""

_TYPES: Mapping[str, ParameterType] = {"int": "int", "float": "float", "str": "str", "bool": "bool"}


def read(content: bytes | str, source: str) -> Catalog:
    """Parse a catalog; ``source`` is its address, for errors. Raises ConfigError."""
    try:
        body = json.loads(content)
    except ValueError as problem:
        raise _unreadable(source, f"it is no JSON: {problem}") from problem
    if not isinstance(body, dict):
        raise _unreadable(source, "it is no JSON object")
    schema = body.get("schema")
    if isinstance(schema, int) and not isinstance(schema, bool) and schema > SCHEMA:
        raise ConfigError(
            f"the catalog {source} has schema {schema}, newer than this slipway reads (schema {SCHEMA})",
            why="it was published by a newer version",
            fix="update slipway to the version of the checkout that deployed it: pip install --upgrade …",
        )
    if schema != SCHEMA:
        raise _unreadable(source, f"schema is {schema!r}, where {SCHEMA} is expected")
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
            raise self.wrong(key, "a text")
        return value

    def whole(self, key: str, default: int | None = None) -> int:
        value = self.body.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.wrong(key, "a whole number")
        return value

    def flag(self, key: str, default: bool | None = None) -> bool:
        value = self.body.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def price(self, key: str) -> Decimal | None:
        value = self.body.get(key)
        if value is None:
            return None
        try:
            return Decimal(str(value))
        except InvalidOperation:
            raise self.wrong(key, "a price or null") from None

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
            raise self.wrong(key, "a list of texts")
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
    return Catalog(
        stack=place.text("stack"),
        project=place.text("project"),
        region=place.text("region"),
        commit=place.text("commit", ""),
        dirty=place.flag("dirty", False),
        work_bucket=place.object("storage").text("work"),
        trainer=place.text("trainer", ""),
        clusters={name: _cluster(name, one) for name, one in place.objects("clusters").items()},
        retiring=place.texts("retiring"),
        templates={name: _template(name, one) for name, one in place.objects("templates").items()},
        source=source,
    )


def _cluster(name: str, place: _Place) -> Cluster:
    return Cluster(name, place.text("id"), {key: _pool(key, one) for key, one in place.objects("pools").items()})


def _pool(name: str, place: _Place) -> Pool:
    disk = place.object("disk")
    accelerator = place.body.get("accelerator")
    if accelerator is not None and not isinstance(accelerator, str):
        raise place.wrong("accelerator", "a text or null")
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
        price_per_hour=place.price("pricePerHour"),
    )


def _template(name: str, place: _Place) -> Template:
    kind = place.text("kind")
    return Template(
        name=name,
        summary=place.text("summary", ""),
        kind=kind,
        roles=place.texts("roles"),
        parameters=tuple(_parameter(one) for one in place.each("parameters")),
        ways=tuple(_way(one) for one in place.each("ways")),
        kinds=place.texts("kinds") or (kind,),
        package=place.text("package", "") if place.body.get("package") is not None else "",
        code_flag=place.flag("codeFlag", False),
    )


def _parameter(place: _Place) -> Parameter:
    kind = _TYPES.get(place.text("type"))
    if kind is None:
        raise place.wrong("type", f"one of {', '.join(_TYPES)}")
    return Parameter(
        name=place.text("name"),
        type=kind,
        required="default" not in place.body,
        default=place.body.get("default"),
        min=place.number("min"),
        max=place.number("max"),
        choices=tuple(place.list("choices")),
        help=place.text("help", ""),
    )


def _way(place: _Place) -> Way:
    return Way(
        way=place.text("way"),
        available=place.flag("available"),
        why=place.text("why", ""),
        cluster=place.text("cluster", ""),
        pools=place.texts("pools"),
        price_per_hour=place.price("pricePerHour"),
        request=place.object("request").body,
        kind=place.text("kind", "custom-job"),
        when={name: _values(place.object("when"), name) for name in place.body.get("when") or {}},
        wait=place.number("wait"),
        roles=place.texts("roles"),
    )


def _values(place: _Place, name: str) -> tuple[Scalar, ...]:
    values = place.list(name)
    if not values or not all(isinstance(value, int | float | str | bool) for value in values):
        raise place.wrong(name, "a list of values")
    return tuple(values)
