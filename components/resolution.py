"""The arguments of a component with every Output awaited, and what a preview can't know of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Any

import pulumi
from pulumi.resource import DependencyResource

from slipway.model.state import ACCOUNT, BUCKET

from .args import key_of
from .gcp import serviceaccount, storage
from .id_forms import IDS
from .member import Member
from .predicted_ids import predicted_id

_UNKNOWN = object()
_OWN = {"catalog_bucket": BUCKET, "work_bucket": BUCKET, "trainer": ACCOUNT}
_POOL: Mapping[str, Any] = {"machine": "n1-standard-4", "replicas": 1}
KEPT: Mapping[str, Any] = {"contact_email": "secret@example.com", "justification": "secret"}
"""Arguments that no plan needs, by the values that replace secret or unknown Outputs in a plan. Resources receive the
Outputs themselves, so that the state has a secret encrypted."""

Comes = Callable[[str, pulumi.Output[Any]], Awaitable[object]]


async def _waits(_: str, output: pulumi.Output[Any]) -> None:
    await output.future()


@dataclass(frozen=True)
class Given:
    """The arguments of a component as plain values, with a stack file's keys."""

    #: By the name of the field in Python, as a stack file has its value.
    values: Mapping[str, Any]
    #: The program's own resources among the values, by the name of the field.
    own: dict[str, pulumi.Resource] = field(default_factory=dict)
    #: The fields that only `up` knows, as dotted paths, and the names of the resources that they wait for.
    unknown: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: Their sources whose ids the program would tell, if they had names among their arguments.
    nameless: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: The resources that the values come from.
    sources: set[pulumi.Resource] = field(default_factory=set)
    #: Secret and unknown values that resources receive as Outputs, by the name of the field.
    kept: dict[str, pulumi.Output[Any]] = field(default_factory=dict)
    #: Waits for an Output, by its path; None where they count as unknown.
    comes: Comes | None = None


async def resolved(args: Any, comes: Comes | None = _waits) -> Given:
    """Return what a component was given, without Outputs that are not known. `comes` waits for one by its path, and may
    refuse; None where all count as unknown."""
    values: dict[str, Any] = {}
    given = Given(values, comes=comes)
    for name, value in vars(args).items():
        found = None if value is None else await _value(given, value, name)
        if found is not None and found is not _UNKNOWN:
            values[name] = found
    if "pools" in given.unknown:
        values["pools"] = {"workers": _POOL}
    if "network" in given.unknown:
        values.pop("reserved_ip_ranges", None)  # They are ranges of a network.
    return given


def plain(args: Any) -> Given:
    """Return what a component was given as plain values. Its Outputs are not awaited: they count as unknown."""
    try:
        resolved(args, None).send(None)
    except StopIteration as done:
        given: Given = done.value
        return given
    raise AssertionError("nothing is awaited")


async def _value(given: Given, value: Any, path: str) -> Any:
    """Return a plain value, or _UNKNOWN."""
    if isinstance(value, Member):
        return value.name
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, pulumi.Resource):
        given.own[path] = value
        value = _name_of(value)
    if isinstance(value, pulumi.Output | Awaitable):
        return await _output(given, value, path)
    if isinstance(value, list | tuple):
        items = [await _value(given, item, f"{path}[{place}]") for place, item in enumerate(value)]
        return [item for item in items if item is not _UNKNOWN]
    if is_dataclass(value) and not isinstance(value, type):
        keys = {each.name: key_of(each) for each in fields(value)}
        needed = {key_of(each) for each in fields(value) if each.default is MISSING}
        return await _mapping(given, vars(value), path, keys, needed)
    if isinstance(value, Mapping):
        return await _mapping(given, value, path, {key: key for key in value}, set())
    return value


async def _mapping(
    given: Given, value: Mapping[str, Any], path: str, keys: Mapping[str, str], needed: Collection[str]
) -> Any:
    """Return the plain values of a mapping under the stack file's `keys`; _UNKNOWN if a needed key is not known."""
    pairs = {
        keys[name]: await _value(given, item, f"{path}.{name}") for name, item in value.items() if item is not None
    }
    known = {key: item for key, item in pairs.items() if item is not _UNKNOWN}
    unknown = pairs.keys() - known.keys()
    whole = {**known, **_plausible(path, known, unknown)}
    return _UNKNOWN if "pools" in unknown or set(needed) - whole.keys() else whole


def _plausible(path: str, known: Mapping[str, Any], unknown: Collection[str]) -> dict[str, Any]:
    """Return plausible values for the keys that a value needs and that only `up` knows."""
    values = {key: _POOL[key] for key in _POOL if key in unknown}
    if path.endswith("pools"):
        values |= dict.fromkeys(unknown, _POOL)
    if "min" in unknown:
        values["min"] = 1
    if "max" in unknown:
        values["max"] = known.get("min", 1) + 1
    return values


async def _output(given: Given, value: Any, path: str) -> Any:
    if given.comes is None:  # Nothing is made of a coroutine, which can be awaited once.
        given.unknown[path] = ()
        return KEPT.get(path, _UNKNOWN)
    output: pulumi.Output[Any] = pulumi.Output.from_input(value)
    await given.comes(path, output)
    if path in KEPT and (await output.is_secret() or not await output.is_known()):
        given.kept[path] = output
        return KEPT[path]
    known, sources = await output.is_known(), [await _of_program(source) for source in await output.resources()]
    given.sources.update(sources)
    # The name of a bucket of the program stands for the bucket: `results.name`.
    for source in sources:
        if source._type == _OWN.get(path) and (not known or await output.future() in await _names(source)):
            given.own[path] = source
            if account := vars(source).get("account_id"):
                await given.comes(path, account)
                output = account
    if known:
        return await _value(given, await output.future(), path)
    predicted = await _predicted(value, sources)
    if predicted:
        return predicted
    given.unknown[path] = tuple(sorted(source._name for source in sources))
    given.nameless[path] = tuple(sorted(source._name for source in sources if source._type in IDS))
    return _UNKNOWN


async def _predicted(value: Any, sources: Collection[pulumi.Resource]) -> str:
    """Return the value that `up` will know, as far as the program tells it; empty if it does not."""
    for source in sources:
        predicted = await predicted_id(value, source)
        if predicted:
            return predicted
    return ""


async def _of_program(source: pulumi.Resource) -> pulumi.Resource:
    """Return the resource that a value comes from. Of one of a program in another language only the URN is known."""
    if isinstance(source, DependencyResource):
        urn = str(await source.urn.future())
        _, _, types, source._name = urn.split("::", 3)
        source._type = types.rpartition("$")[2]
        itself = pulumi.ResourceOptions(urn=urn)
        if source._type == BUCKET:
            return storage.Bucket(source._name, opts=itself)
        if source._type == ACCOUNT:
            return serviceaccount.Account(source._name, opts=itself)
    return source


def _name_of(resource: pulumi.Resource) -> Any:
    """Return the name by which a stack file has a bucket or an account."""
    return vars(resource).get("account_id") or vars(resource)["name"]


async def _names(resource: pulumi.Resource) -> set[Any]:
    """Return the names by which a program may give a bucket or an account."""
    outputs = vars(resource)
    return {await outputs[key].future() for key in ("name", "account_id", "email", "id") if key in outputs}
