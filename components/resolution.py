"""The arguments of a component with every Output awaited, and what a preview can't know of them."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import Any

import pulumi

from slipway.model.state import ACCOUNT, BUCKET

from .args import key_of

_UNKNOWN = object()
NO_NAMES: Mapping[str, str] = {}
_OWN = {"catalog_bucket": BUCKET, "work_bucket": BUCKET, "trainer": ACCOUNT}


@dataclass(frozen=True)
class Given:
    """What a component was given: plain values, with a stack file's keys."""

    #: By the name of the field in Python, as a stack file has its value.
    values: Mapping[str, Any]
    #: The program's own resources among the values, by the name of the field.
    own: Mapping[str, pulumi.Resource] = field(default_factory=dict)
    #: The fields that only `up` knows, as dotted paths, and the names of the resources that they wait for.
    unknown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: The resources that the values come from.
    sources: frozenset[pulumi.Resource] = frozenset()


class _Resolver:
    def __init__(self, *, wait: bool) -> None:
        self.wait = wait
        self.own: dict[str, pulumi.Resource] = {}
        self.unknown: dict[str, tuple[str, ...]] = {}
        self.sources: set[pulumi.Resource] = set()

    async def value(self, value: Any, path: str) -> Any:
        """Return a plain value, or _UNKNOWN."""
        if isinstance(value, pulumi.Resource):
            return await self._resource(value, path)
        if isinstance(value, pulumi.Output):
            return await self._output(value, path)
        if isinstance(value, Awaitable):
            return await self._output(pulumi.Output.from_input(value), path)
        if is_dataclass(value) and not isinstance(value, type):
            names = {key_of(each): each.name for each in fields(value)}
            found = await self._keyed({key: getattr(value, name) for key, name in names.items()}, path, names)
            needed = [key_of(each) for each in fields(value) if each.default is MISSING]
            return found if all(key in found for key in needed) else _UNKNOWN
        if isinstance(value, Mapping):
            return await self._keyed(value, path)
        if isinstance(value, list | tuple):
            items = [await self.value(item, f"{path}[{place}]") for place, item in enumerate(value)]
            return [item for item in items if item is not _UNKNOWN]
        return value

    async def _keyed(self, values: Mapping[str, Any], path: str, names: Mapping[str, str] = NO_NAMES) -> Any:
        pairs = {
            key: await self.value(each, f"{path}.{names.get(key, key)}")
            for key, each in values.items()
            if each is not None
        }
        known = {key: each for key, each in pairs.items() if each is not _UNKNOWN}
        return _UNKNOWN if "pools" in pairs and "pools" not in known else _plausible(known, pairs.keys(), path)

    async def _resource(self, resource: pulumi.Resource, path: str) -> Any:
        if isinstance(getattr(resource, "kind", None), str):  # one of these components
            return vars(resource)["name"]
        self.own[path] = resource
        named = vars(resource)
        return await self._output(named.get("account_id") or named["name"], path)

    async def _output(self, output: pulumi.Output[Any], path: str) -> Any:
        if not self.wait:
            self.unknown[path] = ()
            return _UNKNOWN
        known, sources = await output.is_known(), await output.resources()
        self.sources |= sources
        # The name of a bucket of the program stands for the bucket: `results.name`.
        for source in sources:
            if source._type == _OWN.get(path) and (not known or await output.future() in await _names(source)):
                self.own[path] = source
                output = vars(source).get("account_id") or output
        if known:
            return await self.value(await output.future(), path)
        self.unknown[path] = tuple(sorted(source._name for source in sources))
        return _UNKNOWN


async def _names(resource: pulumi.Resource) -> set[Any]:
    """Return the names by which a program may give a bucket or an account."""
    outputs = vars(resource)
    return {await outputs[key].future() for key in ("name", "account_id", "email", "id") if key in outputs}


async def resolved(args: Any, *, wait: bool = True) -> Given:
    """Return what a component was given. Waits for its Outputs, unless `wait` is False; those that are not known are
    left out."""
    resolver, values = _Resolver(wait=wait), dict[str, Any]()
    for each in fields(args):
        value = getattr(args, each.name)
        if value is not None and (value := await resolver.value(value, each.name)) is not _UNKNOWN:
            values[each.name] = value
    if "pools" in resolver.unknown:
        values["pools"] = {"workers": _POOL}
    if "network" in resolver.unknown:
        values.pop("reserved_ip_ranges", None)  # They are ranges of a network.
    return Given(values, resolver.own, resolver.unknown, frozenset(resolver.sources))


def plain(args: Any) -> Given:
    """Return what a component was given as plain values. Its Outputs are not awaited: they count as unknown."""
    try:
        resolved(args, wait=False).send(None)
    except StopIteration as done:
        given: Given = done.value
        return given
    raise AssertionError("nothing is awaited")


_POOL: Mapping[str, Any] = {"machine": "n1-standard-4", "replicas": 1}


def _plausible(known: Mapping[str, Any], keys: Collection[str], path: str) -> Any:
    """Return a mapping with plausible values in the place of those that it can't be without and only `up` knows."""
    unknown = keys - known.keys()
    stands = {key: _POOL[key] for key in unknown & _POOL.keys()}
    if path.endswith("pools"):
        stands |= dict.fromkeys(unknown, _POOL)
    if "max" in unknown:
        stands["max"] = known.get("min", 1) + 1
    if "min" in unknown:
        stands["min"] = 1
    return {**known, **stands}
