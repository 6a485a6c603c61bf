"""The properties of a bucket, and how the Storage API's JSON has them."""

from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Any

from ..refusals import bucket_name
from ..schema import Field, boolean, deletion_policy, integer, labelled, many, output, record, text
from ..values import Properties, is_empty, is_later
from ..wire import from_api, to_api

_ENFORCEMENT = record({"restrictionMode": text(required=True), "effectiveTime": text(computed=True)}, computed=True)
_RANGES = many(text(), required=True)
_CONDITION: Mapping[str, Field] = {
    "age": integer(),
    "createdBefore": text(),
    "customTimeBefore": text(),
    "daysSinceCustomTime": integer(),
    "daysSinceNoncurrentTime": integer(),
    "matchesPrefixes": many(text(), api="matchesPrefix", terraform="matches_prefix"),
    "matchesStorageClasses": many(text(), api="matchesStorageClass", terraform="matches_storage_class"),
    "matchesSuffixes": many(text(), api="matchesSuffix", terraform="matches_suffix"),
    "noncurrentTimeBefore": text(),
    "numNewerVersions": integer(),
    "sizeAboveBytes": integer(),
    "sizeBelowBytes": integer(),
}
# A condition's zero is sent only where the program gives it, since the API takes a sent zero for a condition.
_SEND_ZERO = {
    "age": "sendAgeIfZero",
    "daysSinceCustomTime": "sendDaysSinceCustomTimeIfZero",
    "daysSinceNoncurrentTime": "sendDaysSinceNoncurrentTimeIfZero",
    "numNewerVersions": "sendNumNewerVersionsIfZero",
}
_CONDITION_FIELDS: Mapping[str, Field] = {
    **_CONDITION,
    "withState": text(computed=True, choices=("LIVE", "ARCHIVED", "ANY")),
    **{flag: boolean() for flag in _SEND_ZERO.values()},
}
_LIVE = {"LIVE": True, "ARCHIVED": False}

FIELDS: Mapping[str, Field] = {
    "name": text(replace=True, refusal=bucket_name),
    "location": text(required=True, replace=True, normal=str.upper),
    "project": text(computed=True, replace=True),
    "storageClass": text(default="STANDARD"),
    "autoclass": record({"enabled": boolean(required=True), "terminalStorageClass": text(computed=True)}),
    "cors": many(
        record(
            {
                "origins": many(text(), api="origin"),
                "methods": many(text(), api="method"),
                "responseHeaders": many(text(), api="responseHeader"),
                "maxAgeSeconds": integer(),
            }
        )
    ),
    "customPlacementConfig": record({"dataLocations": many(text(), required=True, replace=True)}),
    "defaultEventBasedHold": boolean(),
    "enableObjectRetention": boolean(replace=True),
    "encryption": record(
        {
            "defaultKmsKeyName": text(),
            "customerManagedEncryptionEnforcementConfig": _ENFORCEMENT,
            "customerSuppliedEncryptionEnforcementConfig": _ENFORCEMENT,
            "googleManagedEncryptionEnforcementConfig": _ENFORCEMENT,
        }
    ),
    "forceDestroy": boolean(),
    "hierarchicalNamespace": record({"enabled": boolean(required=True, replace=True)}, replace=True),
    "ipFilter": record(
        {
            "mode": text(required=True),
            "allowAllServiceAgentAccess": boolean(),
            "allowCrossOrgVpcs": boolean(),
            "publicNetworkSource": record({"allowedIpCidrRanges": _RANGES}),
            "vpcNetworkSources": many(record({"network": text(required=True), "allowedIpCidrRanges": _RANGES})),
        }
    ),
    **labelled(),
    "lifecycleRules": many(
        record(
            {
                "action": record({"type": text(required=True), "storageClass": text()}, required=True),
                "condition": record(_CONDITION_FIELDS, required=True),
            }
        ),
        terraform="lifecycle_rule",
    ),
    "logging": record({"logBucket": text(required=True), "logObjectPrefix": text(computed=True)}),
    "publicAccessPrevention": text(computed=True, choices=("enforced", "inherited")),
    "requesterPays": boolean(),
    "retentionPolicy": record({"retentionPeriod": text(required=True), "isLocked": boolean()}),
    "rpo": text(computed=True, null=True),
    "softDeletePolicy": record(
        {"retentionDurationSeconds": integer(default=604800), "effectiveTime": output()}, computed=True
    ),
    "uniformBucketLevelAccess": boolean(computed=True),
    "versioning": record({"enabled": boolean(required=True)}, computed=True),
    "website": record({"mainPageSuffix": text(), "notFoundPage": text()}, computed=True),
    "deletionPolicy": deletion_policy(),
    "projectNumber": output("integer"),
    "selfLink": output(),
    "timeCreated": output(),
    "updated": output(),
    "url": output(),
}
# Properties whose names and shapes are the API's own.
_PLAIN = (
    "autoclass",
    "cors",
    "customPlacementConfig",
    "defaultEventBasedHold",
    "encryption",
    "hierarchicalNamespace",
    "ipFilter",
    "logging",
    "rpo",
    "softDeletePolicy",
    "storageClass",
    "versioning",
    "website",
)
_IAM = ("uniformBucketLevelAccess", "publicAccessPrevention")
# Objects in which a false or a zero means something.
_SWITCHES = {
    "autoclass": ("enabled", False),
    "hierarchicalNamespace": ("enabled", False),
    "softDeletePolicy": ("retentionDurationSeconds", 0),
    "versioning": ("enabled", False),
}


def bucket_parts(planned: Properties) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Return the parts of a bucket's JSON: API name → the properties that it holds, and its value (None: unset)."""
    parts: dict[str, tuple[tuple[str, ...], Any]] = {name: ((name,), _plain(name, planned)) for name in _PLAIN}
    parts["iamConfiguration"] = (_IAM, _iam(planned))
    parts["labels"] = (("effectiveLabels",), planned.get("effectiveLabels") or None)
    parts["lifecycle"] = (("lifecycleRules",), {"rule": [_rule(rule) for rule in planned.get("lifecycleRules") or ()]})
    pays = planned.get("requesterPays")
    parts["billing"] = (("requesterPays",), None if pays is None else {"requesterPays": pays})
    retention = planned.get("retentionPolicy")
    period = {"retentionPeriod": retention["retentionPeriod"]} if retention else None
    parts["retentionPolicy"] = (("retentionPolicy",), period)
    return parts


def read_bucket(body: Mapping[str, Any], state: Properties) -> dict[str, Any]:
    """Return the properties in a bucket's JSON, labels excepted; `state` is the last known one."""
    own = {name: FIELDS[name] for name in (*_PLAIN, "location", "projectNumber", "selfLink", "timeCreated", "updated")}
    read = from_api(own, body)
    read.setdefault("hierarchicalNamespace", {"enabled": False})
    read["url"] = f"gs://{body['name']}"
    iam = body.get("iamConfiguration") or {}
    read["uniformBucketLevelAccess"] = bool((iam.get("uniformBucketLevelAccess") or {}).get("enabled"))
    if prevention := iam.get("publicAccessPrevention"):
        read["publicAccessPrevention"] = prevention
    if "billing" in body:
        read["requesterPays"] = bool(body["billing"].get("requesterPays"))
    if retention := body.get("retentionPolicy"):
        locked = bool(retention.get("isLocked"))
        read["retentionPolicy"] = {"retentionPeriod": str(retention.get("retentionPeriod", "")), "isLocked": locked}
    if (body.get("objectRetention") or {}).get("mode") == "Enabled":
        read["enableObjectRetention"] = True
    rules = (body.get("lifecycle") or {}).get("rule") or []
    known = state.get("lifecycleRules") or []
    if rules:
        read["lifecycleRules"] = [
            _read_rule(rule, known[index] if index < len(known) else {}) for index, rule in enumerate(rules)
        ]
    return read


def with_nulls(state: dict[str, Any], known: Properties) -> dict[str, Any]:
    """Return the state with null for a condition's missing fields, where `withState` was given and nothing is read into
    it yet. `known`: the state to come of a bucket just made, else the state before."""
    rules = [
        _rule_with_nulls(rule, before) for rule, before in zip_longest(state.get("lifecycleRules") or (), _rules(known))
    ]
    return {**state, "lifecycleRules": [rule for rule in rules if rule]} if rules else state


def _rules(known: Properties) -> list[Properties]:
    given = known.get("lifecycleRules") or []
    return [] if is_later(given) else given


def _rule_with_nulls(rule: dict[str, Any] | None, before: Properties | None) -> dict[str, Any] | None:
    condition = (before or {}).get("condition") or {}
    if rule is None or not isinstance(condition.get("withState"), str):
        return rule
    unset = [name for name, field in _CONDITION_FIELDS.items() if field.kind in ("integer", "boolean")]
    nulls = {name: None for name in unset if name not in condition}
    return {**rule, "condition": {**nulls, **rule["condition"]}}


def _plain(name: str, planned: Properties) -> Any:
    value = planned.get(name)
    if value is None or is_later(value):
        return None
    body = to_api({name: FIELDS[name]}, planned).get(name)
    if name in _SWITCHES and isinstance(value, Mapping):
        key, off = _SWITCHES[name]
        return {key: value.get(key, off), **(body or {})}
    return value if body is None and not isinstance(value, Mapping | list) else body


def _iam(planned: Properties) -> dict[str, Any]:
    uniform = planned.get("uniformBucketLevelAccess")
    configuration: dict[str, Any] = {"uniformBucketLevelAccess": {"enabled": uniform is True}}
    prevention = planned.get("publicAccessPrevention")
    if prevention and not is_later(prevention):
        configuration["publicAccessPrevention"] = prevention
    return configuration


def _rule(rule: Properties) -> dict[str, Any]:
    given = rule["condition"]
    condition = to_api(_CONDITION, given)
    condition |= {name: 0 for name, flag in _SEND_ZERO.items() if given.get(flag) and not given.get(name)}
    if given.get("withState") in _LIVE:
        condition["isLive"] = _LIVE[given["withState"]]
    action: Callable[[str], Any] = rule["action"].get
    return {"action": {name: action(name) for name in ("type", "storageClass") if action(name)}, "condition": condition}


def _read_rule(rule: Mapping[str, Any], known: Properties) -> dict[str, Any]:
    body = rule.get("condition") or {}
    condition = from_api(_CONDITION, body)
    condition["withState"] = {True: "LIVE", False: "ARCHIVED"}.get(body.get("isLive"), "ANY")  # type: ignore[arg-type]
    flags = known.get("condition") or {}
    condition |= {flag: flags[flag] for flag in _SEND_ZERO.values() if not is_empty(flags.get(flag))}
    return {"action": dict(rule.get("action") or {}), "condition": condition}
