"""The state that an update would leave, from the state before, the checked inputs and the provider's configuration."""

from collections.abc import Mapping
from typing import Any

from .schema import Field, Schema
from .settings import Settings
from .values import COMPUTED, Properties, is_empty, is_later

ATTRIBUTION = "goog-pulumi-provisioned"
_LABELS = ("labels", "pulumiLabels", "effectiveLabels")


def plan(schema: Schema, old: Properties | None, inputs: Properties, settings: Settings) -> dict[str, Any]:
    """Return the state to come, with COMPUTED where only the cloud can tell. `old` is None for a create."""
    before: Properties = {} if old is None else old
    planned = _record(schema.fields, before, inputs)
    if "project" in schema.fields and inputs.get("project") is None and settings.project:
        planned["project"] = settings.project
    if "deletionPolicy" in schema.fields and inputs.get("deletionPolicy") is None:
        planned["deletionPolicy"] = settings.deletion_policy or "DELETE"
    if "effectiveLabels" in schema.fields:
        planned |= _labels(old, inputs.get("labels"), settings)
    return planned


def settled(planned: Properties, old: Properties) -> dict[str, Any]:
    """Return the planned state, with its open values as they were before."""
    result: dict[str, Any] = {}
    for name, value in planned.items():
        value = old.get(name) if is_later(value) else value
        was = old.get(name)
        if isinstance(value, Mapping):
            result[name] = settled(value, was if isinstance(was, Mapping) else {})
        elif value is not None:
            result[name] = value
    return result


def _record(fields: Mapping[str, Field], old: Properties, given: Properties) -> dict[str, Any]:
    planned: dict[str, Any] = {}
    for name, declared in fields.items():
        if name in _LABELS and "effectiveLabels" in fields:
            continue
        # An import's inputs have no defaults: a refresh compares with them, and Terraform puts its own in their place.
        value = given.get(name, declared.default) if declared.settable else None
        if value is not None:
            planned[name] = _value(declared, old.get(name), value)
        elif declared.computed:
            planned[name] = old.get(name, COMPUTED)
    return {name: value for name, value in planned.items() if value is not None}


def _value(declared: Field, old: Any, given: Any) -> Any:
    if is_later(given):
        return given
    if declared.kind == "object":
        return _record(declared.fields, old if isinstance(old, Mapping) else {}, given)
    if declared.kind == "list" and declared.item is not None:
        before = old if isinstance(old, list) else []
        return [
            _value(declared.item, before[index] if index < len(before) else None, item)
            for index, item in enumerate(given)
        ]
    if declared.kind == "map":
        return {name: item for name, item in given.items() if not name.startswith("__")}
    return given


def _labels(old: Properties | None, labels: Any, settings: Settings) -> dict[str, Any]:
    if is_later(labels):
        return dict.fromkeys(_LABELS, labels)
    before: Mapping[str, Any] = {} if old is None else old.get("effectiveLabels") or {}
    ours = dict(labels or {})
    # The attribution label comes with a create; later it is only kept up where it is.
    if settings.attribution and (old is None or ATTRIBUTION in before):
        ours[ATTRIBUTION] = "true"
    dropped = {} if old is None else old.get("pulumiLabels") or {}
    effective = {name: value for name, value in before.items() if name not in dropped or name in ours} | ours
    return {"pulumiLabels": ours, "effectiveLabels": effective} | ({} if is_empty(labels) else {"labels": labels})
